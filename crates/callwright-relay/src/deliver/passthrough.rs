//! Streams in which nothing may need repair: they go on as they come, without the upstream's secrets.

use std::sync::Arc;

use callwright_json::strict;

use super::events::{Came, Ending, Events, end_of_stream, is_error};
use super::voice::ChatVoice;
use crate::record::{TurnEnd, Usage};
use crate::reply::BodySender;
use crate::sse::{self, Decoder};
use crate::turn::{AnswerSource, OpenAnswer, Turn};
use crate::upstream::{ResponseBody, Secrets};
use crate::wire::{deltas, usage};

/// Hands a stream on as it is. What is looked at is only whether it ends properly.
pub(super) async fn pass(mut turn: Box<Turn>, open_answer: OpenAnswer, to: BodySender) {
    let AnswerSource::Upstream(mut answer) = open_answer.source else { return };
    let secrets = Arc::clone(open_answer.target.candidate.upstream.secrets());
    if !secrets.is_empty() {
        return pass_redacted(turn, answer.body, secrets, to).await;
    }
    let mut decoder = Decoder::new(turn.relay.config.limits.event);
    let (mut ending, mut spent) = (Ending::default(), Usage::default());
    let takes_usage = turn.ask.include_usage;
    'pieces: while let Some(piece) = answer.body.next().await {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => {
                ending.cut_by(&error.to_string());
                break;
            }
        };
        if takes_usage {
            to.write(&piece);
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
            let is_usage_alone = note_end(&event, &mut ending, &mut spent);
            if !takes_usage && !is_usage_alone {
                to.write(&event.raw);
            }
        }
        to.room().await;
    }
    if let Some(event) = decoder.finish() {
        let is_usage_alone = note_end(&event, &mut ending, &mut spent);
        if !takes_usage && !is_usage_alone {
            to.write(&event.raw);
        }
        if takes_usage || !is_usage_alone {
            to.write(b"\n\n");
        }
    }
    turn.log.read(spent, std::iter::empty());
    end(turn, &ending, to);
}

/// Passes the stream of an upstream that knows a secret, without it.
async fn pass_redacted(mut turn: Box<Turn>, body: ResponseBody, secrets: Arc<Secrets>, to: BodySender) {
    let mut events = Events::new(body, secrets, turn.relay.config.limits.event);
    let mut spent = Usage::default();
    let mut ending = Ending::default();
    while let Some(Came { event, .. }) = events.next().await {
        if note_end(&event, &mut ending, &mut spent) && !turn.ask.include_usage {
            continue;
        }
        to.write(&event.raw);
        to.room().await;
    }
    ending.is_done = events.ending.is_done;
    ending.cut = events.ending.cut;
    turn.log.read(spent, std::iter::empty());
    if ending.is_done {
        to.write(b"data: [DONE]\n\n");
    }
    end(turn, &ending, to);
}

fn end(mut turn: Box<Turn>, ending: &Ending, to: BodySender) {
    let mut voice = ChatVoice::new(&turn, to);
    if ending.is_done {
        voice.has_closed();
    }
    end_of_stream(&mut turn, ending, TurnEnd::Passed, &mut voice);
}

/// Notes what the event tells of the end. True where it only counts tokens.
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
