//! An answer as it arrives: pieces go in, events come out.

use std::sync::Arc;

use callwright::{CallDelta, Delta, Event, PartialCall};
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::definitions::Tools;
use crate::options::{Native, Options};
use crate::outcome::{outcome, report};
use crate::partial;
use crate::told::{Told, json, text, utf16, with_edits};

/// Reads one answer as it arrives.
#[wasm_bindgen]
pub struct Scanner {
    state: State,
    text: String,
    native: Vec<(usize, Native)>,
}

enum State {
    Open(Box<callwright::Scanner<'static>>),
    Done(callwright::Outcome),
    /// Nothing comes of it: it is seen only while one of the others takes the place of the other.
    Ending,
}

const ENDED: &str = "the answer has ended: a scanner reads one answer";

#[wasm_bindgen]
impl Scanner {
    /// Begins an answer; `options` are JSON.
    ///
    /// # Errors
    /// Names the unknown option.
    #[wasm_bindgen(constructor)]
    pub fn new(tools: &Tools, options: &[u8]) -> Result<Scanner, String> {
        let options = Options::read(options)?;
        let scanner = callwright::Scanner::new(Arc::clone(&tools.tools), &options.context()?);
        Ok(Scanner { state: State::Open(Box::new(scanner)), text: String::new(), native: Vec::new() })
    }

    /// Takes the next piece of text; gives the events that became certain by it as JSON, or nothing.
    ///
    /// # Errors
    /// When the answer has ended.
    pub fn feed(&mut self, piece: &[u8]) -> Result<Option<String>, String> {
        let piece = text(piece);
        self.text.push_str(&piece);
        self.take(Delta::Text(&piece))
    }

    /// Takes the next piece of reasoning that the upstream keeps apart.
    ///
    /// # Errors
    /// When the answer has ended.
    pub fn feed_reasoning(&mut self, piece: &[u8]) -> Result<Option<String>, String> {
        self.take(Delta::Reasoning(&text(piece)))
    }

    /// Takes the next piece of a native call: pieces of one call have one `index`.
    ///
    /// # Errors
    /// When the answer has ended.
    pub fn feed_call(
        &mut self,
        index: usize,
        id: Option<String>,
        name: Option<String>,
        arguments: Option<String>,
    ) -> Result<Option<String>, String> {
        let at = self.native.iter().position(|(other, _)| *other == index).unwrap_or_else(|| {
            self.native.push((index, Native::default()));
            self.native.len() - 1
        });
        if let Some((_, native)) = self.native.get_mut(at) {
            native.id = id.clone().or(native.id.take());
            native.name.push_str(name.as_deref().unwrap_or_default());
            native.arguments.push_str(arguments.as_deref().unwrap_or_default());
        }
        self.take(Delta::ToolCall(CallDelta {
            index: Some(index),
            id: id.as_deref(),
            name: name.as_deref(),
            arguments: arguments.as_deref(),
        }))
    }

    /// Returns what is certain of the call that is being written as JSON, `{"id", "name", "arguments": {"value", "complete"}}`;
    /// nothing between calls.
    pub fn partial(&mut self) -> Option<String> {
        let State::Open(scanner) = &mut self.state else { return None };
        let PartialCall { id, name, arguments } = scanner.partial()?;
        let arguments = partial::told(&arguments);
        Some(format!(r#"{{"id":{},"name":{},"arguments":{arguments}}}"#, json(&id), json(&name)))
    }

    /// Says that no more will come; gives the last events.
    ///
    /// # Errors
    /// When the answer has ended before.
    pub fn finish(&mut self, finish_reason: Option<String>) -> Result<Option<String>, String> {
        let mut scanner = match std::mem::replace(&mut self.state, State::Ending) {
            State::Open(scanner) => scanner,
            other => {
                self.state = other;
                return Err(ENDED.to_owned());
            }
        };
        if let Some(finish_reason) = finish_reason {
            scanner.finish_reason(&finish_reason);
        }
        let (events, outcome) = scanner.finish();
        self.state = State::Done(outcome);
        let arguments = self.native.iter().map(|(_, native)| native.arguments.as_str());
        Ok(told(&events, &self.text, arguments))
    }

    /// Everything that the answer came to, as JSON; nothing before it has ended.
    pub fn outcome(&self) -> Option<String> {
        self.done(outcome)
    }

    /// The report, as `parse` has it; nothing before the answer has ended.
    pub fn report(&self) -> Option<String> {
        self.done(report)
    }

    fn take(&mut self, delta: Delta<'_>) -> Result<Option<String>, String> {
        let State::Open(scanner) = &mut self.state else { return Err(ENDED.to_owned()) };
        let mut events = Vec::new();
        scanner.feed(delta, &mut events);
        Ok(told(&events, &self.text, std::iter::empty()))
    }

    fn done(&self, tell: impl FnOnce(&callwright::Outcome, &str, &[Native]) -> String) -> Option<String> {
        let State::Done(outcome) = &self.state else { return None };
        let native: Vec<Native> = self.native.iter().map(|(_, native)| native.clone()).collect();
        Some(tell(outcome, &self.text, &native))
    }
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum ToldEvent<'e> {
    TextDelta {
        text: &'e str,
    },
    ReasoningDelta {
        text: &'e str,
    },
    CallStarted {
        index: usize,
        id: Option<&'e str>,
        name: &'e str,
    },
    ArgumentsDelta {
        index: usize,
        text: &'e str,
    },
    #[serde(untagged)]
    Verdict(Box<Told<'e>>),
}

/// The events as a line of JSON and one for each call, nothing where there are none. Native verdicts come last, each read from its own of `arguments`.
fn told<'e>(
    events: &'e [Event],
    text: &'e str,
    mut arguments: impl Iterator<Item = &'e str>,
) -> Option<String> {
    // Most pieces bring prose, which has no place.
    let mut places = None;
    let one = |event: &'e Event| {
        Some(match event {
            Event::Text(text) => ToldEvent::TextDelta { text },
            Event::Reasoning(text) => ToldEvent::ReasoningDelta { text },
            Event::CallStarted { call, id, name } => {
                ToldEvent::CallStarted { index: *call, id: id.as_deref(), name }
            }
            Event::CallArguments { call, piece } => ToldEvent::ArgumentsDelta { index: *call, text: piece },
            Event::Call(verdict) => {
                let source = verdict.is_native().then(|| arguments.next()).flatten();
                ToldEvent::Verdict(Box::new(Told::of(
                    verdict,
                    places.get_or_insert_with(|| utf16(text)),
                    source,
                )))
            }
            // What the engine learns to tell is told from the version on that knows it.
            _ => return None,
        })
    };
    let told: Vec<ToldEvent<'e>> = events.iter().filter_map(one).collect();
    let verdicts = told.iter().filter_map(|event| match event {
        ToldEvent::Verdict(verdict) => Some(&**verdict),
        _ => None,
    });
    (!told.is_empty()).then(|| with_edits(&told, verdicts))
}
