"""What a request of a session writes to the disk, what of it stays in the file, and what counts for `store.bytes`.

    python3 benches/gateway/written.py target/release/callwright [REQUESTS]

Conversations of twelve requests, twenty requests a second, by the defaults of `callwright serve` in an empty home. Each request
has three tools, and a call and its result more than the one before. Linux only: it reads `/proc/PID/io`.
"""

import json
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

TURNS = 12
PAUSE = 0.05
WORDS = "the of a path file line value test error branch commit build server request answer table index row key cache".split()


def tool(name):
    about = " ".join(WORDS)
    properties = {key: {"type": "string", "description": about} for key in ("path", "pattern", "reason")}
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{name}: {about}",
            "parameters": {"type": "object", "properties": properties, "required": ["path"]},
        },
    }


def text(random, words):
    return " ".join(f"{random.choice(WORDS)}{random.randrange(1000)}" for _ in range(words))


def turn(random, n):
    """A call and its result."""
    arguments = json.dumps({"path": f"src/{text(random, 1)}.rs", "pattern": text(random, 2)})
    call = {"id": f"call_{n}", "type": "function", "function": {"name": "search_files", "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{n}", "content": text(random, 60)},
    ]


def written(pid):
    lines = pathlib.Path(f"/proc/{pid}/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))


def main(binary, requests):
    binary, seed = str(pathlib.Path(binary).resolve()), random.Random(7)
    tools = [tool(name) for name in ("search_files", "read_file", "edit_file")]
    # Not in /tmp, which may be in memory, where nothing counts as written.
    with tempfile.TemporaryDirectory(dir=pathlib.Path(binary).parent) as home:
        env = {"HOME": home, "PATH": os.environ["PATH"]}
        address = "127.0.0.1:4799"
        server = subprocess.Popen([binary, "serve", "--listen", address], env=env, cwd=home, stderr=subprocess.DEVNULL)
        sent = 0
        try:
            time.sleep(2)
            before = written(server.pid)
            for n in range(requests):
                if n % TURNS == 0:
                    messages = [{"role": "system", "content": text(seed, 40)}, {"role": "user", "content": text(seed, 20)}]
                body = json.dumps({"model": "m", "messages": messages, "tools": tools}).encode()
                ask = urllib.request.Request(f"http://{address}/v1/chat/completions", body, {"content-type": "application/json"})
                urllib.request.urlopen(ask).read()
                sent += len(body)
                messages += turn(seed, n)
                time.sleep(PAUSE)
            time.sleep(3)
            wrote = written(server.pid) - before
        finally:
            server.terminate()
            server.wait()
        file = next(pathlib.Path(home).rglob("*.db"))
        kept = file.stat().st_size
        store = sqlite3.connect(file)
        texts = store.execute("SELECT SUM(bytes) FROM sessions").fetchone()[0]
        store.close()
    each = [f"{bytes / requests / 1000:.1f} KB" for bytes in (sent, wrote, kept, texts)]
    print("{} requests of {}: {} written, {} in the file, {} as texts count for store.bytes".format(requests, *each))


main(sys.argv[1], int(sys.argv[2]) if 2 < len(sys.argv) else 400)
