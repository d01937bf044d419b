"""What the parts for servers have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callwright._callwright import Refusal, ToolSet


def tool_set(tools: Sequence[Any] | None) -> ToolSet:
    """The tools of a request, which are dicts or models of pydantic."""
    return ToolSet([tool if isinstance(tool, dict) else tool.model_dump(exclude_none=True) for tool in tools or ()])


def words(refusal: Refusal) -> str:
    """What a person reads in the place of a call."""
    name = f" of `{refusal.name}`" if refusal.name else ""
    return f"[A tool call{name} was refused: {refusal.message}.]"
