"""`heal` and `loads`: the value that `json.loads` gives where a text is right, the only reading where it is broken."""

import json
import pickle
from typing import Any

import pytest

import callwright
from callwright import Refused, Schema, heal, loads

DAYS = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "[true, false, null, [], {}]",
        '{"b": 1, "a": [1.5, -0.0, -0, 1E5, 1e-400, 0.1, 5e-324]}',
        "123456789012345678901234567890",
        "[9223372036854775807, 9223372036854775808, -9223372036854775808, -9223372036854775809]",
        '"\\u00e9\\ud83d\\ude00\\n\\"\\/\\\\"',
        '{"é": "😀"}',
        '"half: \\ud800, \\udc00, and a replacement: \ufffd"',
        '{"\\ud800": 1}',
        '{"a": 1, "a": 1}',
        " [1]\n",
        "[" * 120 + "]" * 120,
    ],
)
def test_what_is_right_is_what_json_loads_gives(text: str) -> None:
    value = loads(text)
    assert repr(value) == repr(json.loads(text))
    assert repr(loads(text.encode())) == repr(value)
    assert repr(loads(bytearray(text.encode()))) == repr(value)
    healed = heal(text)
    assert (healed.text, healed.repairs, healed.repair_class) == (text, (), "R0")
    assert repr(healed.value) == repr(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'city': 'Paris', days: 3,}", {"city": "Paris", "days": 3}),
        ('{"content": "He said "hi""}', {"content": 'He said "hi"'}),
        ('```json\n{"a": True}\n```', {"a": True}),
        ('{"a": [1, 2', {"a": [1, 2]}),
    ],
)
def test_what_is_broken_is_read_in_its_only_way(text: str, value: Any) -> None:
    if text.endswith("2"):
        # A number at the end may have been cut.
        with pytest.raises(Refused):
            loads(text)
        return
    assert loads(text) == value


def test_a_schema_decides_and_values_get_its_types() -> None:
    for schema in (DAYS, json.dumps(DAYS), Schema(DAYS)):
        healed = heal('{"days": "3"}', schema)
        assert healed.value == {"days": 3}
        assert healed.repair_class == "R2"
        (coercion,) = healed.coercions
        assert (coercion.pointer, coercion.before, coercion.after) == ("/days", '"3"', "3")
    with pytest.raises(Refused) as refused:
        loads('{"days": "many"}', DAYS)
    (violation,) = refused.value.violations
    assert (refused.value.code, violation.pointer, violation.keyword) == ("invalid", "/days", "type")


def test_a_class_with_a_schema_stands_for_it() -> None:
    class Trip:
        @classmethod
        def model_json_schema(cls) -> dict[str, Any]:
            return DAYS

    value: Any = loads('{"days": "3"}', Trip)
    assert value == {"days": 3}


def test_a_refusal_says_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"line 1 column 9 \(char 8\)") as caught:
        loads('{"cut": "of')
    refused = caught.value
    assert isinstance(refused, Refused)
    assert refused.code == "truncated"
    assert refused.position == callwright.Position(8, 1, 9)
    assert "cut off" in json.loads(refused.feedback)["error"]
    again = pickle.loads(pickle.dumps(refused))
    assert (str(again), again.position, again.hints) == (str(refused), refused.position, refused.hints)
    with pytest.raises(Refused) as ambiguous:
        loads("[1] [2]")
    assert (ambiguous.value.code, ambiguous.value.readings) == ("ambiguous", ("[1]", "[2]"))
    assert str(ambiguous.value) == "The JSON can be read in 2 ways"


@pytest.mark.parametrize("text", ['{"cut": "of', "{'a': 'x', 'b': 'of", "[1] [2]", "hello", "", '{"a": }', "[NaN]"])
def test_a_refusal_of_a_text_is_not_about_a_call(text: str) -> None:
    with pytest.raises(Refused) as refused:
        loads(text)
    assert "call" not in f"{refused.value} {refused.value.feedback} {refused.value.hints}"
    assert ("cut off" in refused.value.feedback) == (refused.value.code == "truncated")


def test_a_cut_is_told_before_what_else_is_wrong() -> None:
    with pytest.raises(Refused, match=r"The JSON ends before it is complete: .* \(char 19\)") as refused:
        loads("{'a': 'x', 'b': 'of")
    assert "too early" in refused.value.hints[0] and "double quotes" in refused.value.hints[1]


def test_nothing_is_closed_where_the_answer_was_cut() -> None:
    text = '{"path": "a.txt", "content": "hello"'
    assert loads(text) == {"path": "a.txt", "content": "hello"}
    with pytest.raises(Refused) as refused:
        loads(text, finish_reason="length")
    assert refused.value.code == "truncated"


def test_places_are_code_points() -> None:
    text = '{"é😀": \'x\'}'
    first, second = heal(text).repairs
    assert [text[repair.start : repair.end] for repair in (first, second)] == ["'", "'"]
    assert (first.kind, first.before, first.put) == ("swap-quote", "'", '"')
    assert first != second and len({first, second, heal(text).repairs[0]}) == 2


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 5000])
def test_a_number_that_python_has_not_is_refused(number: str) -> None:
    with pytest.raises(Refused) as refused:
        loads(f'{{"a": {number}}}')
    assert refused.value.code == "number"
    # The text has it.
    healed = heal(f'{{"a": {number}}}')
    assert number in healed.text
    with pytest.raises(Refused):
        healed.value


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("\ud800", UnicodeEncodeError, "surrogates not allowed"),
        (b"\xff", UnicodeDecodeError, "can't decode byte 0xff"),
        (5, TypeError, "a text must be str or bytes, not int"),
        (None, TypeError, "not NoneType"),
    ],
)
def test_what_is_no_text_is_an_error(text: Any, error: type[Exception], words: str) -> None:
    for door in (heal, loads):
        with pytest.raises(error, match=words):
            door(text)


@pytest.mark.parametrize("schema", [5, [], "{", {"type": float("nan")}, {"type": {1, 2}}])
def test_what_is_no_schema_is_an_error(schema: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as error:
        heal("1", schema)
    assert not isinstance(error.value, Refused)


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "objekt"}, "/type"),
        ({"properties": 5}, "/properties"),
        ({"properties": {"a": {"type": "object", "required": "b"}}}, "/properties/a/required"),
    ],
)
def test_what_no_schema_can_be_is_an_error_and_not_checked_in_a_tool(schema: dict[str, Any], place: str) -> None:
    with pytest.raises(ValueError, match=place):
        Schema(schema)
    # The definitions of a tool may be those of somebody else, so that the rest of them holds.
    (sentence,) = callwright.ToolSet([{"name": "f", "parameters": schema}]).unchecked
    assert sentence.startswith(f"f: {place}: ")
    assert Schema({"requried": ["a"]}).unchecked == ("/requried: `requried` is not a keyword; `required` is",)


def test_results_are_frozen() -> None:
    healed: Any = heal("{'a': 1}")
    for thing, field in ((healed, "text"), (healed.repairs[0], "put")):
        with pytest.raises(AttributeError):
            setattr(thing, field, "x")
    assert repr(healed) == "Healed(text='{\"a\": 1}', repair_class='R1')"


def test_what_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(Refused):
        loads("[" * 100_000 + "]" * 100_000)


def test_what_is_certain_of_a_text_shows_while_it_is_written() -> None:
    schema = {"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
    text = '{"city": "Paris", "days": "3", "note": "an umb'
    assert callwright.partial("Well").value is None
    so_far = callwright.partial(text)
    assert (so_far.value, so_far.complete) == ({"city": "Paris", "days": "3", "note": "an umb"}, ("/city", "/days"))
    # What does not fit may be converted in the end.
    so_far = callwright.partial(text, schema)
    assert (so_far.value, so_far.complete) == ({"city": "Paris"}, ("/city",))
    assert (pickle.loads(pickle.dumps(so_far)), hash(so_far)) == (so_far, hash(so_far))
    whole = callwright.partial("{'city': 'Paris'}", schema, finish_reason="stop")
    assert (whole.value, whole.complete) == ({"city": "Paris"}, ("",))
    with pytest.raises(Refused) as refused:
        callwright.partial("[1e400, 1").value
    assert refused.value.code == "number"


def test_a_refusal_keeps_what_was_certain_and_a_value_says_that_its_text_was_open() -> None:
    with pytest.raises(Refused) as caught:
        loads('{"city": "Paris", "note": "an umb', finish_reason="length")
    refused = caught.value
    assert refused.partial is not None
    assert refused.partial.value == {"city": "Paris", "note": "an umb"}
    assert pickle.loads(pickle.dumps(refused)).partial == refused.partial
    assert heal('{"city": "Paris"').open_end
    assert not heal("{'city': 'Paris'}").open_end
    assert pickle.loads(pickle.dumps(heal('{"city": "Paris"'))).open_end
