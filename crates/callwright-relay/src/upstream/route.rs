//! The upstreams that are asked for a model, best first.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callwright::{CallsInReasoning, Dialects};

use super::client::Upstream;
use crate::api::UpstreamKind;
use crate::config::{ModelConfig, NativeStrict, Routing};

/// The upstreams to ask for a model, in this order.
#[derive(Clone, Debug, Default)]
pub struct Route {
    /// The configuration of the model.
    pub config: Option<Arc<ModelConfig>>,
    /// The candidates, best first. It is empty if no upstream serves the model.
    pub candidates: Vec<Candidate>,
}

/// A model at an upstream.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The upstream.
    pub upstream: Arc<Upstream>,
    /// The API that it is asked in.
    pub kind: UpstreamKind,
    /// The model's name there.
    pub model: String,
    /// The configuration of the model that the client named.
    pub config: Option<Arc<ModelConfig>>,
    /// The dialects that its answers are read in.
    pub dialects: Dialects,
}

impl Route {
    /// Returns the candidates that are asked in this API.
    pub(crate) fn of_kind(self, kind: UpstreamKind) -> Vec<Candidate> {
        self.candidates.into_iter().filter(|candidate| candidate.kind == kind).collect()
    }
}

impl Candidate {
    /// Returns whether it is another model than `other`, or the same one elsewhere.
    pub(crate) fn differs_from(&self, other: &Candidate) -> bool {
        self.upstream.name() != other.upstream.name() || self.model != other.model
    }

    /// Returns whether its texts are searched for calls, even if it speaks the client's own API. The model's setting counts
    /// before the upstream's.
    pub(crate) fn heals_text(&self) -> bool {
        let set = self.config.as_ref().and_then(|config| config.heal_text);
        set.or(self.upstream.config().heal_text).unwrap_or(true)
    }

    /// Returns whether it is asked to hold native calls to their schemas. The model's setting counts before the upstream's.
    pub(crate) fn native_strict(&self) -> NativeStrict {
        let set = self.config.as_ref().and_then(|config| config.native_strict);
        set.or(self.upstream.config().native_strict).unwrap_or_default()
    }

    /// Returns the treatment of calls in the model's reasoning. The model's setting counts before the upstream's.
    pub(crate) fn calls_in_reasoning(&self) -> CallsInReasoning {
        let set = self.config.as_ref().and_then(|config| config.calls_in_reasoning);
        set.or(self.upstream.config().calls_in_reasoning).unwrap_or_default()
    }
}

/// Puts `upstreams` in the order in which to ask them. `turn` goes on with each use: equals take turns.
pub(super) fn order(upstreams: &mut [Arc<Upstream>], routing: Routing, turn: &AtomicUsize) {
    if upstreams.len() < 2 {
        return;
    }
    match routing {
        // A stable sort: the failing ones come last, otherwise the order is as configured.
        Routing::Ordered | Routing::Right => upstreams.sort_by_cached_key(|upstream| upstream.is_failing()),
        Routing::LeastBusy => {
            let turn = turn.fetch_add(1, Ordering::Relaxed) % upstreams.len();
            upstreams.rotate_left(turn);
            upstreams.sort_by_cached_key(|upstream| {
                (upstream.is_failing(), cost(upstream.open_requests(), upstream.error_rate()))
            });
        }
    }
}

/// Returns the cost of one more request with `open` ones under way, in thousandths. A failed request has to be made again, so
/// that an upstream that fails at once does not look idle.
fn cost(open: usize, error_rate: f32) -> u64 {
    let success = (1.0 - error_rate).max(0.01);
    ((open + 1) as f32 * 1000.0 / success) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_upstream_costs_more_than_a_busy_one() {
        assert!(cost(0, 0.0) < cost(1, 0.0));
        assert!(cost(1, 0.0) < cost(0, 0.6));
        assert!(cost(0, 1.0) < u64::MAX);
    }
}
