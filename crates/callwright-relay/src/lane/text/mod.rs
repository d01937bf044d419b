//! Calls in the text of an answer: they become native ones, in the order in which they stand there.
//!
//! Events of a stream go in. Events of a text come out as they came, as soon as the engine rules out a call in it. From a call
//! on, the words behind it are a block of their own, and the upstream's further events get other numbers. Reasoning passes at
//! once; calls in it stand behind it. The reader of the answer's native calls reads these as well, with their verdicts.

mod content;
mod form;
mod found;
mod messages;
mod part;
mod reads;
mod responses;
mod whole;

use callwright::Verdict;

use self::content::Content;
use self::form::{Form, Place};
pub(super) use self::found::Found;
use self::part::{Part, Role};
use self::reads::{End, Reads, UNSAID, call_of, end_of};
pub(super) use self::whole::Whole;
use super::asking::Lane;
use super::silence::in_silence;
use super::wire;
use super::wire::told::Told;
use crate::api::Surface;
use crate::deliver::{Came, Json};
use crate::reply::BodySender;
use crate::target::Target;
use crate::tokens::Budget;

/// The texts of a stream, while they are read.
pub(super) struct Texts {
    form: Box<dyn Form>,
    /// The way in which they are read; none if they are not.
    reads: Option<Reads>,
    /// The text that is open.
    part: Option<Part>,
    /// Reasoning at the end of the answer so far.
    thought: String,
    /// Something besides reasoning has begun.
    says: bool,
    pub(super) found: Found,
    /// The outcome of a text that has to be JSON, if it was not right.
    pub(super) content: Option<Content>,
    wants_json: bool,
    /// The answer was empty, and was asked for once more.
    pub(super) is_asked: bool,
    to: BodySender,
}

/// The part of an event in the texts.
enum Taken {
    /// A part of a text, with its number of bytes.
    Text(Role, usize),
    /// No part of a text.
    Beside,
    /// The end of the answer.
    Ends,
}

impl Texts {
    pub(super) fn new(lane: &Lane, target: &Target, to: BodySender) -> Texts {
        Texts {
            form: form_of(lane.surface),
            reads: Reads::of(lane, target),
            part: None,
            thought: String::new(),
            says: false,
            found: Found::default(),
            content: None,
            wants_json: lane.wants_json(target),
            is_asked: false,
            to,
        }
    }

    /// Returns the bytes of the events that wait.
    pub(super) fn held(&self) -> usize {
        self.part.as_ref().map_or(0, |part| part.held)
    }

    /// Takes the next event, and gives out those that can go on.
    pub(super) async fn take(&mut self, lane: &mut Lane, target: &Target, came: Came, out: &mut Vec<Came>) {
        let Json::Is(document) = &came.json else { return out.push(came) };
        let place = self.form.place(document.root());
        let taken = self.take_place(lane, &place, out).await;
        drop(place);
        match (taken, &mut self.part) {
            (Taken::Ends, _) => self.ends(lane, target, came, out).await,
            (Taken::Text(role, len), Some(part)) => part.push((role, len), came, &mut *self.form, out),
            (Taken::Text(..), None) | (Taken::Beside, _) => self.form.pass(came, out),
        }
    }

    /// Reads the text of an event.
    async fn take_place(&mut self, lane: &Lane, place: &Place<'_>, out: &mut Vec<Came>) -> Taken {
        match place {
            Place::Beside => Taken::Beside,
            Place::Opens { at, text } => {
                self.follows(lane, !text.trim().is_empty(), out).await;
                self.says = true;
                self.begin(*at);
                self.read(lane, text, out).await;
                Taken::Text(Role::Opens, text.len())
            }
            Place::Opening(text) => {
                self.read(lane, text, out).await;
                Taken::Text(Role::Opens, text.len())
            }
            Place::Text { at, text } => {
                self.says = true;
                self.thinks_no_more(lane, !text.trim().is_empty(), out).await;
                self.begin_if_none(*at);
                self.read(lane, text, out).await;
                Taken::Text(Role::Text, text.len())
            }
            Place::Within => Taken::Text(Role::Within, 0),
            Place::Aside => Taken::Text(Role::Aside, 0),
            Place::Closes { at, text } => Taken::Text(Role::Closes, self.closes(lane, *at, text, out).await),
            Place::Thought(text) => {
                self.end_part(lane, UNSAID, out).await;
                if self.reads.is_some() {
                    self.thought.push_str(text);
                }
                Taken::Beside
            }
            Place::Block { is_call, is_thought } => {
                self.follows(lane, *is_call, out).await;
                self.says |= !is_thought;
                if *is_call {
                    // Where an answer has native calls, its text holds none from there on.
                    self.reads = None;
                }
                Taken::Beside
            }
            Place::Ends => Taken::Ends,
            Place::Fails => {
                self.breaks(out).await;
                Taken::Beside
            }
        }
    }

    /// Reads the text that an event repeats if nothing of it came before. Returns the bytes that were read.
    async fn closes(&mut self, lane: &Lane, at: u64, text: &str, out: &mut Vec<Came>) -> usize {
        if self.part.is_none() && !text.is_empty() {
            self.begin_if_none(at);
        }
        if self.part.as_ref().is_none_or(Part::has_text) {
            return 0;
        }
        self.thinks_no_more(lane, !text.trim().is_empty(), out).await;
        self.read(lane, text, out).await;
        text.len()
    }

    /// Ends a stream that broke off: waiting events go out unless they hold a call.
    pub(super) async fn breaks(&mut self, out: &mut Vec<Came>) {
        if let Some(mut part) = self.part.take() {
            let mut events = Vec::new();
            if let Some(reading) = part.reading.take() {
                end_of(reading, UNSAID, &mut events).await;
            }
            if !part.is_made && !events.into_iter().any(|event| call_of(event).is_some()) {
                part.pass_all(&mut *self.form, out);
            }
        }
    }

    fn begin(&mut self, at: u64) {
        let reading = self.reads.as_ref().map(Reads::reading);
        if reading.is_some() || self.wants_json {
            self.form.begins(at);
            self.part = Some(Part::new(reading, self.found.raw.len()));
        }
    }

    fn begin_if_none(&mut self, at: u64) {
        if self.part.is_none() {
            self.begin(at);
        }
    }

    async fn read(&mut self, lane: &Lane, text: &str, out: &mut Vec<Came>) {
        let Some(part) = &mut self.part else { return };
        self.found.raw.push_str(text);
        part.read(text).await;
        part.write((lane, &mut self.found), &mut *self.form, out);
    }

    /// Begins another block.
    async fn follows(&mut self, lane: &Lane, says: bool, out: &mut Vec<Came>) {
        self.end_part(lane, UNSAID, out).await;
        self.thinks_no_more(lane, says, out).await;
    }

    async fn end_part(&mut self, lane: &Lane, end: End<'_>, out: &mut Vec<Came>) {
        let Some(mut part) = self.part.take() else { return };
        match part.reading.take() {
            Some(reading) => {
                end_of(reading, end, &mut part.events).await;
                part.write((lane, &mut self.found), &mut *self.form, out);
            }
            None => {
                let text = self.found.raw.get(part.from..).unwrap_or("");
                let content = lane.content(text, end.0).await;
                if let Some(put) = content.as_ref().and_then(|content| content.put.as_ref()) {
                    part.put(put, &mut *self.form, out);
                }
                self.content = content.or(self.content.take());
            }
        }
        part.ends(&mut *self.form, out);
    }

    /// Ends the reasoning, if the next event says anything.
    async fn thinks_no_more(&mut self, lane: &Lane, says: bool, out: &mut Vec<Came>) {
        if says && !self.thought.is_empty() {
            self.thought_ends(lane, true, UNSAID, out).await;
        }
    }

    async fn thought_ends(&mut self, lane: &Lane, follows: bool, end: End<'_>, out: &mut Vec<Came>) {
        let thought = std::mem::take(&mut self.thought);
        let Some(reads) = &self.reads else { return };
        for verdict in reads.thought(&thought, follows, end).await {
            if matches!(&verdict, Verdict::Refused(refusal) if lane.tools.leaves(refusal)) {
                continue;
            }
            let made = self.found.take(lane, verdict);
            self.form.call(&made, out);
        }
    }

    /// Takes the event with the reason for the end.
    async fn ends(&mut self, lane: &mut Lane, target: &Target, came: Came, out: &mut Vec<Came>) {
        let Json::Is(document) = &came.json else { return };
        let mut told = Told::default();
        wire::of(lane.surface).see(document.root(), &mut told);
        let end = (told.reason.as_deref(), Budget::of(lane.most_tokens(), told.usage));
        self.end_part(lane, end, out).await;
        self.thought_ends(lane, false, end, out).await;
        let is_phantom =
            lane.surface == Surface::Messages && !self.says && told.reason.as_deref() == Some("tool_calls");
        if is_phantom && self.found.is_empty() {
            self.is_asked = true;
            let beat = Some(wire::of(lane.surface).beat());
            let again = in_silence(&self.to, beat, lane.once_more(target, &told)).await;
            let more = again.as_ref().map_or(0, |again| again.usage.completion);
            let reason = self.form.say_again(again.as_ref().map(|again| again.document.root()), out);
            if let Some(again) = again {
                self.found = again.found;
            }
            return self.form.ends(came, (Some(&reason), more), out);
        }
        self.form.ends(came, (None, 0), out);
    }
}

/// Returns the form of this API.
fn form_of(surface: Surface) -> Box<dyn Form> {
    match surface {
        Surface::Responses => Box::new(responses::Items::default()),
        Surface::Messages | Surface::Chat | Surface::Ollama | Surface::Gemini => {
            Box::new(messages::Blocks::default())
        }
    }
}
