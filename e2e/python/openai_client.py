"""The `openai` package, as its own pages show it: a loop over chat completions, plain or with the stream helper."""

import inspect
import json

from openai import OpenAI

from tasks import serve
from tools import TOOLS

TYPES = {str: "string", int: "integer"}


def definition(tool):
    """A function's definition, from its type hints and its docstring."""
    hints = {name: hint for name, hint in inspect.get_annotations(tool).items() if name != "return"}
    parameters = {
        "type": "object",
        "properties": {name: {"type": TYPES[hint]} for name, hint in hints.items()},
        "required": list(hints),
        "additionalProperties": False,
    }
    function = {"name": tool.__name__, "description": tool.__doc__, "parameters": parameters}
    return {"type": "function", "function": function}


def turn(client, task, messages):
    """The first choice of one answer. The helper puts the pieces of a stream together."""
    request = {
        "model": task["model"],
        "messages": messages,
        "tools": [definition(TOOLS[name]) for name in task["tools"]],
        "temperature": 0,
        "max_tokens": task["max_tokens"],
    }
    if "tool_choice" in task:
        request["tool_choice"] = task["tool_choice"]
    if not task["stream"]:
        return client.chat.completions.create(**request).choices[0]
    with client.chat.completions.stream(**request) as stream:
        return stream.get_final_completion().choices[0]


def call(tool_call, report):
    """Runs one call, and returns the message that answers it."""
    name, text = tool_call.function.name, tool_call.function.arguments
    arguments = None
    try:
        arguments = json.loads(text)
        content = TOOLS[name](**arguments)
    except (ValueError, TypeError, KeyError) as error:
        content = f"error: {error}"
        report.errors.append(f"{name}({text}): {type(error).__name__}: {error}")
    report.called(tool_call.id, name, arguments)
    report.returned(tool_call.id, content)
    return {"role": "tool", "tool_call_id": tool_call.id, "content": content}


def run(task, report):
    # Without retries: a failure is the thing to see.
    client = OpenAI(base_url=task["base_url"], api_key="none", max_retries=0)
    messages = [{"role": "user", "content": task["ask"]}]
    for _ in range(task["turns"]):
        choice = turn(client, task, messages)
        report.finish.append(choice.finish_reason)
        report.text = choice.message.content or ""
        if not choice.message.tool_calls:
            return
        messages.append(choice.message.model_dump(include={"role", "content", "tool_calls"}))
        messages += [call(tool_call, report) for tool_call in choice.message.tool_calls]


if __name__ == "__main__":
    serve(run)
