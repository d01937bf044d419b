"""The capability in a real agent of pydantic-ai, whose model is a function."""

from typing import Any

import pytest
from pydantic_ai import Agent, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

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
