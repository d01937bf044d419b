"""For vLLM: a tool parser for every dialect, `--tool-call-parser callwright`, which the entry point registers.

    vllm serve MODEL --enable-auto-tool-choice --tool-call-parser callwright

Which dialect a model speaks is told by what it writes. Calls that can be read in one way go out repaired, with arguments of the
types that their tools ask for; a call that cannot be is left out, and the text says why, so that the client can ask again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vllm.entrypoints.openai.engine.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.tool_parsers.abstract_tool_parser import ToolParser, ToolParserManager

from callwright._callwright import Call, Refusal, TextDelta, ToolSet, parse
from callwright._hosts import tool_set, words
from callwright._scanner import Event, Scanner

__all__ = ["CallwrightToolParser", "register"]


class CallwrightToolParser(ToolParser):
    """Reads the calls in what a model wrote, whole or as it comes.

    Thoughts are vLLM's own part (`--reasoning-parser`): what stands in one is text here.
    """

    # `required` and named choices would go past this parser otherwise, as strict JSON.
    supports_required_and_named = False
    # Without it nobody says that a stream has ended, and a call that ends with the answer is lost.
    engine_based_streaming = True

    def __init__(self, tokenizer: Any, tools: Sequence[Any] | None = None) -> None:
        super().__init__(tokenizer, tools)
        self._declared = tool_set(tools)
        self._scanner: Scanner | None = None

    def adjust_request(self, request: Any) -> Any:
        if request.tools and request.tool_choice != "none":
            # The marks of many dialects are special tokens.
            request.skip_special_tokens = False
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> ExtractedToolCallInformation:
        outcome = parse(model_output, self._tools_of(request))
        calls = [
            ToolCall(type="function", function=FunctionCall(name=call.name, arguments=call.arguments_json))
            for call in outcome.calls
        ]
        content = "\n\n".join(filter(None, [outcome.text, *map(words, outcome.refusals)]))
        return ExtractedToolCallInformation(tools_called=bool(calls), tool_calls=calls, content=content or None)

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> DeltaMessage | None:
        if self._scanner is None:
            self._scanner = Scanner(self._tools_of(request))
        return self._told(self._scanner.feed(delta_text))

    def finish_streaming(self) -> DeltaMessage | None:
        """What was held back until the end."""
        scanner, self._scanner = self._scanner, None
        return self._told(scanner.finish()) if scanner is not None else None

    def _tools_of(self, request: Any) -> ToolSet:
        return tool_set(request.tools) if request is not None and request.tools else self._declared

    def _told(self, events: list[Event]) -> DeltaMessage | None:
        text = ""
        calls: list[DeltaToolCall] = []
        for event in events:
            match event:
                case TextDelta():
                    text += event.text
                case Refusal():
                    text += "\n\n" + words(event)
                case Call():
                    self.current_tool_id += 1
                    # The server looks here for what it has not sent yet: nothing.
                    self.prev_tool_call_arr.append({"name": event.name, "arguments": event.arguments_json})
                    self.streamed_args_for_tool.append(event.arguments_json)
                    function = DeltaFunctionCall(name=event.name, arguments=event.arguments_json)
                    calls.append(DeltaToolCall(type="function", index=self.current_tool_id, function=function))
        if not text and not calls:
            return None
        return DeltaMessage(content=text or None, tool_calls=calls)


def register() -> None:
    """What the entry point `vllm.general_plugins` calls."""
    ToolParserManager.register_module("callwright", module=CallwrightToolParser)
