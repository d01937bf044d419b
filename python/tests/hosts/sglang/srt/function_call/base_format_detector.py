"""The base of detectors."""

from abc import ABC, abstractmethod
from typing import Any

from sglang.srt.function_call.core_types import StreamingParseResult


class BaseFormatDetector(ABC):
    def __init__(self) -> None:
        self._buffer = ""
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.current_tool_id: int = -1
        self.current_tool_name_sent: bool = False
        self.streamed_args_for_tool: list[str] = []
        self.bot_token = ""
        self.eot_token = ""

    @abstractmethod
    def has_tool_call(self, text: str) -> bool: ...

    @abstractmethod
    def detect_and_parse(self, text: str, tools: list[Any]) -> StreamingParseResult: ...

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> StreamingParseResult:
        raise NotImplementedError

    def finish(self, tools: list[Any]) -> StreamingParseResult:
        return StreamingParseResult()

    def supports_structural_tag(self) -> bool:
        return True

    @abstractmethod
    def structure_info(self) -> Any: ...
