"""What goes over the wire."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Unknown fields are errors here, so that a wrong name is seen."""

    model_config = ConfigDict(extra="forbid")


class FunctionCall(Model):
    name: str
    arguments: str


class ToolCall(Model):
    id: str = "made-up"
    type: str = "function"
    function: FunctionCall


class DeltaFunctionCall(Model):
    name: str | None = None
    arguments: str | None = None


class DeltaToolCall(Model):
    id: str | None = None
    type: str | None = None
    index: int
    function: DeltaFunctionCall | None = None


class DeltaMessage(Model):
    role: str | None = None
    content: str | None = None
    reasoning: str | None = None
    tool_calls: list[DeltaToolCall] = []


class ExtractedToolCallInformation(Model):
    tools_called: bool
    tool_calls: list[ToolCall]
    content: str | None = None
