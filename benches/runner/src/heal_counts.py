"""Counts of one `heal` run, unrounded, judged by the corpus's own scorer.

    python3 heal_counts.py TOOLS_DIR CASES.jsonl ANSWERS.jsonl

Prints one JSON object: how many cases of each sort there are, and what became of them.
"""

import collections
import json
import sys

sys.path.insert(0, sys.argv[1])
sys.setrecursionlimit(100_000)

from hjson import equal, loads
from score_heal import value


def main():
    with open(sys.argv[2]) as cases:
        corpus = {case["id"]: case for case in map(loads, cases)}
    count = collections.Counter()
    times = []
    with open(sys.argv[3]) as answers:
        for answer in map(loads, answers):
            case = corpus.pop(answer["id"])
            times.append(float(answer.get("us", 0)))
            answered, healed = value(answer)
            right = answered and any(equal(healed, good) for good in (case["expected"], *case.get("accept", ())))
            sort = "undecidable"
            if case["decidable"]:
                sort = "valid" if case["class"].startswith("valid") else "broken"
            count[sort] += 1
            count[f"{sort}_right"] += bool(right)
            count[f"{sort}_wrong"] += bool(answered and not right)
            count[f"{sort}_answered"] += bool(answered)
            if sort == "valid":
                count["valid_unchanged"] += answer.get("output_text") == case["input"]
    times.sort()
    count["unanswered"] = len(corpus)
    count["median_us"] = times[len(times) // 2]
    count["p99_us"] = times[len(times) * 99 // 100]
    print(json.dumps(count))


if __name__ == "__main__":
    main()
