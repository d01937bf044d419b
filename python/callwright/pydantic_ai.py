"""For pydantic-ai: a capability that repairs the arguments of calls before they are validated, and finds calls in text.

    from pydantic_ai import Agent
    from callwright.pydantic_ai import MendToolCalls

    agent = Agent(model, capabilities=[MendToolCalls()])
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pydantic_ai import ModelRetry
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    FinalResultEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestContext, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.output import OutputContext
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext, ToolDefinition
from pydantic_ai.usage import RequestUsage

from callwright._callwright import Outcome, ReasoningDelta, TextDelta, ToolSet, heal, parse
from callwright._hosts import StreamedText, confirmation
from callwright._refused import Refused

__all__ = ["MendToolCalls"]


@dataclass
class MendToolCalls(AbstractCapability[Any]):
    """Repairs what can be read in one way; where there is no such way, the model is told why and asked again.

    Repaired arguments stand in the message history too, so that a model does not see its own mistakes. A call in the text
    of an answer without native calls becomes a call; `asked` names the dialect that a prompt asked for. Where it stands in
    prose and may be only shown, the model is asked once whether it is meant. Structured output is repaired as well, by
    tools and in the text.
    """

    asked: str | None = None

    def get_wrapper_model(self, model: Model) -> Model | None:
        return _ReadModel(model, self.asked)

    async def before_tool_validate(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: str | dict[str, Any],
    ) -> str | dict[str, Any]:
        return _repaired(ctx, call, tool_def.parameters_json_schema, args)

    async def before_output_validate(
        self,
        ctx: RunContext[Any],
        *,
        output_context: OutputContext,
        output: str | dict[str, Any],
    ) -> str | dict[str, Any]:
        # A part of a stream is pydantic-ai's own to close; it is not what the model said.
        if ctx.partial_output:
            return output
        if output_context.tool_def is not None:
            schema = output_context.tool_def.parameters_json_schema
        elif output_context.object_def is not None:
            schema = output_context.object_def.json_schema
        else:
            return output
        return _repaired(ctx, output_context.tool_call, schema, output)

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        tools = _tools(request_context.model_request_parameters)
        if tools is None or any(isinstance(part, ToolCallPart) for part in response.parts):
            return response
        parts: list[ModelResponsePart] = []
        for part in response.parts:
            if not isinstance(part, TextPart):
                parts.append(part)
                continue
            outcome = _read(part.content, tools, response, self.asked)
            if outcome.refusals:
                raise ModelRetry("\n\n".join(refusal.feedback for refusal in outcome.refusals))
            if not outcome.calls:
                parts.append(part)
                continue
            if outcome.text:
                parts.append(replace(part, content=outcome.text))
            parts += [ToolCallPart(tool_name=call.name, args=call.arguments_json) for call in outcome.calls]
        return replace(response, parts=parts)


class _ReadModel(WrapperModel):
    """Asks the model once about a call that it may only show, and holds back the calls in the text of a stream."""

    def __init__(self, wrapped: Model, asked: str | None) -> None:
        super().__init__(wrapped)
        self.asked = asked

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        response = await self.wrapped.request(messages, model_settings, model_request_parameters)
        tools = _tools(model_request_parameters)
        if tools is None or any(isinstance(part, ToolCallPart) for part in response.parts):
            return response
        outcomes = [
            _read(part.content, tools, response, self.asked) for part in response.parts if isinstance(part, TextPart)
        ]
        if any(outcome.verdicts for outcome in outcomes):
            return response
        question = next(filter(None, map(confirmation, outcomes)), None)
        if question is None:
            return response
        asking = _Asking(self.wrapped, messages, model_settings, model_request_parameters, tools, self.asked)
        answer, usage = await asking.ask(response, question)
        return replace(answer or response, usage=response.usage + usage)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        tools = _tools(model_request_parameters)
        async with self.wrapped.request_stream(
            messages, model_settings, model_request_parameters, run_context
        ) as stream:
            if tools is None:
                yield stream
                return
            asking = _Asking(self.wrapped, messages, model_settings, model_request_parameters, tools, self.asked)
            yield _ReadStream(model_request_parameters, stream, asking)


@dataclass
class _Asking:
    """A request, after whose answer the model may be asked what it meant."""

    model: Model
    messages: list[ModelMessage]
    settings: ModelSettings | None
    parameters: ModelRequestParameters
    tools: ToolSet
    asked: str | None

    async def ask(self, response: ModelResponse, question: str) -> tuple[ModelResponse | None, RequestUsage]:
        """The answer that makes the call, or `None` where it was only shown, and what asking cost."""
        more = [*self.messages, response, ModelRequest(parts=[UserPromptPart(question)])]
        answer = await self.model.request(more, self.settings, self.parameters)
        is_meant = any(
            isinstance(part, ToolCallPart)
            or (isinstance(part, TextPart) and _read(part.content, self.tools, answer, self.asked).verdicts)
            for part in answer.parts
        )
        return answer if is_meant else None, answer.usage

    def calls(self, answer: ModelResponse) -> list[ToolCallPart]:
        """The calls of an answer, natively and else in its text; none where one of them is refused."""
        native = [part for part in answer.parts if isinstance(part, ToolCallPart)]
        if native:
            return native
        outcomes = [
            _read(part.content, self.tools, answer, self.asked) for part in answer.parts if isinstance(part, TextPart)
        ]
        is_refused = any(outcome.refusals for outcome in outcomes)
        made = [] if is_refused else [call for outcome in outcomes for call in outcome.calls]
        return [ToolCallPart(tool_name=call.name, args=call.arguments_json) for call in made]


@dataclass
class _ReadStream(StreamedResponse):
    """A stream in which calls in the text come as calls, behind the words."""

    inner: StreamedResponse
    asking: _Asking
    more_usage: RequestUsage = field(default_factory=RequestUsage, init=False)
    refused: TextPart | None = field(default=None, init=False)
    text_index: int = field(default=0, init=False)
    text_part: TextPart = field(default_factory=lambda: TextPart(""), init=False)
    is_as_written: bool = field(default=False, init=False)

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        text = StreamedText(self.asking.tools, self.asking.asked)
        text_indices: set[int] = set()
        # Where a text is held back, the parts behind it move up.
        indices: dict[int, int] = {}
        has_calls = False
        async for event in self.inner:
            if isinstance(event, FinalResultEvent | PartEndEvent):
                # They are told again of what this stream gives.
                continue
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                text_indices.add(event.index)
                self.text_index, self.text_part = event.index, event.part
                written = event.part.content
            elif isinstance(event, PartDeltaEvent) and event.index in text_indices:
                written = event.delta.content_delta if isinstance(event.delta, TextPartDelta) else ""
            else:
                if isinstance(event, PartStartEvent):
                    has_calls = has_calls or isinstance(event.part, ToolCallPart)
                    started = self._parts_manager.handle_part(vendor_part_id=event.index, part=replace(event.part))
                    if isinstance(started, PartStartEvent):
                        indices[event.index] = started.index
                    yield started
                elif isinstance(event, PartDeltaEvent):
                    self._parts_manager.apply_event(event)
                    yield replace(event, index=indices[event.index])
                continue
            for told in self._told(text.feed(written)):
                yield told
        reason = self.inner.get().finish_reason
        shown, outcome = text.finish(reason)
        for told in self._told(shown):
            yield told
        self.is_as_written = not text.is_held and text.text_sent == text.written
        if has_calls:
            # Beside native calls the text is not read.
            for told in self._text(text.rest(text.written)):
                yield told
            return
        if outcome.refusals:
            # The hook after the request reads it from the response, and has the model asked again.
            self.refused = TextPart(text.written)
            return
        calls = [ToolCallPart(tool_name=call.name, args=call.arguments_json) for call in outcome.calls]
        question = confirmation(outcome)
        answer: ModelResponse | None = None
        if question is not None:
            said = replace(self.inner.get(), parts=[TextPart(text.written)])
            answer, self.more_usage = await self.asking.ask(said, question)
        if answer is None:
            for told in self._text(text.rest(outcome.text)):
                yield told
        else:
            calls = self.asking.calls(answer)
            if not calls:
                self.refused = TextPart("".join(part.content for part in answer.parts if isinstance(part, TextPart)))
        for number, call in enumerate(calls):
            yield self._parts_manager.handle_part(vendor_part_id=("call", number), part=call)

    def get(self) -> ModelResponse:
        said = self.inner.get()
        state = super().get().state if said.state == "complete" else said.state
        # Text parts may have members that are not ours.
        parts = said.parts if self.is_as_written else self._parts_manager.get_parts()
        if self.refused is not None:
            parts = [*(part for part in parts if not isinstance(part, TextPart)), self.refused]
        return replace(said, parts=parts, usage=self.usage, state=state)

    @property
    def usage(self) -> RequestUsage:
        return self.inner.usage + self.more_usage

    @property
    def model_name(self) -> str:
        return self.inner.model_name

    @property
    def provider_name(self) -> str | None:
        return self.inner.provider_name

    @property
    def provider_url(self) -> str | None:
        return self.inner.provider_url

    @property
    def timestamp(self) -> datetime:
        return self.inner.timestamp

    def get_stream_cancel_errors(self) -> tuple[type[BaseException], ...]:
        return self.inner.get_stream_cancel_errors()

    async def close_stream(self) -> None:
        await self.inner.cancel()

    def _told(self, events: list[TextDelta | ReasoningDelta]) -> Iterator[ModelResponseStreamEvent]:
        for event in events:
            if isinstance(event, TextDelta):
                yield from self._text(event.text)
            else:
                yield from self._parts_manager.handle_thinking_delta(
                    vendor_part_id=("reasoning", self.text_index), content=event.text
                )

    def _text(self, text: str) -> Iterator[ModelResponseStreamEvent]:
        if text:
            part = self.text_part
            yield from self._parts_manager.handle_text_delta(
                vendor_part_id=("text", self.text_index),
                content=text,
                id=part.id,
                provider_name=part.provider_name,
                provider_details=part.provider_details,
            )


def _tools(parameters: ModelRequestParameters) -> ToolSet | None:
    """The tools that calls in the text may be of; `None` without any."""
    definitions = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters_json_schema}
        for tool in parameters.function_tools
    ]
    return ToolSet(definitions) if definitions else None


def _read(text: str, tools: ToolSet, response: ModelResponse, asked: str | None) -> Outcome:
    return parse(text, tools, finish_reason=response.finish_reason, native_mode=asked is None, asked=asked)


def _repaired(
    ctx: RunContext[Any], call: ToolCallPart | None, schema: dict[str, Any], written: str | dict[str, Any]
) -> str | dict[str, Any]:
    """What was `written` in the call, or in the text; raises `ModelRetry` where there is not exactly one reading."""
    if not written:
        return written
    text = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)
    try:
        healed = heal(text, schema, finish_reason=_finish_reason(ctx))
    except Refused as refused:
        raise ModelRetry(refused.feedback) from refused
    if healed.repair_class == "R0":
        return written
    if call is not None:
        call.args = healed.text
        # A server that keeps the call under this id would send its own copy back.
        call.id = None
    return healed.text


def _finish_reason(ctx: RunContext[Any]) -> str | None:
    """That of the answer which made the call, the last one of the run."""
    answers = (message for message in reversed(ctx.messages) if isinstance(message, ModelResponse))
    answer = next(answers, None)
    return answer.finish_reason if answer is not None else None
