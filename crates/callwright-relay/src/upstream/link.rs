//! The upstream of an answer that is under way: its name and its load.

use std::sync::Arc;
use std::time::Instant;

use super::error::{Failure, UpstreamError};
use super::load::Load;

/// The parts of its upstream that an answer under way still needs.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) name: Arc<str>,
    pub(super) load: Arc<Load>,
    pub(super) epoch: Instant,
}

impl Link {
    pub(super) fn error(&self, failure: Failure) -> UpstreamError {
        UpstreamError { upstream: Arc::clone(&self.name), failure }
    }

    pub(super) fn record(&self, has_failed: bool) {
        self.load.record(self.now(), has_failed);
    }

    /// Returns milliseconds since the start; they go round after 49 days, which [`Load`] bears.
    pub(super) fn now(&self) -> u32 {
        self.epoch.elapsed().as_millis() as u32
    }
}
