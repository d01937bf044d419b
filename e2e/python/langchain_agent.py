"""LangChain's `create_agent` over `ChatOpenAI`, invoked whole or streamed message by message."""

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.errors import GraphRecursionError

from tasks import serve
from tools import TOOLS


def run(task, report):
    model = ChatOpenAI(
        model=task["model"],
        base_url=task["base_url"],
        api_key="none",
        temperature=0,
        max_tokens=task["max_tokens"],
        max_retries=0,
    )
    agent = create_agent(model, [TOOLS[name] for name in task["tools"]])
    ask = {"messages": [{"role": "user", "content": task["ask"]}]}
    # A turn is two steps of the graph: the model, then its tools.
    config = {"recursion_limit": 2 * task["turns"]}
    # The mode "messages" is what makes the agent ask the model for a stream.
    modes = ["messages", "values"] if task["stream"] else ["values"]
    messages = []
    try:
        for mode, state in agent.stream(ask, config, stream_mode=modes):
            if mode == "values":
                messages = state["messages"]
    except GraphRecursionError:
        pass
    for message in messages:
        read(message, report)


def read(message, report):
    if isinstance(message, ToolMessage):
        report.returned(message.tool_call_id, message.content)
        if message.status == "error":
            report.errors.append(message.content)
    elif isinstance(message, AIMessage):
        report.finish.append(message.response_metadata.get("finish_reason"))
        report.text = message.text
        for call in message.tool_calls:
            report.called(call["id"], call["name"], call["args"])
        for call in message.invalid_tool_calls:
            report.called(call["id"], call["name"], None)
            report.errors.append(f"{call['name']}({call['args']}): {call['error']}")


serve(run)
