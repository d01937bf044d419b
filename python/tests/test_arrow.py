"""Columns: what goes in row by row comes out row by row, whichever library has them."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import callwright
from callwright import ToolSet, arrow

PING = [{"name": "ping"}]
WRITE = [{"name": "write", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]
TEXTS = [
    "Süß 😀. <tool_call>{'name': 'ping', 'arguments': {}}</tool_call>",
    None,
    "<think>hm</think>Nothing to do.",
    '<tool_call>{"name": "pong", "arguments": {}}</tool_call>',
    "",
]


def rows(columns: arrow.Columns) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pa.table(columns).to_pylist()
    return found


def test_each_row_is_what_parse_makes_of_its_text() -> None:
    columns = arrow.parse(pa.array(TEXTS), PING)
    assert len(columns) == len(TEXTS)
    assert repr(columns) == "Columns(5 rows of content, reasoning, calls, refusals, error)"
    for text, row in zip(TEXTS, rows(columns), strict=True):
        if text is None:
            assert row == dict.fromkeys(columns.column_names)
            continue
        outcome = callwright.parse(text, PING)
        assert (row["content"], row["reasoning"], row["error"]) == (outcome.text, outcome.reasoning, None)
        fields = ["id", "name", "dialect", "repair_class", "start", "end", "unsure", "open_end", "unchecked"]
        expected = [
            {field: getattr(call, field) for field in fields} | {"arguments": call.arguments_json}
            for call in outcome.calls
        ]
        assert row["calls"] == expected
        fields = ["id", "name", "code", "message", "feedback", "dialect", "start", "end"]
        assert row["refusals"] == [{f: getattr(refusal, f) for f in fields} for refusal in outcome.refusals]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS, pa.string_view()),
        pa.array(TEXTS).dictionary_encode(),
        pa.chunked_array([TEXTS[:2], [], TEXTS[2:]], pa.string()),
        pa.array(["x", *TEXTS, "y"]).slice(1, len(TEXTS)),
        pl.Series(TEXTS),
        pl.Series(TEXTS, dtype=pl.Categorical),
    ],
    ids=["string", "large", "view", "dictionary", "chunks", "slice", "polars", "categories"],
)
def test_strings_come_in_any_layout(column: Any) -> None:
    assert rows(arrow.parse(column, PING)) == rows(arrow.parse(pa.array(TEXTS), PING))


def test_tools_may_be_a_column() -> None:
    text = "<tool_call>{\"name\": \"write\", \"arguments\": {\"n\": \"3\"}}</tool_call>"
    tools = [json.dumps(WRITE), json.dumps(PING), None, "[{]", json.dumps(WRITE)]
    found = rows(arrow.parse(pa.array([text] * 5), pa.chunked_array([tools[:3], tools[3:]])))
    assert [call["arguments"] for row in found if row["calls"] for call in row["calls"]] == ['{"n": 3}'] * 2
    assert [refusal["code"] for refusal in found[1]["refusals"]] == ["unknown-tool"]
    assert found[2]["error"] == "no tools stand beside the text"
    assert found[3]["error"].startswith("cannot use the tools: ")
    assert found[3]["calls"] is None
    with pytest.raises(ValueError, match="`tools` has 1 rows for 2 texts"):
        arrow.parse(pa.array(["", ""]), pa.array(["[]"]))


def test_finish_reasons_may_be_a_column() -> None:
    text = '{"path": "a.txt", "content": "hello"'
    for reasons in ("length", pa.array(["length", "length"])):
        assert [row["code"] for row in rows(arrow.heal(pa.array([text] * 2), finish_reasons=reasons))] == ["truncated"] * 2
    found = rows(arrow.heal(pa.array([text] * 2), finish_reasons=pa.array(["length", None])))
    assert [row["text"] is None for row in found] == [True, False]


def test_each_row_is_what_heal_makes_of_its_text() -> None:
    texts = ["{'a': '1'}", '{"a": 1}', '{"cut": "of', None, '{"a": "x"}']
    schema = {"properties": {"a": {"type": "integer"}}}
    for schemas in (schema, json.dumps(schema), pa.array([json.dumps(schema)] * 5)):
        found = rows(arrow.heal(pa.array(texts), schemas))
        assert [row["text"] for row in found] == ['{"a": 1}', '{"a": 1}', None, None, None]
        assert [row["repair_class"] for row in found] == ["R2", "R0", None, None, None]
        assert [row["code"] for row in found] == [None, None, "truncated", None, "invalid"]
        for text, row in zip(texts, found, strict=True):
            if row["code"] is not None:
                with pytest.raises(callwright.Refused) as refused:
                    callwright.heal(text or "", schema)
                assert (row["message"], row["feedback"]) == (refused.value.message, refused.value.feedback)
    found = rows(arrow.heal(pa.array(["1"]), pa.array(["{"])))
    assert found[0]["error"].startswith("cannot use the schema: ")


def test_no_rows_have_the_schema() -> None:
    empty, some = (pa.table(arrow.parse(pa.array(texts, pa.string()), PING)) for texts in ([], TEXTS))
    assert empty.schema == some.schema and len(empty) == 0
    assert some.schema.metadata == {b"callwright.version": b"1"}


@pytest.mark.parametrize("column", [pa.array([1, 2]), [1, 2], "text", pa.array([b"x"]), None])
def test_what_is_no_column_of_strings_is_an_error(column: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        arrow.parse(column, PING)


def test_polars_takes_the_answer() -> None:
    frame = pl.DataFrame(arrow.parse(pl.Series(TEXTS), ToolSet(PING)))
    assert frame["content"].to_list()[0] == "Süß 😀."
    assert frame["calls"].to_list()[0][0]["name"] == "ping"


def recipe(batch: pa.Table) -> pa.Table:
    """What `datasets.map`, Ray's `map_batches` and Spark's `mapInArrow` are given."""
    return pa.table(arrow.parse(batch["text"], batch["tools"]))


def test_the_recipe_of_the_documentation() -> None:
    table = pa.table({"text": TEXTS * 100, "tools": [json.dumps(PING)] * 500})
    whole = recipe(table).to_pylist()
    in_batches = [row for batch in table.to_batches(64) for row in recipe(pa.table(batch)).to_pylist()]
    assert in_batches == whole and len(whole) == 500
    # Spark hands record batches over, and takes them.
    assert [row for batch in recipe(table).to_batches() for row in batch.to_pylist()] == whole
    with ThreadPoolExecutor(2) as threads:
        halves = threads.map(recipe, (table.slice(0, 250), table.slice(250)))
    assert [row for half in halves for row in half.to_pylist()] == whole
