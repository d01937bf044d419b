"""What Python packages that repair JSON make of texts, and what that takes: `python repair.py CASES TEXTS`.

The same lines go in and come out as of `src/main.rs`. `json` stands for whoever repairs nothing: OpenAI's packages, LiteLLM. BAML is
given each schema as a class of its own language.
"""

import json
import os
import sys
import time
import timeit
import types
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["BAML_LOG"] = "off"  # It has pages to say of each text that it does not read.

import baml_py
import callwright
import fast_json_repair
import json_repair

Read = Callable[[str, Any], Any]


class Members:
    """What BAML takes for a class of pydantic's: members as they are, without those that are not there."""

    @staticmethod
    def model_validate(members: dict[str, Any]) -> Any:
        return {key: value for key, value in members.items() if value is not None}


class Baml:
    """A function of BAML for each schema, whose answers are read."""

    def __init__(self) -> None:
        self.functions: dict[str, Callable[[str], Any]] = {}

    def __call__(self, text: str, schema: Any) -> Any:
        if schema is None:
            raise ValueError("it reads nothing without a type")
        key = json.dumps(schema)
        if key not in self.functions:
            self.functions[key] = self.compiled(schema)
        return self.functions[key](text)

    def compiled(self, schema: dict[str, Any]) -> Callable[[str], Any]:
        classes: dict[str, str] = {}
        answer = self.type(schema, classes)
        client = "client<llm> Model {\n  provider openai\n  options {\n    model x\n    api_key x\n  }\n}\n"
        function = f'function Answer(text: string) -> {answer} {{\n  client Model\n  prompt #"{{{{ text }}}}"#\n}}\n'
        runtime = baml_py.BamlRuntime.from_files("src", {"main.baml": client + "".join(classes.values()) + function}, {})
        module = types.ModuleType("types")
        for name in classes:
            setattr(module, name, Members)
        context = runtime.create_context_manager()

        def read(text: str) -> Any:
            try:
                return runtime.parse_llm_response("Answer", text, module, module, module, False, context, None, None, {})
            except Exception as error:  # Its errors have no common name that is public.
                raise ValueError from error

        return read

    def type(self, schema: dict[str, Any], classes: dict[str, str]) -> str:
        if "enum" in schema:
            return "(" + " | ".join(json.dumps(value) for value in schema["enum"]) + ")"
        kinds = schema.get("type", ["string", "number", "boolean"])
        kinds = kinds if isinstance(kinds, list) else [kinds]
        simple = {"string": "string", "integer": "int", "number": "float", "boolean": "bool", "null": "null"}
        told = []
        for kind in kinds:
            if kind == "array":
                told.append(self.type(schema.get("items", {}), classes) + "[]")
            elif kind == "object":
                name = f"Class{len(classes)}"
                classes[name] = ""
                required = schema.get("required", [])
                members = [
                    f"  {key} ({self.type(of, classes)}){'' if key in required else '?'}\n"
                    for key, of in schema.get("properties", {}).items()
                ]
                classes[name] = f"class {name} {{\n{''.join(members)}}}\n"
                told.append(name)
            else:
                told.append(simple[kind])
        return "(" + " | ".join(told) + ")" if 1 < len(told) else told[0]


def libraries() -> dict[str, tuple[str, Read]]:
    return {
        "json.loads (OpenAI's packages, LiteLLM)": ("", lambda text, _: json.loads(text)),
        "callwright (Python)": ("", lambda text, _: callwright.loads(text)),
        "json_repair": (version("json_repair"), lambda text, _: json_repair.loads(text)),
        "json_repair, with the schema": (
            version("json_repair"),
            lambda text, schema: json_repair.loads(text, schema=schema),
        ),
        "fast_json_repair": (version("fast_json_repair"), lambda text, _: fast_json_repair.loads(text)),
        "BAML, with the schema": (version("baml-py"), Baml()),
    }


def value(read: Read, case: dict[str, Any]) -> Any:
    schema = case["schema"] and json.loads(case["schema"])
    try:
        found = read(case["input"], schema)
        json.dumps(found, allow_nan=False)
    except Exception:  # Whatever a library raises, there is no value.
        return None
    return found


def cost(read: Read, text: str) -> float | None:
    try:
        once = timeit.timeit(lambda: read(text, None), number=3) / 3
    except Exception:
        return None
    number = max(1, int(0.001 / once))
    repeat = 200 if once < 0.001 else 5
    return min(timeit.repeat(lambda: read(text, None), time.process_time, number=number, repeat=repeat)) / number * 1e6


def main() -> None:
    cases = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    texts = json.loads(Path(sys.argv[2]).read_text())
    for library, (of, read) in libraries().items():
        values = [value(read, case) for case in cases]
        speed = {name: cost(read, text) for name, text in texts.items()}
        print(json.dumps({"library": library, "version": of, "values": values, "speed": speed}))


if __name__ == "__main__":
    main()
