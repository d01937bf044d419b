//! Calls as JSON values that hold the name: `{"name": "f", "arguments": {"a": "x"}}`.

use super::record;
use crate::dialect::Anchor::{Distinct, Weak};
use crate::dialect::{Dialect, NameAt};

pub(super) fn all() -> Vec<Dialect> {
    vec![
        record("json_bare", NameAt::Payload, Weak)
            .aliases(&["json"])
            .by("any instruct model that was asked for JSON")
            .example(r#"{"name": "f", "arguments": {"a": "x"}}"#),
        record("json_fence", NameAt::Payload, Weak)
            .call(&[], &["```"])
            .by("any instruct model that was asked for JSON, in Markdown")
            .example("```json\n{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}\n```"),
        record("yaml_fence", NameAt::Payload, Weak)
            .call(&[], &["```"])
            .by("instruct models that were asked for YAML")
            .example("```yaml\ntool: f\narguments:\n  a: x\n```"),
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
            .by("Hermes 2 and 3, the dense Qwen 2.5 and 3, QwQ, SmolLM 3, Granite 4, xLAM, and most fine-tunes")
            .example("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}\n</tool_call>"),
        record("lm_studio", NameAt::Payload, Distinct)
            .call(&["[tool_request]"], &["[end_tool_request]"])
            .by("models without a format of their own, under LM Studio's prompt")
            .example(r#"[TOOL_REQUEST]{"name": "f", "arguments": {"a": "x"}}[END_TOOL_REQUEST]"#),
        record("hyperclova_x", NameAt::Payload, Distinct)
            .section(&["-> tool/function_call"], &["<|stop|>", "<|endofturn|>"])
            .by("HyperCLOVA X SEED")
            .example("-> tool/function_call\n[{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}]"),
        record("openpangu", NameAt::Payload, Distinct)
            .section(&["[unused11]"], &["[unused12]"])
            .by("openPangu")
            .example(r#"[unused11][{"name": "f", "arguments": {"a": "x"}}][unused12]"#),
        record("longcat", NameAt::Payload, Distinct)
            .call(&["<longcat_tool_call>"], &["</longcat_tool_call>"])
            .by("LongCat Flash")
            .example(r#"<longcat_tool_call>{"name": "f", "arguments": {"a": "x"}}</longcat_tool_call>"#),
        record("nemotron_deci", NameAt::Payload, Distinct)
            .section(&["<toolcall>"], &["</toolcall>", "</tool_call>"])
            .by("Llama Nemotron Super and Ultra, Nemotron Nano 2")
            .example(r#"<TOOLCALL>[{"name": "f", "arguments": {"a": "x"}}]</TOOLCALL>"#),
        record("jamba", NameAt::Payload, Distinct)
            .aliases(&["hunyuan_a13b"])
            .section(&["<tool_calls>"], &["</tool_calls>", "</tool_call>"])
            .by("Jamba, Hunyuan A13B")
            .example(r#"<tool_calls>[{"name": "f", "arguments": {"a": "x"}}]</tool_calls>"#),
        record("function_json", NameAt::Payload, Distinct)
            .call(
                &["<function>", "<functions>", "<function_calls>", "<functioncall>"],
                &["</function>", "</functions>", "</function_call>", "</function_calls>", "</functioncall>"],
            )
            .aliases(&["function-tag"])
            .by("small instruct models under a prompt that asks for it")
            .example(r#"<function>{"name": "f", "parameters": {"a": "x"}}</function>"#),
        record("granite20b_fc", NameAt::Payload, Distinct)
            .kin("function_json")
            .call(&["<function_call>"], &["</function_call>", "</function>"])
            .by("Granite 20B for function calling")
            .example(r#"<function_call> {"name": "f", "arguments": {"a": "x"}}"#),
        record("granite", NameAt::Payload, Distinct)
            .aliases(&["sarashina"])
            .section(&["<|tool_call|>", "<|tool_calls|>"], &["<|/tool_call|>", "</tool_call>"])
            .by("Granite 3, Sarashina 2.2")
            .example(r#"<|tool_call|>[{"name": "f", "arguments": {"a": "x"}}]"#),
        record("gigachat3", NameAt::Payload, Distinct)
            .call(&["<|function_call|>", "function call<|role_sep|>"], &["<|message_sep|>"])
            .by("GigaChat 3")
            .example(r#"<|function_call|>{"name": "f", "arguments": {"a": "x"}}"#),
        record("llama3_json", NameAt::Payload, Distinct)
            .call(&["<|python_tag|>"], &["<|eom_id|>", "<|eot_id|>"])
            .by("Llama 3.1, 3.2 and 3.3")
            .example(r#"<|python_tag|>{"name": "f", "parameters": {"a": "x"}}"#),
        record("mistral_json", NameAt::Payload, Distinct)
            .section(&["[tool_calls]", "[tool_call]"], &["[/tool_calls]", "[/tool_call]"])
            .by("Mistral 7B 0.3, Mixtral, Nemo, Small 3.0 and 3.1, Large: tokenizers up to version 7")
            .example(r#"[TOOL_CALLS] [{"name": "f", "arguments": {"a": "x"}}]"#),
        record("phi4mini", NameAt::Payload, Weak)
            .aliases(&["firefunction"])
            .by("Phi 4 mini, FireFunction 2")
            .example(r#"functools[{"name": "f", "arguments": {"a": "x"}}]"#),
        record("internlm2", NameAt::Payload, Distinct)
            .call(&["<|action_start|><|plugin|>", "<|action_start|>"], &["<|action_end|>"])
            .by("InternLM 2 and 2.5, Intern S1")
            .example(
                "<|action_start|><|plugin|>\n{\"name\": \"f\", \"parameters\": {\"a\": \"x\"}}<|action_end|>",
            ),
        record("cohere", NameAt::Payload, Distinct)
            .section(&["<|start_action|>"], &["<|end_action|>"])
            .by("Command R7B, Command A")
            .example(concat!(
                r#"<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": "x"}}]"#,
                "<|END_ACTION|>"
            )),
        record("command_r_plus", NameAt::Payload, Weak)
            .call(&[], &["```"])
            .by("Command R and R+")
            .example("Action: ```json\n[{\"tool_name\": \"f\", \"parameters\": {\"a\": \"x\"}}]\n```"),
        record("apertus", NameAt::Key, Distinct)
            .section(&["<|tools_prefix|>"], &["<|tools_suffix|>"])
            .by("Apertus")
            .example(r#"<|tools_prefix|>[{"f": {"a": "x"}}]<|tools_suffix|>"#),
        record("inkling", NameAt::Header, Distinct)
            .call(&["<|message_model|>", "<|content_invoke_tool_json|>"], &["<|end_message|>"])
            .by("Inkling")
            .example(concat!(
                r#"<|message_model|>f<|content_invoke_tool_json|>{"name": "f", "args": {"a": "x"}}"#,
                "<|end_message|>"
            )),
    ]
}
