"""What the parts for servers and agents have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callwright._callwright import Outcome, Refusal, ToolSet


def tool_set(tools: Sequence[Any] | None) -> ToolSet:
    """The tools of a request, which are dicts or models of pydantic."""
    return ToolSet([tool if isinstance(tool, dict) else tool.model_dump(exclude_none=True) for tool in tools or ()])


def confirmation(outcome: Outcome) -> str | None:
    """The question whether the model means the calls that stand in its prose; `None` where it is not to be asked."""
    if outcome.verdicts:
        return None
    names = [shown.name for shown in outcome.shown if shown.by == "unsure" and shown.name is not None]
    if not names:
        return None
    what = f"a call of the tool {names[0]}" if len(names) == 1 else f"{len(names)} calls ({', '.join(names)})"
    return (
        f"Your answer holds {what} in the middle of prose. Nothing was run. If that is meant, send it alone, with no words "
        "around it. If you only show it, say so, and make no call."
    )


def words(refusal: Refusal) -> str:
    """What a person reads in the place of a call."""
    name = f" of `{refusal.name}`" if refusal.name else ""
    return f"[A tool call{name} was refused: {refusal.message}.]"
