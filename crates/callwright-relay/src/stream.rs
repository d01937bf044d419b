//! Streamed answers: prose goes on at once, calls when they are certain, and nothing is ever taken back.

use std::sync::Arc;

use callwright_json::{Value, quote, strict};
use http::{HeaderValue, StatusCode, header};

use crate::flow::healed;
use crate::record::{TurnEnd, Usage};
use crate::redact::{self, Redactor};
use crate::reply::{Outlet, Reply, ReplyBody};
use crate::report;
use crate::sse::{self, Decoder};
use crate::sse_out;
use crate::turn::{AnswerSource, OpenAnswer, Turn};
use crate::upstream::{AnswerBody, Secrets};
use crate::wire::{Change, array, deltas, rewritten, usage};

/// The answer to a request that wants a stream, from an upstream that streams.
pub(crate) fn reply(turn: Box<Turn>, open_answer: OpenAnswer) -> Reply {
    let mut headers = match &open_answer.source {
        AnswerSource::Upstream(answer) => answer.headers.clone(),
        AnswerSource::Recovered(_) => http::HeaderMap::new(),
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    report::head(turn.log.record(), &mut headers);
    let outlet = Outlet::default();
    let to = outlet.clone();
    let body = match turn.is_read() {
        true => ReplyBody::running(outlet, healed(turn, open_answer, to)),
        false => ReplyBody::running(outlet, passed(turn, open_answer, to)),
    };
    Reply { status: StatusCode::OK, headers, body }
}

/// What has been seen of the end of a stream.
#[derive(Default)]
pub(crate) struct Ending {
    /// The choices said why they stopped.
    pub(crate) is_finished: bool,
    /// `[DONE]`
    is_done: bool,
    /// The upstream sent an error.
    pub(crate) is_error: bool,
    /// The stream broke off, for this reason.
    cut: Option<String>,
}

impl Ending {
    /// The stream is no good from here on. The first reason counts.
    pub(crate) fn cut_by(&mut self, why: &str) {
        self.cut.get_or_insert_with(|| why.to_owned());
    }

    /// Did it break off?
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// Why this is no proper end.
    fn fault(&self) -> Option<String> {
        match &self.cut {
            Some(why) => Some(why.clone()),
            None if self.is_finished || self.is_done => None,
            None => Some(String::from("the upstream's answer broke off")),
        }
    }
}

/// Hands a stream on as it is. What is looked at is only whether it ends properly.
async fn passed(mut turn: Box<Turn>, open_answer: OpenAnswer, to: Outlet) {
    let AnswerSource::Upstream(mut answer) = open_answer.source else { return };
    let secrets = Arc::clone(open_answer.target.candidate.upstream.secrets());
    if !secrets.is_empty() {
        return hidden(turn, answer.body, secrets, to).await;
    }
    let mut decoder = Decoder::new(turn.relay.config.limits.event);
    let (mut ending, mut spent) = (Ending::default(), Usage::default());
    while let Some(piece) = answer.body.next().await {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => {
                ending.cut_by(&error.to_string());
                break;
            }
        };
        to.write(&piece);
        decoder.push(piece);
        while let Ok(Some(event)) = decoder.next() {
            note_end(&event, &mut ending, &mut spent);
        }
        to.room().await;
    }
    if let Some(event) = decoder.finish() {
        note_end(&event, &mut ending, &mut spent);
        to.write(b"\n\n");
    }
    turn.log.read(spent, std::iter::empty());
    end_of_stream(&mut turn, &ending, TurnEnd::Passed, &to);
}

/// The same where the upstream knows a secret: each event is looked into, and goes on as it is where there is none of it.
async fn hidden(mut turn: Box<Turn>, body: AnswerBody, secrets: Arc<Secrets>, to: Outlet) {
    let mut events = Events::new(body, Arc::clone(&secrets), turn.relay.config.limits.event);
    let mut choices: Vec<(usize, Redactor)> = Vec::new();
    let mut spent = Usage::default();
    let mut ending = Ending::default();
    while let Some(event) = events.next().await {
        note_end(&event, &mut ending, &mut spent);
        match without(&secrets, &event, &mut choices) {
            Some(event) => to.write(event.as_bytes()),
            None => to.write(&event.raw),
        }
        to.room().await;
    }
    ending.is_done = events.ending.is_done;
    ending.cut = events.ending.cut;
    turn.log.read(spent, std::iter::empty());
    if ending.is_done {
        to.write(b"data: [DONE]\n\n");
    }
    end_of_stream(&mut turn, &ending, TurnEnd::Passed, &to);
}

/// The event without what is of a secret that is spread over several; none where it may go on as it is.
fn without(secrets: &Secrets, event: &sse::Event, choices: &mut Vec<(usize, Redactor)>) -> Option<String> {
    let text = std::str::from_utf8(event.data.as_deref()?).ok()?;
    let tree = strict(text).ok()?;
    let chunk = tree.root(text);
    let mut is_changed = false;
    let written: Vec<String> = deltas(chunk)
        .map(|mut delta| {
            let at = choices.iter().position(|(index, _)| *index == delta.index).unwrap_or_else(|| {
                choices.push((delta.index, Redactor::default()));
                choices.len() - 1
            });
            if !choices[at].1.redact(secrets, &mut delta) {
                return delta.choice.raw().to_owned();
            }
            is_changed = true;
            let Some(own) = delta.choice.get("delta") else { return delta.choice.raw().to_owned() };
            let set = |text: &str| ("content", Change::Set(quote(text)));
            let mut changes: Vec<(&str, Change)> = delta.text.as_deref().map(set).into_iter().collect();
            if delta.hides_thought {
                changes.extend(redact::reasoning_members(own, delta.reasoning.as_deref().unwrap_or("")));
            }
            rewritten(delta.choice, &[("delta", Change::Set(rewritten(own, &changes)))])
        })
        .collect();
    let chunk = is_changed.then(|| rewritten(chunk, &[("choices", Change::Set(array(written)))]))?;
    Some(format!("data: {chunk}\n\n"))
}

fn note_end(event: &sse::Event, ending: &mut Ending, spent: &mut Usage) {
    let Some(data) = &event.data else { return };
    if &data[..] == b"[DONE]" {
        ending.is_done = true;
        return;
    }
    let has = |word: &[u8]| memchr::memmem::find(data, word).is_some();
    if !(has(b"\"finish_reason\":\"")
        || has(b"\"finish_reason\": \"")
        || has(b"\"usage\"")
        || has(b"\"error\""))
    {
        return;
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(tree) = strict(text) else { return };
    let root = tree.root(text);
    ending.is_finished |= deltas(root).any(|delta| delta.finish_reason.is_some());
    ending.is_error |= is_error(root);
    if let Some(usage) = usage(root) {
        *spent = usage;
    }
}

pub(crate) fn is_error(root: Value<'_>) -> bool {
    root.get("error").is_some_and(|error| error.raw() != "null")
}

/// Ends a stream as it has to be ended: `[DONE]`, or an error where it is not whole.
pub(crate) fn end_of_stream(turn: &mut Turn, ending: &Ending, end: TurnEnd, to: &Outlet) {
    if ending.is_error {
        turn.log.end(TurnEnd::UpstreamError, 200);
        if ending.is_done && turn.is_read() {
            to.write(b"data: [DONE]\n\n");
        }
        return;
    }
    match ending.fault() {
        None => {
            turn.log.end(end, 200);
            if !(ending.is_done && end == TurnEnd::Passed && !turn.is_read()) {
                to.write(b"data: [DONE]\n\n");
            }
        }
        Some(why) => {
            turn.log.failed(None, &why);
            turn.log.end(TurnEnd::Cut, 200);
            to.write(sse_out::error("upstream_cut", &why).as_bytes());
        }
    }
}

/// The events of an upstream, up to `[DONE]` or the end.
pub(crate) struct Events {
    body: AnswerBody,
    decoder: Decoder,
    limit: usize,
    secrets: Arc<Secrets>,
    pub(crate) ending: Ending,
    is_over: bool,
}

impl Events {
    pub(crate) fn new(body: AnswerBody, secrets: Arc<Secrets>, limit: usize) -> Events {
        Events {
            body,
            decoder: Decoder::new(limit),
            limit,
            secrets,
            ending: Ending::default(),
            is_over: false,
        }
    }

    /// The next event, without the upstream's secrets as far as they stand in it whole.
    pub(crate) async fn next(&mut self) -> Option<sse::Event> {
        loop {
            let event = match self.decoder.next() {
                Ok(Some(event)) => Some(event),
                Ok(None) if self.is_over => {
                    let limit = self.limit;
                    std::mem::replace(&mut self.decoder, Decoder::new(limit)).finish().map(sse::Event::ended)
                }
                Ok(None) => None,
                Err(error) => {
                    self.ending.cut_by(&error.to_string());
                    return None;
                }
            };
            if let Some(event) = event {
                if event.data.as_deref() == Some(b"[DONE]") {
                    self.ending.is_done = true;
                    self.body.take_end().await;
                    return None;
                }
                let event = event.readable();
                return Some(match self.secrets.hidden(&event.raw) {
                    Some(raw) => sse::Event::of(raw.into()),
                    None => event,
                });
            }
            if self.is_over {
                return None;
            }
            match self.body.next().await {
                Some(Ok(piece)) => self.decoder.push(piece),
                Some(Err(error)) => {
                    self.ending.cut_by(&error.to_string());
                    return None;
                }
                None => self.is_over = true,
            }
        }
    }
}
