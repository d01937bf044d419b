"""What one text costs, in microseconds of processor time to a Python value, beside other libraries.

    python benches/python/values.py

Needs callwright, and takes json_repair, fast_json_repair and orjson along where they are installed. Each figure is the best of
many short runs, as a machine is seldom alone with them; `wrong` says that the value is not the one that the text was made from, `-` that the library gives an error.
"""

import json
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import callwright

# The same code as in the benchmarks of the reader itself.
FUNCTION = '''\
/// Adds up the entries of group {n}, and says how many were left out.
pub fn total_{n}(entries: &[Entry], skip: Option<&str>) -> Result<u64, ReportError> {{
    let mut sum = {n};
    for entry in entries.iter().filter(|e| e.group == {n}) {{
        if skip.is_some_and(|name| name == entry.name) {{
            eprintln!("skipped {{}}", entry.name);
            continue;
        }}
        sum += entry.value.checked_mul(2).ok_or(ReportError::Overflow)?;
    }}
    Ok(sum)
}}

'''


def texts() -> dict[str, tuple[str, Any]]:
    """Each text with the value that it was made from."""
    small = {"city": "Paris", "days": 3, "unit": "c"}
    code = {"path": "src/total.rs", "content": "".join(FUNCTION.format(n=n) for n in range(8))}
    valid = json.dumps(code)
    return {
        "small": (json.dumps(small), small),
        "small, other quotes": (repr(small)[:-1] + ",}", small),
        f"{len(valid) / 1000:.1f} KB of code": (valid, code),
        "the same, comma at its end": (valid[:-1] + ",}", code),
        "the same, nothing escaped": ('{"path": "src/total.rs", "content": "' + code["content"] + '"}', code),
    }


def libraries() -> dict[str, Callable[[str], Any]]:
    found: dict[str, Callable[[str], Any]] = {"json": json.loads}
    for name, function in (("orjson", "loads"), ("json_repair", "loads"), ("fast_json_repair", "loads")):
        try:
            found[name] = getattr(import_module(name), function)
        except ImportError:
            print(f"{name} is not installed")
    return found | {"callwright": callwright.loads}


def cost(read: Callable[[str], Any], text: str, value: Any) -> str:
    try:
        right = read(text) == value
    except ValueError:
        return "-"
    once = timeit.timeit(lambda: read(text), number=3) / 3
    number = max(1, int(0.001 / once))
    best = min(timeit.repeat(lambda: read(text), time.process_time, number=number, repeat=400 if once < 0.001 else 5)) / number
    return f"{best * 1e6:.1f}" + ("" if right else " wrong")


def import_time() -> float:
    """Milliseconds of `import callwright` in a new interpreter, the best of twenty."""
    code = "import time; start = time.perf_counter(); import callwright; print(time.perf_counter() - start)"
    runs = (subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(20))
    return min(float(run.stdout) for run in runs) * 1e3


def threads(text: str) -> float:
    """How much sooner two threads are done with broken texts than one."""

    def work(_: int) -> None:
        for _ in range(2000):
            callwright.heal(text)

    def took(n: int) -> float:
        with ThreadPoolExecutor(n) as pool:
            start = time.perf_counter()
            list(pool.map(work, range(4)))
            return time.perf_counter() - start

    return min(took(1) for _ in range(7)) / min(took(2) for _ in range(7))


def main() -> None:
    columns = libraries()
    print("| µs | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    for name, (text, value) in texts().items():
        print(f"| {name} | " + " | ".join(cost(read, text, value) for read in columns.values()) + " |")
    print(f"import callwright: {import_time():.1f} ms")
    print(f"two threads: {threads(text):.2f} times one")


if __name__ == "__main__":
    main()
