"""The package `anthropic` with a loop of one's own, as people write it."""

from anthropic import Anthropic

from loop import SCHEMAS, SYSTEM, called, main


def loop(kind, url, model, ask):
    client = Anthropic(base_url=url, api_key="none")
    tools = [{"name": name, "input_schema": schema} for name, schema in SCHEMAS.items()]
    messages = [{"role": "user", "content": ask}]
    for _ in range(50):
        request = {"model": model, "max_tokens": 4096, "system": SYSTEM, "messages": messages, "tools": tools}
        with client.messages.stream(**request) as stream:
            answer = stream.get_final_message()
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in answer.content if block.type == "text")
        messages.append({"role": "assistant", "content": [block.model_dump() for block in answer.content]})
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": called(call.name, call.input)}
            for call in calls
        ]
        messages.append({"role": "user", "content": results})
    return "too many turns"


main(loop)
