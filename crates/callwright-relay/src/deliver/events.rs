//! The events of a streaming upstream, and how its stream ends.

use std::sync::Arc;

use bytes::Bytes;

use super::voice::Voice;
use crate::record::TurnEnd;
use crate::sse::{self, Decoder};
use crate::turn::Turn;
use crate::upstream::{ResponseBody, Secrets, Spread};
use crate::wire::{CUT, Document, doubled};

/// The events of an upstream, up to `[DONE]` or the end, without its secrets.
pub(crate) struct Events {
    /// None if all events are there.
    body: Option<ResponseBody>,
    decoder: Decoder,
    limit: usize,
    secrets: Arc<Secrets>,
    /// Takes out secrets that are spread over events.
    spread: Spread,
    pub(crate) ending: Ending,
    /// The body has ended.
    is_over: bool,
    /// The last event has come.
    is_last: bool,
}

/// An event of an upstream.
pub(crate) struct Came {
    pub(crate) event: sse::Event,
    pub(crate) json: Json,
}

/// The data of an event.
pub(crate) enum Json {
    /// The event has no data.
    None,
    /// A text that is not JSON, or whose meaning is open, with the reason.
    Broken(String),
    Is(Document),
}

impl Came {
    /// Makes an event of this name, with this JSON.
    pub(crate) fn written(name: &str, data: &str) -> Came {
        let raw = ["event: ", name, "\ndata: ", data, "\n\n"].concat();
        Came::of(sse::Event::of(raw.into()))
    }

    /// Makes an event with other data.
    pub(crate) fn with_data(event: &sse::Event, data: &str) -> Came {
        Came::of(event.with_data(data))
    }

    fn of(event: sse::Event) -> Came {
        let json = event.data.clone().map_or(Json::None, |data| match Document::parse(data) {
            Ok(document) => match doubled(document.root()) {
                None => Json::Is(document),
                Some(name) => {
                    Json::Broken(format!("the upstream's stream holds an event that says `{name}` twice"))
                }
            },
            Err(_) => Json::Broken(String::from("the upstream's stream holds an event that is not JSON")),
        });
        Came { event, json }
    }
}

impl Events {
    pub(crate) fn new(body: ResponseBody, secrets: Arc<Secrets>, limit: usize) -> Events {
        Events {
            body: Some(body),
            decoder: Decoder::new(limit),
            limit,
            spread: Spread::new(Arc::clone(&secrets)),
            secrets,
            ending: Ending::default(),
            is_over: false,
            is_last: false,
        }
    }

    /// Makes the events of a whole answer, which holds no secret.
    pub(crate) fn of_whole(answer: &Document, limit: usize) -> Events {
        let events = Bytes::from(super::sse::events(answer.root(), true, &[]));
        let mut decoder = Decoder::new(limit.max(events.len()));
        decoder.push(events);
        let secrets = Arc::default();
        Events {
            body: None,
            decoder,
            limit,
            spread: Spread::new(Arc::clone(&secrets)),
            secrets,
            ending: Ending::default(),
            is_over: true,
            is_last: false,
        }
    }

    /// Returns the next event. Nothing is lost if its caller stops waiting.
    pub(crate) async fn next(&mut self) -> Option<Came> {
        loop {
            if let Some((event, document)) = self.spread.next() {
                return Some(Came { event, json: Json::Is(document) });
            }
            if self.is_last {
                return None;
            }
            let Some(event) = self.received().await else {
                self.is_last = true;
                self.spread.end();
                continue;
            };
            let came = Came::of(event);
            if self.secrets.is_empty() {
                return Some(came);
            }
            match came.json {
                Json::Is(document) => {
                    if let Some((event, document)) = self.spread.push(came.event, document) {
                        return Some(Came { event, json: Json::Is(document) });
                    }
                }
                // It says nothing that could go on.
                Json::None | Json::Broken(_) => return Some(came),
            }
        }
    }

    /// Returns the next event, without secrets that stand in it whole.
    async fn received(&mut self) -> Option<sse::Event> {
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
                    if let Some(body) = &mut self.body {
                        body.take_end().await;
                    }
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
            let Some(body) = &mut self.body else { return None };
            match body.next().await {
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

/// The signs of a stream's end.
#[derive(Default)]
pub(crate) struct Ending {
    /// The choices said their reasons for stopping.
    pub(crate) is_finished: bool,
    /// `[DONE]` has come.
    pub(crate) is_done: bool,
    /// The upstream sent an error.
    pub(crate) is_error: bool,
    /// The stream broke off, for this reason.
    pub(super) cut: Option<String>,
}

impl Ending {
    /// Marks the stream as broken from here on. The first reason counts.
    pub(crate) fn cut_by(&mut self, why: &str) {
        self.cut.get_or_insert_with(|| why.to_owned());
    }

    /// Returns the reason for which it broke off.
    pub(crate) fn why_cut(&self) -> Option<&str> {
        self.cut.as_deref()
    }

    /// Returns whether it broke off.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// Marks the answer as whole: the missing parts have come since.
    pub(super) fn is_mended(&mut self) {
        (self.is_error, self.cut, self.is_finished) = (false, None, true);
    }

    /// Returns the fault of an improper end.
    fn fault(&self) -> Option<String> {
        match &self.cut {
            Some(why) => Some(why.clone()),
            None if self.is_finished || self.is_done => None,
            None => Some(String::from("the upstream's answer broke off")),
        }
    }
}

/// Ends a stream properly, or with an error if it is not whole.
pub(crate) fn end_of_stream(turn: &mut Turn, ending: &Ending, end: TurnEnd, voice: &mut dyn Voice) {
    let end = match ending.fault() {
        _ if ending.is_error => {
            if ending.is_done {
                voice.close();
            }
            TurnEnd::UpstreamError
        }
        None => {
            voice.close();
            end
        }
        Some(why) => {
            turn.log.failed(None, &why);
            voice.fail(CUT, &why);
            TurnEnd::Cut
        }
    };
    turn.log.end(end, voice.status().as_u16());
    voice.flush();
}
