//! Told of each request that has ended, tells metrics, logs, traces and the store.

use std::sync::Arc;

use callwright_relay::{Observer, TurnRecord};
use callwright_store::Store;

use crate::logs;
use crate::metrics::Metrics;
use crate::recording::Recorded;
use crate::traces::Spans;

/// Who hears of each request.
pub(crate) struct Observers {
    pub(crate) metrics: Arc<Metrics>,
    /// None where no traces are wanted.
    pub(crate) spans: Option<Spans>,
    /// None where nothing is kept.
    pub(crate) store: Option<Store>,
}

impl Observer for Observers {
    fn ended(&self, turn: TurnRecord) {
        self.metrics.ended(&turn);
        logs::ended(&turn);
        if let Some(spans) = &self.spans {
            spans.ended(&turn);
        }
        if let Some(store) = &self.store {
            store.record(Box::new(Recorded(turn)));
        }
    }
}
