//! Writes the calls of an answer as text, such that reading them gives the same calls.
//!
//! A dialect's own form may not hold a call: a raw argument has a mark in it, or a name has a bracket. Then the
//! arguments stand as JSON in the dialect's frame, and if the frame cannot hold the name, the call is
//! `<tool_call>{"name": …}</tool_call>`. Any dialect reads all of these. The choice is not a guess: each form is read
//! back before it goes out.

use std::borrow::Cow;

use callwright_json::strict;

use super::PromptDialect;
use super::arguments::{self, with_breaks, written};
use super::marks::{in_json, neutralise, one_line, quoted};
use crate::context::Context;
use crate::dialect::Dialect;
use crate::engine::parse;
use crate::grammar::template::fill;
use crate::grammar::{Arguments, Calls};
use crate::tools::ToolSet;
use crate::verdict::Acceptance;

/// Writes the calls of one answer, each a name and its arguments: see [`call`](super::call). A call of a tool that is
/// not in `tool_set` has the dialect's own form, if that can be written at all.
pub fn calls(dialect: &PromptDialect, tool_set: &ToolSet, calls: &[(String, String)]) -> String {
    let written = |(index, call)| written_call(dialect, tool_set, index, call);
    let texts: Vec<String> = calls.iter().enumerate().map(written).collect();
    let text = framed(&dialect.speech().calls, &texts);
    // Two calls may be right apart and not together: a dialect may know one call per answer only.
    if texts.len() <= 1 || gives(dialect, tool_set, &text, calls) {
        return text;
    }
    let plain: Vec<String> = calls.iter().map(|(name, given)| plain_call(name, &in_json(given))).collect();
    let plain = plain.join("\n");
    if gives(dialect, tool_set, &plain, calls) { plain } else { text }
}

/// Writes only the form of a call.
pub(super) fn shown(dialect: &PromptDialect, name: &str, form: &[(String, &'static str)]) -> String {
    let calls = &dialect.speech().calls;
    let call = in_frame(calls, name, &arguments::shown(&calls.arguments, form), 0);
    framed(calls, &[call.unwrap_or_else(|| plain_call(name, &arguments::shown(&Arguments::Json, form)))])
}

impl Dialect {
    /// Returns a call of the tool `f` with the argument `a`, whose value is `x`, as this dialect writes it.
    ///
    /// ```
    /// let dialects = callwright::Dialects::default();
    /// let example = dialects.get("glm47").map(|dialect| dialect.example());
    /// assert_eq!(example.as_deref(), Some("<tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value></tool_call>"));
    /// ```
    pub fn example(&self) -> String {
        let calls = self.written();
        let arguments = written(&calls.arguments, "{\"a\": \"x\"}").unwrap_or_default();
        framed(&calls, in_frame(&calls, "f", &arguments, 0).as_slice())
    }
}

fn framed(form: &Calls, texts: &[String]) -> String {
    if texts.is_empty() {
        return String::new();
    }
    format!("{}{}{}", form.open, texts.join(&form.between), form.close)
}

/// Returns the first form of the call that reads as the same call.
fn written_call(
    dialect: &PromptDialect,
    tool_set: &ToolSet,
    index: usize,
    call: &(String, String),
) -> String {
    let (form, (name, arguments)) = (&dialect.speech().calls, call);
    let in_frame = |arguments: String| in_frame(form, name, &arguments, index);
    let own = written(&form.arguments, arguments).and_then(in_frame);
    let wide = with_breaks(&form.arguments, arguments).and_then(in_frame);
    let json = in_json(arguments);
    let plain = plain_call(name, &json);
    let ways: Vec<String> = [own, wide, in_frame(json), Some(plain)].into_iter().flatten().collect();
    let is_read = |text: &&String| {
        gives(dialect, tool_set, &framed(form, std::slice::from_ref(*text)), std::slice::from_ref(call))
    };
    ways.iter().find(is_read).or(ways.first()).cloned().unwrap_or_default()
}

/// Writes a call as JSON: `<tool_call>⏎{"name": "f", "arguments": {…}}⏎</tool_call>`
fn plain_call(name: &str, arguments: &str) -> String {
    format!("<tool_call>\n{{\"name\": {}, \"arguments\": {arguments}}}\n</tool_call>", quoted(name))
}

/// Writes the call in its dialect's frame; `None` if the frame cannot hold its name.
fn in_frame(form: &Calls, name: &str, arguments: &str, index: usize) -> Option<String> {
    let filled = || {
        fill(&form.call, |slot| match slot {
            "arguments" => Some(Cow::Borrowed(arguments)),
            _ => naming(slot, name, index),
        })
    };
    (!form.call.contains("{name}") || is_plain_name(name)).then(filled)
}

/// Returns the text for a slot that names the call.
pub(super) fn naming(slot: &str, name: &str, index: usize) -> Option<Cow<'static, str>> {
    Some(Cow::Owned(match slot {
        "name" => neutralise(&one_line(name)).into_owned(),
        "json_name" => quoted(name),
        "index" => index.to_string(),
        "number" => (index + 1).to_string(),
        _ => return None,
    }))
}

/// Returns whether reading `text` gives these calls and nothing else.
fn gives(dialect: &PromptDialect, tool_set: &ToolSet, text: &str, calls: &[(String, String)]) -> bool {
    let context = Context { dialects: dialect.dialects().clone(), ..Context::default() };
    let outcome = parse(tool_set, text, &[], &context);
    let is_same = |(read, (name, arguments)): &(&Acceptance, &(String, String))| {
        read.name == *name && is_equal(&read.arguments, arguments)
    };
    outcome.verdicts.len() == calls.len()
        && outcome.text.trim().is_empty()
        && outcome.calls().zip(calls).filter(is_same).count() == calls.len()
}

fn is_equal(one: &str, other: &str) -> bool {
    let canonical = |text: &str| strict(text).ok().map(|tree| tree.root(text).canonical());
    canonical(one).is_some_and(|one| canonical(other) == Some(one))
}

/// Returns whether the name may stand in markup as it is.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/'))
}
