//! Streamed answers: prose goes on at once, calls when they are certain, and nothing is ever taken back.

use callwright_json::{Value, strict};
use http::{HeaderValue, StatusCode, header};

use crate::flow::healed;
use crate::record::{End, Usage};
use crate::reply::{Outlet, Reply, ReplyBody};
use crate::report;
use crate::sse::{self, Decoder};
use crate::sse_out;
use crate::turn::{Opened, Source, Turn};
use crate::upstream::AnswerBody;
use crate::wire::{deltas, usage};

/// The answer to a request that wants a stream, from an upstream that streams.
pub(crate) fn reply(turn: Box<Turn>, opened: Opened) -> Reply {
    let mut headers = match &opened.source {
        Source::Answer(answer) => answer.headers.clone(),
        Source::Salvaged(_) => http::HeaderMap::new(),
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    report::head(turn.log.record(), &mut headers);
    let outlet = Outlet::default();
    let to = outlet.clone();
    let body = match turn.is_read() {
        true => ReplyBody::running(outlet, healed(turn, opened, to)),
        false => ReplyBody::running(outlet, passed(turn, opened, to)),
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
async fn passed(mut turn: Box<Turn>, opened: Opened, to: Outlet) {
    let Source::Answer(mut answer) = opened.source else { return };
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
    end_of_stream(&mut turn, &ending, End::Passed, &to);
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
pub(crate) fn end_of_stream(turn: &mut Turn, ending: &Ending, end: End, to: &Outlet) {
    if ending.is_error {
        turn.log.end(End::UpstreamError, 200);
        if ending.is_done && turn.is_read() {
            to.write(b"data: [DONE]\n\n");
        }
        return;
    }
    match ending.fault() {
        None => {
            turn.log.end(end, 200);
            if !(ending.is_done && end == End::Passed && !turn.is_read()) {
                to.write(b"data: [DONE]\n\n");
            }
        }
        Some(why) => {
            turn.log.failed(None, &why);
            turn.log.end(End::Cut, 200);
            to.write(sse_out::error("upstream_cut", &why).as_bytes());
        }
    }
}

/// The events of an upstream, up to `[DONE]` or the end.
pub(crate) struct Events {
    body: AnswerBody,
    decoder: Decoder,
    limit: usize,
    pub(crate) ending: Ending,
    is_over: bool,
}

impl Events {
    pub(crate) fn new(body: AnswerBody, limit: usize) -> Events {
        Events { body, decoder: Decoder::new(limit), limit, ending: Ending::default(), is_over: false }
    }

    pub(crate) async fn next(&mut self) -> Option<sse::Event> {
        loop {
            let event = match self.decoder.next() {
                Ok(Some(event)) => Some(event),
                Ok(None) if self.is_over => {
                    let limit = self.limit;
                    std::mem::replace(&mut self.decoder, Decoder::new(limit)).finish()
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
                return Some(event);
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
