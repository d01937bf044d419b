"""`parse`: a whole answer, with what a server gave apart."""

import json
import pickle
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

import callwright
from callwright import Call, Dialects, Outcome, Refusal, ToolSet, parse

PING = {"name": "ping"}
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}


def test_a_call_comes_with_all_that_was_done_to_it() -> None:
    text = "Süß 😀. <tool_call>{'name': 'getWeather', 'arguments': {'city': 'Köln', 'days': '3'}}</tool_call>"
    outcome = parse(text, [WEATHER])
    (call,) = outcome.calls
    assert (call.name, call.arguments) == ("get_weather", {"city": "Köln", "days": 3})
    assert json.loads(call.arguments_json) == call.arguments
    # What a caller does to it stays with the caller.
    call.arguments["days"] = 4
    assert call.arguments == {"city": "Köln", "days": 3}
    assert text[call.start : call.end].startswith("<tool_call>") and call.end == len(text)
    assert all(text[repair.start : repair.end] == repair.before for repair in call.repairs)
    assert (call.renamed_from, call.repair_class, call.beside_prose) == ("getWeather", "R2", "line")
    assert (call.id, call.unsure, call.open_end, call.dialect) == (None, False, False, "hermes")
    assert [coercion.pointer for coercion in call.coercions] == ["/days"]
    assert (outcome.text, outcome.reasoning, outcome.refusals) == ("Süß 😀.", "", ())


def test_a_refusal_is_data() -> None:
    outcome = parse('<tool_call>{"name": "get_wether", "arguments": {}}</tool_call>', [PING])
    (refusal,) = outcome.refusals
    assert (outcome.calls, outcome.verdicts) == ((), (refusal,))
    assert (refusal.code, refusal.name, refusal.number) == ("unknown-tool", "get_wether", 1)
    assert "ping" in refusal.feedback
    match outcome.verdicts[0]:
        case Call():
            pytest.fail("it is refused")
        case Refusal(name, code, _):
            assert (name, code) == ("get_wether", "unknown-tool")


@pytest.mark.parametrize(
    "call",
    [
        {"id": "1", "name": "ping", "arguments": "{'a': 1}"},
        {"id": "1", "type": "function", "function": {"name": "ping", "arguments": "{'a': 1}"}},
        SimpleNamespace(id="1", function=SimpleNamespace(name="ping", arguments="{'a': 1}")),
        {"id": "1", "name": "ping", "arguments": {"a": 1}},
    ],
)
def test_native_calls_come_in_any_form(call: Any) -> None:
    tools = [{"name": "ping", "parameters": {"type": "object"}}]
    outcome = parse("", tools, native=[call])
    (found,) = outcome.calls
    assert (found.id, found.name, found.arguments, found.dialect) == ("1", "ping", {"a": 1}, "native")
    assert all(repair.before == "'" for repair in found.repairs)
    assert json.loads(outcome.report())["calls"][0]["id"] == "1"


def test_a_server_that_knows_tools_leaves_words_alone() -> None:
    text = 'It would be {"name": "ping", "arguments": {}} then.'
    assert parse(text, [PING], native=[]).calls == ()
    assert parse(text, [PING], native=[]).text == text


def test_what_is_shown_stays() -> None:
    text = "Write:\n> <tool_call>{\"name\": \"ping\"}</tool_call>\nThen wait."
    outcome = parse(text, [PING])
    (shown,) = outcome.shown
    assert (outcome.calls, outcome.text, shown.by, shown.name) == ((), text, "prefix", "ping")
    assert "tool_call" in text[shown.start : shown.end]


def test_a_cut_answer_is_refused() -> None:
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Par'
    outcome = parse(text, [WEATHER], finish_reason="length")
    assert [refusal.code for refusal in outcome.refusals] == ["truncated"]


def test_tools_are_taken_in_any_form() -> None:
    for tools in ([WEATHER], WEATHER, {"tools": [WEATHER]}, json.dumps([WEATHER]), ToolSet([WEATHER])):
        assert ToolSet(tools).names == ("get_weather",)
    tool_set = ToolSet([WEATHER, PING])
    assert len(tool_set) == 2 and "ping" in tool_set and "pong" not in tool_set
    assert pickle.loads(pickle.dumps(tool_set)).names == tool_set.names
    assert repr(tool_set) == 'ToolSet(["get_weather", "ping"])'


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([{"name": ""}], "tool 1"),
        ("[", "not JSON"),
        ([{"name": "f", "parameters": {"minimum": float("inf")}}], "Out of range float values"),
        ({1, 2}, "a tool is JSON"),
    ],
)
def test_tools_that_are_none_are_an_error(tools: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        parse("", tools)


@pytest.mark.parametrize(
    ("keyword", "value", "words"),
    [
        ("policy", "lenient", "auto, heal, feedback and strict"),
        ("calls_in_reasoning", "x", "ignore, unclosed or accept"),
        ("asked", "x", "there is no dialect `x`; there are .*hermes"),
        ("native", [{"name": 5}], "`name` of a native call must be a str"),
    ],
)
def test_a_keyword_that_is_none_is_an_error(keyword: str, value: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        parse("", [PING], **{keyword: value})


def test_a_dialect_of_ones_own() -> None:
    with pytest.raises(ValueError, match="there is no dialect"):
        Dialects(only="nobody")
    with pytest.raises(ValueError, match="not a list of dialects"):
        Dialects([{"nam": "x"}])
    only = Dialects(only="mistral_v11")
    assert "hermes" in only.names
    text = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    assert parse(text, [PING]).calls and not parse(text, [PING], dialects=only).calls
    assert not parse(text, [PING], dialects=pickle.loads(pickle.dumps(only))).calls


def test_the_report_is_one_line_of_json() -> None:
    report = parse("Sure.", [PING]).report()
    assert "\n" not in report
    assert json.loads(report) == {
        "version": 2,
        "calls": [],
        "refusals": [],
        "shown": [],
        "text": "Sure.",
        "reasoning": "",
        "repairs": [],
        "repair_counts": {},
    }


def test_another_thread_runs_meanwhile() -> None:
    # While a long text is being read, short ones are: with the interpreter's lock held, that cannot be, as here nobody takes
    # it away. Which thread goes on first is the system's choice, so that one time of many is enough.
    long = "[" + ",".join(["'x'"] * 200_000) + "]"

    def order() -> list[str]:
        order: list[str] = []
        begun = threading.Event()

        def read() -> None:
            begun.set()
            callwright.heal(long)
            order.append("long")

        thread = threading.Thread(target=read)
        thread.start()
        begun.wait()
        callwright.heal("{'a': 1}")
        order.append("short")
        thread.join()
        return order

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        assert any(order() == ["short", "long"] for _ in range(20))
    finally:
        sys.setswitchinterval(switch)


def test_an_outcome_shows_itself() -> None:
    outcome: Outcome = parse("Hi.", [PING])
    assert repr(outcome) == "Outcome(text='Hi.', calls=())"
