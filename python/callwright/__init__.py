"""Reads, repairs and checks the tool calls in what a language model wrote.

`heal` and `loads` are for one JSON text, `parse` is for a whole answer, and `Scanner` for one that arrives in pieces. Each
call comes to a `Call` that is right or to a `Refusal` with its reason. Columns are in `callwright.arrow`; other packages
find their part in `callwright.langchain`, `callwright.pydantic_ai`, `callwright.litellm`, `callwright.vllm` and
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
)
from callwright._refused import Refused
from callwright._scanner import Event, Scanner

__all__ = [
    "ArgumentsDelta",
    "Call",
    "CallStarted",
    "Coercion",
    "Dialects",
    "Event",
    "Healed",
    "Outcome",
    "Position",
    "ReasoningDelta",
    "Refusal",
    "Refused",
    "Repair",
    "Scanner",
    "Schema",
    "Shown",
    "TextDelta",
    "ToolSet",
    "Violation",
    "__version__",
    "heal",
    "is_cut",
    "loads",
    "parse",
]
