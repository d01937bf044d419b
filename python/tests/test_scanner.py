"""`Scanner`: an answer in pieces comes to what the whole answer comes to."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

import callwright
from callwright import ArgumentsDelta, Call, CallStarted, Event, ReasoningDelta, Scanner, TextDelta, parse

TOOLS = [{"name": "write", "parameters": {"type": "object", "properties": {"content": {"type": "string"}}}}]
TEXT = "Süß.\n<think>hm</think><tool_call>{'name': 'write', 'arguments': {'content': 'é😀'}}</tool_call>"


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_pieces_do_not_matter(size: int) -> None:
    scanner = Scanner(TOOLS)
    events: list[Event] = []
    for at in range(0, len(TEXT), size):
        events += scanner.feed(TEXT[at : at + size])
    events += scanner.finish()
    whole = parse(TEXT, TOOLS)
    assert scanner.outcome.report() == whole.report()
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == whole.text
    assert "".join(e.text for e in events if isinstance(e, ReasoningDelta)) == whole.reasoning
    (call,) = [event for event in events if isinstance(event, Call)]
    (expected,) = whole.calls
    assert (call.start, call.end, call.repairs) == (expected.start, expected.end, expected.repairs)
    assert call.arguments == {"content": "é😀"}


def test_a_live_native_call_goes_out_before_its_verdict() -> None:
    scanner = Scanner(TOOLS, live=True)
    events = scanner.feed('<tool_call>{"name": "write", "arguments": {"content": "h"}}</tool_call>')
    events += scanner.feed_call(0, name="write", arguments='{"content": "hel')
    events += scanner.feed_call(0, arguments='lo"}')
    events += scanner.finish("stop")
    (started,) = [event for event in events if isinstance(event, CallStarted)]
    assert (started.name, started.index, started.id) == ("write", 0, None)
    _, call = [event for event in events if isinstance(event, Call)]
    pieces = "".join(event.text for event in events if isinstance(event, ArgumentsDelta))
    assert pieces and call.arguments_json.startswith(pieces)


def test_native_calls_arrive_in_pieces() -> None:
    scanner = Scanner(TOOLS, native_mode=True)
    scanner.feed("Well.")
    scanner.feed_reasoning("hm")
    scanner.feed_call(0, id="a", name="write", arguments="{'content': ")
    scanner.feed_call(1, id="b", name="write", arguments='{"content": "2"}')
    scanner.feed_call(0, arguments="'1'}")
    events = scanner.finish("tool_calls")
    calls = [event for event in events if isinstance(event, Call)]
    assert [(call.id, call.arguments["content"]) for call in calls] == [("a", "1"), ("b", "2")]
    assert [repair.before for repair in calls[0].repairs] == ["'"] * 4
    assert scanner.outcome.reasoning == "hm"
    assert [call.repairs for call in scanner.outcome.calls] == [call.repairs for call in calls]


def test_it_reads_one_answer() -> None:
    scanner = Scanner(TOOLS)
    with pytest.raises(ValueError, match="has not ended"):
        scanner.outcome
    assert repr(scanner) == "<Scanner: 0 characters so far>"
    scanner.finish()
    with pytest.raises(RuntimeError, match="reads one answer"):
        scanner.feed("x")
    with pytest.raises(RuntimeError, match="reads one answer"):
        scanner.finish()


def test_a_cut_answer_is_refused_at_its_end() -> None:
    scanner = Scanner(TOOLS)
    scanner.feed('<tool_call>{"name": "write", "arguments": {"content": "x')
    (refusal,) = scanner.finish("length")
    assert getattr(refusal, "code", "") == "truncated"


def test_a_stream_is_read_as_it_comes() -> None:
    fed: list[str] = []

    async def pieces() -> AsyncIterator[str]:
        for piece in ("I look. ", "I write. ", TEXT):
            fed.append(piece)
            yield piece

    async def main() -> list[tuple[Any, int]]:
        return [(event, len(fed)) async for event in Scanner(TOOLS).events(pieces())]

    events = asyncio.run(main())
    # The first words come before the rest was asked for.
    first, n_fed = events[0]
    assert "I look.".startswith(first.text) and n_fed == 1
    assert isinstance(events[-1][0], Call)


def test_the_call_that_is_written_shows_what_is_certain_of_it() -> None:
    tools = [{"name": "f", "parameters": {"properties": {"a": {"type": "string"}, "n": {"type": "integer"}}}}]
    scanner = Scanner(tools)
    assert scanner.partial() is None
    scanner.feed('<tool_call>{"name": "f", "arguments": {"n": 1, "a": "hel')
    call = scanner.partial()
    assert call is not None
    assert (call.id, call.name, call.arguments.value) == (None, "f", {"n": 1, "a": "hel"})
    scanner.feed('lo"}}</tool_call>')
    scanner.finish()
    assert scanner.partial() is None
    scanner = Scanner(tools)
    scanner.feed_call(0, id="c1", name="f", arguments='{"n": "1", "a": "x')
    assert scanner.partial() == callwright.PartialCall("c1", "f", callwright.Partial('{"a":"x"}', []))
