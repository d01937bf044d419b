//! Ctrl-C: once lets the turn be written down, twice stops at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Cancels a run from outside. Clones are the same switch.
///
/// ```
/// let cancel = callwright_agent::run::Cancel::default();
/// let seen = cancel.clone();
/// cancel.press();
/// assert!(seen.is_pressed());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Mutex<Tokens>>);

/// What ends work: the run's own part of it, then everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens {
    pub(crate) once: CancellationToken,
    pub(crate) twice: CancellationToken,
}

impl Cancel {
    /// The user has had enough: tools are told to end, what they came to is written down, and the run ends. Pressed once
    /// more: everything is dropped at once, and what running calls came to is not known.
    pub fn press(&self) {
        let tokens = self.lock();
        if tokens.once.is_cancelled() { tokens.twice.cancel() } else { tokens.once.cancel() }
    }

    /// Has it been pressed since the run began?
    pub fn is_pressed(&self) -> bool {
        self.lock().once.is_cancelled()
    }

    /// The tokens of a run that begins now: what was pressed before is forgotten.
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
