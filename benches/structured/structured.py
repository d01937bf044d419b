"""What a program gets that asks a model for a value, by Callwright's client and by instructor's.

    pip install . -r benches/structured/requirements.txt
    python benches/structured/structured.py [--each]

Both speak to a server on this machine that plays the model of `cases.json`: it gives the answers of a case one after
the other, and the last one, which is right, to all further requests; a list stands in the member in which the client
asks for it. *Right* is the value of the case, *wrong* another one, given without an error, *at once* a right one
after one request. `--each` tells the outcome of each case.
"""

import ast
import inspect
import json
import sys
import textwrap
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

import instructor
import pydantic
from openai import OpenAI

import callwright.openai

# Requests for one value: the first, and two more that tell the model what is wrong.
ATTEMPTS = 3


class Trip(pydantic.BaseModel):
    city: str
    days: int = pydantic.Field(ge=1)
    tags: list[str] = []
    note: str | None = None


class Edit(pydantic.BaseModel):
    path: str
    content: str


MODELS: dict[str, Any] = {"Trip": Trip, "Edit": Edit, "list[Trip]": list[Trip]}

Ask = Callable[[OpenAI, list[Any], Any], Any]


def with_callwright(client: OpenAI, messages: list[Any], model: Any) -> Any:
    wrapped = callwright.openai.wrap(client, max_corrections=ATTEMPTS - 1)
    return wrapped.chat.completions.create(model="m", messages=messages, response_model=model)


def with_instructor(mode: instructor.Mode) -> Ask:
    def ask(client: OpenAI, messages: list[Any], model: Any) -> Any:
        patched = instructor.from_openai(client, mode=mode)
        return patched.chat.completions.create(
            model="m", messages=messages, response_model=model, max_retries=ATTEMPTS - 1
        )

    return ask


class Model:
    """The server that plays the model of one case."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []
        # The member in which a client asks for a list.
        self.member: str | None = None
        self.n_requests = 0
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                body = json.dumps(model.answered(request)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def answered(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = self.answers[min(self.n_requests, len(self.answers) - 1)]
        self.n_requests += 1
        content = answer["content"]
        if self.member is not None:
            end = "" if answer.get("finish_reason") == "length" else "}"
            content = f'{{"{self.member}": {content}{end}'
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if request.get("tools"):
            # Where the value is asked for as the arguments of a call, the same text stands there.
            function = {"name": request["tools"][0]["function"]["name"], "arguments": content}
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "type": "function", "function": function}],
            }
        choice = {"index": 0, "message": message, "finish_reason": answer.get("finish_reason", "stop")}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def main() -> None:
    cases = json.loads(Path(__file__).with_name("cases.json").read_text())
    model = Model()
    url = f"http://127.0.0.1:{model.server.server_address[1]}"
    client = OpenAI(base_url=url, api_key="none", max_retries=0)
    ours, theirs = f"callwright {callwright.__version__}", f"instructor {version('instructor')}"
    asks: dict[str, Ask] = {ours: with_callwright}
    for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA, instructor.Mode.MD_JSON):
        asks[f"{theirs}, {mode.name}"] = with_instructor(mode)
    print(f"{len(cases)} cases, at most {ATTEMPTS} requests for each\n")
    print("| | right | at once | wrong | error | requests | lines |\n|---|---|---|---|---|---|---|")
    for name, ask in asks.items():
        member = "value" if ask is with_callwright else "tasks"
        outcomes = [outcome(model, client, ask, case, member) for case in cases]
        counts = [sum(said == kind for said, _ in outcomes) for kind in ("right", "wrong", "error")]
        at_once = outcomes.count(("right", 1))
        n_requests = sum(n for _, n in outcomes)
        print(f"| {name} | {counts[0]} | {at_once} | {counts[1]} | {counts[2]} | {n_requests} | {n_lines(ask)} |")
        if "--each" in sys.argv:
            for case, (said, n) in zip(cases, outcomes, strict=True):
                print(f"    {case['name']}: {said}, {n}")


def n_lines(ask: Ask) -> int:
    """Statements that a program writes for one value."""
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(ask))).body
    return len(function.body) if isinstance(function, ast.FunctionDef) else 0


def outcome(model: Model, client: OpenAI, ask: Ask, case: dict[str, Any], member: str) -> tuple[str, int]:
    """What a case comes to, and how many requests that took."""
    model.answers, model.n_requests = case["answers"], 0
    model.member = member if case["model"].startswith("list") else None
    messages = [{"role": "user", "content": "Plan a trip, or edit a file."}]
    try:
        value = ask(client, messages, MODELS[case["model"]])
    except Exception:
        return "error", model.n_requests
    found = pydantic.TypeAdapter(MODELS[case["model"]]).dump_python(value, mode="json")
    return "right" if found == case["expected"] else "wrong", model.n_requests


if __name__ == "__main__":
    main()
