//! One text of a stream: its events wait until the engine lets go of their text.

use std::collections::VecDeque;

use callwright::{Event, Verdict};

use super::form::Form;
use super::found::Found;
use crate::deliver::Came;
use crate::lane::asking::Lane;
use crate::reading::Reading;

/// A text while it is read.
pub(super) struct Part {
    /// None once it has ended, and for JSON, which is read as a whole.
    pub(super) reading: Option<Reading>,
    /// The engine's events that nobody has written yet.
    pub(super) events: Vec<Event>,
    /// The beginning of the text in all that was read.
    pub(super) from: usize,
    queue: VecDeque<Queued>,
    /// The text of the events that wait.
    text: Waiting,
    /// The text has a call: everything from there on is written anew.
    pub(super) is_made: bool,
    /// The bytes of the events that wait.
    pub(super) held: usize,
}

/// An event that waits.
struct Queued {
    came: Came,
    role: Role,
    /// The bytes of the text in it.
    len: usize,
}

/// The part of an event in a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The event begins the text: it goes out with the first word.
    Opens,
    Text,
    Within,
    /// The event has a place among the others, and says nothing of the text.
    Aside,
    /// The event ends the text: it goes out once all is read.
    Closes,
}

impl Part {
    pub(super) fn new(reading: Option<Reading>, from: usize) -> Part {
        Part {
            reading,
            events: Vec::new(),
            from,
            queue: VecDeque::new(),
            text: Waiting::default(),
            is_made: false,
            held: 0,
        }
    }

    /// Returns whether any text has come.
    pub(super) fn has_text(&self) -> bool {
        self.text.has_any
    }

    /// Takes the next piece of the text.
    pub(super) async fn read(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.text.push(text, self.is_made);
        if let Some(reading) = &mut self.reading {
            reading.text(text, &mut self.events).await;
        }
    }

    /// Takes an event whose text was read, and lets out all that can go.
    pub(super) fn push(
        &mut self,
        (role, len): (Role, usize),
        came: Came,
        form: &mut dyn Form,
        out: &mut Vec<Came>,
    ) {
        if self.is_made {
            // All that is said of the text is said anew.
            if role == Role::Aside {
                form.pass(came, out);
            }
            return;
        }
        self.held += came.event.raw.len();
        self.queue.push_back(Queued { came, role, len });
        self.drain(form, out);
    }

    /// Writes the engine's events about the text.
    pub(super) fn write(
        &mut self,
        (lane, found): (&Lane, &mut Found),
        form: &mut dyn Form,
        out: &mut Vec<Came>,
    ) {
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            match event {
                Event::Text(said) | Event::Reasoning(said) => match self.is_made {
                    true => form.say(&said, out),
                    false => self.text.release(&said),
                },
                Event::Call(Verdict::Refused(refusal)) if lane.tools.leaves(&refusal) => {
                    let read = found.raw.get(self.from..).unwrap_or("");
                    if self.is_made {
                        form.say(refusal.span.of(read), out);
                    }
                }
                Event::Call(verdict) => {
                    self.split(form, out);
                    let made = found.take(lane, verdict);
                    form.call(&made, out);
                }
                _ => {}
            }
        }
        self.events = events;
    }

    /// Ends the text, once all of it is read.
    pub(super) fn ends(&mut self, form: &mut dyn Form, out: &mut Vec<Came>) {
        match self.is_made {
            true => form.close(out),
            false => self.pass_all(form, out),
        }
        form.over();
    }

    /// Says something else in the place of the text.
    pub(super) fn put(&mut self, text: &str, form: &mut dyn Form, out: &mut Vec<Came>) {
        self.split(form, out);
        form.say(text, out);
    }

    /// Lets all events out, as they came.
    pub(super) fn pass_all(&mut self, form: &mut dyn Form, out: &mut Vec<Came>) {
        for Queued { came, .. } in self.queue.drain(..) {
            form.pass(came, out);
        }
        self.held = 0;
    }

    /// Lets out the events whose text the engine let go.
    fn drain(&mut self, form: &mut dyn Form, out: &mut Vec<Came>) {
        while let Some(next) = self.queue.front() {
            let ready = self.text.ready();
            let may_go = match next.role {
                Role::Opens => 0 < ready && next.len <= ready,
                Role::Text => next.len <= ready,
                Role::Within | Role::Aside => true,
                Role::Closes => false,
            };
            if !may_go {
                return;
            }
            let Some(Queued { came, len, role }) = self.queue.pop_front() else { return };
            self.held -= came.event.raw.len();
            self.text.goes(len);
            match role {
                Role::Opens | Role::Closes => form.pass(came, out),
                Role::Text | Role::Within | Role::Aside => form.pass_within(came, out),
            }
        }
    }

    /// Splits the text at a call: only the waiting text in front of it goes out.
    fn split(&mut self, form: &mut dyn Form, out: &mut Vec<Came>) {
        if std::mem::replace(&mut self.is_made, true) {
            return;
        }
        self.drain(form, out);
        self.queue.clear();
        self.held = 0;
        let before = self.text.take();
        if !before.is_empty() {
            form.say(&before, out);
        }
    }
}

/// The text of events that wait, and the part that the engine let go.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    text: String,
    /// The bytes that went out.
    gone: usize,
    /// The bytes that may go out.
    ready: usize,
    has_any: bool,
    /// The engine's words behind the first piece that the text does not hold: from there on the place is unknown.
    lost: Option<String>,
}

impl Waiting {
    fn push(&mut self, text: &str, is_made: bool) {
        self.has_any = true;
        if !is_made {
            self.text.push_str(text);
        }
    }

    /// Takes words of the engine. Marks that are not calls may be left out before them: the first place that fits lets go of no
    /// more than the engine did.
    pub(super) fn release(&mut self, said: &str) {
        if let Some(lost) = &mut self.lost {
            return lost.push_str(said);
        }
        let rest = self.text.get(self.ready..).unwrap_or("");
        match if rest.starts_with(said) { Some(0) } else { rest.find(said) } {
            Some(skipped) => self.ready += skipped + said.len(),
            None => self.lost = Some(said.to_owned()),
        }
    }

    fn ready(&self) -> usize {
        self.ready - self.gone
    }

    fn goes(&mut self, len: usize) {
        self.gone += len;
        if self.gone == self.text.len() {
            self.text.clear();
            (self.gone, self.ready) = (0, 0);
        }
    }

    /// Takes the text that may go out and did not; the rest is written anew.
    pub(super) fn take(&mut self) -> String {
        let mut ready = self.text.get(self.gone..self.ready).unwrap_or("").to_owned();
        ready.extend(self.lost.take());
        self.text.clear();
        (self.gone, self.ready) = (0, 0);
        ready
    }

    /// Makes one of a whole text.
    pub(super) fn of(text: &str) -> Waiting {
        Waiting { text: text.to_owned(), ..Waiting::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_goes_out_than_the_engine_let_go() {
        let mut waiting = Waiting::of("Well <s>a</s> and a.");
        for (said, ready) in [("Well ", 5), ("a", 9), (" and", 17), ("b", 17), (" a.", 17)] {
            waiting.release(said);
            assert_eq!(waiting.ready(), ready, "{said}");
        }
        waiting.goes(9);
        assert_eq!(waiting.take(), "</s> andb a.");
    }

    #[test]
    fn what_went_out_is_not_kept() {
        let mut waiting = Waiting::of("ab");
        waiting.release("ab");
        waiting.goes(2);
        assert_eq!((waiting.ready(), waiting.text.len()), (0, 0));
    }
}
