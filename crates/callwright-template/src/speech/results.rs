//! Results as the template writes them, without the marks of their turn.

use callwright::json;
use callwright::prompt::Results;
use callwright::value::Value;

use super::frame::Frame;
use crate::form::{ID, NAME};
use crate::infer::{KEYS, NAMES, VALUES, blanked, tools};
use crate::probe::{ASKED, Call, Manner, Probe, id_of};
use crate::token::{common_prefix, common_suffix, tokens};

/// The results of the tools. The quote shows whether it is written as JSON.
const GIVEN: [&str; 2] = ["zqgivenone\"zqend", "zqgiventwo\"zqend"];

/// The texts around one result.
struct Around {
    open: String,
    close: String,
    is_json: bool,
}

/// Reads how results are written; `None` where that cannot be told, or where nothing stands around one.
pub(super) fn results(probe: &Probe<'_>, manner: Manner, frame: &Frame) -> Option<Results> {
    // Where the tools stand in the last turn, they would hide what it begins with.
    let (one, tools) = [Vec::new(), tools()]
        .into_iter()
        .find_map(|tools| Some((around(probe, manner, frame, &tools)?, tools)))?;
    if one.open.trim().is_empty() && one.close.trim().is_empty() {
        return None;
    }
    let several = between(probe, manner, &one, &tools).and_then(|between| parted(&one, &between, frame));
    let (open, head, mid, tail, close) = several.unwrap_or_else(|| {
        let [open, close] = [one.open.trim_start(), one.close.trim_end()].map(str::to_owned);
        (String::new(), open, "\n".to_owned(), close, String::new())
    });
    let slot = if one.is_json { "{json_content}" } else { "{content}" };
    let named = |text: String| {
        let text =
            text.replace(&format!("\"{NAME}\""), if one.is_json { "{json_name}" } else { "\"{name}\"" });
        text.replace(NAME, "{name}").replace(ID, "{index}")
    };
    let [open, result, between, close] =
        [open, format!("{head}{slot}{tail}"), mid, close].map(|text| named(text).into());
    Some(Results { label: "".into(), open, result, between, close, role: "user".into() })
}

/// A conversation in which `count` calls were made, and what follows them.
fn conversation(manner: Manner, count: usize, next: impl Fn(usize) -> Value) -> Vec<Value> {
    let calls: Vec<Call> = (0..count).map(|n| Call::new(NAMES[n], json!({KEYS[n]: VALUES[n]}))).collect();
    let turns = [json!({"role": "user", "content": ASKED}), manner.turn("", &calls)];
    turns.into_iter().chain((0..count).map(next)).collect()
}

fn result(n: usize) -> Value {
    json!({"role": "tool", "tool_call_id": id_of(n), "name": NAMES[n], "content": GIVEN[n]})
}

/// Reads the texts around one result, beyond those around the words of a user in its place.
fn around(probe: &Probe<'_>, manner: Manner, frame: &Frame, tools: &[Value]) -> Option<Around> {
    let prompt = |next: &dyn Fn(usize) -> Value| {
        probe.render(&conversation(manner, 1, next), tools, true).ok().map(|prompt| blanked(&prompt))
    };
    let told = prompt(&result)?;
    let said = prompt(&|_| json!({"role": "user", "content": GIVEN[0]}))?;
    let (before, behind, is_json) = split(&told, GIVEN[0])?;
    let (user_before, user_behind) = said.split_once(GIVEN[0])?;
    let shared = common_prefix(before, user_before);
    let (own, user) = (tokens(&before[shared..]), tokens(&user_before[shared..]));
    // Another role: its word or mark stands where the user's does, unless it is one that is closed behind the result.
    let skipped = match own.get(..user.len()) {
        Some(head) if head.first().is_some_and(|mark| behind.contains(&closing(mark))) => 0,
        Some(head) if head.iter().zip(&user).skip(1).all(|(a, b)| a == b) => user.len(),
        _ => return None,
    };
    let open = own[skipped..].concat();
    let shared = common_suffix(behind, user_behind);
    let close = &behind[..behind.len() - shared];
    let close = tokens(close).into_iter().take_while(|token| !frame.has(token)).collect::<String>();
    (!frame.is_in(&open)).then_some(Around { open, close, is_json })
}

/// `<response>` → `</response>`, `[RESULTS]` → `[/RESULTS]`
fn closing(mark: &str) -> String {
    let mut signs = mark.chars();
    signs.next().map_or_else(String::new, |first| format!("{first}/{}", signs.as_str()))
}

/// Returns the texts before and behind `given`, and whether it is written as JSON.
fn split<'t>(text: &'t str, given: &str) -> Option<(&'t str, &'t str, bool)> {
    if let Some((before, behind)) = text.split_once(&Value::from(given).to_string()) {
        return Some((before, behind, true));
    }
    let (before, behind) = text.split_once(given)?;
    Some((before, behind, false))
}

/// Returns the text between two results.
fn between(probe: &Probe<'_>, manner: Manner, one: &Around, tools: &[Value]) -> Option<String> {
    let prompt = blanked(&probe.render(&conversation(manner, 2, result), tools, true).ok()?);
    let (_, behind, is_json) = split(&prompt, GIVEN[0])?;
    let (between, _, again) = split(behind, GIVEN[1])?;
    (is_json == one.is_json && again == one.is_json).then(|| between.to_owned())
}

/// Returns the texts before all results, before one, between two, behind one, behind all.
fn parted(one: &Around, between: &str, frame: &Frame) -> Option<(String, String, String, String, String)> {
    if frame.is_in(between) {
        return None;
    }
    let head = common_suffix(&one.open, between);
    let tail = common_prefix(&one.close, between.get(..between.len() - head)?);
    let (open, before) = one.open.split_at_checked(one.open.len() - head)?;
    let (behind, close) = one.close.split_at_checked(tail)?;
    let mid = between.get(tail..between.len() - head)?;
    let open = if open.trim().is_empty() { "" } else { open.trim_start() };
    let parts = [open, before, mid, behind, close.trim_end()].map(str::to_owned);
    let [open, before, mid, behind, close] = parts;
    // White space in front of the first one is nobody's.
    let (lead, before) = match open.is_empty() {
        true => before.split_at(before.len() - before.trim_start().len()),
        false => ("", before.as_str()),
    };
    Some((open, before.to_owned(), format!("{mid}{lead}"), behind, close))
}
