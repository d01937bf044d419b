//! Streams in which nothing may need repair, for a client of another API than the upstream's: what is said goes on as it
//! comes.

use std::sync::Arc;

use super::events::{Came, Events, Json, end_of_stream, is_error};
use super::pulse::Pulse;
use super::voice::Voice;
use crate::record::{TurnEnd, Usage};
use crate::reply::BodySender;
use crate::turn::{AnswerSource, OpenAnswer, Turn};
use crate::wire::{Surrogates, deltas, usage};

/// Says what an upstream streams. Calls that nobody may make are none of it.
pub(super) async fn tell(
    mut turn: Box<Turn>,
    open_answer: OpenAnswer,
    to: BodySender,
    mut voice: Box<dyn Voice>,
) {
    let voice = &mut *voice;
    let AnswerSource::Upstream(answer) = open_answer.source else { return };
    let secrets = Arc::clone(open_answer.target.candidate.upstream.secrets());
    let mut pulse = Pulse::new(to.clone());
    let mut upstream = Events::new(answer.body, secrets, turn.relay.config.limits.event);
    let mut surrogates = Surrogates::default();
    let (mut spent, mut reason) = (Usage::default(), None);
    while let Some(Came { event, json }) = pulse.during(Some(0), voice, upstream.next()).await {
        let document = match json {
            Json::None => continue,
            Json::Is(document) => document,
            Json::Broken(why) => {
                upstream.ending.cut_by(&why);
                break;
            }
        };
        let chunk = document.root();
        if is_error(chunk) {
            upstream.ending.is_error = true;
            voice.upstream_error(&event, chunk);
            continue;
        }
        spent = usage(chunk).unwrap_or(spent);
        for mut delta in deltas(chunk).filter(|delta| delta.index == 0) {
            surrogates.repair(&mut delta);
            if delta.has_more {
                voice.beside(&delta, false);
            }
            voice.text(0, delta.text.as_deref().unwrap_or_default());
            if let Some(came) = &delta.finish_reason {
                upstream.ending.is_finished = true;
                reason = Some(came.clone().into_owned());
                voice.stopped(&delta, chunk);
            }
        }
        voice.flush();
        to.room().await;
    }
    voice.text(0, &surrogates.last_of_text().unwrap_or_default());
    turn.log.read(spent, std::iter::empty());
    voice.finish(0, reason.as_deref(), None);
    voice.usage(spent, 1);
    end_of_stream(&mut turn, &upstream.ending, TurnEnd::Passed, voice);
}
