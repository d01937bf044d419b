"""For SGLang: a detector for every dialect, `--tool-call-parser callwright`, which the entry point registers.

    python -m sglang.launch_server --model-path MODEL --tool-call-parser callwright

Which dialect a model speaks is told by what it writes. Calls that can be read in one way go out repaired, with arguments of the
types that their tools ask for; a call that cannot be is left out, and the text says why, so that the client can ask again.
"""

from __future__ import annotations

from typing import Any

from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem
from sglang.srt.function_call.function_call_parser import FunctionCallParser

from callwright._callwright import Call, Refusal, TextDelta, parse
from callwright._hosts import tool_set, words
from callwright._scanner import Event, Scanner

__all__ = ["CallwrightDetector", "register"]


class CallwrightDetector(BaseFormatDetector):
    """Reads the calls in what a model wrote, whole or as it comes."""

    def __init__(self) -> None:
        super().__init__()
        self._scanner: Scanner | None = None

    def has_tool_call(self, text: str) -> bool:
        """Whether there is a call only reading tells: `detect_and_parse` says so."""
        return True

    def detect_and_parse(self, text: str, tools: list[Any]) -> StreamingParseResult:
        outcome = parse(text, tool_set(tools))
        places = {tool.function.name: place for place, tool in enumerate(tools)}
        calls = [
            ToolCallItem(tool_index=places.get(call.name, -1), name=call.name, parameters=call.arguments_json)
            for call in outcome.calls
        ]
        content = "\n\n".join(filter(None, [outcome.text, *map(words, outcome.refusals)]))
        return StreamingParseResult(normal_text=content, calls=calls)

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> StreamingParseResult:
        if self._scanner is None:
            self._scanner = Scanner(tool_set(tools))
        return self._told(self._scanner.feed(new_text))

    def finish(self, tools: list[Any]) -> StreamingParseResult:
        """What was held back until the end."""
        scanner, self._scanner = self._scanner, None
        return self._told(scanner.finish() if scanner is not None else [])

    def supports_structural_tag(self) -> bool:
        return False

    def structure_info(self) -> Any:
        raise NotImplementedError("callwright reads every dialect, and asks for none")

    def _told(self, events: list[Event]) -> StreamingParseResult:
        text = ""
        calls: list[ToolCallItem] = []
        for event in events:
            match event:
                case TextDelta():
                    text += event.text
                case Refusal():
                    text += "\n\n" + words(event)
                case Call():
                    self.current_tool_id += 1
                    # The server looks here for what it has not sent yet: nothing.
                    self.prev_tool_call_arr.append({"name": event.name, "arguments": event.arguments})
                    self.streamed_args_for_tool.append(event.arguments_json)
                    calls.append(
                        ToolCallItem(
                            tool_index=self.current_tool_id, name=event.name, parameters=event.arguments_json
                        )
                    )
        return StreamingParseResult(normal_text=text, calls=calls)


def register() -> None:
    """What the entry point `sglang.srt.plugins` calls."""
    FunctionCallParser.ToolCallParserEnum["callwright"] = CallwrightDetector
