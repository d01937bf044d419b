//! Results of calls as text. They are other people's words: whatever stands in them, they cannot leave their place.

use std::borrow::Cow;

use serde_json::Value;

use super::calls::naming;
use super::marks::{in_json, neutralise};
use super::template::fill;
use crate::dialect::Results;

/// One result by the form of its dialect, of the call of `name` that was the `index`th of its answer.
pub(super) fn result(form: &Results, name: &str, index: usize, content: &str) -> String {
    let parted = neutralise(content);
    fill(&form.result, |slot| match slot {
        "content" => Some(Cow::Borrowed(&*parted)),
        "json_content" => Some(Cow::Owned(in_json(&Value::from(content).to_string()))),
        "fence" => Some(Cow::Owned(fence(&parted))),
        _ => naming(slot, name, index),
    })
}

/// What names the tool in front of its result.
pub(super) fn label(form: &Results, name: &str, index: usize) -> String {
    fill(&form.label, |slot| naming(slot, name, index))
}

/// A fence is ended by none that is shorter.
fn fence(content: &str) -> String {
    let longest = content.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.saturating_add(1).max(3))
}
