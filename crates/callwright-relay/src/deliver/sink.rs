//! One choice of a streamed answer on its way out.

use std::collections::HashMap;
use std::sync::Arc;

use callwright::{Event, LiveCall, Policy, Verdict};
use callwright_json::Value;

use super::voice::{CallHead, Voice};
use crate::calls::Ids;
use crate::followup;
use crate::record::TurnEnd;
use crate::relay::Relay;
use crate::report;
use crate::turn::outcome::finish_reason;
use crate::turn::{Resolution, Turn, refusals};
use crate::wire::{Foreign, is_no_id, string_of};

/// Writes what is certain of a choice, and keeps what is not.
pub(crate) struct Sink {
    relay: Arc<Relay>,
    /// The choice's number.
    index: usize,
    ids: Ids,
    /// How many calls were begun.
    n_calls: usize,
    /// Calls whose name is out before their verdict, in the order of their numbers.
    open: Vec<OpenCall>,
    /// Which of them an engine's call is.
    open_of: HashMap<LiveCall, usize>,
    /// Calls in the text that may go out before their verdict, and of which nothing is out: id and name.
    started: HashMap<LiveCall, (Option<String>, String)>,
    /// Native calls as they come, by the engine's number: what is not ours and waits for the call to go out.
    waiting: Vec<Vec<Foreign>>,
    /// Calls that pass as they come, by the upstream's index.
    foreign: HashMap<Option<usize>, ForeignCall>,
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
    /// The content, where it is held: it is JSON that may need repair.
    content: Option<String>,
    /// What was said before a call, where one is demanded: without one it is no answer.
    words: Option<String>,
    /// Calls go out as `function_call`, one at most.
    is_legacy: bool,
    /// Only one call goes out.
    is_single: bool,
    /// The upstream has said why the model stopped.
    has_stopped: bool,
    /// The role has gone out: it stands in the first chunk.
    has_role: bool,
    /// Nothing that a user could see has come.
    is_empty: bool,
    /// Bytes of text and arguments that went out.
    pub(crate) went: usize,
}

/// A call whose name is out before its verdict.
struct OpenCall {
    /// The upstream's id.
    id: Option<String>,
    name: String,
    /// Its number on the wire.
    number: usize,
    /// How much of its arguments is out. As long as there is nothing, they may be asked for again.
    sent: usize,
    /// All of its arguments are out.
    is_whole: bool,
}

/// A call that passes as it comes.
struct ForeignCall {
    id: Option<String>,
    /// Its number on the wire.
    number: usize,
}

/// A piece of a native call that came.
pub(crate) struct NativePiece {
    /// The engine's number of the call.
    pub(crate) slot: usize,
    pub(crate) id: Option<String>,
    pub(crate) foreign: Foreign,
    /// The call's name, where it is sure.
    pub(crate) sure_name: Option<String>,
}

impl Sink {
    pub(crate) fn new(index: usize, turn: &Turn) -> Sink {
        Sink {
            relay: Arc::clone(&turn.relay),
            index,
            ids: Ids::besides(&turn.ask.taken_ids),
            n_calls: 0,
            open: Vec::new(),
            open_of: HashMap::new(),
            started: HashMap::new(),
            waiting: Vec::new(),
            foreign: HashMap::new(),
            n_native: 0,
            n_text: 0,
            n_out: 0,
            is_held: false,
            is_torn: false,
            // Under a policy that repairs nothing there is nothing to wait for.
            content: (turn.ask.json_content && turn.policy != Policy::Strict).then(String::new),
            words: (turn.has_tools() && turn.ask.choice.is_required()).then(String::new),
            is_legacy: turn.ask.is_legacy,
            is_single: turn.ask.is_legacy || turn.ask.parallel == Some(false),
            has_stopped: false,
            has_role: false,
            is_empty: true,
            went: 0,
        }
    }

    /// The choice's number.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Did a call go out?
    pub(crate) fn has_calls(&self) -> bool {
        0 < self.n_calls
    }

    /// Is half a call out, whose other half will never come?
    pub(crate) fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Is a call open of which the client has the name alone?
    pub(crate) fn has_empty_call(&self) -> bool {
        self.open.iter().any(|open| !open.is_whole && open.sent == 0)
    }

    /// Takes a piece of a native call: opens the call once its name is sure, and passes on what is not ours.
    pub(crate) fn native(&mut self, piece: NativePiece, voice: &mut dyn Voice) {
        let NativePiece { slot, id, foreign, sure_name } = piece;
        if self.waiting.len() <= slot {
            self.waiting.resize_with(slot + 1, Vec::new);
        }
        if !foreign.is_empty()
            && let Some(waiting) = self.waiting.get_mut(slot)
        {
            waiting.push(foreign);
        }
        let call = LiveCall::Native(slot);
        let is_one_too_many = self.is_single && 0 < self.n_calls;
        if let Some(name) = sure_name
            && voice.names_early()
            && !(self.is_held || self.is_legacy || is_one_too_many || self.open_of.contains_key(&call))
        {
            self.open(call, id, name, voice);
        }
        if let Some(number) =
            self.open_of.get(&call).and_then(|at| self.open.get(*at)).map(|open| open.number)
        {
            self.pass_on(slot, number, voice);
        }
    }

    /// Passes a piece of a call on that nobody reads. True if it is the first one of its call.
    pub(crate) fn foreign_piece(
        &mut self,
        index: Option<usize>,
        call: Value<'_>,
        voice: &mut dyn Voice,
    ) -> bool {
        let id = string_of(call, "id").filter(|id| !is_no_id(id)).map(String::from);
        let known = self.foreign.get(&index).filter(|known| id.is_none() || known.id == id);
        let is_new = known.is_none();
        let number = known.map_or(self.n_calls, |known| known.number);
        if is_new {
            self.n_calls += 1;
            self.foreign.insert(index, ForeignCall { id, number });
        }
        self.begin(voice);
        voice.foreign_call(self.index, number, call);
        is_new
    }

    /// Is the call of this index one that nobody reads?
    pub(crate) fn is_foreign(&self, index: Option<usize>) -> bool {
        self.foreign.contains_key(&index)
    }

    /// What waits first for the native call of this number.
    fn first_waiting(&mut self, slot: usize) -> Foreign {
        let waiting = self.waiting.get_mut(slot).filter(|waiting| !waiting.is_empty());
        waiting.map(|waiting| waiting.remove(0)).unwrap_or_default()
    }

    fn pass_on(&mut self, slot: usize, number: usize, voice: &mut dyn Voice) {
        for foreign in self.waiting.get_mut(slot).map(std::mem::take).unwrap_or_default() {
            voice.foreign(self.index, number, &foreign);
        }
    }

    /// Writes the first chunk of a choice, where none has been.
    fn begin(&mut self, voice: &mut dyn Voice) {
        if !self.has_role {
            self.has_role = true;
            voice.begin(self.index);
        }
    }

    /// Writes the name of a call, whose arguments follow. What is not ours and came with it stands beside the name: clients
    /// look for it there.
    fn open(&mut self, call: LiveCall, id: Option<String>, name: String, voice: &mut dyn Voice) {
        self.begin(voice);
        self.say_words(voice);
        let number = self.n_calls;
        self.n_calls += 1;
        let first = match call {
            LiveCall::Native(slot) => self.first_waiting(slot),
            _ => Foreign::default(),
        };
        let its_id = self.ids.next(id.as_deref());
        voice.call_begin(self.index, &CallHead { number, id: &its_id, name: &name, foreign: &first });
        self.open_of.insert(call, self.open.len());
        self.open.push(OpenCall { id, name, number, sent: 0, is_whole: false });
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
        self.has_stopped
    }

    /// The upstream has said why the model stopped.
    pub(crate) fn stopped(&mut self) {
        self.has_stopped = true;
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
    pub(crate) fn send(&mut self, events: &[Event], voice: &mut dyn Voice) {
        if !events.is_empty() {
            self.begin(voice);
        }
        for event in events {
            match event {
                Event::Text(text) => self.say(text, voice),
                Event::Reasoning(text) => {
                    self.went += text.len();
                    voice.thought(self.index, text);
                }
                Event::CallStarted { call, id, name } if !self.is_held && !self.is_single => {
                    self.started.insert(*call, (id.clone(), name.clone()));
                }
                Event::CallStarted { .. } => {}
                Event::CallArguments { call, piece } => self.live_piece(*call, piece, voice),
                Event::Call(verdict) => self.judged(verdict, voice),
                // What a later engine tells besides is not a client's.
                _ => {}
            }
        }
    }

    /// Writes the next piece of a call that goes out before its verdict, with the first one its name.
    fn live_piece(&mut self, call: LiveCall, piece: &str, voice: &mut dyn Voice) {
        if !self.open_of.contains_key(&call) {
            let Some((id, name)) = self.started.remove(&call) else { return };
            self.open(call, id, name, voice);
        }
        let Some(open) = self.open_of.get(&call).and_then(|at| self.open.get_mut(*at)) else { return };
        open.sent += piece.len();
        self.went += piece.len();
        voice.call_piece(self.index, open.number, piece);
    }

    fn say(&mut self, text: &str, voice: &mut dyn Voice) {
        match self.words.as_mut().or(self.content.as_mut()) {
            Some(held) => held.push_str(text),
            None => {
                self.went += text.len();
                voice.text(self.index, text);
            }
        }
    }

    /// Says what waited for a call.
    pub(crate) fn say_words(&mut self, voice: &mut dyn Voice) {
        if let Some(words) = self.words.take().filter(|words| !words.is_empty()) {
            self.say(&words, voice);
        }
    }

    /// A verdict that goes out at once, unless one before it is still open.
    fn judged(&mut self, verdict: &Verdict, voice: &mut dyn Voice) {
        let is_native = verdict.is_native();
        let call = if is_native { LiveCall::Native(self.n_native) } else { LiveCall::Text(self.n_text) };
        self.n_native += usize::from(is_native);
        self.n_text += usize::from(!is_native);
        let at = self.open_of.get(&call).copied();
        let sent = at.and_then(|at| self.open.get(at)).map_or(0, |open| open.sent);
        match verdict {
            Verdict::Refused(_) if 0 < sent => self.is_torn = true,
            Verdict::Refused(_) => self.is_held = true,
            // What stands behind a call that is refused waits for what becomes of it.
            Verdict::Accepted(_) if self.is_held || self.is_torn => {}
            Verdict::Accepted(call) => {
                self.n_out += 1;
                match at {
                    Some(at) => self.complete(at, call, voice),
                    None => {
                        let slot = self.n_native.checked_sub(1).filter(|_| is_native);
                        let waiting = slot.and_then(|slot| self.waiting.get_mut(slot));
                        let foreign = waiting.map(std::mem::take).unwrap_or_default();
                        self.call(call, foreign, voice);
                    }
                }
            }
        }
    }

    /// Writes the arguments of a call that is open, or what is missing of them.
    fn complete(&mut self, at: usize, call: &callwright::Acceptance, voice: &mut dyn Voice) {
        let Some(open) = self.open.get_mut(at) else { return };
        if open.name != call.name {
            // The name went on when it seemed to have ended.
            self.is_torn = true;
            return;
        }
        let rest = call.arguments.get(open.sent..).unwrap_or("");
        open.is_whole = true;
        open.sent = call.arguments.len();
        self.went += rest.len();
        voice.call_piece(self.index, open.number, rest);
        voice.call_end(self.index, open.number);
    }

    /// The call that is open for `call`: under its id, or the first one of its tool.
    fn open_for(&self, call: &callwright::Acceptance) -> Option<usize> {
        let is_open = |open: &OpenCall| !open.is_whole && open.name == call.name;
        let is_same = |open: &OpenCall| open.id.is_some() && open.id == call.id;
        let same = self.open.iter().position(|open| is_open(open) && is_same(open));
        same.or_else(|| self.open.iter().position(|open| is_open(open) && open.sent == 0))
    }

    fn call(&mut self, call: &callwright::Acceptance, foreign: Vec<Foreign>, voice: &mut dyn Voice) {
        self.say_words(voice);
        let id = self.ids.next(call.id.as_deref());
        self.relay.notes.keep(&id, call);
        if !(self.is_single && 0 < self.n_calls) {
            voice.call(self.index, self.n_calls, &id, call, &foreign);
        }
        self.n_calls += 1;
    }

    /// Writes what the ladder brought: the calls that had to wait, what was said, and what stays refused, in words.
    pub(crate) fn resolve(&mut self, turn: &Turn, resolution: &Resolution, voice: &mut dyn Voice) -> TurnEnd {
        let waiting = resolution.verdicts.get(self.n_out..).unwrap_or(&[]);
        for verdict in waiting {
            if let Verdict::Accepted(call) = verdict {
                match self.open_for(call) {
                    Some(at) => {
                        if let (Some(more), Some(open)) = (resolution.foreign_again(call), self.open.get(at))
                        {
                            voice.foreign(self.index, open.number, more);
                        }
                        self.complete(at, call, voice);
                    }
                    None => self.call(call, vec![resolution.foreign_of(call)], voice),
                }
            }
        }
        self.say_words(voice);
        let mut more = resolution.more_text.clone();
        if !self.is_torn && !self.has_empty_call() && refusals(&resolution.verdicts).next().is_some() {
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
            self.say(&more, voice);
        }
        if let Some(said) = self.content.take() {
            let content = resolution.content.clone().unwrap_or(said);
            if !content.is_empty() {
                self.say(&content, voice);
            }
        }
        if turn.ask.wants_report {
            for part in report::tool_errors(resolution) {
                voice.tool_error(self.index, &part);
            }
        }
        resolution.end
    }

    /// Says why the choice ended.
    pub(crate) fn last(
        &self,
        turn: &Turn,
        resolution: &Resolution,
        report: Option<&str>,
        voice: &mut dyn Voice,
    ) {
        let finish = finish_reason(turn, resolution, self.has_calls());
        voice.finish(self.index, finish.as_deref(), report);
    }
}
