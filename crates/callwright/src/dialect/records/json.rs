//! Calls as JSON values that hold the name: `{"name": "f", "arguments": {"a": "x"}}`.

use super::record;
use crate::dialect::Anchor::{Distinct, Weak};
use crate::dialect::{Dialect, NameAt};
use crate::prompt::speech::Definition;

/// `{"name": "f", "arguments": {…}}`
const CALL: &str = "{\"name\": {json_name}, \"arguments\": {arguments}}";

pub(super) fn all() -> Vec<Dialect> {
    vec![
        record("json_bare", NameAt::Payload, Weak)
            .aliases(&["json"])
            .by("any instruct model that was asked for JSON")
            .example(r#"{"name": "f", "arguments": {"a": "x"}}"#)
            // The form is what counts with small models, so it stands last; and they do better with words than with schemas.
            .taught(
                "You can call these tools:\n\n{tools}\n\n{otherwise}To call a tool, answer with JSON only, with values \
                 from the conversation.{several}\n{calls}\n",
            )
            .lists(Definition::Signature, "{tool}", "\n\n")
            .writes_all("{\"tool_calls\": [", CALL, ", ", "]}"),
        record("json_fence", NameAt::Payload, Weak)
            .call(&[], &["```"])
            .by("any instruct model that was asked for JSON, in Markdown")
            .writes("```json\n{\"name\": {json_name}, \"arguments\": {arguments}}\n```", "\n"),
        record("yaml_fence", NameAt::Payload, Weak)
            .call(&[], &["```"])
            .by("instruct models that were asked for YAML")
            .example("```yaml\ntool: f\narguments:\n  a: x\n```")
            // YAML takes JSON for a value.
            .writes("```yaml\ntool: {json_name}\narguments: {arguments}\n```", "\n"),
        record("hermes", NameAt::Payload, Distinct)
            .call(
                &[
                    "<tool_call>",
                    "<tool-call>",
                    "<tool_code>",
                    "<tools>",
                    "<tool>",
                    "<tool_use>",
                    "<tool_request>",
                    "<fn_call>",
                    "<api_call>",
                    "<execute_tool>",
                ],
                &[
                    "</tool_call>",
                    "</tool_calls>",
                    "</tool-call>",
                    "</toolcall>",
                    "</tool_code>",
                    "</tools>",
                    "</tool>",
                    "</tool_use>",
                    "</tool_request>",
                    "</fn_call>",
                    "</api_call>",
                    "</execute_tool>",
                ],
            )
            .by(
                "Hermes 2 and 3, the dense Qwen 2.5 and 3, QwQ, SmolLM 3, Granite 4, xLAM, and most fine-tunes",
            )
            .trained(
                "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with \
                 function signatures within <tools></tools> XML tags:\n<tools>\n{tools}\n</tools>\n\nFor each function \
                 call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n\
                 {calls}\n",
            )
            .writes("<tool_call>\n{\"name\": {json_name}, \"arguments\": {arguments}}\n</tool_call>", "\n")
            .result("user", "<tool_response>\n{content}\n</tool_response>"),
        record("lm_studio", NameAt::Payload, Distinct)
            .call(&["[tool_request]"], &["[end_tool_request]"])
            .by("models without a format of their own, under LM Studio's prompt")
            .writes(
                "[TOOL_REQUEST]{\"name\": {json_name}, \"arguments\": {arguments}}[END_TOOL_REQUEST]",
                "\n",
            ),
        record("hyperclova_x", NameAt::Payload, Distinct)
            .section(&["-> tool/function_call"], &["<|stop|>", "<|endofturn|>"])
            .by("HyperCLOVA X SEED")
            .writes_all("-> tool/function_call\n[", CALL, ", ", "]"),
        record("openpangu", NameAt::Payload, Distinct)
            .section(&["[unused11]"], &["[unused12]"])
            .by("openPangu")
            .writes_all("[unused11][", CALL, ", ", "][unused12]"),
        record("longcat", NameAt::Payload, Distinct)
            .call(&["<longcat_tool_call>"], &["</longcat_tool_call>"])
            .by("LongCat Flash")
            // The tools stand in a section of their own at the end of the system turn.
            .writes(
                "<longcat_tool_call>\n{\"name\": {json_name}, \"arguments\": {arguments}}\n</longcat_tool_call>",
                "\n",
            ),
        record("nemotron_deci", NameAt::Payload, Distinct)
            .section(&["<toolcall>"], &["</toolcall>", "</tool_call>"])
            .by("Llama Nemotron Super and Ultra, Nemotron Nano 2")
            .trained(
                "You can use these tools where they help the user:\n<AVAILABLE_TOOLS>[{tools}]</AVAILABLE_TOOLS>\n\nA \
                 call of one or more tools has this form:\n{calls}\n\nThe results come back in this form:\n\
                 <TOOL_RESPONSE>[{\"result of the first call\"}, {\"result of the second\"}]</TOOL_RESPONSE>\n\nGo by \
                 the results: call more tools, correct a call that failed, or answer the user.\n",
            )
            .lists(Definition::Function, "{tool}", ", ")
            .writes_all("<TOOLCALL>[", CALL, ", ", "]</TOOLCALL>")
            .result("user", "{content}")
            .results("<TOOL_RESPONSE>[", ", ", "]</TOOL_RESPONSE>"),
        record("jamba", NameAt::Payload, Distinct)
            .aliases(&["hunyuan_a13b"])
            .section(&["<tool_calls>"], &["</tool_calls>", "</tool_call>"])
            .by("Jamba, Hunyuan A13B")
            .writes_all("<tool_calls>[\n", CALL, ",\n", "\n]</tool_calls>"),
        record("function_json", NameAt::Payload, Distinct)
            .call(
                &["<function>", "<functions>", "<function_calls>", "<functioncall>"],
                &["</function>", "</functions>", "</function_call>", "</function_calls>", "</functioncall>"],
            )
            .aliases(&["function-tag"])
            .by("small instruct models under a prompt that asks for it")
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
        record("granite20b_fc", NameAt::Payload, Distinct)
            .kin("function_json")
            .call(&["<function_call>"], &["</function_call>", "</function>"])
            .by("Granite 20B for function calling")
            .trained("<|function_call_library|>\n{tools}\nTo call a function, write:\n{calls}\n")
            .lists(Definition::Function, "{tool}", "\n")
            .writes("<function_call> {\"name\": {json_name}, \"arguments\": {arguments}}", "\n")
            .result("tool", "<function_response> {content}"),
        record("granite", NameAt::Payload, Distinct)
            .aliases(&["sarashina"])
            .section(&["<|tool_call|>", "<|tool_calls|>"], &["<|/tool_call|>", "</tool_call>"])
            .by("Granite 3, Sarashina 2.2")
            .trained(
                "You are given functions that you may call. They are listed in JSON:\n<|available_tools|>[{tools}]\n\n\
                 If functions are needed, answer with <|tool_call|> and a JSON list of the calls:\n{calls}\n",
            )
            .lists(Definition::Function, "{tool}", ",\n")
            .writes_all("<|tool_call|>[", CALL, ", ", "]")
            .result("tool_response", "{content}"),
        record("gigachat3", NameAt::Payload, Distinct)
            .call(&["<|function_call|>", "function call<|role_sep|>"], &["<|message_sep|>"])
            .by("GigaChat 3")
            .example(r#"<|function_call|>{"name": "f", "arguments": {"a": "x"}}"#)
            .trained("function descriptions:\n{tools}\n\nA function is called like this:\n{calls}\n")
            .lists(Definition::TypeScript, "{tool}", "\n\n")
            .writes("function call<|role_sep|>\n{\"name\": {json_name}, \"arguments\": {arguments}}", "\n")
            .result("function result", "{content}"),
        record("llama3_json", NameAt::Payload, Distinct)
            .call(&["<|python_tag|>"], &["<|eom_id|>", "<|eot_id|>"])
            .by("Llama 3.1, 3.2 and 3.3")
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
        record("mistral_json", NameAt::Payload, Distinct)
            .section(&["[tool_calls]", "[tool_call]"], &["[/tool_calls]", "[/tool_call]"])
            .by("Mistral 7B 0.3, Mixtral, Nemo, Small 3.0 and 3.1, Large: tokenizers up to version 7")
            // The tools stand in front of the last user turn.
            .trained(
                "[AVAILABLE_TOOLS] [{tools}][/AVAILABLE_TOOLS]\nTo call tools, answer with [TOOL_CALLS] and a JSON \
                 list of the calls:\n{calls}\n",
            )
            .lists(Definition::Json, "{tool}", ", ")
            .writes_all("[TOOL_CALLS] [", CALL, ", ", "]")
            .result(
                "tool",
                "[TOOL_RESULTS] {\"name\": {json_name}, \"content\": {json_content}}[/TOOL_RESULTS]",
            ),
        record("phi4mini", NameAt::Payload, Weak)
            .aliases(&["firefunction"])
            .by("Phi 4 mini, FireFunction 2")
            .trained(
                "You can call one or more of the functions below. Call them only for what you do not know yourself. To \
                 do so, write the marker functools and behind it one JSON list of all calls, with arguments as their \
                 schema wants them:\n{calls}\n\n<|tool|>[{tools}]<|/tool|>\n",
            )
            .lists(Definition::Function, "{tool}", ", ")
            .writes_all("functools[", CALL, ", ", "]")
            .result("tool", "{\"result\": {json_content}}"),
        record("internlm2", NameAt::Payload, Distinct)
            .call(&["<|action_start|><|plugin|>", "<|action_start|>"], &["<|action_end|>"])
            .by("InternLM 2 and 2.5, Intern S1")
            .trained("Functions that you may call:\n[{tools}]\n\nA call is written like this:\n{calls}\n")
            .lists(Definition::Function, "{tool}", ", ")
            .writes(
                "<|action_start|><|plugin|>\n{\"name\": {json_name}, \"parameters\": {arguments}}<|action_end|>",
                "\n",
            )
            .result("environment", "{content}"),
        record("cohere", NameAt::Payload, Distinct)
            .section(&["<|start_action|>"], &["<|end_action|>"])
            .by("Command R7B, Command A")
            .trained(
                "## Available Tools\nThese are all the tools that you have, as JSON:\n\n```json\n[\n{tools}\n]\n```\n\n\
                 To use tools, write a JSON list of calls, those that are independent of each other together:\n\
                 {calls}\nThe results then follow between <|START_TOOL_RESULT|> and <|END_TOOL_RESULT|>, each with the \
                 tool_call_id of its call.\n",
            )
            .lists(Definition::Function, "    {tool}", ",\n")
            .writes_all(
                "<|START_ACTION|>[\n",
                "    {\"tool_call_id\": \"{index}\", \"tool_name\": {json_name}, \"parameters\": {arguments}}",
                ",\n",
                "\n]<|END_ACTION|>",
            )
            .result(
                "system",
                "    {\n        \"tool_call_id\": \"{index}\",\n        \"results\": {\n            \"0\": \
                 {json_content}\n        },\n        \"is_error\": null\n    }",
            )
            .results("<|START_TOOL_RESULT|>[\n", ",\n", "\n]<|END_TOOL_RESULT|>"),
        record("command_r_plus", NameAt::Payload, Weak)
            .call(&[], &["```"])
            .by("Command R and R+")
            .trained(
                "## Available Tools\nHere is a list of tools that you have available to you:\n\n```python\n{tools}\n\
                 ```\n\nWrite 'Action:' followed by a json-formatted list of actions that you want to perform:\n\
                 {calls}\n",
            )
            .lists(Definition::Python, "{tool}", "\n\n")
            .writes_all(
                "Action: ```json\n[\n",
                "    {\n        \"tool_name\": {json_name},\n        \"parameters\": {arguments}\n    }",
                ",\n",
                "\n]\n```",
            )
            .result("system", "{content}")
            .results("<results>\n", "\n\n", "\n</results>")
            .labelled(),
        record("apertus", NameAt::Key, Distinct)
            .section(&["<|tools_prefix|>"], &["<|tools_suffix|>"])
            .by("Apertus")
            .trained("Tool Capabilities:\n{tools}\n\nTools are called like this:\n{calls}\n")
            .lists(Definition::TypeScript, "{tool}", "\n")
            .writes_all("<|tools_prefix|>[", "{{json_name}: {arguments}}", ", ", "]<|tools_suffix|>")
            .result("tool", "{content}")
            .results("[", ", ", "]"),
        record("inkling", NameAt::Header, Distinct)
            .call(&["<|message_model|>", "<|content_invoke_tool_json|>"], &["<|end_message|>"])
            .by("Inkling")
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
