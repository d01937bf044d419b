//! Call expressions, and objects whose strings have marks of their own.

use super::record;
use crate::dialect::Anchor::{Distinct, Weak};
use crate::dialect::{Dialect, NameAt};

pub(super) fn all() -> Vec<Dialect> {
    vec![
        record("pythonic", NameAt::Payload, Weak)
            .calls()
            .by("small Llama 3.2 models, ToolACE, and any that was asked for Python")
            .example("[f(a='x')]"),
        record("llama4_pythonic", NameAt::Payload, Distinct)
            .kin("pythonic")
            .section(&["<|python_start|>"], &["<|python_end|>"])
            .calls()
            .by("Llama 4")
            .example("<|python_start|>[f(a='x')]<|python_end|>"),
        record("lfm2", NameAt::Payload, Distinct)
            .section(&["<|tool_call_start|>"], &["<|tool_call_end|>"])
            .calls()
            .by("LFM 2 and 2.5")
            .example("<|tool_call_start|>[f(a='x')]<|tool_call_end|>"),
        record("olmo3", NameAt::Payload, Distinct)
            .kin("function_json")
            .section(&["<function_calls>"], &["</function_calls>"])
            .calls()
            .by("OLMo 3")
            .example("<function_calls>f(a='x')</function_calls>"),
        record("tool_code", NameAt::Payload, Weak)
            .call(&[], &["```"])
            .calls()
            .by("Gemma 2 and 3 under a prompt, and what leaks from Gemini")
            .example("```tool_code\nf(a='x')\n```"),
        record("llama_builtin", NameAt::Payload, Distinct)
            .kin("llama3_json")
            .call(&["<|python_tag|>"], &["<|eom_id|>", "<|eot_id|>"])
            .calls()
            .by("Llama 3.1 with the tools that it was trained on")
            .example("<|python_tag|>f.call(a='x')"),
        record("gemma4", NameAt::Header, Distinct)
            .call(&["<|tool_call>"], &["<tool_call|>"])
            .relaxed("<|\"|>")
            .by("Gemma 4")
            .example("<|tool_call>call:f{a:<|\"|>x<|\"|>}<tool_call|>"),
        record("functiongemma", NameAt::Header, Distinct)
            .call(&["<start_function_call>"], &["<end_function_call>"])
            .relaxed("<escape>")
            .by("FunctionGemma")
            .example("<start_function_call>call:f{a:<escape>x<escape>}<end_function_call>"),
    ]
}
