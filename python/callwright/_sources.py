"""Definitions from what programs have already: types with hints, functions, the tools of other packages.

In goes an object other than JSON, out comes the JSON of its schema or of its tool; and from a value that fits, an
instance. What a type means is decided by pydantic, which is imported only where such an object arrives.
"""

from __future__ import annotations

import functools
import inspect
import json
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from callwright._callwright import Violation
from callwright._refused import Refused

__all__ = ["Arguments", "build", "definition", "description_of"]


def definition(source: Any, tool: bool = False) -> Any:
    """Returns the JSON of a schema, or with `tool` that of a tool, or of the list of tools in an iterable.

    A schema may be a class of pydantic, a `TypeAdapter`, or any other type with hints: a dataclass, a `TypedDict`,
    `list[Model]`, `Literal`, a union, an enum. A tool may be a function with hints, a `callwright.Tool`, a tool of
    LangChain, the Agents SDK, pydantic-ai or MCP, or a class whose fields are its arguments. JSON stays as it is.

    Raises `TypeError` for any other object, and for one without a JSON Schema.
    """
    return _tool(source) if tool else _schema(source)


def build(source: Any, value: Any) -> Any:
    """Returns the instance that `value` is by the type `source`; `value` itself where `source` is JSON.

    Raises `Refused` with the code `invalid` where a validator of the type does not take the value.
    """
    adapter = _adapter(source)
    if adapter is None:
        return value
    return _validated(adapter, value)


class Arguments:
    """The arguments that a function takes by name, by its hints.

    Raises `TypeError` for a function whose arguments have no JSON Schema or no names.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        signature = inspect.signature(function)
        hints = _hints(function)
        for name, parameter in signature.parameters.items():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                raise TypeError(
                    f"the arguments of a tool have names: `{name}` of {_shown(function)} is taken by its place"
                )
        described = {name: _described(hint) for name, hint in hints.items() if name in signature.parameters}

        def arguments(*_: Any, **by_name: Any) -> dict[str, Any]:
            return by_name

        # All that pydantic asks of a function: so arguments are checked without a call of the function itself.
        keyword_only = [
            p if p.kind is p.VAR_KEYWORD else p.replace(kind=p.KEYWORD_ONLY) for p in signature.parameters.values()
        ]
        shape: Any = arguments
        shape.__signature__ = signature.replace(parameters=keyword_only, return_annotation=signature.empty)
        shape.__annotations__ = described
        shape.__name__ = shape.__qualname__ = getattr(function, "__name__", "arguments")
        shape.__module__ = getattr(function, "__module__", __name__)
        self._adapter = _compiled(shape)

    def schema(self) -> dict[str, Any]:
        schema = _plain(_schema_of(self._adapter))
        for member in schema.get("properties", {}).values():
            # It says the name once more.
            if isinstance(member, dict) and isinstance(member.get("title"), str):
                del member["title"]
        schema.setdefault("properties", {})
        return schema

    def validated(self, value: Any) -> dict[str, Any]:
        """Returns the arguments as the function takes them; raises `Refused` where they do not fit."""
        found: dict[str, Any] = _validated(self._adapter, value)
        return found


def description_of(documentation: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    paragraph = inspect.cleandoc(documentation or "").split("\n\n", 1)[0]
    return " ".join(paragraph.split())


def _schema(source: Any) -> Any:
    if isinstance(source, (str, bool, dict, list)):
        return source
    if isinstance(source, Mapping):
        return dict(source)
    adapter = _adapter(source)
    if adapter is None:
        raise TypeError(f"a schema is JSON, a type with hints, or a TypeAdapter, not {_shown(source)}")
    return _schema_of(adapter)


def _tool(source: Any) -> Any:
    if isinstance(source, (str, bool, dict)):
        return source
    if isinstance(source, type):
        return _of_class(source)
    if inspect.isroutine(source) or isinstance(source, functools.partial):
        return _of_function(source)
    known = _of_other_packages(source)
    if known is not None:
        return known
    if isinstance(source, Mapping):
        return dict(source)
    if isinstance(source, Iterable):
        return [_tool(element) for element in source]
    raise TypeError(
        f"a tool is JSON, a function with hints, or a tool of a package that is known, not {_shown(source)}"
    )


def _of_class(source: type[Any]) -> dict[str, Any]:
    schema = _plain(_schema(source))
    if schema.get("type") != "object":
        raise TypeError(f"the arguments of a tool are an object, which {_shown(source)} is not")
    documentation = source.__doc__
    # What `dataclass` writes is the signature.
    if documentation is not None and documentation.startswith(f"{source.__name__}("):
        documentation = None
    schema.pop("description", None)
    return _declared(source.__name__, description_of(documentation), schema)


def _of_function(source: Any) -> dict[str, Any]:
    function = _innermost(source)
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise TypeError(f"a tool has a name: give {_shown(source)} one by `callwright.tool(name=…)`")
    return _declared(name, description_of(function.__doc__), Arguments(source).schema())


def _of_other_packages(source: Any) -> Any:
    own = getattr(source, "definition", None)
    if isinstance(own, dict):
        return own
    name = getattr(source, "name", None)
    if isinstance(name, str):
        description = getattr(source, "description", None) or ""
        for member in _SCHEMA_MEMBERS:
            schema = getattr(source, member, None)
            if schema is not None:
                schema = _plain(_schema(schema))
                schema.pop("description", None)
                return _declared(name, str(description), schema)
    # A definition as an object of a server's or a client's package.
    dump = getattr(source, "model_dump", None)
    return dump(exclude_none=True) if callable(dump) else None


# LangChain, which leaves out of the first one what its own runtime passes; the Agents SDK; pydantic-ai; MCP.
_SCHEMA_MEMBERS = ("tool_call_schema", "args_schema", "params_json_schema", "parameters_json_schema", "inputSchema")


def _declared(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": {key: value for key, value in function.items() if value != ""}}


def _adapter(source: Any) -> Any:
    """What pydantic, or a class that does as its classes do, makes of a type; `None` for anything else."""
    if callable(getattr(source, "model_json_schema", None)):
        return source
    if callable(getattr(source, "json_schema", None)) and callable(getattr(source, "validate_json", None)):
        return source
    if isinstance(source, type) and not isinstance(source, types.GenericAlias):
        return _compiled_class(source)
    return _compiled(source) if _is_hint(source) else None


def _is_hint(source: Any) -> bool:
    if typing.get_origin(source) is not None or isinstance(source, types.UnionType) or source is Any:
        return True
    # `NewType`, and the statement `type`.
    return hasattr(source, "__supertype__") or (hasattr(source, "__value__") and hasattr(source, "__type_params__"))


# Classes alone: types that compare as equal, such as two orders of a union, are not the same to pydantic.
@functools.lru_cache(maxsize=256)
def _compiled_class(source: type[Any]) -> Any:
    return _compiled(source)


def _compiled(source: Any) -> Any:
    try:
        import pydantic
    except ImportError as missing:
        raise TypeError(f"pydantic says what {_shown(source)} means, and it is not installed") from missing
    try:
        return pydantic.TypeAdapter(source)
    except (pydantic.errors.PydanticUserError, TypeError, NameError) as error:
        raise TypeError(f"{_shown(source)} has no JSON Schema: {_first_line(error)}") from error


def _schema_of(adapter: Any) -> Any:
    write = getattr(adapter, "model_json_schema", None) or adapter.json_schema
    try:
        return write()
    except Exception as error:
        # pydantic's own errors, which are of several kinds; a class of somebody else's raises what it likes.
        if type(error).__module__.partition(".")[0] != "pydantic":
            raise
        raise TypeError(f"{_shown(adapter)} has no JSON Schema: {_first_line(error)}") from error


def _validated(adapter: Any, value: Any) -> Any:
    # As JSON, since a strict type takes a date from a text there, and nowhere else.
    read = getattr(adapter, "model_validate_json", None) or getattr(adapter, "validate_json", None)
    if read is None:
        # A class that has no more than a schema makes no instances.
        return adapter.model_validate(value) if hasattr(adapter, "model_validate") else value
    try:
        return read(json.dumps(value))
    except ValueError as error:
        found = _violations(error, value)
        if found is None:
            raise
        message = "; ".join(violation.message for violation in found)
        feedback = json.dumps({"error": message}, ensure_ascii=False)
        raise Refused(message, "invalid", feedback, violations=found) from error


def _violations(error: Any, value: Any) -> tuple[Violation, ...] | None:
    """What pydantic says of `value`; `None` where the error is not of its kind."""
    if not callable(getattr(error, "errors", None)):
        return None
    found = []
    for detail in error.errors(include_url=False, include_context=False, include_input=False):
        place, pointer = _place(detail["loc"], value)
        message = detail["msg"]
        found.append(Violation(pointer, detail["type"], f"{place}: {message}" if place else message))
    return tuple(found)


def _place(location: Iterable[str | int], value: Any) -> tuple[str, str]:
    """Where an error is: as people write it, and as a JSON pointer to what is there."""
    place, pointer = "", ""
    for step in location:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and isinstance(step, int) and -1 < step < len(value):
            value = value[step]
        elif isinstance(value, dict) and isinstance(step, str):
            # A missing member, or the name of a case of a union: the pointer stays.
            place += f".{step}" if place else step
            continue
        else:
            continue
        place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else step
        pointer += "/" + str(step).replace("~", "~0").replace("/", "~1")
    return place, pointer


def _plain(schema: Any) -> dict[str, Any]:
    """A schema that may be changed, without the title that says the name of its type."""
    if not isinstance(schema, dict):
        raise TypeError(f"the arguments of a tool are an object, which {schema!r} does not say")
    return {key: member for key, member in schema.items() if key != "title"}


def _described(hint: Any) -> Any:
    """A text in `Annotated` describes the argument."""
    if typing.get_origin(hint) is not typing.Annotated:
        return hint
    texts = [extra for extra in hint.__metadata__ if isinstance(extra, str)]
    if not texts:
        return hint
    import pydantic

    others = [extra for extra in hint.__metadata__ if not isinstance(extra, str)]
    inner = typing.get_args(hint)[0]
    annotated: Any = typing.Annotated
    return annotated[(inner, pydantic.Field(description=description_of(texts[0])), *others)]


def _hints(function: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(_innermost(function), include_extras=True)
    except NameError as error:
        raise TypeError(f"a hint of {_shown(function)} names what is not there: {error}") from error


def _innermost(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _shown(source: Any) -> str:
    name = getattr(source, "__qualname__", None) if callable(source) else None
    return f"`{name}`" if isinstance(name, str) else f"an object of type `{type(source).__name__}`"
