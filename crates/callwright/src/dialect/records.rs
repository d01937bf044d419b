//! The records themselves.

use super::{Anchor, NameAt, Record};

/// All dialects. Those without an opener are found by the look of their payload.
pub(crate) const ALL: &[Record] = &[
    Record { name: "json_bare", open: &[], close: &[], name_at: NameAt::Payload, anchor: Anchor::Weak },
    Record { name: "json_fence", open: &[], close: &["```"], name_at: NameAt::Payload, anchor: Anchor::Weak },
    Record { name: "pythonic", open: &[], close: &[], name_at: NameAt::Payload, anchor: Anchor::Weak },
    Record { name: "tool_code", open: &[], close: &["```"], name_at: NameAt::Payload, anchor: Anchor::Weak },
    // `get_weather⏎{"city": "Paris"}`
    Record { name: "name_line", open: &[], close: &[], name_at: NameAt::Opener, anchor: Anchor::Weak },
    Record {
        name: "toolname_tag",
        open: &[],
        close: &["</function>"],
        name_at: NameAt::Tag,
        anchor: Anchor::Distinct,
    },
    Record {
        name: "hermes",
        open: &[
            "<tool_call>",
            "<tool_calls>",
            "<tool-call>",
            "<toolcall>",
            "<tool_code>",
            "<tools>",
            "<tool>",
        ],
        close: &[
            "</tool_call>",
            "</tool_calls>",
            "</tool-call>",
            "</toolcall>",
            "</tool_code>",
            "</tools>",
            "</tool>",
        ],
        name_at: NameAt::Payload,
        anchor: Anchor::Distinct,
    },
    Record {
        name: "function_json",
        open: &["<function>", "<functions>", "<function_call>", "<function_calls>", "<functioncall>"],
        close: &["</function>", "</functions>", "</function_call>", "</function_calls>", "</functioncall>"],
        name_at: NameAt::Payload,
        anchor: Anchor::Distinct,
    },
    Record {
        name: "functionary_v31",
        open: &["<function="],
        close: &["</function>"],
        name_at: NameAt::Opener,
        anchor: Anchor::Distinct,
    },
    Record {
        name: "granite",
        open: &["<|tool_call|>", "<|tool_calls|>", "<|function_call|>"],
        close: &[],
        name_at: NameAt::Payload,
        anchor: Anchor::Distinct,
    },
    Record {
        name: "llama3_json",
        open: &["<|python_tag|>"],
        close: &["<|eom_id|>", "<|eot_id|>"],
        name_at: NameAt::Payload,
        anchor: Anchor::Distinct,
    },
    Record {
        name: "mistral_json",
        open: &["[tool_calls]"],
        close: &[],
        name_at: NameAt::Payload,
        anchor: Anchor::Distinct,
    },
    Record {
        name: "phi4mini",
        open: &["functools"],
        close: &[],
        name_at: NameAt::Payload,
        anchor: Anchor::Weak,
    },
];

/// What opens and closes a reasoning block.
pub(crate) const REASONING: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("[think]", "[/think]"),
];

/// What begins a turn that is not the model's own, or a result that it cannot know. After a call, at the
/// start of a line, the answer ends there.
pub(crate) const TURNS: &[&str] = &[
    "user:",
    "human:",
    "question:",
    "observation:",
    "### instruction",
    "### question",
    "### user",
    "### human",
    "### input",
    "<|im_start|>",
    "<|user|>",
    "<|start_header_id|>",
    "<tool_response>",
    "<tool_output>",
    "```tool_output",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "def test_",
    "assert ",
    "\"\"\"",
];
