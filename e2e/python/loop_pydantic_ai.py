"""Pydantic AI's agent, over one of three APIs."""

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from loop import SYSTEM, TOOLS, main


def model_of(wire, url, model):
    if wire == "messages":
        return AnthropicModel(model, provider=AnthropicProvider(base_url=url, api_key="none"))
    kind = OpenAIChatModel if wire == "chat" else OpenAIResponsesModel
    return kind(model, provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none"))


async def loop(kind, url, model, ask):
    agent = Agent(model_of(*kind, url, model), instructions=SYSTEM, tools=TOOLS)
    return (await agent.run(ask)).output


main(loop)
