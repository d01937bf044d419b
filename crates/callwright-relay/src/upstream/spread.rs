//! Takes secrets out of a stream of events, where they are spread over several.
//!
//! In go events, each with its JSON; out come the same events in the same order, with `[secret]` where the pieces of a secret
//! stood. Each string of an event goes on with the string at the same place of the next one: `delta.content` of a choice,
//! `partial_json` of a block, a refusal, a log probability's token. An event whose string ends in what may be the beginning
//! of a secret waits until it is seen how that goes on, and what of it was none is said with the next one.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use callwright_json::{Kind, Span, Value, quote};

use super::secrets::{Secrets, Tail};
use crate::sse::Event;
use crate::wire::{Document, spliced, string_of};

/// An event, and its JSON.
type Said = (Event, Document);

/// With more bytes than that waiting, what is held goes out as if its string ended there: a secret has some hundred signs, and
/// so many events as these do not come between its pieces.
const MOST: usize = 256 << 10;

/// The strings of one stream.
#[derive(Debug)]
pub(crate) struct Spread {
    secrets: Arc<Secrets>,
    hasher: RandomState,
    /// Strings that ended in what a secret may begin with.
    strings: Vec<Growing>,
    /// What waits, in order.
    waiting: VecDeque<Waiting>,
    /// The number of the first that waits, counted from the beginning of the stream.
    first: usize,
    /// The bytes of all that wait.
    bytes: usize,
}

/// A string that grows from event to event.
#[derive(Debug)]
struct Growing {
    place: u64,
    tail: Tail,
    /// The event that waits for it.
    held: Option<Held>,
}

/// A part of a string is held.
#[derive(Debug)]
struct Held {
    /// The number of the event that it stands in.
    number: usize,
    span: Span,
    /// What of the string goes out in any case.
    goes: String,
}

#[derive(Debug)]
struct Waiting {
    said: Said,
    edits: Vec<(Span, String)>,
    /// So many of its strings are held.
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
        strings(root, self.hasher.hash_one(0), &self.hasher, &mut |place, string| {
            // Nearly all strings are told by their last signs.
            let text = string.as_str().unwrap_or_default();
            if !self.strings.is_empty() || self.secrets.is_begun(text.as_bytes()) {
                ends.push((place, string.span(), text.into_owned()));
            }
        });
        if ends.is_empty() && self.waiting.is_empty() {
            return Some((event, document));
        }
        self.bytes += event.raw.len();
        let is_end = is_end(root) || MOST < self.bytes;
        self.waiting.push_back(Waiting { said: (event, document), edits: Vec::new(), n_held: 0 });
        for (place, span, text) in ends {
            self.grows(place, span, text);
        }
        if is_end {
            self.end();
        }
        None
    }

    /// The next event that waits for nothing.
    pub(crate) fn next(&mut self) -> Option<Said> {
        let Waiting { said, edits, .. } = self.waiting.pop_front_if(|waiting| waiting.n_held == 0)?;
        self.first += 1;
        self.bytes -= said.0.raw.len();
        Some(edited(said, edits))
    }

    /// Nothing more comes to any string of which a part is held.
    pub(crate) fn end(&mut self) {
        let (waiting, first, secrets) = (&mut self.waiting, self.first, &self.secrets);
        self.strings.retain_mut(|string| {
            let Some(held) = string.held.take() else { return true };
            let Some(waiting) = waiting.get_mut(held.number - first) else { return false };
            let rest = String::from_utf8(string.tail.rest(secrets)).unwrap_or_default();
            waiting.n_held -= 1;
            waiting.put(held.span, held.goes + &rest);
            false
        });
    }

    /// Takes a string of the last event.
    fn grows(&mut self, place: u64, span: Span, text: String) {
        let at = self.strings.iter().position(|string| string.place == place).unwrap_or_else(|| {
            self.strings.push(Growing { place, tail: Tail::default(), held: None });
            self.strings.len() - 1
        });
        let Some(string) = self.strings.get_mut(at) else { return };
        // How the one before goes on is known now.
        if let Some(held) = string.held.take()
            && let Some(waiting) = self.waiting.get_mut(held.number - self.first)
        {
            waiting.n_held -= 1;
        }
        let goes = string.tail.push(&self.secrets, text.as_bytes());
        let goes = goes.map(|goes| String::from_utf8(goes).unwrap_or_default());
        let number = self.first + self.waiting.len() - 1;
        if let Some(waiting) = self.waiting.back_mut() {
            if string.tail.holds() {
                waiting.n_held += 1;
                let goes = goes.clone().unwrap_or(text);
                string.held = Some(Held { number, span, goes });
            }
            if let Some(goes) = goes {
                waiting.put(span, goes);
            }
        }
        if string.tail.is_empty() {
            self.strings.swap_remove(at);
        }
    }
}

impl Waiting {
    fn put(&mut self, span: Span, text: String) {
        let text = quote(&text);
        match self.edits.iter_mut().find(|(known, _)| *known == span) {
            Some((_, known)) => *known = text,
            None => self.edits.push((span, text)),
        }
    }
}

/// The event with these strings in it; as it came where they say the same.
fn edited((event, document): Said, mut edits: Vec<(Span, String)>) -> Said {
    edits.retain(|(span, text)| span.of(document.text()) != text);
    if edits.is_empty() {
        return (event, document);
    }
    edits.sort_by_key(|(span, _)| *span);
    let text = spliced(document.text(), &edits);
    let event = event.with_data(&text);
    // One string in the place of another leaves it JSON.
    (event, Document::of(text).unwrap_or(document))
}

/// Is this the end of what grows: of a block, an item, a choice?
fn is_end(root: Value<'_>) -> bool {
    let kind = string_of(root, "type").unwrap_or_default();
    let of_a_choice = |choice: Value<'_>| string_of(choice, "finish_reason").is_some();
    ["_stop", "message_delta", ".done", ".completed", ".incomplete"].iter().any(|end| kind.ends_with(end))
        || root.get("choices").into_iter().flat_map(Value::elements).any(of_a_choice)
}

/// Calls `see` for each string in a value, with a number for its place: the names on the way to it, and what tells one choice,
/// call, block or item from another.
fn strings(value: Value<'_>, place: u64, hasher: &RandomState, see: &mut impl FnMut(u64, Value<'_>)) {
    const NUMBERS: [&str; 5] = ["index", "output_index", "content_index", "summary_index", "type"];
    match value.kind() {
        Kind::String => see(place, value),
        Kind::Object => {
            let numbers = NUMBERS.map(|key| value.get(key).map(Value::raw));
            let place = hasher.hash_one((place, numbers));
            for (key, member) in value.members() {
                strings(member, hasher.hash_one((place, key.raw())), hasher, see);
            }
        }
        // What is listed has a number of its own, or is all that there is.
        Kind::Array => value.elements().for_each(|element| strings(element, place, hasher, see)),
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

    /// What goes out of these events, each as soon as it may.
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

    /// The events of three APIs that say `text` in pieces of `size`, each with what ends them.
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

    /// All that the member `key` says in these events.
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
    fn what_is_no_secret_is_said_all_the_same() {
        let text = "sk-canary is a bird, sk-canary/01 is none. sk-can";
        for size in [1, 3, 7, 1000] {
            for (key, events) in said(text, size) {
                let out = out(&events);
                assert_eq!(joined(&out, key), text, "{key} in pieces of {size}");
                assert_eq!(out.len(), events.len(), "{key} in pieces of {size}");
            }
            // Where nothing of a secret comes, nothing is written anew.
            for (_, events) in said("The birds sing, as all of us do.", size) {
                assert_eq!(out(&events), events);
            }
        }
    }

    /// Only what may be the beginning of a secret waits, and what stands behind it with it.
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
