"""Reads, repairs and checks the tool calls in what a language model wrote.

`heal` and `loads` are for one JSON text, `parse` is for a whole answer, and `Scanner` for one that arrives in pieces.
Each call comes to a `Call` that is right or to a `Refusal` with its reason. `tool` makes a tool of a function.
Columns are in `callwright.arrow`; `callwright.openai` and `callwright.anthropic` wrap a client; other packages find
their part in `callwright.langchain`, `callwright.pydantic_ai`, `callwright.litellm`, `callwright.vllm` and
`callwright.sglang`.

Places are code points, as Python counts; those in `Outcome.report()` are bytes of UTF-8.

>>> import callwright
>>> tools = [{"name": "get_weather", "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}}}]
>>> outcome = callwright.parse("<tool_call>{'name': 'get_weather', 'arguments': {'days': '3'}}</tool_call>", tools)
>>> outcome.calls[0].arguments
{'days': 3}
"""

from callwright._callwright import (
    ArgumentsDelta,
    Call,
    CallStarted,
    Coercion,
    Dialects,
    Healed,
    Outcome,
    Partial,
    PartialCall,
    Position,
    ReasoningDelta,
    Refusal,
    Repair,
    Schema,
    Shown,
    TextDelta,
    ToolSet,
    Violation,
    __version__,
    heal,
    is_cut,
    loads,
    parse,
    partial,
)
from callwright._refused import Refused
from callwright._scanner import Event, Scanner

# `typing` takes longer to import than all of this package, so that what needs it waits until it is asked for.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from callwright._serve import Gateway, serve
    from callwright._tool import Tool, tool
else:

    def __getattr__(name: str) -> object:
        modules = {"Tool": "_tool", "tool": "_tool", "Gateway": "_serve", "serve": "_serve"}
        if name not in modules:
            raise AttributeError(f"module 'callwright' has no attribute {name!r}")
        import importlib

        return getattr(importlib.import_module(f"callwright.{modules[name]}"), name)


__all__ = [
    "ArgumentsDelta",
    "Call",
    "CallStarted",
    "Coercion",
    "Dialects",
    "Event",
    "Gateway",
    "Healed",
    "Outcome",
    "Partial",
    "PartialCall",
    "Position",
    "ReasoningDelta",
    "Refusal",
    "Refused",
    "Repair",
    "Scanner",
    "Schema",
    "Shown",
    "TextDelta",
    "Tool",
    "ToolSet",
    "Violation",
    "__version__",
    "heal",
    "is_cut",
    "loads",
    "parse",
    "partial",
    "serve",
    "tool",
]
