//! Dialects: the ways in which models mark their calls, as data.
//!
//! A [`Dialect`] says which markers open a call, which close it, where the name stands, and in which grammar the
//! arguments are written. [`Dialects`] is a set of them, compiled once: those that are built in, and the caller's own.
//! Adding a dialect is adding a record; code belongs to the payload grammars.

pub(crate) mod check;
mod family;
pub(crate) mod own;
mod record;
mod records;
mod set;
pub(crate) mod speech;

use std::borrow::Cow;
use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

pub use self::check::{DialectError, DialectProblem};
pub use self::family::fits;
pub(crate) use self::record::Record;
pub(crate) use self::records::{
    ANSWER_HEADS, ANY_CLOSER, FIELD, FRAMES, QUOTATIONS, REASONING, RESULT_LABEL, RESULTS, TURN_MARKS, TURNS,
};
pub use self::set::Dialects;
pub(crate) use self::set::is_sign;
use self::speech::{PromptFormat, marked};
use crate::grammar::Calls;
pub use crate::syntax::Trim;
use crate::syntax::{Text, Typing};

/// One way of writing calls.
///
/// Markers are matched whatever the case of their letters, with any tokenizer's bars and blanks (`｜` for `|`, `▁` for
/// `_`). In the markers of a dialect of one's own, `{name}` stands for the tool's name, `{id}` for the call's id, `{key}`
/// for an argument's, `{type}` for what the markup says of its type, and a blank for any white space, or none.
///
/// ```
/// use callwright::{Context, Dialect, Dialects, Grammar, ToolSet, parse};
///
/// let mut dialect = Dialect::new("acme");
/// dialect.call.open = vec!["[[call {name}]]".into()];
/// dialect.call.close = vec!["[[/call]]".into()];
/// let dialects = Dialects::new([dialect])?;
/// let tools = ToolSet::from_json(r#"[{"name": "now"}]"#)?;
/// let context = Context { dialects, ..Context::default() };
/// let outcome = parse(&tools, "It is [[call now]]{}[[/call]]", &[], &context);
/// assert_eq!(outcome.calls().next().map(|call| &*call.dialect), Some("acme"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Dialect {
    /// Its name in reports: small letters, digits, `_`, `-` and `.`.
    pub name: Text,
    /// Other names that are understood for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Text>,
    /// The models that write it, as patterns of their names; `*` stands for any characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<Text>,
    /// Who writes it, in words.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub about: Text,
    /// How its calls are written, where models write them otherwise than `speech` does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
    /// The dialect whose markers it shares, where only what stands between them tells the two apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kin: Option<Text>,
    /// What stands around all calls of an answer.
    #[serde(skip_serializing_if = "Marks::is_empty")]
    pub section: Marks,
    /// What stands around one call.
    #[serde(skip_serializing_if = "Marks::is_empty")]
    pub call: Marks,
    /// Where the tool's name stands; `opener` is said by `{name}` in `call`.
    pub name_at: NameAt,
    /// What the arguments are written in.
    pub arguments: Grammar,
    /// What stands around one argument, for [`Grammar::Tags`]; `<parameter=a>` where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument: Option<Argument>,
    /// What stands at both ends of a string, for [`Grammar::Relaxed`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub string_mark: Option<Text>,
    /// Which white space at the ends of an argument is the markup's.
    pub trim: Trim,
    /// How an argument that is raw text gets its type; what its markup says comes first.
    pub typing: Typing,
    /// How sure an opener makes it that a call follows.
    pub anchor: Anchor,
    /// What stands around the model's reasoning, besides what is known of all models.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<Block>,
    /// How it is spoken; [`PromptFormat::of`] where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speech: Option<PromptFormat>,
    /// What tells it where no marker does; only what is built in has one.
    #[serde(skip_serializing)]
    pub(crate) sign: Option<Sign>,
}

impl Dialect {
    /// A dialect of JSON with the name in it, without any markers yet.
    pub fn new(name: impl Into<Text>) -> Dialect {
        Dialect { name: name.into(), ..Dialect::default() }
    }

    /// Reads a JSON list of records, whose members are the fields: `[{"name": "arrows", "call": {"open": "->"}}]`.
    ///
    /// # Errors
    /// When `text` is not JSON, no list, or a record has a member of another name or type.
    // Inlined, its reader of 20 KB would be made again where it is called.
    #[inline(never)]
    pub fn list_from_json(text: &str) -> Result<Vec<Dialect>, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// How its calls are spoken, where its record says that.
    fn spoken(&self) -> Option<&Calls> {
        self.speech.as_ref().map(|speech| &speech.calls)
    }

    /// How its calls are written, by its record.
    pub(crate) fn written(&self) -> Cow<'_, Calls> {
        let spoken = self.spoken().filter(|calls| !calls.call.is_empty());
        self.calls.as_ref().or(spoken).map_or_else(|| Cow::Owned(marked(self)), Cow::Borrowed)
    }
}

/// What opens and what closes something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Marks {
    /// What opens it. The first one is the proper spelling; the others are what models write instead.
    #[serde(deserialize_with = "one_or_many")]
    pub open: Vec<Text>,
    /// What closes it. Any closing tag does after a complete payload; these also end a broken one.
    #[serde(deserialize_with = "one_or_many")]
    pub close: Vec<Text>,
}

impl Marks {
    fn is_empty(&self) -> bool {
        self.open.is_empty() && self.close.is_empty()
    }
}

/// What stands around one argument: `<parameter={key}>`, `</parameter>`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// What opens it, with `{key}` in it, and perhaps `{type}`: `string` and `true` mean text, any other word JSON.
    pub open: Text,
    /// What closes it.
    pub close: Text,
}

/// What opens and closes a block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// What opens it.
    pub open: Text,
    /// What closes it.
    pub close: Text,
}

/// Where the tool's name stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NameAt {
    /// In the payload: `{"name": "f", …}`, `f(…)`.
    #[default]
    Payload,
    /// As a key of the payload: `{"f": {…}}`.
    Key,
    /// In the opener: `<function=f>`, `<invoke name="f">`.
    Opener,
    /// It is the tag: `<f>`.
    Tag,
    /// Somewhere between the opener and the payload, among other words and tokens:
    /// `<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…}`.
    Header,
}

/// What the arguments are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Grammar {
    /// JSON.
    #[default]
    Json,
    /// Call expressions: `f(a="x")`.
    Calls,
    /// Raw text between tags for each argument.
    Tags,
    /// Elements that are named for the arguments: `<a>x</a>`, objects and lists as nested ones.
    Elements,
    /// Objects with bare keys, whose strings stand between two marks of their own.
    Relaxed,
}

impl Grammar {
    /// Are its arguments raw texts between tags?
    pub(crate) fn is_tagged(self) -> bool {
        match self {
            Grammar::Tags | Grammar::Elements => true,
            Grammar::Json | Grammar::Calls | Grammar::Relaxed => false,
        }
    }
}

/// How sure an opener makes it that a call follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Anchor {
    /// Nothing is sure before the payload names a declared tool. It may stand at the start of a line, or inside other
    /// markup.
    Weak,
    /// Only calls begin like this: what cannot be read is a refusal, not prose.
    #[default]
    Distinct,
}

/// What tells a built-in dialect where no marker of its own does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sign {
    /// `{"name": "f", …}`
    Value,
    /// ```` ```json ````, and such a value.
    FencedValue,
    /// `f⏎{…}`
    Name,
    /// `f(a=1)`
    Call,
    /// `f({…})`
    CallOfValue,
    /// ```` ```tool_code ````, and such calls.
    FencedCall,
    /// `functools[{…}]`
    ListWord,
    /// `Action: [{…}]`
    ListLabel,
    /// `Action: f⏎Action Input: …`
    Labels,
    /// `to=f<|channel|>`
    Recipient,
    /// `f:0<|tool_call_argument_begin|>`
    ArgumentToken,
    /// `<ns:tool_call>`
    Group,
    /// `<ns:invoke name="f">`
    CallTag,
    /// `<function=f><parameter=a>`
    ArgumentTag,
    /// `<f>{…}`
    ToolTag,
    /// `<f><a>`
    ToolElement,
    /// `<tool_name>f</tool_name>`
    NameElement,
    /// `f⏎<arg_key>`
    KeyTag,
    /// `f<arg_key>`
    NearKeyTag,
    /// `f<tool_sep>`
    Separator,
}

/// `"x"` as well as `["x", "y"]`. The reader of an untagged enum would take each text twice.
fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Text>, D::Error> {
    struct Texts;
    impl<'de> Visitor<'de> for Texts {
        type Value = Vec<Text>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a list of texts")
        }

        fn visit_str<E>(self, text: &str) -> Result<Vec<Text>, E> {
            Ok(vec![text.to_owned().into()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, texts: A) -> Result<Vec<Text>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(texts))
        }
    }
    from.deserialize_any(Texts)
}

/// Every mark by which anything is read: of calls, blocks and results.
#[cfg(test)]
pub(crate) fn marks_of_all() -> Vec<Text> {
    let dialects = Dialects::default();
    let of = |marks: &Marks| [marks.open.clone(), marks.close.clone()].concat();
    let calls = dialects.iter().flat_map(|dialect| [of(&dialect.section), of(&dialect.call)].concat());
    let blocks = REASONING.iter().chain(records::SPEECH).chain(RESULTS);
    let blocks = blocks.flat_map(|(open, close)| [Text::from(*open), Text::from(*close)]);
    calls.chain(blocks).collect()
}
