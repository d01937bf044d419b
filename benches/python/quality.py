"""How many broken texts come to the value that they were made from, beside other libraries.

    python benches/python/quality.py FILE

FILE has lines `{"input", "schema", "expected", "decidable"}`, and `accept` where other values are as right. Needs callwright, and
takes json_repair and fast_json_repair along where they are installed. Texts that are right already are left out.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import callwright


def libraries() -> dict[str, Callable[[str, Any], Any]]:
    found: dict[str, Callable[[str, Any], Any]] = {
        "callwright": without_schema(callwright.loads),
        "callwright, schema": callwright.loads,
    }
    for name in ("json_repair", "fast_json_repair"):
        try:
            found[name] = without_schema(import_module(name).loads)
        except ImportError:
            print(f"{name} is not installed")
    return found


def without_schema(loads: Callable[[str], Any]) -> Callable[[str, Any], Any]:
    return lambda text, _: loads(text)


def is_strict(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def spelt(value: Any) -> str:
    """Equal for equal JSON, where `1` and `true` are not."""
    return json.dumps(value, sort_keys=True)


def judged(read: Callable[[str, Any], Any], case: dict[str, Any]) -> str:
    try:
        value = read(case["input"], case["schema"])
    except ValueError:
        return "refused"
    if not case["decidable"]:
        return "guessed"
    right = [case["expected"], *case.get("accept", [])]
    return "right" if spelt(value) in map(spelt, right) else "wrong"


def main() -> None:
    lines = Path(sys.argv[1]).read_text().splitlines()
    cases = [case for case in map(json.loads, lines) if not is_strict(case["input"])]
    for decidable in (True, False):
        some = [case for case in cases if case["decidable"] == decidable]
        print(f"{len(some)} texts that are {'decidable' if decidable else 'not decidable'}")
        for name, read in libraries().items():
            print(f"  {name}: {dict(Counter(judged(read, case) for case in some))}")


if __name__ == "__main__":
    main()
