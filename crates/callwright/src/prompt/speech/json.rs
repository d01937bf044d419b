//! Dialects in which a call is one JSON value with the name in it.

use super::builtin::{general, trained};
use super::{Definition, PromptFormat};

/// `{"name": "f", "arguments": {…}}`
const CALL: &str = "{\"name\": {json_name}, \"arguments\": {arguments}}";

pub(super) fn speeches() -> Vec<(&'static str, PromptFormat)> {
    vec![
        (
            "hermes",
            trained(
                "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with \
                 function signatures within <tools></tools> XML tags:\n<tools>\n{tools}\n</tools>\n\nFor each function \
                 call, return a json object with function name and arguments within <tool_call></tool_call> XML \
                 tags:\n{calls}\n",
            )
            .call("<tool_call>\n{\"name\": {json_name}, \"arguments\": {arguments}}\n</tool_call>", "\n")
            .result("user", "<tool_response>\n{content}\n</tool_response>"),
        ),
        // The tools stand in a section of their own at the end of the system turn.
        (
            "longcat",
            general()
                .call("<longcat_tool_call>\n{\"name\": {json_name}, \"arguments\": {arguments}}\n</longcat_tool_call>", "\n"),
        ),
        (
            "lm_studio",
            general().call(
                "[TOOL_REQUEST]{\"name\": {json_name}, \"arguments\": {arguments}}[END_TOOL_REQUEST]",
                "\n",
            ),
        ),
        ("hyperclova_x", general().section("-> tool/function_call\n[", CALL, ", ", "]")),
        ("openpangu", general().section("[unused11][", CALL, ", ", "][unused12]")),
        (
            "nemotron_deci",
            trained(
                "You can use these tools where they help the user:\n<AVAILABLE_TOOLS>[{tools}]</AVAILABLE_TOOLS>\n\nA \
                 call of one or more tools has this form:\n{calls}\n\nThe results come back in this form:\n\
                 <TOOL_RESPONSE>[{\"result of the first call\"}, {\"result of the second\"}]</TOOL_RESPONSE>\n\nGo by the \
                 results: call more tools, correct a call that failed, or answer the user.\n",
            )
            .listing(Definition::Function, "{tool}", ", ")
            .section("<TOOLCALL>[", CALL, ", ", "]</TOOLCALL>")
            .result("user", "{content}")
            .results("<TOOL_RESPONSE>[", ", ", "]</TOOL_RESPONSE>"),
        ),
        (
            "function_json",
            PromptFormat { trained: false, ..trained(
                "To use a tool, you MUST respond with this EXACT format:\n\
                 <function>{\"name\": \"tool_name\", \"parameters\": {...}}</function>\n\
                 \n\
                 CRITICAL FORMAT RULES:\n\
                 - Opening tag MUST be: <function> (not <tool_name>)\n\
                 - Closing tag MUST be: </function> (not </tool_name>)\n\
                 \n\
                 CORRECT examples:\n\
                 {calls}\n\
                 \n\
                 INCORRECT examples (DO NOT USE):\n\
                 <{name}>{...}</function>  ❌ Wrong opening tag!\n\
                 \n\
                 The following tools are available:\n\
                 {tools}\n",
            ) }
            .listing(Definition::Function, "{tool}", "\n")
            .call("<function>{\"name\": {json_name}, \"parameters\": {arguments}}</function>", "\n")
            .result("user", "<function_result>\n{content}\n</function_result>")
            .labelled(),
        ),
        ("jamba", general().section("<tool_calls>[\n", CALL, ",\n", "\n]</tool_calls>")),
        (
            "granite",
            trained(
                "You are given functions that you may call. They are listed in JSON:\n<|available_tools|>[{tools}]\n\nIf \
                 functions are needed, answer with <|tool_call|> and a JSON list of the calls:\n{calls}\n",
            )
            .listing(Definition::Function, "{tool}", ",\n")
            .section("<|tool_call|>[", CALL, ", ", "]")
            .result("tool_response", "{content}"),
        ),
        (
            "granite20b_fc",
            trained(
                "<|function_call_library|>\n{tools}\nTo call a function, write:\n{calls}\n",
            )
            .listing(Definition::Function, "{tool}", "\n")
            .call("<function_call> {\"name\": {json_name}, \"arguments\": {arguments}}", "\n")
            .result("tool", "<function_response> {content}"),
        ),
        // The tools stand in front of the last user turn.
        (
            "mistral_json",
            trained(
                "[AVAILABLE_TOOLS] [{tools}][/AVAILABLE_TOOLS]\nTo call tools, answer with [TOOL_CALLS] and a JSON list of \
                 the calls:\n{calls}\n",
            )
            .listing(Definition::Json, "{tool}", ", ")
            .section("[TOOL_CALLS] [", CALL, ", ", "]")
            .result("tool", "[TOOL_RESULTS] {\"name\": {json_name}, \"content\": {json_content}}[/TOOL_RESULTS]"),
        ),
        // One call at a time is what the models know. The token in front of it is for the built-in tools; behind it the
        // JSON is read in any case, without it only where it stands alone.
        (
            "llama3_json",
            trained(
                "Environment: ipython\n\nYou have these functions. To call one, answer with JSON alone, of the form \
                 {\"name\": function name, \"parameters\": dictionary of argument name and its value}, without \
                 variables:\n{calls}\n\n{tools}\n",
            )
            .listing(Definition::Indented, "{tool}", "\n\n")
            .call("<|python_tag|>{\"name\": {json_name}, \"parameters\": {arguments}}", "; ")
            .result("ipython", "{\"output\": {json_content}}"),
        ),
        (
            "phi4mini",
            trained(
                "You can call one or more of the functions below. Call them only for what you do not know yourself. To do \
                 so, write the marker functools and behind it one JSON list of all calls, with arguments as their schema \
                 wants them:\n{calls}\n\n<|tool|>[{tools}]<|/tool|>\n",
            )
            .listing(Definition::Function, "{tool}", ", ")
            .section("functools[", CALL, ", ", "]")
            .result("tool", "{\"result\": {json_content}}"),
        ),
        (
            "internlm2",
            trained("Functions that you may call:\n[{tools}]\n\nA call is written like this:\n{calls}\n")
                .listing(Definition::Function, "{tool}", ", ")
                .call(
                    "<|action_start|><|plugin|>\n{\"name\": {json_name}, \"parameters\": {arguments}}<|action_end|>",
                    "\n",
                )
                .result("environment", "{content}"),
        ),
        (
            "cohere",
            trained(
                "## Available Tools\nThese are all the tools that you have, as JSON:\n\n```json\n[\n{tools}\n]\n```\n\n\
                 To use tools, write a JSON list of calls, those that are independent of each other \
                 together:\n{calls}\nThe results then follow between <|START_TOOL_RESULT|> and <|END_TOOL_RESULT|>, each \
                 with the tool_call_id of its call.\n",
            )
            .listing(Definition::Function, "    {tool}", ",\n")
            .section(
                "<|START_ACTION|>[\n",
                "    {\"tool_call_id\": \"{index}\", \"tool_name\": {json_name}, \"parameters\": {arguments}}",
                ",\n",
                "\n]<|END_ACTION|>",
            )
            .result(
                "system",
                "    {\n        \"tool_call_id\": \"{index}\",\n        \"results\": {\n            \"0\": {json_content}\n        \
                 },\n        \"is_error\": null\n    }",
            )
            .results("<|START_TOOL_RESULT|>[\n", ",\n", "\n]<|END_TOOL_RESULT|>"),
        ),
        (
            "command_r_plus",
            trained(
                "## Available Tools\nHere is a list of tools that you have available to you:\n\n```python\n{tools}\n```\n\n\
                 Write 'Action:' followed by a json-formatted list of actions that you want to perform:\n{calls}\n",
            )
            .listing(Definition::Python, "{tool}", "\n\n")
            .section(
                "Action: ```json\n[\n",
                "    {\n        \"tool_name\": {json_name},\n        \"parameters\": {arguments}\n    }",
                ",\n",
                "\n]\n```",
            )
            .result("system", "{content}")
            .results("<results>\n", "\n\n", "\n</results>")
            .labelled(),
        ),
        (
            "gigachat3",
            trained("function descriptions:\n{tools}\n\nA function is called like this:\n{calls}\n")
                .listing(Definition::TypeScript, "{tool}", "\n\n")
                .call("function call<|role_sep|>\n{\"name\": {json_name}, \"arguments\": {arguments}}", "\n")
                .result("function result", "{content}"),
        ),
        (
            "inkling",
            trained("tool_declare:\n[{tools}]\n\nA tool is called like this:\n{calls}\n")
                .listing(Definition::Function, "{tool}", ",")
                .call(
                    "<|message_model|>{name}<|content_invoke_tool_json|>{\"name\": {json_name}, \"args\": \
                     {arguments}}<|end_message|>",
                    "",
                )
                .result("tool", "{content}"),
        ),
        (
            "apertus",
            trained("Tool Capabilities:\n{tools}\n\nTools are called like this:\n{calls}\n")
                .listing(Definition::TypeScript, "{tool}", "\n")
                .section("<|tools_prefix|>[", "{{json_name}: {arguments}}", ", ", "]<|tools_suffix|>")
                .result("tool", "{content}")
                .results("[", ", ", "]"),
        ),
        ("json_fence", general().call("```json\n{\"name\": {json_name}, \"arguments\": {arguments}}\n```", "\n")),
        // YAML takes JSON for a value.
        ("yaml_fence", general().call("```yaml\ntool: {json_name}\narguments: {arguments}\n```", "\n")),
        (
            "xml_names",
            general().call(
                "<invoke>\n<tool_name>{name}</tool_name>\n<parameters>{arguments}</parameters>\n</invoke>",
                "\n",
            ),
        ),
        // The form is what counts with small models, so it stands last; and they do better with words than with schemas.
        (
            "json_bare",
            PromptFormat { trained: false, ..trained(
                "You can call these tools:\n\n{tools}\n\n{otherwise}To call a tool, answer with JSON only, with values \
                 from the conversation.{several}\n{calls}\n",
            ) }
            .listing(Definition::Signature, "{tool}", "\n\n")
            .section("{\"tool_calls\": [", CALL, ", ", "]}"),
        ),
        ("name_line", general().call("{name}\n{arguments}", "\n")),
        // Nobody is trained to it; it is what models fall into.
        ("toolname_tag", general().call("<{name}>{arguments}</{name}>", "\n")),
        ("call_dot_json", general().call("functions.{name}({arguments})", "\n")),
    ]
}
