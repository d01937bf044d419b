"""For LangChain: a middleware that repairs the calls of an agent's model, and asks again about those that it cannot.

Without it `create_agent` ends in silence where a call is invalid, and a call that a stream was cut in runs as if it were
complete.

    from langchain.agents import create_agent
    from callwright.langchain import MendToolCalls

    agent = create_agent(model, tools, middleware=[MendToolCalls()])
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import (
    AutoStrategy,
    MultipleStructuredOutputsError,
    OutputToolBinding,
    ProviderStrategy,
    ProviderStrategyBinding,
    StructuredOutputValidationError,
    ToolStrategy,
)
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.utils.function_calling import convert_to_openai_tool

from callwright._callwright import Outcome, ReasoningDelta, Refusal, TextDelta, ToolSet, heal, is_cut, parse
from callwright._followup import NOT_RUN, refused
from callwright._hosts import StreamedText, confirmation
from callwright._refused import Refused

__all__ = ["MendToolCalls"]

_Message = TypeVar("_Message", bound=BaseMessage)


class MendToolCalls(AgentMiddleware[Any, Any, Any]):
    """Reads each answer of the model: calls that it made natively, calls in its text, and structured output.

    A call that can be read in one way goes on repaired, with arguments of the types that its tool asks for. Where one cannot,
    the model is told why and asked again, at most `max_corrections` times for one answer; what it wrote before leaves no
    trace in the agent's messages. Where it does not get right, `Refused` is raised, so that no run ends as if all were well.
    Where a call stands in prose and may be only shown, the model is asked once whether it is meant.
    Calls of tools that the request does not declare go on as they came.

    `asked` names the dialect that a prompt asked for, where the model calls in its text.
    """

    def __init__(self, *, max_corrections: int = 2, asked: str | None = None) -> None:
        super().__init__()
        self.max_corrections = max_corrections
        self.asked = asked

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        turn = _Turn(request, self.max_corrections, self.asked)
        while True:
            try:
                taken = turn.take(handler(turn.request))
            except StructuredOutputValidationError as error:
                taken = turn.take_unstructured(error)
            if taken is not None:
                return taken

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        turn = _Turn(request, self.max_corrections, self.asked)
        while True:
            try:
                taken = turn.take(await handler(turn.request))
            except StructuredOutputValidationError as error:
                taken = turn.take_unstructured(error)
            if taken is not None:
                return taken


class _Turn:
    """What is asked next, until an answer can be delivered."""

    def __init__(self, request: ModelRequest[Any], corrections: int, asked: str | None) -> None:
        self.corrections = corrections
        self.asked = asked
        self.outputs = {spec.name: spec for spec in _output_specs(request)}
        declared = [convert_to_openai_tool(tool) for tool in request.tools]
        self.tools = ToolSet([*declared, *map(_output_tool, self.outputs.values())])
        self.request = request.override(model=_held(request.model, self.tools, asked))
        # The answer that may only show a call, while the model is asked; an answer is asked about once.
        self.doubted: ModelResponse[Any] | None = None
        self.has_doubted = False

    def take(self, response: ModelResponse[Any]) -> ModelResponse[Any] | None:
        """The response to deliver, or `None` to send `request`; raises `Refused` after the last correction."""
        response = ModelResponse(
            result=[_as_written(message) for message in response.result],
            structured_response=response.structured_response,
        )
        answer = _Answer.of(response, self.tools, self.asked)
        doubted, self.doubted = self.doubted, None
        if doubted is not None and (answer is None or not answer.outcome.verdicts):
            return doubted
        if answer is None or (response.structured_response is not None and not answer.is_cut):
            return response
        question = None if answer.others or self.has_doubted else confirmation(answer.outcome)
        if question is not None:
            self.doubted, self.has_doubted = response, True
            self.ask([answer.message, HumanMessage(question)])
            return None
        if answer.refusals:
            if self.corrections == 0:
                raise answer.error()
            self.correct(answer.told())
            return None
        return self.structured(answer.repaired(response))

    def take_unstructured(self, error: StructuredOutputValidationError) -> ModelResponse[Any] | None:
        """The same for an answer that LangChain could not make structured output from."""
        message = _as_written(error.ai_message)
        response: ModelResponse[Any] = ModelResponse(result=[message])
        answer = _Answer.of(response, self.tools, self.asked)
        spec = _provider_spec(self.request)
        if spec is None or (answer is not None and answer.outcome.verdicts):
            return self.take(response)
        try:
            healed = heal(_text(message), spec.json_schema, finish_reason=_finish_reason(message))
            message = message.model_copy(update={"content": healed.text})
            value = ProviderStrategyBinding.from_schema_spec(spec).parse(message)
        except ValueError as wrong:
            if self.corrections == 0:
                raise error from wrong
            feedback = wrong.feedback if isinstance(wrong, Refused) else str(wrong)
            self.correct([message, HumanMessage(feedback)])
            return None
        return ModelResponse(result=[message], structured_response=value)

    def structured(self, response: ModelResponse[Any]) -> ModelResponse[Any] | None:
        """The response with its structured output: LangChain looked for it before the call was repaired."""
        message = next(m for m in response.result if isinstance(m, AIMessage))
        calls = [call for call in message.tool_calls if call["name"] in self.outputs]
        if not calls:
            return response
        names = [call["name"] for call in calls]
        try:
            if 1 < len(calls):
                raise MultipleStructuredOutputsError(names, message)
            value = OutputToolBinding.from_schema_spec(self.outputs[names[0]]).parse(calls[0]["args"])
        except (ValueError, MultipleStructuredOutputsError) as wrong:
            if self.corrections == 0:
                if isinstance(wrong, MultipleStructuredOutputsError):
                    raise
                raise StructuredOutputValidationError(names[0], wrong, message) from wrong
            told = [ToolMessage(str(wrong), tool_call_id=call["id"], status="error") for call in message.tool_calls]
            self.correct([message, *told])
            return None
        strategy = self.request.response_format
        said = strategy.tool_message_content if isinstance(strategy, ToolStrategy) else None
        content = said or f"Returning structured response: {value}"
        returned = ToolMessage(content, tool_call_id=calls[0]["id"], name=names[0])
        return ModelResponse(result=[message, returned], structured_response=value)

    def correct(self, more: Sequence[AnyMessage]) -> None:
        self.corrections -= 1
        self.ask(more)

    def ask(self, more: Sequence[AnyMessage]) -> None:
        self.request = self.request.override(messages=[*self.request.messages, *more])


def _output_specs(request: ModelRequest[Any]) -> Sequence[Any]:
    """The schemas that LangChain turns into tools for structured output."""
    strategy: Any = request.response_format
    if strategy is None or isinstance(strategy, ProviderStrategy):
        return ()
    if not isinstance(strategy, ToolStrategy):
        strategy = ToolStrategy(strategy.schema if isinstance(strategy, AutoStrategy) else strategy)
    specs: Sequence[Any] = strategy.schema_specs
    return specs


def _output_tool(spec: Any) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "parameters": spec.json_schema}


def _provider_spec(request: ModelRequest[Any]) -> Any | None:
    """The schema that the provider was asked for, as far as its answer is JSON in the text."""
    strategy: Any = request.response_format
    if strategy is None or isinstance(strategy, ToolStrategy):
        return None
    if not isinstance(strategy, ProviderStrategy):
        strategy = ProviderStrategy(strategy.schema if isinstance(strategy, AutoStrategy) else strategy)
    return strategy.schema_spec


_WRITTEN = "callwright_written"
"""The text as the model wrote it, in the metadata of a message whose stream did not show all of it."""


def _as_written(message: _Message) -> _Message:
    """The message with all of its text."""
    written = message.response_metadata.get(_WRITTEN)
    if not isinstance(message, AIMessage) or written is None:
        return message
    content: Any = written
    if not isinstance(message.content, str):
        others = [part for part in message.content if isinstance(part, dict) and part.get("type") != "text"]
        content = [*others, {"type": "text", "text": written}]
    metadata = {key: value for key, value in message.response_metadata.items() if key != _WRITTEN}
    return message.model_copy(update={"content": content, "response_metadata": metadata})


def _held(model: BaseChatModel, tools: ToolSet, asked: str | None) -> BaseChatModel:
    """The same model, whose streams hold back the calls in their text: a middleware comes after the tokens."""
    if not isinstance(model, BaseChatModel) or len(tools) == 0:
        return model
    held = model.model_copy()
    # It stays a model of its class, which LangChain and other middleware ask for.
    object.__setattr__(held, "__class__", _held_class(type(model)))
    object.__setattr__(held, "_callwright_reads", (tools, asked))
    return held


@cache
def _held_class(model: type[BaseChatModel]) -> type[BaseChatModel]:
    # LangChain asks a class which streams it has of its own.
    own: dict[str, Any] = {"__module__": model.__module__, "__qualname__": model.__qualname__}

    def _stream(self: Any, *args: Any, **options: Any) -> Iterator[ChatGenerationChunk]:
        text = StreamedText(*self._callwright_reads)
        reason: str | None = None
        for chunk in model._stream(self, *args, **options):
            reason = _finish_reason(chunk.message) or reason
            yield _shown_chunk(chunk, text)
        yield from _last_chunk(text, reason)

    async def _astream(self: Any, *args: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        text = StreamedText(*self._callwright_reads)
        reason: str | None = None
        async for chunk in model._astream(self, *args, **options):
            reason = _finish_reason(chunk.message) or reason
            yield _shown_chunk(chunk, text)
        for last in _last_chunk(text, reason):
            yield last

    if model._stream is not BaseChatModel._stream:
        own["_stream"] = _stream
    if model._astream is not BaseChatModel._astream:
        own["_astream"] = _astream
    return type(model.__name__, (model,), own)


def _shown_chunk(chunk: ChatGenerationChunk, text: StreamedText) -> ChatGenerationChunk:
    """The chunk with what of its text can be shown."""
    message = chunk.message
    reasoning = ""

    def shown(written: str) -> str:
        nonlocal reasoning
        events = text.feed(written)
        reasoning += "".join(event.text for event in events if isinstance(event, ReasoningDelta))
        return "".join(event.text for event in events if isinstance(event, TextDelta))

    content: Any
    if isinstance(message.content, str):
        content = shown(message.content)
    else:
        content = [
            {**part, "text": shown(part["text"])} if isinstance(part, dict) and part.get("type") == "text" else part
            for part in message.content
        ]
    changes: dict[str, Any] = {"content": content}
    if reasoning:
        changes["additional_kwargs"] = {**message.additional_kwargs, "reasoning_content": reasoning}
    return ChatGenerationChunk(message=message.model_copy(update=changes), generation_info=chunk.generation_info)


def _last_chunk(text: StreamedText, finish_reason: str | None) -> Iterator[ChatGenerationChunk]:
    """What is shown at the end, and the whole text where a part of it is not."""
    events, outcome = text.finish(finish_reason)
    is_text = not outcome.verdicts and confirmation(outcome) is None
    rest = text.rest(outcome.text) if is_text else ""
    metadata = {} if text.text_sent + rest == text.written else {_WRITTEN: text.written}
    shown = "".join(event.text for event in events if isinstance(event, TextDelta)) + rest
    if shown or metadata:
        yield ChatGenerationChunk(message=AIMessageChunk(content=shown, response_metadata=metadata))


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

    @property
    def is_cut(self) -> bool:
        return is_cut(_finish_reason(self.message))

    def error(self) -> Refused:
        return refused(self.refusals[0])

    def told(self) -> list[AnyMessage]:
        """The answer and what is wrong with it."""
        # Each id wants an answer; a call beside a refused one is not run yet.
        told: list[AnyMessage] = []
        for verdict in self.outcome.verdicts:
            if isinstance(verdict, Refusal):
                content = verdict.feedback
            else:
                content = NOT_RUN
            if verdict.id is not None:
                told.append(ToolMessage(content=content, tool_call_id=verdict.id, status="error"))
            elif isinstance(verdict, Refusal):
                told.append(HumanMessage(content=content))
        waiting = [
            ToolMessage(content="Not run: another call of the same message is wrong.", tool_call_id=call["id"])
            for call in self.others
            if call["id"] is not None
        ]
        return [self.message, *waiting, *told]


def _finish_reason(message: BaseMessage) -> str | None:
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
