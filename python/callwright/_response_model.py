"""The type that an answer is to have: the schema that is sent, and the instance that a text comes to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from callwright import _callwright, _sources
from callwright._callwright import heal
from callwright._refused import Refused

__all__ = ["ResponseModel"]


class ResponseModel:
    """What `response_model` names: a type with hints, a `TypeAdapter`, or a schema as JSON.

    APIs take schemas of objects alone, so that any other one is sent as that of an object with the one member `value`.

    Raises `TypeError` for anything else.
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        schema = _sources.definition(source)
        self.schema: Any = json.loads(schema) if isinstance(schema, str) else schema
        self.is_in_value = not isinstance(self.schema, dict) or self.schema.get("type") != "object"
        self.sent = _in_value(self.schema) if self.is_in_value else self.schema
        titled = self.schema.get("title") if isinstance(self.schema, dict) else None
        title = getattr(source, "__name__", None) or titled
        self.name = re.sub(r"[^a-zA-Z0-9_-]+", "_", str(title or "answer")).strip("_")[:64] or "answer"

    @property
    def is_strict(self) -> bool:
        """Whether servers that hold a model to a schema take this one."""
        return _is_strict(self.sent)

    def read(self, text: str, finish_reason: str | None) -> Any:
        """Returns the instance that `text` says; raises `Refused` where it has not exactly one reading that fits."""
        return _sources.build(self.source, self._value(text, finish_reason))

    def so_far(self, text: str) -> Any:
        """Returns the value that `text` says while it is written, as JSON; `None` where nothing is certain yet."""
        value = _callwright.partial(text, self.sent).value
        if self.is_in_value and isinstance(value, dict):
            return value.get("value")
        return value

    def _value(self, text: str, finish_reason: str | None) -> Any:
        try:
            value = heal(text, self.sent, finish_reason=finish_reason).value
        except Refused:
            if not self.is_in_value:
                raise
            # A server that does not hold its model to the schema: the value may stand alone.
            try:
                return heal(text, self.schema, finish_reason=finish_reason).value
            except Refused:
                pass
            raise
        return value["value"] if self.is_in_value else value


def _in_value(schema: Any) -> dict[str, Any]:
    outer: dict[str, Any] = {
        "type": "object",
        "properties": {"value": schema},
        "required": ["value"],
        "additionalProperties": False,
    }
    if isinstance(schema, dict) and "$defs" in schema:
        # References lead from the root.
        outer["properties"]["value"] = {key: member for key, member in schema.items() if key != "$defs"}
        outer["$defs"] = schema["$defs"]
    return outer


# What OpenAI's structured outputs say that they take; with another keyword the request would be an error.
_KEYWORDS = {
    *("$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "exclusiveMaximum"),
    *("exclusiveMinimum", "items", "maxItems", "maximum", "minItems", "minimum", "multipleOf", "pattern"),
    *("properties", "required", "title", "type"),
}


def _is_strict(schema: Any) -> bool:
    if not isinstance(schema, dict) or not _KEYWORDS.issuperset(schema):
        return False
    if schema.get("type") == "object":
        members = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(members):
            return False
    elif not {"type", "anyOf", "$ref", "enum", "const"} & set(schema):
        return False
    return all(_is_strict(inner) for inner in _inner(schema))


def _inner(schema: dict[str, Any]) -> Iterable[Any]:
    for key in ("properties", "$defs"):
        yield from schema.get(key, {}).values()
    yield from schema.get("anyOf", ())
    if "items" in schema:
        yield schema["items"]
