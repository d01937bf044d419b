//! Names in the markup, in front of JSON that is the arguments alone: `<function=f>{"a": "x"}</function>`.

use super::record;
use crate::dialect::Anchor::{Distinct, Weak};
use crate::dialect::Dialect;
use crate::dialect::NameAt::{Header, Opener, Payload, Tag};
use crate::prompt::speech::Definition;

pub(super) fn all() -> Vec<Dialect> {
    vec![
        record("name_line", Opener, Weak, "small models, and any whose special tokens were taken out")
            .writes("{name}\n{arguments}", "\n"),
        record("toolname_tag", Tag, Distinct, "models that take the tool's name for the tag they were taught")
            .call(&[], &["</function>"])
            .example(r#"<f>{"a": "x"}</function>"#)
            // Nobody is trained to it; it is what models fall into.
            .writes("<{name}>{arguments}</{name}>", "\n"),
        record("functionary_v31", Opener, Distinct, "Functionary 3.1, Llama 3.1 with custom tools")
            .call(&["<function="], &["</function>"])
            .trained(
                "Environment: ipython\n\nThese functions can be called:\n\n{tools}\n\nA call has its function in the \
                 opening tag, JSON arguments, and all of it on one line:\n{calls}\n",
            )
            .lists(Definition::Function, "{tool}", "\n\n")
            .writes("<function={name}>{arguments}</function>", "\n")
            .result("ipython", "{content}"),
        record("functionary_v32", Header, Weak, "Functionary 3.2")
            .call(&[">>>"], &[">>>"])
            .trained(
                "You are capable of executing available functions, and answer in this form, where the recipient is \
                 `all` or a function, and the content is text or JSON arguments:\n>>>${recipient}\n${content}\n\nFor \
                 example:\n{calls}\n\nAvailable functions:\n// Supported function definitions\nnamespace functions \
                 {\n\n{tools}\n\n} // namespace functions\n",
            )
            .lists(Definition::TypeScript, "{tool}", "\n\n")
            .writes(">>>{name}\n{arguments}", "\n")
            .result("tool", "{content}"),
        record(
            "mistral_v11",
            Header,
            Distinct,
            "Mistral Small 3.2, Magistral, Ministral 3, Devstral: tokenizers from version 11 on",
        )
        .kin("mistral_json")
        .call(&["[tool_calls]"], &[])
        .trained(
            "[AVAILABLE_TOOLS][{tools}][/AVAILABLE_TOOLS]\nTo call a tool, answer like this:\n{calls}\n",
        )
        .lists(Definition::Json, "{tool}", ", ")
        .writes("[TOOL_CALLS]{name}[ARGS]{arguments}", "")
        .result("tool", "[TOOL_RESULTS]{content}[/TOOL_RESULTS]"),
        record("deepseek_v31", Header, Distinct, "DeepSeek V3.1 and V3.2-Exp, Cogito")
            .section(&["<|tool_calls_begin|>"], &["<|tool_calls_end|>"])
            .call(&["<|tool_call_begin|>"], &["<|tool_call_end|>"])
            .trained(
                "## Tools\nYou have access to these tools:\n\n{tools}\n\nKeep exactly to this form, with the name of \
                 one of the tools and arguments that follow its schema; several calls stand side by side:\n{calls}\n",
            )
            .lists(Definition::Function, "{tool}", "\n\n")
            .writes("<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>", "")
            .within("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")
            .result("tool", "<｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜>")
            .results("", "", ""),
        record("deepseek_v3", Header, Distinct, "DeepSeek V3 and R1")
            .kin("deepseek_v31")
            .section(&["<|tool_calls_begin|>"], &["<|tool_calls_end|>"])
            .call(&["<|tool_call_begin|>"], &["<|tool_call_end|>"])
            .trained(
                "# Tools\n\nYou may call functions for the user. Their definitions stand within <tools></tools> tags:\n\
                 <tools>\n{tools}\n</tools>\n\nCalls are written like this, each between its own marks and all of them \
                 between those of the whole:\n{calls}\n",
            )
            .writes("<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```<｜tool▁call▁end｜>", "\n")
            .within("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")
            .result("tool", "<｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜>")
            .results("<｜tool▁outputs▁begin｜>", "\n", "<｜tool▁outputs▁end｜>"),
        record("kimi_k2", Header, Distinct, "Kimi K2, K2 Thinking, K2.5 and 2.6")
            .section(
                &["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"],
                &["<|tool_calls_section_end|>"],
            )
            .call(&["<|tool_call_begin|>"], &["<|tool_call_end|>"])
            // The tools stand in a turn `tool_declare` of their own; a result says which call it is of.
            .trained("tool_declare:\n[{tools}]\n\nTools are called like this:\n{calls}\n")
            .lists(Definition::Json, "{tool}", ",")
            .writes(
                "<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>{arguments}\
                 <|tool_call_end|>",
                "",
            )
            .within("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>")
            .result("tool", "## Return of functions.{name}:{index}\n{content}"),
        record("solar", Header, Distinct, "Solar Open")
            .section(&["<|tool_calls|>"], &[])
            .call(&["<|tool_call:begin|>", "<|tool_call:name|>"], &["<|tool_call:end|>"])
            .trained("<|tools:begin|>\n{tools}\n<|tools:end|>\n\nTools are called like this:\n{calls}\n")
            .lists(Definition::Function, "<|tool:begin|>{tool}<|tool:end|>", "\n")
            .writes(
                "<|tool_call:begin|>{index}<|tool_call:name|>{name}<|tool_call:args|>{arguments}<|tool_call:end|>",
                "",
            )
            .within("<|tool_calls|>", "")
            .result(
                "tool",
                "<|tool_response:begin|>{index}<|tool_response:name|>{name}<|tool_response:result|>{content}\
                 <|tool_response:end|>",
            ),
        record("plamo3", Header, Distinct, "PLaMo 3")
            .section(&["<|plamo:begin_tool_requests:plamo|>"], &["<|plamo:end_tool_requests:plamo|>"])
            .call(
                &["<|plamo:begin_tool_request:plamo|>", "<|plamo:begin_tool_name:plamo|>"],
                &["<|plamo:end_tool_arguments:plamo|>", "<|plamo:end_tool_request:plamo|>"],
            )
            .writes(
                "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{name}<|plamo:end_tool_name:plamo|>\
                 <|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{arguments}\
                 <|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
                "",
            )
            .within("<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>"),
        record("harmony", Header, Distinct, "gpt-oss and its fine-tunes")
            .call(
                &[
                    "<|channel|>",
                    "<|start|>assistant",
                    "<|start|>assistant<|channel|>",
                    "<|start|> assistant",
                ],
                &["<|call|>", "<|end|>"],
            )
            // The tools stand in the developer turn. The turn in which a call stands is the server's to begin and to end.
            .trained(
                "# Tools\n\n## functions\n\nnamespace functions {\n\n{tools}\n\n} // namespace functions\n\nCalls of \
                 these functions go to the commentary channel:\n{calls}\n",
            )
            .lists(Definition::TypeScript, "{tool}", "\n\n")
            .writes(
                "<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>",
                "<|start|>assistant",
            )
            .result("tool", "functions.{name} to=assistant: {json_content}"),
        record("react", Header, Weak, "agents' prompts: LangChain's, Qwen-Agent's, Spring AI's")
            .call(&[], &["\nObservation:"])
            .taught(
                "Answer the user as well as you can. You can use these tools:\n\n{tools}\n\nTo use one, write its name \
                 and its input as JSON, and stop:\n{calls}\nIts result comes back as an Observation. Where no tool is \
                 needed any more, write:\nFinal Answer: the answer to the user\n",
            )
            .lists(Definition::Signature, "{tool}", "\n\n")
            .writes("Action: {name}\nAction Input: {arguments}", "\n")
            .result("user", "Observation: {content}"),
        record("call_dot_json", Payload, Weak, "gpt-oss without its tokens, and agents' notes of calls")
            .kin("pythonic")
            .writes("functions.{name}({arguments})", "\n"),
    ]
}
