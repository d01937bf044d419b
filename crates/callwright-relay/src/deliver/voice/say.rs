//! The parts in which an answer is said, and the trait of their writers.

use callwright::Acceptance;
use callwright_json::Value;
use http::StatusCode;

use crate::sse;
use crate::tokens::Usage;
use crate::wire::{Delta, Foreign};

/// A comment, which clients of event streams pass over.
pub(super) const COMMENT: &str = ": callwright\n\n";

/// The name of a call whose arguments follow.
#[derive(Clone, Copy)]
pub(in crate::deliver) struct CallHead<'a> {
    /// Its number in the choice, from 0 on.
    pub(in crate::deliver) number: usize,
    pub(in crate::deliver) id: &'a str,
    pub(in crate::deliver) name: &'a str,
    /// The members that came with its name and are not ours.
    pub(in crate::deliver) foreign: &'a Foreign,
}

/// Writes an answer in the form of one API.
///
/// Its methods stand in the order in which an answer calls them. `choice` is the number of a choice.
pub(in crate::deliver) trait Voice: Send {
    /// Looks at a chunk of the upstream's. Returns whether it may go on as it came, if nothing in it is held or changed.
    fn meets(&mut self, chunk: Value<'_>) -> bool;

    /// Passes on what the upstream sent and nobody has changed: a comment, a chunk that [`Voice::meets`] let through.
    fn pass(&mut self, event: &sse::Event);

    /// Returns whether the client gets signs of life in silence even if nothing is held.
    fn beats_in_silence(&self) -> bool {
        false
    }

    /// Begins the choice.
    fn begin(&mut self, choice: usize);

    /// Says the members of a delta besides text and calls. `repeats_role` tells that it names its role once more.
    fn beside(&mut self, delta: &Delta<'_>, repeats_role: bool);

    /// Says the next piece of the words.
    fn text(&mut self, choice: usize, text: &str);

    /// Says the next piece of the thoughts.
    fn thought(&mut self, choice: usize, text: &str);

    /// Begins a call.
    fn call_begin(&mut self, choice: usize, head: &CallHead<'_>);

    /// Says the next piece of a call's arguments.
    fn call_piece(&mut self, choice: usize, number: usize, piece: &str);

    /// Ends a call that is whole and right.
    fn call_end(&mut self, choice: usize, number: usize);

    /// Says a call at once: whole and right, with the members that came in its pieces and are not ours.
    fn call(&mut self, choice: usize, number: usize, id: &str, call: &Acceptance, foreign: &[Foreign]);

    /// Says more members that are not ours in a call that has begun.
    fn foreign(&mut self, choice: usize, number: usize, foreign: &Foreign);

    /// Passes on a piece of an unread call.
    fn foreign_call(&mut self, choice: usize, number: usize, piece: Value<'_>);

    /// Reports a call that is not made, for a client that wants a report.
    fn tool_error(&mut self, choice: usize, part: &str);

    /// Takes the upstream's reason for which the model stopped, from this delta.
    fn stopped(&mut self, delta: &Delta<'_>, chunk: Value<'_>);

    /// Says the client's reason for which the choice ended, with the member `callwright` if the client wants it.
    fn finish(&mut self, choice: usize, reason: Option<&str>, report: Option<&str>);

    /// Takes the upstream's event that counts the tokens.
    fn counted(&mut self, event: &sse::Event);

    /// Counts the tokens that all choices spent in this number of `attempts`.
    fn usage(&mut self, spent: Usage, attempts: usize);

    /// Passes on the upstream's own error in the midst of its answer.
    fn upstream_error(&mut self, event: &sse::Event, chunk: Value<'_>);

    /// Says that the answer cannot go on.
    fn fail(&mut self, code: &str, message: &str);

    /// Ends the answer.
    fn close(&mut self);

    /// Returns the HTTP status that the client has, or gets if the failure is all of the answer.
    fn status(&self) -> StatusCode {
        StatusCode::OK
    }

    /// Writes a sign of life for proxies, which clients pass over.
    fn comment(&mut self);

    /// Writes a sign of life that adds nothing.
    fn beat(&mut self, choice: usize);

    /// Hands the written bytes to the client.
    fn flush(&mut self);
}
