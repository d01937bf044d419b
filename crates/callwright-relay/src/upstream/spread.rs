//! Takes secrets out of a stream of events that are spread over several.
//!
//! In go events, each with its JSON. Out come the same events in the same order, with `[secret]` in the place of the pieces of a
//! secret. Each string of an event goes on with the string at the same place of the next one. Such strings are `delta.content` of
//! a choice, `partial_json` of a block, a refusal, a log probability's token. An event whose string ends in a possible beginning
//! of a secret waits for the next one. All other bytes go on unchanged.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use callwright_json::{Kind, Span, Value, quote};

use super::secrets::{self, CERTAIN, Secrets};
use crate::sse::Event;
use crate::wire::{Document, spliced, string_of};

/// An event, and its JSON.
type Said = (Event, Document);

/// The most bytes that wait: beyond that, the strings go out as if they ended there. A secret has some hundred signs, and fewer
/// events than these come between its pieces.
const MOST: usize = 256 << 10;

/// The strings of one stream.
#[derive(Debug)]
pub(crate) struct Spread {
    secrets: Arc<Secrets>,
    hasher: RandomState,
    /// Strings that ended in a possible beginning of a secret.
    strings: Vec<Growing>,
    /// The waiting events, in order.
    waiting: VecDeque<Waiting>,
    /// The number of the first waiting event, counted from the beginning of the stream.
    first: usize,
    /// The bytes of all waiting events.
    bytes: usize,
}

/// A string that grows from event to event: its pieces that end in a possible beginning of a secret.
#[derive(Debug)]
struct Growing {
    place: u64,
    /// The bytes of a secret at its end from which on the string is held.
    certain: usize,
    pieces: Vec<Piece>,
}

/// A string of one event.
#[derive(Debug)]
struct Piece {
    /// The number of the event that waits for it; none if that has gone out.
    number: Option<usize>,
    span: Span,
    /// The decided part of it, which goes out.
    goes: String,
    /// The undecided part.
    text: String,
    /// A secret, or a part of one, was taken out.
    is_changed: bool,
}

#[derive(Debug)]
struct Waiting {
    said: Said,
    edits: Vec<(Span, String)>,
    /// The number of its strings that are held.
    n_held: usize,
}

impl Spread {
    pub(crate) fn new(secrets: Arc<Secrets>) -> Spread {
        Spread {
            secrets,
            hasher: RandomState::new(),
            strings: Vec::new(),
            waiting: VecDeque::new(),
            first: 0,
            bytes: 0,
        }
    }

    /// Takes the next event of the stream. It may go out at once, if it is given back; else [`Spread::next`] gives it.
    pub(crate) fn push(&mut self, event: Event, document: Document) -> Option<Said> {
        let root = document.root();
        let mut ends = Vec::new();
        let of_call =
            root.get("type").is_some_and(|kind| kind.is_str("response.function_call_arguments.delta"));
        strings(root, (self.hasher.hash_one(0), ""), &self.hasher, &mut |(place, key), string| {
            // Nearly all strings are told by their last signs.
            let text = string.as_str().unwrap_or_default();
            let goes_on = self.strings.iter().any(|string| string.place == place);
            if goes_on || self.secrets.is_begun(text.as_bytes()) {
                let is_argument =
                    matches!(key, "\"partial_json\"" | "\"arguments\"") || of_call && key == "\"delta\"";
                ends.push((place, is_argument, string.span(), text.into_owned()));
            }
        });
        if ends.is_empty() && self.waiting.is_empty() {
            return Some((event, document));
        }
        self.bytes += event.raw.len();
        let is_end = is_end(root) || MOST < self.bytes;
        self.waiting.push_back(Waiting { said: (event, document), edits: Vec::new(), n_held: 0 });
        for (place, is_argument, span, text) in ends {
            self.grows((place, is_argument), span, text);
        }
        if is_end {
            self.end();
        }
        None
    }

    /// Returns the next event that waits for nothing.
    pub(crate) fn next(&mut self) -> Option<Said> {
        self.waiting.front().filter(|waiting| waiting.n_held == 0)?;
        let Waiting { said, edits, .. } = self.waiting.pop_front()?;
        self.first += 1;
        self.bytes -= said.0.raw.len();
        Some(edited(said, edits))
    }

    /// Ends all strings with a held part.
    pub(crate) fn end(&mut self) {
        let is_held = |string: &mut Growing| string.pieces.iter().any(|piece| piece.number.is_some());
        let ended: Vec<Growing> = self.strings.extract_if(.., is_held).collect();
        for mut string in ended {
            let text = string.text();
            // So much of a secret tells nearly all of it.
            let is_told = secrets::MOST <= text.len() || self.secrets.first_in(text.as_bytes()).is_some();
            string.decide(is_told, text.len());
            self.release(&mut string, 0);
        }
    }

    /// Takes a string of the last event. A program takes arguments, and may compare them with those at their end: before that,
    /// nothing of a secret in them goes out.
    fn grows(&mut self, (place, is_argument): (u64, bool), span: Span, text: String) {
        let at = self.strings.iter().position(|string| string.place == place);
        let mut string = match at {
            Some(at) => self.strings.swap_remove(at),
            None => Growing { place, certain: if is_argument { 1 } else { CERTAIN }, pieces: Vec::new() },
        };
        let number = Some(self.first + self.waiting.len() - 1);
        string.pieces.push(Piece { number, span, goes: String::new(), text, is_changed: false });
        if let Some(waiting) = self.waiting.back_mut() {
            waiting.n_held += 1;
        }
        let mut text = string.text();
        while let Some((at, length)) = self.secrets.first_in(text.as_bytes()) {
            // It may be the beginning of a longer one.
            if text.len() - self.secrets.begun_in(text.as_bytes()) <= at {
                break;
            }
            string.decide(false, at);
            string.decide(true, length);
            text = string.text();
        }
        let begun = self.secrets.begun_in(text.as_bytes());
        string.decide(false, text.len() - begun);
        let certain = string.certain;
        self.release(&mut string, if certain <= begun { 0 } else { begun });
        if !string.pieces.is_empty() {
            self.strings.push(string);
        }
    }

    /// Lets out the decided pieces, and those whose open part is too short to say anything.
    fn release(&mut self, string: &mut Growing, open: usize) {
        for piece in &mut string.pieces {
            if !(piece.text.is_empty() || 0 < open) {
                continue;
            }
            let Some(number) = piece.number.take() else { continue };
            let Some(waiting) = self.waiting.get_mut(number - self.first) else { continue };
            waiting.n_held -= 1;
            if piece.is_changed {
                waiting.edits.push((piece.span, quote(&format!("{}{}", piece.goes, piece.text))));
            }
        }
        string.pieces.retain(|piece| !piece.text.is_empty());
    }
}

impl Growing {
    /// Returns the undecided part of it.
    fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// Decides about its next bytes: they go out, or they are a secret, and a word takes their place.
    fn decide(&mut self, is_secret: bool, bytes: usize) {
        let (mut left, mut is_told) = (bytes, false);
        for piece in &mut self.pieces {
            let n = left.min(piece.text.len());
            left -= n;
            if n == 0 {
                continue;
            }
            let decided: String = piece.text.drain(..n).collect();
            if !is_secret {
                piece.goes.push_str(&decided);
                continue;
            }
            piece.is_changed = true;
            // The first letters of a secret may be out.
            if piece.number.is_some() && !std::mem::replace(&mut is_told, true) {
                piece.goes.push_str(&String::from_utf8_lossy(secrets::INSTEAD));
            }
        }
    }
}

/// Returns the event with these strings in it; without any it stays as it came.
fn edited((event, document): Said, mut edits: Vec<(Span, String)>) -> Said {
    if edits.is_empty() {
        return (event, document);
    }
    edits.sort_by_key(|(span, _)| *span);
    let text = spliced(document.text(), &edits);
    let event = event.with_data(&text);
    // One string in the place of another leaves it JSON.
    (event, Document::of(text).unwrap_or(document))
}

/// Returns whether this is the end of a growing part: of a block, an item, a choice.
fn is_end(root: Value<'_>) -> bool {
    let kind = string_of(root, "type").unwrap_or_default();
    let of_a_choice = |choice: Value<'_>| string_of(choice, "finish_reason").is_some();
    ["_stop", "message_delta", ".done", ".completed", ".incomplete"].iter().any(|end| kind.ends_with(end))
        || root.get("choices").into_iter().flat_map(Value::elements).any(of_a_choice)
}

/// Calls `see` for each string in a value, with the number of its place and the last name on the way as written. The place is
/// made of the names on the way, and of the marks that tell choices, calls, blocks and items apart.
fn strings<'v>(
    value: Value<'v>,
    (place, key): (u64, &'v str),
    hasher: &RandomState,
    see: &mut impl FnMut((u64, &'v str), Value<'v>),
) {
    const NUMBERS: [&str; 5] = ["index", "output_index", "content_index", "summary_index", "type"];
    match value.kind() {
        Kind::String => see((place, key), value),
        Kind::Object => {
            let numbers = NUMBERS.map(|key| value.get(key).map(Value::raw));
            let place = hasher.hash_one((place, numbers));
            for (key, member) in value.members() {
                strings(member, (hasher.hash_one((place, key.raw())), key.raw()), hasher, see);
            }
        }
        // What is listed has a number of its own, or is all that there is.
        Kind::Array => value.elements().for_each(|element| strings(element, (place, key), hasher, see)),
        Kind::Null | Kind::Bool | Kind::Number => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-canary/0123456789";

    fn event(data: &str) -> Said {
        let event = Event::of(format!("event: e\ndata: {data}\n\n").into());
        (event, Document::of(data.to_owned()).unwrap())
    }

    /// Returns the bytes of these events, each as soon as it may go out.
    fn out(events: &[String]) -> Vec<String> {
        let mut spread = Spread::new(Arc::new(Secrets::of([String::from(KEY)])));
        let mut out = Vec::new();
        for data in events {
            let (event, document) = event(data);
            out.extend(spread.push(event, document));
            out.extend(std::iter::from_fn(|| spread.next()));
        }
        spread.end();
        out.extend(std::iter::from_fn(|| spread.next()));
        out.into_iter().map(|(_, document)| document.text().to_owned()).collect()
    }

    /// Returns the events of three APIs that say `text` in pieces of `size`, each with its end.
    fn said(text: &str, size: usize) -> Vec<(&'static str, Vec<String>)> {
        let pieces = || text.as_bytes().chunks(size).map(|piece| quote(str::from_utf8(piece).unwrap()));
        let of = |event: &dyn Fn(String) -> String, end: &str| {
            pieces().map(event).chain([end.to_owned()]).collect::<Vec<String>>()
        };
        let stop = r#"{"type":"content_block_stop","index":1}"#;
        vec![
            (
                "content",
                of(
                    &|piece| {
                        format!(r#"{{"id":"c","choices":[{{"index":0,"delta":{{"content":{piece}}}}}]}}"#)
                    },
                    r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
                ),
            ),
            (
                "refusal",
                of(
                    &|piece| format!(r#"{{"choices":[{{"index":0,"delta":{{"refusal":{piece}}}}}]}}"#),
                    r#"{"choices":[]}"#,
                ),
            ),
            (
                "token",
                of(
                    &|piece| {
                        format!(
                            r#"{{"choices":[{{"index":0,"delta":{{}},"logprobs":{{"content":[{{"token":{piece}}}]}}}}]}}"#
                        )
                    },
                    r#"{"choices":[]}"#,
                ),
            ),
            (
                "partial_json",
                of(
                    &|piece| {
                        format!(
                            r#"{{"type":"content_block_delta","index":1,"delta":{{"type":"input_json_delta","partial_json":{piece}}}}}"#
                        )
                    },
                    stop,
                ),
            ),
            (
                "delta",
                of(
                    &|piece| {
                        format!(
                            r#"{{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":{piece}}}"#
                        )
                    },
                    r#"{"type":"response.output_text.done","output_index":0}"#,
                ),
            ),
        ]
    }

    /// Returns all text of the member `key` in these events.
    fn joined(events: &[String], key: &str) -> String {
        fn all(value: Value<'_>, key: &str, out: &mut String) {
            for (name, member) in value.members() {
                match member.as_str().filter(|_| name.is_str(key)) {
                    Some(text) => out.push_str(&text),
                    None => all(member, key, out),
                }
            }
            value.elements().for_each(|element| all(element, key, out));
        }
        let mut out = String::new();
        for event in events {
            all(Document::of(event.clone()).unwrap().root(), key, &mut out);
        }
        out
    }

    #[test]
    fn no_string_of_any_api_tells_a_secret_however_it_is_cut() {
        for size in [1, 3, 7, 1000] {
            for (key, events) in said(&format!("It is {KEY}, yes."), size) {
                let out = out(&events);
                assert_eq!(out.len(), events.len(), "{key} in pieces of {size}");
                let told = joined(&out, key);
                let told = ["sk-", "sk", "s"]
                    .iter()
                    .fold(told, |told, begun| told.replace(&format!("{begun}[secret]"), "[secret]"));
                assert_eq!(told, "It is [secret], yes.", "{key} in pieces of {size}");
            }
        }
    }

    #[test]
    fn what_is_no_secret_goes_on_to_the_byte() {
        for size in [1, 3, 7, 1000] {
            for (key, events) in said("sk-canary is a bird, sk-canary/01 is none. sk-can", size) {
                assert_eq!(out(&events), events, "{key} in pieces of {size}");
            }
        }
    }

    /// Only a possible beginning of a secret waits, and the events behind it.
    #[test]
    fn an_event_waits_no_longer_than_it_has_to() {
        let mut spread = Spread::new(Arc::new(Secrets::of([String::from(KEY)])));
        let mut push = |text: &str| {
            let delta =
                format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"text":{}}}}}"#, quote(text));
            let (event, document) = event(&delta);
            let at_once = spread.push(event, document);
            at_once.into_iter().chain(std::iter::from_fn(|| spread.next())).count()
        };
        assert_eq!([push("as"), push(" sk-"), push("can"), push("ta"), push("ta")], [1, 1, 0, 2, 1]);
    }
}
