//! The form in which every wire tells an answer, and writes it.

use callwright_json::{Span, Tree, Value, strict};

use crate::lane::call::{Call, CallHead, Put};
use crate::sse::Event;
use crate::surface::Failure;
use crate::tokens::Usage;
use crate::wire::{spliced, string_of};

/// What an answer says besides its calls, as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) text: String,
    /// The text as the model wrote it, where calls stand in it.
    pub(crate) raw: String,
    pub(crate) thought: String,
    /// In which words it refused.
    pub(crate) refusal: String,
    /// Why it ended, as a chat has it.
    pub(crate) reason: Option<String>,
    pub(crate) usage: Usage,
    /// It ended as it should.
    pub(crate) is_over: bool,
}

/// What an event says, as far as calls depend on it.
#[derive(Debug)]
pub(crate) enum Seen {
    /// Nothing.
    Beside,
    /// That the answer begins, of which nothing is said yet.
    Starts,
    /// That the server lives: it waits for nothing.
    Beat,
    CallBegins(u64, CallHead),
    CallPiece(u64, String),
    /// All arguments of a call, said again.
    CallSaid(u64, String),
    /// Calls that nothing has announced, whole.
    Calls(Vec<(u64, CallHead)>),
    /// The call is whole; with its head where the event says it again, and then its arguments are those.
    CallEnds(u64, Option<CallHead>),
    /// The answer has ended, and these are all its calls, where that is said again.
    Ends(Vec<(u64, CallHead)>),
    /// The upstream's own error.
    Fails,
}

/// What stands in an answer once its calls are settled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settled<'a> {
    pub(crate) calls: &'a [Call],
    /// Does the client get any call?
    pub(crate) has_calls: bool,
    /// The answer was cut, and all its calls were made again and are right.
    pub(crate) is_mended: bool,
    /// What further answers took.
    pub(crate) more: Usage,
}

impl<'a> Settled<'a> {
    pub(super) fn put_at(&self, at: u64) -> Option<&'a Put> {
        self.calls.iter().find(|call| call.at == at)?.put.as_ref()
    }

    /// What of the arguments of the call at this place the client has.
    pub(super) fn sent_at(&self, at: u64) -> &'a str {
        self.calls.iter().find(|call| call.at == at).map_or("", |call| &call.sent)
    }

    pub(super) fn put_of(&self, id: &str) -> Option<&'a Put> {
        self.calls.iter().find(|call| call.head.id == id)?.put.as_ref()
    }
}

/// Reads the answers of one API.
pub(crate) trait Reader: Send {
    /// What an event of a stream says.
    fn see(&mut self, event: Value<'_>, told: &mut Told) -> Seen;

    /// The calls of a whole answer.
    fn calls(&mut self, answer: Value<'_>, told: &mut Told) -> Vec<(u64, CallHead)>;
}

/// Writes what has to be changed in them.
pub(crate) trait Wire: Reader {
    /// This event is the next that is written.
    fn goes_on_with(&mut self, event: Value<'_>);

    /// Writes the event as it stands once the calls are settled.
    fn write(&mut self, event: &Event, data: (&str, Value<'_>), settled: &Settled<'_>, out: &mut String);

    /// The events of another answer to the same request, as they go on where this one's `held` would. None where that is no whole
    /// answer. What came before took `more`.
    fn taken_over(&mut self, other: &[Event], held: &[Value<'_>], more: Usage) -> Option<String>;

    /// Ends a stream that cannot go on.
    fn fail(&mut self, failure: &Failure, out: &mut String);

    /// What keeps a client waiting.
    fn beat(&self) -> &'static str;

    /// What of a whole answer is changed once its calls are settled.
    fn edits(&self, answer: Value<'_>, settled: &Settled<'_>) -> Vec<(Span, String)>;
}

/// Is this block one that begins the call of a function?
pub(crate) fn is_announced_call(block: Value<'_>) -> bool {
    string_of(block, "type").is_some_and(|kind| kind == "tool_use")
}

/// Writes an event with these edits in its data; as it came where there are none.
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

/// The data of an event, as JSON.
pub(in crate::lane) fn read(event: &Event) -> Option<(String, Tree)> {
    let json = String::from_utf8(event.data.as_ref()?.to_vec()).ok()?;
    let tree = strict(&json).ok()?;
    Some((json, tree))
}
