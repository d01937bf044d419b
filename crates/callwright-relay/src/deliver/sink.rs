//! One choice of a streamed answer on its way out.

use std::collections::HashMap;
use std::sync::Arc;

use callwright::{Acceptance, Event, Policy, Refusal, ToolChoice, Verdict};
use callwright_json::{Value, strict};

use super::voice::{CallHead, Voice};
use crate::calls::Ids;
use crate::followup;
use crate::record::{Choice, TurnEnd};
use crate::relay::Relay;
use crate::report;
use crate::turn::outcome::finish_reason;
use crate::turn::{Begun, Resolution, Turn, refusals};
use crate::wire::{Foreign, is_no_id, string_of};

/// Writes what is certain of a choice, and keeps what is not.
pub(crate) struct Sink {
    relay: Arc<Relay>,
    /// The choice's number.
    index: usize,
    ids: Ids,
    /// The tools that may be called.
    allowed: ToolChoice,
    room: Room,
    /// The number of calls that were begun.
    n_calls: usize,
    live: Live,
    native: Natives,
    foreign: Foreigns,
    held: Held,
    /// The number of verdicts that are settled on the wire, but for that of the open call.
    n_out: usize,
    /// Calls behind a refused one wait for what becomes of that one.
    is_held: bool,
    /// The role has gone out: it stands in the first chunk.
    has_role: bool,
    end: End,
    went: Went,
}

/// The calls that the client takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    /// One, as a `function_call`.
    Function,
    One,
    Any,
}

/// The upstream's progress towards its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    /// The upstream has said why the model stopped.
    Stopped,
    /// The answer ended where the model ended it.
    Whole,
}

/// The call that goes out before its verdict.
///
/// Others wait for theirs: a call begins where the one before it has ended.
#[derive(Default)]
struct Live {
    /// The call that will be open with the first piece of its arguments: a name alone says nothing, and would have to be taken back.
    opening: Option<Opening>,
    open: Option<OpenCall>,
}

/// Native calls as they come.
#[derive(Default)]
struct Natives {
    /// Members that are not ours and wait for their call to go out, by the engine's number of the call.
    waiting: Vec<Vec<Foreign>>,
    /// The number of verdicts that have come.
    n_verdicts: usize,
}

/// Calls that pass as they come.
#[derive(Default)]
struct Foreigns {
    /// The calls by the upstream's index.
    calls: HashMap<Option<usize>, ForeignCall>,
    /// Pieces that came while a call was open, with their number on the wire. They go out behind the last piece of that call:
    /// clients that join pieces without an id add them to the call that began last.
    behind: Vec<(usize, String)>,
}

/// Words that do not go out as they come.
struct Held {
    /// The content, where it is JSON that may need repair.
    content: Option<String>,
    /// The words before a call, where one is demanded: without a call they are no answer.
    words: Option<String>,
}

/// Bytes that went out.
#[derive(Default)]
struct Went {
    /// Bytes of text and arguments, with what the text marks as thought.
    all: usize,
    /// Bytes of what the text marks as thought.
    thought: usize,
}

/// A call whose name is known.
struct Opening {
    /// The engine's number of the call.
    slot: usize,
    /// The upstream's id.
    id: Option<String>,
    name: String,
}

/// A call that goes out before its verdict.
struct OpenCall {
    /// The engine's number of the call.
    slot: usize,
    /// Its id on the wire.
    id: String,
    /// Its number on the wire.
    number: usize,
    /// The part of its arguments that is out.
    sent: String,
    state: OpenState,
}

/// The progress of an open call.
enum OpenState {
    /// More of its arguments may come.
    Growing,
    /// The call was refused, or its other half did not come.
    Torn,
    /// All of its arguments are out.
    Settled(Box<Settled>),
}

/// A call whose arguments are all out.
struct Settled {
    call: Acceptance,
    /// The refusal of a call that went out as it was written, although it does not fit its schema.
    refusal: Option<Refusal>,
}

impl OpenCall {
    fn is_settled(&self) -> bool {
        matches!(self.state, OpenState::Settled(_))
    }
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
    /// The members that are not ours.
    pub(crate) foreign: Foreign,
}

impl Sink {
    pub(crate) fn new(index: usize, turn: &Turn) -> Sink {
        Sink {
            relay: Arc::clone(&turn.relay),
            index,
            ids: Ids::besides(&turn.ask.calls.taken_ids),
            allowed: turn.ask.calls.choice.clone(),
            room: match turn.ask.calls.parallel {
                _ if turn.ask.calls.is_legacy => Room::Function,
                Some(false) => Room::One,
                Some(true) | None => Room::Any,
            },
            n_calls: 0,
            live: Live::default(),
            native: Natives::default(),
            foreign: Foreigns::default(),
            held: Held {
                // Under a policy that repairs nothing there is nothing to wait for.
                content: (turn.ask.json_content && turn.policy != Policy::Strict).then(String::new),
                words: (turn.has_tools() && turn.ask.calls.choice.is_required()).then(String::new),
            },
            n_out: 0,
            is_held: false,
            has_role: false,
            end: End::Open,
            went: Went::default(),
        }
    }

    /// Returns the bytes of text and arguments that went out, with what the text marks as thought.
    pub(crate) fn went(&self) -> usize {
        self.went.all
    }

    /// Counts bytes of text that went out in the upstream's own chunk.
    pub(crate) fn passed(&mut self, bytes: usize) {
        self.went.all += bytes;
    }

    /// Returns whether the client has words, or any part of a call. Thoughts are neither.
    pub(crate) fn has_spoken(&self) -> bool {
        self.went.thought < self.went.all || self.has_calls()
    }

    /// Returns the choice's number.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Returns whether a call went out.
    pub(crate) fn has_calls(&self) -> bool {
        0 < self.n_calls
    }

    /// Returns whether half a call is out, and its other half has not come.
    pub(crate) fn is_torn(&self) -> bool {
        self.live.open.as_ref().is_some_and(|open| matches!(open.state, OpenState::Torn))
    }

    /// Returns whether a part of a call is out, and nothing said of its end.
    pub(crate) fn is_open(&self) -> bool {
        self.live.open.as_ref().is_some_and(|open| !open.is_settled())
    }

    /// Notes that nothing more will come of the open call.
    pub(crate) fn tear(&mut self) {
        if let Some(open) = self.live.open.as_mut().filter(|open| !open.is_settled()) {
            open.state = OpenState::Torn;
        }
    }

    /// Returns the refused call of `choice` whose first half is out.
    pub(crate) fn begun(&self, choice: &Choice) -> Option<Begun> {
        let open = self.live.open.as_ref().filter(|open| matches!(open.state, OpenState::Torn))?;
        let verdicts = choice.outcome.verdicts.iter().enumerate();
        match verdicts.filter(|(_, verdict)| verdict.is_native()).nth(open.slot)? {
            (at, Verdict::Refused(refusal)) => {
                Some(Begun { at, sent: open.sent.clone(), refusal: refusal.clone() })
            }
            (_, Verdict::Accepted(_)) => None,
        }
    }

    /// Goes on with the call whose first half is out.
    pub(crate) fn mend(&mut self, call: &Acceptance, voice: &mut dyn Voice) {
        self.complete(call, None, voice);
    }

    /// Notes that the answer ended where the model ended it: nothing cut it.
    pub(crate) fn is_whole(&mut self) {
        self.end = End::Whole;
    }

    /// Puts the call that went out as it was written in the place of its refusal, so that nobody asks for it again. Returns the
    /// refusal.
    pub(crate) fn settle_unchecked(&self, choice: &mut Choice) -> Option<&Refusal> {
        let open = self.live.open.as_ref()?;
        let OpenState::Settled(settled) = &open.state else { return None };
        let refusal = settled.refusal.as_ref()?;
        let mut natives = choice.outcome.verdicts.iter_mut().filter(|verdict| verdict.is_native());
        *natives.nth(open.slot)? = Verdict::Accepted(settled.call.clone());
        Some(refusal)
    }

    /// Takes a piece of a native call. Its members that are not ours wait until the call goes out, or go on at once if it does.
    pub(crate) fn native(&mut self, piece: NativePiece, voice: &mut dyn Voice) {
        let NativePiece { slot, foreign } = piece;
        if self.native.waiting.len() <= slot {
            self.native.waiting.resize_with(slot + 1, Vec::new);
        }
        if !foreign.is_empty()
            && let Some(waiting) = self.native.waiting.get_mut(slot)
        {
            waiting.push(foreign);
        }
        if let Some(number) = self.live.open.as_ref().filter(|open| open.slot == slot).map(|open| open.number)
        {
            for foreign in self.take_waiting(slot) {
                voice.foreign(self.index, number, &foreign);
            }
        }
    }

    /// Returns whether a call of this name may go out before its verdict.
    fn may_open(&self, name: &str) -> bool {
        let is_one_too_many = self.room == Room::One && 0 < self.n_calls;
        self.live.open.is_none()
            && self.live.opening.is_none()
            && !(self.is_held || self.room == Room::Function || is_one_too_many)
            && self.allowed.allows(name)
    }

    /// Passes a piece of an unread call on. Returns whether it is the first one of its call.
    pub(crate) fn foreign_piece(
        &mut self,
        index: Option<usize>,
        call: Value<'_>,
        voice: &mut dyn Voice,
    ) -> bool {
        let id = string_of(call, "id").filter(|id| !is_no_id(id)).map(String::from);
        let known = self.foreign.calls.get(&index).filter(|known| id.is_none() || known.id == id);
        let is_new = known.is_none();
        let number = known.map_or(self.n_calls, |known| known.number);
        if is_new {
            self.n_calls += 1;
            self.foreign.calls.insert(index, ForeignCall { id, number });
        }
        if self.live.open.as_ref().is_some_and(|open| !open.is_settled()) {
            self.foreign.behind.push((number, call.raw().to_owned()));
            return is_new;
        }
        self.begin(voice);
        voice.foreign_call(self.index, number, call);
        is_new
    }

    /// Returns whether the call of this index is unread.
    pub(crate) fn is_foreign(&self, index: Option<usize>) -> bool {
        self.foreign.calls.contains_key(&index)
    }

    /// Takes the members that wait for the native call of this number and are not ours.
    fn take_waiting(&mut self, slot: usize) -> Vec<Foreign> {
        self.native.waiting.get_mut(slot).map(std::mem::take).unwrap_or_default()
    }

    /// Writes the first chunk of a choice, unless one has gone out.
    fn begin(&mut self, voice: &mut dyn Voice) {
        if !self.has_role {
            self.has_role = true;
            voice.begin(self.index);
        }
    }

    /// Writes the name of a call, whose arguments follow. Members that are not ours and came with it stand beside the name:
    /// clients look for them there.
    fn open(&mut self, Opening { slot, id, name }: Opening, voice: &mut dyn Voice) {
        self.say_words(voice);
        let number = self.n_calls;
        self.n_calls += 1;
        let mut waiting = self.take_waiting(slot).into_iter();
        let first = waiting.next().unwrap_or_default();
        let id = self.ids.next(id.as_deref());
        voice.call_begin(self.index, &CallHead { number, id: &id, name: &name, foreign: &first });
        for foreign in waiting {
            voice.foreign(self.index, number, &foreign);
        }
        self.live.open = Some(OpenCall { slot, id, number, sent: String::new(), state: OpenState::Growing });
    }

    /// Returns whether the client has the first chunk of the choice.
    pub(crate) fn has_role(&self) -> bool {
        self.has_role
    }

    /// Returns whether the content is kept until it is whole, or until a call comes.
    pub(crate) fn holds_content(&self) -> bool {
        self.held.content.is_some() || self.held.words.is_some()
    }

    /// Returns whether the upstream has said why the model stopped.
    pub(crate) fn has_stopped(&self) -> bool {
        self.end != End::Open
    }

    /// Notes that the upstream has said why the model stopped.
    pub(crate) fn stopped(&mut self) {
        self.end = End::Stopped;
    }

    /// Notes that the upstream's own chunk goes out, as the first of the choice or behind it.
    pub(crate) fn has_begun(&mut self) {
        self.has_role = true;
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
                    self.went.all += text.len();
                    self.went.thought += text.len();
                    voice.thought(self.index, text);
                }
                Event::CallStarted { call, id, name } if self.may_open(name) => {
                    self.live.opening = Some(Opening { slot: *call, id: id.clone(), name: name.clone() });
                }
                // It waits for its verdict.
                Event::CallStarted { .. } => {}
                Event::CallArguments { call, piece } => self.live_piece(*call, piece, voice),
                Event::Call(verdict) => self.judged(verdict, voice),
                // What a later engine tells besides is not a client's.
                _ => {}
            }
        }
    }

    /// Writes the next piece of the call that goes out before its verdict.
    fn live_piece(&mut self, slot: usize, piece: &str, voice: &mut dyn Voice) {
        if let Some(opening) = self.live.opening.take_if(|opening| opening.slot == slot) {
            self.open(opening, voice);
        }
        let Some(open) = self.live.open.as_mut().filter(|open| open.slot == slot) else { return };
        open.sent.push_str(piece);
        self.went.all += piece.len();
        voice.call_piece(self.index, open.number, piece);
    }

    fn say(&mut self, text: &str, voice: &mut dyn Voice) {
        match self.held.words.as_mut().or(self.held.content.as_mut()) {
            Some(held) => held.push_str(text),
            None => {
                self.went.all += text.len();
                voice.text(self.index, text);
            }
        }
    }

    /// Says the words that waited for a call.
    pub(crate) fn say_words(&mut self, voice: &mut dyn Voice) {
        if let Some(words) = self.held.words.take().filter(|words| !words.is_empty()) {
            self.say(&words, voice);
        }
    }

    /// Writes a verdict at once, unless one before it is still open.
    fn judged(&mut self, verdict: &Verdict, voice: &mut dyn Voice) {
        let slot = verdict.is_native().then_some(self.native.n_verdicts);
        self.native.n_verdicts += usize::from(slot.is_some());
        self.live.opening.take_if(|opening| Some(opening.slot) == slot);
        let is_open = self.live.open.as_ref().is_some_and(|open| Some(open.slot) == slot);
        match verdict {
            Verdict::Refused(refusal) if is_open => match self.as_written(refusal) {
                Some(call) => self.complete(&call, Some(refusal), voice),
                None => self.tear(),
            },
            Verdict::Refused(_) => self.is_held = true,
            Verdict::Accepted(call) if is_open => self.complete(call, None, voice),
            // What stands behind a call that is refused waits for what becomes of it.
            Verdict::Accepted(_) if self.is_held || self.is_torn() => {}
            Verdict::Accepted(call) => {
                self.n_out += 1;
                let foreign = slot.map(|slot| self.take_waiting(slot)).unwrap_or_default();
                self.call(call, foreign, voice);
            }
        }
    }

    /// Returns the open call as the model wrote it, if it is whole JSON and only its schema speaks against it. The client tells
    /// the model about the fault. None if a part of the call may be lost.
    fn as_written(&self, refusal: &Refusal) -> Option<Acceptance> {
        let call = followup::as_written(refusal).filter(|_| self.end == End::Whole)?;
        let is_out = |open: &OpenCall| call.arguments.starts_with(&open.sent);
        self.live.open.as_ref().is_some_and(is_out).then_some(call)
    }

    /// Writes the missing arguments of the open call.
    fn complete(&mut self, call: &Acceptance, refusal: Option<&Refusal>, voice: &mut dyn Voice) {
        let Some(open) = &mut self.live.open else { return };
        let rest = call.arguments.strip_prefix(open.sent.as_str()).unwrap_or("");
        open.state = OpenState::Settled(Box::new(Settled { call: call.clone(), refusal: refusal.cloned() }));
        self.went.all += rest.len();
        self.relay.notes.keep(&open.id, call);
        voice.call_piece(self.index, open.number, rest);
        voice.call_end(self.index, open.number);
        for (number, piece) in self.foreign.behind.drain(..) {
            if let Ok(tree) = strict(&piece) {
                voice.foreign_call(self.index, number, tree.root(&piece));
            }
        }
    }

    /// Returns whether all of this call is out already, as the one that went out before its verdict.
    fn is_settled(&self, call: &Acceptance) -> bool {
        // A later answer may use its id for another call.
        let is_same = |settled: &Acceptance| {
            (&settled.id, &settled.name, &settled.arguments) == (&call.id, &call.name, &call.arguments)
        };
        self.live.open.as_ref().is_some_and(|open| match &open.state {
            OpenState::Settled(settled) => is_same(&settled.call),
            OpenState::Growing | OpenState::Torn => false,
        })
    }

    fn call(&mut self, call: &Acceptance, foreign: Vec<Foreign>, voice: &mut dyn Voice) {
        self.say_words(voice);
        let id = self.ids.next(call.id.as_deref());
        self.relay.notes.keep(&id, call);
        if self.room == Room::Any || self.n_calls == 0 {
            voice.call(self.index, self.n_calls, &id, call, &foreign);
        }
        self.n_calls += 1;
    }

    /// Writes the outcome of the ladder: the calls that had to wait, further words, and refused calls in words.
    pub(crate) fn resolve(&mut self, turn: &Turn, resolution: &Resolution, voice: &mut dyn Voice) -> TurnEnd {
        let calls = resolution.verdicts.iter().filter_map(|verdict| match verdict {
            Verdict::Accepted(call) => Some(call),
            Verdict::Refused(_) => None,
        });
        // Behind half a call comes nothing but the end.
        let calls = calls.filter(|call| !self.is_torn() && !self.is_settled(call));
        let waiting: Vec<&Acceptance> = calls.skip(self.n_out).collect();
        for call in waiting {
            self.call(call, vec![resolution.foreign_of(call)], voice);
        }
        self.say_words(voice);
        let mut more = resolution.more_text.clone();
        if !self.is_torn() && refusals(&resolution.verdicts).next().is_some() {
            crate::turn::outcome::append(&mut more, &followup::sentence(refusals(&resolution.verdicts)));
        }
        if turn.is_silent(resolution) {
            more = String::from(crate::turn::outcome::SILENCE);
        }
        if !more.is_empty() && !resolution.first.outcome.text.is_empty() {
            more.insert_str(0, "\n\n");
        }
        if !more.is_empty() {
            self.say(&more, voice);
        }
        if let Some(said) = self.held.content.take() {
            let content = resolution.content.clone().unwrap_or(said);
            if !content.is_empty() {
                self.say(&content, voice);
            }
        }
        if turn.ask.answer.report {
            for part in report::tool_errors(resolution) {
                voice.tool_error(self.index, &part);
            }
        }
        resolution.end
    }

    /// Says the reason for which the choice ended.
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
