"""One object in many threads: what the module promises with and without the interpreter's lock."""

import sys
import sysconfig
import threading
from collections.abc import Callable
from typing import TypeVar

import callwright

T = TypeVar("T")
N_THREADS = 8
TOOLS = [{"name": "write", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]
CALL = "<tool_call>{'name': 'write', 'arguments': {'n': '%d'}}</tool_call>"


def at_once(work: Callable[[int], T]) -> list[T]:
    """What `work` gives in each of several threads that begin together."""
    begin = threading.Barrier(N_THREADS)
    given: dict[int, T] = {}

    def run(number: int) -> None:
        begin.wait()
        given[number] = work(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [given[number] for number in range(N_THREADS)]


def test_no_lock_comes_with_the_module() -> None:
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        # Types of Pythons with the lock do not have it.
        assert not getattr(sys, "_is_gil_enabled")()


def test_tools_and_schemas_are_compiled_by_all_at_once() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}

    def work(number: int) -> list[object]:
        values: list[object] = []
        for n in range(100):
            # Each round has definitions that nobody has compiled yet.
            tools = [{**TOOLS[0], "description": str(n)}]
            (call,) = callwright.parse(CALL % number, tools).calls
            values += [call.arguments["n"], callwright.loads(f"{{'n': '{n}'}}", {**schema, "title": str(n)})]
        return values

    for number, values in enumerate(at_once(work)):
        assert values == [value for n in range(100) for value in (number, {"n": n})]


def test_what_is_made_on_demand_is_made_once() -> None:
    tools = callwright.ToolSet(TOOLS)
    for n in range(50):
        outcome = callwright.parse(CALL % n, tools)
        calls = at_once(lambda _: outcome.calls[0])
        assert all(call is calls[0] for call in calls)
        arguments = at_once(lambda _: calls[0].arguments)
        # Each caller has one of its own.
        assert all(value == arguments[0] for value in arguments)
        assert len({id(value) for value in arguments}) == len(arguments)
        assert arguments[0] == {"n": n}


def test_a_scanner_takes_pieces_of_all() -> None:
    scanner = callwright.Scanner(TOOLS)
    found = at_once(lambda number: [event for _ in range(50) for event in scanner.feed(f"\n\n{CALL % number}\n\n")])
    events = [event for events in found for event in events] + scanner.finish()
    calls = [event for event in events if isinstance(event, callwright.Call)]
    assert len(calls) == len(scanner.outcome.calls)
    assert {call.arguments["n"] for call in calls} == set(range(N_THREADS))
