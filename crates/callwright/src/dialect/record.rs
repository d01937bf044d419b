//! A dialect as the scanner sees it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;

use super::own::Markup;
use super::speech::marked;
use super::{Anchor, Dialect, Grammar, NameAt, Trim};
use crate::grammar::fold::solid;
use crate::grammar::{Arguments, Calls, Form, Frame};
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
    /// The name stands in the payload as well: `g<|content_invoke_tool_json|>{"name": "f", …}`.
    pub(crate) is_named_twice: bool,
    /// What it writes in front of all names: `functions.`; empty where that is nothing.
    pub(crate) namespace: String,
    pub(crate) anchor: Anchor,
    pub(crate) grammar: Grammar,
    /// What stands at both ends of a relaxed object's strings.
    pub(crate) string_mark: Arc<str>,
    pub(crate) trim: Trim,
    /// The markers of one of the caller's own.
    pub(crate) markup: Option<Arc<Markup>>,
    /// The marks around its calls, compiled when a text first asks: an answer needs those of few dialects.
    written: OnceLock<Written>,
    pub(super) dialect: Dialect,
}

/// The marks that the templates of a dialect put around its calls.
#[derive(Debug)]
struct Written {
    call_tags: Vec<Vec<char>>,
    argument_tag: Option<Vec<char>>,
    form: Option<Form>,
    frames: Vec<Frame>,
}

/// Shorter beginnings of tags are those of too many.
const LEAST_TAG: usize = 5;

impl Record {
    /// The record of `dialect`, which stands at `id` of its set.
    pub(super) fn new(id: u16, kin: u16, dialect: Dialect, markup: Option<Arc<Markup>>) -> Record {
        // What has place holders in it ends nothing.
        let close = dialect.call.close.iter().chain(&dialect.section.close).cloned();
        let spoken = dialect.speech.as_ref().map(|speech| &speech.calls);
        Record {
            id,
            kin,
            name: dialect.name.clone(),
            close: close.collect(),
            name_at: dialect.name_at,
            is_named_twice: dialect.name_at == NameAt::Header
                && spoken.is_some_and(|calls| calls.call.contains("{json_name}")),
            namespace: spoken.map_or("", Calls::namespace).to_owned(),
            anchor: dialect.anchor,
            grammar: dialect.arguments,
            string_mark: dialect.string_mark.as_deref().unwrap_or_default().into(),
            trim: dialect.trim,
            markup,
            written: OnceLock::new(),
            dialect,
        }
    }

    /// What stands in front of the name, in tags that open its calls; `<` alone tells nothing.
    pub(super) fn call_tags(&self) -> &[Vec<char>] {
        &self.written().call_tags
    }

    /// The same of arguments in tags.
    pub(super) fn argument_tag(&self) -> Option<&[char]> {
        self.written().argument_tag.as_deref()
    }

    /// How it writes calls whose arguments stand in marks.
    pub(crate) fn form(&self) -> Option<&Form> {
        self.written().form.as_ref()
    }

    /// What it writes around a payload of any other kind.
    pub(crate) fn frames(&self) -> &[Frame] {
        &self.written().frames
    }

    fn written(&self) -> &Written {
        self.written.get_or_init(|| Written::of(&self.dialect, self.markup.is_some()))
    }
}

impl Written {
    /// Those of `dialect`, which is built in or the caller's own.
    fn of(dialect: &Dialect, is_own: bool) -> Written {
        let spoken = dialect.speech.as_ref().map(|speech| &speech.calls);
        let is_tagged = dialect.arguments.is_tagged();
        // Without marks of its own around an argument, one of the caller's own is read with those of all others.
        let is_marked = is_own && (!is_tagged || dialect.argument.is_some());
        let own = is_marked.then(|| marked(dialect));
        let written = || dialect.calls.iter().chain(spoken).chain(&own);
        let form = if is_tagged { written().find_map(Form::of) } else { None };
        let framed = written().filter(|calls| !is_tagged || calls.arguments == Arguments::Json);
        let mut frames: Vec<Frame> = framed.filter_map(Frame::of).collect();
        // Words are marks where they are built in.
        frames.retain(|frame| !is_own || frame.before.contains(['<', '[']));
        let between = spoken.map_or("", |calls| &*calls.between);
        let next: Vec<Frame> = frames.iter().flat_map(|frame| frame.next(between)).collect();
        frames.extend(next);
        let argument_tag = form.as_ref().map(|form| solid(form.argument_tag()));
        let call_tags = form.iter().map(Form::call_tag).chain(frames.iter().filter_map(Frame::call_tag));
        Written {
            argument_tag: argument_tag.filter(|tag| LEAST_TAG <= tag.len()),
            call_tags: call_tags.map(solid).filter(|tag| LEAST_TAG <= tag.len()).collect(),
            form,
            frames,
        }
    }
}

/// The built-in dialects that the scanner tells by more than an opener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Known {
    AnthropicXml,
    Beam,
    CallDotJson,
    CommandRPlus,
    DeepseekV3,
    DeepseekV31,
    FunctionaryV31,
    Glm45,
    Glm47,
    Harmony,
    Hermes,
    HyV3,
    JsonBare,
    JsonFence,
    KimiK2,
    KimiK3,
    Llama3Json,
    MorphXml,
    NameLine,
    Phi4mini,
    Pythonic,
    Qwen3Coder,
    React,
    ToolCode,
    ToolnameTag,
    XmlNames,
}

impl Known {
    /// The one of this name.
    pub(super) fn named(name: &str) -> Option<Known> {
        let name: StrDeserializer<'_, NoName> = name.into_deserializer();
        Known::deserialize(name).ok()
    }
}

/// It is none of them. A message with all their names takes longer than to compile the record.
#[derive(Debug)]
struct NoName;

impl fmt::Display for NoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no known dialect")
    }
}

impl std::error::Error for NoName {}

impl serde::de::Error for NoName {
    fn custom<T: fmt::Display>(_: T) -> NoName {
        NoName
    }
}
