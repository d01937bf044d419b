//! Calls without declared tools: candidates to show, never to run.

use std::borrow::Cow;
use std::collections::BTreeSet;

use callwright_json::Span;

use crate::context::Context;
use crate::engine::parse;
use crate::json;
use crate::shape::keys;
use crate::tools::names::{MAX_NAME, is_name_byte, leading_name};
use crate::tools::{MAX_TOOLS, ToolSet};
use crate::value::Value;
use crate::verdict::{Outcome, Reason, Verdict};

/// Most readings of the text, each with the names that the last one found.
const MAX_ROUNDS: usize = 3;

/// A text that looks like a call. Nobody has declared its tool, and its arguments are not checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// The name, as far as it can be read.
    pub name: Option<String>,
    /// The arguments as strict JSON, or the model's text if that cannot be read.
    pub arguments: String,
    /// The name of its dialect.
    pub dialect: Cow<'static, str>,
    /// Its place, in bytes of the text, markup included.
    pub span: Span,
    /// The reason that keeps it from being a call, whatever is declared.
    pub problem: Option<Reason>,
}

/// Returns the candidates in `text`, in its order.
///
/// Any word that could be a name is taken for one, so this finds calls in examples and code, too. With declared tools,
/// use [`parse`], which is more exact.
///
/// ```
/// use callwright::{Context, candidates};
///
/// let found = candidates("Sure: <tool_call>{'name': 'f', 'arguments': {'a': 1}}</tool_call>", &Context::default());
/// assert_eq!(found[0].name.as_deref(), Some("f"));
/// assert_eq!(found[0].arguments, r#"{"a": 1}"#);
/// ```
pub fn candidates(text: &str, context: &Context<'_>) -> Vec<Candidate> {
    let mut names = written_names(text);
    let mut outcome = read(text, &names, context);
    for _ in 1..MAX_ROUNDS {
        let before = names.len();
        names.extend(outcome.refusals().filter_map(|refusal| refusal.name.clone()));
        if names.len() == before {
            break;
        }
        outcome = read(text, &names, context);
    }
    outcome.verdicts.into_iter().map(candidate).collect()
}

/// Reads the text with tools of these names that take any arguments.
fn read(text: &str, names: &BTreeSet<String>, context: &Context<'_>) -> Outcome {
    let names = names.iter().filter(|name| !name.trim().is_empty()).take(MAX_TOOLS);
    let tools: Value = names.map(|name| json!({"name": name, "parameters": {"type": "object"}})).collect();
    // Such definitions compile, whatever the names are.
    ToolSet::from_value(&tools).map(|tools| parse(&tools, text, &[], context)).unwrap_or_default()
}

/// Returns the possible names of tools: the values of keys that name one, and words in front of a bracket. Such a word
/// begins a line, a list or an element.
fn written_names(text: &str) -> BTreeSet<String> {
    let is_noise = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ':' | '=' | '\\');
    let mut names = BTreeSet::new();
    for key in keys::NAME {
        for (at, _) in text.match_indices(key) {
            let behind = text.get(at + key.len()..).unwrap_or_default();
            let value = behind.trim_start_matches(is_noise);
            // A colon, `"name": "f"`, or an equals sign stands between a key and its value.
            let between = behind.get(..behind.len() - value.len()).unwrap_or_default();
            if between.contains([':', '=']) {
                names.insert(leading_name(value).to_owned());
            }
        }
    }
    for (bracket, _) in text.match_indices('(') {
        let head = text.get(..bracket).unwrap_or_default();
        let length = head.bytes().rev().take(MAX_NAME).take_while(|byte| is_name_byte(*byte)).count();
        let Some((before, name)) = head.split_at_checked(bracket - length) else { continue };
        let before = before.trim_end_matches([' ', '\t']);
        // A word of a sentence is not a name: `see f(x)`.
        if before.is_empty() || before.ends_with(['\n', '[', ',', '`', '>', '|', ']']) {
            names.insert(name.to_owned());
        }
    }
    names
        .retain(|name| name.len() < MAX_NAME && name.bytes().any(|byte| is_name_byte(byte) && byte != b'\\'));
    names
}

fn candidate(verdict: Verdict) -> Candidate {
    let (name, dialect, span) = verdict.head();
    let (name, dialect) = (name.map(str::to_owned), dialect.clone());
    let (arguments, problem) = match verdict {
        Verdict::Accepted(call) => (call.arguments, None),
        Verdict::Refused(refusal) => (refusal.block, Some(refusal.reason)),
    };
    Candidate { name, arguments, dialect, span, problem }
}
