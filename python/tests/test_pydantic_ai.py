"""The capability in a real agent of pydantic-ai, whose model is a function."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from callwright.pydantic_ai import MendToolCalls


def agent_of(answers: list[ModelResponse], ran: list[Any], **options: Any) -> tuple[Agent[None, str], list[Any]]:
    asked: list[list[ModelMessage]] = []

    def says(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        asked.append(list(messages))
        return answers.pop(0)

    agent = Agent(FunctionModel(says), capabilities=[MendToolCalls(**options)], retries=1)

    @agent.tool_plain
    def write(path: str, times: int = 1) -> str:
        ran.append((path, times))
        return "written"

    return agent, asked


def native(arguments: str, **options: Any) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart("write", arguments)], **options)


DONE = ModelResponse(parts=[TextPart("Done.")])


def test_broken_arguments_run_at_once_and_history_is_right() -> None:
    ran: list[Any] = []
    agent, asked = agent_of([native("{'path': 'a.txt', 'times': '2',}"), DONE], ran)
    result = agent.run_sync("Write.")
    assert (ran, len(asked), result.output) == ([("a.txt", 2)], 2, "Done.")
    calls = [part for message in result.all_messages() for part in message.parts if isinstance(part, ToolCallPart)]
    assert [call.args for call in calls] == ['{"path": "a.txt", "times": 2}']


def test_what_cannot_be_read_is_asked_for_again() -> None:
    ran: list[Any] = []
    agent, asked = agent_of([native('{"path": "a.t'), native('{"path": "b.txt"}'), DONE], ran)
    agent.run_sync("Write.")
    assert ran == [("b.txt", 1)]
    (told,) = asked[1][-1].parts
    assert told.outcome == "retried" and "cut off" in str(told.content)


def test_a_cut_answer_closes_nothing() -> None:
    ran: list[Any] = []
    cut = native('{"path": "a.txt"', finish_reason="length")
    agent, _ = agent_of([cut, native('{"path": "b.txt"}'), DONE], ran)
    agent.run_sync("Write.")
    assert ran == [("b.txt", 1)]


def test_a_call_in_the_text_runs() -> None:
    ran: list[Any] = []
    text = "I write. <tool_call>{'name': 'write', 'arguments': {'path': 'a.txt'}}</tool_call>"
    agent, _ = agent_of([ModelResponse(parts=[TextPart(text)]), DONE], ran, asked="hermes")
    result = agent.run_sync("Write.")
    assert ran == [("a.txt", 1)]
    texts = [part.content for part in result.all_messages()[1].parts if isinstance(part, TextPart)]
    assert texts == ["I write."]


def test_what_stays_wrong_is_an_error() -> None:
    ran: list[Any] = []
    agent, _ = agent_of([native('{"path": "a.t')] * 3, ran)
    with pytest.raises(UnexpectedModelBehavior):
        agent.run_sync("Write.")
    assert ran == []


CALL = '<tool_call>{"name": "write", "arguments": {"path": "a.txt"}}</tool_call>'
WRONG = CALL.replace('"a.txt"', "[1]")
UNSURE = [f"Sure.\n{CALL}\nDone!", f"Sure {CALL}"]


def text(content: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(content)])


@pytest.mark.parametrize("written", UNSURE)
@pytest.mark.parametrize("second", [text(CALL), native('{"path": "a.txt"}')])
def test_a_call_in_prose_is_asked_about_once(written: str, second: ModelResponse) -> None:
    ran: list[Any] = []
    agent, asked = agent_of([text(written), second, DONE], ran)
    result = agent.run_sync("Write.")
    assert (ran, result.output, len(asked)) == ([("a.txt", 1)], "Done.", 3)
    assert "a call of the tool write in the middle of prose" in str(asked[1][-1].parts[0])
    # It leaves no trace, and both answers are paid for.
    assert len(result.all_messages()) == 4


@pytest.mark.parametrize("written", UNSURE)
def test_a_call_that_is_shown_stands(written: str) -> None:
    for second in ["I only show it.", written]:
        ran: list[Any] = []
        agent, asked = agent_of([text(written), text(second)], ran)
        assert agent.run_sync("Write.").output == written
        assert (ran, len(asked)) == ([], 2)


class Out(BaseModel):
    n: int


@pytest.mark.parametrize("by", [ToolOutput(Out, name="out"), NativeOutput(Out), PromptedOutput(Out)])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_structured_output_is_repaired(by: Any, is_streamed: bool) -> None:
    n_asked = 0

    def says(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        nonlocal n_asked
        n_asked += 1
        part = ToolCallPart("out", "{'n': 5,}") if isinstance(by, ToolOutput) else TextPart("{'n': 5,}")
        return ModelResponse(parts=[part])

    async def streams(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[Any]:
        nonlocal n_asked
        n_asked += 1
        for at, piece in enumerate(["{'n'", ": 5", ",}"]):
            name = "out" if at == 0 else None
            yield {0: DeltaToolCall(name, piece)} if isinstance(by, ToolOutput) else piece

    model = FunctionModel(says, stream_function=streams, profile={"supports_json_schema_output": True})
    agent: Agent[None, Out] = Agent(model, output_type=by, capabilities=[MendToolCalls()])

    async def run() -> Out:
        if not is_streamed:
            return (await agent.run("Count.")).output
        async with agent.run_stream("Count.") as stream:
            return await stream.get_output()

    assert (asyncio.run(run()), n_asked) == (Out(n=5), 1)


def streamed(answers: list[str], ran: list[Any], size: int = 3) -> tuple[list[str], int]:
    """The deltas that a user sees of an answer, and how often the model was asked."""
    n_asked = 0

    async def streams(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[str]:
        nonlocal n_asked
        n_asked += 1
        answer = answers.pop(0)
        for at in range(0, len(answer), size):
            yield answer[at : at + size]

    def says(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        nonlocal n_asked
        n_asked += 1
        return text(answers.pop(0))

    agent = Agent(FunctionModel(says, stream_function=streams), capabilities=[MendToolCalls()], retries=1)

    @agent.tool_plain
    def write(path: str, times: int = 1) -> str:
        ran.append((path, times))
        return "written"

    async def run() -> list[str]:
        async with agent.run_stream("Write.") as stream:
            return [delta async for delta in stream.stream_text(delta=True, debounce_by=None)]

    return asyncio.run(run()), n_asked


def test_a_stream_shows_no_marks_and_loses_no_call() -> None:
    ran: list[Any] = []
    deltas, _ = streamed([f"Sure.\n{CALL}"], ran)
    assert ("".join(deltas), ran) == ("Sure.", [("a.txt", 1)])
    # Without words the answer is the call alone, and the next one is what the user sees.
    ran = []
    deltas, n_asked = streamed([CALL, "All done."], ran)
    assert ("".join(deltas), ran, n_asked) == ("All done.", [("a.txt", 1)], 2)
    assert 1 < len(deltas)


@pytest.mark.parametrize("written", UNSURE)
def test_a_call_in_the_prose_of_a_stream_is_asked_about_once(written: str) -> None:
    ran: list[Any] = []
    deltas, n_asked = streamed([written, CALL], ran)
    assert ("".join(deltas).rstrip("."), ran, n_asked) == ("Sure", [("a.txt", 1)], 2)
    ran = []
    deltas, n_asked = streamed([written, "I only show it."], ran)
    assert ("".join(deltas), ran, n_asked) == (written, [], 2)


def test_a_stream_that_is_refused_is_asked_again() -> None:
    ran: list[Any] = []
    deltas, n_asked = streamed([WRONG, CALL, "Done."], ran)
    assert ("".join(deltas), ran, n_asked) == ("Done.", [("a.txt", 1)], 3)


@pytest.mark.parametrize("answers", [[f"Sure.\n{WRONG}"], [UNSURE[1], WRONG]])
def test_a_call_that_is_refused_behind_streamed_words_is_asked_for_again(answers: list[str]) -> None:
    ran: list[Any] = []
    answers = [*answers, CALL, "Done."]

    async def streams(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[str]:
        yield answers.pop(0)

    def says(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return text(answers.pop(0))

    agent = Agent(FunctionModel(says, stream_function=streams), capabilities=[MendToolCalls()], retries=1)

    @agent.tool_plain
    def write(path: str) -> str:
        ran.append(path)
        return "written"

    async def run() -> str:
        async with agent.run_stream_events("Write.") as events:
            return [event async for event in events][-1].result.output  # type: ignore[union-attr]

    assert (asyncio.run(run()), ran, answers) == ("Done.", ["a.txt"], [])


def test_native_calls_of_a_stream_come_through_in_their_place() -> None:
    ran: list[Any] = []
    n_asked = 0

    async def streams(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[Any]:
        nonlocal n_asked
        n_asked += 1
        if n_asked == 2:
            yield "Done."
            return
        yield {0: DeltaToolCall("write", "{'path':", tool_call_id="1")}
        yield {1: DeltaToolCall("write", '{"path": "b', tool_call_id="2")}
        yield {0: DeltaToolCall(None, " 'a',}")}
        yield {1: DeltaToolCall(None, '"}')}

    agent = Agent(FunctionModel(stream_function=streams), capabilities=[MendToolCalls()])

    @agent.tool_plain(sequential=True)
    def write(path: str) -> str:
        ran.append(path)
        return "written"

    async def run() -> str:
        async with agent.run_stream("Write.") as stream:
            return await stream.get_output()

    assert (asyncio.run(run()), ran) == ("Done.", ["a", "b"])
