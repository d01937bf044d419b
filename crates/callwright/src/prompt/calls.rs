//! The calls of an answer as text, such that reading them gives the same calls.
//!
//! Where a dialect's own form cannot hold a call, because a raw argument has a mark in it or a name has a bracket, the
//! arguments stand as JSON in the dialect's frame, and where even the frame cannot hold the name, the call is
//! `<tool_call>{"name": …}</tool_call>`. All of these are read in any dialect. Which one it takes is not guessed: each
//! form is read back before it is let out.

use std::borrow::Cow;

use callwright_json::strict;

use super::PromptDialect;
use super::arguments::{Given, json, with_breaks, written};
use super::marks::{neutralise, one_line, quoted};
use super::speech::Calls;
use super::template::fill;
use crate::engine::{Context, parse};
use crate::tools::ToolSet;

/// One call: its tool and its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made<'a> {
    pub(super) name: &'a str,
    pub(super) given: Given<'a>,
}

/// The calls of one answer. They are read back with `tool_set`; a call of a tool that is not in it has the dialect's own
/// form, if that can be written at all.
pub(super) fn calls(dialect: &PromptDialect, tool_set: &ToolSet, calls: &[Made<'_>]) -> String {
    let form = &dialect.speech().calls;
    let gives = |text: &str, calls: &[Made<'_>]| gives(dialect, tool_set, text, calls);
    let one = |(index, call): (usize, &Made<'_>)| {
        written_call(form, *call, index, |text| gives(text, std::slice::from_ref(call)))
    };
    let texts: Vec<String> = calls.iter().enumerate().map(one).collect();
    let text = framed(form, &texts);
    // Two calls may be right apart and not together: a dialect may know one call per answer only.
    if texts.len() <= 1 || gives(&text, calls) {
        return text;
    }
    let plain: Vec<String> = calls.iter().map(|call| plain_call(*call)).collect();
    let plain = plain.join("\n");
    if gives(&plain, calls) { plain } else { text }
}

impl Calls {
    /// A call of the tool `f` with the argument `a`, whose value is `x`.
    pub(crate) fn example(&self) -> String {
        let arguments = written(&self.arguments, Given::Json("{\"a\": \"x\"}")).unwrap_or_default();
        framed(self, &[filled(&self.call, "f", &arguments, 0)])
    }
}

fn framed(form: &Calls, texts: &[String]) -> String {
    if texts.is_empty() {
        return String::new();
    }
    format!("{}{}{}", form.open, texts.join(&form.between), form.close)
}

/// The first way to write the call that `is_read` as it.
fn written_call(form: &Calls, call: Made<'_>, index: usize, is_read: impl Fn(&str) -> bool) -> String {
    let is_named_raw = form.call.contains("{name}");
    let in_frame = |arguments: String| {
        let is_held = !is_named_raw || is_plain_name(call.name);
        is_held.then(|| filled(&form.call, call.name, &arguments, index))
    };
    let own = written(&form.arguments, call.given).and_then(in_frame);
    let wide = with_breaks(&form.arguments, call.given).and_then(in_frame);
    let ways = [own, wide, in_frame(json(call.given)), Some(plain_call(call))];
    let ways: Vec<String> = ways.into_iter().flatten().collect();
    let right = ways.iter().find(|text| is_read(&framed(form, std::slice::from_ref(*text))));
    right.or(ways.first()).cloned().unwrap_or_default()
}

/// `<tool_call>⏎{"name": "f", "arguments": {…}}⏎</tool_call>`
fn plain_call(call: Made<'_>) -> String {
    let (name, arguments) = (quoted(call.name), json(call.given));
    format!("<tool_call>\n{{\"name\": {name}, \"arguments\": {arguments}}}\n</tool_call>")
}

fn filled(template: &str, name: &str, arguments: &str, index: usize) -> String {
    fill(template, |slot| match slot {
        "arguments" => Some(Cow::Borrowed(arguments)),
        _ => naming(slot, name, index),
    })
}

/// What stands for the slots that say which call is meant.
pub(super) fn naming(slot: &str, name: &str, index: usize) -> Option<Cow<'static, str>> {
    Some(Cow::Owned(match slot {
        "name" => neutralise(&one_line(name)).into_owned(),
        "json_name" => quoted(name),
        "index" => index.to_string(),
        "number" => (index + 1).to_string(),
        _ => return None,
    }))
}

/// Does reading `text` give these calls and nothing else?
fn gives(dialect: &PromptDialect, tool_set: &ToolSet, text: &str, calls: &[Made<'_>]) -> bool {
    let context = Context { dialects: dialect.dialects().clone(), ..Context::default() };
    let outcome = parse(tool_set, text, &[], &context);
    let mut read = outcome.calls();
    let is_same = |call: &Made<'_>| {
        let Given::Json(arguments) = call.given else { return false };
        read.next().is_some_and(|read| read.name == call.name && is_equal(&read.arguments, arguments))
    };
    outcome.verdicts.len() == calls.len() && outcome.text.trim().is_empty() && calls.iter().all(is_same)
}

fn is_equal(one: &str, other: &str) -> bool {
    match (strict(one), strict(other)) {
        (Ok(a), Ok(b)) => a.root(one).canonical() == b.root(other).canonical(),
        _ => false,
    }
}

/// May the name stand in markup as it is?
pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/'))
}
