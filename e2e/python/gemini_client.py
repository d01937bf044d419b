"""The package `google-genai`, as its own pages show it: a chat that keeps its history itself, plain or streamed. Results have no ids."""

from google import genai
from google.genai import types

from tasks import serve
from tools import TOOLS

# The API has no word of its own for calls.
REASONS = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"}


def turn(chat, message, stream):
    """The text of one answer, its calls, and why it ended."""
    parts = chat.send_message_stream(message) if stream else [chat.send_message(message)]
    text, calls, reason = "", [], None
    for part in parts:
        candidate = part.candidates[0]
        text += "".join(said.text or "" for said in candidate.content.parts if not said.thought)
        calls += part.function_calls or []
        reason = candidate.finish_reason or reason
    return text, calls, reason and reason.value


def result(call, report):
    """Runs one call, and returns the part that answers it."""
    name, arguments = call.name, dict(call.args)
    try:
        response = {"result": TOOLS[name](**arguments)}
    except (ValueError, TypeError, KeyError) as error:
        response = {"error": f"error: {error}"}
        report.errors.append(f"{name}({arguments}): {type(error).__name__}: {error}")
    report.called(call.id, name, arguments)
    report.returned(call.id, next(iter(response.values())))
    return types.Part.from_function_response(name=name, response=response)


def run(task, report):
    # Its address has no /v1.
    options = types.HttpOptions(base_url=task["base_url"].removesuffix("/v1"))
    client = genai.Client(api_key="none", http_options=options)
    assert any(model.name for model in client.models.list()), "no models"
    config = types.GenerateContentConfig(
        temperature=0,
        max_output_tokens=task["max_tokens"],
        tools=[TOOLS[name] for name in task["tools"]],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    chat = client.chats.create(model=task["model"], config=config)
    message = task["ask"]
    for _ in range(task["turns"]):
        text, calls, reason = turn(chat, message, task["stream"])
        report.finish.append("tool_calls" if calls and reason == "STOP" else REASONS.get(reason, reason))
        report.text = text
        if not calls:
            return
        message = [result(call, report) for call in calls]


if __name__ == "__main__":
    serve(run)
