"""The `anthropic` package, as its own pages show it: a loop over messages, plain or with the stream helper."""

from anthropic import Anthropic

from openai_client import definition
from tasks import serve
from tools import TOOLS

# How the scenarios call why a turn ended.
FINISHES = {"tool_use": "tool_calls", "end_turn": "stop", "max_tokens": "length"}


def declared(tool):
    function = definition(tool)["function"]
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def turn(client, task, messages):
    """One answer. The helper puts the events of a stream together, and refuses those that come out of order."""
    request = {
        "model": task["model"],
        "messages": messages,
        "tools": [declared(TOOLS[name]) for name in task["tools"]],
        # The package has no parameter for it.
        "extra_body": {"temperature": 0},
        "max_tokens": task["max_tokens"],
    }
    if "tool_choice" in task:
        request["tool_choice"] = {"type": {"required": "any"}.get(task["tool_choice"], task["tool_choice"])}
    if not task["stream"]:
        return client.messages.create(**request)
    with client.messages.stream(**request) as stream:
        return stream.get_final_message()


def call(block, report):
    """Runs one call, and returns the block that answers it."""
    error = None
    try:
        content = TOOLS[block.name](**block.input)
    except (ValueError, TypeError, KeyError) as failed:
        content = error = f"error: {failed}"
        report.errors.append(f"{block.name}({block.input}): {type(failed).__name__}: {failed}")
    report.called(block.id, block.name, block.input)
    report.returned(block.id, content)
    return {"type": "tool_result", "tool_use_id": block.id, "content": content, "is_error": error is not None}


def run(task, report):
    # Its base URL has no /v1. Without retries: a failure is the thing to see.
    client = Anthropic(base_url=task["base_url"].removesuffix("/v1"), api_key="none", max_retries=0)
    messages = [{"role": "user", "content": task["ask"]}]
    for _ in range(task["turns"]):
        message = turn(client, task, messages)
        report.finish.append(FINISHES.get(message.stop_reason, message.stop_reason))
        report.text = "".join(block.text for block in message.content if block.type == "text")
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return
        messages.append({"role": "assistant", "content": message.content})
        messages.append({"role": "user", "content": [call(block, report) for block in calls]})


if __name__ == "__main__":
    serve(run)
