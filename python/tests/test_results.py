"""Results are values: equal where they say the same, and the same in another process; and what follows an answer."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
from typing import Any

import pydantic
import pytest
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageParam
from openai.types.chat.chat_completion_message_function_tool_call import ChatCompletionMessageFunctionToolCall

import callwright
from callwright import Call, Healed, Outcome, Refusal, Scanner, Shown, heal, parse

TOOLS = [
    {"name": "ping", "parameters": {"type": "object", "properties": {"host": {"type": "string"}}}},
    {
        "name": "wait",
        "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]},
    },
]
TEXT = (
    "Süß 😀.\n<tool_call>{'name': 'Ping', 'arguments': {'host': 'é'}}</tool_call>\n"
    '<tool_call>{"name": "wait", "arguments": {"days": "3"}}</tool_call>\n'
    '<tool_call>{"name": "wait", "arguments": {"days": "many"}}</tool_call>'
)
QUOTED = 'Write:\n> <tool_call>{"name": "ping"}</tool_call>\nThen wait.'
NATIVE = [
    {"id": "a", "name": "ping", "arguments": "{'host': 'x'}"},
    {"id": "b", "name": "wait", "arguments": '{"days": "many"}'},
]


def outcomes() -> list[Outcome]:
    return [parse(TEXT, TOOLS), parse("Well.", TOOLS, native=NATIVE), parse(QUOTED, TOOLS)]


def results() -> list[Any]:
    """One of each class, and more of those with many fields."""
    found: list[Any] = outcomes()
    for outcome in outcomes():
        found += [*outcome.verdicts, *outcome.shown]
        for call in outcome.calls:
            found += [*call.repairs, *call.coercions]
        for refusal in outcome.refusals:
            found += [*refusal.violations]
    schema = {"properties": {"days": {"type": "integer"}}}
    found += [heal("{'days': '3'}", schema), heal("[1e400]")]
    scanner = Scanner(TOOLS, live=True)
    found += scanner.feed("<think>hm</think>Well. ")
    found += scanner.feed_call(0, id="a", name="ping", arguments='{"host": "x')
    found += scanner.feed_call(0, arguments='y"}')
    found += scanner.finish()
    return found


def in_another_process(pickled: bytes) -> tuple[list[str], bytes]:
    things = pickle.loads(pickled)
    assert things == results()
    return [repr(thing) for thing in things], pickle.dumps(things)


def test_there_is_one_of_each_class() -> None:
    classes = {type(thing).__name__ for thing in results()}
    assert classes >= {"Call", "Outcome", "Refusal", "Healed", "Repair", "Coercion", "Shown", "Violation"}
    assert classes >= {"TextDelta", "ReasoningDelta", "CallStarted", "ArgumentsDelta"}


def test_results_are_values() -> None:
    for thing, again in zip(results(), results(), strict=True):
        assert thing is not again and thing == again and hash(thing) == hash(again)
        assert thing != "another thing" and not thing == None  # noqa: E711
    ways: list[Any] = [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]
    for copied in ways:
        for thing in results():
            other = copied(thing)
            assert other == thing and hash(other) == hash(thing) and repr(other) == repr(thing)
            fields = [name for name in dir(thing) if not name.startswith("_") and name not in ("value", "arguments")]
            for field in fields:
                mine, its = getattr(thing, field), getattr(other, field)
                assert callable(mine) or mine == its, field
    call, other = parse(TEXT, TOOLS).calls
    assert call != other and len({call, other}) == 2
    assert parse(TEXT, TOOLS) != parse(QUOTED, TOOLS)


def test_they_are_the_same_in_another_process() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        shown, pickled = pool.apply(in_another_process, (pickle.dumps(results()),))
    assert shown == [repr(thing) for thing in results()]
    assert pickle.loads(pickled) == results()


def test_an_outcome_keeps_its_report() -> None:
    for outcome in outcomes():
        assert copy.deepcopy(outcome).report() == outcome.report()
    with pytest.raises(ValueError, match="made by hand, without a report"):
        Outcome("Well.").report()


def test_what_callers_do_to_a_value_stays_with_them() -> None:
    healed = heal("{'a': [1]}")
    healed.value["a"].append(2)
    assert healed.value == {"a": [1]}
    (call, _) = parse(TEXT, TOOLS).calls
    call.arguments.clear()
    assert call.arguments == {"host": "é"} and json.loads(call.arguments_json) == call.arguments


def test_results_can_be_made_for_tests() -> None:
    call = Call("ping", {"host": "é"}, id="a")
    assert (call.arguments_json, call.repair_class, call.tool_call_id) == ('{"host": "é"}', "R0", "a")
    assert Call("ping", '{"host": "é"}', id="a") == call != Call("ping", {}, id="a")
    assert Call("ping", {}, renamed_from="Ping").repair_class == "R2"
    assert Call("ping", {}).tool_call_id == Call("ping", {}).tool_call_id != Call("ping", {}, start=1).tool_call_id
    refusal = Refusal("invalid", "days must be an integer", '{"error": "…"}', name="wait", id="b")
    outcome = Outcome("Well.", verdicts=[call, refusal])
    assert (outcome.calls, outcome.refusals, outcome.shown) == ((call,), (refusal,), ())
    assert Healed("[1]").value == [1]


@pytest.mark.parametrize(
    ("kind", "arguments", "words"),
    [
        (Call, ("ping", "{'host': 1}"), "not an object of strict JSON"),
        (Call, ("ping", "[]"), "not an object"),
        (Refusal, ("bad", "", ""), "`code` is one of unknown-tool, .*, not `bad`"),
        (Shown, (None, "hermes", 0, 1, "luck"), "`by` is one of fence, .*, not `luck`"),
        (callwright.Repair, ("magic", 0, 0, "", ""), "no repair is of the kind `magic`"),
        (Healed, ("{'a': 1}",), "`text` is not strict JSON"),
    ],
)
def test_what_no_result_can_be_is_an_error(kind: Any, arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        kind(*arguments)
    place: Any = "under"
    with pytest.raises(ValueError, match="above, below, line, between, sentence, not `under`"):
        Call("ping", {}, beside_prose=place)


def test_verdicts_are_calls_and_refusals() -> None:
    verdicts: Any = ["ping"]
    with pytest.raises(TypeError, match="a verdict is a Call or a Refusal, not str"):
        Outcome("", "", verdicts)


def test_a_call_is_one_of_openai() -> None:
    (call, other) = parse(TEXT, TOOLS).calls
    theirs = ChatCompletionMessageFunctionToolCall.model_validate(call.to_openai("call_1"), strict=True)
    assert (theirs.id, theirs.function.name, theirs.function.arguments) == ("call_1", "ping", call.arguments_json)
    assert call.to_openai()["id"] == call.tool_call_id != other.tool_call_id
    # The same text gives the same id, in pieces too; another turn does not.
    scanner = Scanner(TOOLS)
    events = [event for character in TEXT for event in scanner.feed(character)] + scanner.finish()
    assert [event.tool_call_id for event in events if isinstance(event, Call)] == [call.tool_call_id, other.tool_call_id]
    assert parse("Again. " + TEXT, TOOLS).calls[0].tool_call_id != call.tool_call_id
    assert call.tool_call_id.isascii() and len(call.tool_call_id) <= 40


def test_native_calls_without_an_id_get_one_each() -> None:
    native = [{"name": "ping", "arguments": "{}"}] * 2
    first, second = parse("", TOOLS, native=native).calls
    assert first.id is None and first.tool_call_id != second.tool_call_id
    scanner = Scanner(TOOLS, native_mode=True)
    for index in (0, 1):
        scanner.feed_call(index, name="ping", arguments="{}")
    assert scanner.finish("tool_calls") == [first, second] == list(scanner.outcome.calls)


def checked(outcome: Outcome, *results: Any) -> list[dict[str, Any]]:
    """The messages, which the real types take, and JSON."""
    messages = outcome.messages(results)
    (own, *others) = messages
    assert ChatCompletionMessage.model_validate(own).role == "assistant"
    adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(ChatCompletionMessageParam)
    for message in messages:
        # Their lists are iterables, which pydantic reads when they are asked for.
        taken = adapter.validate_python(message)
        assert [*(taken.get("tool_calls") or ())] == [*(message.get("tool_calls") or ())]
    for call in own.get("tool_calls", ()):
        assert isinstance(json.loads(call["function"]["arguments"]), dict) and call["function"]["name"]
    ids = [call["id"] for call in own.get("tool_calls", ())]
    assert [m["tool_call_id"] for m in others if m["role"] == "tool"] == [i for i in ids if results or i == "b"]
    assert json.loads(json.dumps(messages)) == messages
    return messages


def test_calls_come_into_the_conversation_with_their_results() -> None:
    outcome = parse(TEXT, TOOLS)
    own, first, second, told = checked(outcome, "pong", {"waited": "é"})
    assert [call["function"] for call in own["tool_calls"]] == [
        {"name": "ping", "arguments": '{"host": "é"}'},
        {"name": "wait", "arguments": '{"days": 3}'},
    ]
    # The refused call of the text is among the words, and the errors come last.
    (refusal,) = outcome.refusals
    assert own["content"] == f"Süß 😀.\n{refusal.block}"
    assert (first["content"], second["content"]) == ("pong", '{"waited": "é"}')
    assert told == {"role": "user", "content": refusal.feedback}
    assert outcome.messages() == outcome.messages([]) == [own, told]
    assert copy.deepcopy(outcome).messages(["pong", {"waited": "é"}]) == [own, first, second, told]


def test_refused_native_calls_are_answered_by_their_error() -> None:
    outcome = parse("Well.", TOOLS, native=[*NATIVE, {"id": "c", "name": "wait", "arguments": '{"days": '}])
    own, first, second, third = outcome.messages(["pong"])
    assert [call["id"] for call in own["tool_calls"]] == ["a", "b", "c"]
    assert [call["function"]["arguments"] for call in own["tool_calls"]] == [
        '{"host": "x"}',
        '{"days": "many"}',
        # No server takes arguments in a history that are not JSON.
        '{"unreadable_arguments": "{\\"days\\":"}',
    ]
    assert own["content"] == "Well." and first["content"] == "pong"
    assert [message["content"] for message in (second, third)] == [r.feedback for r in outcome.refusals]
    checked(parse("Well.", TOOLS, native=NATIVE), "pong")
    assert len(checked(parse("Well.", TOOLS, native=NATIVE))) == 2
    # One that names no tool cannot stand among the calls.
    (own, told) = parse("", TOOLS, native=[{"id": "a", "name": "", "arguments": "{}"}]).messages()
    assert "tool_calls" not in own and (own["content"], told["role"]) == ("{}", "user")


def test_an_answer_without_calls_is_one_message() -> None:
    assert checked(parse("Hi.", TOOLS)) == [{"role": "assistant", "content": "Hi."}]
    assert checked(parse("", TOOLS)) == [{"role": "assistant", "content": "…"}]


def test_results_are_as_many_as_calls() -> None:
    outcome = parse(TEXT, TOOLS)
    for wrong in (["pong"], ["pong"] * 3):
        with pytest.raises(ValueError, match=f"there are {len(wrong)} results for 2 calls"):
            outcome.messages(wrong)
    with pytest.raises(TypeError, match="not JSON serializable"):
        outcome.messages([object(), ""])
    with pytest.raises(ValueError, match="0 calls"):
        parse("Hi.", TOOLS).messages(["pong"])
