"""Columns in, columns out: an archive of answers, read on the engine that has it.

Whatever speaks the Arrow PyCapsule interface may be a column: a `pyarrow.Array` or `ChunkedArray`, a `polars.Series`, a
column of `datasets`, of `pandas` with Arrow types, of `duckdb`. The answer is `Columns`, which the same libraries take:
`pyarrow.table(columns)`, `polars.DataFrame(columns)`. Strings may be of any layout, or numbered (dictionaries, categories).

Each row of the texts is a row of the answer, a null is a row of nulls, and a row whose tools or schema cannot be used says
why in `error`. Tools and schemas are compiled once for each text in the process, up to a bound, so that small batches cost
no more than large ones. The interpreter's lock is let go meanwhile.

>>> import pyarrow as pa
>>> from callwright import arrow
>>> texts = pa.array(["Sure. <tool_call>{'name': 'ping', 'arguments': {}}</tool_call>", None])
>>> table = pa.table(arrow.parse(texts, [{"name": "ping"}]))
>>> table["content"].to_pylist()
['Sure.', None]
>>> [call["name"] for call in table["calls"].to_pylist()[0]]
['ping']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

try:
    from callwright._callwright import Columns, heal_columns, parse_columns
except ImportError as error:
    raise ImportError("this build of callwright is without columns (the feature `arrow`)") from error

if TYPE_CHECKING:
    from callwright._callwright import Dialects, Schema, ToolSet, _CallsInReasoning, _Policy

__all__ = ["Column", "Columns", "heal", "parse"]


class _Array(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...


class _Stream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


Column: TypeAlias = _Array | _Stream
"""A column of strings, whole or in chunks."""


def parse(
    texts: Column,
    tools: Column | ToolSet | Sequence[Mapping[str, Any]] | Mapping[str, Any] | str,
    *,
    finish_reasons: Column | str | None = None,
    native_mode: bool = False,
    asked: str | None = None,
    tool_choice: str | Mapping[str, Any] | None = None,
    starts_in_reasoning: bool = False,
    policy: _Policy = "auto",
    calls_in_reasoning: _CallsInReasoning = "unclosed",
    dialects: Dialects | None = None,
    unsure_is_text: bool = False,
    doubt_open_ends: bool = False,
) -> Columns:
    """Finds the calls in each text.

    `tools` is one set for all rows, or a column of definitions as JSON; `finish_reasons` is one or a column. The other
    keywords are those of `callwright.parse`, for all rows.

    | column | type |
    |---|---|
    | `content`, `reasoning` | string |
    | `calls` | list of structs: `id`, `name`, `arguments` (JSON), `dialect`, `repair_class`, `start`, `end`, `unsure`, `open_end`, `unchecked` |
    | `refusals` | list of structs: `id`, `name`, `code`, `message`, `feedback`, `dialect`, `start`, `end` |
    | `error` | string: why the row could not be read at all |

    Places are code points of the text. The schema's metadata has the version of these columns under `callwright.version`.
    """
    return parse_columns(
        texts,
        tools,
        finish_reasons=finish_reasons,
        native_mode=native_mode,
        asked=asked,
        tool_choice=tool_choice,
        starts_in_reasoning=starts_in_reasoning,
        policy=policy,
        calls_in_reasoning=calls_in_reasoning,
        dialects=dialects,
        unsure_is_text=unsure_is_text,
        doubt_open_ends=doubt_open_ends,
    )


def heal(
    texts: Column,
    schemas: Column | Schema | Mapping[str, Any] | bool | str | None = None,
    *,
    finish_reasons: Column | str | None = None,
) -> Columns:
    """Makes strict JSON of each text that is meant as JSON.

    `schemas` is one schema for all rows, or a column of schemas as JSON; a row without one is healed without.

    | column | type |
    |---|---|
    | `text` | string: the strict JSON; null where it is refused |
    | `repair_class` | string: `R0`, `R1`, `R2` |
    | `code`, `message`, `feedback` | string: why it is refused, as `Refused` has it |
    | `error` | string: why the row could not be read at all |

    >>> import pyarrow as pa
    >>> from callwright import arrow
    >>> pa.table(arrow.heal(pa.array(["{'a': 1}", '{"cut": "of'])))["text"].to_pylist()
    ['{"a": 1}', None]
    """
    return heal_columns(texts, schemas, finish_reasons=finish_reasons)
