"""The hook, on the answers that LiteLLM's proxy hands it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

# A list of models and their prices is fetched otherwise.
pytest.MonkeyPatch().setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from litellm.types.utils import ModelResponse, ModelResponseStream  # noqa: E402

from callwright.litellm import MendToolCalls  # noqa: E402

# Its constructors take dicts, which its types do not say.
Whole: Any = ModelResponse
Piece: Any = ModelResponseStream

TOOLS = [
    {
        "type": "function",
        "function": {"name": "write", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}},
    }
]
TEXT = "I write. <tool_call>{'name': 'write', 'arguments': {'path': 'a.txt'}}</tool_call>"


def whole(message: dict[str, Any], reason: str = "stop", tools: Any = TOOLS) -> Any:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    response = Whole(choices=[choice])
    asyncio.run(MendToolCalls().async_post_call_success_hook({"tools": tools}, None, response))
    return response.choices[0]


def streamed(deltas: list[dict[str, Any]], reason: str = "stop", tools: Any = TOOLS) -> tuple[str, list[Any], Any]:
    async def chunks() -> AsyncIterator[ModelResponseStream]:
        for delta in deltas:
            yield Piece(choices=[{"index": 0, "delta": delta}])
        yield Piece(choices=[{"index": 0, "delta": {}, "finish_reason": reason}])

    async def main() -> list[ModelResponseStream]:
        hook = MendToolCalls().async_post_call_streaming_iterator_hook(None, chunks(), {"tools": tools})
        return [chunk async for chunk in hook]

    choices = [chunk.choices[0] for chunk in asyncio.run(main())]
    text = "".join(choice.delta.content or "" for choice in choices)
    calls = [call for choice in choices for call in choice.delta.tool_calls or []]
    return text, calls, choices[-1].finish_reason


def native(arguments: str, name: str = "write") -> dict[str, Any]:
    return {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_broken_native_call_goes_out_repaired() -> None:
    choice = whole({"content": None, "tool_calls": [native("{'path': 'a.txt'")]}, "tool_calls")
    (call,) = choice.message.tool_calls
    assert (call.id, call.function.name, call.function.arguments) == ("1", "write", '{"path": "a.txt"}')
    pieces: list[dict[str, Any]] = [{"tool_calls": [{"index": 0, **native("{'path': ")}]}, {"tool_calls": [{"index": 0, "function": {"arguments": "'a.txt'"}}]}]
    text, calls, reason = streamed(pieces, "tool_calls")
    assert (text, reason) == ("", "tool_calls")
    assert [(call.id, call.function.name, call.function.arguments) for call in calls] == [("1", "write", '{"path": "a.txt"}')]


def test_a_call_in_the_text_becomes_one() -> None:
    choice = whole({"content": TEXT})
    assert (choice.message.content, choice.finish_reason) == ("I write.", "tool_calls")
    assert choice.message.tool_calls[0].function.arguments == '{"path": "a.txt"}'
    text, calls, reason = streamed([{"content": TEXT[at : at + 5]} for at in range(0, len(TEXT), 5)])
    assert (text, reason, calls[0].index) == ("I write.", "tool_calls", 0)
    assert calls[0].function.arguments == '{"path": "a.txt"}'


def test_what_cannot_be_read_is_said() -> None:
    broken = {"tool_calls": [native('{"path": "a.t')]}
    choice = whole({"content": "Well.", **broken}, "length")
    assert choice.message.tool_calls is None
    assert choice.message.content == "Well.\n\n[A tool call of `write` was cut off before it was complete.]"
    text, calls, reason = streamed([{"tool_calls": [{"index": 0, **native('{"path": "a.t')}]}], "length")
    assert text == "[A tool call of `write` was cut off before it was complete.]"
    assert not calls and reason == "length"


def test_a_custom_call_passes() -> None:
    custom = {"id": "2", "type": "custom", "custom": {"name": "shell", "input": "ls 'x"}}
    choice = whole({"content": None, "tool_calls": [custom, native("{'path': 'a.txt'}")]}, "tool_calls")
    assert [call.id for call in choice.message.tool_calls] == ["2", "1"]
    assert choice.message.tool_calls[0].custom.input == "ls 'x"


def test_what_needs_nothing_is_left() -> None:
    assert whole({"content": "Hi."}).message.content == "Hi."
    assert whole({"content": TEXT}, tools=None).message.content == TEXT
    assert streamed([{"content": TEXT}], tools=None)[0] == TEXT
    assert streamed([{"content": "Hi."}]) == ("Hi.", [], "stop")


@pytest.mark.parametrize("ends", ["\n{}\nDone!", " {}"])
def test_a_call_in_prose_stays_text_because_nobody_can_be_asked(ends: str) -> None:
    written = "Sure" + ends.format('<tool_call>{"name": "write", "arguments": {"path": "a.txt"}}</tool_call>')
    choice = whole({"content": written})
    assert (choice.message.content, choice.message.tool_calls, choice.finish_reason) == (written, None, "stop")
    pieces = [{"content": written[at : at + 5]} for at in range(0, len(written), 5)]
    assert streamed(pieces) == (written, [], "stop")
