//! Answers whose blocks come one after the other: a block ends before the next one begins.
//!
//! Upstreams interleave text, thoughts and calls. Everything that comes while a call is open waits for the call's end. A call
//! that is not whole and right is never closed, and an answer that does not end well never looks like one that does.

use std::collections::VecDeque;

use callwright::Acceptance;
use callwright_json::Value;
use http::StatusCode;

use super::say::{COMMENT, CallHead, Voice};
use crate::reply::BodySender;
use crate::sse;
use crate::surface::Failure;
use crate::tokens::Usage;
use crate::turn::outcome::SILENCE;
use crate::wire::{AnswerChoice, CUT, Delta, Foreign, error_status, reasoning, string_of};

/// The content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::deliver) enum Kind<'a> {
    Text,
    Thought,
    /// The words with which the model refuses the request.
    Refusal,
    Call {
        id: &'a str,
        name: &'a str,
        /// Members that its upstream added, each with a comma before it.
        foreign: &'a str,
    },
}

/// The end of an answer.
#[derive(Clone, Copy, Debug)]
pub(in crate::deliver) struct End<'a> {
    /// The finish reason of a chat.
    pub(super) reason: Option<&'a str>,
    pub(super) has_calls: bool,
    pub(super) has_refusal: bool,
    /// The cause that stopped it, if the upstream names it and the client asked for it.
    pub(super) stopped_by: Option<&'a str>,
    pub(super) usage: Usage,
    /// The member `callwright`, if the client wants it.
    pub(super) report: Option<&'a str>,
}

/// Writes the blocks of one API. The first of two blocks is closed before the second is opened.
pub(in crate::deliver) trait Blocks: Send {
    /// Begins the answer.
    fn start(&mut self, out: &mut String);

    fn open(&mut self, kind: Kind<'_>, out: &mut String);

    /// Adds to the open block.
    fn add(&mut self, piece: &str, out: &mut String);

    /// Closes the open block, which is whole; a call in it is right.
    fn close(&mut self, out: &mut String);

    /// Ends an answer that was cut while a block is open. Returns false if the API has no form for that but a failure.
    fn cut(&mut self, out: &mut String) -> bool;

    /// Ends a whole answer.
    fn end(&mut self, end: End<'_>, out: &mut String);

    /// Ends an answer that has failed.
    fn fail(&mut self, failure: &Failure, out: &mut String);

    /// Writes a comment, which clients pass over.
    fn comment(&mut self, out: &mut String) {
        out.push_str(COMMENT);
    }

    /// Writes a sign of life.
    fn beat(&mut self, out: &mut String);
}

/// Says an answer as blocks, one after the other.
pub(in crate::deliver) struct Serial<B> {
    blocks: B,
    to: BodySender,
    out: String,
    open: Open,
    /// The items that came while a call was open.
    waiting: VecDeque<Item>,
    phase: Phase,
    has_calls: bool,
    has_refusal: bool,
    reason: Option<String>,
    report: Option<String>,
    stopped_by: Option<String>,
    usage: Usage,
}

/// The progress of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing of it has been said.
    Waiting,
    Started,
    /// Nothing more may be said.
    Over,
}

/// The block that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    None,
    Said(Said),
    /// The call of this number.
    Call(usize),
}

/// A block that is not a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Text,
    Thought,
    Refusal,
}

/// An item that waits.
enum Item {
    Said(Said, String),
    Call { number: usize, id: String, name: String, foreign: String, arguments: String, is_whole: bool },
}

impl<B: Blocks> Serial<B> {
    pub(in crate::deliver) fn new(blocks: B, to: BodySender) -> Serial<B> {
        Serial {
            blocks,
            to,
            out: String::new(),
            open: Open::None,
            waiting: VecDeque::new(),
            phase: Phase::Waiting,
            has_calls: false,
            has_refusal: false,
            reason: None,
            report: None,
            stopped_by: None,
            usage: Usage::default(),
        }
    }

    /// Says a whole answer, up to its end.
    pub(in crate::deliver) fn whole(
        &mut self,
        choice: &AnswerChoice<'_>,
        report: Option<&str>,
        usage: Usage,
    ) {
        let thought = choice.reasoning.as_deref().unwrap_or_default();
        self.say(Said::Thought, thought);
        self.say(Said::Text, &choice.text);
        let message = choice.choice.get("message");
        let refusal = message.and_then(|message| string_of(message, "refusal")).unwrap_or_default();
        self.say(Said::Refusal, &refusal);
        for (number, call) in choice.calls.iter().enumerate() {
            let delta = call.delta(number);
            let (id, name) = (delta.id.unwrap_or_default(), delta.name.unwrap_or_default());
            self.begin_call(number, (id, name), &call.foreign.call);
            self.add_to_call(number, delta.arguments.unwrap_or_default());
            self.end_call(number);
        }
        self.note_stop(choice.choice);
        self.finish(0, choice.finish_reason.as_deref(), report);
        self.usage = usage;
    }

    /// Returns the writer of the blocks.
    pub(in crate::deliver) fn into_blocks(self) -> B {
        self.blocks
    }

    fn start(&mut self) {
        if self.phase == Phase::Waiting {
            self.phase = Phase::Started;
            self.blocks.start(&mut self.out);
        }
    }

    fn say(&mut self, said: Said, text: &str) {
        if text.is_empty() || self.phase == Phase::Over {
            return;
        }
        if matches!(self.open, Open::Call(_)) {
            match self.waiting.back_mut() {
                Some(Item::Said(of, waits)) if *of == said => waits.push_str(text),
                _ => self.waiting.push_back(Item::Said(said, text.to_owned())),
            }
            return;
        }
        self.start();
        if self.open != Open::Said(said) {
            self.close_block();
            let kind = match said {
                Said::Text => Kind::Text,
                Said::Thought => Kind::Thought,
                Said::Refusal => Kind::Refusal,
            };
            self.has_refusal |= said == Said::Refusal;
            self.blocks.open(kind, &mut self.out);
            self.open = Open::Said(said);
        }
        self.blocks.add(text, &mut self.out);
    }

    fn close_block(&mut self) {
        if self.open != Open::None {
            self.blocks.close(&mut self.out);
            self.open = Open::None;
        }
    }

    fn begin_call(&mut self, number: usize, (id, name): (&str, &str), foreign: &str) {
        if self.phase == Phase::Over {
            return;
        }
        if matches!(self.open, Open::Call(_)) {
            let (id, name, foreign) = (id.to_owned(), name.to_owned(), foreign.to_owned());
            let call = Item::Call { number, id, name, foreign, arguments: String::new(), is_whole: false };
            return self.waiting.push_back(call);
        }
        self.start();
        self.close_block();
        self.has_calls = true;
        self.blocks.open(Kind::Call { id, name, foreign }, &mut self.out);
        self.open = Open::Call(number);
    }

    fn add_to_call(&mut self, number: usize, piece: &str) {
        if self.phase == Phase::Over || piece.is_empty() {
            return;
        }
        if self.open == Open::Call(number) {
            return self.blocks.add(piece, &mut self.out);
        }
        for item in &mut self.waiting {
            if let Item::Call { number: of, arguments, .. } = item
                && *of == number
            {
                arguments.push_str(piece);
            }
        }
    }

    fn end_call(&mut self, number: usize) {
        if self.phase == Phase::Over {
            return;
        }
        if self.open == Open::Call(number) {
            self.close_block();
            return self.release();
        }
        for item in &mut self.waiting {
            if let Item::Call { number: of, is_whole, .. } = item
                && *of == number
            {
                *is_whole = true;
            }
        }
    }

    /// Says the waiting items, up to a call that is still open.
    fn release(&mut self) {
        while !matches!(self.open, Open::Call(_))
            && let Some(item) = self.waiting.pop_front()
        {
            match item {
                Item::Said(said, text) => self.say(said, &text),
                Item::Call { number, id, name, foreign, arguments, is_whole } => {
                    self.begin_call(number, (&id, &name), &foreign);
                    self.add_to_call(number, &arguments);
                    if is_whole {
                        self.close_block();
                    }
                }
            }
        }
    }

    /// Notes the cause that stopped the answer, if a choice tells: vLLM's `stop_reason`, llama.cpp's `stopping_word`.
    fn note_stop(&mut self, choice: Value<'_>) {
        let said = ["stop_reason", "stopping_word"].into_iter().find_map(|key| string_of(choice, key));
        let said = said.filter(|said| !said.is_empty()).map(|said| said.into_owned());
        self.stopped_by = said.or(self.stopped_by.take());
    }

    fn fails(&mut self, failure: &Failure) {
        if self.phase == Phase::Over {
            return;
        }
        // Where nothing is out, the failure may still be the answer's status.
        if self.phase == Phase::Started || !self.to.refuses(failure) {
            self.start();
            self.blocks.fail(failure, &mut self.out);
        }
        self.phase = Phase::Over;
    }
}

impl<B: Blocks> Voice for Serial<B> {
    fn meets(&mut self, _chunk: Value<'_>) -> bool {
        false
    }

    /// Nothing of another API goes on as it is.
    fn pass(&mut self, _event: &sse::Event) {}

    fn beats_in_silence(&self) -> bool {
        true
    }

    fn begin(&mut self, _choice: usize) {}

    fn beside(&mut self, delta: &Delta<'_>, _repeats_role: bool) {
        if delta.index != 0 {
            return;
        }
        if delta.has_siblings {
            self.note_stop(delta.choice);
        }
        let own = delta.choice.get("delta");
        let came = || own.and_then(reasoning);
        if let Some(thought) = delta.reasoning.clone().or_else(came) {
            self.say(Said::Thought, &thought);
        }
        if let Some(refusal) = own.and_then(|own| string_of(own, "refusal")) {
            self.say(Said::Refusal, &refusal);
        }
    }

    fn text(&mut self, choice: usize, text: &str) {
        if choice == 0 {
            self.say(Said::Text, text);
        }
    }

    fn thought(&mut self, choice: usize, text: &str) {
        if choice == 0 {
            self.say(Said::Thought, text);
        }
    }

    fn call_begin(&mut self, choice: usize, head: &CallHead<'_>) {
        if choice == 0 {
            self.begin_call(head.number, (head.id, head.name), &head.foreign.call);
        }
    }

    fn call_piece(&mut self, choice: usize, number: usize, piece: &str) {
        if choice == 0 {
            self.add_to_call(number, piece);
        }
    }

    fn call_end(&mut self, choice: usize, number: usize) {
        if choice == 0 {
            self.end_call(number);
        }
    }

    fn call(&mut self, choice: usize, number: usize, id: &str, call: &Acceptance, foreign: &[Foreign]) {
        if choice == 0 {
            let mut members = Foreign::default();
            foreign.iter().for_each(|more| members.add(more));
            self.begin_call(number, (id, &call.name), &members.call);
            self.add_to_call(number, &call.arguments);
            self.end_call(number);
        }
    }

    fn foreign(&mut self, _choice: usize, _number: usize, _foreign: &Foreign) {}

    fn foreign_call(&mut self, _choice: usize, _number: usize, _piece: Value<'_>) {}

    fn tool_error(&mut self, _choice: usize, _part: &str) {}

    fn stopped(&mut self, delta: &Delta<'_>, _chunk: Value<'_>) {
        if delta.index == 0 {
            self.note_stop(delta.choice);
        }
    }

    fn finish(&mut self, choice: usize, reason: Option<&str>, report: Option<&str>) {
        if choice == 0 {
            self.reason = reason.map(str::to_owned);
            self.report = report.map(str::to_owned);
        }
    }

    fn counted(&mut self, _event: &sse::Event) {}

    fn usage(&mut self, spent: Usage, _attempts: usize) {
        self.usage = spent;
    }

    fn upstream_error(&mut self, _event: &sse::Event, chunk: Value<'_>) {
        let failure = Failure::of_value(error_status(chunk), chunk);
        self.fails(&failure);
    }

    fn fail(&mut self, code: &str, message: &str) {
        self.fails(&Failure::of_answer(code, message));
    }

    fn status(&self) -> StatusCode {
        self.to.refused().unwrap_or(StatusCode::OK)
    }

    fn close(&mut self) {
        if self.phase == Phase::Over {
            return;
        }
        let is_in_a_call = matches!(self.open, Open::Call(_));
        if self.open != Open::None && self.is_cut() && self.blocks.cut(&mut self.out) {
            self.open = Open::None;
        } else if is_in_a_call {
            return self.fail(CUT, "the answer was cut inside a call");
        }
        if self.phase == Phase::Waiting && !self.is_cut() {
            self.say(Said::Text, SILENCE);
        }
        self.start();
        self.close_block();
        self.phase = Phase::Over;
        let end = End {
            reason: self.reason.as_deref(),
            has_calls: self.has_calls,
            has_refusal: self.has_refusal,
            stopped_by: self.stopped_by.as_deref(),
            usage: self.usage,
            report: self.report.as_deref(),
        };
        self.blocks.end(end, &mut self.out);
    }

    fn comment(&mut self) {
        self.blocks.comment(&mut self.out);
    }

    fn beat(&mut self, _choice: usize) {
        if self.phase != Phase::Over {
            self.start();
            self.blocks.beat(&mut self.out);
        }
    }

    fn flush(&mut self) {
        if !self.out.is_empty() {
            self.to.write(self.out.as_bytes());
            self.out.clear();
        }
    }
}

impl<B> Serial<B> {
    /// Returns whether a bound or a filter cut the answer.
    fn is_cut(&self) -> bool {
        matches!(self.reason.as_deref(), Some("length" | "content_filter"))
    }
}
