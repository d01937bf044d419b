"""OpenAI's Agents SDK over responses: its `Runner`, run whole or streamed."""

import asyncio
import json

from agents import Agent, MaxTurnsExceeded, ModelSettings, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from tasks import serve
from tools import TOOLS


async def result(agent, task):
    """What the runner came to. A stream has to be read for its turns to happen."""
    if not task["stream"]:
        return await Runner.run(agent, task["ask"], max_turns=task["turns"])
    result = Runner.run_streamed(agent, task["ask"], max_turns=task["turns"])
    async for _ in result.stream_events():
        pass
    return result


def called(item, report):
    try:
        arguments = json.loads(item.arguments)
    except ValueError as error:
        arguments = None
        report.errors.append(f"{item.name}({item.arguments}): {error}")
    report.called(item.call_id, item.name, arguments)


async def ask(task, report):
    # Without retries: a failure is the thing to see.
    client = AsyncOpenAI(base_url=task["base_url"], api_key="none", max_retries=0)
    settings = ModelSettings(
        temperature=0, max_tokens=task["max_tokens"], tool_choice=task.get("tool_choice")
    )
    tools = [function_tool(TOOLS[name]) for name in task["tools"]]
    model = OpenAIResponsesModel(task["model"], client)
    agent = Agent(name="client", model=model, model_settings=settings, tools=tools)
    try:
        done = await result(agent, task)
        items, responses = done.new_items, done.raw_responses
        report.text = done.final_output
    except MaxTurnsExceeded as stopped:
        items, responses = stopped.run_data.new_items, stopped.run_data.raw_responses
    for item in items:
        if item.type == "tool_call_item":
            called(item.raw_item, report)
        elif item.type == "tool_call_output_item":
            report.returned(item.raw_item["call_id"], item.output)
    for response in responses:
        is_call = any(item.type == "function_call" for item in response.output)
        report.finish.append("tool_calls" if is_call else "stop")


def run(task, report):
    asyncio.run(ask(task, report))


# Traces go to OpenAI.
set_tracing_disabled(True)
serve(run)
