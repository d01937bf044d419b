//! Reads a model's answer: one choice as it arrives, or all choices of a whole answer.
//!
//! Reading is the engine's work, and may take long for a model that repeats itself for pages. Short text is read at once; the
//! rest on [threads for that](crate::readers), with the same outcome.

mod choice;

use std::sync::Arc;

use callwright::{CallDelta, Event, ToolSet};

use self::choice::ChoiceReader;
pub(crate) use self::choice::{ReadOptions, Shown};
use crate::readers::{Readers, SHORT, Turns, Wanted};
use crate::record::Choice;
use crate::recover::LostCall;
pub(crate) use crate::tokens::Budget;
use crate::wire::{AnswerChoice, Document, Foreign, choices};

/// One choice that is read as it arrives.
pub(crate) struct Reading {
    /// None while it is read elsewhere: a caller that stops waiting has no further use for it.
    reader: Option<Box<ChoiceReader>>,
    readers: Arc<Readers>,
    turns: Turns,
    /// Bytes of text that came and did not come out again: they are read at once if the next piece decides about them.
    open: usize,
    /// Bytes of native arguments, about which the end decides.
    native: usize,
}

impl Reading {
    /// Makes a reading of an answer to a question that offered `tool_set`.
    pub(crate) fn new(readers: &Arc<Readers>, tool_set: &Arc<ToolSet>, options: &ReadOptions) -> Reading {
        Reading {
            reader: Some(Box::new(ChoiceReader::new(tool_set, options))),
            readers: Arc::clone(readers),
            turns: Turns::default(),
            open: 0,
            native: 0,
        }
    }

    /// Takes the next piece of text.
    pub(crate) async fn text(&mut self, text: &str, out: &mut Vec<Event>) {
        self.said(text, out, ChoiceReader::text).await;
    }

    /// Takes the next piece of a thought that the upstream marks. It stays a thought even if it holds a call.
    pub(crate) async fn thought(&mut self, text: &str, out: &mut Vec<Event>) {
        self.said(text, out, ChoiceReader::thought).await;
    }

    /// Takes the next piece of a native call, and returns the number of that call, counted from 0. It is put together, and
    /// judged at the end.
    pub(crate) async fn call(&mut self, piece: CallDelta<'_>, out: &mut Vec<Event>) -> Option<usize> {
        self.native += piece.arguments.map_or(0, str::len);
        let reader = self.reader.as_mut()?;
        let slot = self.turns.take(|| reader.call(piece, out));
        self.turns.give_way().await;
        slot
    }

    /// Returns whether a native call has begun.
    pub(crate) fn has_native(&self) -> bool {
        self.reader.as_ref().is_some_and(|reader| reader.has_native())
    }

    /// Lets the native call of this number go out before its verdict, from here on and as far as it is certain.
    pub(crate) fn stream_call(&mut self, slot: usize, out: &mut Vec<Event>) {
        if let Some(reader) = &mut self.reader {
            reader.stream_call(slot, out);
        }
    }

    /// Notes the members in a piece of the native call of this number that are not ours.
    pub(crate) fn foreign(&mut self, slot: usize, foreign: &Foreign) {
        if let Some(reader) = &mut self.reader {
            reader.foreign(slot, foreign);
        }
    }

    /// Notes a call that nobody reads.
    pub(crate) fn foreign_call(&mut self) {
        if let Some(reader) = &mut self.reader {
            reader.foreign_call();
        }
    }

    /// Notes a call that the upstream could not read.
    pub(crate) fn lost(&mut self, lost: LostCall) {
        if let Some(reader) = &mut self.reader {
            reader.lost(lost);
        }
    }

    /// Notes that something is said besides words, thoughts and calls.
    pub(crate) fn says_else(&mut self) {
        if let Some(reader) = &mut self.reader {
            reader.says_else();
        }
    }

    /// Notes the reason for which the model stopped.
    pub(crate) fn stopped(&mut self, finish_reason: &str) {
        if let Some(reader) = &mut self.reader {
            reader.stopped(finish_reason);
        }
    }

    /// Notes the number of halves of characters that came alone.
    pub(crate) fn lone_surrogates(&mut self, number: usize) {
        if let Some(reader) = &mut self.reader {
            reader.lone_surrogates(number);
        }
    }

    /// Ends the answer, with the rest of its tokens in `budget`.
    pub(crate) async fn finish(mut self, budget: Budget, out: &mut Vec<Event>) -> Choice {
        let is_short = self.is_short(self.native);
        let Some(reader) = self.reader.take() else { return Choice::default() };
        let (choice, mut events) = self
            .readers
            .run(is_short, move |_| {
                let mut events = Vec::new();
                (reader.finish(budget, &mut events), events)
            })
            .await;
        out.append(&mut events);
        choice
    }

    /// Returns whether reading this many more bytes is short work.
    fn is_short(&self, more: usize) -> bool {
        !self.turns.is_slow() && self.open + more <= SHORT
    }

    async fn said(
        &mut self,
        text: &str,
        out: &mut Vec<Event>,
        read: fn(&mut ChoiceReader, &str, &mut Vec<Event>),
    ) {
        let is_short = self.is_short(text.len());
        let Some(mut reader) = self.reader.take() else { return };
        let from = out.len();
        if is_short {
            self.turns.take(|| read(&mut reader, text, out));
            self.reader = Some(reader);
            self.turns.give_way().await;
        } else {
            let text = text.to_owned();
            let (reader, mut events) = self
                .readers
                .elsewhere(move |_| {
                    let mut events = Vec::new();
                    read(&mut reader, &text, &mut events);
                    (reader, events)
                })
                .await;
            self.reader = Some(reader);
            out.append(&mut events);
        }
        self.open += text.len();
        for event in &out[from..] {
            match event {
                Event::Text(said) | Event::Reasoning(said) => {
                    self.open = self.open.saturating_sub(said.len())
                }
                // What stands before a call is decided with it.
                Event::Call(_) => self.open = 0,
                _ => {}
            }
        }
    }
}

/// Reads all choices of the whole answer `document`.
pub(crate) async fn read_whole(
    readers: &Readers,
    (document, answered): (&Document, &[AnswerChoice<'_>]),
    tool_set: &Arc<ToolSet>,
    options: ReadOptions,
    budget: Budget,
) -> Vec<Choice> {
    if document.text().len() <= SHORT {
        return read_choices(answered, tool_set, &options, budget, &Wanted::default());
    }
    let (document, tool_set) = (document.clone(), Arc::clone(tool_set));
    readers
        .elsewhere(move |wanted| {
            let answered: Vec<_> = choices(document.root()).collect();
            read_choices(&answered, &tool_set, &options, budget, wanted)
        })
        .await
}

/// The bytes of a text that are read between two checks that somebody still waits for it.
const PART: usize = 64 << 10;

fn read_choices(
    answered: &[AnswerChoice<'_>],
    tool_set: &Arc<ToolSet>,
    options: &ReadOptions,
    budget: Budget,
    wanted: &Wanted,
) -> Vec<Choice> {
    let mut read = Vec::with_capacity(answered.len());
    for answered in answered {
        let mut events: Vec<Event> = Vec::new();
        let mut reader = ChoiceReader::new(tool_set, options);
        for part in parts(answered.reasoning.as_deref().unwrap_or_default()) {
            if wanted.has_ended() {
                return read;
            }
            reader.thought(part, &mut events);
        }
        for (index, call) in answered.calls.iter().enumerate() {
            if let Some(slot) = reader.call(call.delta(index), &mut events) {
                reader.foreign(slot, &call.foreign);
            }
        }
        answered.foreign_calls.iter().for_each(|_| reader.foreign_call());
        if answered.says_else {
            reader.says_else();
        }
        for part in parts(&answered.text) {
            if wanted.has_ended() {
                return read;
            }
            reader.text(part, &mut events);
        }
        reader.lone_surrogates(answered.n_alone());
        if let Some(reason) = &answered.finish_reason {
            reader.stopped(reason);
            if let Some(lost) = LostCall::at_end(answered.choice) {
                reader.lost(lost);
            }
        }
        read.push(reader.finish(budget, &mut events));
    }
    read
}

/// Splits a text into parts; a short or empty one is one part.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        if text.len() <= PART {
            return Some(text);
        }
        let (part, more) = text.split_at(text.floor_char_boundary(PART));
        rest = Some(more);
        Some(part)
    })
}

/// Reads a model's answer once more, under other options. Its native calls get other ids.
pub(crate) async fn read_again(
    readers: &Readers,
    choice: &Choice,
    tool_set: &Arc<ToolSet>,
    options: ReadOptions,
) -> Choice {
    let native = choice.native.iter().map(|(_, arguments)| arguments.len()).sum::<usize>();
    let is_short = choice.raw.len() + choice.reasoning.len() + native <= SHORT;
    let (choice, tool_set) = (choice.clone(), Arc::clone(tool_set));
    readers
        .run(is_short, move |_| {
            let mut events = Vec::new();
            let mut reader = ChoiceReader::new(&tool_set, &options);
            reader.thought(&choice.reasoning, &mut events);
            for (index, (name, arguments)) in choice.native.iter().enumerate() {
                let (name, arguments) = (Some(name.as_str()), Some(arguments.as_str()));
                reader.call(CallDelta { index: Some(index), id: None, name, arguments }, &mut events);
            }
            reader.text(&choice.raw, &mut events);
            if let Some(reason) = &choice.finish_reason {
                reader.stopped(reason);
            }
            reader.finish(Budget::Unknown, &mut events)
        })
        .await
}
