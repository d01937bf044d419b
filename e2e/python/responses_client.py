"""The `openai` package's responses, as its own pages show them: each turn goes on from the one before by its id."""

import json

from openai import OpenAI

from openai_client import definition
from tasks import serve
from tools import TOOLS


def declared(tool):
    return {"type": "function", **definition(tool)["function"]}


def turn(client, task, items, before):
    """One answer. The helper puts the events of a stream together, and refuses those that come out of order."""
    request = {
        "model": task["model"],
        "input": items,
        "tools": [declared(TOOLS[name]) for name in task["tools"]],
        "temperature": 0,
        "max_output_tokens": task["max_tokens"],
    }
    if before is not None:
        request["previous_response_id"] = before
    if "tool_choice" in task:
        request["tool_choice"] = task["tool_choice"]
    if not task["stream"]:
        return client.responses.create(**request)
    with client.responses.stream(**request) as stream:
        return stream.get_final_response()


def call(item, report):
    """Runs one call, and returns the item that answers it."""
    arguments = None
    try:
        arguments = json.loads(item.arguments)
        content = TOOLS[item.name](**arguments)
    except (ValueError, TypeError, KeyError) as error:
        content = f"error: {error}"
        report.errors.append(f"{item.name}({item.arguments}): {type(error).__name__}: {error}")
    report.called(item.call_id, item.name, arguments)
    report.returned(item.call_id, content)
    return {"type": "function_call_output", "call_id": item.call_id, "output": content}


def run(task, report):
    # Without retries: a failure is the thing to see.
    client = OpenAI(base_url=task["base_url"], api_key="none", max_retries=0)
    items, before = [{"role": "user", "content": task["ask"]}], None
    for _ in range(task["turns"]):
        response = turn(client, task, items, before)
        calls = [item for item in response.output if item.type == "function_call"]
        # How the scenarios call why a turn ended.
        finish = "tool_calls" if calls else "stop"
        report.finish.append(finish if response.status == "completed" else response.status)
        report.text = response.output_text
        if not calls:
            return
        items, before = [call(item, report) for item in calls], response.id


if __name__ == "__main__":
    serve(run)
