//! The tools as the template tells of them, and the words around.

use callwright::Dialect;
use callwright::json;
use callwright::prompt::{Definition, Listing};
use callwright::value::Value;

use super::frame::Frame;
use crate::infer::{KEYS, NAMES, tools};
use crate::probe::{ASKED, Probe, RULED};
use crate::token::{common_prefix, common_suffix, tokens};

/// The lesson for a template that only lists the tools: its own model knows the rest.
const TAUGHT: &str = "\n\nA tool is called like this:\n{calls}\n";
/// The texts that would be taken for a slot.
const SLOTS: [&str; 5] = ["{tools}", "{calls}", "{name}", "{otherwise}", "{several}"];

/// The text that teaches the tools, and how they are listed in it. `None` where the template does not tell of them as
/// JSON, or where that cannot be parted from the turns.
pub(super) fn system(probe: &Probe<'_>, frame: &Frame, record: &Dialect) -> Option<(String, Listing)> {
    let tools = tools();
    let user = json!({"role": "user", "content": ASKED});
    let ruled = vec![json!({"role": "system", "content": RULED}), user.clone()];
    let told = [ruled, vec![user]].iter().find_map(|messages| added(probe, messages, &tools))?;
    let told = frame.inside(&told)?;
    let (first, form) = definition(&told, 0, &tools[0])?;
    let (second, other) = definition(&told, first.1, &tools[1])?;
    let (head, tail) = (&told[..first.0], &told[second.1..]);
    let between = told[first.1..second.0].to_owned();
    let around = format!("{head}{between}{tail}");
    let says = |word: &&str| around.contains(*word);
    let is_clean = !NAMES.iter().chain(&KEYS).chain(&[ASKED, RULED]).any(says) && !SLOTS.iter().any(says);
    if form != other || !is_clean {
        return None;
    }
    let opener = [&record.call.open, &record.section.open].into_iter().flatten().next()?;
    let fixed = opener.split(['{', ' ']).next().unwrap_or_default();
    let taught = if !fixed.is_empty() && around.contains(fixed) { "\n" } else { TAUGHT };
    let system = format!("{}{{tools}}{}{taught}", head.trim_start(), tail.trim_end());
    Some((system, Listing { form, each: "{tool}".into(), between: between.into() }))
}

/// Returns the text that the prompt for `messages` has more where `tools` are on offer.
fn added(probe: &Probe<'_>, messages: &[Value], tools: &[Value]) -> Option<String> {
    let plain = probe.render(messages, &[], true).ok()?;
    let told = probe.render(messages, tools, true).ok()?;
    let before = common_prefix(&told, &plain);
    let behind = common_suffix(&told[before..], &plain[before..]);
    if !plain[before..plain.len() - behind].trim().is_empty() {
        return None;
    }
    let more = tokens(&told[before..told.len() - behind]);
    // `tools⏎…<|im_end|><|im_start|>` behind `<|im_start|>`: what begins the turn stands before it.
    let lead = tokens(&told[..before]);
    let turned = lead.iter().rev().zip(more.iter().rev()).take_while(|(a, b)| a == b).count();
    let (rest, moved) = more.split_at(more.len() - turned);
    (!rest.is_empty()).then(|| format!("{}{}", moved.concat(), rest.concat()))
}

/// Returns the place at which `tool` stands as JSON from `from` on, and its form.
fn definition(text: &str, from: usize, tool: &Value) -> Option<((usize, usize), Definition)> {
    text[from..].match_indices('{').find_map(|(at, _)| {
        let at = from + at;
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let end = at + values.byte_offset();
        let form = match value {
            value if value == *tool && text[at..end].contains('\n') => Definition::Indented,
            value if value == *tool => Definition::Json,
            value if value == tool["function"] => Definition::Function,
            _ => return None,
        };
        Some(((at, end), form))
    })
}
