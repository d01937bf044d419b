//! The built-in records: the dialects, and the marks around texts that are not calls.
//!
//! The dialects stand in `built_in.json`, in the form of a caller's own, in reading order: calls as JSON with the name
//! in it, names outside of their JSON, arguments in tags, and the rest. Their speech follows the models' published chat
//! templates and encoders, with instructions in our own words. A dialect without a published template has only the form
//! of a call. A small model follows the form most, so its calls stand last. Some models know one call at a time: Llama
//! 3 writes its token before those of its own tools alone.

use super::definition::Dialect;
use super::family;
use super::speech::GENERAL;

/// Returns all dialects. The scanner finds those without an opener by the look of their payload.
pub(super) fn all() -> Vec<Dialect> {
    let mut all = Dialect::list_from_json(include_str!("built_in.json")).unwrap_or_default();
    for dialect in &mut all {
        dialect.models = family::patterns(&dialect.name);
        let Some(speech) = &mut dialect.speech else { continue };
        if speech.system.is_empty() {
            speech.system = GENERAL.into();
        }
    }
    all
}

/// The opener and the closer of each reasoning block.
pub(crate) const REASONING: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratch_pad>", "</scratch_pad>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<inner_monologue>", "</inner_monologue>"),
    ("<antthinking>", "</antthinking>"),
    ("<longcat_think>", "</longcat_think>"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"),
    // This tokenizer puts a blank behind each token.
    ("<|channel|> analysis<|message|>", "<|end|>"),
    ("<|start|> assistant<|channel|> analysis<|message|>", "<|end|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|channel>", "<channel|>"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    ("<|open|> think <|sep|>", "<|close|> think <|sep|>"),
    ("<|think:start|>", "<|think:end|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<ifm|think>", "</ifm|think>"),
    ("<ifm|think_fast>", "</ifm|think_fast>"),
    ("<ifm|think_faster>", "</ifm|think_faster>"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("[think]", "[/think]"),
    ("[unused16]", "[unused17]"),
    ("to=self<|message|>", "<|eom|>"),
    ("<|start|>assistant to=self<|message|>", "<|eom|>"),
];

/// The sign that begins each mark of [`REASONING`] outside ASCII.
pub(crate) const FOREIGN: &str = "◁";

/// The sign for any closer of [`REASONING`]: the prompt opened the block, so its dialect is unknown.
pub(crate) const ANY_CLOSER: &str = "";

/// The sign for the closer of reasoning that an upstream keeps apart: no mark in it closes it.
pub(crate) const FIELD: &str = "\0";

/// The opener and the closer of each block that a model addresses to its user.
pub(super) const SPEECH: &[(&str, &str)] = &[
    ("<|channel|>commentary<|message|>", "<|end|>"),
    ("<|start|>assistant<|channel|>commentary<|message|>", "<|end|>"),
    ("<|channel|>final<|message|>", "<|return|>"),
    ("<|start|>assistant<|channel|>final<|message|>", "<|return|>"),
    ("<|channel|>final <|constrain|>json<|message|>", "<|return|>"),
    ("<|start|>assistant<|channel|>final <|constrain|>json<|message|>", "<|return|>"),
    ("<|channel|> final<|message|>", "<|return|>"),
    ("<|start|> assistant<|channel|> final<|message|>", "<|return|>"),
    ("<|channel|> final <|constrain|>  json<|message|>", "<|return|>"),
    ("<|start|> assistant<|channel|> final <|constrain|>  json<|message|>", "<|return|>"),
    (">>>all\n", ">>>all\n"),
    ("<|from|>assistant\n<|recipient|>all\n<|content|>", "<|stop|>"),
    ("<|start_response|>", "<|end_response|>"),
    ("<|start_text|>", "<|end_text|>"),
    ("<|message_model|><|content_text|>", "<|end_message|>"),
    ("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
    ("<|open|> response <|sep|>", "<|close|> response <|sep|>"),
    ("<|open|>message<|sep|>", "<|close|>message<|sep|>"),
    ("<|open|> message <|sep|>", "<|close|> message <|sep|>"),
    ("to=user<|message|>", "<|eot|>"),
    ("<|start|>assistant to=user<|message|>", "<|eot|>"),
    ("to=commentary<|message|>", "<|eom|>"),
    ("<|start|>assistant to=commentary<|message|>", "<|eom|>"),
];

/// The marks that begin a block beside one of speech, in a model whose answers consist of blocks.
pub(crate) const FRAMES: &[&str] = &[
    "<|start|>",
    "<|channel|>",
    "<|start_action|>",
    "<|message_model|>",
    "<|content_invoke_tool_json|>",
    "<|open|>",
    "<|from|>assistant",
    ">>>",
];

/// The marks that end a turn. Behind a call, each of them is markup, in any dialect.
pub(crate) const TURN_ENDS: &[&str] = &[
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|end|>",
    "<|return|>",
    "<|end_of_text|>",
    "<|end_of_msg|>",
    "<|endoftext|>",
    "<|end_of_sentence|>",
    "<|end_of_turn_token|>",
    "<|content_model_end_sampling|>",
    "<|assistant_end|>",
    "<|role_end|>",
    "<|tool_response>",
    "<|message_sep|>",
    "<|im:end|>",
    "<|close|>message<|sep|>",
    "<|close|> message <|sep|>",
    "<end_of_turn>",
    "<turn|>",
    "<eos>",
    "<seed:eos>",
    "<pad>",
    "<special_12>",
    "[e~[",
    "<|eos|>",
    "<|endofresponse|>",
    "[unused10]",
    "</longcat_s>",
    "<start_function_response>",
    "</answer>",
    "</response>",
    "[end final response]",
];

/// The marks that begin the model's own turn, if a server lets them through.
pub(super) const TURN_HEADS: &[&str] = &[
    "<|assistant_start|>",
    "<|chatbot_token|>",
    "<|start|>assistant<|message|>",
    "<|open|>message role=\"assistant\"<|sep|>",
    "<|open|> message role=\"assistant\" <|sep|>",
];

/// The marks that a template writes before the model's answer. A model may repeat one as its first words.
pub(crate) const ANSWER_HEADS: &[&str] = &[
    "<|im_start|>assistant\n",
    "<|im:start|>assistant\n",
    "<|im_assistant|>assistant<|im_middle|>",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|role_start|>assistant<|role_end|>",
    "<|assistant|>",
    "[|assistant|]",
    "<|turn>model\n",
    "<start_of_turn>model\n",
    "<|start_of_turn_token|>",
    "<|start_of_role|>assistant<|end_of_role|>",
    "<bos>",
    "[/inst]",
];

/// The marks around a whole answer. Right in front of a call, they are markup; elsewhere they may be anybody's.
pub(crate) const ANSWERS: &[&str] =
    &["<answer>", "<response>", "<s>", "[begin final response]", "**tool call:**"];

/// The words that begin a call without being an opener of a record: `functools[{…}]`, `to=f<|channel|>`,
/// `functions.f({…})`.
pub(super) const WORD_OPENERS: &[&str] = &["functools", "to", "functions."];

/// The opener and the closer of each block of a tool's result. Before any call, the model quotes such a block.
pub(crate) const RESULTS: &[(&str, &str)] = &[
    ("<tool_response>", "</tool_response>"),
    ("<tool_output>", "</tool_output>"),
    ("<tool_result>", "</tool_result>"),
    ("<function_result>", "</function_result>"),
    ("<function_results>", "</function_results>"),
    ("<observation>", "</observation>"),
    ("<|tool_response:start|>", "<|tool_response:end|>"),
    ("<|start_tool_result|>", "<|end_tool_result|>"),
    ("<|tool_output_begin|>", "<|tool_output_end|>"),
    ("[tool_results]", "[/tool_results]"),
];

/// The opener and the closer of each quotation that is neither a result nor the model's own speech.
pub(crate) const QUOTATIONS: &[(&str, &str)] = &[
    ("<!--", "-->"),
    ("<blockquote>", "</blockquote>"),
    ("<example>", "</example>"),
    ("```tool_output", "\n```"),
];
/// The label of a fence that holds a result.
pub(crate) const RESULT_LABEL: &str = "tool_output";

/// The marks that begin a turn if a role follows; without a role they stand between calls.
pub(crate) const TURN_MARKS: &[&str] = &["<|im_start|>", "<|im:start|>", "<|start_header_id|>"];

/// The texts that begin another's turn, or a result that the model cannot know. After a call, at the start of a line,
/// one of them ends the answer.
pub(crate) const TURNS: &[&str] = &[
    "user:",
    "human:",
    "question:",
    "observation:",
    "✿result✿",
    "✿return✿",
    "### instruction",
    "### question",
    "### user",
    "### human",
    "### input",
    "<|user|>",
    "<|observation|>",
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
