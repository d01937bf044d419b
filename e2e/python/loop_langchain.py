"""LangChain's `create_agent` over `ChatOpenAI`, whole or streamed."""

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from loop import SYSTEM, TOOLS, main


def loop(kind, url, model, ask):
    _, mode = kind
    chat = ChatOpenAI(model=model, base_url=f"{url}/v1", api_key="none", streaming=mode == "streamed")
    agent = create_agent(chat, TOOLS, system_prompt=SYSTEM)
    asked = {"messages": [{"role": "user", "content": ask}]}
    config = {"recursion_limit": 100}
    if mode == "whole":
        return agent.invoke(asked, config)["messages"][-1].text
    last = None
    for way, state in agent.stream(asked, config, stream_mode=["messages", "values"]):
        if way == "values":
            last = state
    return last["messages"][-1].text


main(loop)
