"""For pydantic-ai: a capability that repairs the arguments of calls before they are validated, and finds calls in text.

    from pydantic_ai import Agent
    from callwright.pydantic_ai import MendToolCalls

    agent = Agent(model, capabilities=[MendToolCalls()])
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai import ModelRetry
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelResponse, ModelResponsePart, TextPart, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext, ToolDefinition

from callwright._callwright import ToolSet, heal, parse
from callwright._refused import Refused

__all__ = ["MendToolCalls"]


@dataclass
class MendToolCalls(AbstractCapability[Any]):
    """Repairs what can be read in one way; where there is no such way, the model is told why and asked again.

    Repaired arguments stand in the message history too, so that a model does not see its own mistakes. A call in the text
    of an answer without native calls becomes a call; `asked` names the dialect that a prompt asked for.
    """

    asked: str | None = None

    async def before_tool_validate(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: str | dict[str, Any],
    ) -> str | dict[str, Any]:
        if not args:
            return args
        text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
        try:
            healed = heal(text, tool_def.parameters_json_schema, finish_reason=_finish_reason(ctx))
        except Refused as refused:
            raise ModelRetry(refused.feedback) from refused
        if healed.repair_class == "R0":
            return args
        call.args = healed.text
        # A server that keeps the call under this id would send its own copy back.
        call.id = None
        return healed.text

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        if any(isinstance(part, ToolCallPart) for part in response.parts):
            return response
        definitions = request_context.model_request_parameters.function_tools
        if not definitions:
            return response
        tools = ToolSet([_definition(tool) for tool in definitions])
        parts: list[ModelResponsePart] = []
        for part in response.parts:
            if not isinstance(part, TextPart):
                parts.append(part)
                continue
            outcome = parse(
                part.content,
                tools,
                finish_reason=response.finish_reason,
                native_mode=self.asked is None,
                asked=self.asked,
            )
            if outcome.refusals:
                raise ModelRetry("\n\n".join(refusal.feedback for refusal in outcome.refusals))
            if not outcome.calls:
                parts.append(part)
                continue
            if outcome.text:
                parts.append(replace(part, content=outcome.text))
            parts += [ToolCallPart(tool_name=call.name, args=call.arguments_json) for call in outcome.calls]
        return replace(response, parts=parts)


def _definition(tool: ToolDefinition) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters_json_schema}


def _finish_reason(ctx: RunContext[Any]) -> str | None:
    """That of the answer which made the call, the last one of the run."""
    answers = (message for message in reversed(ctx.messages) if isinstance(message, ModelResponse))
    answer = next(answers, None)
    return answer.finish_reason if answer is not None else None
