//! Looks beside the value for another value, whole or in part, that may be meant.
//!
//! Words around a value are dropped. `{"a": 1}, {"a": 2}` has no reading: nobody chose which object to drop.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use crate::embedded::reasoning;
use crate::search::{Search, mark};
use crate::spelling::{sign, skip_blank};
use crate::strict::strict_prefix;
use crate::{Guide, Kind, Kinds, Member, Problem, Reading, Span, Value, strict_end};

/// A thing beside a value that is not prose.
pub(crate) enum Beside<'t> {
    /// Another value, as likely to be meant.
    Value(Reading<'t>),
    /// A part of another value, or of the value itself: an object that was cut, a member.
    Part(Problem, Span),
    /// The same value again, and nothing else.
    Same,
}

/// The use of the text that is searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The reading drops the text.
    Dropped,
    /// Another reading takes the text into a string, where a key and its colon may stand.
    Quoted,
}

/// Searches the parts of the text from `begin` on that neither `value` nor one of its `repeats` covers.
pub(crate) fn beside<'t>(
    search: &mut Search<'t, '_>,
    begin: usize,
    value: &Reading<'_>,
    repeats: &[Span],
) -> Option<Beside<'t>> {
    let end = Span::at(search.text.len());
    let (mut from, mut is_same) = (begin, false);
    for taken in [value.span].iter().chain(repeats).chain([&end]) {
        match look(search, value, from..taken.start as usize, Fate::Dropped) {
            Some(Beside::Same) => is_same = true,
            None => {}
            other => return other,
        }
        from = taken.end as usize;
    }
    is_same.then_some(Beside::Same)
}

/// Searches the text behind `value`, a strict value, where another reading takes its last quote for text and
/// goes on.
pub(crate) fn behind<'t>(search: &mut Search<'t, '_>, value: &Reading<'_>) -> Option<Beside<'t>> {
    look(search, value, value.span.end as usize..search.text.len(), Fate::Quoted)
}

/// Searches a piece of the text.
fn look<'t>(
    search: &mut Search<'t, '_>,
    value: &Reading<'_>,
    piece: Range<usize>,
    fate: Fate,
) -> Option<Beside<'t>> {
    let text = search.text;
    let bytes = text.as_bytes();
    let Range { start: mut at, end } = piece;
    // A list that holds the value would have been read as a list.
    let before = bytes.get(at..end)?.trim_ascii_end();
    if end < bytes.len() && before.ends_with(b"[") && !is_cdata(before) {
        return Some(Beside::Part(Problem::Unreadable, Span::at(at + before.len() - 1)));
    }
    let mut blocks = reasoning(text).into_iter().peekable();
    let mut is_same = false;
    while at < end {
        let (byte, len) = sign(&bytes[at..])?;
        while blocks.next_if(|block| (block.end as usize) <= at).is_some() {}
        match byte {
            b'<' if let Some(block) = blocks.next_if(|block| block.start as usize == at) => {
                at = block.end as usize;
                continue;
            }
            b'[' if is_cdata(&bytes[..=at]) => {}
            b'{' | b'[' => match value_at(search, at, byte, at + len) {
                Other::Value(other) => {
                    at = other.span.end as usize;
                    // A string that holds part of an object goes on too far; the object itself does not
                    // matter.
                    let is_torn = fate == Fate::Quoted && other.value().members().next().is_some();
                    match other.value().same_as(value.value()) {
                        true => is_same = true,
                        false if is_torn || is_due(search.guide, other.value()) => {
                            return Some(Beside::Value(other));
                        }
                        false => {}
                    }
                    continue;
                }
                Other::Part(problem, span) => return Some(Beside::Part(problem, span)),
                Other::Words => {}
            },
            b'"' | b'\'' if fate == Fate::Dropped && is_colon(bytes, at + len) => {
                return Some(Beside::Part(Problem::Unreadable, Span::new(at, at + len)));
            }
            _ => {}
        }
        at += len;
    }
    is_same.then_some(Beside::Same)
}

/// The meaning of a bracket in a text.
enum Other<'t> {
    Value(Reading<'t>),
    /// A value that is cut, or has no reading.
    Part(Problem, Span),
    Words,
}

/// Reads the value that the bracket `byte` at `at` may open, with its first element or member at `inner`.
fn value_at<'t>(search: &mut Search<'t, '_>, at: usize, byte: u8, inner: usize) -> Other<'t> {
    let text = search.text;
    if search.is_spent() {
        return Other::Part(Problem::Limit, Span::at(at));
    }
    // Most brackets open no value, and cost no memory.
    if let Err(looked) = strict_end(text, at) {
        search.fuel -= looked.saturating_sub(at) as i64;
    } else if let Ok((tree, end)) = strict_prefix(text.as_bytes(), at, 1) {
        search.fuel -= (end - at) as i64;
        let span = Span::new(at, end);
        return Other::Value(Reading::strict(span.of(text), tree.behind(at), span));
    }
    if !begins_value(search, byte, inner) {
        return Other::Words;
    }
    match search.run_apart(at) {
        Ok(found) => Reading::of(text, found.span, found.repairs)
            .map_or(Other::Part(Problem::Unreadable, Span::at(at)), Other::Value),
        Err((problem, span)) => Other::Part(problem, span),
    }
}

/// Returns whether a value begins behind the bracket `byte`, at or behind `inner`: a key and its colon,
/// perhaps cut, or an element where a list may stand. `{path}` and `[1]` are words.
fn begins_value(search: &Search<'_, '_>, byte: u8, inner: usize) -> bool {
    let bytes = search.text.as_bytes();
    let inner = search.peek_blank(inner);
    let is_quote = || mark(&bytes[inner..]).is_some();
    match (byte, bytes.get(inner)) {
        (b'{', None) => true,
        (b'{', Some(_)) => search.whole_key(inner).map_or_else(is_quote, |key| {
            let behind = search.peek_blank(key.end);
            behind == bytes.len() || is_colon(bytes, behind)
        }),
        (_, next) => {
            let takes_list = search.guide.kinds(search.guide.root()).has(Kinds::ARRAY);
            takes_list && (matches!(next, Some(b'{' | b'[')) || is_quote())
        }
    }
}

/// Returns whether `value` may be meant: it fits, repeats a declared key, or holds an object that does. An
/// object inside another one must fit as a whole: a schema that a model repeats names the keys as well.
fn is_due(guide: &dyn Guide, value: Value<'_>) -> bool {
    let root = guide.root();
    let kinds = guide.kinds(root);
    let slot = |key: Value<'_>| match guide.member(root, &key.as_str()?) {
        Member::Declared(slot, _) => Some(1_u128 << slot),
        Member::Open(_) | Member::Forbidden => None,
    };
    let required = guide.required(root);
    // Each value waits here with the fact that an object is around it.
    let mut open = vec![(value, false)];
    while let Some((value, is_member)) = open.pop() {
        match value.kind() {
            Kind::Array if kinds.has(Kinds::ARRAY) && !is_member => return true,
            Kind::Array => open.extend(value.elements().map(|element| (element, is_member))),
            Kind::Object => {
                let slots: Vec<Option<u128>> = value.members().map(|(key, _)| slot(key)).collect();
                let used = slots.iter().flatten().fold(0, |used, slot| used | slot);
                let has_all = required & !used == 0;
                let is_due = match is_member {
                    true => required != 0 && has_all && slots.iter().all(Option::is_some),
                    false => used != 0 || required == 0,
                };
                if is_due && kinds.has(Kinds::OBJECT) {
                    return true;
                }
                open.extend(value.members().map(|(_, member)| (member, true)));
            }
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => {}
        }
    }
    false
}

/// Returns whether `text` ends with the opener of a CDATA section of XML.
pub(crate) fn is_cdata(text: &[u8]) -> bool {
    text.ends_with(b"<![CDATA[")
}

/// Returns whether a colon stands at or behind `at`.
pub(crate) fn is_colon(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.get(skip_blank(bytes, at)..).unwrap_or(&[]);
    matches!(sign(rest), Some((b':', _)))
}
