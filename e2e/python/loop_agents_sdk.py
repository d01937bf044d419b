"""OpenAI's Agents SDK, over responses or chat completions, whole or streamed."""

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from loop import SYSTEM, TOOLS, main

MODELS = {"chat": OpenAIChatCompletionsModel, "responses": OpenAIResponsesModel}


async def loop(kind, url, model, ask):
    wire, mode = kind
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"{url}/v1", api_key="none")
    tools = [function_tool(tool) for tool in TOOLS]
    agent = Agent(name="agent", instructions=SYSTEM, model=MODELS[wire](model, client), tools=tools)
    if mode == "whole":
        return (await Runner.run(agent, ask, max_turns=50)).final_output
    run = Runner.run_streamed(agent, ask, max_turns=50)
    async for _ in run.stream_events():
        pass
    return run.final_output


main(loop)
