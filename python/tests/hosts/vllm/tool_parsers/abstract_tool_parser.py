"""The base of tool parsers, and where they are known by name."""

from collections.abc import Sequence
from typing import Any


class ToolParser:
    supports_required_and_named: bool = True
    engine_based_streaming: bool = False

    def __init__(self, tokenizer: Any, tools: Sequence[Any] | None = None) -> None:
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.current_tool_id: int = -1
        self.current_tool_name_sent: bool = False
        self.streamed_args_for_tool: list[str] = []
        self.model_tokenizer = tokenizer
        self.tools = tools

    def adjust_request(self, request: Any) -> Any:
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        raise NotImplementedError

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any:
        raise NotImplementedError

    def finish_streaming(self) -> Any:
        return None


class ToolParserManager:
    tool_parsers: dict[str, type[ToolParser]] = {}

    @classmethod
    def register_module(
        cls, name: str | None = None, force: bool = True, module: type[ToolParser] | None = None
    ) -> type[ToolParser]:
        if module is None or name is None or not issubclass(module, ToolParser):
            raise TypeError("a subclass of ToolParser with a name")
        cls.tool_parsers[name] = module
        return module
