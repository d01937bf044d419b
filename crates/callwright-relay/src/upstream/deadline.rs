//! The times that an answer may take, watched with one timer for each request.
//!
//! The timer is not set anew for each piece of a stream. When it fires, the instant of the last piece says whether time is up, or
//! until when to sleep on. A stream of a thousand pieces costs a thousand readings of the clock and only a few settings of the
//! timer.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use super::error::Which;
use crate::config::Timeouts;

/// The end of the patience with an answer.
#[derive(Debug)]
pub(super) struct Deadline {
    /// INVARIANT: fires no later than `due`.
    timer: Pin<Box<Sleep>>,
    first_byte: Duration,
    idle: Duration,
    end: Instant,
    /// The last sign of life: the sending of the request, then each piece of the answer.
    last: Instant,
    has_begun: bool,
}

impl Deadline {
    pub(super) fn new(timeouts: &Timeouts) -> Deadline {
        let now = Instant::now();
        let first_byte = Timeouts::duration(timeouts.first_byte);
        let idle = Timeouts::duration(timeouts.idle);
        let total = Timeouts::duration(timeouts.total);
        // The shortest of all: each later state is due no sooner than that after its beginning.
        let timer = Box::pin(tokio::time::sleep(first_byte.min(idle).min(total)));
        Deadline { timer, first_byte, idle, end: now + total, last: now, has_begun: false }
    }

    /// Notes that the request is sent again: the wait for its first byte begins anew, the total goes on.
    pub(super) fn sent_again(&mut self) {
        self.has_begun = false;
        self.last = Instant::now();
    }

    /// Notes that a piece of the answer has come.
    pub(super) fn heard(&mut self) {
        self.has_begun = true;
        self.last = Instant::now();
    }

    /// Returns whether less than `pause` is left of the total.
    pub(super) fn ends_within(&self, pause: Duration) -> bool {
        self.end <= Instant::now() + pause
    }

    /// Is ready when time is up, and says which time.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Which> {
        loop {
            ready!(self.timer.as_mut().poll(cx));
            let (due, which) = self.due();
            if due <= Instant::now() {
                return Poll::Ready(which);
            }
            self.timer.as_mut().reset(due);
        }
    }

    fn due(&self) -> (Instant, Which) {
        let (wait, which) =
            if self.has_begun { (self.idle, Which::Idle) } else { (self.first_byte, Which::FirstByte) };
        let due = self.last + wait;
        if due < self.end { (due, which) } else { (self.end, Which::Total) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits for the deadline after a sign of life at each of these seconds; returns the second and the time that ran out.
    async fn fires(timeouts: Timeouts, heard_at: &[u64]) -> (u64, Which) {
        let start = Instant::now();
        let mut deadline = Deadline::new(&timeouts);
        for second in heard_at {
            let next = start + Duration::from_secs(*second);
            let is_up = tokio::time::timeout_at(next, std::future::poll_fn(|cx| deadline.poll(cx))).await;
            if let Ok(which) = is_up {
                return ((Instant::now() - start).as_secs(), which);
            }
            deadline.heard();
        }
        let which = std::future::poll_fn(|cx| deadline.poll(cx)).await;
        ((Instant::now() - start).as_secs(), which)
    }

    #[tokio::test(start_paused = true)]
    async fn each_time_counts_from_the_last_sign_of_life() {
        let timeouts = Timeouts { first_byte: 30.0, idle: 10.0, total: 60.0, ..Timeouts::default() };
        for (heard_at, expected) in [
            (&[][..], (30, Which::FirstByte)),
            (&[25], (35, Which::Idle)),
            (&[5, 12, 20], (30, Which::Idle)),
            (&[5, 16], (15, Which::Idle)),
            (&[29, 38, 47, 55], (60, Which::Total)),
        ] {
            assert_eq!(fires(timeouts, heard_at).await, expected, "{heard_at:?}");
        }
        let short = Timeouts { total: 3.0, ..timeouts };
        assert_eq!(fires(short, &[]).await, (3, Which::Total));
    }

    #[tokio::test(start_paused = true)]
    async fn sent_again_the_first_byte_has_its_time_anew_and_the_total_has_not() {
        let timeouts = Timeouts { first_byte: 30.0, idle: 10.0, total: 50.0, ..Timeouts::default() };
        let start = Instant::now();
        let mut deadline = Deadline::new(&timeouts);
        tokio::time::advance(Duration::from_secs(29)).await;
        deadline.sent_again();
        assert!(!deadline.ends_within(Duration::from_secs(20)));
        assert!(deadline.ends_within(Duration::from_secs(21)));
        let which = std::future::poll_fn(|cx| deadline.poll(cx)).await;
        assert_eq!(((Instant::now() - start).as_secs(), which), (50, Which::Total));
    }
}
