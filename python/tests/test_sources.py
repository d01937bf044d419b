"""What programs have already is a schema or a tool, and a value comes back as what they asked for."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import functools
import subprocess
import sys
import typing
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pydantic
import pytest
from langchain_core.tools import InjectedToolArg
from langchain_core.tools import tool as langchain_tool
from openai.types.shared import FunctionDefinition
from pydantic_ai.tools import ToolDefinition
from typing_extensions import TypedDict

import callwright
from callwright._sources import build, definition


class City(pydantic.BaseModel):
    """A city.

    What nobody needs to know.
    """

    name: str
    people: int = 0

    @pydantic.field_validator("name")
    @classmethod
    def _not_empty(cls, name: str) -> str:
        if not name:
            raise ValueError("a city has a name")
        return name


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


@pydantic.dataclasses.dataclass
class Box:
    point: Point


class Movie(TypedDict):
    title: str
    year: int


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


Strict = typing.NewType("Strict", int)


SOURCES: list[tuple[Any, Any, Any]] = [
    (City, {"name": "Paris", "people": 2}, City(name="Paris", people=2)),
    (pydantic.TypeAdapter(City), {"name": "Paris"}, City(name="Paris")),
    (Box, {"point": {"x": 1, "y": 2}}, Box(Point(1, 2.0))),
    (Point, {"x": 1}, Point(1)),
    (Movie, {"title": "M", "year": 1931}, Movie(title="M", year=1931)),
    (list[City], [{"name": "Paris"}], [City(name="Paris")]),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (Literal["a", "b"], "a", "a"),
    (City | Point, {"x": 3}, Point(3)),
    (typing.Optional[Point], None, None),
    (Color, "red", Color.RED),
    (Annotated[int, pydantic.Field(gt=3)], 4, 4),
    (Strict, 4, 4),
    (datetime.date, "2026-01-05", datetime.date(2026, 1, 5)),
    (int, 4, 4),
]


@pytest.mark.parametrize(("source", "value", "built"), SOURCES, ids=str)
def test_a_type_is_a_schema_and_its_value_an_instance(source: Any, value: Any, built: Any) -> None:
    schema = definition(source)
    expected = source if isinstance(source, pydantic.TypeAdapter) else pydantic.TypeAdapter(source)
    assert schema == expected.json_schema(mode="validation")
    # The engine takes it, and checks all of it.
    assert callwright.Schema(schema).unchecked == ()
    assert build(source, value) == built and type(build(source, value)) is type(built)


def test_json_stays_what_it_is() -> None:
    schema = {"type": "object"}
    assert definition(schema) is schema and build(schema, {"a": 1}) == {"a": 1}
    assert definition(True) is True and build("{}", [1]) == [1]
    assert build(callwright.Schema(schema), 3) == 3


def test_a_validator_says_why_it_refuses() -> None:
    with pytest.raises(callwright.Refused) as refused:
        build(list[City], [{"name": "Paris"}, {"name": ""}])
    assert (refused.value.code, refused.value.violations[0].pointer) == ("invalid", "/1/name")
    assert refused.value.feedback == '{"error": "[1].name: Value error, a city has a name"}'
    # A member that is missing has no place of its own, nor has a case of a union.
    with pytest.raises(callwright.Refused) as refused:
        build(dict[str, City | Point], {"a/b": {}})
    assert {violation.pointer for violation in refused.value.violations} == {"/a~1b"}


def test_what_a_strict_type_takes_from_json_is_taken() -> None:
    class Day(pydantic.BaseModel, strict=True):
        day: datetime.date
        colour: Color

    assert build(Day, {"day": "2026-01-05", "colour": "red"}).day == datetime.date(2026, 1, 5)


@pytest.mark.parametrize("thing", [5, object(), None, print, iter([])], ids=str)
def test_what_is_no_schema_is_named(thing: Any) -> None:
    with pytest.raises(TypeError, match="a schema is JSON, a type with hints, or a TypeAdapter, not"):
        definition(thing)


class Opaque:
    def __init__(self, handle: Any) -> None: ...


def test_a_type_without_a_schema_is_named() -> None:
    with pytest.raises(TypeError, match="`Opaque` has no JSON Schema: Unable to generate"):
        definition(Opaque)
    with pytest.raises(TypeError, match="no JSON Schema"):
        definition(typing.Callable[[int], int])


def test_without_pydantic_a_type_is_refused_with_words() -> None:
    code = (
        "import sys; sys.modules['pydantic'] = None; import dataclasses\n"
        "from callwright._sources import definition\n"
        "@dataclasses.dataclass\nclass Point:\n    x: int\n"
        "assert definition({'type': 'object'}, tool=True) == {'type': 'object'}\n"
        "try: definition(Point)\nexcept TypeError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "pydantic says what `Point` means, and it is not installed\n"


def get_weather(
    city: Annotated[str, "The city, such as Paris"],
    days: Annotated[int, pydantic.Field(le=7)] = 1,
    *,
    json: bool = False,
) -> str:
    """Tells
    the weather.

    Takes a while.
    """
    return f"{city} {days} {json}"


def test_a_function_is_a_tool() -> None:
    assert definition(get_weather, tool=True) == {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Tells the weather.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "The city, such as Paris"},
                    "days": {"type": "integer", "maximum": 7, "default": 1},
                    "json": {"type": "boolean", "default": False},
                },
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    }
    part = definition(functools.partial(get_weather, days=2), tool=True)["function"]
    assert part["name"] == "get_weather" and part["parameters"]["required"] == ["city"]


def test_a_tool_takes_its_arguments_by_name() -> None:
    def placed(path: str, /) -> None: ...
    def many(*paths: str) -> None: ...
    def rest(path: str, **limits: int) -> None: ...

    for function in (placed, many):
        with pytest.raises(TypeError, match="the arguments of a tool have names: `path"):
            definition(function, tool=True)
    assert definition(rest, tool=True)["function"]["parameters"]["additionalProperties"] == {"type": "integer"}
    with pytest.raises(TypeError, match="a tool has a name"):
        definition(lambda: 1, tool=True)


def test_a_class_is_a_tool_of_its_fields() -> None:
    city = definition(City, tool=True)["function"]
    assert (city["name"], city["description"]) == ("City", "A city.")
    assert set(city["parameters"]) == {"type", "properties", "required"}
    # `dataclass` writes a docstring that describes nothing.
    assert "description" not in definition(Point, tool=True)["function"]
    with pytest.raises(TypeError, match="the arguments of a tool are an object, which `Color` is not"):
        definition(Color, tool=True)


def test_tools_of_other_packages() -> None:
    @langchain_tool
    def write(path: str, user: Annotated[str, InjectedToolArg]) -> str:
        """Writes a file."""
        return path

    function = definition(write, tool=True)["function"]
    assert (function["name"], function["description"]) == ("write", "Writes a file.")
    # What LangChain passes itself is not the model's.
    assert list(function["parameters"]["properties"]) == ["path"]
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    theirs = definition(ToolDefinition(name="count", description="Counts.", parameters_json_schema=schema), tool=True)
    assert theirs["function"] == {"name": "count", "description": "Counts.", "parameters": schema}
    plain = FunctionDefinition(name="count", parameters={"type": "object"})
    assert definition(plain, tool=True) == {"name": "count", "parameters": {"type": "object"}}


def test_an_iterable_is_a_list_of_tools() -> None:
    def tools() -> Iterator[Any]:
        yield get_weather
        yield {"name": "ping"}
        yield City

    found = definition(tools(), tool=True)
    assert callwright.ToolSet(found).names == ("get_weather", "ping", "City")
    with pytest.raises(TypeError, match="a tool is JSON, a function with hints, .* not an object of type `int`"):
        definition([get_weather, 5], tool=True)


def test_the_decorator_keeps_the_function() -> None:
    tool = callwright.tool(get_weather)
    assert tool("Paris", days=2) == "Paris 2 False" and tool.__doc__ == get_weather.__doc__
    assert tool.definition == definition(get_weather, tool=True) == definition(tool, tool=True)
    named = callwright.tool(name="weather", description="What it is like.")(get_weather)
    assert (named.name, named.definition["function"]["description"]) == ("weather", "What it is like.")
    assert callwright.tool(name="one")(lambda: 1).run({}) == 1
    wrong: Any
    for wrong in (City, 5):
        with pytest.raises(TypeError, match="a tool is made of a function"):
            callwright.tool(wrong)
    with pytest.raises(TypeError, match="a tool has a name"):
        callwright.tool(lambda: 1)


def test_a_tool_runs_what_a_model_wrote() -> None:
    tool = callwright.tool(get_weather)
    text = "<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Rome'}}</tool_call>"
    (call,) = callwright.parse(text, [tool.definition]).calls
    assert tool.run(call) == "Rome 1 False"
    assert tool.run({"city": "Rome", "days": "3", "json": "true"}) == "Rome 3 True"
    assert tool.run("{'city': 'Rome', days: 3,}") == "Rome 3 False"
    with pytest.raises(ValueError, match="this is a call of `get_weather`, not of `other`"):
        callwright.tool(name="other")(get_weather).run(call)
    wrong: Any
    for wrong in ({"days": 1}, {"city": "Rome", "days": 8}, '{"city": "Ro'):
        with pytest.raises(callwright.Refused) as refused:
            tool.run(wrong)
        assert "error" in refused.value.feedback
    with pytest.raises(TypeError, match="not with an object of type `int`"):
        tool.run(5)


def test_a_tool_takes_what_its_hints_say() -> None:
    @callwright.tool
    def paint(city: City, color: Color) -> object:
        return city, color

    assert paint.run({"city": {"name": "Rome"}, "color": "red"}) == (City(name="Rome"), Color.RED)

    @callwright.tool
    def fails() -> None:
        City(name="")

    # An error of the function is not one of the arguments.
    with pytest.raises(pydantic.ValidationError):
        fails.run({})


def test_an_async_tool_is_awaited() -> None:
    @callwright.tool
    async def double(n: int) -> int:
        """Doubles."""
        return 2 * n

    async def main() -> tuple[int, int]:
        return await double(2), await double.run({"n": "4"})

    assert asyncio.run(main()) == (4, 8)


def test_a_bound_method_is_a_tool() -> None:
    class Shop:
        def price(self, item: str) -> str:
            return item

    assert callwright.tool(Shop().price).run({"item": "a"}) == "a"
