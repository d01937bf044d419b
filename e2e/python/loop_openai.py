"""The package `openai` with a loop of one's own, as people write it, over chat completions or responses."""

from openai import OpenAI

from loop import SCHEMAS, SYSTEM, called, main


def chat(client, model, ask):
    tools = [
        {"type": "function", "function": {"name": name, "parameters": schema}}
        for name, schema in SCHEMAS.items()
    ]
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ask}]
    for _ in range(50):
        text, calls = "", {}
        for chunk in client.chat.completions.create(model=model, messages=messages, tools=tools, stream=True):
            if not chunk.choices:
                continue
            delta = chunk.choices[0].delta
            text += delta.content or ""
            for piece in delta.tool_calls or []:
                call = calls.setdefault(piece.index, {"id": "", "name": "", "arguments": ""})
                call["id"] = piece.id or call["id"]
                call["name"] += piece.function.name or ""
                call["arguments"] += piece.function.arguments or ""
        if not calls:
            return text
        calls = calls.values()
        functions = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}}
            for c in calls
        ]
        messages.append({"role": "assistant", "content": text or None, "tool_calls": functions})
        for call in calls:
            said = called(call["name"], call["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": said})
    return "too many turns"


def responses(client, model, ask):
    tools = [
        {"type": "function", "name": name, "parameters": schema, "strict": False}
        for name, schema in SCHEMAS.items()
    ]
    said = [{"role": "user", "content": ask}]
    for _ in range(50):
        with client.responses.stream(model=model, instructions=SYSTEM, input=said, tools=tools) as stream:
            answer = stream.get_final_response()
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return answer.output_text
        said += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in answer.output]
        for call in calls:
            output = called(call.name, call.arguments)
            said.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    return "too many turns"


def loop(kind, url, model, ask):
    client = OpenAI(base_url=f"{url}/v1", api_key="none")
    return {"chat": chat, "responses": responses}[kind[0]](client, model, ask)


main(loop)
