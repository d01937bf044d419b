"""The gateway beside a program: the real command, in front of a scripted upstream."""

import http.client
import io
import json
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from openai import OpenAI

from callwright._serve import serve

ROOT = Path(__file__).parents[2]
BINARY = os.environ.get("CALLWRIGHT_BIN", str(ROOT / "target/debug/callwright"))
KEY = "sk-of-the-upstream-0123456789"
TOOL: Any = {
    "type": "function",
    "function": {
        "name": "write",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    },
}


class Upstream:
    """Answers each request with the same call, which lacks a brace and has a number in quotes."""

    def __init__(self) -> None:
        self.keys: set[str | None] = set()
        keys = self.keys

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer({"object": "list", "data": [{"id": "m", "object": "model"}]})

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                keys.add(self.headers["authorization"])
                call = {"id": "c1", "type": "function", "function": {"name": "write", "arguments": '{"n": "3"'}}
                message = {"role": "assistant", "content": None, "tool_calls": [call]}
                choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
                self._answer({"id": "a", "object": "chat.completion", "model": "m", "choices": [choice]})

            def _answer(self, answer: Any) -> None:
                body = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                # A gateway that ends waits for no answer.
                with suppress(BrokenPipeError):
                    self.wfile.write(body)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    upstream = Upstream()
    thread = threading.Thread(target=upstream.server.serve_forever, args=(0.01,))
    thread.start()
    yield upstream
    upstream.server.shutdown()
    thread.join()
    upstream.server.server_close()


@pytest.fixture(autouse=True)
def _place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command that is built, in an empty home."""
    for name in [name for name in os.environ if name.startswith(("CALLWRIGHT_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CALLWRIGHT_BIN", BINARY)
    monkeypatch.setenv("HOME", str(tmp_path))


def answers(url: str) -> bool:
    with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=5)) as connection:
        try:
            connection.request("GET", "/livez")
            return connection.getresponse().status == 200
        except ConnectionError:
            return False


def ends(url: str, seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not answers(url):
            return True
        time.sleep(0.02)
    return False


def command_lines() -> str:
    return subprocess.run(["ps", "-A", "-o", "args"], capture_output=True, text=True, check=True).stdout


def test_a_client_gets_the_repaired_call_and_the_gateway_ends_with_the_block(upstream: Upstream) -> None:
    with serve(upstream.url, upstream_key=KEY, arguments=["--store", "off"]) as gateway:
        assert answers(gateway.url)
        assert gateway.base_url == f"{gateway.url}/v1"
        with OpenAI(base_url=gateway.base_url, api_key="none", max_retries=0) as client:
            completion = client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "Write three."}], tools=[TOOL]
            )
        (call,) = completion.choices[0].message.tool_calls or []
        assert call.type == "function"
        assert json.loads(call.function.arguments) == {"n": 3}
        lines = command_lines()
        assert "serve --listen 127.0.0.1:0" in lines
        assert KEY not in lines
    assert upstream.keys == {f"Bearer {KEY}"}
    assert not answers(gateway.url)


def test_it_ends_with_a_process_that_is_killed(upstream: Upstream) -> None:
    program = textwrap.dedent(
        """
        import os, signal, sys
        from callwright._serve import serve
        with serve(sys.argv[1], arguments=["--store", "off"]) as gateway:
            print(gateway.url, flush=True)
            sys.stdin.read()
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    line = [sys.executable, "-c", program, upstream.url]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        url = process.stdout.readline().strip()
        assert answers(url)
        process.stdin.close()
        assert process.wait() == -signal.SIGKILL
    assert ends(url)


def test_an_error_of_the_command_has_its_words_without_keys(upstream: Upstream) -> None:
    with pytest.raises(RuntimeError) as failed, serve(upstream.url, arguments=[KEY], env={"SOME_KEY": KEY}):
        pytest.fail("it does not start")
    assert "exit code 2" in str(failed.value)
    assert "unexpected argument '***'" in str(failed.value)
    assert KEY not in str(failed.value)


def test_an_exception_in_the_block_ends_it_too(upstream: Upstream) -> None:
    with pytest.raises(KeyError), serve(upstream.url, arguments=["--store", "off"]) as gateway:
        raise KeyError
    assert not answers(gateway.url)


def test_what_it_prints_goes_to_the_output_or_the_log(upstream: Upstream, caplog: pytest.LogCaptureFixture) -> None:
    output = io.StringIO()
    with serve(upstream.url, arguments=["--store", "off"], output=output) as gateway:
        pass
    assert f"listening on {gateway.url}\n" in output.getvalue()
    assert not caplog.records
    with caplog.at_level(logging.INFO, "callwright.serve"), serve(upstream.url, arguments=["--store", "off"]) as gateway:
        pass
    assert f"listening on {gateway.url}" in caplog.messages


def test_an_output_that_is_closed_does_not_stop_it(upstream: Upstream, caplog: pytest.LogCaptureFixture) -> None:
    output = io.StringIO()
    output.close()
    with serve(upstream.url, arguments=["--store", "off"], output=output) as gateway:
        assert answers(gateway.url)
    assert "takes no more" in caplog.text


def test_a_gateway_that_ended_before_its_block_is_told_of(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    program = tmp_path / "callwright"
    program.write_text(f'#!/bin/sh\necho $$ > {tmp_path}/id\nexec "{BINARY}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("CALLWRIGHT_BIN", str(program))
    with serve(upstream.url, arguments=["--store", "off"]) as gateway:
        os.kill(int((tmp_path / "id").read_text()), signal.SIGKILL)
        assert ends(gateway.url)
        # Its guard has to notice, too.
        time.sleep(0.3)
    assert "ended before its block, with exit code 137" in caplog.text


def test_one_that_says_nothing_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "callwright"
    sign = tmp_path / "it-runs"
    program.write_text(f"#!/bin/sh\ntrap '' TERM\nwhile :; do touch {sign}; sleep 0.05; done\n")
    program.chmod(0o755)
    monkeypatch.setenv("CALLWRIGHT_BIN", str(program))
    monkeypatch.setattr("callwright._serve._GRACE", 0.3)
    with pytest.raises(TimeoutError, match=r"does not listen after 0\.5 seconds, and printed nothing"):
        with serve(timeout=0.5):
            pytest.fail("it does not listen")
    sign.unlink()
    time.sleep(0.3)
    assert not sign.exists()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"arguments": "--store off"}, TypeError, "a list of texts"),
        ({"arguments": ["--store", 1]}, TypeError, "a list of texts"),
        ({"upstream": [1]}, TypeError, "a text or a list"),
        ({"upstream": "http://user:word@127.0.0.1:1/v1"}, ValueError, "upstream_key"),
        ({"upstream_key": KEY}, ValueError, "exactly one upstream"),
        ({"upstream": "http://127.0.0.1:1/v1", "upstream_key": ""}, ValueError, "not empty"),
        ({"upstream": ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"], "upstream_key": KEY}, ValueError, "one"),
    ],
)
def test_arguments_that_cannot_be_are_the_callers_error(
    arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words), serve(**arguments):
        pytest.fail("it does not start")


def test_without_the_command_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CALLWRIGHT_BIN")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"pip install 'callwright\[cli\]'"), serve():
        pytest.fail("it does not start")
