//! Streams without anything to repair, for a client of another API than the upstream's: words go on as they come.

use std::sync::Arc;

use super::events::{Came, Events, Json, end_of_stream};
use super::pulse::Pulse;
use super::voice::Voice;
use crate::record::TurnEnd;
use crate::reply::BodySender;
use crate::sse;
use crate::tokens::Usage;
use crate::turn::{AnswerSource, OpenAnswer, Turn};
use crate::wire::{Document, More, Surrogates, deltas, is_error, usage};

/// Says an upstream's stream, without calls that nobody may make. If it fails before its first word, the upstream is asked again.
pub(super) async fn tell(
    mut turn: Box<Turn>,
    mut open_answer: OpenAnswer,
    to: BodySender,
    mut voice: Box<dyn Voice>,
) {
    let voice = &mut *voice;
    let mut pulse = Pulse::new(to.clone());
    loop {
        let OpenAnswer { source, target, shown } = open_answer;
        let longest = turn.relay.config.limits.event;
        let upstream = match source {
            AnswerSource::Upstream(answer) => {
                Events::new(answer.body, Arc::clone(target.candidate.upstream.secrets()), longest)
            }
            AnswerSource::Recovered(document) => Events::of_whole(&document, longest),
        };
        let told = Told::read(upstream, voice, (&to, &mut pulse)).await;
        if !told.has_spoken && !told.upstream.ending.is_finished {
            let failure = told.failure.as_ref().map(|(_, failure)| failure);
            let past = turn.past_failure(&target, failure, &shown);
            if let Some(again) = pulse.during(Some(0), voice, past).await
                && let Some(again) = again.streamed(&turn.relay).await
            {
                open_answer = again;
                continue;
            }
        }
        return told.end(&mut turn, voice);
    }
}

/// An upstream's streamed answer.
struct Told {
    upstream: Events,
    surrogates: Surrogates,
    spent: Usage,
    reason: Option<String>,
    /// The client has words of it.
    has_spoken: bool,
    /// The upstream's error, if the client has yet to read it.
    failure: Option<(sse::Event, Document)>,
}

impl Told {
    /// Reads to the end, and says each event.
    async fn read(upstream: Events, voice: &mut dyn Voice, (to, pulse): (&BodySender, &mut Pulse)) -> Told {
        let mut told = Told {
            upstream,
            surrogates: Surrogates::default(),
            spent: Usage::default(),
            reason: None,
            has_spoken: false,
            failure: None,
        };
        while let Some(Came { event, json }) = pulse.during(Some(0), voice, told.upstream.next()).await {
            let document = match json {
                Json::None => continue,
                Json::Is(document) => document,
                Json::Broken(why) => {
                    told.upstream.ending.cut_by(&why);
                    break;
                }
            };
            let chunk = document.root();
            if is_error(chunk) {
                told.upstream.ending.is_error = true;
                if told.has_spoken {
                    voice.upstream_error(&event, chunk);
                    continue;
                }
                told.failure = Some((event, document));
                break;
            }
            told.spent = usage(chunk).unwrap_or(told.spent);
            for mut delta in deltas(chunk).filter(|delta| delta.index == 0) {
                told.surrogates.repair(&mut delta);
                if delta.more != More::Nothing {
                    voice.beside(&delta, false);
                }
                let text = delta.text.as_deref().unwrap_or_default();
                told.has_spoken |= !text.is_empty() || delta.more == More::Else;
                voice.text(0, text);
                if let Some(came) = &delta.finish_reason {
                    told.upstream.ending.is_finished = true;
                    told.reason = Some(came.clone().into_owned());
                    voice.stopped(&delta, chunk);
                }
            }
            voice.flush();
            to.room().await;
        }
        told
    }

    /// Says the end.
    fn end(mut self, turn: &mut Turn, voice: &mut dyn Voice) {
        if let Some((event, failure)) = &self.failure {
            voice.upstream_error(event, failure.root());
        }
        voice.text(0, &self.surrogates.last_of_text().unwrap_or_default());
        turn.log.read(self.spent, std::iter::empty());
        voice.finish(0, self.reason.as_deref(), None);
        voice.usage(turn.log.usage(), turn.log.attempts());
        end_of_stream(turn, &self.upstream.ending, TurnEnd::Passed, voice);
    }
}
