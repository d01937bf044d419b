//! The records themselves.

use super::{
    Anchor::{Distinct, Weak},
    Grammar, NameAt, Record,
};

/// Tags in which a line break at each end of a value is markup, and tags in which it is not.
const TAGS: Grammar = Grammar::Tags { trim: true };
const EXACT_TAGS: Grammar = Grammar::Tags { trim: false };

/// All dialects. Those without an opener are found by the look of their payload.
pub(crate) const ALL: &[Record] = &[
    Record::new("json_bare", NameAt::Payload, Weak),
    Record::new("json_fence", NameAt::Payload, Weak).close(&["```"]),
    Record::new("pythonic", NameAt::Payload, Weak),
    Record::new("tool_code", NameAt::Payload, Weak).close(&["```"]),
    // `get_weather⏎{"city": "Paris"}`
    Record::new("name_line", NameAt::Opener, Weak),
    // `<f>{"a": 1}</function>`
    Record::new("toolname_tag", NameAt::Tag, Distinct).close(&["</function>"]),
    // `<f><a>1</a></f>`
    Record::new("morph_xml", NameAt::Tag, Distinct).grammar(EXACT_TAGS),
    // `<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`
    Record::new("hermes", NameAt::Payload, Distinct)
        .open(&[
            "<tool_call>",
            "<tool_calls>",
            "<tool-call>",
            "<toolcall>",
            "<tool_code>",
            "<tools>",
            "<tool>",
        ])
        .close(&[
            "</tool_call>",
            "</tool_calls>",
            "</tool-call>",
            "</toolcall>",
            "</tool_code>",
            "</tools>",
            "</tool>",
        ]),
    Record::new("longcat", NameAt::Payload, Distinct)
        .open(&["<longcat_tool_call>"])
        .close(&["</longcat_tool_call>"]),
    // `<function>{"name": "f", "parameters": {"a": 1}}</function>`
    Record::new("function_json", NameAt::Payload, Distinct)
        .open(&["<function>", "<functions>", "<function_call>", "<function_calls>", "<functioncall>"])
        .close(&["</function>", "</functions>", "</function_call>", "</function_calls>", "</functioncall>"]),
    // `<function=f>{"a": 1}</function>`
    Record::new("functionary_v31", NameAt::Opener, Distinct).open(&["<function="]).close(&["</function>"]),
    // `>>>f⏎{"a": 1}`
    Record::new("functionary_v32", NameAt::Header, Weak).open(&[">>>"]).close(&[">>>"]),
    // `<|tool_call|>[{"name": "f", "arguments": {"a": 1}}]`
    Record::new("granite", NameAt::Payload, Distinct)
        .open(&["<|tool_call|>", "<|tool_calls|>"])
        .close(&["<|/tool_call|>", "</tool_call>"]),
    Record::new("gigachat3", NameAt::Payload, Distinct)
        .open(&["<|function_call|>", "function call<|role_sep|>"])
        .close(&["<|message_sep|>"]),
    Record::new("llama3_json", NameAt::Payload, Distinct)
        .open(&["<|python_tag|>"])
        .close(&["<|eom_id|>", "<|eot_id|>"]),
    Record::new("mistral_json", NameAt::Payload, Distinct).open(&["[tool_calls]"]),
    // `[TOOL_CALLS]f[ARGS]{"a": 1}`
    Record::new("mistral_v11", NameAt::Header, Distinct).close(&["[tool_calls]"]),
    Record::new("phi4mini", NameAt::Payload, Weak),
    Record::new("internlm2", NameAt::Payload, Distinct)
        .open(&["<|action_start|>", "<|action_start|><|plugin|>"])
        .close(&["<|action_end|>"]),
    Record::new("cohere", NameAt::Payload, Distinct).open(&["<|start_action|>"]).close(&["<|end_action|>"]),
    // `<|tools_prefix|>[{"f": {"a": 1}}]<|tools_suffix|>`
    Record::new("apertus", NameAt::Payload, Distinct)
        .open(&["<|tools_prefix|>"])
        .close(&["<|tools_suffix|>"]),
    // `<|tool_call:begin|>0<|tool_call:name|>f<|tool_call:args|>{"a": 1}<|tool_call:end|>`
    Record::new("solar", NameAt::Header, Distinct)
        .open(&["<|tool_call:begin|>", "<|tool_call:name|>"])
        .close(&["<|tool_call:end|>"]),
    // `<|message_model|>f<|content_invoke_tool_json|>{"name": "f", "args": {"a": 1}}<|end_message|>`
    Record::new("inkling", NameAt::Header, Distinct)
        .open(&["<|message_model|>", "<|content_invoke_tool_json|>"])
        .close(&["<|end_message|>"]),
    // `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`
    Record::new("deepseek_v31", NameAt::Header, Distinct)
        .open(&["<|tool_calls_begin|>", "<|tool_call_begin|>"])
        .close(&["<|tool_call_end|>", "<|tool_calls_end|>"]),
    Record::new("kimi_k2", NameAt::Header, Distinct)
        .open(&["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"])
        .close(&["<|tool_call_end|>", "<|tool_calls_section_end|>"]),
    Record::new("plamo3", NameAt::Header, Distinct)
        .open(&[
            "<|plamo:begin_tool_requests:plamo|>",
            "<|plamo:begin_tool_request:plamo|>",
            "<|plamo:begin_tool_name:plamo|>",
        ])
        .close(&["<|plamo:end_tool_arguments:plamo|>"]),
    // `<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>`
    Record::new("harmony", NameAt::Header, Distinct)
        .open(&["<|channel|>", "<|start|>assistant", "<|start|>assistant<|channel|>"])
        .close(&["<|call|>", "<|end|>"]),
    // ` to=f<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name="a">⏎1⏎</rfl:parameter><|call|>`
    Record::new("beam", NameAt::Header, Distinct).close(&["<|call|>", "<|end|>"]).grammar(TAGS),
    // `Action: f⏎Action Input: {"a": 1}`
    Record::new("react", NameAt::Header, Weak).close(&["\nObservation:"]),
    // `<tool_call><function=f><parameter=a>1</parameter></function></tool_call>`
    Record::new("qwen3_coder", NameAt::Opener, Distinct).grammar(TAGS),
    Record::new("seed_oss", NameAt::Opener, Distinct).open(&["<seed:tool_call>"]).grammar(TAGS),
    // `<invoke name="f"><parameter name="a">1</parameter></invoke>`
    Record::new("anthropic_xml", NameAt::Opener, Distinct).grammar(TAGS),
    Record::new("minimax_m2", NameAt::Opener, Distinct).open(&["<minimax:tool_call>"]).grammar(TAGS),
    Record::new("dots", NameAt::Opener, Distinct).open(&["<dots_function_call>"]).grammar(TAGS),
    Record::new("deepseek_v32", NameAt::Opener, Distinct)
        .open(&["<|dsml|function_calls>"])
        .grammar(EXACT_TAGS),
    Record::new("deepseek_v4", NameAt::Opener, Distinct).open(&["<|dsml|tool_calls>"]).grammar(EXACT_TAGS),
    Record::new("deepseek_v41", NameAt::Opener, Distinct).open(&["<|dsml| calls>"]).grammar(EXACT_TAGS),
    Record::new("gigachat35", NameAt::Opener, Distinct).open(&["<|gcml|tool_calls>"]).grammar(EXACT_TAGS),
    Record::new("muse", NameAt::Opener, Distinct).open(&["<atem:function_calls>"]).grammar(EXACT_TAGS),
    Record::new("step3", NameAt::Opener, Distinct).grammar(EXACT_TAGS),
    // `<function name="f"><param name="a">1</param></function>`
    Record::new("minicpm5", NameAt::Opener, Distinct).grammar(EXACT_TAGS),
    // `<|open|>call tool="f" index="1"<|sep|><|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|>…`
    Record::new("kimi_k3", NameAt::Opener, Distinct).open(&["<|open|>tools<|sep|>"]).grammar(EXACT_TAGS),
    // `<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>`
    Record::new("glm45", NameAt::Header, Distinct).grammar(EXACT_TAGS),
    Record::new("iquest_q1", NameAt::Header, Distinct).open(&["<iquest_tool_call>"]).grammar(EXACT_TAGS),
    Record::new("hy_v3", NameAt::Header, Distinct).grammar(EXACT_TAGS),
    Record::new("k2_horizon", NameAt::Header, Distinct)
        .open(&["<ifm|tool_calls>", "<ifm|tool_call>"])
        .grammar(EXACT_TAGS),
    // `]<]minimax[>[<invoke name="f">]<]minimax[>[<a>1]<]minimax[>[</a>]<]minimax[>[</invoke>`
    Record::new("minimax_m3", NameAt::Opener, Distinct)
        .open(&["]<]minimax[>[<tool_call>"])
        .grammar(EXACT_TAGS),
    // `<|tool_call_start|>[f(a=1)]<|tool_call_end|>`
    Record::new("lfm2", NameAt::Payload, Distinct)
        .open(&["<|tool_call_start|>", "<|python_start|>"])
        .close(&["<|tool_call_end|>", "<|python_end|>"]),
    // `<|tool_call>call:f{a:<|"|>x<|"|>}<tool_call|>`
    Record::new("gemma4", NameAt::Header, Distinct)
        .open(&["<|tool_call>"])
        .close(&["<tool_call|>"])
        .grammar(Grammar::Relaxed("<|\"|>")),
    Record::new("functiongemma", NameAt::Header, Distinct)
        .open(&["<start_function_call>"])
        .close(&["<end_function_call>"])
        .grammar(Grammar::Relaxed("<escape>")),
];

/// What opens and closes a reasoning block.
pub(crate) const REASONING: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
];

/// What opens and closes what a model says to its user.
pub(crate) const SPEECH: &[(&str, &str)] = &[
    ("<|channel|>commentary<|message|>", "<|end|>"),
    ("<|start|>assistant<|channel|>commentary<|message|>", "<|end|>"),
    ("<|channel|>final<|message|>", "<|return|>"),
    ("<|start|>assistant<|channel|>final<|message|>", "<|return|>"),
    (">>>all\n", ">>>all\n"),
    ("<|start_response|>", "<|end_response|>"),
    ("<|start_text|>", "<|end_text|>"),
    ("<|message_model|><|content_text|>", "<|end_message|>"),
    ("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
    ("<|open|>message<|sep|>", "<|close|>message<|sep|>"),
];

/// The openers that are words, and so may stand in prose: `functools[{…}]`, `to=f<|channel|>`.
pub(crate) const WORD_OPENERS: &[&str] = &["functools", "function call<|role_sep|>", "to="];

/// What opens and closes a tool's result. Before any call, such a block is one that the model quotes.
pub(crate) const RESULTS: &[(&str, &str)] = &[
    ("<tool_response>", "</tool_response>"),
    ("<tool_output>", "</tool_output>"),
    ("<tool_result>", "</tool_result>"),
    ("<function_result>", "</function_result>"),
];
/// The label of a fence that holds one.
pub(crate) const RESULT_LABEL: &str = "tool_output";

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
