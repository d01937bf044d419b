//! Dialects in which the name stands outside of the arguments, which are JSON.

use super::builtin::{general, trained};
use super::{Definition, PromptFormat};

pub(super) fn speeches() -> Vec<(&'static str, PromptFormat)> {
    vec![
        (
            "solar",
            trained("<|tools:begin|>\n{tools}\n<|tools:end|>\n\nTools are called like this:\n{calls}\n")
                .listing(Definition::Function, "<|tool:begin|>{tool}<|tool:end|>", "\n")
                .section(
                    "<|tool_calls|>",
                    "<|tool_call:begin|>{index}<|tool_call:name|>{name}<|tool_call:args|>{arguments}<|tool_call:end|>",
                    "",
                    "",
                )
                .result(
                    "tool",
                    "<|tool_response:begin|>{index}<|tool_response:name|>{name}<|tool_response:result|>{content}\
                     <|tool_response:end|>",
                ),
        ),
        (
            "mistral_v11",
            trained("[AVAILABLE_TOOLS][{tools}][/AVAILABLE_TOOLS]\nTo call a tool, answer like this:\n{calls}\n")
                .listing(Definition::Json, "{tool}", ", ")
                .call("[TOOL_CALLS]{name}[ARGS]{arguments}", "")
                .result("tool", "[TOOL_RESULTS]{content}[/TOOL_RESULTS]"),
        ),
        (
            "deepseek_v3",
            trained(
                "# Tools\n\nYou may call functions for the user. Their definitions stand within <tools></tools> \
                 tags:\n<tools>\n{tools}\n</tools>\n\nCalls are written like this, each between its own marks and all of \
                 them between those of the whole:\n{calls}\n",
            )
            .section(
                "<｜tool▁calls▁begin｜>",
                "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```<｜tool▁call▁end｜>",
                "\n",
                "<｜tool▁calls▁end｜>",
            )
            .result("tool", "<｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜>")
            .results("<｜tool▁outputs▁begin｜>", "\n", "<｜tool▁outputs▁end｜>"),
        ),
        (
            "deepseek_v31",
            trained(
                "## Tools\nYou have access to these tools:\n\n{tools}\n\nKeep exactly to this form, with the name of one \
                 of the tools and arguments that follow its schema; several calls stand side by side:\n{calls}\n",
            )
            .listing(Definition::Function, "{tool}", "\n\n")
            .section(
                "<｜tool▁calls▁begin｜>",
                "<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>",
                "",
                "<｜tool▁calls▁end｜>",
            )
            .result("tool", "<｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜>")
            .results("", "", ""),
        ),
        // The tools stand in a turn `tool_declare` of their own; a result says which call it is of.
        (
            "kimi_k2",
            trained("tool_declare:\n[{tools}]\n\nTools are called like this:\n{calls}\n")
                .listing(Definition::Json, "{tool}", ",")
                .section(
                    "<|tool_calls_section_begin|>",
                    "<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>{arguments}\
                     <|tool_call_end|>",
                    "",
                    "<|tool_calls_section_end|>",
                )
                .result("tool", "## Return of functions.{name}:{index}\n{content}"),
        ),
        (
            "functionary_v31",
            trained(
                "Environment: ipython\n\nThese functions can be called:\n\n{tools}\n\nA call has its function in the \
                 opening tag, JSON arguments, and all of it on one line:\n{calls}\n",
            )
            .listing(Definition::Function, "{tool}", "\n\n")
            .call("<function={name}>{arguments}</function>", "\n")
            .result("ipython", "{content}"),
        ),
        (
            "functionary_v32",
            trained(
                "You are capable of executing available functions, and answer in this form, where the recipient is `all` \
                 or a function, and the content is text or JSON arguments:\n>>>${recipient}\n${content}\n\nFor \
                 example:\n{calls}\n\nAvailable functions:\n// Supported function definitions\nnamespace functions \
                 {\n\n{tools}\n\n} // namespace functions\n",
            )
            .listing(Definition::TypeScript, "{tool}", "\n\n")
            .call(">>>{name}\n{arguments}", "\n")
            .result("tool", "{content}"),
        ),
        // The tools stand in the developer turn. The turn in which a call stands is the server's to begin and to end.
        (
            "harmony",
            trained(
                "# Tools\n\n## functions\n\nnamespace functions {\n\n{tools}\n\n} // namespace functions\n\nCalls of these \
                 functions go to the commentary channel:\n{calls}\n",
            )
            .listing(Definition::TypeScript, "{tool}", "\n\n")
            .call(
                "<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>",
                "<|start|>assistant",
            )
            .result("tool", "functions.{name} to=assistant: {json_content}"),
        ),
        (
            "plamo3",
            general().section(
                "<|plamo:begin_tool_requests:plamo|>",
                "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{name}<|plamo:end_tool_name:plamo|>\
                 <|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{arguments}\
                 <|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
                "",
                "<|plamo:end_tool_requests:plamo|>",
            ),
        ),
        (
            "react",
            PromptFormat { trained: false, ..trained(
                "Answer the user as well as you can. You can use these tools:\n\n{tools}\n\nTo use one, write its name and \
                 its input as JSON, and stop:\n{calls}\nIts result comes back as an Observation. Where no tool is needed \
                 any more, write:\nFinal Answer: the answer to the user\n",
            ) }
            .listing(Definition::Signature, "{tool}", "\n\n")
            .call("Action: {name}\nAction Input: {arguments}", "\n")
            .result("user", "Observation: {content}"),
        ),
    ]
}
