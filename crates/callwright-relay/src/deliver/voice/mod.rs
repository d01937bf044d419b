//! How an answer is said: as neutral events to a [`Voice`], which writes them in the form of one API.
//!
//! What is certain comes in, piece by piece; bytes for the client go out. A voice decides nothing about calls: what it
//! is told is never taken back.

mod chat;
mod gemini;
mod messages;
mod ollama;
mod pieces;
mod responses;
mod serial;

use callwright::Acceptance;
use callwright_json::Value;
use http::StatusCode;

use crate::sse;
use crate::tokens::Usage;
use crate::wire::{Delta, Foreign};

pub(super) use chat::ChatVoice;
pub(super) use gemini::GeminiParts;
pub(super) use messages::MessageBlocks;
pub(super) use ollama::OllamaLines;
pub(super) use responses::ResponseItems;
pub(super) use serial::{Blocks, Serial};

/// What clients of event streams pass over.
const COMMENT: &str = ": callwright\n\n";

/// The name of a call whose arguments follow.
#[derive(Clone, Copy)]
pub(super) struct CallHead<'a> {
    /// Its number in the choice, from 0 on.
    pub(super) number: usize,
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    /// What came with its name and is not ours.
    pub(super) foreign: &'a Foreign,
}

/// Writes an answer in the form of one API.
///
/// Its methods stand in the order in which an answer calls them. `choice` is the number of a choice.
pub(super) trait Voice: Send {
    /// Takes a look at a chunk of the upstream's. True where it may go on as it came, if nothing in it is held or changed.
    fn meets(&mut self, chunk: Value<'_>) -> bool;

    /// What the upstream sent and nobody has changed: a comment, a chunk that [`Voice::meets`] let through.
    fn pass(&mut self, event: &sse::Event);

    /// Does the client hear of it when nothing comes, also where nothing is held?
    fn beats_in_silence(&self) -> bool {
        false
    }

    /// The choice begins.
    fn begin(&mut self, choice: usize);

    /// What stands in a delta besides text and calls. `repeats_role` tells that it says once more whose turn it is.
    fn beside(&mut self, delta: &Delta<'_>, repeats_role: bool);

    /// The next piece of what is said.
    fn text(&mut self, choice: usize, text: &str);

    /// The next piece of what is thought.
    fn thought(&mut self, choice: usize, text: &str);

    /// A call begins.
    fn call_begin(&mut self, choice: usize, head: &CallHead<'_>);

    /// The next piece of a call's arguments.
    fn call_piece(&mut self, choice: usize, number: usize, piece: &str);

    /// A call is whole and right.
    fn call_end(&mut self, choice: usize, number: usize);

    /// A call at once: whole and right, with what came in its pieces and is not ours.
    fn call(&mut self, choice: usize, number: usize, id: &str, call: &Acceptance, foreign: &[Foreign]);

    /// More of what is not ours in a call that has begun.
    fn foreign(&mut self, choice: usize, number: usize, foreign: &Foreign);

    /// A piece of a call that nobody reads.
    fn foreign_call(&mut self, choice: usize, number: usize, piece: Value<'_>);

    /// A call that is not made, for a client that wants a report.
    fn tool_error(&mut self, choice: usize, part: &str);

    /// The upstream says with this delta why the model stopped.
    fn stopped(&mut self, delta: &Delta<'_>, chunk: Value<'_>);

    /// Why the choice ended, as the client is to see it, with the member `callwright` where it wants that.
    fn finish(&mut self, choice: usize, reason: Option<&str>, report: Option<&str>);

    /// The upstream's event that counts the tokens.
    fn counted(&mut self, event: &sse::Event);

    /// All choices have ended. So many tokens were spent, in so many `attempts`.
    fn usage(&mut self, spent: Usage, attempts: usize);

    /// The upstream's own error in the midst of its answer.
    fn upstream_error(&mut self, event: &sse::Event, chunk: Value<'_>);

    /// The answer cannot go on.
    fn fail(&mut self, code: &str, message: &str);

    /// Nothing more comes.
    fn close(&mut self);

    /// The HTTP status that the client has got, or gets because what failed was all that there is.
    fn status(&self) -> StatusCode {
        StatusCode::OK
    }

    /// A sign of life for whatever stands between, which clients pass over.
    fn comment(&mut self);

    /// A sign of life that adds nothing.
    fn beat(&mut self, choice: usize);

    /// Hands what was written to the client.
    fn flush(&mut self);
}
