//! Calls in the text of an answer: they become native ones, in the order in which they stand there.
//!
//! Events of a stream go in. Those of a text in which nothing may begin a call come out as they came, as soon as the engine lets
//! go of the text. From a call on, the words behind it are a block of their own, and what the upstream says further gets other
//! numbers. Reasoning passes at once; calls in it stand behind it. Whoever reads the native calls of the answer reads these as
//! well, with the verdicts that they have already.

mod content;
mod form;
mod found;
mod reads;
mod messages;
mod part;
mod responses;
mod whole;

use callwright::Verdict;

use self::content::Content;
use self::form::{Form, Place};
pub(super) use self::found::Found;
use self::part::{Part, Role};
use self::reads::{End, Reads, UNSAID, call_of, end_of};
pub(super) use self::whole::Whole;
use super::wire;
use crate::api::Surface;
use crate::deliver::{Came, Json};
use crate::lane::asking::Lane;
use crate::lane::silence::in_silence;
use crate::lane::wire::told::Told;
use crate::reply::BodySender;
use crate::target::Target;
use crate::tokens::Budget;

/// The texts of a stream, as they are read.
pub(super) struct Texts {
    form: Box<dyn Form>,
    /// How they are read; none where they are not.
    reads: Option<Reads>,
    /// The text that is open.
    part: Option<Part>,
    /// Reasoning that nothing follows so far.
    thought: String,
    /// Has anything begun besides reasoning?
    says: bool,
    pub(super) found: Found,
    /// What the text came to that has to be JSON, where it was not right.
    pub(super) content: Option<Content>,
    wants_json: bool,
    /// The answer said nothing, and was asked for once more.
    pub(super) is_asked: bool,
    to: BodySender,
}

/// What an event is to the texts.
enum Taken {
    /// A part of a text, which says so many bytes of it.
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

    /// The bytes of the events that wait.
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

    /// Reads what an event says.
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

    /// Reads the text that an event says again where nothing of it came before. Returns the bytes that were read.
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

    /// The stream ends before the answer does: what waits goes out where no call is in it.
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

    /// Another block begins.
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

    /// Something follows the reasoning, if it says anything.
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

    /// The answer says why it ends.
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

/// The form of this API.
fn form_of(surface: Surface) -> Box<dyn Form> {
    match surface {
        Surface::Responses => Box::new(responses::Items::default()),
        Surface::Messages | Surface::Chat | Surface::Ollama | Surface::Gemini => {
            Box::new(messages::Blocks::default())
        }
    }
}
