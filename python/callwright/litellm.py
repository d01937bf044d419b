"""For LiteLLM's proxy: a hook that repairs the calls of answers, whole or streamed.

    # callwright_hook.py, beside the proxy's config.yaml
    from callwright.litellm import MendToolCalls

    mend = MendToolCalls()

    # config.yaml
    litellm_settings:
      callbacks: callwright_hook.mend

Hooks run in the proxy only, not in `litellm.completion`. They cannot ask a model again: for that, let clients speak to
`callwright serve`, with the proxy or the model behind it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from litellm.integrations.custom_logger import CustomLogger
from litellm.types.utils import (
    ChatCompletionDeltaToolCall,
    ChatCompletionMessageToolCall,
    Choices,
    Delta,
    Function,
    ModelResponse,
    ModelResponseStream,
    StreamingChoices,
)

from callwright._callwright import Call, ReasoningDelta, Refusal, TextDelta, parse
from callwright._hosts import words
from callwright._scanner import Event, Scanner

__all__ = ["MendToolCalls"]


class MendToolCalls(CustomLogger):
    """Repairs the calls of answers to requests that declare tools.

    A call that can be read in one way goes out repaired, also where it stands in the text; one that cannot be is taken out,
    and the text says why. What a server made natively of names that nobody declared is taken out too.
    """

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
        tools = data.get("tools")
        if tools and isinstance(response, ModelResponse):
            for choice in response.choices:
                if isinstance(choice, Choices):
                    _repair(choice, tools)
        return response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[ModelResponseStream, None]:
        tools = request_data.get("tools")
        choices: dict[int, _Choice] = {}
        async for chunk in response:
            if not tools or not isinstance(chunk, ModelResponseStream):
                yield chunk
                continue
            for choice in chunk.choices:
                if choice.index not in choices:
                    choices[choice.index] = _Choice(tools)
                choices[choice.index].take(choice)
            yield chunk


def _repair(choice: Choices, tools: Any) -> None:
    message = choice.message
    made = message.tool_calls or []
    # Calls of custom tools hold text, which is not ours to read.
    native = [call for call in made if isinstance(call, ChatCompletionMessageToolCall)]
    outcome = parse(message.content or "", tools, native=native, finish_reason=choice.finish_reason)
    calls: list[Any] = [call for call in made if not isinstance(call, ChatCompletionMessageToolCall)]
    calls += [
        ChatCompletionMessageToolCall(
            id=call.id, type="function", function=Function(name=call.name, arguments=call.arguments_json)
        )
        for call in outcome.calls
    ]
    if not outcome.verdicts:
        return
    message.tool_calls = calls or None
    message.content = "\n\n".join(filter(None, [outcome.text, *map(words, outcome.refusals)])) or None
    if calls:
        choice.finish_reason = "tool_calls"
    elif choice.finish_reason == "tool_calls":
        choice.finish_reason = "stop"


class _Choice:
    """One choice of a stream: what comes in is held until it is certain."""

    def __init__(self, tools: Any) -> None:
        self.scanner = Scanner(tools, native_mode=True)
        self.n_calls = 0
        # Pieces of calls of custom tools, which hold text that is not ours to read.
        self.custom: list[Any] = []
        self.custom_indices: dict[int, int] = {}

    def take(self, choice: StreamingChoices) -> None:
        """Feeds what the choice brings, and leaves in it what became certain."""
        delta = choice.delta
        events: list[Event] = []
        if delta.content:
            events += self.scanner.feed(delta.content)
        for call in delta.tool_calls or []:
            if isinstance(call, ChatCompletionDeltaToolCall):
                function = call.function
                events += self.scanner.feed_call(
                    call.index, id=call.id, name=function.name, arguments=function.arguments
                )
            else:
                self.custom.append(call)
        if choice.finish_reason is not None:
            events += self.scanner.finish(choice.finish_reason)
        self.write(events, delta)
        if choice.finish_reason is not None and self.n_calls:
            choice.finish_reason = "tool_calls"
        elif choice.finish_reason == "tool_calls":
            choice.finish_reason = "stop"

    def write(self, events: list[Event], delta: Delta) -> None:
        text = ""
        calls: list[Any] = []
        for piece in self.custom:
            if piece.index not in self.custom_indices:
                self.custom_indices[piece.index] = self.n_calls
                self.n_calls += 1
            piece.index = self.custom_indices[piece.index]
            calls.append(piece)
        self.custom = []
        for event in events:
            match event:
                case TextDelta():
                    text += event.text
                case ReasoningDelta():
                    delta.reasoning_content = (delta.reasoning_content or "") + event.text
                case Refusal():
                    text += ("\n\n" if text else "") + words(event)
                case Call():
                    function = Function(name=event.name, arguments=event.arguments_json)
                    identity = event.id or f"call_{self.n_calls}"
                    calls.append(
                        ChatCompletionDeltaToolCall(
                            id=identity, type="function", index=self.n_calls, function=function
                        )
                    )
                    self.n_calls += 1
        delta.content = text or None
        delta.tool_calls = calls or None
