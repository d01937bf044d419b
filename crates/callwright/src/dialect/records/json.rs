//! Calls as JSON values that hold the name: `{"name": "f", "arguments": {"a": "x"}}`.

use super::record;
use crate::dialect::Anchor::{Distinct, Weak};
use crate::dialect::Dialect;
use crate::dialect::NameAt::{Header, Key, Payload};
use crate::prompt::speech::Definition;

/// `{"name": "f", "arguments": {…}}`
const CALL: &str = r#"{"name": {json_name}, "arguments": {arguments}}"#;

pub(super) fn all() -> Vec<Dialect> {
    vec![
        record("json_bare", Payload, Weak, "any instruct model that was asked for JSON")
            .aliases(&["json"])
            .example(r#"{"name": "f", "arguments": {"a": "x"}}"#)
            // The form is what counts with small models, so it stands last; and they do better with words than with schemas.
            .taught(
                "You can call these tools:\n\n{tools}\n\n{otherwise}To call a tool, answer with JSON only, with values \
                 from the conversation.{several}\n{calls}\n",
            )
            .lists(Definition::Signature, "{tool}", "\n\n")
            .writes(CALL, ", ")
            .within("{\"tool_calls\": [", "]}"),
        record("json_fence", Payload, Weak, "any instruct model that was asked for JSON, in Markdown")
            .call(&[], &["```"])
            .writes("```json\n{\"name\": {json_name}, \"arguments\": {arguments}}\n```", "\n"),
        record("yaml_fence", Payload, Weak, "instruct models that were asked for YAML")
            .call(&[], &["```"])
            .example("```yaml\ntool: f\narguments:\n  a: x\n```")
            // YAML takes JSON for a value.
            .writes("```yaml\ntool: {json_name}\narguments: {arguments}\n```", "\n"),
        record(
            "hermes",
            Payload,
            Distinct,
            "Hermes 2 and 3, the dense Qwen 2.5 and 3, QwQ, SmolLM 3, Granite 4, xLAM, and most fine-tunes",
        )
        .elements_of(
            "tool_call tool-call tool_code tools tool tool_use tool_request fn_call api_call execute_tool",
            "tool_call tool_calls tool-call toolcall tool_code tools tool tool_use tool_request fn_call api_call \
             execute_tool",
        )
        .trained(
            "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with \
             function signatures within <tools></tools> XML tags:\n<tools>\n{tools}\n</tools>\n\nFor each function \
             call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n\
             {calls}\n",
        )
        .writes("<tool_call>\n{\"name\": {json_name}, \"arguments\": {arguments}}\n</tool_call>", "\n")
        .result("user", "<tool_response>\n{content}\n</tool_response>"),
        record("lm_studio", Payload, Distinct, "models without a format of their own, under LM Studio's prompt")
            .call(&["[tool_request]"], &["[end_tool_request]"])
            .writes(r#"[TOOL_REQUEST]{"name": {json_name}, "arguments": {arguments}}[END_TOOL_REQUEST]"#, "\n"),
        record("hyperclova_x", Payload, Distinct, "HyperCLOVA X SEED")
            .section(&["-> tool/function_call"], &["<|stop|>", "<|endofturn|>"])
            .writes(CALL, ", ")
            .within("-> tool/function_call\n[", "]"),
        record("openpangu", Payload, Distinct, "openPangu")
            .section(&["[unused11]"], &["[unused12]"])
            .writes(CALL, ", ")
            .within("[unused11][", "][unused12]"),
        record("longcat", Payload, Distinct, "LongCat Flash")
            .call(&["<longcat_tool_call>"], &["</longcat_tool_call>"])
            // The tools stand in a section of their own at the end of the system turn.
            .writes(
                "<longcat_tool_call>\n{\"name\": {json_name}, \"arguments\": {arguments}}\n</longcat_tool_call>",
                "\n",
            ),
        record("nemotron_deci", Payload, Distinct, "Llama Nemotron Super and Ultra, Nemotron Nano 2")
            .section(&["<toolcall>"], &["</toolcall>", "</tool_call>"])
            .trained(
                "You can use these tools where they help the user:\n<AVAILABLE_TOOLS>[{tools}]</AVAILABLE_TOOLS>\n\nA \
                 call of one or more tools has this form:\n{calls}\n\nThe results come back in this form:\n\
                 <TOOL_RESPONSE>[{\"result of the first call\"}, {\"result of the second\"}]</TOOL_RESPONSE>\n\nGo by \
                 the results: call more tools, correct a call that failed, or answer the user.\n",
            )
            .lists(Definition::Function, "{tool}", ", ")
            .writes(CALL, ", ")
            .within("<TOOLCALL>[", "]</TOOLCALL>")
            .result("user", "{content}")
            .results("<TOOL_RESPONSE>[", ", ", "]</TOOL_RESPONSE>"),
        record("jamba", Payload, Distinct, "Jamba, Hunyuan A13B")
            .aliases(&["hunyuan_a13b"])
            .section(&["<tool_calls>"], &["</tool_calls>", "</tool_call>"])
            .writes(CALL, ",\n")
            .within("<tool_calls>[\n", "\n]</tool_calls>"),
        record("function_json", Payload, Distinct, "small instruct models under a prompt that asks for it")
            .elements_of(
                "function functions function_calls functioncall",
                "function functions function_call function_calls functioncall",
            )
            .aliases(&["function-tag"])
            .taught(
                "To use a tool, you MUST respond with this EXACT format:\n<function>{\"name\": \"tool_name\", \
                 \"parameters\": {...}}</function>\n\nCRITICAL FORMAT RULES:\n- Opening tag MUST be: <function> (not \
                 <tool_name>)\n- Closing tag MUST be: </function> (not </tool_name>)\n\nCORRECT examples:\n{calls}\n\n\
                 INCORRECT examples (DO NOT USE):\n<{name}>{...}</function>  ❌ Wrong opening tag!\n\nThe following \
                 tools are available:\n{tools}\n",
            )
            .lists(Definition::Function, "{tool}", "\n")
            .writes("<function>{\"name\": {json_name}, \"parameters\": {arguments}}</function>", "\n")
            .result("user", "<function_result>\n{content}\n</function_result>")
            .labelled(),
        record("granite20b_fc", Payload, Distinct, "Granite 20B for function calling")
            .kin("function_json")
            .call(&["<function_call>"], &["</function_call>", "</function>"])
            .trained("<|function_call_library|>\n{tools}\nTo call a function, write:\n{calls}\n")
            .lists(Definition::Function, "{tool}", "\n")
            .writes("<function_call> {\"name\": {json_name}, \"arguments\": {arguments}}", "\n")
            .result("tool", "<function_response> {content}"),
        record("granite", Payload, Distinct, "Granite 3, Sarashina 2.2")
            .aliases(&["sarashina"])
            .section(&["<|tool_call|>", "<|tool_calls|>"], &["<|/tool_call|>", "</tool_call>"])
            .trained(
                "You are given functions that you may call. They are listed in JSON:\n<|available_tools|>[{tools}]\n\n\
                 If functions are needed, answer with <|tool_call|> and a JSON list of the calls:\n{calls}\n",
            )
            .lists(Definition::Function, "{tool}", ",\n")
            .writes(CALL, ", ")
            .within("<|tool_call|>[", "]")
            .result("tool_response", "{content}"),
        record("gigachat3", Payload, Distinct, "GigaChat 3")
            .call(&["<|function_call|>", "function call<|role_sep|>"], &["<|message_sep|>"])
            .example(r#"<|function_call|>{"name": "f", "arguments": {"a": "x"}}"#)
            .trained("function descriptions:\n{tools}\n\nA function is called like this:\n{calls}\n")
            .lists(Definition::TypeScript, "{tool}", "\n\n")
            .writes("function call<|role_sep|>\n{\"name\": {json_name}, \"arguments\": {arguments}}", "\n")
            .result("function result", "{content}"),
        record("llama3_json", Payload, Distinct, "Llama 3.1, 3.2 and 3.3")
            .call(&["<|python_tag|>"], &["<|eom_id|>", "<|eot_id|>"])
            // One call at a time is what the models know. The token in front of it is for the built-in tools; behind it the
            // JSON is read in any case, without it only where it stands alone.
            .trained(
                "Environment: ipython\n\nYou have these functions. To call one, answer with JSON alone, of the form \
                 {\"name\": function name, \"parameters\": dictionary of argument name and its value}, without \
                 variables:\n{calls}\n\n{tools}\n",
            )
            .lists(Definition::Indented, "{tool}", "\n\n")
            .writes("<|python_tag|>{\"name\": {json_name}, \"parameters\": {arguments}}", "; ")
            .result("ipython", "{\"output\": {json_content}}"),
        record(
            "mistral_json",
            Payload,
            Distinct,
            "Mistral 7B 0.3, Mixtral, Nemo, Small 3.0 and 3.1, Large: tokenizers up to version 7",
        )
        .section(&["[tool_calls]", "[tool_call]"], &["[/tool_calls]", "[/tool_call]"])
        // The tools stand in front of the last user turn.
        .trained(
            "[AVAILABLE_TOOLS] [{tools}][/AVAILABLE_TOOLS]\nTo call tools, answer with [TOOL_CALLS] and a JSON \
             list of the calls:\n{calls}\n",
        )
        .lists(Definition::Json, "{tool}", ", ")
        .writes(CALL, ", ")
        .within("[TOOL_CALLS] [", "]")
        .result("tool", r#"[TOOL_RESULTS] {"name": {json_name}, "content": {json_content}}[/TOOL_RESULTS]"#),
        record("phi4mini", Payload, Weak, "Phi 4 mini, FireFunction 2")
            .aliases(&["firefunction"])
            .trained(
                "You can call one or more of the functions below. Call them only for what you do not know yourself. To \
                 do so, write the marker functools and behind it one JSON list of all calls, with arguments as their \
                 schema wants them:\n{calls}\n\n<|tool|>[{tools}]<|/tool|>\n",
            )
            .lists(Definition::Function, "{tool}", ", ")
            .writes(CALL, ", ")
            .within("functools[", "]")
            .result("tool", "{\"result\": {json_content}}"),
        record("internlm2", Payload, Distinct, "InternLM 2 and 2.5, Intern S1")
            .call(&["<|action_start|><|plugin|>", "<|action_start|>"], &["<|action_end|>"])
            .trained("Functions that you may call:\n[{tools}]\n\nA call is written like this:\n{calls}\n")
            .lists(Definition::Function, "{tool}", ", ")
            .writes(
                "<|action_start|><|plugin|>\n{\"name\": {json_name}, \"parameters\": {arguments}}<|action_end|>",
                "\n",
            )
            .result("environment", "{content}"),
        record("cohere", Payload, Distinct, "Command R7B, Command A")
            .section(&["<|start_action|>"], &["<|end_action|>"])
            .trained(
                "## Available Tools\nThese are all the tools that you have, as JSON:\n\n```json\n[\n{tools}\n]\n```\n\n\
                 To use tools, write a JSON list of calls, those that are independent of each other together:\n\
                 {calls}\nThe results then follow between <|START_TOOL_RESULT|> and <|END_TOOL_RESULT|>, each with the \
                 tool_call_id of its call.\n",
            )
            .lists(Definition::Function, "    {tool}", ",\n")
            .writes(
                "    {\"tool_call_id\": \"{index}\", \"tool_name\": {json_name}, \"parameters\": {arguments}}",
                ",\n",
            )
            .within("<|START_ACTION|>[\n", "\n]<|END_ACTION|>")
            .result(
                "system",
                "    {\n        \"tool_call_id\": \"{index}\",\n        \"results\": {\n            \"0\": \
                 {json_content}\n        },\n        \"is_error\": null\n    }",
            )
            .results("<|START_TOOL_RESULT|>[\n", ",\n", "\n]<|END_TOOL_RESULT|>"),
        record("command_r_plus", Payload, Weak, "Command R and R+")
            .call(&[], &["```"])
            .trained(
                "## Available Tools\nHere is a list of tools that you have available to you:\n\n```python\n{tools}\n\
                 ```\n\nWrite 'Action:' followed by a json-formatted list of actions that you want to perform:\n\
                 {calls}\n",
            )
            .lists(Definition::Python, "{tool}", "\n\n")
            .writes("    {\n        \"tool_name\": {json_name},\n        \"parameters\": {arguments}\n    }", ",\n")
            .within("Action: ```json\n[\n", "\n]\n```")
            .result("system", "{content}")
            .results("<results>\n", "\n\n", "\n</results>")
            .labelled(),
        record("apertus", Key, Distinct, "Apertus")
            .section(&["<|tools_prefix|>"], &["<|tools_suffix|>"])
            .trained("Tool Capabilities:\n{tools}\n\nTools are called like this:\n{calls}\n")
            .lists(Definition::TypeScript, "{tool}", "\n")
            .writes("{{json_name}: {arguments}}", ", ")
            .within("<|tools_prefix|>[", "]<|tools_suffix|>")
            .result("tool", "{content}")
            .results("[", ", ", "]"),
        record("inkling", Header, Distinct, "Inkling")
            .call(&["<|message_model|>", "<|content_invoke_tool_json|>"], &["<|end_message|>"])
            .trained("tool_declare:\n[{tools}]\n\nA tool is called like this:\n{calls}\n")
            .lists(Definition::Function, "{tool}", ",")
            .writes(
                "<|message_model|>{name}<|content_invoke_tool_json|>{\"name\": {json_name}, \"args\": \
                 {arguments}}<|end_message|>",
                "",
            )
            .result("tool", "{content}"),
    ]
}
