"""A server on this machine that says what it is told to, for the real clients of other packages."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Scripted:
    """Gives one answer after the other, and keeps what it was asked: a dict as JSON, a list as a stream of events."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.requests: list[dict[str, Any]] = []
        script = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                script.requests.append(json.loads(self.rfile.read(length)))
                answer = script.answers.pop(0)
                kind = "application/json" if isinstance(answer, dict) else "text/event-stream"
                body = json.dumps(answer) if isinstance(answer, dict) else "".join(map(_event, answer))
                self.send_response(200)
                self.send_header("content-type", kind)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


def _event(data: Any) -> str:
    name = f"event: {data['type']}\n" if isinstance(data, dict) and "type" in data else ""
    return f"{name}data: {data if isinstance(data, str) else json.dumps(data)}\n\n"


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    script = Scripted()
    thread = threading.Thread(target=script.server.serve_forever, args=(0.01,))
    thread.start()
    yield script
    script.server.shutdown()
    thread.join()
    script.server.server_close()
