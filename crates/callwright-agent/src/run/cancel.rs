//! Cancels a run on Ctrl-C: the first lets the turn be written down, the second stops at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// A switch that cancels a run from outside. Clones are the same switch.
///
/// ```
/// let cancel = callwright_agent::run::Cancel::default();
/// let seen = cancel.clone();
/// cancel.press();
/// assert!(seen.is_pressed());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Mutex<Tokens>>);

/// The tokens that end work: one for the run's own part, one for everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens {
    pub(crate) once: CancellationToken,
    pub(crate) twice: CancellationToken,
}

impl Cancel {
    /// Cancels the run: tools are told to end, their results are written down, and the run ends. A second press drops
    /// everything at once, and the results of running calls stay unknown.
    pub fn press(&self) {
        let tokens = self.lock();
        if tokens.once.is_cancelled() { tokens.twice.cancel() } else { tokens.once.cancel() }
    }

    /// Returns whether the switch was pressed since the run began.
    pub fn is_pressed(&self) -> bool {
        self.lock().once.is_cancelled()
    }

    /// Returns the tokens of a new run, and forgets earlier presses.
    pub(crate) fn renewed(&self) -> Tokens {
        let mut tokens = self.lock();
        if tokens.once.is_cancelled() {
            *tokens = Tokens::default();
        }
        tokens.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Tokens> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
