//! The speech of a dialect, as data: the text that teaches it, the list of the tools, the form of calls and results in
//! a conversation.
//!
//! Texts are templates. A known word in braces, such as `{name}`, is a slot; any other brace is a brace. A text that
//! fills a slot is not read again, so it cannot hold a slot of its own.
//!
//! Servers apply the model's own template around these texts, so no text holds a token that ends or begins a turn: the
//! server writes those, and one more would tear the conversation. Tokens that only mark calls and results stand in the
//! texts as the model knows them. llama.cpp, vLLM and SGLang make tokens of them. Where a server takes them for plain
//! letters, the letters still say the same, and the scanner reads the model's answer either way.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::definition::{Dialect, Grammar, NameAt};
use super::problem::DialectProblem;
use crate::grammar::{Arguments, Calls};
use crate::syntax::Text;

/// Longest text of a speech, in bytes.
const MAX_SPEECH: usize = 1 << 16;

/// Teaches a dialect whose models' own words are not published.
pub(crate) const GENERAL: &str = "# Tools\n\nYou may call these functions:\n<tools>\n{tools}\n</tools>\n\nTo call a function, write \
                       exactly this, with the function's name and its arguments:\n{calls}\n";

/// The texts that teach a dialect and write its calls and results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PromptFormat {
    /// These texts have the form that the dialect's models were trained on. Without a published form, only the calls
    /// have the dialect's own, and the rest a general one.
    pub trained: bool,
    /// The text that teaches the dialect. `{tools}` is the list of the tools, `{calls}` the form of a call, `{name}`
    /// its tool. `{otherwise}` says what to answer if no tool helps, and `{several}` that there may be several calls;
    /// each is empty where it does not apply.
    pub system: Text,
    /// The form of the list of tools.
    pub listing: Listing,
    /// The text for `{calls}`, if the models' template shows a form without a tool and without values:
    /// `{"name": <function-name>, "arguments": <args-json-object>}`. Else `{calls}` is a call of one of the caller's
    /// tools with dots for its values.
    pub example: Text,
    /// The form of an answer's calls.
    pub calls: Calls,
    /// The form of the results of an answer's calls.
    pub results: Results,
}

impl PromptFormat {
    /// Returns the general speech, with calls in the form of the markers of `dialect`.
    pub fn of(dialect: &Dialect) -> PromptFormat {
        let mut calls = marked(dialect);
        // The call's place fills the markers' slot for an id.
        calls.call = calls.call.replace("{id}", "{index}").into();
        PromptFormat { calls, system: GENERAL.into(), ..PromptFormat::default() }
    }

    /// Returns the speech of `dialect`, with the texts of [`PromptFormat::of`] for those that it lacks.
    pub(crate) fn whole(dialect: &Dialect) -> PromptFormat {
        let general = PromptFormat::of(dialect);
        let Some(mut speech) = dialect.speech.clone() else { return general };
        if speech.calls.call.is_empty() {
            speech.calls = general.calls;
        }
        if speech.system.is_empty() {
            speech.system = general.system;
        }
        speech
    }

    /// Returns the member that keeps the speech from being used, and its problem, as an error.
    pub(crate) fn check(&self) -> Result<(), (&'static str, DialectProblem)> {
        let PromptFormat { system, example, listing, calls, results, .. } = self;
        let argument = match &calls.arguments {
            Arguments::Tags(text) | Arguments::Elements(text) | Arguments::Relaxed(text) => Some(text),
            Arguments::Json | Arguments::Python(_) => None,
        };
        let texts = [
            system,
            example,
            &listing.each,
            &listing.between,
            &calls.open,
            &calls.call,
            &calls.between,
            &calls.close,
            &results.label,
            &results.open,
            &results.result,
            &results.between,
            &results.close,
            &results.role,
        ];
        if texts.into_iter().chain(argument).any(|text| MAX_SPEECH < text.len()) {
            return Err(("speech", DialectProblem::NotWith("its texts have at most 64 KiB each")));
        }
        let has = |text: &Text, slots: &[&str]| slots.iter().any(|slot| text.contains(slot));
        let (member, what) = if !has(&listing.each, &["{tool}"]) {
            ("speech.listing.each", "{tool} must stand in it")
        } else if !has(&results.result, &["{content}", "{json_content}"]) {
            ("speech.results.result", "{content} or {json_content} must stand in it")
        } else if !system.is_empty() && !has(system, &["{tools}"]) {
            ("speech.system", "{tools} must stand in it")
        } else if calls.call.is_empty() {
            return Ok(());
        } else if !has(&calls.call, &["{arguments}"]) || !has(&calls.call, &["{name}", "{json_name}"]) {
            ("speech.calls.call", "{arguments}, and {name} or {json_name}, must stand in it")
        } else {
            match &calls.arguments {
                Arguments::Tags(text) if !has(text, &["{key}"]) || !has(text, &["{value}"]) => {
                    ("speech.calls.arguments", "{key} and {value} must stand in it")
                }
                Arguments::Relaxed(mark) if mark.is_empty() => ("speech.calls.arguments", "it needs a mark"),
                _ => return Ok(()),
            }
        };
        Err((member, DialectProblem::Missing(what)))
    }
}

/// Returns the form of calls that the markers of `dialect` make.
pub(super) fn marked(dialect: &Dialect) -> Calls {
    let first = |marks: &[Text]| marks.first().cloned().unwrap_or_default().into_owned();
    let (open, close) = (first(&dialect.call.open), first(&dialect.call.close));
    let arguments = match dialect.arguments {
        Grammar::Json => Arguments::Json,
        Grammar::Calls => Arguments::Python('"'),
        Grammar::Tags => match &dialect.argument {
            Some(tags) => Arguments::Tags(format!("{}{{value}}{}\n", tags.open, tags.close).into()),
            None => Arguments::Tags("<parameter={key}>{value}</parameter>\n".into()),
        },
        Grammar::Elements => Arguments::Elements("".into()),
        Grammar::Relaxed => Arguments::Relaxed(dialect.string_mark.clone().unwrap_or_default()),
    };
    let payload = match (dialect.name_at, &arguments) {
        (NameAt::Payload, Arguments::Json) => "{\"name\": {json_name}, \"arguments\": {arguments}}",
        (NameAt::Payload, _) => "{name}({arguments})",
        (NameAt::Key, _) => "{{json_name}: {arguments}}",
        (NameAt::Opener, _) => "{arguments}",
        (NameAt::Tag, _) => "<{name}>{arguments}</{name}>",
        (NameAt::Header, _) => "{name}\n{arguments}",
    };
    Calls {
        open: first(&dialect.section.open).into(),
        call: format!("{open}{payload}{close}").into(),
        between: "\n".into(),
        close: first(&dialect.section.close).into(),
        arguments,
    }
}

/// The form of the list of tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Listing {
    /// The form of one tool.
    pub form: Definition,
    /// The text around one tool, which is `{tool}`.
    pub each: Text,
    /// The text between two tools.
    pub between: Text,
}

impl Default for Listing {
    fn default() -> Listing {
        Listing { form: Definition::default(), each: Cow::Borrowed("{tool}"), between: Cow::Borrowed("\n") }
    }
}

/// The form of one tool's definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Definition {
    /// `{"type":"function","function":{"name":…,"description":…,"parameters":…}}`
    #[default]
    Json,
    /// `{"name":…,"description":…,"parameters":…}`
    Function,
    /// [`Json`](Definition::Json) over several lines.
    Indented,
    /// A few lines of words: `get_weather: Get the weather⏎  city (string): Where`.
    Signature,
    /// `def get_weather(city: str):` and a docstring.
    Python,
    /// `// Get the weather⏎type get_weather = (_: {…}) => any;`
    TypeScript,
    /// `<function>⏎<name>get_weather</name>⏎…</function>`
    Xml,
    /// `declaration:get_weather{description:<|"|>…<|"|>,parameters:{…}}`, with this mark at both ends of a string.
    Declaration(Text),
}

/// The form of results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Results {
    /// The text that names the tool in front of its result, if the result's own form does not: `Result of {name}:⏎`.
    pub label: Text,
    /// The text before the first result of an answer's calls.
    pub open: Text,
    /// One result. `{content}` is its text, `{json_content}` the same as a JSON string. `{name}`, `{json_name}`,
    /// `{index}` and `{number}` belong to its call, and `{fence}` is a fence that no text in the result can end.
    pub result: Text,
    /// The text between two results.
    pub between: Text,
    /// The text behind the last result.
    pub close: Text,
    /// The role of the turn that held results in training. Servers that know no tools take them from the user; see
    /// [`Speaking::result_role`](crate::prompt::Speaking::result_role).
    pub role: Text,
}

impl Default for Results {
    fn default() -> Results {
        Results {
            label: Cow::Borrowed("Result of {name}:\n"),
            open: Cow::Borrowed(""),
            result: Cow::Borrowed("<tool_response>\n{content}\n</tool_response>"),
            between: Cow::Borrowed("\n"),
            close: Cow::Borrowed(""),
            role: Cow::Borrowed("user"),
        }
    }
}
