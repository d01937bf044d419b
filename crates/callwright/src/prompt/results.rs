//! Writes results of calls as text. They are other people's words, which cannot leave their place.

use std::borrow::Cow;

use super::PromptDialect;
use super::calls::naming;
use super::marks::quoted;
use crate::grammar::template::fill;

/// Writes one result in the form of its dialect, for the call of `name` with this `index` in its answer.
pub(super) fn result(dialect: &PromptDialect, name: &str, index: usize, content: &str) -> String {
    let parted = dialect.neutralise(content);
    fill(&dialect.speech().results.result, |slot| match slot {
        "content" => Some(Cow::Borrowed(&*parted)),
        "json_content" => Some(Cow::Owned(dialect.own_marks().in_json(quoted(content)))),
        "fence" => Some(Cow::Owned(fence(&parted))),
        _ => named(dialect, slot, name, index),
    })
}

/// Writes the text that names the tool in front of its result.
pub(super) fn label(dialect: &PromptDialect, name: &str, index: usize) -> String {
    fill(&dialect.speech().results.label, |slot| named(dialect, slot, name, index))
}

fn named(dialect: &PromptDialect, slot: &str, name: &str, index: usize) -> Option<Cow<'static, str>> {
    let text = naming(slot, name, index)?;
    let marks = dialect.own_marks();
    Some(match slot {
        "json_name" => Cow::Owned(marks.in_json(text.into_owned())),
        _ => marks.part(text),
    })
}

/// Returns a fence that the content cannot end: a shorter fence does not end it.
fn fence(content: &str) -> String {
    let longest = content.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.saturating_add(1).max(3))
}
