//! The verdict on each call that a model tried to make: accepted, or refused with a reason.

use std::borrow::Cow;
use std::fmt;

use callwright_json::{Class, Diagnostic, Problem, Repair, Span, class_of};
use callwright_schema::{Coercion, Violation};
use serde::de::DeserializeOwned;

use crate::tools::nearest::nearest_tool;
use crate::tools::{Tool, ToolSet};
use crate::value::Value;

/// The dialect's name for native calls, which stand in no text.
pub(crate) const NATIVE: &str = "native";
/// The name in place of a dialect where a whole text was to be JSON: no dialect has it.
pub(crate) const TEXT: &str = "json";

/// The end of the matter for one call. Exhaustive on purpose: a caller must act on both.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The tool is declared, the arguments fit its schema, and there is only one way to read them.
    Accepted(Acceptance),
    /// The call may not run, for a reason.
    Refused(Refusal),
}

impl Verdict {
    /// Returns whether the call was made natively, not found in the text.
    pub fn is_native(&self) -> bool {
        self.head().1 == NATIVE
    }

    /// Returns the name of the tool, as far as it can be read, the dialect, and the place.
    pub(crate) fn head(&self) -> (Option<&str>, &Cow<'static, str>, Span) {
        match self {
            Verdict::Accepted(call) => (Some(&call.name), &call.dialect, call.span),
            Verdict::Refused(refusal) => (refusal.name.as_deref(), &refusal.dialect, refusal.span),
        }
    }
}

/// A call that is right.
#[derive(Clone, Debug)]
pub struct Acceptance {
    /// The id that the upstream gave the call, if any.
    pub id: Option<String>,
    /// The tool's declared name.
    pub name: String,
    /// The arguments: strict JSON text of an object that fits the tool's schema. Valid arguments stay as the model
    /// wrote them, byte for byte.
    pub arguments: String,
    /// The name of the dialect that the call was written in.
    pub dialect: Cow<'static, str>,
    /// The call's place in the text, markup included.
    pub span: Span,
    /// The repairs: edits of the text, or of the native argument text.
    pub repairs: Vec<Repair>,
    /// The name as the model wrote it, if that was not the declared one; empty if it wrote none, and the request leaves
    /// one tool.
    pub renamed_from: Option<String>,
    /// The values that were converted to the type of the schema.
    pub coercions: Vec<Coercion>,
    /// The call's place beside the model's words; `None` without words, and for a native call. An
    /// [event](crate::Event::Call) comes before the words behind the call.
    pub beside_prose: Option<BesideProse>,
    /// The answer ends before the call does, and the tool's schema lets more follow: `{"city": "Paris"` for a tool that
    /// also takes `days`. The text cannot tell whether the model forgot the bracket or was cut. If an incomplete call
    /// costs more than a question, ask before it runs.
    pub open_end: bool,
    /// The check of the arguments would take more work than it may do, and found no violation so far: see
    /// [`Schema::check_whole`](crate::Schema::check_whole). [`Policy::Strict`](crate::Policy::Strict) refuses such a
    /// call. [`ToolSet::unchecked`](crate::ToolSet::unchecked) lists the parts of a schema that are never checked.
    pub unchecked: bool,
    /// The call may as well be shown as made: it stands between words, in another dialect than the requested one
    /// ([`Context::asked`](crate::Context::asked)). Ask before it runs: the model can make it again, alone.
    pub unsure: bool,
    /// The call stands in reasoning that the upstream keeps apart ([`Delta::Reasoning`](crate::Delta::Reasoning)). Its
    /// places are bytes of that stretch of reasoning.
    pub is_apart: bool,
}

/// The place of a call in the text beside words, from the surest sign that the call is meant to the weakest. A call
/// between words, or in a sentence, may be shown rather than made: ask before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BesideProse {
    /// Words stand before it, in earlier lines.
    Above,
    /// Words stand behind it.
    Below,
    /// Words stand before it on its own line, and end with a sign: `I look it up: ⟨call⟩`.
    Line,
    /// Words stand before it and behind it.
    Between,
    /// It stands where a word of a sentence does: `I will not run ⟨call⟩`.
    Sentence,
}

impl BesideProse {
    /// Returns its name: `above`, `below`, `line`, `between`, `sentence`.
    pub fn name(self) -> &'static str {
        match self {
            BesideProse::Above => "above",
            BesideProse::Below => "below",
            BesideProse::Line => "line",
            BesideProse::Between => "between",
            BesideProse::Sentence => "sentence",
        }
    }
}

impl Acceptance {
    /// Returns the arguments as a value of a type of one's own; the field of this name holds the text.
    ///
    /// ```
    /// use callwright::{Context, ToolSet, parse};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Weather {
    ///     city: String,
    /// }
    ///
    /// let tools = ToolSet::from_json(r#"[{"name": "get_weather", "parameters": {"type": "object"}}]"#)?;
    /// let outcome = parse(&tools, r#"{"name": "get_weather", "arguments": {"city": "Paris"}}"#, &[], &Context::default());
    /// for call in outcome.calls() {
    ///     assert_eq!(call.arguments::<Weather>()?.city, "Paris");
    ///     assert_eq!(call.arguments, r#"{"city": "Paris"}"#);
    /// }
    /// # assert_eq!(outcome.calls().count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An error means that they are not a `T`: the schema allows more than the type.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.arguments)
    }

    /// Makes the refusal of the call, which stands at `span` of `text`.
    pub(crate) fn refused(self, span: Span, text: &str, reason: Reason) -> Refusal {
        Refusal {
            id: self.id,
            name: Some(self.name),
            dialect: self.dialect,
            number: 0,
            span,
            block: span.of(text).to_owned(),
            reason,
        }
    }

    /// Returns the arguments as JSON; the order of members and the digits of numbers stay.
    pub fn to_value(&self) -> Value {
        // INVARIANT: accepted arguments are strict JSON, and no string in them holds half a surrogate pair.
        self.arguments.parse().unwrap_or_default()
    }

    /// Returns the arguments without whitespace between tokens: `{"a": 1}` → `{"a":1}`.
    pub fn compact_arguments(&self) -> String {
        let (mut in_string, mut is_escaped) = (false, false);
        let is_kept = |c: &char| {
            let is_blank = !in_string && matches!(c, ' ' | '\n' | '\r' | '\t');
            in_string ^= *c == '"' && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            !is_blank
        };
        self.arguments.chars().filter(is_kept).collect()
    }

    /// Returns the worst class of all repairs and coercions of the call.
    pub fn class(&self) -> Class {
        let repairs = class_of(&self.repairs);
        let inferred = self.renamed_from.is_some() || !self.coercions.is_empty();
        if inferred { repairs.max(Class::Inferred) } else { repairs }
    }
}

/// A call that may not run.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The id that the upstream gave the call, if any.
    pub id: Option<String>,
    /// The name of its tool, as far as it can be read.
    pub name: Option<String>,
    /// The name of the dialect that the call was written in.
    pub dialect: Cow<'static, str>,
    /// The call's number in the answer, counted from 1.
    pub number: usize,
    /// The call's place in the text, markup included.
    pub span: Span,
    /// The payload as the model wrote it: the JSON block, the argument list.
    pub block: String,
    /// The reason.
    pub reason: Reason,
}

/// The reason for which a call is refused.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// No tool of this name is declared.
    UnknownTool {
        /// The declared names that it may be a slip of, best first.
        nearest: Vec<String>,
        /// All declared names.
        declared: Vec<String>,
    },
    /// The tool is declared, but the request offers only others.
    NotOffered {
        /// The names of the offered tools.
        offered: Vec<String>,
    },
    /// The payload cannot be read. The diagnostics' spans are bytes of [`Refusal::block`].
    Unreadable(Vec<Diagnostic>),
    /// The payload ends before the call does; the spans are bytes of [`Refusal::block`].
    Truncated(Vec<Diagnostic>),
    /// The call was repaired at its end, and more could have followed: see [`Acceptance::open_end`]. It holds the call
    /// as if nothing were missing, which is right if the model makes it again. Only
    /// [`Context::doubt_open_ends`](crate::Context::doubt_open_ends) asks for it.
    OpenEnd(Box<Acceptance>),
    /// The payload can be read in several ways that are equally likely.
    Ambiguous {
        /// The readings, as strict JSON texts, at most three.
        readings: Vec<String>,
    },
    /// The payload is readable, but does not have the shape of a call.
    Shape(ShapeError),
    /// The arguments do not fit the tool's schema.
    Invalid(Vec<Violation>),
}

impl Refusal {
    /// Makes the refusal, for `reason`, of a whole text that [`crate::heal`] could not repair: rules for calls hold for
    /// such a text too.
    pub fn of_text(text: &str, reason: Reason) -> Refusal {
        Refusal {
            id: None,
            name: None,
            dialect: TEXT.into(),
            number: 1,
            span: Span::new(0, text.len()),
            block: text.to_owned(),
            reason,
        }
    }
}

impl Reason {
    /// Makes the reason that none of the declared `tools` is `written`.
    pub(crate) fn unknown_tool(written: &str, tools: &ToolSet) -> Reason {
        let declared = || tools.iter().map(Tool::name);
        let nearest = nearest_tool(written, &mut declared()).into_iter().map(str::to_owned).collect();
        Reason::UnknownTool { nearest, declared: declared().map(str::to_owned).collect() }
    }

    /// Returns the stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Reason::UnknownTool { .. } => "unknown-tool",
            Reason::NotOffered { .. } => "not-offered",
            Reason::Unreadable(why) if is_too_long(why) => "too-long",
            Reason::Unreadable(_) => "unreadable",
            Reason::Truncated(_) => "truncated",
            Reason::OpenEnd(_) => "open-end",
            Reason::Ambiguous { .. } => "ambiguous",
            Reason::Shape(_) => "shape",
            Reason::Invalid(_) => "invalid",
        }
    }
}

/// Returns whether the text met a bound: that of nesting, or that of the ways to read it.
fn is_too_long(why: &[Diagnostic]) -> bool {
    why.first().is_some_and(|diagnostic| diagnostic.problem == Problem::Limit)
}

/// The first bound is [`MAX_DEPTH`](callwright_json::MAX_DEPTH).
const TOO_LONG: &str = "it is nested deeper than 128 levels, or can be read in more ways than are looked at";

/// One lower-case sentence for people and logs. [`Refusal::feedback`] makes the text for the model.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::UnknownTool { nearest, .. } => {
                let nearest =
                    nearest.first().map(|name| format!("; the nearest is `{}`", name.escape_debug()));
                write!(f, "no tool of this name is declared{}", nearest.unwrap_or_default())
            }
            Reason::NotOffered { .. } => f.write_str("the request does not offer this tool"),
            Reason::Unreadable(why) if is_too_long(why) => f.write_str(TOO_LONG),
            Reason::Unreadable(_) => f.write_str("it cannot be read in exactly one way"),
            Reason::Truncated(_) => f.write_str("it ends before it is complete"),
            Reason::OpenEnd(_) => f.write_str("it was repaired at its end, where more could have stood"),
            Reason::Ambiguous { readings } => {
                write!(f, "it can be read in {} ways that are equally likely", readings.len())
            }
            Reason::Shape(error) => error.fmt(f),
            Reason::Invalid(violations) => {
                let messages = violations.iter().map(|violation| violation.message.as_str());
                f.write_str(&messages.collect::<Vec<_>>().join("; "))
            }
        }
    }
}

impl std::error::Error for Reason {}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::NoName(fitting) if fitting.is_empty() => f.write_str("it names no tool"),
            ShapeError::NoName(fitting) => {
                write!(f, "it names no tool; its keys are those of {}", listed(fitting))
            }
            ShapeError::ArgumentsNotObject(kind) => write!(f, "the arguments are of type {kind}, not object"),
            ShapeError::Expression => f.write_str("an expression stands where a value is needed"),
            ShapeError::Definition => f.write_str("it is the definition of a tool"),
            ShapeError::InCode => f.write_str("it stands in a block of code, which nobody runs"),
            ShapeError::BesideArguments(name) => {
                write!(f, "the argument `{}` stands beside the others", name.escape_debug())
            }
            ShapeError::Twice(key) => {
                write!(f, "the key `{}` stands twice with different values", key.escape_debug())
            }
        }
    }
}

/// Lists the names in ticks: `` `a`, `b` ``
fn listed(names: &[String]) -> String {
    let names = names.iter().map(|name| format!("`{}`", name.escape_debug()));
    names.collect::<Vec<_>>().join(", ")
}

/// The fault of a readable value that is not a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeError {
    /// The value has arguments, but no tool's name. These declared tools take such arguments.
    NoName(Vec<String>),
    /// The arguments are not an object, but a value of this type in JSON Schema (`string`, `array`, …).
    ArgumentsNotObject(&'static str),
    /// An expression stands where a value is needed: `f(a=g(1))`.
    Expression,
    /// The call stands in a block of code that nobody runs: `for c in cities:`.
    InCode,
    /// The value is the definition of a tool, or has its schema in the place of the arguments.
    Definition,
    /// The argument of this name stands beside the others: `{"name": "f", "arguments": {"a": 1}, "b": 2}`.
    BesideArguments(String),
    /// The key that names the tool, or holds the arguments, stands twice with different values.
    Twice(String),
}

/// The whole result of one answer of a model.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The model's words besides its calls, without markup.
    pub text: String,
    /// The model's thoughts, as far as they are marked.
    pub reasoning: String,
    /// The model's calls, in the order in which it made them.
    pub verdicts: Vec<Verdict>,
    /// The calls that the text only shows. They are a part of [`Outcome::text`].
    pub shown: Vec<ShownCall>,
}

/// A call that is shown, not made: a text that would be a call if it stood elsewhere. It stays in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShownCall {
    /// The name of its tool, as far as it can be read.
    pub name: Option<String>,
    /// The name of its dialect.
    pub dialect: Cow<'static, str>,
    /// Its place in the text, markup included.
    pub span: Span,
    /// The sign that it is only shown.
    pub by: ShownBy,
}

impl ShownCall {
    pub(crate) fn of(verdict: &Verdict, by: ShownBy) -> ShownCall {
        let (name, dialect, span) = verdict.head();
        ShownCall { name: name.map(str::to_owned), dialect: dialect.clone(), span, by }
    }
}

/// The sign that a call is only shown: the text around or beside it, never the meaning of that text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShownBy {
    /// A fence holds more than calls, or is not made of three backticks.
    Fence,
    /// The call is indented like code.
    Indent,
    /// A mark of a quotation, a table, a patch or a log begins its line.
    Prefix,
    /// An element stands around the call, with words outside.
    Element,
    /// Quotes, ticks, brackets or emphasis stand around the call, with words outside.
    Pair,
    /// Words stand before and behind the call on its line.
    Line,
    /// The call has no marks and is a word of a sentence.
    Sentence,
    /// The call has no marks and stands between words. A wrong call counts, too, if it stands beside words and the
    /// model makes its calls natively.
    Between,
    /// The call has no marks and stands beside a call with marks.
    OtherForm,
    /// The model made the same call before.
    Repeat,
    /// The call may be made or shown, and stays in the text: see [`Acceptance::unsure`]. Callers can
    /// [ask](Outcome::confirmation) the model.
    Unsure,
}

impl ShownBy {
    /// Returns its name: `fence`, `indent`, `prefix`, `element`, `pair`, `line`, `sentence`, `between`, `other_form`,
    /// `repeat`, `unsure`.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns its name, and the sign in words that end a sentence.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            ShownBy::Fence => {
                ("fence", "it stands in a fence with other text, or in one that is not of three backticks")
            }
            ShownBy::Indent => ("indent", "it is indented like code"),
            ShownBy::Prefix => {
                ("prefix", "its line begins with the mark of a quotation, a table, a patch or a log")
            }
            ShownBy::Element => ("element", "it stands in an element, with words outside"),
            ShownBy::Pair => {
                ("pair", "it stands between quotes, ticks, brackets or stars, with words outside")
            }
            ShownBy::Line => ("line", "words stand before and behind it on its line"),
            ShownBy::Sentence => ("sentence", "it is a word of a sentence, without marks of its own"),
            ShownBy::Between => ("between", "it stands among words, without marks of its own"),
            ShownBy::OtherForm => {
                ("other_form", "it stands beside a call with marks, and has none of its own")
            }
            ShownBy::Repeat => ("repeat", "it says again a call that was made"),
            ShownBy::Unsure => ("unsure", "it may be made as well as shown"),
        }
    }
}

/// The sign in words that end a sentence: `it is indented like code`.
impl fmt::Display for ShownBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().1)
    }
}

impl Outcome {
    /// Returns the accepted calls.
    pub fn calls(&self) -> impl Iterator<Item = &Acceptance> {
        self.verdicts.iter().filter_map(|v| match v {
            Verdict::Accepted(call) => Some(call),
            Verdict::Refused(_) => None,
        })
    }

    /// Returns the refused calls.
    pub fn refusals(&self) -> impl Iterator<Item = &Refusal> {
        self.verdicts.iter().filter_map(|v| match v {
            Verdict::Accepted(_) => None,
            Verdict::Refused(refusal) => Some(refusal),
        })
    }
}
