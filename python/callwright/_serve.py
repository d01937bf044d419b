"""Runs the gateway beside a Python program, and no longer than it.

The gateway is the command `callwright serve`, a process of its own. Keys reach it by its environment: what is on a
command line, everybody on the machine can read.
"""

from __future__ import annotations

import http.client
import logging
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from callwright._command import command

__all__ = ["Gateway", "serve"]


@dataclass(frozen=True)
class Gateway:
    """A gateway that runs: `base_url` is for clients of OpenAI's API, `url` for those that add `/v1` themselves."""

    url: str

    @property
    def base_url(self) -> str:
        """The address with `/v1`, as OpenAI's clients take it."""
        return f"{self.url}/v1"


class Output(Protocol):
    """Takes what the gateway prints, as a text file does."""

    def write(self, text: str, /) -> object: ...


@contextmanager
def serve(
    upstream: str | Sequence[str] | None = None,
    *,
    upstream_key: str | None = None,
    config: str | os.PathLike[str] | None = None,
    arguments: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    output: Output | None = None,
    timeout: float = 30.0,
) -> Iterator[Gateway]:
    """Runs `callwright serve` on a free port of loopback, and gives the `Gateway` as soon as it answers.

        with callwright.serve("http://127.0.0.1:11434/v1") as gateway:
            client = OpenAI(base_url=gateway.base_url, api_key="none")

    It ends with the block, or with this process, however that ends. `upstream` and `config` are its flags, and
    `arguments` all others: `["--store", "off"]`. `upstream_key` is the key of the one upstream, and `env` holds more
    variables for it; their values are left out of what it prints. That goes to `output`, or else to the logger
    `callwright.serve`.

    Raises `TypeError` and `ValueError` for arguments that cannot be, `FileNotFoundError` where the command is not
    installed, `RuntimeError` with its last lines where it ends before it answers, and `TimeoutError` where it does
    not answer within `timeout` seconds.
    """
    upstreams = _upstreams(upstream)
    if upstream_key is not None and (not upstream_key or len(upstreams) != 1):
        raise ValueError("upstream_key is the key of exactly one upstream, and not empty")
    for given in (arguments, upstreams):
        if isinstance(given, str) or not all(isinstance(argument, str) for argument in given):
            raise TypeError("arguments is a list of texts, and upstream a text or a list of them")
    line = [command(), "serve", "--listen", "127.0.0.1:0"]
    for url in upstreams:
        line += ["--upstream", url]
    if config is not None:
        line += ["--config", os.fspath(config)]
    added = dict(env or {})
    if upstream_key is not None:
        added["CALLWRIGHT_UPSTREAM_KEY"] = upstream_key
    child = _Child([*line, *arguments], added, output)
    try:
        yield Gateway(child.address(timeout))
    finally:
        child.stop()


def _upstreams(upstream: str | Sequence[str] | None) -> list[str]:
    urls = [upstream] if isinstance(upstream, str) else list(upstream or ())
    for url in urls:
        if isinstance(url, str) and "@" in urlsplit(url).netloc:
            raise ValueError("an upstream's URL holds no user name or password: give upstream_key")
    return urls


# Who is killed runs nothing more, so that another process watches: its input ends with the process that holds the other
# end. It asks the gateway to end, and ends with it.
_GUARD = """
"$@" </dev/null & gateway=$!
exec 3<&0
{ read -r _; kill "$gateway"; } <&3 >/dev/null 2>&1 & watch=$!
wait "$gateway"; code=$?
kill "$watch" 2>/dev/null
exit "$code"
"""

# Nobody waits for answers any more, but what is written to the store should be whole.
_GRACE = 5.0

# How much of what was printed an error holds.
_LAST_LINES = 20

# A shorter value is no key, and may be a part of any word.
_SHORTEST_SECRET = 8

_LISTENING = "listening on "

_logger = logging.getLogger("callwright.serve")


class _Child:
    """The process of the gateway, its guard, and the thread that reads what it prints."""

    def __init__(self, line: list[str], added: dict[str, str], output: Output | None) -> None:
        self._secrets = sorted((v for v in added.values() if _SHORTEST_SECRET <= len(v)), key=len, reverse=True)
        self._output = output
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self._url: str | None = None
        self._told = threading.Event()
        # Ctrl-C at a terminal is for the program, which then leaves the block.
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "callwright", *line],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **added},
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name="callwright.serve", daemon=True)
        self._reader.start()

    def address(self, timeout: float) -> str:
        """The address, when it answers there."""
        until = time.monotonic() + timeout
        self._told.wait(timeout)
        if self._url is None:
            if not self._told.is_set():
                raise TimeoutError(f"callwright serve does not listen after {timeout:g} seconds{self._printed()}")
            raise RuntimeError(f"callwright serve ended with exit code {self._process.wait()}{self._printed()}")
        place = urlsplit(self._url)
        connection = http.client.HTTPConnection(
            place.hostname or "", place.port, timeout=max(until - time.monotonic(), 1.0)
        )
        try:
            connection.request("GET", "/livez")
            status = connection.getresponse().status
        except OSError as error:
            raise RuntimeError(f"callwright serve does not answer: {error}{self._printed()}") from error
        finally:
            connection.close()
        if status != http.client.OK:
            raise RuntimeError(f"callwright serve answers with status {status}{self._printed()}")
        return self._url

    def stop(self) -> None:
        """Asks it to end, and sees to it that it does."""
        code = self._process.poll()
        if code is not None and self._url is not None:
            _logger.warning("the gateway ended before its block, with exit code %d%s", code, self._printed())
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join(_GRACE)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stdout:
            for printed in stdout:
                line = self._masked(printed.decode(errors="replace").rstrip())
                self._last.append(line)
                if self._url is None and line.startswith(_LISTENING):
                    self._url = line.removeprefix(_LISTENING)
                    self._told.set()
                self._pass_on(line)
        self._told.set()

    def _pass_on(self, line: str) -> None:
        if self._output is None:
            _logger.info("%s", line)
            return
        try:
            self._output.write(f"{line}\n")
        except Exception as error:  # A pipe that nobody reads would stop the gateway.
            self._output = None
            _logger.warning("the output takes no more: %s", error)

    def _masked(self, line: str) -> str:
        for secret in self._secrets:
            line = line.replace(secret, "***")
        return line

    def _printed(self) -> str:
        return "".join(f"\n  {line}" for line in self._last.copy()) or ", and printed nothing"
