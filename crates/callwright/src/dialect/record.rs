//! A dialect as the scanner sees it.

use std::sync::Arc;

use super::own::Markup;
use super::{Anchor, Dialect, Grammar, NameAt, Trim};
use crate::marks::{Form, Frame};
use crate::syntax::Text;

/// A dialect, compiled.
#[derive(Debug)]
pub(crate) struct Record {
    /// Its place in its set.
    pub(crate) id: u16,
    /// The place of the dialect whose markers it shares; its own where there is none.
    pub(crate) kin: u16,
    pub(crate) name: Text,
    /// What ends a broken payload.
    pub(crate) close: Vec<Text>,
    pub(crate) name_at: NameAt,
    pub(crate) anchor: Anchor,
    pub(crate) grammar: Grammar,
    /// What stands at both ends of a relaxed object's strings.
    pub(crate) string_mark: Arc<str>,
    pub(crate) trim: Trim,
    /// The markers of one of the caller's own.
    pub(crate) markup: Option<Arc<Markup>>,
    /// How it writes calls whose arguments stand in marks.
    pub(crate) form: Option<Form>,
    /// What it writes around a payload of any other kind.
    pub(crate) frame: Option<Frame>,
}

impl Record {
    /// The record of `dialect`, which stands at `id` of its set.
    pub(super) fn new(id: u16, kin: u16, dialect: &Dialect, markup: Option<Arc<Markup>>) -> Record {
        // What has place holders in it ends nothing.
        let close = dialect.call.close.iter().chain(&dialect.section.close).cloned();
        let is_framed = dialect.anchor == Anchor::Distinct && !dialect.arguments.is_tagged();
        Record {
            id,
            kin,
            name: dialect.name.clone(),
            close: close.collect(),
            name_at: dialect.name_at,
            anchor: dialect.anchor,
            grammar: dialect.arguments,
            string_mark: dialect.string_mark.as_deref().unwrap_or_default().into(),
            trim: dialect.trim,
            form: dialect.arguments.is_tagged().then(|| Form::of(&dialect.example)).flatten(),
            frame: is_framed.then(|| Frame::of(&dialect.example, dialect.arguments)).flatten(),
            markup,
        }
    }
}

/// The built-in dialects that the scanner tells by more than an opener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    AnthropicXml,
    Beam,
    CallDotJson,
    CommandRPlus,
    DeepseekV3,
    DeepseekV31,
    DeepseekV4,
    FunctionGemma,
    FunctionJson,
    FunctionaryV31,
    Gemma4,
    Gigachat35,
    Glm45,
    Glm47,
    Harmony,
    Hermes,
    HyV3,
    Inkling,
    JsonBare,
    JsonFence,
    KimiK2,
    KimiK3,
    Llama3Json,
    LlamaBuiltin,
    MinicpmV5,
    MinimaxM3,
    MistralJson,
    MistralV11,
    MorphXml,
    Muse,
    NameLine,
    Olmo3,
    Phi4Mini,
    Pythonic,
    Qwen3Coder,
    React,
    Step3,
    ToolCode,
    ToolnameTag,
    XmlNames,
    YamlFence,
}

impl Known {
    /// All of them, with their names.
    pub(super) const ALL: [(Known, &str); 41] = [
        (Known::AnthropicXml, "anthropic_xml"),
        (Known::Beam, "beam"),
        (Known::CallDotJson, "call_dot_json"),
        (Known::CommandRPlus, "command_r_plus"),
        (Known::DeepseekV3, "deepseek_v3"),
        (Known::DeepseekV31, "deepseek_v31"),
        (Known::DeepseekV4, "deepseek_v4"),
        (Known::FunctionGemma, "functiongemma"),
        (Known::FunctionJson, "function_json"),
        (Known::FunctionaryV31, "functionary_v31"),
        (Known::Gemma4, "gemma4"),
        (Known::Gigachat35, "gigachat35"),
        (Known::Glm45, "glm45"),
        (Known::Glm47, "glm47"),
        (Known::Harmony, "harmony"),
        (Known::Hermes, "hermes"),
        (Known::HyV3, "hy_v3"),
        (Known::Inkling, "inkling"),
        (Known::JsonBare, "json_bare"),
        (Known::JsonFence, "json_fence"),
        (Known::KimiK2, "kimi_k2"),
        (Known::KimiK3, "kimi_k3"),
        (Known::Llama3Json, "llama3_json"),
        (Known::LlamaBuiltin, "llama_builtin"),
        (Known::MinicpmV5, "minicpm5"),
        (Known::MinimaxM3, "minimax_m3"),
        (Known::MistralJson, "mistral_json"),
        (Known::MistralV11, "mistral_v11"),
        (Known::MorphXml, "morph_xml"),
        (Known::Muse, "muse"),
        (Known::NameLine, "name_line"),
        (Known::Olmo3, "olmo3"),
        (Known::Phi4Mini, "phi4mini"),
        (Known::Pythonic, "pythonic"),
        (Known::Qwen3Coder, "qwen3_coder"),
        (Known::React, "react"),
        (Known::Step3, "step3"),
        (Known::ToolCode, "tool_code"),
        (Known::ToolnameTag, "toolname_tag"),
        (Known::XmlNames, "xml_names"),
        (Known::YamlFence, "yaml_fence"),
    ];
}
