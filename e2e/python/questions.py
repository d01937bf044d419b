"""Asks one question with one tool, by the `openai` package, and holds each call against the tool's schema.

A task: {"base_url", "model", "ask", "tool", "description", "parameters", "tool_choice", "max_tokens"}
With a "grammar" the answer is held to it; with a "system" the tool is told of in that alone.
"""

import json

from jsonschema import Draft202012Validator
from openai import OpenAI

from tasks import serve


def run(task, report):
    client = OpenAI(base_url=task["base_url"], api_key="none", max_retries=0)
    if "system" in task:
        return say(client, task, report)
    function = {name: task[name] for name in ("description", "parameters")}
    completion = client.chat.completions.create(
        model=task["model"],
        messages=[{"role": "user", "content": task["ask"]}],
        tools=[{"type": "function", "function": {"name": task["tool"], **function}}],
        tool_choice=task["tool_choice"],
        temperature=0,
        max_tokens=task["max_tokens"],
        extra_body=held(task),
    )
    choice = completion.choices[0]
    report.finish.append(choice.finish_reason)
    report.text = choice.message.content or ""
    validator = Draft202012Validator(task["parameters"])
    for call in choice.message.tool_calls or []:
        name, text = call.function.name, call.function.arguments
        try:
            arguments = json.loads(text)
            report.errors += [f"{name}({text}): {error.message}" for error in validator.iter_errors(arguments)]
        except ValueError as error:
            arguments = None
            report.errors.append(f"{name}({text}): {error}")
        report.called(call.id, name, arguments)


def held(task):
    return {"grammar": task["grammar"]} if "grammar" in task else None


def say(client, task, report):
    messages = [{"role": "system", "content": task["system"]}, {"role": "user", "content": task["ask"]}]
    completion = client.chat.completions.create(
        model=task["model"],
        messages=messages,
        temperature=0,
        max_tokens=task["max_tokens"],
        extra_body=held(task),
    )
    choice = completion.choices[0]
    report.finish.append(choice.finish_reason)
    report.text = choice.message.content or ""


serve(run)
