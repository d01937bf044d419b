"""What each loop has: a shell, a file that is written, and the end: what the agent said, or an error.

A loop is told its kind, and then line by line what it is to do: {"folder", "url", "model", "ask", "log"}. Each task is a
process of its own, which works in that folder and writes to that log: packages are imported once. Back comes its exit code.
Everything else is by the package's defaults.
"""

import asyncio
import inspect
import json
import os
import signal
import subprocess
import sys
import traceback
import warnings

SYSTEM = "You are an agent."


def run_command(command: str, timeout: int = 30) -> str:
    """Run a shell command.

    Args:
        command: the command line
        timeout: seconds to wait
    """
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=timeout)
    return done.stdout or "ok"


def write_file(path: str, content: str) -> str:
    """Write a text file.

    Args:
        path: where
        content: what
    """
    with open(path, "w", newline="") as file:
        file.write(content)
    return "ok"


TOOLS = [run_command, write_file]

# The same where a package wants them as JSON Schema.
SCHEMAS = {
    "run_command": {
        "type": "object",
        "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}},
        "required": ["command"],
    },
    "write_file": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
}


def called(name, arguments):
    """What the tool gives, or the error that the model is told."""
    try:
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
        return {tool.__name__: tool for tool in TOOLS}[name](**arguments)
    except Exception as error:
        return f"error: {error!r}"


def main(loop):
    """Runs `loop(kind, url, model, ask)` for each task."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        task = json.loads(line)
        child = os.fork()
        if child == 0:
            os._exit(alone(loop, task))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def alone(loop, task):
    """Runs one task in this process; its exit code."""
    log = os.open(task["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for output in (1, 2):
        os.dup2(log, output)
    os.chdir(task["folder"])
    # A client that hangs ends here.
    signal.alarm(task["patience"])
    try:
        said = loop(sys.argv[1:], task["url"], task["model"], task["ask"])
        print(asyncio.run(said) if inspect.isawaitable(said) else said, flush=True)
        return 0
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        return 1
