//! Signs of life for a client while something is held: proxies and agents cut an answer that is silent, and pay for it twice.
//!
//! A comment keeps sockets and proxies open. Agents count events, so an event that adds nothing comes as well. Neither is sent
//! while the answer flows, or while the upstream is silent and nothing of it is held.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout_at};

use super::voice::Voice;
use crate::reply::BodySender;

/// Seconds of silence before a comment: the shortest idle limit that is known of a gateway is ten.
const COMMENT: u32 = 10;
/// Seconds of silence before an event: the shortest limit that is known of an agent is twenty.
const EVENT: u32 = 15;

/// Watches how long the client has heard nothing.
pub(super) struct Pulse {
    to: BodySender,
    /// Ticks each second: bytes written between two ticks show by their number, without a clock for each event.
    tick: Interval,
    /// The number of bytes written at the last tick.
    seen: u64,
    /// Seconds since then.
    silent: u32,
}

impl Pulse {
    pub(super) fn new(to: BodySender) -> Pulse {
        let second = Duration::from_secs(1);
        let mut tick = interval_at(Instant::now() + second, second);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Pulse { to, tick, seen: 0, silent: 0 }
    }

    /// Waits for `work`. While something of a choice is `held`, the client gets signs of life by `voice`.
    pub(super) async fn during<T>(
        &mut self,
        held: Option<usize>,
        voice: &mut dyn Voice,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                _ = self.tick.tick() => self.beat(held, voice),
                done = &mut work => return done,
            }
        }
    }

    /// As [`Pulse::during`], but at most to `until`; none if `work` was not done by then. It is dropped, and must lose nothing by
    /// that.
    pub(super) async fn until<T>(
        &mut self,
        until: Option<Instant>,
        held: Option<usize>,
        voice: &mut dyn Voice,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        match until {
            Some(until) => self.during(held, voice, timeout_at(until, work)).await.ok(),
            None => Some(self.during(held, voice, work).await),
        }
    }

    fn beat(&mut self, held: Option<usize>, voice: &mut dyn Voice) {
        let written = self.to.written();
        let Some(held) = held.filter(|_| written == self.seen) else {
            (self.seen, self.silent) = (written, 0);
            return;
        };
        self.silent += 1;
        if self.silent.is_multiple_of(COMMENT) {
            voice.comment();
            voice.flush();
        }
        if self.silent.is_multiple_of(EVENT) {
            voice.beat(held);
            voice.flush();
        }
        self.seen = self.to.written();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::HeaderMap;

    use super::*;
    use crate::api::Surface;
    use crate::deliver::voice::{ChatVoice, GeminiParts, ResponseItems, Serial};
    use crate::owner::Owner;
    use crate::surface::gemini::Wanted;
    use crate::surface::{Beside, Door, GeminiForm, Translated};
    use crate::wire::{Document, Template, count_of};

    const COMMENT: &str = ": callwright\n\n";

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_what_is_held_hears_of_it() {
        let to = BodySender::default();
        let mut voice = ChatVoice::bare(to.clone());
        let mut pulse = Pulse::new(to.clone());
        pulse.during(Some(0), &mut voice, tokio::time::sleep(Duration::from_millis(31_500))).await;
        let mut event = String::new();
        Template::own("c1", "m", 1).delta(0, "{}", &mut event);
        let heard = String::from_utf8(to.take().to_vec()).unwrap();
        assert_eq!(heard, format!("{COMMENT}{event}{COMMENT}{COMMENT}{event}"));
    }

    /// Gemini's clients take a comment for a broken answer.
    #[tokio::test(start_paused = true)]
    async fn who_waits_for_gemini_hears_of_it_without_comments() {
        let to = BodySender::default();
        let wanted = Wanted { model: String::from("m"), form: GeminiForm::Events, thoughts: false };
        let mut voice = Serial::new(GeminiParts::new(wanted), to.clone());
        let mut pulse = Pulse::new(to.clone());
        pulse.during(Some(0), &mut voice, tokio::time::sleep(Duration::from_millis(31_500))).await;
        let heard = String::from_utf8(to.take().to_vec()).unwrap();
        let events: Vec<&str> = heard.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(events.len(), 2, "{heard}");
        assert!(
            events.iter().all(|event| event.starts_with("data: {\"candidates\":[{\"content\":")),
            "{heard}"
        );
        assert!(heard.starts_with("\n\n"), "{heard}");
    }

    /// Responses have an event of their own for it, with a number as all have: 40 seconds bring two of them.
    #[tokio::test(start_paused = true)]
    async fn who_waits_for_a_response_hears_of_it_by_events_that_are_numbered() {
        let to = BodySender::default();
        let asked = Document::of(r#"{"model": "m", "input": "Hi."}"#).unwrap();
        let kept = Arc::default();
        let beside = Beside { headers: &HeaderMap::new(), owner: &Owner::default(), gemini: None };
        let translated = Translated::of(Surface::Responses, asked, beside, &kept).unwrap();
        let Door::Responses(wanted) = translated.door else { panic!("another door") };
        let mut voice = Serial::new(ResponseItems::new(*wanted, true), to.clone());
        let mut pulse = Pulse::new(to.clone());
        pulse.during(Some(0), &mut voice, tokio::time::sleep(Duration::from_secs(40))).await;
        voice.text(0, "Hello.");
        voice.close();
        voice.flush();
        let heard = String::from_utf8(to.take().to_vec()).unwrap();
        let events: Vec<&str> = heard.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
        assert_eq!(
            events[..5],
            [
                "response.created",
                "response.in_progress",
                "keepalive",
                "keepalive",
                "response.output_item.added"
            ]
        );
        let data =
            heard.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
        for (number, data) in (0..).zip(data) {
            let event = Document::of(data.to_owned()).unwrap();
            assert_eq!(count_of(event.root(), "sequence_number"), Some(number), "{data}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_flows_or_is_not_held_has_no_pulse() {
        let to = BodySender::default();
        let mut voice = ChatVoice::bare(to.clone());
        let mut pulse = Pulse::new(to.clone());
        pulse.during(None, &mut voice, tokio::time::sleep(Duration::from_secs(60))).await;
        let flow = async {
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_secs(9)).await;
                to.write(b".");
            }
        };
        pulse.during(Some(0), &mut voice, flow).await;
        assert_eq!(&to.take()[..], b"..........");
    }
}
