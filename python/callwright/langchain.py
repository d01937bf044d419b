"""For LangChain: a middleware that repairs the calls of an agent's model, and asks again about those that it cannot.

Without it `create_agent` ends in silence where a call is invalid, and a call that a stream was cut in runs as if it were
complete.

    from langchain.agents import create_agent
    from callwright.langchain import MendToolCalls

    agent = create_agent(model, tools, middleware=[MendToolCalls()])
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from callwright._callwright import Outcome, Refusal, ToolSet, is_cut, parse
from callwright._refused import Refused

__all__ = ["MendToolCalls"]


class MendToolCalls(AgentMiddleware[Any, Any, Any]):
    """Reads each answer of the model: calls that it made natively, and calls in its text.

    A call that can be read in one way goes on repaired, with arguments of the types that its tool asks for. Where one cannot,
    the model is told why and asked again, at most `max_corrections` times for one answer; what it wrote before leaves no
    trace in the agent's messages. Where it does not get right, `Refused` is raised, so that no run ends as if all were well.
    Calls of tools that the request does not declare, such as those for structured output, go on as they came.

    `asked` names the dialect that a prompt asked for, where the model calls in its text.
    """

    def __init__(self, *, max_corrections: int = 2, asked: str | None = None) -> None:
        super().__init__()
        self.max_corrections = max_corrections
        self.asked = asked

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        tools = _tools(request)
        for left in range(self.max_corrections, -1, -1):
            response = handler(request)
            answer = _Answer.of(response, tools, self.asked)
            if answer is None or not answer.refusals:
                return response if answer is None else answer.repaired(response)
            request = answer.asked_again(request, left)
        raise AssertionError("the last answer is delivered or refused")

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        tools = _tools(request)
        for left in range(self.max_corrections, -1, -1):
            response = await handler(request)
            answer = _Answer.of(response, tools, self.asked)
            if answer is None or not answer.refusals:
                return response if answer is None else answer.repaired(response)
            request = answer.asked_again(request, left)
        raise AssertionError("the last answer is delivered or refused")


def _tools(request: ModelRequest[Any]) -> ToolSet:
    return ToolSet([convert_to_openai_tool(tool) for tool in request.tools])


class _Answer:
    """One message of the model, and what it came to."""

    def __init__(self, message: AIMessage, others: list[dict[str, Any]], outcome: Outcome) -> None:
        self.message = message
        self.others = others
        self.outcome = outcome

    @staticmethod
    def of(response: ModelResponse[Any], tools: ToolSet, asked: str | None) -> _Answer | None:
        """`None` where there is nothing to read: no message of a model, or one without text and calls."""
        message = next((m for m in response.result if isinstance(m, AIMessage)), None)
        if message is None:
            return None
        reason = _finish_reason(message)
        ours, others = _native_calls(message, tools, is_cut(reason))
        native = None if asked is not None and not ours else ours
        outcome = parse(_text(message), tools, native=native, finish_reason=reason, asked=None if native else asked)
        return _Answer(message, others, outcome)

    @property
    def refusals(self) -> Sequence[Refusal]:
        return self.outcome.refusals

    def repaired(self, response: ModelResponse[Any]) -> ModelResponse[Any]:
        calls = [
            {"name": call.name, "args": call.arguments, "id": call.id or f"call_{number}", "type": "tool_call"}
            for number, call in enumerate(self.outcome.calls)
        ]
        changes: dict[str, Any] = {"tool_calls": [*calls, *self.others], "invalid_tool_calls": []}
        text = _text(self.message)
        if isinstance(self.message.content, str) and self.outcome.text != text and calls:
            changes["content"] = self.outcome.text
        # What the provider sent is what its own adapter would send back in the place of the repaired calls.
        changes["additional_kwargs"] = {
            key: value for key, value in self.message.additional_kwargs.items() if key != "tool_calls"
        }
        message = self.message.model_copy(update=changes)
        result: list[BaseMessage] = [message if m is self.message else m for m in response.result]
        return ModelResponse(result=result, structured_response=response.structured_response)

    def asked_again(self, request: ModelRequest[Any], left: int) -> ModelRequest[Any]:
        """The request with what is wrong; raises `Refused` where nothing is left."""
        first = self.refusals[0]
        if left == 0:
            raise Refused(
                first.message,
                first.code,
                first.feedback,
                first.position,
                first.hints,
                first.fix,
                first.fix_is_certain,
                first.readings,
                first.violations,
            )
        # Each id wants an answer; a call beside a refused one is not run yet.
        told: list[AnyMessage] = []
        for verdict in self.outcome.verdicts:
            if isinstance(verdict, Refusal):
                content = verdict.feedback
            else:
                content = "Not run: another call of the same message is wrong. Make all of them again."
            if verdict.id is not None:
                told.append(ToolMessage(content=content, tool_call_id=verdict.id, status="error"))
            elif isinstance(verdict, Refusal):
                told.append(HumanMessage(content=content))
        waiting = [
            ToolMessage(content="Not run: another call of the same message is wrong.", tool_call_id=call["id"])
            for call in self.others
            if call["id"] is not None
        ]
        return request.override(messages=[*request.messages, self.message, *waiting, *told])


def _finish_reason(message: AIMessage) -> str | None:
    # Providers differ: `length`, Anthropic's `stop_reason` of `max_tokens`, Google's `MAX_TOKENS`.
    said = message.response_metadata
    reason = said.get("finish_reason") or said.get("stop_reason") or said.get("done_reason")
    return reason.lower() if isinstance(reason, str) else None


def _text(message: AIMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    parts = (part if isinstance(part, str) else part.get("text", "") for part in message.content)
    return "".join(part for part in parts if isinstance(part, str))


def _native_calls(
    message: AIMessage, tools: ToolSet, cut: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The calls of declared tools with their arguments as text, and those of other names as they came."""
    written = {
        call.get("id"): call["function"].get("arguments")
        for call in message.additional_kwargs.get("tool_calls", [])
        if isinstance(call, dict) and isinstance(call.get("function"), dict)
    }
    ours: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for number, call in enumerate(message.tool_calls, 1):
        if call["name"] not in tools:
            others.append(dict(call))
            continue
        arguments = written.get(call["id"])
        if arguments is None:
            arguments = json.dumps(call["args"], ensure_ascii=False)
            # In a stream LangChain closes what was cut, and tells nobody: its last bracket is nobody's.
            if cut and number == len(message.tool_calls):
                arguments = arguments[:-1]
        ours.append({"id": call["id"], "name": call["name"], "arguments": arguments})
    for invalid in message.invalid_tool_calls:
        ours.append({"id": invalid["id"], "name": invalid["name"] or "", "arguments": invalid["args"] or ""})
    return ours, others
