"""The wrapped client of Anthropic's package, whose server says what it is told to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import anthropic
import pydantic
import pytest

import callwright
import callwright.anthropic
from callwright import Refused

if TYPE_CHECKING:
    from anthropic.types import Message, RawMessageStreamEvent
    from typing_extensions import assert_type

WRITE = {
    "name": "write",
    "input_schema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "times": {"type": "integer"}},
        "required": ["path"],
    },
}
BASH = {"type": "bash_20250124", "name": "bash"}
IN_TEXT = "I write. <invoke name=\"write\">\n<parameter name=\"path\">a.txt</parameter>\n</invoke>"
UNSURE = 'Sure.\n<tool_call>{"name": "write", "arguments": {"path": "a.txt"}}</tool_call>\nDone!'
CUT = '{"path": "a.t'
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


class City(pydantic.BaseModel):
    """A city."""

    name: str
    people: int


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(input: Any, id: str = "1", name: str = "write", **extra: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input, **extra}


def whole(*blocks: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    calls = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(blocks),
        "stop_reason": reason or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2},
        "ours_not": {"x": 1},
    }


def streamed(*blocks: dict[str, Any], reason: str | None = None, ends: bool = True) -> list[Any]:
    """The events of a message; the input of a call is its text."""
    message = {**whole(*blocks, reason=reason), "content": []}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "stop_reason": None}}]
    for index, block in enumerate(blocks):
        kind = block["type"]
        member, delta = ("input", "input_json") if kind == "tool_use" else (kind, kind)
        empty: Any = {} if kind == "tool_use" else ""
        start = {**block, member: empty, **({"signature": ""} if kind == "thinking" else {})}
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        pieces = [block[member][at : at + 5] for at in range(0, len(block[member]), 5)]
        part = "partial_json" if kind == "tool_use" else member
        events += [_delta(index, {"type": f"{delta}_delta", part: piece}) for piece in pieces]
        if kind == "thinking":
            events.append(_delta(index, {"type": "signature_delta", "signature": block["signature"]}))
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    end = [{"type": "message_delta", "delta": stop, "usage": {"output_tokens": 2}}, {"type": "message_stop"}]
    return [*events, *(end if ends else [])]


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


class Asked:
    """One wrapped client, synchronous or not, and what came back in the same form."""

    def __init__(self, scripted: Any, is_async: bool) -> None:
        self.scripted = scripted
        self.is_async = is_async

    def create(self, *answers: Any, method: str = "create", max_corrections: int = 2, **request: Any) -> Any:
        self.scripted.answers = list(answers)
        request = {
            "model": "m",
            "max_tokens": 99,
            "messages": [{"role": "user", "content": "Write."}],
            **request,
        }
        options: Any = {"base_url": self.scripted.url, "api_key": "none", "max_retries": 0}

        async def main() -> Any:
            async with anthropic.AsyncAnthropic(**options) as client:
                messages: Any = callwright.anthropic.wrap(client, max_corrections=max_corrections).messages
                if method == "stream":
                    async with messages.stream(**request) as stream:
                        return await stream.get_final_message()
                found = await getattr(messages, method)(**request)
                return [event async for event in found] if request.get("stream") else found

        if self.is_async:
            return asyncio.run(main())
        with anthropic.Anthropic(**options) as client:
            messages: Any = callwright.anthropic.wrap(client, max_corrections=max_corrections).messages
            if method == "stream":
                with messages.stream(**request) as stream:
                    return stream.get_final_message()
            found = getattr(messages, method)(**request)
            return list(found) if request.get("stream") else found

    def told(self) -> list[dict[str, Any]]:
        """What the model was told in the last request, behind what the user said."""
        messages: list[dict[str, Any]] = self.scripted.requests[-1]["messages"]
        return messages[1:]


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def asked(request: Any, scripted: Any) -> Asked:
    return Asked(scripted, request.param)


def put_together(events: list[Any]) -> tuple[list[Any], str | None]:
    """The blocks and the end of a stream, as a client puts them together, each opened, written and closed in turn."""
    blocks: list[Any] = []
    is_open, reason = False, None
    assert [event.type for event in events].count("message_start") == 1
    for event in events:
        if event.type == "content_block_start":
            assert not is_open and event.index == len(blocks)
            is_open = True
            block = event.content_block
            blocks.append([block.name, ""] if block.type == "tool_use" else "")
        elif event.type == "content_block_delta":
            assert is_open and event.index == len(blocks) - 1
            written = getattr(event.delta, "text", None) or getattr(event.delta, "thinking", None) or ""
            if isinstance(blocks[-1], list):
                blocks[-1][1] += event.delta.partial_json
            else:
                blocks[-1] += written
        elif event.type == "content_block_stop":
            assert is_open and event.index == len(blocks) - 1
            is_open = False
        elif event.type == "message_delta":
            reason = event.delta.stop_reason
    assert not is_open
    return blocks, reason


def test_a_call_is_repaired_and_all_else_stays(asked: Asked) -> None:
    broken = call({"path": "a.txt", "times": "2"}, ours="x")
    message = asked.create(whole(THOUGHT, text("Well."), broken), tools=[WRITE])
    thought, words, made = message.content
    assert (thought.signature, words.text) == ("s", "Well.")
    assert (made.id, made.input, made.ours) == ("1", {"path": "a.txt", "times": 2}, "x")
    assert message.stop_reason == "tool_use" and message.ours_not == {"x": 1} and message.usage.output_tokens == 2
    assert asked.create(whole(text("Hm <b>")), tools=[WRITE]).content[0].text == "Hm <b>"


def test_a_call_in_the_text_becomes_a_block(asked: Asked) -> None:
    message = asked.create(whole(THOUGHT, text(IN_TEXT)), tools=[WRITE])
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
    assert message.content[1].text == "I write." and message.stop_reason == "tool_use"
    assert (message.content[2].name, message.content[2].input) == ("write", {"path": "a.txt"})
    assert message.content[2].id.startswith("toolu_")


def test_a_refused_call_is_asked_for_again(asked: Asked) -> None:
    wrong = whole(THOUGHT, call({"times": 3}), call({"command": "ls"}, "2", "bash"), call({"path": "b"}, "3"))
    message = asked.create(wrong, whole(call({"path": "a"})), tools=[WRITE, BASH])
    assert [block.input for block in message.content] == [{"path": "a"}]
    answered, told = asked.told()
    assert answered["content"][0] == THOUGHT and answered["content"][1]["input"] == {"times": 3}
    assert [result["tool_use_id"] for result in told["content"]] == ["1", "2", "3"]
    assert all(result["is_error"] for result in told["content"])
    assert "missing required: path" in told["content"][0]["content"]
    assert told["content"][1]["content"].startswith("Not run: ")
    # In the text it is answered in words.
    broken = '<tool_call>{"name": "write", "arguments": {"times": 3}}</tool_call>'
    asked.create(whole(text(broken)), whole(text("Done.")), tools=[WRITE])
    (block,) = asked.told()[-1]["content"]
    assert block["type"] == "text" and "missing required: path" in block["text"]


def test_a_cut_call_is_none(asked: Asked) -> None:
    # The server closed what was cut.
    message = asked.create(whole(call({"path": "impor"}), reason="max_tokens"), whole(text("Done.")), tools=[WRITE])
    assert message.content[0].text == "Done." and "cut off" in asked.told()[-1]["content"][0]["content"]


def test_a_call_that_may_be_shown_is_asked_for(asked: Asked) -> None:
    message = asked.create(whole(text(UNSURE)), whole(call({"path": "a"})), tools=[WRITE])
    assert message.content[0].input == {"path": "a"}
    assert asked.told()[-1]["content"][0]["text"].startswith("Your answer holds a call of the tool write")


def test_what_stays_wrong_is_an_error(asked: Asked) -> None:
    with pytest.raises(Refused) as refused:
        asked.create(*[whole(call({"times": 3}))] * 3, tools=[WRITE])
    assert refused.value.code == "invalid" and len(asked.scripted.requests) == 3


def test_what_asks_for_nothing_passes(asked: Asked) -> None:
    assert asked.create(whole(text(IN_TEXT))).content[0].text == IN_TEXT
    assert asked.create(whole(text(IN_TEXT)), tools=[WRITE], tool_choice={"type": "none"}).content[0].text == IN_TEXT
    assert asked.create(whole(call({"command": "ls"}, name="bash")), tools=[BASH]).content[0].input == {"command": "ls"}
    assert put_together(asked.create(streamed(text(IN_TEXT)), stream=True)) == ([IN_TEXT], "end_turn")
    # Tools of the API's own pass beside others.
    both = asked.create(whole(call({"command": "ls"}, name="bash")), tools=[BASH, WRITE])
    assert both.content[0].input == {"command": "ls"} and len(asked.scripted.requests) == 5


def test_functions_are_tools(asked: Asked) -> None:
    @callwright.tool
    def double(n: int) -> int:
        """Doubles."""
        return 2 * n

    message = asked.create(whole(call({"n": "4"}, name="double")), tools=[double, City])
    assert double.run(message.content[0]) == 8
    sent = asked.scripted.requests[0]["tools"]
    assert [(tool["name"], tool["description"]) for tool in sent] == [("double", "Doubles."), ("City", "A city.")]
    assert sent[0]["input_schema"]["required"] == ["n"]


def test_a_stream_is_repaired(asked: Asked) -> None:
    events = asked.create(
        streamed(THOUGHT, text("Well."), call("{'path': 'a.txt'"), call('{"command": "ls"}', "2", "bash")),
        tools=[WRITE, BASH],
        stream=True,
    )
    expected = ["Hm.", "Well.", ["write", '{"path": "a.txt"}'], ["bash", '{"command": "ls"}']]
    assert put_together(events) == (expected, "tool_use")
    events = asked.create(streamed(text(IN_TEXT)), tools=[WRITE], stream=True)
    blocks, reason = put_together(events)
    assert (blocks, reason) == (["I write.", ["write", '{"path": "a.txt"}']], "tool_use")


def test_thoughts_in_the_text_become_a_block(asked: Asked) -> None:
    words = "<think>Hm.</think>" + IN_TEXT
    message = asked.create(whole(text(words)), tools=[WRITE])
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
    assert message.content[0].thinking == "Hm."
    events = asked.create(streamed(text(words)), tools=[WRITE], stream=True)
    assert put_together(events)[0] == ["Hm.", "I write.", ["write", '{"path": "a.txt"}']]


def test_a_stream_goes_on_with_the_next_answer(asked: Asked) -> None:
    first = streamed(THOUGHT, text("I write. "), call('{"path": "b"}', "0"), call(CUT, "1"), reason="max_tokens")
    again = streamed(text("I write: "), call('{"path": "a"}', "2"))
    events = asked.create(first, again, tools=[WRITE], stream=True)
    # No call of the answer that was wrong, and no text twice.
    blocks, reason = put_together(events)
    assert (blocks, reason) == (["Hm.", "I write. ", ["write", '{"path": "a"}']], "tool_use")
    answered, told = asked.told()
    assert [block["type"] for block in answered["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert answered["content"][0] == THOUGHT and answered["content"][3]["input"] == {"unreadable_arguments": CUT}
    assert [result["tool_use_id"] for result in told["content"]] == ["0", "1"]
    again = streamed(text("So I write it again."), call('{"path": "a"}', "2"))
    events = asked.create(streamed(call(CUT), reason="max_tokens"), again, tools=[WRITE], stream=True)
    assert put_together(events)[0] == ["So I write it again.", ["write", '{"path": "a"}']]
    events = asked.create(streamed(text(UNSURE)), streamed(text("I only show it.")), tools=[WRITE], stream=True)
    assert put_together(events) == ([UNSURE + "\n\nI only show it."], "end_turn")
    with pytest.raises(Refused):
        asked.create(*[streamed(call(CUT), reason="max_tokens")] * 2, tools=[WRITE], stream=True, max_corrections=1)


def test_a_stream_without_an_end_was_cut(asked: Asked) -> None:
    events = asked.create(streamed(call(CUT), ends=False), streamed(call('{"path": "a"}')), tools=[WRITE], stream=True)
    assert put_together(events)[0] == [["write", '{"path": "a"}']]


def test_the_helper_for_streams_is_wrapped_too(asked: Asked) -> None:
    first = streamed(text("I write. "), call(CUT), reason="max_tokens")
    message = asked.create(first, streamed(call("{path: 'a'}", "2")), tools=[WRITE], method="stream")
    words, made = message.content
    assert (words.text, made.id, made.input, message.stop_reason) == ("I write. ", "2", {"path": "a"}, "tool_use")
    assert asked.create(streamed(text(IN_TEXT)), method="stream").content[0].text == IN_TEXT


def test_a_response_model_is_the_input_of_a_tool(asked: Asked) -> None:
    city = asked.create(whole(call({"name": "Paris", "people": "2"}, name="City")), response_model=City)
    assert city == City(name="Paris", people=2)
    sent = asked.scripted.requests[0]
    assert sent["tool_choice"] == {"type": "tool", "name": "City"}
    assert sent["tools"][0]["input_schema"] == City.model_json_schema()
    # In words, where the model does not call.
    assert asked.create(whole(text("```json\n{'name': 'Rome', people: 1}\n```")), response_model=City).name == "Rome"
    found, message = asked.create(
        whole(call({"value": [1, "2"]}, name="list")), response_model=list[int], method="create_with_message"
    )
    assert found == [1, 2] and message.usage.output_tokens == 2


def test_a_response_model_is_asked_for_again(asked: Asked) -> None:
    right = whole(call({"name": "Paris", "people": 2}, name="City"))
    city = asked.create(whole(call({"name": "Paris"}, "7", "City")), right, response_model=City)
    assert city.people == 2
    (result,) = asked.told()[-1]["content"]
    assert result["tool_use_id"] == "7" and "missing required: people" in result["content"]
    assert asked.create(whole(text("I cannot.")), right, response_model=City).people == 2
    with pytest.raises(Refused):
        asked.create(*[whole(text("No."))] * 2, response_model=City, max_corrections=1)
    with pytest.raises(Refused, match="the model declines"):
        asked.create(whole(text(""), reason="refusal"), response_model=City)




def test_values_stream(asked: Asked) -> None:
    written = call('{"name": "Paris", "people": "2"}', name="City")
    *values, city = asked.create(streamed(written), response_model=City, stream=True)
    assert city == City(name="Paris", people=2) and {"name": "Paris"} in values
    *_, city = asked.create(streamed(call("{", name="City")), streamed(written), response_model=City, stream=True)
    assert city == City(name="Paris", people=2)


def test_mistakes_of_the_caller_are_errors(asked: Asked) -> None:
    with pytest.raises(TypeError, match="response_model and tools are two requests"):
        asked.create(response_model=City, tools=[WRITE])
    with pytest.raises(ValueError, match="create_with_message does not stream"):
        asked.create(response_model=City, stream=True, method="create_with_message")
    with pytest.raises(TypeError, match="a client is an Anthropic or AsyncAnthropic, not an object of type `int`"):
        callwright.anthropic.wrap(5)  # type: ignore[call-overload]


def test_the_client_stays_what_it_was(scripted: Any) -> None:
    client = anthropic.Anthropic(base_url=scripted.url, api_key="none", max_retries=0)
    wrapped: Any = callwright.anthropic.wrap(client, max_corrections=0)
    assert type(wrapped) is anthropic.Anthropic and wrapped._client is client._client
    assert not isinstance(client.messages, callwright.anthropic.Messages)
    scripted.answers = [whole(call({"times": 3})), whole(text(IN_TEXT))]
    request: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}], "tools": [WRITE]}
    with pytest.raises(Refused):
        wrapped.with_options(timeout=5).messages.create(**request)
    raw = wrapped.messages.with_raw_response.create(**request)
    assert raw.parse().content[0].text == IN_TEXT
    client.close()


if TYPE_CHECKING:
    # What a type checker makes of the client, which the check of types reads.
    def _types(client: anthropic.Anthropic) -> None:
        messages = callwright.anthropic.wrap(client).messages
        assert_type(messages.create(model="m", max_tokens=1, messages=[]), Message)
        stream = messages.create(model="m", max_tokens=1, messages=[], stream=True)
        assert_type(stream, anthropic.Stream[RawMessageStreamEvent])
        assert_type(messages.create(model="m", max_tokens=1, messages=[], response_model=City), City)
