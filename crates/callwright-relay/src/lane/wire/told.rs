//! The form in which all wires read and write answers.

use callwright_json::{Span, Tree, Value, strict};

use crate::lane::call::{Call, CallHead, Put};
use crate::sse::Event;
use crate::surface::Failure;
use crate::tokens::Usage;
use crate::wire::{spliced, string_of};

/// The parts of an answer besides its calls, as far as they have come.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) text: String,
    /// The text as the model wrote it, if calls stand in it.
    pub(crate) raw: String,
    pub(crate) thought: String,
    /// The words of its refusal.
    pub(crate) refusal: String,
    /// The reason for its end, as a chat has it.
    pub(crate) reason: Option<String>,
    pub(crate) usage: Usage,
    /// The answer ended properly.
    pub(crate) is_over: bool,
}

/// The meaning of an event, as far as calls depend on it.
#[derive(Debug)]
pub(crate) enum Seen {
    /// The event says nothing of calls.
    Beside,
    /// The answer begins, and says nothing yet.
    Starts,
    /// The server lives: the event waits for nothing.
    Beat,
    CallBegins(u64, CallHead),
    CallPiece(u64, String),
    /// All arguments of a call, repeated.
    CallSaid(u64, String),
    /// Whole calls that no event has announced.
    Calls(Vec<(u64, CallHead)>),
    /// The call is whole. A repeated head has the arguments that count.
    CallEnds(u64, Option<CallHead>),
    /// The answer has ended; these are all its calls, if the event repeats them.
    Ends(Vec<(u64, CallHead)>),
    /// The upstream's own error.
    Fails,
}

/// The settled calls of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settled<'a> {
    pub(crate) calls: &'a [Call],
    /// The client gets a call.
    pub(crate) has_calls: bool,
    /// The answer was cut, and all its calls were made again and are right.
    pub(crate) is_mended: bool,
    /// The tokens of further answers.
    pub(crate) more: Usage,
}

impl<'a> Settled<'a> {
    pub(super) fn put_at(&self, at: u64) -> Option<&'a Put> {
        self.calls.iter().find(|call| call.at == at)?.put.as_ref()
    }

    /// Returns the part of the arguments of the call at this place that the client has.
    pub(super) fn sent_at(&self, at: u64) -> &'a str {
        self.calls.iter().find(|call| call.at == at).map_or("", |call| &call.sent)
    }

    pub(super) fn put_of(&self, id: &str) -> Option<&'a Put> {
        self.calls.iter().find(|call| call.head.id == id)?.put.as_ref()
    }
}

/// Reads the answers of one API.
pub(crate) trait Reader: Send {
    /// Returns the meaning of a stream's event.
    fn see(&mut self, event: Value<'_>, told: &mut Told) -> Seen;

    /// Returns the calls of a whole answer.
    fn calls(&mut self, answer: Value<'_>, told: &mut Told) -> Vec<(u64, CallHead)>;
}

/// Writes changed answers of one API.
pub(crate) trait Wire: Reader {
    /// Notes that this event is written next.
    fn goes_on_with(&mut self, event: Value<'_>);

    /// Writes the event with its settled calls.
    fn write(&mut self, event: &Event, data: (&str, Value<'_>), settled: &Settled<'_>, out: &mut String);

    /// Writes the events of another answer to the same request, in the place of this one's `held`. None if that is not a whole
    /// answer. Earlier answers took `more`.
    fn taken_over(&mut self, other: &[Event], held: &[Value<'_>], more: Usage) -> Option<String>;

    /// Ends a stream that cannot go on.
    fn fail(&mut self, failure: &Failure, out: &mut String);

    /// Returns the event that keeps a client waiting.
    fn beat(&self) -> &'static str;

    /// Returns the edits of a whole answer with its settled calls.
    fn edits(&self, answer: Value<'_>, settled: &Settled<'_>) -> Vec<(Span, String)>;
}

/// Returns whether this block begins the call of a function.
pub(crate) fn is_announced_call(block: Value<'_>) -> bool {
    string_of(block, "type").is_some_and(|kind| kind == "tool_use")
}

/// Writes an event with these edits in its data; without edits it stays as it came.
pub(super) fn edited(event: &Event, data: &str, mut edits: Vec<(Span, String)>, out: &mut String) {
    match edits.is_empty() {
        true => out.push_str(&String::from_utf8_lossy(&event.raw)),
        false => {
            edits.sort_by_key(|(span, _)| *span);
            written(&String::from_utf8_lossy(&event.name), &spliced(data, &edits), out);
        }
    }
}

pub(super) fn written(name: &str, data: &str, out: &mut String) {
    for part in ["event: ", name, "\ndata: ", data, "\n\n"] {
        out.push_str(part);
    }
}

/// Returns the data of an event, as JSON.
pub(in crate::lane) fn read(event: &Event) -> Option<(String, Tree)> {
    let json = String::from_utf8(event.data.as_ref()?.to_vec()).ok()?;
    let tree = strict(&json).ok()?;
    Some((json, tree))
}
