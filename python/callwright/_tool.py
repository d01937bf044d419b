"""A function as a tool: its hints and docstring give its definition, and calls are checked before it runs."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar, overload

from callwright import _sources
from callwright._callwright import Call, heal

__all__ = ["Tool", "tool"]

P = ParamSpec("P")
R = TypeVar("R")


class Tool(Generic[P, R]):
    """A function that a model may call, as `callwright.tool` makes it.

    `name`, `description` and `definition` (the JSON of OpenAI's form) are what the model sees. The tool itself is
    called as the function is.
    """

    def __init__(self, function: Callable[P, R], *, name: str | None = None, description: str | None = None) -> None:
        if not callable(function) or isinstance(function, type):
            raise TypeError(f"a tool is made of a function, not of an object of type `{type(function).__name__}`")
        self._function: Callable[..., R] = function
        self._arguments = _sources.Arguments(function)
        functools.update_wrapper(self, function)
        own = getattr(function, "__name__", "")
        self.name = name if name is not None else own
        if not self.name or name is None and not own.isidentifier():
            raise TypeError("a tool has a name: give this function one by `callwright.tool(name=…)`")
        self.description = description if description is not None else _sources.description_of(function.__doc__)

    @property
    def definition(self) -> dict[str, Any]:
        function: dict[str, Any] = {"name": self.name}
        if self.description:
            function["description"] = self.description
        function["parameters"] = self._arguments.schema()
        return {"type": "function", "function": function}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(*args, **kwargs)

    def run(self, call: Any) -> R:
        """Calls the function with what a model wrote, and returns what it returns, which may be to be awaited.

        `call` is a `Call`, a call in an answer of OpenAI's or Anthropic's API, the arguments, or their JSON text.
        They are converted to the types of the hints.

        Raises `Refused` where they do not fit, whose `feedback` is for the model, and `ValueError` for a call of
        another tool. What the function raises passes.
        """
        return self._function(**self._validated(_arguments(call, self.name)))

    def _validated(self, arguments: Any) -> dict[str, Any]:
        if isinstance(arguments, Mapping):
            arguments = json.dumps(dict(arguments))
        elif not isinstance(arguments, str | bytes | bytearray):
            raise TypeError(
                f"arguments are an object or its JSON text, not an object of type `{type(arguments).__name__}`"
            )
        # The engine first: it says what is wrong in the words that a model knows from other refusals.
        return self._arguments.validated(heal(arguments, self._arguments.schema()).value)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *, name: str | None = None, description: str | None = None
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(
    function: Callable[..., Any] | None = None, /, *, name: str | None = None, description: str | None = None
) -> Any:
    """Makes a tool of a function: `name` and `description` are those of the function, unless they are given.

    The description is the first paragraph of its docstring. A text or a `pydantic.Field` in `Annotated` describes one
    argument. It needs pydantic. Raises `TypeError` where an argument has no JSON Schema, or is not taken by name.

    >>> from typing import Annotated
    >>> import callwright
    >>> @callwright.tool
    ... def get_weather(city: Annotated[str, "The city, such as Paris"], days: int = 1) -> str:
    ...     '''Tells the weather.'''
    ...     return f"{days} days of rain in {city}"
    >>> get_weather.definition["function"]["parameters"]["properties"]["city"]
    {'description': 'The city, such as Paris', 'type': 'string'}
    >>> get_weather.run({"city": "Paris", "days": "3"})
    '3 days of rain in Paris'
    """
    if function is not None:
        return Tool(function, name=name, description=description)
    return lambda function: Tool(function, name=name, description=description)


def _arguments(call: Any, name: str) -> Any:
    if isinstance(call, (str, bytes, bytearray, Mapping)):
        return call
    # Those of OpenAI's API have them in `function`; Anthropic's call them the input.
    inner = getattr(call, "function", call)
    called = getattr(inner, "name", None)
    if called is not None and called != name:
        raise ValueError(f"this is a call of `{called}`, not of `{name}`")
    if isinstance(call, Call):
        return call.arguments
    for member in ("arguments", "input"):
        if hasattr(inner, member):
            return getattr(inner, member)
    raise TypeError(f"a tool is run with a call or arguments, not with an object of type `{type(call).__name__}`")


# Where their users import them from.
for _public in (Tool, tool):
    _public.__module__ = "callwright"
