//! The present state of an upstream: its open requests, and its failures of late. It uses atomics only: each request writes here.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The milliseconds without news after which the failures count half.
const HALF_LIFE_MS: f32 = 30_000.0;
/// The weight of the newest request: two failures in a row make an upstream a failing one.
const NEWEST: f32 = 0.3;
/// The rate from which on an upstream is asked last.
const FAILING: f32 = 0.5;

/// The load of one upstream.
#[derive(Debug, Default)]
pub(super) struct Load {
    open: AtomicUsize,
    /// INVARIANT: the upper half is a time in milliseconds, the lower half an `f32` in 0..=1: the rate then.
    failures: AtomicU64,
}

impl Load {
    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Returns the part of the requests that failed of late, in 0..=1. `now` is in milliseconds since any fixed time.
    pub(super) fn error_rate(&self, now: u32) -> f32 {
        decayed(self.failures.load(Ordering::Relaxed), now)
    }

    pub(super) fn is_failing(&self, now: u32) -> bool {
        FAILING < self.error_rate(now)
    }

    /// Notes a request that failed, or went well.
    pub(super) fn record(&self, now: u32, has_failed: bool) {
        let was = self.failures.load(Ordering::Relaxed);
        if was as u32 == 0 && !has_failed {
            return; // It never failed: the common case costs one read.
        }
        let newest = if has_failed { 1.0 } else { 0.0 };
        let update = |was| {
            let rate = decayed(was, now);
            let rate = rate + (newest - rate) * NEWEST;
            Some(u64::from(now) << 32 | u64::from(rate.to_bits()))
        };
        // The closure always gives a value, so this cannot fail.
        let _ = self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update);
    }
}

fn decayed(failures: u64, now: u32) -> f32 {
    let (at, rate) = ((failures >> 32) as u32, f32::from_bits(failures as u32));
    if rate == 0.0 {
        return 0.0;
    }
    // Threads may be a moment apart: a time that lies ahead is now. After 49 days the clock goes round, and
    // the distance is still right.
    let age = now.wrapping_sub(at);
    let age = if age < u32::MAX / 2 { age } else { 0 };
    rate * (-(age as f32) / HALF_LIFE_MS).exp2()
}

/// One open request; dropping it closes it.
#[derive(Debug)]
pub(super) struct OpenRequest(Arc<Load>);

impl OpenRequest {
    pub(super) fn new(load: &Arc<Load>) -> OpenRequest {
        load.open.fetch_add(1, Ordering::Relaxed);
        OpenRequest(Arc::clone(load))
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_failures_in_a_row_make_it_a_failing_one_and_time_forgives() {
        let load = Load::default();
        load.record(0, false);
        assert_eq!(load.error_rate(0), 0.0);
        load.record(10, true);
        assert!(!load.is_failing(10));
        load.record(20, true);
        assert!(load.is_failing(20));
        assert!(!load.is_failing(20 + 30_000));
        assert!(load.error_rate(20 + 300_000) < 0.001);
    }

    #[test]
    fn success_lowers_the_rate() {
        let load = Load::default();
        for _ in 0..10 {
            load.record(5, true);
        }
        let rate = load.error_rate(5);
        load.record(5, false);
        assert!(load.error_rate(5) < rate);
    }

    #[test]
    fn a_time_that_lies_ahead_is_now() {
        let load = Load::default();
        load.record(1_000, true);
        assert_eq!(load.error_rate(900), load.error_rate(1_000));
    }
}
