"""The door of all Python clients: one task per line of standard input, one report per line of standard output.

A task: {"base_url", "model", "ask", "tools": [names], "tool_choice": or none, "stream": bool, "turns": at most, "max_tokens": per turn}
A report: see `Report`. What a client raises is in the report; nothing but reports goes to standard output.
"""

import json
import sys
import warnings


class Report:
    """What happened, as the client saw it."""

    def __init__(self):
        self.calls = []  # {"id", "name", "arguments": what the client parsed, or null}
        self.results = []  # {"id", "content": what the tool returned}
        self.text = ""  # of the last turn
        self.finish = []  # the finish reason of each turn
        self.errors = []  # whatever a program in the client's place would have had to deal with

    def called(self, id, name, arguments):
        self.calls.append({"id": id, "name": name, "arguments": arguments})

    def returned(self, id, content):
        self.results.append({"id": id, "content": content})


def serve(run):
    """Answers each task by `run(task, report)`."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        report = Report()
        try:
            run(json.loads(line), report)
        except Exception as error:
            report.errors.append(f"{type(error).__name__}: {error}")
        print(json.dumps(vars(report)), flush=True)
