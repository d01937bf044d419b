"""AutoGen's `AssistantAgent`, whole or streamed."""

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient

from loop import SYSTEM, TOOLS, main

ABLE = {
    "vision": False,
    "function_calling": True,
    "json_output": True,
    "family": "unknown",
    "structured_output": True,
}


async def loop(kind, url, model, ask):
    client = OpenAIChatCompletionClient(model=model, base_url=f"{url}/v1", api_key="none", model_info=ABLE)
    agent = AssistantAgent(
        "agent",
        model_client=client,
        tools=TOOLS,
        system_message=SYSTEM,
        model_client_stream=kind == ["streamed"],
        max_tool_iterations=50,
        reflect_on_tool_use=False,
    )
    return (await agent.run(task=ask)).messages[-1].content


main(loop)
