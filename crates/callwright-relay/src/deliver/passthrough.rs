//! Streams without anything to repair: they go on as they come, without the upstream's secrets. Chunks at the beginning that say
//! nothing wait for the first one that does: if the upstream fails before that, it is asked again.

use std::sync::Arc;

use callwright_json::strict;

use super::events::{Came, Ending, Events, end_of_stream};
use super::voice::ChatVoice;
use crate::record::TurnEnd;
use crate::reply::BodySender;
use crate::sse::{self, Decoder};
use crate::tokens::Usage;
use crate::turn::{AnswerSource, OpenAnswer, Turn};
use crate::upstream::ResponseBody;
use crate::wire::{Document, More, deltas, is_error, usage};

/// Hands a stream on as it is, and watches only its beginning and its end.
pub(super) async fn pass(mut turn: Box<Turn>, mut open_answer: OpenAnswer, to: BodySender) {
    let longest = turn.relay.config.limits.event;
    let takes_usage = turn.ask.answer.usage;
    loop {
        let OpenAnswer { source, target, shown } = open_answer;
        let mut passing = Passing { to: &to, head: Some(Vec::new()), failure: None, takes_usage };
        let secrets = target.candidate.upstream.secrets();
        let (ending, spent) = match source {
            AnswerSource::Upstream(answer) if secrets.is_empty() => {
                passing.bytes(answer.body, Decoder::new(longest)).await
            }
            AnswerSource::Upstream(answer) => {
                passing.events(Events::new(answer.body, Arc::clone(secrets), longest)).await
            }
            AnswerSource::Recovered(document) => passing.events(Events::of_whole(&document, longest)).await,
        };
        if passing.head.is_some() && !ending.is_finished {
            let past = turn.past_failure(&target, passing.failure.as_ref(), &shown);
            if let Some(again) = past.await
                && let Some(again) = again.streamed(&turn.relay).await
            {
                open_answer = again;
                continue;
            }
        }
        passing.release();
        turn.log.read(spent, std::iter::empty());
        let mut voice = ChatVoice::new(&turn, to.clone());
        if ending.is_done {
            voice.has_closed();
        }
        return end_of_stream(&mut turn, &ending, TurnEnd::Passed, &mut voice);
    }
}

/// A stream on its way to the client.
struct Passing<'p> {
    to: &'p BodySender,
    /// The bytes that came before anything was said; none from then on.
    head: Option<Vec<u8>>,
    /// The upstream's error, if it came before anything was said.
    failure: Option<Document>,
    /// The client asks for the number of tokens.
    takes_usage: bool,
}

impl Passing<'_> {
    /// Passes the bytes of an upstream that knows no secret.
    async fn bytes(&mut self, mut body: ResponseBody, mut decoder: Decoder) -> (Ending, Usage) {
        let (mut ending, mut spent) = (Ending::default(), Usage::default());
        'pieces: while let Some(piece) = body.next().await {
            let piece = match piece {
                Ok(piece) => piece,
                Err(error) => {
                    ending.cut_by(&error.to_string());
                    break;
                }
            };
            if self.takes_usage {
                self.write(&piece);
            }
            decoder.push(piece);
            loop {
                let event = match decoder.next() {
                    Ok(Some(event)) => event,
                    Ok(None) => break,
                    Err(error) => {
                        ending.cut_by(&error.to_string());
                        break 'pieces;
                    }
                };
                self.look_at(&event);
                let is_usage_alone = note_end(&event, &mut ending, &mut spent);
                if !self.takes_usage && !is_usage_alone {
                    self.write(&event.raw);
                }
            }
            self.to.room().await;
        }
        if let Some(event) = decoder.finish() {
            self.look_at(&event);
            let is_usage_alone = note_end(&event, &mut ending, &mut spent);
            if !self.takes_usage && !is_usage_alone {
                self.write(&event.raw);
            }
            if self.takes_usage || !is_usage_alone {
                self.write(b"\n\n");
            }
        }
        (ending, spent)
    }

    /// Passes events, without the secrets of their upstream.
    async fn events(&mut self, mut events: Events) -> (Ending, Usage) {
        let (mut ending, mut spent) = (Ending::default(), Usage::default());
        while let Some(Came { event, .. }) = events.next().await {
            self.look_at(&event);
            if note_end(&event, &mut ending, &mut spent) && !self.takes_usage {
                continue;
            }
            self.write(&event.raw);
            self.to.room().await;
        }
        ending.is_done = events.ending.is_done;
        ending.cut = events.ending.cut;
        if ending.is_done {
            self.write(b"data: [DONE]\n\n");
        }
        (ending, spent)
    }

    fn write(&mut self, bytes: &[u8]) {
        match &mut self.head {
            Some(head) => head.extend_from_slice(bytes),
            None => self.to.write(bytes),
        }
    }

    /// Lets the waiting bytes out if this event says anything.
    fn look_at(&mut self, event: &sse::Event) {
        if self.head.is_none() {
            return;
        }
        let read = event.data.clone().map(Document::parse);
        match read {
            Some(Ok(document)) if is_error(document.root()) => {
                self.failure.get_or_insert(document);
            }
            Some(Ok(document)) if says_nothing(&document) => {}
            Some(Err(_)) if event.data.as_deref() == Some(b"[DONE]") => {}
            // A comment is a sign of life.
            Some(_) | None => self.release(),
        }
    }

    fn release(&mut self) {
        if let Some(head) = self.head.take().filter(|head| !head.is_empty()) {
            self.to.write(&head);
        }
    }
}

/// Returns whether a chunk holds only a role or a count of tokens.
fn says_nothing(chunk: &Document) -> bool {
    let is_empty = |text: Option<&str>| text.is_none_or(str::is_empty);
    deltas(chunk.root()).all(|delta| {
        is_empty(delta.text.as_deref())
            && is_empty(delta.reasoning.as_deref())
            && delta.more == More::Nothing
            && delta.calls.is_empty()
            && delta.finish_reason.is_none()
    })
}

/// Notes what the event says about the end. Returns whether it only counts tokens.
fn note_end(event: &sse::Event, ending: &mut Ending, spent: &mut Usage) -> bool {
    let Some(data) = &event.data else { return false };
    if &data[..] == b"[DONE]" {
        ending.is_done = true;
        return false;
    }
    let has = |word: &[u8]| memchr::memmem::find(data, word).is_some();
    if !(has(b"\"finish_reason\":\"")
        || has(b"\"finish_reason\": \"")
        || has(b"\"usage\"")
        || has(b"\"error\""))
    {
        return false;
    }
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let Ok(tree) = strict(text) else { return false };
    let root = tree.root(text);
    ending.is_finished |= deltas(root).any(|delta| delta.finish_reason.is_some());
    ending.is_error |= is_error(root);
    let Some(usage) = usage(root) else { return false };
    *spent = usage;
    !is_error(root) && root.get("choices").is_none_or(|list| list.elements().next().is_none())
}
