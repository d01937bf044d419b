//! Reads back an answer that was held to JSON, by a schema or a grammar: prose out of `{"no_tool_helps": "…"}`, calls
//! as from a scanner.

use crate::context::Context;
use crate::scan::{Delta, Event, Scanner};
use crate::syntax::escape::{Escape, escape};
use crate::syntax::marks::first_of;
use crate::syntax::{Incomplete, Seen};
use crate::tools::{Declared, ToolSet};
use crate::verdict::Outcome;

/// The keys of prose: the one that models are held to, and the one that others choose.
const KEYS: [&str; 2] = ["\"no_tool_helps\"", "\"answer\""];
/// Most whitespace between two tokens around the answer.
const MAX_SPACE: usize = 64;

/// Reads one answer as it arrives, like [`Scanner`], for a request with a [`Constraint`](super::Constraint) in the dialect
/// [JSON](crate::prompt::PromptDialect::json). Other dialects' answers come out as from a scanner.
///
/// The text in `{"no_tool_helps": "…"}`, or `{"answer": "…"}`, is prose, decoded piece by piece; it holds no calls.
/// Anything else, `{"tool_calls": […]}` or the free words of a server that did not constrain, goes through the scanner
/// unchanged. So do calls behind the answer in the same object; their spans count from a brace that replaces it.
pub struct Answer<'a> {
    scanner: Scanner<'a>,
    state: State,
    /// The text that cannot be told apart yet.
    held: String,
    /// The decoded answer.
    said: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The reader is before the answer's string.
    Before,
    /// The reader is in the answer's string.
    Inside,
    /// Everything goes through the scanner.
    Through,
}

impl<'a> Answer<'a> {
    /// Makes a reader for answers to a request that declares `tools`.
    pub fn new(tools: impl Into<Declared<'a>>, context: &Context<'_>) -> Answer<'a> {
        let state = if context.starts_in_reasoning { State::Through } else { State::Before };
        let mut scanner = Scanner::new(tools, context);
        scanner.constrain();
        Answer { scanner, state, held: String::new(), said: String::new() }
    }

    /// Takes the next piece.
    pub fn feed(&mut self, delta: Delta<'_>, out: &mut Vec<Event>) {
        match delta {
            Delta::Text(text) if self.state != State::Through => {
                self.held.push_str(text);
                self.advance(out);
            }
            delta => self.scanner.feed(delta, out),
        }
    }

    /// Takes the upstream's `finish_reason`, if that was not known from the start.
    pub fn finish_reason(&mut self, finish_reason: &str) {
        self.scanner.finish_reason(finish_reason);
    }

    /// Ends the answer. The events hold the parts that became certain only with the end.
    pub fn finish(mut self) -> (Vec<Event>, Outcome) {
        let mut events = Vec::new();
        if self.state == State::Before {
            self.through(&mut events);
        }
        let (last, mut outcome) = self.scanner.finish();
        events.extend(last);
        outcome.text.insert_str(0, &self.said);
        (events, outcome)
    }

    fn advance(&mut self, out: &mut Vec<Event>) {
        if self.state == State::Before {
            let begins = KEYS.iter().map(|key| expect(&self.held, &["{", key, ":", "\""]));
            match first_of(begins) {
                Ok(Some(len)) => self.held.drain(..len),
                Err(Incomplete) => return,
                Ok(None) => return self.through(out),
            };
            self.state = State::Inside;
        }
        loop {
            let (text, len, at_quote) = decode(&self.held);
            self.say(&text, out);
            self.held.drain(..len);
            if !at_quote {
                return;
            }
            let ended = expect(&self.held, &["\"", "}"]);
            match (ended, expect(&self.held, &["\"", ",", "\"tool_calls\""])) {
                (Ok(Some(len)), _) => {
                    self.held.drain(..len);
                    return self.through(out);
                }
                (_, Ok(Some(len))) => {
                    self.held.replace_range(..len, "{\"tool_calls\"");
                    return self.through(out);
                }
                (Err(Incomplete), _) | (_, Err(Incomplete)) => return,
                // `{"answer": "He said "hi"."}`
                (Ok(None), Ok(None)) => {
                    self.say("\"", out);
                    self.held.drain(..1);
                }
            }
        }
    }

    fn through(&mut self, out: &mut Vec<Event>) {
        self.state = State::Through;
        let held = std::mem::take(&mut self.held);
        self.scanner.feed(Delta::Text(&held), out);
    }

    fn say(&mut self, text: &str, out: &mut Vec<Event>) {
        if !text.is_empty() {
            self.said.push_str(text);
            out.push(Event::Text(text.to_owned()));
        }
    }
}

/// Finds an answer's prose and calls in one whole text: [`parse`](crate::parse) for answers that were held to a schema.
pub fn parse(tools: &ToolSet, text: &str, context: &Context<'_>) -> Outcome {
    let mut events = Vec::new();
    let mut answer = Answer::new(tools, context);
    answer.feed(Delta::Text(text), &mut events);
    answer.finish().1
}

/// Returns the length of these tokens at the beginning of `text`, with whitespace before and between them.
fn expect(text: &str, tokens: &[&str]) -> Seen<usize> {
    let mut rest = text;
    for token in tokens {
        let trimmed = rest.trim_start_matches([' ', '\n', '\r', '\t']);
        if MAX_SPACE < rest.len() - trimmed.len() {
            return Ok(None);
        }
        match trimmed.strip_prefix(token) {
            Some(behind) => rest = behind,
            None if token.starts_with(trimmed) => return Err(Incomplete),
            None => return Ok(None),
        }
    }
    Ok(Some(text.len() - rest.len()))
}

/// Decodes the inside of a JSON string as far as it is certain: the text, its length in bytes, and whether a quote
/// follows.
fn decode(inside: &str) -> (String, usize, bool) {
    let mut text = String::new();
    let mut at = 0;
    while let Some(found) = inside[at..].find(['"', '\\']) {
        text.push_str(&inside[at..at + found]);
        at += found;
        if inside[at..].starts_with('"') {
            return (text, at, true);
        }
        let (letter, len) = match escape(&inside.as_bytes()[at..]) {
            Ok(Some(Escape { len, letter })) => (letter.unwrap_or(char::REPLACEMENT_CHARACTER), len),
            // A backslash without an escape is itself.
            Ok(None) => ('\\', 1),
            Err(Incomplete) => return (text, at, false),
        };
        text.push(letter);
        at += len;
    }
    text.push_str(&inside[at..]);
    (text, inside.len(), false)
}
