"""The corpus through this door: the report is the one of `callwright parse --json` to the byte, and what `heal` makes of a
text is what its case says.

The command is the one that `CALLWRIGHT_BIN` names; without it, `target/debug/callwright`.
"""

import json
import os
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from callwright import Dialects, Refused, Scanner, ToolSet, heal, parse

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("CALLWRIGHT_BIN", ROOT / "target/debug/callwright"))
FILES = sorted((ROOT / "corpus").glob("*.toml"))

TOOLS = json.dumps(
    [
        {
            "name": name,
            "parameters": {
                "type": "object",
                "required": required.split(),
                "properties": {key: {"type": kind} for key, kind in members.items()},
            },
        }
        for name, required, members in [
            ("get_weather", "city", {"city": "string", "unit": "string", "days": "integer"}),
            ("list_files", "", {}),
            ("write_file", "path content", {"path": "string", "content": "string"}),
            ("run_code", "code", {"code": "string"}),
            ("substitute_ingredient", "ingredient", {"ingredient": "string", "reason": "string"}),
            ("search_recipes", "query", {"query": "string"}),
            ("add_numbers", "a b", {"a": "number", "b": "number", "label": "string", "exact": "boolean"}),
            ("search", "", {"query": "string"}),
        ]
    ]
)


def toml(value: Any) -> str:
    """An inline TOML value; strings are spelt as in JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def forms(case: dict[str, Any]) -> list[dict[str, Any]]:
    """A case with `forms` is as many: each form stands in the text in place of `⟨⟩`."""
    return [case | {"text": case["text"].replace("⟨⟩", form)} for form in case.get("forms", ["⟨⟩"])]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_report_is_that_of_the_command(file: Path, tmp_path: Path) -> None:
    assert BINARY.is_file(), f"no command to compare with: build it, or set CALLWRIGHT_BIN ({BINARY})"
    table = tomllib.loads(file.read_text())
    own = table.get("dialect", [])
    config = tmp_path / "callwright.toml"
    config.write_text(f"dialect = {toml(own)}\n" if own else "")

    def differs(numbered: tuple[int, dict[str, Any]]) -> str | None:
        number, case = numbered
        text = tmp_path / f"{number}.txt"
        text.write_bytes(case["text"].encode())
        tools = tmp_path / f"{number}.json"
        tools.write_text(case.get("tools", TOOLS))
        arguments: list[str | Path] = ["parse", "--json", "--tools", tools, "--config", config]
        choice = case.get("choice")
        told = {"--dialect": "only", "--asked": "asked", "--start": "start", "--tool-choice": "choice"}
        for flag, value in ((flag, case.get(key)) for flag, key in told.items()):
            arguments += [flag, value] if value is not None else []
        arguments += ["--native"] if case.get("native") else []
        done = subprocess.run([BINARY, *arguments, text], capture_output=True, env={"HOME": str(tmp_path)})
        keywords: Any = {
            "native_mode": case.get("native", False),
            "asked": case.get("asked"),
            "tool_choice": choice if choice in (None, "required") else {"type": "function", "function": {"name": choice}},
            "starts_in_reasoning": case.get("start") == "reasoning",
            "dialects": Dialects(own, only=case.get("only")),
        }
        definitions = ToolSet(tools.read_text())
        whole = parse(case["text"], definitions, **keywords).report()
        if (whole + "\n").encode() != done.stdout:
            return f"{case['name']}: {whole}\nbut {done.stdout.decode()}{done.stderr.decode()}"
        scanner = Scanner(definitions, **keywords)
        for character in case["text"]:
            scanner.feed(character)
        scanner.finish()
        pieces = scanner.outcome.report()
        return None if pieces == whole else f"{case['name']}, by characters: {pieces}\nbut {whole}"

    cases = [form for case in table["case"] for form in forms(case)]
    with ThreadPoolExecutor() as threads:
        differences = list(filter(None, threads.map(differs, enumerate(cases))))
    assert cases and not differences, "\n".join(differences)


HEALED = sorted((ROOT / "corpus/json").glob("*.toml"))


@pytest.mark.parametrize("file", HEALED, ids=lambda file: file.stem)
def test_a_text_is_healed_as_its_case_says(file: Path) -> None:
    table = tomllib.loads(file.read_text())
    schemas = table.get("schemas", {})
    cases = table["case"]
    assert cases
    for case in cases:
        source: str = case["input"]
        expect = case["expect"]
        schema = schemas[case["schema"]] if "schema" in case else None
        try:
            healed = heal(source, schema, finish_reason=case.get("finish_reason"))
        except Refused as refused:
            assert refused.code == expect.get("refused"), case["name"]
            continue
        assert healed.text == expect["text"], case["name"]
        places = [[len(source[:at].encode()) for at in (r.start, r.end)] for r in healed.repairs]
        repairs = [f"{r.kind} {start}..{end}" for r, (start, end) in zip(healed.repairs, places, strict=True)]
        assert repairs == expect.get("repairs", []), case["name"]
        coercions = [f"{c.pointer} {c.before} → {c.after}" for c in healed.coercions]
        assert coercions == expect.get("coercions", []), case["name"]
