"""The wrapped client of OpenAI's package, whose server says what it is told to."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import TYPE_CHECKING, Annotated, Any

import openai
import pydantic
import pytest

import callwright
import callwright.openai
from callwright import Refused

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from typing_extensions import assert_type

WRITE = {
    "type": "function",
    "function": {
        "name": "write",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "times": {"type": "integer"}},
            "required": ["path"],
        },
    },
}
SHELL = {"type": "custom", "custom": {"name": "shell"}}
IN_TEXT = "I write. <tool_call>{'name': 'write', 'arguments': {'path': 'a.txt', 'times': '2'}}</tool_call>"
UNSURE = 'Sure.\n<tool_call>{"name": "write", "arguments": {"path": "a.txt"}}</tool_call>\nDone!'
CUT = '{"path": "a.t'


class City(pydantic.BaseModel):
    name: str
    people: int

    @pydantic.field_validator("people")
    @classmethod
    def _not_negative(cls, people: int) -> int:
        if people < 0:
            raise ValueError("nobody is counted twice")
        return people


def call(arguments: str, id: str = "1", name: str = "write", **extra: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **extra}


def whole(
    content: str | None = None, *calls: dict[str, Any], reason: str | None = None, **extra: Any
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content, **extra}
    if calls:
        message["tool_calls"] = list(calls)
    return several([message], reason or ("tool_calls" if calls else "stop"))


def several(messages: list[dict[str, Any]], reason: str) -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": n, "message": message, "finish_reason": reason} for n, message in enumerate(messages)],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
        "ours_not": {"x": 1},
    }


def chunks(*deltas: dict[str, Any], reason: str | None = "stop") -> list[Any]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    usage = {**chunk({}), "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}}
    end = [chunk({}, reason)] if reason else []
    return [chunk({"role": "assistant", "content": ""}), *map(chunk, deltas), *end, usage, "[DONE]"]


def in_pieces(text: str, size: int = 5) -> list[dict[str, Any]]:
    return [{"content": text[at : at + size]} for at in range(0, len(text), size)]


def native_pieces(arguments: str, id: str = "1", index: int = 0, name: str = "write") -> list[dict[str, Any]]:
    first = {"index": index, **call("", id, name)}
    rest = [{"index": index, "function": {"arguments": arguments[at : at + 4]}} for at in range(0, len(arguments), 4)]
    return [{"tool_calls": [piece]} for piece in [first, *rest]]


class Asked:
    """One wrapped client, synchronous or not, and what came back in the same form."""

    def __init__(self, scripted: Any, is_async: bool) -> None:
        self.scripted = scripted
        self.is_async = is_async

    def create(self, *answers: Any, method: str = "create", max_corrections: int = 2, **request: Any) -> Any:
        self.scripted.answers = list(answers)
        request = {"model": "m", "messages": [{"role": "user", "content": "Write."}], **request}
        options: Any = {"base_url": self.scripted.url, "api_key": "none", "max_retries": 0}

        async def main() -> Any:
            async with openai.AsyncOpenAI(**options) as client:
                completions = callwright.openai.wrap(client, max_corrections=max_corrections).chat.completions
                found = await getattr(completions, method)(**request)
                return [chunk async for chunk in found] if request.get("stream") else found

        if self.is_async:
            return asyncio.run(main())
        with openai.OpenAI(**options) as client:
            completions = callwright.openai.wrap(client, max_corrections=max_corrections).chat.completions
            found = getattr(completions, method)(**request)
            return list(found) if request.get("stream") else found

    def told(self) -> list[dict[str, Any]]:
        """What the model was told in the last request, behind what the user said."""
        messages: list[dict[str, Any]] = self.scripted.requests[-1]["messages"]
        return messages[1:]


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def asked(request: Any, scripted: Any) -> Asked:
    return Asked(scripted, request.param)


def calls_of(message: Any) -> list[tuple[str, str]]:
    return [(made.function.name, made.function.arguments) for made in message.tool_calls or ()]


def put_together(stream: list[Any]) -> tuple[str, list[tuple[str, str, str]], str | None]:
    """The text, the calls and the end of a stream, as a client puts them together."""
    text, reason, roles = "", None, 0
    calls: dict[int, list[str]] = {}
    for chunk in stream:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            roles += choice.delta.role is not None
            reason = choice.finish_reason or reason
            for piece in choice.delta.tool_calls or ():
                made = calls.setdefault(piece.index, ["", "", ""])
                made[0] = piece.id or made[0]
                made[1] += piece.function.name or ""
                made[2] += piece.function.arguments or ""
    assert roles == 1
    return text, [(made[0], made[1], made[2]) for _, made in sorted(calls.items())], reason


def test_a_call_is_repaired_and_all_else_stays(asked: Asked) -> None:
    broken = call("{'path': 'a.txt', 'times': '2'", extra_content={"signature": "s"})
    completion = asked.create(whole("Well.", broken, annotations=[]), tools=[WRITE])
    (choice,) = completion.choices
    assert calls_of(choice.message) == [("write", '{"path": "a.txt", "times": 2}')]
    (made,) = choice.message.tool_calls
    assert made.id == "1" and made.extra_content == {"signature": "s"}
    assert (choice.message.content, choice.finish_reason) == ("Well.", "tool_calls")
    assert completion.usage.total_tokens == 3 and completion.ours_not == {"x": 1}
    assert len(asked.scripted.requests) == 1


def test_what_is_right_stays_to_the_byte(asked: Asked) -> None:
    right = call('{ "path":"a.txt" }')
    completion = asked.create(whole("Hm <b>", right), tools=[WRITE])
    assert calls_of(completion.choices[0].message) == [("write", '{ "path":"a.txt" }')]
    assert completion.choices[0].message.content == "Hm <b>"
    assert asked.create(whole("Nothing to do: {}"), tools=[WRITE]).choices[0].message.content == "Nothing to do: {}"


def test_a_call_in_the_text_becomes_one(asked: Asked) -> None:
    (choice,) = asked.create(whole(IN_TEXT), tools=[WRITE]).choices
    assert calls_of(choice.message) == [("write", '{"path": "a.txt", "times": 2}')]
    assert (choice.message.content, choice.finish_reason) == ("I write.", "tool_calls")
    assert choice.message.tool_calls[0].id.startswith("call_")


def test_a_refused_call_is_asked_for_again(asked: Asked) -> None:
    custom = {"id": "2", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
    broken = whole(None, call(CUT), custom, call('{"path": "b"}', id="3"), reason="length")
    completion = asked.create(broken, whole(None, call('{"path": "a"}')), tools=[WRITE, SHELL])
    assert calls_of(completion.choices[0].message) == [("write", '{"path": "a"}')]
    answered, *told = asked.told()
    # What was broken stands in the history as JSON, and each id has its answer.
    assert json.loads(answered["tool_calls"][0]["function"]["arguments"]) == {"unreadable_arguments": CUT}
    assert [message["role"] for message in told] == ["tool"] * 3
    assert [message["tool_call_id"] for message in told] == ["1", "2", "3"]
    assert "cut off" in told[0]["content"] and told[1]["content"].startswith("Not run: ")
    # The request of the caller is as it was.
    assert asked.scripted.requests[1]["tools"] == [WRITE, SHELL]


def test_a_call_without_an_id_is_answered_too(asked: Asked) -> None:
    asked.create(whole(None, call(CUT, id="")), whole("Done."), tools=[WRITE])
    answered, told = asked.told()
    assert told["tool_call_id"] == answered["tool_calls"][0]["id"] != ""
    # One in the text is answered by the user.
    broken = '<tool_call>{"name": "write", "arguments": {"times": 3}}</tool_call>'
    asked.create(whole(broken), whole("Done."), tools=[WRITE])
    answered, told = asked.told()
    assert (answered["content"], told["role"]) == (broken, "user") and "missing required: path" in told["content"]


def test_a_call_that_may_be_shown_is_asked_for(asked: Asked) -> None:
    completion = asked.create(whole(UNSURE), whole(None, call('{"path": "a.txt"}')), tools=[WRITE])
    assert calls_of(completion.choices[0].message) == [("write", '{"path": "a.txt"}')]
    assert asked.told()[-1]["content"].startswith("Your answer holds a call of the tool write in the middle of prose.")
    with pytest.raises(Refused) as refused:
        asked.create(*[whole(UNSURE)] * 2, tools=[WRITE], max_corrections=1)
    assert refused.value.code == "unsure"


def test_what_stays_wrong_is_an_error(asked: Asked) -> None:
    with pytest.raises(Refused) as refused:
        asked.create(*[whole(None, call(CUT))] * 3, tools=[WRITE])
    assert refused.value.code == "truncated" and len(asked.scripted.requests) == 3
    # Each attempt is told of those before it.
    assert [message["role"] for message in asked.told()] == ["assistant", "tool", "assistant", "tool"]


def test_each_choice_is_read(asked: Asked) -> None:
    wrong, right = whole(None, call(CUT)), whole(None, call('{"path": "b"}'))
    both = several([right["choices"][0]["message"], wrong["choices"][0]["message"]], "tool_calls")
    completion = asked.create(both, whole(None, call('{"path": "c"}')), tools=[WRITE], n=2)
    assert [calls_of(choice.message)[0][1] for choice in completion.choices] == ['{"path": "b"}', '{"path": "c"}']
    assert [choice.index for choice in completion.choices] == [0, 1] and asked.scripted.requests[1]["n"] == 1


def test_functions_are_tools(asked: Asked) -> None:
    @callwright.tool
    def double(n: int) -> int:
        """Doubles."""
        return 2 * n

    completion = asked.create(whole(None, call("{n: '4'}", name="double")), tools=[double, City])
    (made,) = completion.choices[0].message.tool_calls
    assert double.run(made) == 8
    assert [tool["function"]["name"] for tool in asked.scripted.requests[0]["tools"]] == ["double", "City"]


def test_what_asks_for_nothing_passes(asked: Asked) -> None:
    assert asked.create(whole(IN_TEXT)).choices[0].message.content == IN_TEXT
    assert asked.create(whole(IN_TEXT), tools=[WRITE], tool_choice="none").choices[0].message.content == IN_TEXT
    assert asked.create(whole(IN_TEXT), tools=[SHELL]).choices[0].message.content == IN_TEXT
    stream = asked.create(chunks({"content": IN_TEXT}), stream=True)
    assert put_together(stream) == (IN_TEXT, [], "stop")
    assert asked.create(whole(IN_TEXT), tools=openai.NOT_GIVEN).choices[0].message.content == IN_TEXT


def test_a_stream_is_repaired(asked: Asked) -> None:
    stream = asked.create(chunks(*in_pieces(IN_TEXT)), tools=[WRITE], stream=True)
    text, [(id, name, arguments)], reason = put_together(stream)
    assert (text, name, arguments, reason) == ("I write.", "write", '{"path": "a.txt", "times": 2}', "tool_calls")
    assert id.startswith("call_")
    pieces = [*in_pieces("Well."), *native_pieces("{'path': 'a.txt'"), *native_pieces('{"path": "b"}', "2", 1)]
    stream = asked.create(chunks(*pieces, reason="tool_calls"), tools=[WRITE], stream=True)
    assert put_together(stream) == (
        "Well.",
        [("1", "write", '{"path": "a.txt"}'), ("2", "write", '{"path": "b"}')],
        "tool_calls",
    )
    assert stream[-1].usage.total_tokens == 3


def test_text_flows_while_a_call_is_held(asked: Asked) -> None:
    stream = asked.create(chunks(*in_pieces("Some words come. " + IN_TEXT)), tools=[WRITE], stream=True)
    said = [chunk.choices[0].delta.content for chunk in stream if chunk.choices and chunk.choices[0].delta.content]
    assert len(said) > 3 and "tool_call" not in "".join(said)


def test_thoughts_in_the_text_are_reasoning(asked: Asked) -> None:
    (choice,) = asked.create(whole("<think>Hm.</think>" + IN_TEXT), tools=[WRITE]).choices
    assert (choice.message.reasoning_content, choice.message.content) == ("Hm.", "I write.")
    stream = asked.create(chunks(*in_pieces("<think>Hm.</think>" + IN_TEXT)), tools=[WRITE], stream=True)
    deltas = [chunk.choices[0].delta for chunk in stream if chunk.choices]
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == "Hm."
    assert put_together(stream)[0] == "I write."


def test_what_else_a_stream_holds_stays(asked: Asked) -> None:
    custom = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "shell", "input": "l"}}
    rest = {"index": 0, "custom": {"input": "s"}}
    signed = {"index": 1, **call("{'path': 'a'}"), "extra_content": {"signature": "s"}}
    thought: dict[str, Any] = {"reasoning_content": "H"}
    pieces: list[dict[str, Any]] = [thought, {"tool_calls": [custom]}, {"tool_calls": [rest, signed]}]
    answer = chunks(*pieces, reason="tool_calls")
    # The end may come with what is left.
    answer[-3]["choices"][0]["delta"] = {"reasoning_content": "m."}
    answer[-3]["usage"] = answer[-2]["usage"]
    stream = asked.create(answer, tools=[WRITE, SHELL], stream=True)
    deltas = [chunk.choices[0].delta for chunk in stream if chunk.choices]
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == "Hm."
    first, second = (piece for delta in deltas for piece in delta.tool_calls or ())
    assert (first.index, first.id, first.custom) == (0, "c", {"name": "shell", "input": "ls"})
    assert (second.index, second.function.arguments) == (1, '{"path": "a"}')
    assert second.extra_content == {"signature": "s"}
    assert sum(chunk.usage is not None for chunk in stream) == 2
    # It goes back to the server with the call.
    pieces = [thought, {"reasoning_content": "m."}, *native_pieces(CUT)]
    asked.create(chunks(*pieces, reason="length"), chunks({"content": "Done."}), tools=[WRITE], stream=True)
    assert asked.told()[0]["reasoning_content"] == "Hm."


def test_calls_of_one_index_are_told_by_their_ids(asked: Asked) -> None:
    pieces = [*native_pieces('{"path": "a"}', "1"), *native_pieces('{"path": "b"}', "2")]
    stream = asked.create(chunks(*pieces, reason="tool_calls"), tools=[WRITE], stream=True)
    assert [arguments for _, _, arguments in put_together(stream)[1]] == ['{"path": "a"}', '{"path": "b"}']
    # Another id without a name is that of a piece.
    pieces = native_pieces('{"path": "a"}')
    for number, piece in enumerate(pieces):
        piece["tool_calls"][0]["id"] = str(number)
    stream = asked.create(chunks(*pieces, reason="tool_calls"), tools=[WRITE], stream=True)
    assert put_together(stream)[1] == [("0", "write", '{"path": "a"}')]


def test_a_stream_goes_on_with_the_next_answer(asked: Asked) -> None:
    made = [*native_pieces('{"path": "b"}', "0"), *native_pieces(CUT, "1", 1)]
    first = chunks(*in_pieces("I write. "), *made, reason="length")
    again = chunks(*in_pieces("I write: "), *native_pieces('{"path": "a"}', "2"), reason="tool_calls")
    stream = asked.create(first, again, tools=[WRITE], stream=True)
    # No call of the answer that was wrong, and no text twice.
    assert put_together(stream) == ("I write. ", [("2", "write", '{"path": "a"}')], "tool_calls")
    answered, *told = asked.told()
    assert answered["content"] == "I write. " and [message["tool_call_id"] for message in told] == ["0", "1"]
    # Nothing was said yet: the text of the next answer is the first.
    again = chunks(*in_pieces("So I write it again."), *native_pieces('{"path": "a"}', "2"), reason="tool_calls")
    stream = asked.create(chunks(*native_pieces(CUT), reason="length"), again, tools=[WRITE], stream=True)
    assert put_together(stream)[0] == "So I write it again."
    # An answer without calls is said, behind what was.
    stream = asked.create(chunks(*in_pieces(UNSURE)), chunks(*in_pieces("I only show it.")), tools=[WRITE], stream=True)
    assert put_together(stream) == (UNSURE + "\n\nI only show it.", [], "stop")


def test_a_stream_that_stays_wrong_is_an_error(asked: Asked) -> None:
    with pytest.raises(Refused) as refused:
        asked.create(*[chunks(*native_pieces(CUT), reason="length")] * 2, tools=[WRITE], stream=True, max_corrections=1)
    assert refused.value.code == "truncated" and len(asked.scripted.requests) == 2


def test_a_stream_without_an_end_was_cut(asked: Asked) -> None:
    again = chunks(*native_pieces('{"path": "a"}'), reason="tool_calls")
    stream = asked.create(chunks(*native_pieces(CUT), reason=None), again, tools=[WRITE], stream=True)
    assert put_together(stream)[1] == [("1", "write", '{"path": "a"}')]
    stream = asked.create(chunks(*in_pieces(IN_TEXT), reason=None), tools=[WRITE], stream=True)
    assert put_together(stream)[1][0][2] == '{"path": "a.txt", "times": 2}'


def test_the_helper_for_streams_is_wrapped_too(scripted: Any) -> None:
    scripted.answers = [
        chunks(*in_pieces("I write. "), *native_pieces(CUT), reason="length"),
        chunks(*native_pieces("{path: 'a'}", "2"), reason="tool_calls"),
    ]
    with openai.OpenAI(base_url=scripted.url, api_key="none") as client:
        tool: Any = json.loads(json.dumps(WRITE))
        tool["function"]["strict"] = True
        request: Any = {"model": "m", "messages": [{"role": "user", "content": "Write."}], "tools": [tool]}
        with callwright.openai.wrap(client).chat.completions.stream(**request) as stream:
            completion = stream.get_final_completion()
    assert completion.choices[0].message.content == "I write. "
    assert calls_of(completion.choices[0].message) == [("write", '{"path": "a"}')]


@dataclasses.dataclass
class Point:
    x: int
    y: float


def test_a_response_model_is_an_instance(asked: Asked) -> None:
    city = asked.create(whole("Here:\n```json\n{'name': 'Paris', people: '2',}\n```"), response_model=City)
    assert city == City(name="Paris", people=2)
    sent = asked.scripted.requests[0]["response_format"]
    assert sent["json_schema"] == {"name": "City", "schema": City.model_json_schema(), "strict": False}
    assert asked.create(whole('{"x": "1", "y": 2}'), response_model=Point) == Point(1, 2.0)
    assert asked.create(whole('{"x": 1, "y": 2}'), response_model=pydantic.TypeAdapter(Point)) == Point(1, 2.0)
    found, completion = asked.create(whole('{"x": 1, "y": 2}'), response_model=Point, method="create_with_completion")
    assert found == Point(1, 2.0) and completion.usage.total_tokens == 3


def test_what_is_no_object_is_sent_in_one(asked: Asked) -> None:
    for content in ('{"value": [{"name": "Paris", "people": 2}]}', '[{"name": "Paris", "people": 2}]'):
        assert asked.create(whole(content), response_model=list[City]) == [City(name="Paris", people=2)]
    schema = asked.scripted.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["type"] == "object" and list(schema["properties"]) == ["value"] and "City" in schema["$defs"]


def test_a_schema_that_servers_can_hold_is_strict(asked: Asked) -> None:
    class Exact(pydantic.BaseModel, extra="forbid"):
        """What it is."""

        names: list[str]
        size: Annotated[int, pydantic.Field(ge=0)] | None

    class Loose(Exact):
        note: str = ""

    for model, is_strict in ((Exact, True), (Loose, False)):
        asked.create(whole('{"names": [], "size": null}'), response_model=model)
        assert asked.scripted.requests[-1]["response_format"]["json_schema"]["strict"] is is_strict
    asked.create(whole('{"x": 1, "y": 2}'), response_model=Point, response_format={"type": "json_object"})
    assert asked.scripted.requests[-1]["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    "wrong", ['{"name": "Paris"}', '{"name": "Paris", "people": -1}', '{"name": "Par', "I cannot."]
)
def test_a_response_model_is_asked_for_again(asked: Asked, wrong: str) -> None:
    city = asked.create(whole(wrong), whole('{"name": "Paris", "people": 2}'), response_model=City)
    assert city == City(name="Paris", people=2)
    answered, told = asked.told()
    assert (answered["content"], told["role"]) == (wrong, "user") and "error" in told["content"]
    with pytest.raises(Refused):
        asked.create(*[whole(wrong)] * 2, response_model=City, max_corrections=1)


def test_who_declines_is_not_asked_again(asked: Asked) -> None:
    with pytest.raises(Refused, match="the model declines: No."):
        asked.create(whole(None, refusal="No."), response_model=City)
    assert len(asked.scripted.requests) == 1




def test_values_stream(asked: Asked) -> None:
    text = '{"name": "Paris", "people": 2}'
    *values, city = asked.create(chunks(*in_pieces(text)), response_model=City, stream=True)
    assert city == City(name="Paris", people=2) and values[-1] == {"name": "Paris", "people": 2}
    assert {"name": "Paris"} in values
    # The values begin again with the next answer.
    answers = [chunks(*in_pieces('{"name": "Rome"}')), chunks(*in_pieces(text))]
    *values, city = asked.create(*answers, response_model=City, stream=True)
    assert city == City(name="Paris", people=2) and {"name": "Rome"} in values
    with pytest.raises(Refused):
        asked.create(*[chunks(*in_pieces('{"name"'))] * 2, response_model=City, stream=True, max_corrections=1)


def test_mistakes_of_the_caller_are_errors(asked: Asked) -> None:
    with pytest.raises(TypeError, match="response_model and tools are two requests"):
        asked.create(response_model=City, tools=[WRITE])
    with pytest.raises(ValueError, match="response_model reads one choice"):
        asked.create(response_model=City, n=2)
    with pytest.raises(ValueError, match="create_with_completion does not stream"):
        asked.create(response_model=City, stream=True, method="create_with_completion")
    with pytest.raises(TypeError, match="a tool is JSON, a function with hints"):
        asked.create(tools=[5])
    with pytest.raises(TypeError, match="a client is an OpenAI or AsyncOpenAI, not an object of type `int`"):
        callwright.openai.wrap(5)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="max_corrections is a count, not -1"):
        asked.create(max_corrections=-1)


def test_the_client_stays_what_it_was(scripted: Any) -> None:
    client = openai.AzureOpenAI(base_url=scripted.url, api_key="none", api_version="1")
    wrapped: Any = callwright.openai.wrap(client, max_corrections=0)
    assert type(wrapped) is openai.AzureOpenAI and wrapped._client is client._client and wrapped._api_version == "1"
    # The other one is as it was.
    assert not isinstance(client.chat.completions, callwright.openai.Completions)
    scripted.answers = [whole(None, call("{path: 'a'}")), whole(None, call(CUT)), whole(IN_TEXT)]
    request: Any = {"model": "m", "messages": [], "tools": [WRITE]}
    with_options = wrapped.with_options(timeout=5)
    assert with_options.timeout == 5
    assert calls_of(with_options.chat.completions.create(**request).choices[0].message) == [("write", '{"path": "a"}')]
    with pytest.raises(Refused):
        with_options.copy().chat.completions.create(**request)
    raw = wrapped.chat.completions.with_raw_response.create(**request)
    assert raw.parse().choices[0].message.content == IN_TEXT
    client.close()


if TYPE_CHECKING:
    # What a type checker makes of the client, which `cargo xtask python` has one check.
    def _types(client: openai.OpenAI) -> None:
        completions = callwright.openai.wrap(client).chat.completions
        assert_type(completions.create(model="m", messages=[]), ChatCompletion)
        assert_type(completions.create(stream=True, model="m", messages=[]), openai.Stream[ChatCompletionChunk])
        assert_type(completions.create(response_model=City, model="m", messages=[]), City)
        assert_type(completions.create(response_model=list[City], model="m", messages=[]), list[City])
        assert_type(completions.create(response_model=pydantic.TypeAdapter(Point), model="m", messages=[]), Point)
        both = completions.create_with_completion(response_model=City, model="m", messages=[])
        assert_type(both, tuple[City, ChatCompletion])

    async def _async_types(client: openai.AsyncOpenAI) -> None:
        completions = callwright.openai.wrap(client).chat.completions
        assert_type(await completions.create(model="m", messages=[]), ChatCompletion)
        assert_type(await completions.create(response_model=City, model="m", messages=[]), City)
