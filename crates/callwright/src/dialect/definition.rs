//! A dialect as it is declared: its markers, the place of the name, and the grammar of the arguments.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::speech::{PromptFormat, marked};
use crate::grammar::Calls;
use crate::syntax::{Text, Trim, Typing};

/// One way of writing calls.
///
/// The case of a marker's letters does not count, and any tokenizer's bars and blanks match (`｜` for `|`, `▁` for `_`).
/// A caller's own markers may have place holders: `{name}` for the tool's name, `{id}` for the call's id, `{key}` for
/// an argument's key, `{type}` for its type in the markup. A blank stands for any white space, or none.
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
    /// The name in reports: small letters, digits, `_`, `-` and `.`.
    pub name: Text,
    /// Other accepted names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Text>,
    /// The models that write it, as patterns of their names; `*` stands for any characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<Text>,
    /// The models that write it, in words.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub about: Text,
    /// The form of its calls, if models write them otherwise than `speech` does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
    /// The dialect with the same markers, if only the text between them tells the two apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kin: Option<Text>,
    /// The marks around all calls of an answer.
    #[serde(skip_serializing_if = "Marks::is_empty")]
    pub section: Marks,
    /// The marks around one call.
    #[serde(skip_serializing_if = "Marks::is_empty")]
    pub call: Marks,
    /// The place of the tool's name; `{name}` in `call` means `opener`.
    pub name_at: NameAt,
    /// The grammar of the arguments.
    pub arguments: Grammar,
    /// The marks around one argument, for [`Grammar::Tags`]; the default is `<parameter=a>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument: Option<Argument>,
    /// The mark at both ends of a string, for [`Grammar::Relaxed`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub string_mark: Option<Text>,
    /// The white space at the ends of an argument that belongs to the markup.
    pub trim: Trim,
    /// The way in which a raw argument gets its type, if its markup does not tell the type. In a dialect of JSON, `text`
    /// means that a body without an object is the text of the only argument: `<tool: f>⏎ls⏎</tool>`.
    pub typing: Typing,
    /// The certainty that a call follows an opener.
    pub anchor: Anchor,
    /// The marks around the model's reasoning, besides those that are known for all models.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<Block>,
    /// The texts that teach and write it; [`PromptFormat::of`] gives the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speech: Option<PromptFormat>,
    /// The look of its calls, for a built-in dialect without a marker of its own.
    #[serde(skip_serializing)]
    pub(crate) sign: Option<Sign>,
    /// The labels in front of a name and in front of its arguments, without their colons, for a built-in dialect. Those
    /// of its `speech` come first.
    #[serde(skip_serializing)]
    pub(crate) labels: Vec<[Text; 2]>,
    /// The words of its headers that are not names, for a built-in dialect.
    #[serde(skip_serializing)]
    pub(crate) words: Vec<Text>,
}

impl Dialect {
    /// Makes a dialect whose payload is JSON with the name in it, without any markers yet.
    pub fn new(name: impl Into<Text>) -> Dialect {
        Dialect { name: name.into(), ..Dialect::default() }
    }

    /// Reads a JSON list of records, whose members are the fields: `[{"name": "arrows", "call": {"open": "->"}}]`.
    ///
    /// # Errors
    /// An error means that `text` is not JSON, is not a list, or has a record with a member of another name or type.
    // Inlining would copy its reader of 20 KB into each caller.
    #[inline(never)]
    pub fn list_from_json(text: &str) -> Result<Vec<Dialect>, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns the calls of its `speech`.
    pub(super) fn spoken(&self) -> Option<&Calls> {
        self.speech.as_ref().map(|speech| &speech.calls)
    }

    /// Returns the form of its calls: `calls`, or else that of its `speech`, or else that of its markers.
    pub(crate) fn written(&self) -> Cow<'_, Calls> {
        let spoken = self.spoken().filter(|calls| !calls.call.is_empty());
        self.calls.as_ref().or(spoken).map_or_else(|| Cow::Owned(marked(self)), Cow::Borrowed)
    }
}

/// The marks that open and close something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Marks {
    /// The openers. The first one is the proper spelling; models write the others instead.
    #[serde(deserialize_with = "one_or_many")]
    pub open: Vec<Text>,
    /// The closers. Any closing tag closes a complete payload; these also end a broken one.
    #[serde(deserialize_with = "one_or_many")]
    pub close: Vec<Text>,
}

impl Marks {
    fn is_empty(&self) -> bool {
        self.open.is_empty() && self.close.is_empty()
    }
}

/// The marks around one argument: `<parameter={key}>`, `</parameter>`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// The opener, with `{key}` in it, and perhaps `{type}`: `string` and `true` mean text, any other word means JSON.
    pub open: Text,
    /// The closer.
    pub close: Text,
}

/// The marks that open and close a block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// The opener.
    pub open: Text,
    /// The closer.
    pub close: Text,
}

/// The place of the tool's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NameAt {
    /// The payload holds the name: `{"name": "f", …}`, `f(…)`.
    #[default]
    Payload,
    /// The name is a key of the payload: `{"f": {…}}`.
    Key,
    /// The opener holds the name: `<function=f>`, `<invoke name="f">`.
    Opener,
    /// The name is the tag: `<f>`.
    Tag,
    /// The name stands between the opener and the payload, among other words and tokens:
    /// `<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…}`.
    Header,
}

/// The grammar of arguments.
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
    /// Returns whether the arguments are raw texts between tags.
    pub(crate) fn is_tagged(self) -> bool {
        match self {
            Grammar::Tags | Grammar::Elements => true,
            Grammar::Json | Grammar::Calls | Grammar::Relaxed => false,
        }
    }
}

/// The certainty that a call follows an opener.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Anchor {
    /// Only the name of a declared tool makes it a call. The opener may stand at the start of a line, or inside other
    /// markup.
    Weak,
    /// Only calls begin with this opener, so a payload that cannot be read is a refusal, not prose.
    #[default]
    Distinct,
}

/// The look of a built-in dialect's calls without a marker of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sign {
    /// `{"name": "f", …}`
    Value,
    /// ```` ```json ````, and a value as above.
    FencedValue,
    /// `f⏎{…}`
    Name,
    /// `f(a=1)`
    Call,
    /// `f({…})`
    CallOfValue,
    /// ```` ```tool_code ````, and calls as above.
    FencedCall,
    /// A name, and behind it a fence in which `tool_call(a=1)` stands for the tool.
    NamedCode,
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

/// Reads `"x"` as well as `["x", "y"]`. The reader of an untagged enum would read each text twice.
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
