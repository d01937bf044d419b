"""The `ollama` package, as its own pages show it: a loop over chats, plain or streamed. It keeps no ids of calls."""

from ollama import Client

from openai_client import definition
from tasks import serve
from tools import TOOLS


def turn(client, task, messages):
    """The message of one answer, and why it ended. The pieces of a stream are put together as the package's page does it."""
    request = {
        "model": task["model"],
        "messages": messages,
        "tools": [definition(TOOLS[name]) for name in task["tools"]],
        "options": {"temperature": 0, "num_predict": task["max_tokens"]},
    }
    if not task["stream"]:
        answer = client.chat(**request)
        return answer.message.content or "", answer.message.tool_calls or [], answer.done_reason
    text, calls, reason = "", [], None
    for part in client.chat(stream=True, **request):
        text += part.message.content or ""
        calls += part.message.tool_calls or []
        reason = part.done_reason or reason
    return text, calls, reason


def call(tool_call, report):
    """Runs one call, and returns the message that answers it."""
    name, arguments = tool_call.function.name, dict(tool_call.function.arguments)
    try:
        content = TOOLS[name](**arguments)
    except (ValueError, TypeError, KeyError) as error:
        content = f"error: {error}"
        report.errors.append(f"{name}({arguments}): {type(error).__name__}: {error}")
    # The package has no ids, but the suite is told which result is whose.
    number = str(len(report.calls))
    report.called(number, name, arguments)
    report.returned(number, content)
    return {"role": "tool", "tool_name": name, "content": content}


def run(task, report):
    # Its address has no /v1.
    client = Client(host=task["base_url"].removesuffix("/v1"))
    assert any(model.model for model in client.list().models), "no models"
    messages = [{"role": "user", "content": task["ask"]}]
    for _ in range(task["turns"]):
        text, calls, reason = turn(client, task, messages)
        # The API has no word of its own for calls.
        report.finish.append("tool_calls" if calls and reason == "stop" else reason)
        report.text = text
        if not calls:
            return
        messages.append({"role": "assistant", "content": text, "tool_calls": calls})
        messages += [call(tool_call, report) for tool_call in calls]


if __name__ == "__main__":
    serve(run)
