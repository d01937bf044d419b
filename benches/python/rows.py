"""An archive read in columns: seconds of the processor, and of the clock, for so many rows with so many sets of tools.

    python benches/python/rows.py [FILE]

FILE has lines `{"text", "tools"}`; without one, 44,000 rows with 2,144 sets are made. Needs callwright and pyarrow.
"""

import json
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from callwright import arrow

ROWS, SETS = 44_000, 2_144


def made() -> pa.Table:
    """Rows of one or two calls, each set of tools with the same four and one of its own."""
    kinds = {"city": "string", "days": "integer", "path": "string", "limit": "number", "deep": "boolean"}
    common = [
        {
            "name": name,
            "description": f"What {name} does, in a sentence as long as such sentences are.",
            "parameters": {"type": "object", "properties": {key: {"type": kind} for key, kind in kinds.items()}},
        }
        for name in ("get_weather", "read_file", "search_web", "list_files")
    ]
    sets = [json.dumps([*common, {"name": f"own_{n}", "parameters": {"type": "object"}}]) for n in range(SETS)]
    call = "<tool_call>\n{{\"name\": \"get_weather\", \"arguments\": {{\"city\": \"Paris {0}\", \"days\": {1}}}}}\n</tool_call>"
    texts = [
        f"I look it up for you, number {row}.\n" + "\n".join(call.format(row, n) for n in range(1 + row % 2))
        for row in range(ROWS)
    ]
    # As in an archive that was shuffled: no set stands beside itself.
    return pa.table({"text": texts, "tools": [sets[row * 7 % SETS] for row in range(ROWS)]})


def read(file: Path) -> pa.Table:
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    tools = [line["tools"] if isinstance(line["tools"], str) else json.dumps(line["tools"]) for line in lines]
    return pa.table({"text": [line["text"] for line in lines], "tools": tools})


def calls(batch: pa.RecordBatch) -> pa.Table:
    return pa.table(arrow.parse(batch["text"], batch["tools"]))


def timed(batches: Iterable[pa.RecordBatch], threads: int = 1) -> tuple[float, float]:
    start, start_cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(threads) as pool:
        rows = sum(len(table) for table in pool.map(calls, batches))
    assert rows
    return time.process_time() - start_cpu, time.perf_counter() - start


def main() -> None:
    table = read(Path(sys.argv[1])) if 1 < len(sys.argv) else made()
    whole = table.combine_chunks().to_batches()
    small = table.to_batches(max_chunksize=1000)
    megabytes = sum(batch.nbytes for batch in whole) / 1e6
    print(f"{table.num_rows} rows, {megabytes:.0f} MB, {len(set(table['tools'].to_pylist()))} sets of tools")
    print("first time, batches of 1,000: {:.2f} s of the processor, {:.2f} s".format(*timed(small)))
    for name, batches, threads in (("batches of 1,000", small, 1), ("one batch", whole, 1), ("two threads", small, 2)):
        runs = [timed(batches, threads) for _ in range(7)]
        cpu, wall = (min(times) for times in zip(*runs, strict=True))
        print(f"{name}: {cpu:.2f} s of the processor, {wall:.2f} s")


if __name__ == "__main__":
    main()
