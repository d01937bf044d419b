"""The examples in the documentation of each name run."""

import doctest
import subprocess
import sys
from typing import Any

import pytest

import callwright
import callwright.arrow


@pytest.mark.parametrize("name", ["", *callwright.__all__])
def test_examples(name: str) -> None:
    thing: Any = getattr(callwright, name) if name else callwright
    named = {other: getattr(callwright, other) for other in callwright.__all__}
    finder = doctest.DocTestFinder(recurse=False)
    tests = finder.find(thing, name or "callwright", module=False, globs=named)
    if isinstance(thing, type):
        for method, member in vars(thing).items():
            if not method.startswith("__"):
                tests += finder.find(member, f"{name}.{method}", module=False, globs=named)
    runner = doctest.DocTestRunner(verbose=False)
    for test in tests:
        runner.run(test)
    assert runner.failures == 0
    # What can be called says how.
    if name in ("heal", "loads", "parse", "Scanner", "ToolSet", "Schema", "Dialects", "Refused"):
        assert runner.tries > 0


@pytest.mark.parametrize("module", [callwright.arrow])
def test_examples_of_modules(module: Any) -> None:
    results = doctest.testmod(module)
    assert (results.failed, results.attempted > 0) == (0, True)


def test_an_import_brings_nothing_else() -> None:
    # What takes long of an import is what others bring: `typing`, `collections`.
    code = "import sys; before = set(sys.modules); import callwright; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    others = [name for name in done.stdout.split() if not name.startswith("callwright")]
    assert others in ([], ["__future__"])


def test_each_name_says_what_it_is() -> None:
    undocumented = [name for name in callwright.__all__ if not (getattr(callwright, name).__doc__ or "").strip()]
    assert [name for name in undocumented if name not in ("__version__",)] == []
