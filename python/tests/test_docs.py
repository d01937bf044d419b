"""What the pages print runs, and the table beside json_repair is true of both."""

import ast
import doctest
import re
from pathlib import Path
from typing import Any

import json_repair
import pytest

import callwright

DOCS = Path(__file__).parents[2] / "docs/python"
PAGES = sorted(DOCS.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_the_page(page: Path) -> None:
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.failed == 0
    # A block that is no dialogue says why it is not run, and is Python all the same.
    for block in re.finditer(r"(<!-- not run: .+ -->\n)?```python\n(.*?)```", page.read_text(), re.DOTALL):
        note, code = block.groups()
        if ">>>" not in code:
            assert note, f"{page.name}: nothing says why this is not run: {code}"
            ast.parse(code)


ROW = re.compile(r"\| `(.+)` \| `(.+)` \| (?:`(.+)`|refused: (.+)) \|")
ROWS = ROW.findall((DOCS / "json_repair.md").read_text())


@pytest.mark.parametrize(("text", "theirs", "ours", "code"), ROWS, ids=[row[0] for row in ROWS])
def test_the_table_beside_json_repair(text: str, theirs: str, ours: str, code: str) -> None:
    value: Any = json_repair.loads(text)
    assert repr(value) == theirs
    if code:
        with pytest.raises(callwright.Refused) as refused:
            callwright.loads(text)
        assert refused.value.code == code
    else:
        assert repr(callwright.loads(text)) == ours


def test_the_table_is_found() -> None:
    assert 12 < len(ROWS)
