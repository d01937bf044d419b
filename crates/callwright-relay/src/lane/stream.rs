//! Streams: events go on as they come. From a call's beginning they wait until it is whole; where it is right, they go on,
//! else they wait for the end of the answer, when it is known why the model stopped and a call can be asked for again.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use callwright_json::{Tree, strict};
use http::StatusCode;

use super::call::{Call, CallHead};
use super::settle::{End, choice, settled};
use super::wire::{self, Seen, Told, Wire};
use super::{Lane, Open, request_id};
use crate::deliver::Events;
use crate::record::TurnEnd;
use crate::relay::REQUEST_ID;
use crate::reply::{BodySender, Reply, ReplyBody};
use crate::report;
use crate::sse::Event;
use crate::surface::Failure;
use crate::turn::Target;
use crate::upstream::ResponseBody;

/// So much silence brings a sign of life where something is held: the shortest limit that is known of an agent is twenty
/// seconds.
const SILENCE: Duration = Duration::from_secs(15);

/// The answer to a request, from an upstream that streams.
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
    told: Told,
    calls: Vec<Call>,
    /// How many calls nobody reads.
    n_unread: usize,
    /// Events that wait for a call.
    held: Vec<Event>,
    held_bytes: usize,
    /// The upstream has sent an error of its own.
    has_failed: bool,
}

impl Streamed {
    fn new(lane: Lane, target: Target, to: BodySender) -> Streamed {
        Streamed {
            wire: wire::of(lane.surface),
            lane,
            target,
            to,
            told: Told::default(),
            calls: Vec::new(),
            n_unread: 0,
            held: Vec::new(),
            held_bytes: 0,
            has_failed: false,
        }
    }

    async fn pass(mut self, body: ResponseBody) {
        let limits = self.lane.relay.config.limits;
        let secrets = Arc::clone(self.target.candidate.upstream.secrets());
        let mut upstream = Events::new(body, secrets, limits.event);
        loop {
            let beat = (!self.held.is_empty()).then(|| self.wire.beat());
            let Some(event) = alive(&self.to, beat, upstream.next()).await else { break };
            if !self.take(event).await {
                upstream.ending.cut_by("the upstream's stream holds an event that is no JSON");
                break;
            }
            if limits.answer < self.held_bytes + self.told.text.len() + self.told.thought.len() {
                upstream.ending.cut_by("the upstream's answer is longer than is allowed");
                break;
            }
            self.to.room().await;
        }
        if upstream.ending.is_done && (self.told.is_over || self.has_failed) {
            self.to.write(b"data: [DONE]\n\n");
        }
        let is_whole = self.told.is_over || self.has_failed;
        if !is_whole {
            let why = upstream.ending.why_cut().unwrap_or("the upstream's answer broke off").to_owned();
            self.break_off(&why);
        }
    }

    /// Takes the next event. False where it cannot be read.
    async fn take(&mut self, event: Event) -> bool {
        let Some(data) = event.data.clone() else {
            // A name without data is an event to nobody: where a stream is cut, half of one.
            if event.name.is_empty() && event.raw.first().is_none_or(|byte| b":\r\n".contains(byte)) {
                self.to.write(&event.raw);
            }
            return true;
        };
        let tree = std::str::from_utf8(&data).ok().and_then(|json| Some((json, strict(json).ok()?)));
        let Some((json, tree)) = tree else { return false };
        match self.wire.see(tree.root(json), &mut self.told) {
            Seen::Beat => {
                self.to.write(&event.raw);
                return true;
            }
            Seen::Fails => {
                self.fails(&event, json);
                return true;
            }
            Seen::Beside => {}
            Seen::CallBegins(at, head) => match self.lane.begun(at, head) {
                Some(call) => self.calls.push(call),
                None => self.n_unread += 1,
            },
            Seen::CallPiece(at, piece) => {
                if let Some(call) = self.open_call(at) {
                    call.arguments.push_str(&piece);
                }
            }
            Seen::CallEnds(at, head) => {
                if let Some(call) = self.open_call(at) {
                    // What is said at the end is what the client runs.
                    if let Some(head) = head {
                        (call.arguments, call.head) = (head.arguments.clone(), head);
                    }
                    call.is_whole = true;
                    self.judge(at);
                } else if let Some(head) = head {
                    self.comes_at_once(at, head);
                }
            }
            Seen::Calls(all) => {
                for (at, head) in all {
                    self.comes_at_once(at, head);
                }
            }
            Seen::Ends(all) => {
                for (at, head) in all {
                    self.comes_at_once(at, head);
                }
                self.hold(event);
                self.settle().await;
                return true;
            }
        }
        self.hold(event);
        if !self.waits() {
            self.release();
        }
        true
    }

    /// Is there a call that is not known to be whole and right?
    fn waits(&self) -> bool {
        self.calls.iter().any(|call| !call.is_whole || !call.is_right(&self.lane.tools))
    }

    fn hold(&mut self, event: Event) {
        self.held_bytes += event.raw.len();
        self.held.push(event);
        self.lane.log.holds(self.held_bytes);
    }

    fn release(&mut self) {
        for event in self.held.drain(..) {
            self.to.write(&event.raw);
        }
        self.held_bytes = 0;
    }

    fn open_call(&mut self, at: u64) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.at == at && !call.is_whole)
    }

    fn judge(&mut self, at: u64) {
        let Some(n) = self.calls.iter().position(|call| call.at == at) else { return };
        let verdict = self.lane.verdict(&self.calls[n], &self.target, &self.told);
        self.calls[n].verdict = Some(verdict);
    }

    /// A call that is said to be whole: one that nobody has announced begins with its end.
    fn comes_at_once(&mut self, at: u64, head: CallHead) {
        if self.calls.iter().any(|call| call.head.id == head.id) {
            return;
        }
        match self.lane.begun(at, head) {
            Some(call) => {
                self.calls.push(Call { is_whole: true, ..call });
                self.judge(at);
            }
            None => self.n_unread += 1,
        }
    }

    /// The answer has ended: says what became of the calls that waited for it.
    async fn settle(&mut self) {
        let beat = Some(self.wire.beat());
        let settling = self.lane.settle(&mut self.calls, &self.told, &self.target);
        let End { end, more } = alive(&self.to, beat, settling).await;
        let settled = settled(&self.calls, self.n_unread, more);
        if self.calls.iter().all(|call| call.put.is_none()) {
            self.release();
        } else {
            let mut out = String::new();
            let mut goes_on = false;
            for event in self.held.drain(..) {
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
            self.to.write(out.as_bytes());
        }
        self.lane.log.end(end, StatusCode::OK.as_u16());
    }

    /// The upstream's own error passes. Calls that have not gone out never do.
    fn fails(&mut self, event: &Event, error: &str) {
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

    /// Ends what broke off. A call that has not gone out never does.
    fn break_off(&mut self, why: &str) {
        if let Some((json, tree)) = self.held.iter().find_map(read) {
            self.wire.goes_on_with(tree.root(&json));
        }
        let mut out = String::new();
        self.wire.fail(&Failure::of_answer("upstream_cut", why), &mut out);
        self.to.write(out.as_bytes());
        self.lane.log.read(self.told.usage, std::iter::once(&choice(&self.calls, &self.told)));
        self.lane.log.failed(None, why);
        self.lane.log.end(TurnEnd::Cut, StatusCode::OK.as_u16());
    }
}

/// The data of an event, as JSON.
fn read(event: &Event) -> Option<(String, Tree)> {
    let json = String::from_utf8(event.data.as_ref()?.to_vec()).ok()?;
    let tree = strict(&json).ok()?;
    Some((json, tree))
}

/// Waits for `work`; meanwhile the client hears of it by `beat`, where there is one.
async fn alive<T>(to: &BodySender, beat: Option<&'static str>, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        match (tokio::time::timeout(SILENCE, &mut work).await, beat) {
            (Ok(done), _) => return done,
            (Err(_), Some(beat)) => to.write(beat.as_bytes()),
            (Err(_), None) => {}
        }
    }
}
