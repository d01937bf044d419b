//! One choice of a streamed answer on its way out, as chunks.

use callwright_json::quote;
use std::sync::Arc;

use callwright::{Event, LiveCall, Policy, Verdict};

use crate::calls::{Ids, function, tool_call_delta};
use crate::followup;
use crate::record::TurnEnd;
use crate::relay::Relay;
use crate::report;
use crate::turn::outcome::finish_reason;
use crate::turn::{Resolution, Turn, refusals};
use crate::wire::{Change, Template, rewritten};

/// Writes what is certain of a choice, and keeps what is not.
pub(crate) struct Sink {
    relay: Arc<Relay>,
    /// The choice's number.
    index: usize,
    ids: Ids,
    /// How many calls were begun.
    n_calls: usize,
    /// Calls that go out before their verdict.
    live: Vec<Live>,
    /// How many verdicts of native calls have come.
    n_native: usize,
    /// And how many of calls in the text.
    n_text: usize,
    /// How many verdicts are settled on the wire.
    n_out: usize,
    /// Calls behind a refused one wait for what becomes of that.
    is_held: bool,
    /// A call that had begun to go out was refused.
    is_torn: bool,
    /// The content, where it is held: it is JSON that may need healing.
    content: Option<String>,
    /// What was said before a call, where one is demanded: without one it is no answer.
    words: Option<String>,
    /// Calls go out as `function_call`.
    is_legacy: bool,
    /// Only one call goes out.
    is_single: bool,
    /// What the chunk said that ended the choice, with its template.
    last: Option<(Template, String)>,
    /// The role has gone out: it stands in the first chunk.
    has_role: bool,
    /// Nothing that a user could see has come.
    is_empty: bool,
    /// Bytes of text and arguments that went out.
    pub(crate) went: usize,
}

/// A call that goes out before its verdict.
struct Live {
    call: LiveCall,
    id: Option<String>,
    name: String,
    /// Its number on the wire, once its name is out. As long as it is not, a refused call may be asked for again.
    number: Option<usize>,
    /// How much of its arguments is out.
    sent: usize,
}

impl Sink {
    pub(crate) fn new(index: usize, turn: &Turn) -> Sink {
        Sink {
            relay: Arc::clone(&turn.relay),
            index,
            ids: Ids::default(),
            n_calls: 0,
            live: Vec::new(),
            n_native: 0,
            n_text: 0,
            n_out: 0,
            is_held: false,
            is_torn: false,
            // Under a policy that mends nothing there is nothing to wait for.
            content: (turn.ask.json_content && turn.policy != Policy::Strict).then(String::new),
            words: (turn.has_tools() && turn.ask.choice.is_required()).then(String::new),
            is_legacy: turn.ask.is_legacy,
            is_single: turn.ask.is_legacy || turn.ask.parallel == Some(false),
            last: None,
            has_role: false,
            is_empty: true,
            went: 0,
        }
    }

    /// Did a call go out?
    pub(crate) fn has_calls(&self) -> bool {
        0 < self.n_calls
    }

    /// Is half a call out, whose other half will never come?
    pub(crate) fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Is the content kept until it is whole, or until a call comes?
    pub(crate) fn holds_content(&self) -> bool {
        self.content.is_some() || self.words.is_some()
    }

    /// Has anything come besides text and calls?
    pub(crate) fn says_else(&self) -> bool {
        !self.is_empty
    }

    /// Has the upstream said why the model stopped?
    pub(crate) fn has_stopped(&self) -> bool {
        self.last.is_some()
    }

    /// Keeps the choice of the chunk that says why the model stopped.
    pub(crate) fn stopped(&mut self, template: Template, choice: String) {
        self.last = Some((template, choice));
    }

    /// The upstream's own chunk goes out, and is the first of the choice or behind it.
    pub(crate) fn has_begun(&mut self) {
        self.has_role = true;
    }

    /// Something has come that is neither text nor a call.
    pub(crate) fn has_more(&mut self) {
        self.is_empty = false;
    }

    /// Writes what became certain.
    pub(crate) fn send(&mut self, events: &[Event], template: &Template, out: &mut String) {
        if !self.has_role && !events.is_empty() {
            self.has_role = true;
            template.delta(self.index, "{\"role\":\"assistant\",\"content\":null}", out);
        }
        for event in events {
            match event {
                Event::Text(text) => self.say(text, template, out),
                Event::Reasoning(text) => {
                    self.went += text.len();
                    template.delta(self.index, &format!("{{\"reasoning_content\":{}}}", quote(text)), out);
                }
                Event::CallStarted { call, id, name } if !self.is_held && !self.is_single => {
                    let (id, name) = (id.clone(), name.clone());
                    self.live.push(Live { call: *call, id, name, number: None, sent: 0 });
                }
                Event::CallStarted { .. } => {}
                Event::CallArguments { call, piece } => self.live_piece(*call, piece, template, out),
                Event::Call(verdict) => self.judged(verdict, template, out),
                // What a later engine tells besides is not a client's.
                _ => {}
            }
        }
    }

    /// Writes the next piece of a call that goes out before its verdict, with the first one its name.
    fn live_piece(&mut self, call: LiveCall, piece: &str, template: &Template, out: &mut String) {
        self.say_words(template, out);
        let Some(live) = self.live.iter_mut().find(|live| live.call == call) else { return };
        let number = *live.number.get_or_insert_with(|| {
            let number = self.n_calls;
            self.n_calls += 1;
            let id = self.ids.next(live.id.as_deref());
            let delta = format!(
                "{{\"tool_calls\":[{{\"index\":{number},\"id\":{},\"type\":\"function\",\"function\":{{\"name\":{},\"arguments\":\"\"}}}}]}}",
                quote(&id),
                quote(&live.name)
            );
            template.delta(self.index, &delta, out);
            number
        });
        live.sent += piece.len();
        self.went += piece.len();
        arguments(self.index, number, piece, template, out);
    }

    fn say(&mut self, text: &str, template: &Template, out: &mut String) {
        match self.words.as_mut().or(self.content.as_mut()) {
            Some(held) => held.push_str(text),
            None => {
                self.went += text.len();
                content(self.index, text, template, out);
            }
        }
    }

    /// Says what waited for a call.
    pub(crate) fn say_words(&mut self, template: &Template, out: &mut String) {
        if let Some(words) = self.words.take().filter(|words| !words.is_empty()) {
            self.say(&words, template, out);
        }
    }

    /// A verdict that goes out at once, unless one before it is still open.
    fn judged(&mut self, verdict: &Verdict, template: &Template, out: &mut String) {
        let is_native = verdict.is_native();
        let call = if is_native { LiveCall::Native(self.n_native) } else { LiveCall::Text(self.n_text) };
        self.n_native += usize::from(is_native);
        self.n_text += usize::from(!is_native);
        let live = self.live.iter().find(|live| live.call == call);
        match (verdict, live.and_then(|live| Some((live.number?, live.sent)))) {
            (Verdict::Accepted(call), Some((number, sent))) => {
                let rest = call.arguments.get(sent..).unwrap_or("");
                arguments(self.index, number, rest, template, out);
                self.n_out += 1;
            }
            (Verdict::Refused(_), Some(_)) => self.is_torn = true,
            (Verdict::Refused(_), None) => self.is_held = true,
            (Verdict::Accepted(_), None) if self.is_held => {}
            (Verdict::Accepted(call), None) => {
                self.call(call, template, out);
                self.n_out += 1;
            }
        }
    }

    fn call(&mut self, call: &callwright::Acceptance, template: &Template, out: &mut String) {
        self.say_words(template, out);
        let id = self.ids.next(call.id.as_deref());
        self.relay.notes.keep(&id, call);
        let delta = match self.is_legacy {
            true => format!("{{\"function_call\":{}}}", function(call)),
            false => tool_call_delta(self.n_calls, &id, call),
        };
        if !(self.is_single && 0 < self.n_calls) {
            template.delta(self.index, &delta, out);
        }
        self.n_calls += 1;
    }

    /// Writes what the ladder brought: the calls that had to wait, what was said, and what stays refused, in words.
    pub(crate) fn resolve(
        &mut self,
        turn: &Turn,
        resolution: &Resolution,
        template: &Template,
        out: &mut String,
    ) -> TurnEnd {
        let waiting = resolution.verdicts.get(self.n_out..).unwrap_or(&[]);
        for verdict in waiting {
            if let Verdict::Accepted(call) = verdict {
                self.call(call, template, out);
            }
        }
        self.say_words(template, out);
        let mut more = resolution.more_text.clone();
        if !self.is_torn && refusals(&resolution.verdicts).next().is_some() {
            crate::turn::outcome::append(&mut more, &followup::sentence(refusals(&resolution.verdicts)));
        }
        let said = &resolution.first.outcome.text;
        if turn.is_silent(resolution) && self.is_empty && said.trim().is_empty() && more.is_empty() {
            more = String::from(crate::turn::outcome::SILENCE);
        }
        if !more.is_empty() && !resolution.first.outcome.text.is_empty() {
            more.insert_str(0, "\n\n");
        }
        if !more.is_empty() {
            self.say(&more, template, out);
        }
        if let Some(said) = self.content.take() {
            let content = resolution.content.clone().unwrap_or(said);
            if !content.is_empty() {
                self.say(&content, template, out);
            }
        }
        if turn.ask.wants_report {
            let index = self.index.to_string();
            for part in report::tool_errors(resolution) {
                template.tool_error(&index, &part, out);
            }
        }
        resolution.end
    }

    /// Writes the chunk that ends the choice.
    pub(crate) fn last(&self, turn: &Turn, resolution: &Resolution, report: Option<&str>, out: &mut String) {
        let Some((template, choice)) = &self.last else { return };
        let Ok(tree) = callwright_json::strict(choice) else { return };
        let choice = tree.root(choice);
        let finish = finish_reason(turn, resolution, self.has_calls());
        let finish = finish.map_or(String::from("null"), |finish| quote(&finish));
        // All that was said in this chunk is out already.
        let changes = [("delta", Change::Set(String::from("{}"))), ("finish_reason", Change::Set(finish))];
        let choice = rewritten(choice, &changes);
        template.last(&format!("[{choice}]"), report, out);
    }
}

/// The next piece of what is said.
fn content(index: usize, text: &str, template: &Template, out: &mut String) {
    template.delta(index, &format!("{{\"content\":{}}}", quote(text)), out);
}

/// The next piece of a call's arguments.
fn arguments(index: usize, number: usize, piece: &str, template: &Template, out: &mut String) {
    if !piece.is_empty() {
        let piece = quote(piece);
        let delta =
            format!("{{\"tool_calls\":[{{\"index\":{number},\"function\":{{\"arguments\":{piece}}}}}]}}");
        template.delta(index, &delta, out);
    }
}
