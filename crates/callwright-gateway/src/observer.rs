//! Told of each request that has ended, tells metrics, logs and traces.

use std::sync::Arc;

use callwright_relay::{Observer, TurnRecord};

use crate::logs;
use crate::metrics::Metrics;
use crate::traces::Spans;

/// Observers who wants to know.
pub(crate) struct Observers {
    pub(crate) metrics: Arc<Metrics>,
    /// None where no traces are wanted.
    pub(crate) spans: Option<Spans>,
}

impl Observer for Observers {
    fn ended(&self, turn: &TurnRecord) {
        self.metrics.ended(turn);
        logs::ended(turn);
        if let Some(spans) = &self.spans {
            spans.ended(turn);
        }
    }
}
