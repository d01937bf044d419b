//! The phases of the server's end: workers, open answers and `/readyz` go by them.

use tokio::sync::watch;

/// A step towards the end. The steps only ever move on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Not at all.
    Serving,
    /// `/readyz` says that it is near.
    Noticed,
    /// No connection is taken any more; open answers are finished.
    Draining,
    /// Everything is closed.
    Closing,
}

/// Waits until `least` is reached, or its sender is gone.
pub(crate) async fn reached(phase: &mut watch::Receiver<Phase>, least: Phase) {
    // The phase cannot be told once its sender is gone, which is the end as well.
    let _ = phase.wait_for(|phase| least <= *phase).await;
}
