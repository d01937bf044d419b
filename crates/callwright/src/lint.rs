//! Finds tool definitions that are hard for a model to use, or dear: a tool set goes in, findings come out.
//!
//! Definitions go with every request, so their cost counts in tokens. [`tokens`] is an estimate, without any model's
//! tokenizer.

use std::collections::HashSet;
use std::fmt;

use callwright_schema::keywords::{pointer_step, standard_type};
use callwright_schema::{SchemaError, Unchecked};

use crate::tools::{self, Tool, ToolProblem, ToolSet, ToolSetError, parameters};
use crate::value::Value;

/// Most tokens of a description that is not searched for filler.
const SHORT: usize = 20;
/// Most tokens of a description.
const LONG: usize = 120;
/// Fewest words that can say what a tool does.
const FEWEST_WORDS: usize = 3;
/// Longest name that all servers take.
const MAX_NAME: usize = 64;
/// Beginnings of descriptions that say little in many words.
const FILLER: &[&str] = &[
    "this function",
    "this tool",
    "this method",
    "this api",
    "this is a",
    "allows you to",
    "it will",
    "in order to",
    "can be used to",
    "is used to",
    "is responsible for",
    "the purpose of",
];
/// Words in the names of parameters whose values have a form of their own: an example shows it best.
const FORMED: &[&str] = &[
    "path",
    "file",
    "filename",
    "dir",
    "directory",
    "folder",
    "glob",
    "pattern",
    "url",
    "uri",
    "date",
    "regex",
];
/// Words that introduce an example.
const EXAMPLE: &[&str] =
    &["e.g.", "eg.", "example", "such as", "for instance", "like '", "like \"", "like `"];
/// Words that introduce a list of the only values.
const CHOICE: &[&str] =
    &["one of", "either", "options:", "options are", "allowed values", "possible values", "must be"];

/// The weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The definition could be better.
    Hint,
    /// Models are known to make wrong calls with such a definition, or it costs without use.
    Warning,
    /// The definition cannot be used as it is, or says something else than it seems to.
    Error,
}

/// One thing that could be better in a tool's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The weight of the finding.
    pub severity: Severity,
    /// The stable name of the rule: `description-too-long`.
    pub rule: &'static str,
    /// The tool's name, or `tool 2`, counted from 1, for a tool without one.
    pub tool: String,
    /// A JSON pointer into the tool's schema: `/properties/path`; empty for the tool itself.
    pub pointer: String,
    /// One sentence without full stop: what is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Hint => "hint",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}: {}{}: {} ({})", self.tool, self.pointer, self.message, self.rule)
    }
}

/// Checks every definition, in the order of declaration.
pub fn lint(tool_set: &ToolSet) -> Vec<Finding> {
    let has_choice = 1 < tool_set.len();
    let mut all = Vec::new();
    for tool in tool_set.iter() {
        Findings { tool: tool.name(), all: &mut all }.of_tool(tool, has_choice);
    }
    for (tool, unchecked) in tool_set.unchecked() {
        Findings { tool, all: &mut all }.not_checked(unchecked);
    }
    all
}

/// The findings about one tool.
struct Findings<'a> {
    tool: &'a str,
    all: &'a mut Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, severity: Severity, rule: &'static str, pointer: &str, message: impl Into<String>) {
        let (tool, pointer, message) = (self.tool.to_owned(), pointer.to_owned(), message.into());
        self.all.push(Finding { severity, rule, tool, pointer, message });
    }

    fn of_tool(&mut self, tool: &Tool, has_choice: bool) {
        name(tool, self);
        description(tool, has_choice, self);
        arguments(tool, self);
    }

    /// Adds a finding about a part of the schema that is not checked.
    fn not_checked(&mut self, unchecked: &Unchecked) {
        // A type that does not exist is an error already.
        let place = unchecked.pointer.strip_suffix("/type");
        let is_told =
            |one: &Finding| one.rule == "no-type" && one.tool == self.tool && Some(&*one.pointer) == place;
        if self.all.iter().any(is_told) {
            return;
        }
        let message = format!("{}, so nothing is checked against it: fix or remove it", unchecked.reason);
        self.add(Severity::Warning, "not-checked", &unchecked.pointer, message);
    }
}

/// Checks definitions that may be wrong, in any form that [`ToolSet::from_value`] takes. A definition that cannot be
/// compiled gives a finding like any other. Tools that a server runs itself are skipped.
///
/// ```
/// use callwright::json;
/// use callwright::lint::{Severity, lint_definitions};
///
/// let found = lint_definitions(&json!([{"name": "read", "parameters": {"properties": {"a": {"type": "strnig"}}}}]))?;
/// let error = found.iter().find(|finding| finding.severity == Severity::Error).unwrap();
/// assert_eq!((error.rule, error.pointer.as_str()), ("no-type", "/properties/a"));
/// # Ok::<(), callwright::ToolSetError>(())
/// ```
///
/// # Errors
/// An error means that `definitions` have none of those forms, or are too many.
pub fn lint_definitions<V: ?Sized>(definitions: &V) -> Result<Vec<Finding>, ToolSetError>
where
    for<'v> Value: From<&'v V>,
{
    let definitions = Value::from(definitions);
    let definitions = tools::listed(&definitions)?;
    let has_choice = 1 < definitions.len();
    let (mut names, mut all) = (HashSet::new(), Vec::new());
    for (number, definition) in (1..).zip(definitions) {
        match ToolSet::from_value::<Value>(&Value::Array(vec![definition.clone()])) {
            Ok(tool_set) => {
                let Some(tool) = tool_set.iter().next() else { continue };
                let mut findings = Findings { tool: tool.name(), all: &mut all };
                findings.of_tool(tool, has_choice);
                let is_new = names.insert(tool.name().to_owned());
                let doubled = (!is_new).then(|| tools::doubled(number));
                tool.schema().unchecked().iter().chain(&doubled).for_each(|one| findings.not_checked(one));
            }
            Err(ToolSetError::Tool { problem, .. }) => {
                let name = tools::name_of(definition).unwrap_or_else(|| format!("tool {number}"));
                let mut findings = Findings { tool: &name, all: &mut all };
                findings.add(Severity::Error, rule(&problem), "", problem.to_string());
            }
            Err(other) => return Err(other),
        }
    }
    Ok(all)
}

/// Returns the name of the rule that a definition breaks if it cannot be compiled.
fn rule(problem: &ToolProblem) -> &'static str {
    match problem {
        ToolProblem::NotAnObject | ToolProblem::FunctionNotAnObject => "no-definition",
        ToolProblem::NoName | ToolProblem::EmptyName | ToolProblem::NameNotAString => "no-name",
        ToolProblem::DescriptionNotAString => "description-not-text",
        ToolProblem::ParametersNotAnObject => "parameters-not-object",
        ToolProblem::Schema(SchemaError::TooDeep | SchemaError::TooLarge) => "schema-too-large",
        ToolProblem::Schema(_) => "schema-not-valid",
    }
}

/// Checks the name. All servers take letters, digits, `_` and `-`, up to 64 of them; some take dots and more.
fn name(tool: &Tool, findings: &mut Findings<'_>) {
    let name = tool.name();
    let is_known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let message = match name.chars().find(|c| !is_known(*c)) {
        Some(c) if !matches!(c, '.' | ':' | '/') => {
            let message = format!("no server takes `{}` in a name", c.escape_debug());
            return findings.add(Severity::Error, "name-not-legal", "", message);
        }
        Some(c) => format!("many servers take no `{c}` in a name: letters, digits, `_` and `-` are safe"),
        None if MAX_NAME < name.len() => {
            format!("the name has {} characters, and many servers take {MAX_NAME}", name.len())
        }
        None => return,
    };
    findings.add(Severity::Warning, "name-not-portable", "", message);
}

/// The tokens that the definitions cost with every request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Each tool's name and its tokens, in the order of declaration.
    pub tools: Vec<(String, usize)>,
    /// The sum for all tools.
    pub total: usize,
}

/// Counts the tokens of the definitions, written as compact JSON; an estimate, see [`tokens`].
pub fn cost(tool_set: &ToolSet) -> Cost {
    let cost = |tool: &Tool| (tool.name().to_owned(), tokens(&tool.definition().to_string()));
    let tools: Vec<_> = tool_set.iter().map(cost).collect();
    let total = tools.iter().map(|(_, n)| n).sum();
    Cost { tools, total }
}

/// Estimates the number of tokens that a model reads in `text`.
///
/// The estimate fits byte-pair vocabularies of 100,000 tokens and more. A word takes one token for every seven letters,
/// and digits go by three. Other ASCII characters go by two of the same sort, and any other character counts for
/// itself. Single spaces belong to the word that follows. For English prose and JSON, the estimate is within some 20 %
/// of the truth.
pub fn tokens(text: &str) -> usize {
    let sorts: Vec<Sort> = text.chars().map(Sort::of).collect();
    let of_run = |run: &[Sort]| match run.first() {
        Some(Sort::Letter) => run.len().div_ceil(7),
        Some(Sort::Digit) => run.len().div_ceil(3),
        Some(Sort::Mark) => run.len().div_ceil(2),
        Some(Sort::Space) => usize::from(1 < run.len()),
        Some(Sort::Other) | None => run.len(),
    };
    sorts.chunk_by(|one, next| one == next).map(of_run).sum()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Letter,
    Digit,
    Space,
    Mark,
    Other,
}

impl Sort {
    fn of(c: char) -> Sort {
        match c {
            // Accented letters of the Latin script are as frequent as plain ones in the texts that have them.
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => Sort::Letter,
            '0'..='9' => Sort::Digit,
            _ if c.is_ascii_whitespace() => Sort::Space,
            _ if c.is_ascii() => Sort::Mark,
            _ => Sort::Other,
        }
    }
}

fn description(tool: &Tool, has_choice: bool, findings: &mut Findings<'_>) {
    let text = tool.description().trim();
    let lower = text.to_lowercase();
    if text.is_empty() {
        let message = "it has no description: say what it does and when, “Use this when…”";
        return findings.add(Severity::Warning, "no-description", "", message);
    }
    if text.split_whitespace().count() < FEWEST_WORDS {
        let message = "the description does not say what the tool is for: add “Use this when…”";
        findings.add(Severity::Warning, "no-purpose", "", message);
    } else if has_choice && !contains_any(&lower, &["when", "use ", "if "]) {
        let message =
            "the description does not say when to choose this tool among the others: add “Use this when…”";
        findings.add(Severity::Hint, "no-use-when", "", message);
    }
    let n_tokens = tokens(text);
    let advice = match FILLER.iter().find(|filler| lower.contains(**filler)) {
        Some(filler) if SHORT < n_tokens => {
            format!(", and “{filler}” says nothing: be as short as “Search for files by name pattern”")
        }
        _ if LONG < n_tokens => String::from(": shorten it"),
        _ => return,
    };
    let message = format!("the description costs about {n_tokens} tokens with every request{advice}");
    findings.add(Severity::Warning, "description-too-long", "", message);
}

fn arguments(tool: &Tool, findings: &mut Findings<'_>) {
    let root = tool.schema().value();
    let has_members =
        root.get("properties").and_then(Value::as_object).is_some_and(|members| !members.is_empty());
    if has_members && parameters(tool.definition()).is_some_and(|given| given.get("required").is_none()) {
        let message = "`required` is missing: list the parameters that a call must have, or `[]`";
        findings.add(Severity::Warning, "no-required", "", message);
    }
    // Uses the schema as it was given: the compiled one lacks types that do not exist.
    let given = parameters(tool.definition()).unwrap_or(root);
    // The nesting of a schema is bounded, so the pointers stay short.
    let mut todo = vec![(String::new(), given)];
    while let Some((pointer, schema)) = todo.pop() {
        let is_type = |word: &str| word.eq_ignore_ascii_case("any") || standard_type(word).is_some();
        if let Some(word) = schema.get("type").and_then(Value::as_str).filter(|word| !is_type(word)) {
            let message = format!("`{word}` is not a type of JSON Schema, so any value is taken: name one");
            findings.add(Severity::Error, "no-type", &pointer, message);
        }
        if let Some(element) = schema.get("items").filter(|items| items.is_object()) {
            todo.push((format!("{pointer}/items"), element));
        }
        let members = schema.get("properties").and_then(Value::as_object);
        for (name, member) in members.into_iter().flatten() {
            let at = format!("{pointer}/properties/{}", pointer_step(name));
            parameter(&at, name, member, findings);
            todo.push((at, member));
        }
    }
}

fn parameter(at: &str, name: &str, schema: &Value, findings: &mut Findings<'_>) {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or("").trim();
    let lower = text.to_lowercase();
    let is_string = schema.get("type").is_some_and(|t| t == "string");
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| schema.get(keyword).is_some());
    let has_example = contains_any(&lower, EXAMPLE);
    if text.is_empty() && !has(&["enum", "const"]) {
        let message = format!("`{name}` has no description");
        findings.add(Severity::Warning, "no-parameter-description", at, message);
    }
    let has_form = name.to_lowercase().split(['_', '-', '.']).any(|word| FORMED.contains(&word));
    if is_string && has_form && !has_example && !has(&["enum", "const", "examples", "default"]) {
        let message = format!("`{name}` has no example: add one to the description, (e.g., 'src/main.py')");
        findings.add(Severity::Hint, "no-example", at, message);
    }
    let is_choice = contains_any(&lower, CHOICE) && 2 <= quoted(text) && !has_example;
    if is_string && is_choice && !has(&["enum"]) {
        let message = format!("the description of `{name}` lists its values: make them an `enum`");
        findings.add(Severity::Warning, "no-enum", at, message);
    }
}

fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Counts the short texts in quotes in `text`: `'a' or 'b'` has two.
fn quoted(text: &str) -> usize {
    let pairs = |quote: char| {
        let inner = text.split(quote).skip(1).step_by(2);
        let n_quotes = text.matches(quote).count();
        inner.take(n_quotes / 2).filter(|word| !word.trim().is_empty() && word.len() <= 40).count()
    };
    ['\'', '"', '`'].into_iter().map(pairs).max().unwrap_or(0)
}
