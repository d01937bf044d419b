//! Names in the markup, in front of JSON that is the arguments alone: `<function=f>{"a": "x"}</function>`.

use super::record;
use crate::dialect::Anchor::{Distinct, Weak};
use crate::dialect::{Dialect, NameAt};

pub(super) fn all() -> Vec<Dialect> {
    vec![
        record("name_line", NameAt::Opener, Weak)
            .by("small models, and any whose special tokens were taken out")
            .example("f\n{\"a\": \"x\"}"),
        record("toolname_tag", NameAt::Tag, Distinct)
            .call(&[], &["</function>"])
            .by("models that take the tool's name for the tag they were taught")
            .example(r#"<f>{"a": "x"}</function>"#),
        record("functionary_v31", NameAt::Opener, Distinct)
            .call(&["<function="], &["</function>"])
            .by("Functionary 3.1, Llama 3.1 with custom tools")
            .example(r#"<function=f>{"a": "x"}</function>"#),
        record("functionary_v32", NameAt::Header, Weak)
            .call(&[">>>"], &[">>>"])
            .by("Functionary 3.2")
            .example(">>>f\n{\"a\": \"x\"}"),
        record("mistral_v11", NameAt::Header, Distinct)
            .kin("mistral_json")
            .call(&["[tool_calls]"], &[])
            .by("Mistral Small 3.2, Magistral, Ministral 3, Devstral: tokenizers from version 11 on")
            .example(r#"[TOOL_CALLS]f[ARGS]{"a": "x"}"#),
        record("deepseek_v31", NameAt::Header, Distinct)
            .section(&["<|tool_calls_begin|>"], &["<|tool_calls_end|>"])
            .call(&["<|tool_call_begin|>"], &["<|tool_call_end|>"])
            .by("DeepSeek V3.1 and V3.2-Exp, Cogito")
            .example(
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": \"x\"}\
                 <｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            ),
        record("deepseek_v3", NameAt::Header, Distinct)
            .kin("deepseek_v31")
            .section(&["<|tool_calls_begin|>"], &["<|tool_calls_end|>"])
            .call(&["<|tool_call_begin|>"], &["<|tool_call_end|>"])
            .by("DeepSeek V3 and R1")
            .example(
                "<｜tool▁calls▁begin｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n\
                 {\"a\": \"x\"}\n```<｜tool▁call▁end｜>\n<｜tool▁calls▁end｜>",
            ),
        record("kimi_k2", NameAt::Header, Distinct)
            .section(
                &["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"],
                &["<|tool_calls_section_end|>"],
            )
            .call(&["<|tool_call_begin|>"], &["<|tool_call_end|>"])
            .by("Kimi K2, K2 Thinking, K2.5 and 2.6")
            .example(
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>\
                 {\"a\": \"x\"}<|tool_call_end|><|tool_calls_section_end|>",
            ),
        record("solar", NameAt::Header, Distinct)
            .section(&["<|tool_calls|>"], &[])
            .call(&["<|tool_call:begin|>", "<|tool_call:name|>"], &["<|tool_call:end|>"])
            .by("Solar Open")
            .example(
                "<|tool_calls|><|tool_call:begin|>0<|tool_call:name|>f<|tool_call:args|>{\"a\": \"x\"}\
                 <|tool_call:end|>",
            ),
        record("plamo3", NameAt::Header, Distinct)
            .section(&["<|plamo:begin_tool_requests:plamo|>"], &["<|plamo:end_tool_requests:plamo|>"])
            .call(
                &["<|plamo:begin_tool_request:plamo|>", "<|plamo:begin_tool_name:plamo|>"],
                &["<|plamo:end_tool_arguments:plamo|>", "<|plamo:end_tool_request:plamo|>"],
            )
            .by("PLaMo 3")
            .example(
                "<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|>\
                 <|plamo:begin_tool_name:plamo|>f<|plamo:end_tool_name:plamo|>\
                 <|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{\"a\": \"x\"}\
                 <|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>\
                 <|plamo:end_tool_requests:plamo|>",
            ),
        record("harmony", NameAt::Header, Distinct)
            .call(
                &[
                    "<|channel|>",
                    "<|start|>assistant",
                    "<|start|>assistant<|channel|>",
                    "<|start|> assistant",
                ],
                &["<|call|>", "<|end|>"],
            )
            .by("gpt-oss and its fine-tunes")
            .example(
                "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\": \"x\"}<|call|>",
            ),
        record("react", NameAt::Header, Weak)
            .call(&[], &["\nObservation:"])
            .by("agents' prompts: LangChain's, Qwen-Agent's, Spring AI's")
            .example("Action: f\nAction Input: {\"a\": \"x\"}"),
        record("call_dot_json", NameAt::Payload, Weak)
            .kin("pythonic")
            .by("gpt-oss without its tokens, and agents' notes of calls")
            .example(r#"functions.f({"a": "x"})"#),
    ]
}
