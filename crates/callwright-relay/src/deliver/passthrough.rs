//! Streams in which nothing may need repair: they go on as they come, without the upstream's secrets.

use std::sync::Arc;

use callwright_json::{quote, strict};

use super::events::{Ending, Events, end_of_stream, is_error};
use super::voice::ChatVoice;
use crate::record::{TurnEnd, Usage};
use crate::redact::{self, Redactor};
use crate::reply::BodySender;
use crate::sse::{self, Decoder};
use crate::turn::{AnswerSource, OpenAnswer, Turn};
use crate::upstream::{ResponseBody, Secrets};
use crate::wire::{Change, array, deltas, rewritten, usage};

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

/// Passes the stream of an upstream that knows a secret: looks into each event, and passes it as it is if it holds none.
async fn pass_redacted(mut turn: Box<Turn>, body: ResponseBody, secrets: Arc<Secrets>, to: BodySender) {
    let mut events = Events::new(body, Arc::clone(&secrets), turn.relay.config.limits.event);
    let mut choices: Vec<(usize, Redactor)> = Vec::new();
    let mut spent = Usage::default();
    let mut ending = Ending::default();
    while let Some(event) = events.next().await {
        if note_end(&event, &mut ending, &mut spent) && !turn.ask.include_usage {
            continue;
        }
        match redacted(&secrets, &event, &mut choices) {
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
    end(turn, &ending, to);
}

fn end(mut turn: Box<Turn>, ending: &Ending, to: BodySender) {
    let mut voice = ChatVoice::new(&turn, to);
    if ending.is_done {
        voice.has_closed();
    }
    end_of_stream(&mut turn, ending, TurnEnd::Passed, &mut voice);
}

/// The event without what is of a secret that is spread over several; none where it may go on as it is.
fn redacted(secrets: &Secrets, event: &sse::Event, choices: &mut Vec<(usize, Redactor)>) -> Option<String> {
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
