//! Streams: events go on as they come. From a call's beginning on they wait until it is whole. A right call lets them go on. Any
//! other waits for the end of the answer, where the reason for stopping is known and a call can be asked for again. A call that
//! [may go out](super::live) before its verdict does so event by event, as far as it is certain. The events that only begin an
//! answer wait for the next one. If none comes, the upstream is asked again, and the client hears of one answer alone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use callwright::{Acceptance, Verdict};
use callwright_json::{Tree, Value};
use http::StatusCode;
use tokio::time::{Instant, timeout_at};

use super::asking::{Lane, Open, request_id};
use super::call::{Call, CallHead};
use super::live::LiveCall;
use super::second::Second;
use super::settle::{End, choice, settled};
use super::silence::{SILENCE, in_silence};
use super::text::Texts;
use super::wire;
use super::wire::told::{Seen, Told, Wire, read};
use crate::deliver::{Came, Ending, Events, Json};
use crate::followup;
use crate::headers::REQUEST_ID;
use crate::record::TurnEnd;
use crate::reply::{BodySender, Reply, ReplyBody};
use crate::report;
use crate::sse::{Decoder, Event};
use crate::surface::Failure;
use crate::target::Target;
use crate::tokens::Usage;
use crate::turn::outcome::worse;
use crate::upstream::ResponseBody;
use crate::wire::{CALL_REFUSED, CUT, Document, error_status, is_passing};

/// Answers a request, from an upstream that streams.
pub(super) fn reply(lane: Lane, open: Open) -> Reply {
    let Open { answer, target } = open;
    let mut headers = answer.headers;
    report::head(lane.log.record(), &mut headers);
    headers.extend(request_id(&lane.log).map(|id| (REQUEST_ID, id)));
    let to = BodySender::default();
    let work = Streamed::new(lane, target, to.clone()).pass(answer.body);
    Reply { status: StatusCode::OK, headers, body: ReplyBody::running(to, work) }
}

/// A stream on its way.
struct Streamed {
    lane: Lane,
    target: Target,
    to: BodySender,
    wire: Box<dyn Wire>,
    /// The reader of texts, which sees each event first.
    texts: Texts,
    /// The events that it lets out.
    came: Vec<Came>,
    told: Told,
    calls: Vec<Call>,
    /// The number of unread calls.
    n_unread: usize,
    /// The time that a call is held before it goes out without its verdict; none if it never does.
    hold: Option<Duration>,
    /// The call that may go out so.
    live: Option<LiveCall>,
    /// Events that wait for a call, each with the bytes of the live call that have to be certain for it to go out. None if it
    /// waits for the verdict.
    held: Vec<(Event, Option<usize>)>,
    held_bytes: usize,
    phase: Phase,
    /// The upstream has sent an error of its own.
    has_failed: bool,
    fault: Option<Fault>,
    /// A call has gone out.
    has_calls: bool,
    /// The events that only begin the answer, and wait for the next one.
    start: Vec<Event>,
    /// The upstream's own error at the beginning.
    early_error: Option<(Event, Document)>,
}

/// The progress of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Nothing of it has gone out.
    Starting,
    Speaking,
    /// All calls are settled: further events about them go to nobody.
    Settled,
    /// A half-sent call was refused: nothing more is said.
    Torn,
}

/// The reason for which the answer is not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The upstream sends something that no client could be given.
    Broken,
    /// The answer is too long.
    TooLong,
}

impl Streamed {
    fn new(lane: Lane, target: Target, to: BodySender) -> Streamed {
        Streamed {
            wire: wire::of(lane.surface),
            hold: lane.relay.holds_calls_for(&target.candidate, lane.stream_arguments),
            live: None,
            texts: Texts::new(&lane, &target, to.clone()),
            came: Vec::new(),
            lane,
            target,
            to,
            told: Told::default(),
            calls: Vec::new(),
            n_unread: 0,
            held: Vec::new(),
            held_bytes: 0,
            has_failed: false,
            phase: Phase::Starting,
            fault: None,
            has_calls: false,
            start: Vec::new(),
            early_error: None,
        }
    }

    /// Passes the answer, or the next one if it failed before anything of it went out.
    async fn pass(mut self, body: ResponseBody) {
        let mut body = Some(body);
        while let Some(came) = body.take() {
            let ending = self.read_all(came).await;
            if self.has_failed_early()
                && let Some(Open { answer, target }) = self.past_failure(&ending).await
            {
                self = Streamed::new(self.lane, target, self.to);
                body = Some(answer.body);
                continue;
            }
            return self.end(ending).await;
        }
    }

    /// Returns whether the upstream failed before anything of the answer went out.
    fn has_failed_early(&self) -> bool {
        let passes = |(_, error): &(Event, Document)| is_passing(error_status(error.root()));
        let is_error = self.early_error.as_ref().is_some_and(passes);
        let is_cut = self.early_error.is_none() && !self.told.is_over && self.fault.is_none();
        self.phase == Phase::Starting && (is_error || is_cut)
    }

    /// Returns the next answer, if the upstream may be asked again.
    async fn past_failure(&mut self, ending: &Ending) -> Option<Open> {
        let error = self.early_error.as_ref().map(|(_, error)| error.text());
        let why = error.or(ending.why_cut()).unwrap_or("the upstream's answer broke off").to_owned();
        let beat = Some(self.wire.beat());
        let asking = self.lane.past_failure(&self.target, &why);
        in_silence(&self.to, beat, asking).await.filter(|open| open.answer.is_stream())
    }

    /// Reads the answer to its end, or to its failure.
    async fn read_all(&mut self, body: ResponseBody) -> Ending {
        let limits = self.lane.relay.config.limits;
        let secrets = Arc::clone(self.target.candidate.upstream.secrets());
        let mut upstream = Events::new(body, secrets, limits.event);
        let start = Instant::now() + SILENCE;
        loop {
            let holds = !self.held.is_empty() || 0 < self.texts.held();
            let waits_to_start = !self.start.is_empty();
            let beat = (holds && !waits_to_start).then(|| self.wire.beat());
            let live = self.live.as_ref().and_then(LiveCall::due);
            let due = live.into_iter().chain(waits_to_start.then_some(start)).min();
            let next = in_silence(&self.to, beat, upstream.next());
            let came = match due {
                None => next.await,
                Some(due) => match timeout_at(due, next).await {
                    Ok(came) => came,
                    Err(_) => {
                        if start <= Instant::now() {
                            self.begin();
                        }
                        self.let_out();
                        continue;
                    }
                },
            };
            let Some(came) = came else { break };
            if let Err(why) = self.read(came).await {
                upstream.ending.cut_by(&why);
                self.fault = Some(Fault::Broken);
                break;
            }
            let held = self.held_bytes + self.texts.held();
            if limits.answer < held + self.told.text.len() + self.told.thought.len() {
                upstream.ending.cut_by("the upstream's answer is longer than is allowed");
                self.fault = Some(Fault::TooLong);
                break;
            }
            if self.early_error.is_some() {
                break;
            }
            self.to.room().await;
        }
        upstream.ending
    }

    /// Ends the answer according to its ending.
    async fn end(mut self, mut ending: Ending) {
        if let Some((event, error)) = self.early_error.take() {
            self.fails(&event, error.text());
        }
        self.texts.breaks(&mut self.came).await;
        if let Err(why) = self.take_all().await {
            ending.cut_by(&why);
        }
        let is_whole = (self.told.is_over || self.has_failed) && self.fault != Some(Fault::Broken);
        if ending.is_done && is_whole && self.phase != Phase::Torn {
            self.to.write(b"data: [DONE]\n\n");
        }
        if !is_whole {
            let why = ending.why_cut().unwrap_or("the upstream's answer broke off").to_owned();
            self.break_off(&why);
        }
    }

    /// Reads the next event of the upstream for its text, and takes the events that go on.
    ///
    /// # Errors
    /// The event cannot belong to an answer to this request.
    async fn read(&mut self, came: Came) -> Result<(), String> {
        if let Json::Is(document) = &came.json
            && let Some(why) = self.lane.fault(document.root())
        {
            return Err(why);
        }
        self.texts.take(&mut self.lane, &self.target, came, &mut self.came).await;
        self.take_all().await
    }

    async fn take_all(&mut self) -> Result<(), String> {
        let mut came = std::mem::take(&mut self.came);
        for came in came.drain(..) {
            self.take(came).await?;
        }
        self.came = came;
        Ok(())
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// The event cannot belong to an answer to this request.
    async fn take(&mut self, Came { event, json }: Came) -> Result<(), String> {
        let document = match json {
            Json::Is(document) => document,
            Json::Broken(why) => return Err(why),
            Json::None => {
                self.take_without_data(event);
                return Ok(());
            }
        };
        let seen = self.wire.see(document.root(), &mut self.told);
        if Phase::Settled <= self.phase && !matches!(seen, Seen::Beat | Seen::Beside | Seen::Fails) {
            return Ok(());
        }
        let certain = match seen {
            Seen::Beat => {
                self.pass_beside(event);
                return Ok(());
            }
            Seen::Starts if self.phase == Phase::Starting => {
                self.start.push(event);
                return Ok(());
            }
            Seen::Fails => {
                match self.phase == Phase::Starting {
                    true => self.early_error = Some((event, document)),
                    false => self.fails(&event, document.text()),
                }
                return Ok(());
            }
            Seen::Starts | Seen::Beside => None,
            Seen::CallBegins(at, head) => self.call_begins(at, head)?,
            Seen::CallPiece(at, piece) => self.call_piece(at, &piece)?,
            Seen::CallSaid(at, arguments) => {
                if let Some(call) = self.calls.iter_mut().find(|call| call.at == at) {
                    call.arguments_said(&arguments)?;
                }
                None
            }
            Seen::CallEnds(at, head) => {
                self.call_ends(at, head).await?;
                None
            }
            Seen::Calls(all) => {
                for (at, head) in all {
                    self.comes_at_once(at, head).await?;
                }
                None
            }
            Seen::Ends(all) => return self.ends(event, all).await,
        };
        self.hold(event, certain);
        match self.waits() {
            true => self.let_out(),
            false => self.release(),
        }
        Ok(())
    }

    /// Takes an event without data. A name alone is an event to nobody: a cut stream may end in half an event.
    fn take_without_data(&mut self, event: Event) {
        if event.name.is_empty() && event.raw.first().is_none_or(|byte| b":\r\n".contains(byte)) {
            self.pass_beside(event);
        }
    }

    /// Takes the event that ends the answer, and says all its calls again.
    ///
    /// # Errors
    /// The calls are not those that came.
    async fn ends(&mut self, event: Event, all: Vec<(u64, CallHead)>) -> Result<(), String> {
        let ids = || all.iter().map(|(_, head)| head.id.as_str()).filter(|id| !id.is_empty());
        if ids().collect::<BTreeSet<_>>().len() < ids().count() {
            return Err(String::from("the upstream's answer has two calls of one id"));
        }
        for (at, head) in all {
            self.comes_at_once(at, head).await?;
        }
        self.hold(event, None);
        self.settle().await;
        self.phase = self.phase.max(Phase::Settled);
        Ok(())
    }

    /// Takes the beginning of a call. Returns the bytes of a live call that have to be certain for the event to go out.
    fn call_begins(&mut self, at: u64, head: CallHead) -> Result<Option<usize>, String> {
        if self.calls.iter().any(|call| call.at == at) {
            return Err(String::from("the upstream's stream begins two calls in one place"));
        }
        let Some(call) = self.lane.begun(at, head, &self.texts.found) else {
            self.n_unread += 1;
            return Ok(None);
        };
        let is_live = self.goes_live(&call);
        self.calls.push(call);
        Ok(is_live.then_some(0))
    }

    /// Takes a piece of a call's arguments, likewise.
    fn call_piece(&mut self, at: u64, piece: &str) -> Result<Option<usize>, String> {
        match self.calls.iter_mut().find(|call| call.at == at) {
            Some(call) if call.is_whole => {
                return Err(String::from("the upstream's stream goes on with a call that has ended"));
            }
            Some(call) => call.arguments.push_str(piece),
            None => {}
        }
        Ok(self.live.as_mut().filter(|live| live.at == at).map(|live| {
            live.push(piece);
            live.came
        }))
    }

    async fn call_ends(&mut self, at: u64, head: Option<CallHead>) -> Result<(), String> {
        if let Some(call) = self.open_call(at) {
            match head {
                Some(head) => call.said_again(head)?,
                None => call.ends()?,
            }
            call.is_whole = true;
            self.live = self.live.take().filter(|live| live.at != at);
            self.judge(at).await;
        } else if let Some(head) = head {
            self.comes_at_once(at, head).await?;
        }
        Ok(())
    }

    /// Passes an event that says nothing of the answer; behind the beginning, if that waits.
    fn pass_beside(&mut self, event: Event) {
        match self.start.is_empty() {
            true => self.to.write(&event.raw),
            false => self.start.push(event),
        }
    }

    /// Lets out the events that only begin the answer.
    fn begin(&mut self) {
        self.phase = self.phase.max(Phase::Speaking);
        for event in self.start.drain(..) {
            self.to.write(&event.raw);
        }
    }

    /// Returns whether this new call goes out before its verdict once it is held for long enough. Behind another waiting call it
    /// does not.
    fn goes_live(&mut self, call: &Call) -> bool {
        let name = call.flat(&self.lane.tools);
        let is_empty = matches!(call.head.arguments.as_str(), "" | "{}") && !call.head.is_misspelt;
        let may_be = is_empty && !call.is_found && !self.waits() && self.lane.tools.may_stream(&name);
        let Some(hold) = self.hold.filter(|_| may_be) else { return false };
        self.live = Some(LiveCall::new(call.at, name, &self.lane.tools.tool_set, hold));
        true
    }

    /// Lets out the certain part of the live call, up to a piece of its arguments: its beginning alone says nothing.
    fn let_out(&mut self) {
        let Some(live) = &mut self.live else { return };
        let (at, certain) = (live.at, live.certain());
        let needs = self.held.iter().map_while(|(_, needs)| needs.filter(|needs| *needs <= certain));
        let Some((last, sent)) = needs.enumerate().filter(|(_, needs)| 0 < *needs).last() else { return };
        self.begin();
        for (event, _) in self.held.drain(..=last) {
            self.to.write(&event.raw);
            self.held_bytes -= event.raw.len();
        }
        if let Some(call) = self.open_call(at) {
            call.sent = call.arguments.get(..sent).unwrap_or("").trim_start().to_owned();
        }
    }

    /// Returns whether a call is not known to be whole and right.
    fn waits(&self) -> bool {
        self.calls.iter().any(|call| !call.is_whole || !call.is_right(&self.lane.tools))
    }

    fn hold(&mut self, event: Event, certain: Option<usize>) {
        self.held_bytes += event.raw.len();
        self.held.push((event, certain));
        self.lane.log.holds(self.held_bytes);
    }

    fn release(&mut self) {
        if !self.held.is_empty() {
            self.begin();
        }
        for (event, _) in self.held.drain(..) {
            self.to.write(&event.raw);
        }
        self.held_bytes = 0;
        self.live = None;
        self.has_calls |= 0 < self.calls.len() + self.n_unread;
    }

    fn open_call(&mut self, at: u64) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.at == at && !call.is_whole)
    }

    async fn judge(&mut self, at: u64) {
        let Some(n) = self.calls.iter().position(|call| call.at == at && !call.is_found) else { return };
        let verdict = self.lane.verdict(&self.calls[n], &self.target, &self.told).await;
        self.calls[n].verdict = Some(verdict);
    }

    /// Takes a whole call: one that no event has announced begins with its end.
    ///
    /// # Errors
    /// A call of this id was announced, and differs.
    async fn comes_at_once(&mut self, at: u64, head: CallHead) -> Result<(), String> {
        let is_it = |call: &&mut Call| match (call.head.id.as_str(), head.id.as_str()) {
            ("", _) | (_, "") => call.at == at,
            (known, id) => known == id,
        };
        if let Some(call) = self.calls.iter_mut().find(is_it) {
            return call.said_again(head);
        }
        match self.lane.begun(at, head, &self.texts.found) {
            Some(call) => {
                self.calls.push(Call { is_whole: true, ..call });
                self.judge(at).await;
            }
            None => self.n_unread += 1,
        }
        Ok(())
    }

    /// Ends the answer: says the fate of the calls that waited for it.
    async fn settle(&mut self) {
        self.close_as_written().await;
        let content = self.texts.content.take();
        if !self.texts.found.is_empty() || content.is_some() {
            self.told.raw.clone_from(&self.texts.found.raw);
        }
        let beat = Some(self.wire.beat());
        let settling = self.lane.settle(&mut self.calls, &self.told, &self.target);
        let ended = in_silence(&self.to, beat, settling).await;
        if let Some(why) = self.torn() {
            return self.tear(&why);
        }
        let End { end, more } = ended;
        if end.is_refusal() && self.second_goes_on(more).await {
            return;
        }
        let end = if self.texts.is_asked { worse(end, TurnEnd::Retried) } else { end };
        let end = content.map_or(end, |content| worse(end, content.end));
        let is_unchecked = self.calls.iter().any(|call| call.unchecked.is_some());
        let end = if is_unchecked { worse(end, TurnEnd::Invalid) } else { end };
        let settled = settled(&self.calls, self.n_unread, &ended);
        if self.calls.iter().all(|call| call.put.is_none()) {
            self.release();
        } else {
            let mut out = String::new();
            let mut goes_on = false;
            for (event, _) in self.held.drain(..) {
                let Some((json, tree)) = read(&event) else {
                    out.push_str(&String::from_utf8_lossy(&event.raw));
                    continue;
                };
                let root = tree.root(&json);
                if !std::mem::replace(&mut goes_on, true) {
                    self.wire.goes_on_with(root);
                }
                self.wire.write(&event, (&json, root), &settled, &mut out);
            }
            self.begin();
            self.to.write(out.as_bytes());
        }
        self.lane.log.end(end, StatusCode::OK.as_u16());
    }

    /// Writes the answer of a second model, behind the words that went out. Returns false without an answer, or if a call went
    /// out.
    async fn second_goes_on(&mut self, more: Usage) -> bool {
        if self.has_calls || self.calls.iter().any(|call| !call.sent.is_empty()) {
            return false;
        }
        let beat = Some(self.wire.beat());
        let asking = self.lane.second(&self.told, true);
        let Some(Second { model, body, end, .. }) = in_silence(&self.to, beat, asking).await else {
            return false;
        };
        let held: Vec<(String, Tree)> = self.held.iter().filter_map(|(event, _)| read(event)).collect();
        let held: Vec<Value<'_>> = held.iter().map(|(json, tree)| tree.root(json)).collect();
        let more = [self.told.usage, more].into_iter().sum();
        let Some(out) = self.wire.taken_over(&events(body), &held, more) else { return false };
        self.begin();
        self.to.write(out.as_bytes());
        self.held.clear();
        self.held_bytes = 0;
        self.lane.ends_with(&model, end);
        true
    }

    /// Closes a half-sent call as the model wrote it, if it is whole and only does not fit its schema. The client tells the model
    /// about the fault.
    async fn close_as_written(&mut self) {
        let tools = &self.lane.tools;
        let begun = |call: &&Call| call.is_whole && !call.sent.is_empty() && !call.is_right(tools);
        let is_cut = self.told.reason.as_deref().is_none_or(callwright::is_cut);
        let Some(call) = self.calls.iter().find(begun).filter(|_| !is_cut) else { return };
        let (at, verdict) = (call.at, self.lane.verdict(call, &self.target, &self.told).await);
        let Some(call) = self.calls.iter_mut().find(|call| call.at == at) else { return };
        let Verdict::Refused(refusal) = verdict else { return };
        let written = followup::as_written(&refusal);
        let Some(written) = written.filter(|written| written.arguments.starts_with(&call.sent)) else {
            return;
        };
        self.lane.log.unchecked_live(&refusal);
        let arguments = call.text().to_owned();
        call.verdict = Some(Verdict::Accepted(Acceptance { arguments, ..written }));
        call.unchecked = Some(refusal);
    }

    /// Returns the reason for which a half-sent call stays refused.
    fn torn(&self) -> Option<String> {
        let begun = self.calls.iter().find(|call| !call.sent.is_empty())?;
        let Some(Verdict::Refused(refusal)) = &begun.verdict else { return None };
        Some(followup::sentence(std::iter::once(refusal)))
    }

    /// Ends a stream with half a call in an error: it is the only end that nobody takes for a whole one.
    fn tear(&mut self, why: &str) {
        self.phase = Phase::Torn;
        self.fail(CALL_REFUSED, why);
        self.lane.log.end(TurnEnd::Refused, StatusCode::OK.as_u16());
    }

    /// Ends the stream in an error.
    fn fail(&mut self, code: &str, why: &str) {
        if let Some((json, tree)) = self.held.iter().find_map(|(event, _)| read(event)) {
            self.wire.goes_on_with(tree.root(&json));
        }
        let mut out = String::new();
        self.wire.fail(&Failure::of_answer(code, why), &mut out);
        self.begin();
        self.to.write(out.as_bytes());
    }

    /// The upstream's own error passes. Calls that have not gone out never do.
    fn fails(&mut self, event: &Event, error: &str) {
        self.begin();
        self.to.write(&event.raw);
        if !std::mem::replace(&mut self.has_failed, true) {
            self.lane.log.read(self.told.usage, std::iter::once(&choice(&self.calls, &self.told)));
            self.lane.log.failed(None, error);
            self.lane.log.end(TurnEnd::UpstreamError, StatusCode::OK.as_u16());
        }
        let tools = &self.lane.tools;
        self.calls.retain(|call| call.is_whole && call.is_right(tools));
        self.held.clear();
    }

    /// Ends a stream that broke off. A call that has not gone out never does.
    fn break_off(&mut self, why: &str) {
        self.fail(CUT, why);
        self.lane.log.read(self.told.usage, std::iter::once(&choice(&self.calls, &self.told)));
        self.lane.log.failed(None, why);
        self.lane.log.end(TurnEnd::Cut, StatusCode::OK.as_u16());
    }
}

/// Takes a whole stream apart into its events.
fn events(stream: Bytes) -> Vec<Event> {
    let mut decoder = Decoder::new(stream.len());
    decoder.push(stream);
    std::iter::from_fn(|| decoder.next().ok().flatten()).collect()
}
