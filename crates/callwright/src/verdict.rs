//! What became of each call that a model tried to make: accepted, or refused with a reason.

use std::borrow::Cow;
use std::fmt;

use callwright_json::{Class, Diagnostic, Problem, Repair, Span, class_of};
use callwright_schema::{Coercion, Violation};
use serde::de::DeserializeOwned;

use crate::tools::nearest::nearest_tool;
use crate::tools::{Tool, ToolSet};
use crate::value::Value;

/// The name of the dialect of calls that an upstream made natively, which stand in no text.
pub(crate) const NATIVE: &str = "native";

/// The end of the matter for one call. Exhaustive on purpose: a caller must act on both.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// A declared tool, arguments that fit its schema, and only one way to read them.
    Accepted(Acceptance),
    /// Not a call that may run, and why.
    Refused(Refusal),
}

impl Verdict {
    /// Was the call made natively, not found in the text?
    pub fn is_native(&self) -> bool {
        self.head().1 == NATIVE
    }

    /// The tool that it names, as far as that can be read, its dialect, and where it stands.
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
    /// The arguments: strict JSON text of an object that fits the tool's schema. Byte for byte the model's
    /// where that was valid.
    pub arguments: String,
    /// The name of the dialect that the call was written in.
    pub dialect: Cow<'static, str>,
    /// Where the call stands in the text, markup included.
    pub span: Span,
    /// What was repaired: edits of the text, or of the native argument text.
    pub repairs: Vec<Repair>,
    /// The name as the model wrote it, where that was not the declared one; empty where it wrote none, and the request leaves
    /// one tool.
    pub renamed_from: Option<String>,
    /// Values that were given the type that the schema asks for.
    pub coercions: Vec<Coercion>,
    /// How it stands to what the model says beside its calls; `None` where it says nothing, and of a native call. In an
    /// [event](crate::Event::Call) it is not known yet what comes behind it.
    pub beside_prose: Option<BesideProse>,
    /// The answer ends before the call does, and the tool's schema lets more stand there: `{"city": "Paris"` of a tool
    /// that also takes `days`. Whether the model forgot the bracket or was cut, the text cannot tell: where a call
    /// that lacks something costs more than a question, ask before it runs.
    pub open_end: bool,
    /// To hold its arguments against all of the tool's schema would take more work than a check may do, and nothing that was
    /// looked at is wrong: see [`Schema::check_whole`](crate::Schema::check_whole). [`Policy::Strict`](crate::Policy::Strict) refuses it.
    /// What of a schema is never checked is known before: [`ToolSet::unchecked`](crate::ToolSet::unchecked).
    pub unchecked: bool,
    /// It stands where a call may as well be shown as made: between words, in another dialect than the one that was asked
    /// for ([`Context::asked`](crate::Context::asked)). Ask before it runs: the model may be told to make it alone.
    pub unsure: bool,
    /// It stands in reasoning that the upstream keeps apart ([`Delta::Reasoning`](crate::Delta::Reasoning)), and so do its
    /// places: they are bytes of the stretch of reasoning that it stands in.
    pub is_apart: bool,
}

/// How a call in the text stands to the words beside it, from the surest sign that it is meant to the weakest. What is said
/// between its words, or in the middle of a sentence, may be shown rather than made: who may run it should ask.
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
    /// Its name: `above`, `below`, `line`, `between`, `sentence`.
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
    /// The arguments as a value of a type of one's own; the text itself is the field of this name.
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
    /// When they are no `T`: the schema allows what the type does not.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.arguments)
    }

    /// The refusal of the call, which stands at `span` of `text`.
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

    /// The arguments as JSON, members and numbers as they are written.
    pub fn to_value(&self) -> Value {
        // INVARIANT: what is accepted is strict JSON, and no string in it holds half a surrogate pair.
        self.arguments.parse().unwrap_or_default()
    }

    /// The arguments without whitespace between tokens, otherwise as they stand: `{"a": 1}` → `{"a":1}`.
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

    /// The worst class of all that was done to the call.
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
    /// The tool that it names, as far as that can be read.
    pub name: Option<String>,
    /// The name of the dialect that the call was written in.
    pub dialect: Cow<'static, str>,
    /// Which call of the answer it is, counted from 1.
    pub number: usize,
    /// Where the call stands in the text, markup included.
    pub span: Span,
    /// The payload as the model wrote it: the JSON block, the argument list.
    pub block: String,
    /// Why.
    pub reason: Reason,
}

/// Why a call is refused.
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
    /// The tool is declared, but the request that was answered offers others alone.
    NotOffered {
        /// The names of those that it offers.
        offered: Vec<String>,
    },
    /// The payload cannot be read. The diagnostics' spans are bytes of [`Refusal::block`].
    Unreadable(Vec<Diagnostic>),
    /// The payload ends before the call does; the spans are bytes of [`Refusal::block`].
    Truncated(Vec<Diagnostic>),
    /// The call was repaired at its end, and more could have stood there: see [`Acceptance::open_end`]. The call as it
    /// would be if nothing were missing; it is right if the model makes it again. Only where
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
    /// The refusal of a whole text that [`crate::heal`] could not repair, for `reason`: what it says of calls holds for
    /// such a text too.
    pub fn of_text(text: &str, reason: Reason) -> Refusal {
        Refusal {
            id: None,
            name: None,
            dialect: "json".into(),
            number: 1,
            span: Span::new(0, text.len()),
            block: text.to_owned(),
            reason,
        }
    }
}

impl Reason {
    /// Says that none of the declared `tools` is `written`.
    pub(crate) fn unknown_tool(written: &str, tools: &ToolSet) -> Reason {
        let declared = || tools.iter().map(Tool::name);
        let nearest = nearest_tool(written, &mut declared()).into_iter().map(str::to_owned).collect();
        Reason::UnknownTool { nearest, declared: declared().map(str::to_owned).collect() }
    }

    /// The stable name for programs.
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

/// Was a bound met: that of nesting, or that of the ways to read a text?
fn is_too_long(why: &[Diagnostic]) -> bool {
    why.first().is_some_and(|diagnostic| diagnostic.problem == Problem::Limit)
}

/// The first bound is [`MAX_DEPTH`](callwright_json::MAX_DEPTH).
const TOO_LONG: &str = "it is nested deeper than 128 levels, or can be read in more ways than are looked at";

/// One lower-case sentence for people and logs. What to tell a model is [`Refusal::feedback`].
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

/// `` `a`, `b` ``
fn listed(names: &[String]) -> String {
    let names = names.iter().map(|name| format!("`{}`", name.escape_debug()));
    names.collect::<Vec<_>>().join(", ")
}

/// How a readable value fails to be a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeError {
    /// It has arguments, but nothing names the tool. These declared ones take them.
    NoName(Vec<String>),
    /// The arguments are of another type than an object: its JSON Schema name (`string`, `array`, …).
    ArgumentsNotObject(&'static str),
    /// An expression stands where a value is needed: `f(a=g(1))`.
    Expression,
    /// It stands in a block of code, `for c in cities:`, which nobody runs.
    InCode,
    /// It is the definition of a tool, or has the schema of one in the place of its arguments.
    Definition,
    /// The argument of this name stands beside the others: `{"name": "f", "arguments": {"a": 1}, "b": 2}`.
    BesideArguments(String),
    /// The key that names the tool, or holds the arguments, stands twice with different values.
    Twice(String),
}

/// Everything that one answer of a model came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What the model said besides its calls, markup taken out.
    pub text: String,
    /// What it thought, where that is marked as such.
    pub reasoning: String,
    /// Its calls, in the order in which it made them.
    pub verdicts: Vec<Verdict>,
    /// What looks like a call in the text and is only shown there. It is a part of [`Outcome::text`].
    pub shown: Vec<ShownCall>,
}

/// A call that is shown, not made: a text that would be a call if it stood elsewhere. It stays in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShownCall {
    /// The tool that it names, as far as that can be read.
    pub name: Option<String>,
    /// The name of the dialect that it is written in.
    pub dialect: Cow<'static, str>,
    /// Where it stands in the text, markup included.
    pub span: Span,
    /// What shows it.
    pub by: ShownBy,
}

impl ShownCall {
    pub(crate) fn of(verdict: &Verdict, by: ShownBy) -> ShownCall {
        let (name, dialect, span) = verdict.head();
        ShownCall { name: name.map(str::to_owned), dialect: dialect.clone(), span, by }
    }
}

/// What says that a call is only shown: what stands around it or beside it, never what that means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShownBy {
    /// A fence that holds more than calls, or is none of three backticks.
    Fence,
    /// Its indent, that of code.
    Indent,
    /// The mark at the beginning of its line: of a quotation, a table, a patch, a log.
    Prefix,
    /// An element around it, with words outside.
    Element,
    /// Quotes, ticks, brackets or emphasis around it, with words outside.
    Pair,
    /// Words before and behind it on its line.
    Line,
    /// Without marks, it is a word of a sentence.
    Sentence,
    /// Without marks, it stands between words; or beside words, where the model makes its calls natively, and is not right.
    Between,
    /// Without marks, it stands beside a call with marks.
    OtherForm,
    /// It says a call again that was made before.
    Repeat,
    /// It may be made or shown, and stays in the text: see [`Acceptance::unsure`]. Who can ask the model
    /// [may](Outcome::confirmation).
    Unsure,
}

impl ShownBy {
    /// Its name: `fence`, `indent`, `prefix`, `element`, `pair`, `line`, `sentence`, `between`, `other_form`,
    /// `repeat`, `unsure`.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Its name, and why the call is shown, as the end of a sentence.
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

/// Why the call is shown, as the end of a sentence: `it is indented like code`.
impl fmt::Display for ShownBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().1)
    }
}

impl Outcome {
    /// The accepted calls.
    pub fn calls(&self) -> impl Iterator<Item = &Acceptance> {
        self.verdicts.iter().filter_map(|v| match v {
            Verdict::Accepted(call) => Some(call),
            Verdict::Refused(_) => None,
        })
    }

    /// The refused calls.
    pub fn refusals(&self) -> impl Iterator<Item = &Refusal> {
        self.verdicts.iter().filter_map(|v| match v {
            Verdict::Accepted(_) => None,
            Verdict::Refused(refusal) => Some(refusal),
        })
    }
}
