//! Calls as the template writes them, as a text with slots.

use std::ops::Range;

use callwright::prompt::{Arguments, Calls};
use callwright::value::Value;

use crate::form::{Form, ID, KEY, NAME, Payload, Samples, VALUE};
use crate::token::tokens;

/// Stands for a call's arguments.
const ARGUMENTS: char = '\u{E004}';

/// Reads how the calls of `samples`, which have this form, are written. The parts that the form does not tell are those of
/// `general`.
pub(super) fn calls(samples: &Samples, form: &Form, general: &Calls) -> Option<Calls> {
    let one = slotted(&samples.one, form)?;
    let two = samples.calls.as_deref().and_then(|two| slotted(two, form)).and_then(|two| parted(&two));
    let mut calls = two.unwrap_or_else(|| Calls {
        call: one.trim().to_owned().into(),
        between: "\n".into(),
        ..Calls::default()
    });
    calls.arguments = arguments(&samples.one, form, &general.arguments);
    let texts = [&mut calls.open, &mut calls.call, &mut calls.between, &mut calls.close];
    for text in texts {
        let named = match form.payload {
            Payload::Named | Payload::Keyed => text.replace(&format!("\"{NAME}\""), "{json_name}"),
            _ => text.to_string(),
        };
        let named = named.replace(NAME, "{name}").replace(ID, "{index}").replace(ARGUMENTS, "{arguments}");
        // What stands for an argument alone says that something was not understood.
        if named.contains([KEY, VALUE]) {
            return None;
        }
        *text = named.into();
    }
    let is_whole = calls.call.contains("{arguments}")
        && (calls.call.contains("{name}") || calls.call.contains("{json_name}"));
    is_whole.then_some(calls)
}

/// `text` with one sign for the arguments of each call.
fn slotted(text: &str, form: &Form) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(key) = text[from..].find(KEY).map(|at| from + at) {
        let span = span(text, from, key, form)?;
        out.push_str(text.get(from..span.start)?);
        out.push(ARGUMENTS);
        from = span.end;
    }
    out.push_str(&text[from..]);
    out.contains(ARGUMENTS).then_some(out)
}

/// The place of the arguments whose key is at `key`.
fn span(text: &str, from: usize, key: usize, form: &Form) -> Option<Range<usize>> {
    let value = key + text[key..].find(VALUE)?;
    let behind = value + VALUE.len_utf8();
    match &form.payload {
        // The object that has the key, and not one around it.
        Payload::Named | Payload::Keyed | Payload::Json => {
            let open = from + text[from..key].rfind('{')?;
            let mut values = serde_json::Deserializer::from_str(&text[open..]).into_iter::<Value>();
            let object = values.next()?.ok()?;
            let has_key = object.as_object()?.keys().any(|name| name.starts_with(KEY));
            has_key.then_some(open..open + values.byte_offset())
        }
        Payload::Relaxed(_) => {
            let open = from + text[from..key].rfind('{')?;
            Some(open..behind + text[behind..].find('}')? + 1)
        }
        Payload::Calls => {
            let open = from + text[from..key].rfind('(')? + 1;
            Some(open..behind + text[behind..].find(')')?)
        }
        Payload::Tags | Payload::Elements => {
            let (open, close) = &form.argument;
            let before = open.split_once(KEY)?.0;
            // The type that stands before a key is not known here.
            let start = text[from..key].ends_with(before).then(|| key - before.len())?;
            text[behind..].starts_with(close.as_str()).then_some(start..behind + close.len())
        }
    }
}

/// Two calls, in what stands around all of them, around one, and between two.
fn parted(two: &str) -> Option<Calls> {
    let slots: Vec<usize> = two.match_indices([NAME, ARGUMENTS]).map(|(at, _)| at).collect();
    let &[first, end, second, last] = slots.as_slice() else { return None };
    let width = ARGUMENTS.len_utf8();
    let (core, other) = (two.get(first..end + width)?, two.get(second..last + width)?);
    // Numbers count the calls.
    let counted = |text: &str, n: &str, other: &str, m: &str| match (text == other, text == n && other == m) {
        (true, _) => Some(text.to_owned()),
        (_, true) => Some(if n == "0" { "{index}" } else { "{number}" }.to_owned()),
        _ => None,
    };
    let same = |a: &str, b: &str| counted(a, "0", b, "1").or_else(|| counted(a, "1", b, "2"));
    let joined = |a: &[&str], b: &[&str]| -> Option<String> {
        (a.len() == b.len()).then(|| a.iter().zip(b).map(|(a, b)| same(a, b)).collect::<Option<String>>())?
    };
    let core = joined(&tokens(core), &tokens(other))?;
    let (before, between, behind) =
        (tokens(&two[..first]), tokens(&two[end + width..second]), tokens(&two[last + width..]));
    let is_same = |(a, b): &(&&str, &&str)| same(a, b).is_some();
    let head = before.iter().rev().zip(between.iter().rev()).take_while(is_same).count();
    let most = between.len() - head;
    let tail = between.iter().zip(&behind).take(most).take_while(|(a, b)| a == b).count();
    let opener = joined(&before[before.len() - head..], &between[most..])?;
    let call = format!("{opener}{core}{}", behind[..tail].concat());
    // White space at the ends of a call stands between two.
    let trimmed = call.trim();
    let at = call.len() - call.trim_start().len();
    let (lead, trail) = (&call[..at], &call[at + trimmed.len()..]);
    let open = before[..before.len() - head].concat();
    let close = behind[tail..].concat();
    let open = if open.trim().is_empty() { String::new() } else { format!("{}{lead}", open.trim_start()) };
    let close = if close.trim().is_empty() { String::new() } else { format!("{trail}{}", close.trim_end()) };
    let between = format!("{trail}{}{lead}", between[tail..most].concat());
    let [open, call, between, close] = [open, trimmed.to_owned(), between, close].map(Into::into);
    Some(Calls { open, call, between, close, arguments: Arguments::Json })
}

/// The notation of the arguments.
fn arguments(one: &str, form: &Form, general: &Arguments) -> Arguments {
    let (open, close) = &form.argument;
    match &form.payload {
        Payload::Named | Payload::Keyed | Payload::Json => Arguments::Json,
        Payload::Relaxed(mark) => Arguments::Relaxed(mark.clone().into()),
        Payload::Calls => {
            let quote = one.split_once(VALUE).and_then(|(_, behind)| behind.chars().next());
            Arguments::Python(quote.filter(|quote| matches!(quote, '"' | '\'')).unwrap_or('"'))
        }
        Payload::Elements => general.clone(),
        Payload::Tags => {
            let is_flag = open.split_once("{type}").is_some_and(|(before, _)| {
                one.split_once(before).is_some_and(|(_, behind)| behind.starts_with("true"))
            });
            let open = if is_flag { open.replace("{type}", "{is_text}") } else { open.clone() };
            Arguments::Tags(format!("{}{{value}}{close}", open.replace(KEY, "{key}")).into())
        }
    }
}
