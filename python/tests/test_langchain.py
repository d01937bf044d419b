"""The middleware in a real agent of LangChain, whose model says what it is told to."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, StructuredOutputValidationError, ToolStrategy
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from pydantic import BaseModel

from callwright import Refused
from callwright.langchain import MendToolCalls

RAN: list[tuple[str, int]] = []


@tool
def write(path: str, times: int = 1) -> str:
    """Writes a file."""
    RAN.append((path, times))
    return "written"


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


class Says(BaseChatModel):
    """Gives one answer after the other, and keeps what it was asked."""

    answers: list[Any]
    asked: list[list[BaseMessage]] = []

    @property
    def _llm_type(self) -> str:
        return "says"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.asked.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.answers.pop(0))])


class Streams(Says):
    """The same, in chunks."""

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> Iterator[ChatGenerationChunk]:
        self.asked.append(messages)
        for chunk in self.answers.pop(0):
            yield ChatGenerationChunk(message=chunk)


def invalid(arguments: str, name: str = "write") -> AIMessage:
    call = invalid_tool_call(name=name, args=arguments, id="1", error="not JSON")
    return AIMessage(content="", invalid_tool_calls=[call])


def run(model: Says, **options: Any) -> list[BaseMessage]:
    agent = create_agent(model, [write], middleware=[MendToolCalls(**options)])
    messages: list[BaseMessage] = agent.invoke({"messages": [HumanMessage("Write.")]})["messages"]
    return messages


def test_an_invalid_call_is_repaired_and_runs() -> None:
    model = Says(answers=[invalid("{'path': 'a.txt', 'times': '2'"), AIMessage("Done.")])
    messages = run(model)
    assert RAN == [("a.txt", 2)]
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
    # Without it the agent ends, and nobody learns why.
    RAN.clear()
    agent = create_agent(Says(answers=[invalid("{'path': 'a.txt'}")]), [write])
    assert [m.type for m in agent.invoke({"messages": [HumanMessage("Write.")]})["messages"]] == ["human", "ai"]
    assert RAN == []


def test_it_runs_where_all_is_asynchronous() -> None:
    model = Says(answers=[invalid("{'path': 'a.txt'}"), AIMessage("Done.")])
    agent = create_agent(model, [write], middleware=[MendToolCalls()])
    asyncio.run(agent.ainvoke({"messages": [HumanMessage("Write.")]}))
    assert RAN == [("a.txt", 1)]


def test_a_call_that_cannot_be_read_is_asked_for_again() -> None:
    right = AIMessage("", tool_calls=[{"name": "write", "args": {"path": "b.txt"}, "id": "2", "type": "tool_call"}])
    model = Says(answers=[invalid('{"path": "a.t'), right, AIMessage("Done.")])
    messages = run(model)
    assert RAN == [("b.txt", 1)]
    # The failed attempt leaves no trace; the model was told of it.
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
    told = model.asked[1][-1]
    assert isinstance(told, ToolMessage) and told.tool_call_id == "1"
    assert "cut off" in json.loads(str(told.content))["error"]


def test_what_stays_wrong_is_an_error() -> None:
    model = Says(answers=[invalid('{"path": "a.t')] * 2)
    with pytest.raises(Refused) as refused:
        run(model, max_corrections=1)
    assert refused.value.code == "truncated" and len(model.asked) == 2 and RAN == []


def test_a_cut_stream_is_no_call() -> None:
    cut = [
        AIMessageChunk(content="", tool_call_chunks=[{"name": "write", "args": '{"path": "impor', "id": "1", "index": 0}]),
        AIMessageChunk(content="", response_metadata={"finish_reason": "length"}, chunk_position="last"),
    ]
    done = [AIMessageChunk(content="Done.", chunk_position="last")]
    agent = create_agent(Streams(answers=[list(cut), list(done)]), [write])
    for _ in agent.stream({"messages": [HumanMessage("Write.")]}, stream_mode="messages"):
        pass
    # What nobody wrote has run.
    assert RAN == [("impor", 1)]
    RAN.clear()
    model = Streams(answers=[list(cut), list(done)])
    agent = create_agent(model, [write], middleware=[MendToolCalls()])
    for _ in agent.stream({"messages": [HumanMessage("Write.")]}, stream_mode="messages"):
        pass
    assert RAN == [] and len(model.asked) == 2


def test_a_call_in_the_text_runs() -> None:
    text = "I write. <tool_call>{'name': 'write', 'arguments': {'path': 'a.txt'}}</tool_call>"
    messages = run(Says(answers=[AIMessage(text), AIMessage("Done.")]), asked="hermes")
    assert RAN == [("a.txt", 1)]
    assert messages[1].content == "I write."


def test_what_is_right_and_what_is_not_ours_goes_on_as_it_came() -> None:
    prose = AIMessage("Nothing to do: {}")
    assert run(Says(answers=[prose]))[-1].content == prose.content
    other = {"name": "structured", "args": {"x": 1}, "id": "9", "type": "tool_call"}
    model = Says(answers=[AIMessage("", tool_calls=[other]), AIMessage("Done.")])
    messages = run(model)
    assert isinstance(messages[1], AIMessage) and messages[1].tool_calls[0]["name"] == "structured"


class Out(BaseModel):
    """What the agent gives back."""

    n: int


def answered(model: Says, is_async: bool, **options: Any) -> dict[str, Any]:
    agent = create_agent(model, [write], middleware=[MendToolCalls()], **options)
    asks: Any = {"messages": [HumanMessage("Write.")]}
    result: dict[str, Any] = asyncio.run(agent.ainvoke(asks)) if is_async else agent.invoke(asks)
    return result


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("format", [Out, ToolStrategy(Out), ToolStrategy(Out, handle_errors=False)])
def test_structured_output_by_a_tool_is_repaired(format: Any, is_async: bool) -> None:
    model = Says(answers=[invalid("{'n': 5,}", "Out")])
    result = answered(model, is_async, response_format=format)
    assert (result["structured_response"], len(model.asked)) == (Out(n=5), 1)
    assert [message.type for message in result["messages"]] == ["human", "ai", "tool"]
    # What LangChain's own reading takes is right, whatever ours says.
    typed = AIMessage("", tool_calls=[{"name": "Out", "args": {"n": "5 "}, "id": "1", "type": "tool_call"}])
    assert answered(Says(answers=[typed]), is_async, response_format=format)["structured_response"] == Out(n=5)


@pytest.mark.parametrize("is_async", [False, True])
def test_structured_output_that_cannot_be_read_is_asked_for_with_its_schema(is_async: bool) -> None:
    model = Says(answers=[invalid('{"n": "many"}', "Out"), invalid("{'n': 5,}", "Out")])
    assert answered(model, is_async, response_format=ToolStrategy(Out))["structured_response"] == Out(n=5)
    told = str(model.asked[1][-1].content)
    assert "Unknown tool" not in told and "n must be an integer" in told


@pytest.mark.parametrize("is_async", [False, True])
def test_structured_output_in_the_text_is_repaired(is_async: bool) -> None:
    result = answered(Says(answers=[AIMessage("{'n': 5,}")]), is_async, response_format=ProviderStrategy(Out))
    assert (result["structured_response"], result["messages"][-1].content) == (Out(n=5), '{"n": 5}')
    model = Says(answers=[AIMessage("Five.")] * 3)
    with pytest.raises(StructuredOutputValidationError):
        answered(model, is_async, response_format=ProviderStrategy(Out))
    assert len(model.asked) == 3


CALL = '<tool_call>{"name": "write", "arguments": {"path": "a.txt"}}</tool_call>'


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("text", [f"Sure.\n{CALL}\nDone!", f"Sure {CALL}"])
def test_a_call_in_prose_is_asked_about_once(text: str, is_async: bool) -> None:
    model = Says(answers=[AIMessage(text), AIMessage(CALL), AIMessage("Done.")])
    result = answered(model, is_async)
    assert RAN == [("a.txt", 1)]
    assert [message.type for message in result["messages"]] == ["human", "ai", "tool", "ai"]
    assert "a call of the tool write in the middle of prose" in str(model.asked[1][-1].content)
    # What is only shown stands as it was written.
    RAN.clear()
    for second in ["I only show it.", text]:
        model = Says(answers=[AIMessage(text), AIMessage(second)])
        assert answered(model, is_async)["messages"][-1].content == text
        assert (RAN, len(model.asked)) == ([], 2)


def tokens(answers: list[str], is_async: bool, size: int = 3) -> tuple[list[str], Says]:
    """What a user sees of a run whose model streams its text in small pieces."""
    chunks = [
        [AIMessageChunk(content=answer[at : at + size]) for at in range(0, len(answer), size)] for answer in answers
    ]
    model = Streams(answers=chunks)
    agent = create_agent(model, [write], middleware=[MendToolCalls()])
    asks: Any = {"messages": [HumanMessage("Write.")]}

    async def run() -> list[Any]:
        return [told async for told in agent.astream(asks, stream_mode="messages")]

    told: list[Any] = asyncio.run(run()) if is_async else list(agent.stream(asks, stream_mode="messages"))
    return [message.text for message, _ in told if isinstance(message, AIMessageChunk)], model


@pytest.mark.parametrize("is_async", [False, True])
def test_a_stream_shows_no_marks_and_loses_no_call(is_async: bool) -> None:
    seen, model = tokens([f"Sure.\n{CALL}", "All done."], is_async)
    assert ("".join(seen), RAN, len(model.asked)) == ("Sure.All done.", [("a.txt", 1)], 2)
    assert 4 < len(seen)
    (called,) = [message for message in model.asked[1] if isinstance(message, AIMessage)]
    assert (called.content, called.tool_calls[0]["name"]) == ("Sure.", "write")
    assert "callwright" not in str(called.response_metadata)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("text", [f"Sure.\n{CALL}\nDone!", f"Sure {CALL}"])
def test_a_call_in_the_prose_of_a_stream_is_asked_about_once(text: str, is_async: bool) -> None:
    seen, model = tokens([text, CALL, "All done."], is_async)
    assert ("<" not in "".join(seen), RAN, len(model.asked)) == (True, [("a.txt", 1)], 3)


def test_a_stream_of_prose_goes_on_as_it_came() -> None:
    text = 'A brace { and `<tool_call>` and "quotes".\n```json\n{"name": "other", "arguments": {}}\n```\nDone.'
    seen, model = tokens([text], False)
    assert ("".join(seen), RAN, len(model.asked)) == (text, [], 1)
