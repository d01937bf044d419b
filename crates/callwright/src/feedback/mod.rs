//! Advises the model about a call that may not run.
//!
//! A [`Refusal`] goes in; a [`Feedback`] comes out: the fault, its place, and one way to fix it. It has fields for
//! programs and texts for three readers: a model that writes its calls as text, a model that calls natively, and a
//! person. This module decides nothing.

mod diagnosis;
mod drawing;
mod json_loads;
mod note;
mod prompt_calls;
mod suspect;
mod trouble;

use std::borrow::Cow;
use std::fmt;

use callwright_json::{AnyValue, Diagnostic, Problem, Span, read, strict};

pub use diagnosis::{Diagnosis, Fix, diagnose};
pub use drawing::Position;
pub use json_loads::{JsonLoadsError, json_loads_error};
pub use prompt_calls::{PromptError, calls_or_error, prompt_tool_calls};
pub use trouble::Trouble;

use crate::prompt::spaced;
use crate::shape::keys;
use crate::value::Value;
use crate::verdict::{NATIVE, Reason, Refusal, ShapeError, TEXT};

/// Most characters of a block that the model sees.
const BLOCK_SHOWN: usize = 100;
/// Most characters of each reading of an ambiguous call that the model sees.
const READING_SHOWN: usize = 200;
/// Most declared tools that the model sees.
const TOOLS_SHOWN: usize = 30;

/// The advice for the model about one refused call.
#[derive(Clone, Debug, Default)]
pub struct Feedback {
    /// The stable name of the reason: [`Reason::code`].
    pub code: &'static str,
    /// The id that the upstream gave the call, if any.
    pub id: Option<String>,
    /// The call's number in the answer, counted from 1.
    pub number: usize,
    /// The name of its tool, as far as it can be read.
    pub name: Option<String>,
    /// The name of the dialect that the call was written in.
    pub dialect: Cow<'static, str>,
    /// The payload as the model wrote it; all places are places in it.
    pub block: String,
    /// The fault, in one line: `Extra data`, `path must be a string`.
    pub message: String,
    /// The error of `json.loads`, if the block is meant as JSON and is not.
    pub json_error: Option<JsonLoadsError>,
    /// The fault of such a block.
    pub trouble: Option<Trouble>,
    /// The suspect place, in bytes of the block.
    pub at: Option<Span>,
    /// The advice for the model, one sentence each, without full stop.
    pub hints: Vec<String>,
    /// The block, fixed.
    pub fix: Option<Fix>,
    /// The readings of an ambiguous call, as strict JSON.
    pub readings: Vec<String>,
    /// The tools that the model may call, if it named another one.
    pub tools: Vec<String>,
}

impl Refusal {
    /// Returns the advice for the model.
    ///
    /// ```
    /// use callwright::{Reason, Refusal};
    ///
    /// let block = r#"{"tool": "run_code", "arguments": {"code": "1"}}}}"#;
    /// let refusal = Refusal {
    ///     id: None,
    ///     name: Some("run_code".into()),
    ///     dialect: "json_fence".into(),
    ///     number: 1,
    ///     span: callwright_json::Span::new(0, block.len()),
    ///     block: block.into(),
    ///     reason: Reason::Unreadable(Vec::new()),
    /// };
    /// let feedback = refusal.feedback();
    /// assert_eq!(feedback.hints, ["You have 2 extra closing braces }"]);
    /// assert_eq!(feedback.fix.unwrap().text, r#"{"tool": "run_code", "arguments": {"code": "1"}}"#);
    /// ```
    pub fn feedback(&self) -> Feedback {
        let blank = Feedback {
            code: self.reason.code(),
            id: self.id.clone(),
            number: self.number,
            name: self.name.clone(),
            dialect: self.dialect.clone(),
            block: self.block.clone(),
            ..Feedback::default()
        };
        match &self.reason {
            Reason::Unreadable(diagnostics) => blank.unreadable(diagnostics, false),
            Reason::Truncated(diagnostics) => blank.unreadable(diagnostics, true),
            Reason::OpenEnd(_) => blank.unreadable(&[], true),
            Reason::UnknownTool { nearest, declared } => blank.unknown_tool(nearest, declared),
            Reason::NotOffered { offered } => blank.not_offered(offered),
            Reason::Ambiguous { readings } => Feedback {
                message: match readings.len() {
                    // A refusal for the marks of a call in tags has only the nearest reading at hand.
                    0 | 1 => format!("The {} can be read in more than one way", blank.what()),
                    n => format!("The {} can be read in {n} ways", blank.what()),
                },
                hints: vec![match blank.is_about_text() {
                    false => String::from("Send the call again as strict JSON, the way you mean it"),
                    true => String::from("Send it again as strict JSON, the way you mean it"),
                }],
                readings: readings.clone(),
                ..blank
            },
            Reason::Shape(error) => blank.shape(error),
            Reason::Invalid(_) if blank.is_about_text() => {
                let hints = vec![String::from("Send JSON that fits its schema")];
                Feedback { message: self.reason.to_string(), hints, ..blank }
            }
            Reason::Invalid(_) => {
                let name = self.name.as_deref().unwrap_or("the tool");
                let hints = vec![format!("Call {name} again with arguments that fit its schema")];
                Feedback { message: self.reason.to_string(), hints, ..blank }
            }
        }
    }
}

impl Feedback {
    fn unreadable(mut self, diagnostics: &[Diagnostic], cut: bool) -> Feedback {
        let is_json = is_meant_as_json(&self.block);
        if let Some(found) = is_json.then(|| diagnose(&self.block, cut)).flatten() {
            self.hints = found.hints(&self.block);
            if self.is_about_text()
                && let Some(hint) = told_of_text(&found.trouble)
            {
                self.hints = vec![String::from(hint)];
            }
            self.message = String::from(found.error.message);
            self.json_error = Some(found.error);
            self.trouble = Some(found.trouble);
            self.at = Some(found.at);
            self.fix = found.fix;
        } else {
            // `json.loads` takes the block, or the block is in another language.
            let own =
                if diagnostics.is_empty() { read(&self.block, &AnyValue).diagnostics } else { Vec::new() };
            let first = diagnostics.first().or(own.first());
            let problem = if cut { Problem::Truncated } else { Problem::Unreadable };
            let problem = first.map_or(problem, |diagnostic| diagnostic.problem);
            let (message, hint) = if self.is_about_text() { told_text(problem) } else { told(problem) };
            self.message = String::from(message);
            self.at = first.map(|diagnostic| diagnostic.at);
            self.hints.extend(hint.map(String::from));
        }
        if cut {
            self.hints_of_cut();
        }
        self
    }

    /// Adds the advice about a cut. What else is wrong is not the reason for the refusal, so it comes behind.
    fn hints_of_cut(&mut self) {
        let is_about_end = match &self.trouble {
            None | Some(Trouble::UnclosedString(_) | Trouble::Cut(_) | Trouble::MissingClosers(_)) => true,
            Some(_) => false,
        };
        let advice = match self.is_about_text() {
            false => "The call ends too early: send it again in full, shorter or in several parts",
            true => "The JSON ends too early: send it again in full, or shorter",
        };
        if is_about_end {
            self.hints.push(String::from(advice));
            return;
        }
        self.hints.insert(0, String::from(advice));
        if self.is_about_text() {
            self.message = String::from(told_text(Problem::Truncated).0);
            self.at = Some(Span::at(self.block.trim_end().len()));
            self.trouble = Some(Trouble::Cut(String::new()));
        }
    }

    /// Returns whether a whole text was refused that was to be JSON, and not a call.
    fn is_about_text(&self) -> bool {
        self.dialect == TEXT
    }

    /// Returns the name of what was refused.
    fn what(&self) -> &'static str {
        if self.is_about_text() { "JSON" } else { "call" }
    }

    fn unknown_tool(self, nearest: &[String], declared: &[String]) -> Feedback {
        let named = self.name.as_deref().unwrap_or("");
        let hint = match declared.len() {
            0 => String::from("There are no tools: answer in words"),
            _ => format!("The tools are: {}. Where none of them helps, answer in words", listed(declared)),
        };
        let nearest = nearest.first().map(|nearest| format!("The nearest tool is {nearest}"));
        let hints = nearest.into_iter().chain([hint]).collect();
        Feedback { message: format!("Unknown tool: {named}"), hints, tools: declared.to_vec(), ..self }
    }

    fn not_offered(self, offered: &[String]) -> Feedback {
        let named = self.name.as_deref().unwrap_or("");
        let hint = match offered {
            [] => String::from("Answer in words"),
            [one] => format!("Call {one}"),
            several => format!("Call one of these: {}", listed(several)),
        };
        let message = format!("The tool {named} may not be called in this answer");
        Feedback { message, hints: vec![hint], tools: offered.to_vec(), ..self }
    }

    fn shape(self, error: &ShapeError) -> Feedback {
        let name = self.name.as_deref().unwrap_or("…");
        let call = |arguments: &str| format!("{{\"tool\": \"{name}\", \"arguments\": {arguments}}}");
        let (message, hint) = match error {
            ShapeError::NoName(_) => (
                String::from("Missing 'tool' key: the call does not say which tool it wants"),
                format!("Name the tool beside the arguments: {}", call("{…}")),
            ),
            ShapeError::ArgumentsNotObject(kind) => (
                format!("'arguments' must be a dict/object, got {}", python_type(kind, &self.block)),
                format!("Give each argument under its name: {}", call("{\"…\": …}")),
            ),
            ShapeError::Expression => (
                String::from("An expression stands where a value is needed"),
                String::from("Write the value itself; a call inside a call cannot be run"),
            ),
            ShapeError::Definition => (
                String::from("This is the definition of a tool, not a call of it"),
                format!("Call the tool with values for its parameters: {}", call("{…}")),
            ),
            ShapeError::InCode => (
                String::from("The call stands inside a block of code, and code is not run"),
                String::from("Make each call by itself, with its values written out"),
            ),
            ShapeError::Twice(key) => (
                format!("'{key}' stands twice in one call, with different values"),
                String::from(
                    "Make two calls, each with its own name and arguments, or give the key only once",
                ),
            ),
            ShapeError::BesideArguments(key) => (
                format!("'{key}' stands outside the arguments of the call"),
                format!("Put all arguments into one object: {}", call("{…}")),
            ),
        };
        let at = arguments_span(&self.block).filter(|_| matches!(error, ShapeError::ArgumentsNotObject(_)));
        let mut hints = vec![hint];
        let mut tools = Vec::new();
        if let ShapeError::NoName(fitting) = error
            && !fitting.is_empty()
        {
            let shown = fitting.get(..TOOLS_SHOWN).unwrap_or(fitting).join(", ");
            hints.push(format!("These tools take such arguments: {shown}"));
            tools.clone_from(fitting);
        }
        Feedback { message, hints, at, tools, ..self }
    }

    /// Returns whether the call is broken as JSON, or as the JSON form of a call.
    fn is_about_json(&self) -> bool {
        self.json_error.is_some() || self.code == "shape"
    }

    /// Returns the error for a model that writes its calls as text: without frame, without line break at the end.
    ///
    /// ```text
    /// Tool call 1: Invalid JSON at position 61
    ///   Error: Extra data
    ///   Your JSON: {"tool": "run_code", "arguments": {"code": "print('hello')"}}}}
    ///   → You have 2 extra closing braces }
    /// ```
    pub fn error(&self) -> String {
        let what = match (&self.json_error, self.code) {
            (Some(error), _) => format!("Invalid JSON at position {}", error.position),
            (None, "unknown-tool") => String::from("Unknown tool"),
            (None, "not-offered") => String::from("Tool not offered"),
            (None, "ambiguous") => String::from("Ambiguous call"),
            (None, "shape") => String::from("Invalid structure"),
            (None, "invalid") => String::from("Invalid arguments"),
            (None, _) => String::from("Unreadable call"),
        };
        let yours = if is_meant_as_json(&self.block) { "JSON" } else { "call" };
        let mut lines = vec![
            format!("Tool call {}: {what}", self.number),
            format!("  Error: {}", self.message),
            format!("  Your {yours}: {}", shortened(&self.block, BLOCK_SHOWN)),
        ];
        let readings = self.readings.iter().enumerate();
        lines.extend(readings.map(|(n, r)| format!("  Reading {}: {}", n + 1, shortened(r, READING_SHOWN))));
        lines.extend(self.hints.iter().map(|hint| format!("  → {hint}")));
        lines.extend(self.example().map(|example| format!("  → {example}")));
        lines.join("\n")
    }

    /// Returns the fix, if the hint alone does not tell the model what to write.
    fn example(&self) -> Option<String> {
        if let Some(Trouble::ExtraClosers(_) | Trouble::MissingClosers(_)) = self.trouble {
            return None;
        }
        let fix = self.fix.as_ref()?;
        let how = if fix.certain { "Write" } else { "For example" };
        Some(format!("{how}: {}", fix.snippet(&self.block)))
    }

    /// Returns the message of role `user` that carries the error to a model that writes its calls as text.
    pub fn user_message(&self) -> String {
        prompt_calls::framed(&self.error(), std::slice::from_ref(self))
    }

    /// Returns the content of the message of role `tool` that answers this call's id, for a model that calls natively.
    /// It is a JSON object with `error` and, if they have content, `hint`, `fix`, `readings` and `tools`.
    ///
    /// ```text
    /// {"error": "Invalid JSON: Extra data: line 1 column 9 (char 8)", "hint": "You have 1 extra closing brace }"}
    /// {"error": "path must be a string"}
    /// ```
    pub fn tool_result(&self) -> String {
        let error = match (&self.json_error, self.code) {
            (_, "truncated") if self.is_about_text() => {
                String::from("The JSON was cut off before it was complete")
            }
            (_, "truncated") => String::from("The tool call was cut off before it was complete"),
            (Some(error), _) => format!("Invalid JSON: {error}"),
            (None, _) => self.message.clone(),
        };
        // The error itself names the whole violation of a schema.
        let has_hint = self.code != "invalid" && !self.hints.is_empty();
        let listed = |texts: Vec<String>| (!texts.is_empty()).then(|| Value::from(texts));
        let readings = self.readings.iter().map(|reading| shortened(reading, READING_SHOWN));
        let members = [
            ("error", Some(Value::from(error))),
            ("hint", has_hint.then(|| Value::from(self.hints.join(". ")))),
            ("fix", self.example().map(Value::from)),
            ("readings", listed(readings.collect())),
            ("tools", listed(self.tools.iter().take(TOOLS_SHOWN).cloned().collect())),
        ];
        spaced(&members.into_iter().filter_map(|(key, said)| Some((key, said?))).collect())
    }

    /// Returns the text for the model, in its own channel: [`tool_result`](Feedback::tool_result) for a native call,
    /// [`user_message`](Feedback::user_message) for one in the text.
    pub fn message_to_model(&self) -> String {
        if self.dialect == NATIVE { self.tool_result() } else { self.user_message() }
    }

    /// Returns the suspect place by line and column of the block.
    pub fn position(&self) -> Option<Position> {
        self.at.map(|at| Position::of(&self.block, at.range().start))
    }
}

/// The text for a person: the call, its fault, and the suspect place under a caret.
///
/// ```text
/// tool call 1 (`run_code`, json_fence): not valid JSON at line 1, column 44
///   {"tool": "run_code", "arguments": {"code": "print(1)}}
///                                              ^ this string is never closed
/// ```
impl fmt::Display for Feedback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            _ if self.is_about_text() => f.write_str("the text: ")?,
            Some(name) => write!(f, "tool call {} (`{name}`, {}): ", self.number, self.dialect)?,
            None => write!(f, "tool call {} ({}): ", self.number, self.dialect)?,
        }
        match (&self.trouble, self.code) {
            (Some(_), "truncated") => f.write_str("cut off")?,
            (Some(_), _) => f.write_str("not valid JSON")?,
            (None, _) => f.write_str(&lower_first(&self.message))?,
        }
        if let (Some(at), Some(position)) = (self.at, self.position()) {
            writeln!(f, " at line {}, column {}", position.line, position.column)?;
            let label = self.trouble.as_ref().map_or_else(|| String::from("here"), Trouble::label);
            f.write_str(&drawing::draw(&self.block, at, &label))?;
        }
        for (n, reading) in self.readings.iter().enumerate() {
            write!(f, "\n  reading {}: {}", n + 1, shortened(reading, READING_SHOWN))?;
        }
        Ok(())
    }
}

/// Returns the message and the advice about a problem that `json.loads` would not see.
fn told(problem: Problem) -> (&'static str, Option<&'static str>) {
    match problem {
        Problem::NoValue => ("There is no call in it", Some("Send the call as one JSON object")),
        Problem::Truncated => ("The call ends before it is complete", None),
        Problem::Ambiguous => (
            "The call can be read in several ways",
            Some("Send it again as strict JSON, the way you mean it"),
        ),
        Problem::SeveralValues => {
            ("There are several different values where one is needed", Some("Send one JSON value per call"))
        }
        Problem::DuplicateKey => {
            ("One key stands twice with different values", Some("Give each key only once"))
        }
        Problem::SwallowedMember => (
            "A string goes on over what looks like another argument",
            Some("Close the string before the next argument, and escape the quotes that belong to it"),
        ),
        Problem::Limit => (
            "The call is nested deeper than 128 levels, or can be read in more ways than are looked at",
            Some("Send a shorter call, as strict JSON"),
        ),
        Problem::NotANumber => {
            ("JSON has no NaN and no Infinity", Some("Write a decimal number, null, or a string"))
        }
        Problem::OpenEscape => {
            ("A backslash begins no JSON escape", Some("Write \\\\ for a backslash, or leave it out"))
        }
        _ => ("The call cannot be read", Some("Send the call again as one strict JSON object")),
    }
}

/// Returns the message and the advice about a problem of a whole text that `json.loads` would not see.
fn told_text(problem: Problem) -> (&'static str, Option<&'static str>) {
    match problem {
        Problem::NoValue => ("There is no JSON in it", Some("Send one JSON value")),
        Problem::Truncated => ("The JSON ends before it is complete", None),
        Problem::Ambiguous => (
            "The JSON can be read in several ways",
            Some("Send it again as strict JSON, the way you mean it"),
        ),
        Problem::SeveralValues => {
            ("There are several different values where one is needed", Some("Send one JSON value"))
        }
        Problem::SwallowedMember => (
            "A string goes on over what looks like another member",
            Some("Close the string before the next member, and escape the quotes that belong to it"),
        ),
        Problem::Limit => (
            "The JSON is nested deeper than 128 levels, or can be read in more ways than are looked at",
            Some("Send a shorter one, as strict JSON"),
        ),
        Problem::DuplicateKey | Problem::NotANumber | Problem::OpenEscape => told(problem),
        _ => ("The JSON cannot be read", Some("Send it again as strict JSON")),
    }
}

/// Returns the advice about a fault of a whole text, where that about a call is another one.
fn told_of_text(trouble: &Trouble) -> Option<&'static str> {
    match trouble {
        Trouble::NoJson => Some("There is no JSON here: send one JSON value"),
        Trouble::SeveralValues => Some("Send one JSON value"),
        _ => None,
    }
}

/// Returns whether `block` is JSON so far, rather than a call expression or markup: `[f(a=1)]` is not.
fn is_meant_as_json(block: &str) -> bool {
    let inner = block.trim_start().trim_start_matches(['[', ' ', '\n', '\r', '\t']);
    let word = inner.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let is_call = word.len() < inner.len() && word.starts_with('(');
    !is_call && !inner.starts_with('<')
}

/// Returns Python's name for a type of JSON Schema, as it stands in `block`.
fn python_type(kind: &str, block: &str) -> &'static str {
    match kind {
        "string" => "str",
        "array" => "list",
        "boolean" => "bool",
        "null" => "NoneType",
        "number" if arguments_span(block).is_some_and(|at| at.of(block).contains(['.', 'e', 'E'])) => "float",
        "integer" | "number" => "int",
        _ => "dict",
    }
}

/// Returns the place of the arguments in a block that is strict JSON.
fn arguments_span(block: &str) -> Option<Span> {
    let tree = strict(block).ok()?;
    let call = tree.root(block);
    keys::ARGUMENTS.iter().find_map(|key| call.get(key)).map(|value| value.span())
}

/// Lists the names of tools, as many as the model sees.
fn listed(tools: &[String]) -> String {
    match tools.split_at_checked(TOOLS_SHOWN) {
        Some((shown, more @ [_, ..])) => format!("{}, and {} more", shown.join(", "), more.len()),
        _ => tools.join(", "),
    }
}

/// Returns the first `len` characters, and `...` if there are more.
fn shortened(text: &str, len: usize) -> String {
    match text.char_indices().nth(len) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// Returns the text for the middle of a line: `The call …` → `the call …`, but `JSON …` stays.
fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let (first, second) = (chars.next(), chars.clone().next());
    match first {
        Some(first) if second.is_some_and(char::is_lowercase) => first.to_lowercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}
