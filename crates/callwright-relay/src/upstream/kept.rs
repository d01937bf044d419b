//! The beginning of a body, kept as it came.

use std::sync::{Arc, Mutex, PoisonError};

/// The beginning of a body as it came. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Kept(Option<Arc<Mutex<Beginning>>>);

#[derive(Debug)]
struct Beginning {
    bytes: Vec<u8>,
    most: usize,
    /// The number of bytes that came in all.
    came: usize,
}

impl Kept {
    /// Keeps at most this many bytes.
    pub(crate) fn of(most: usize) -> Kept {
        let begun = || Arc::new(Mutex::new(Beginning { bytes: Vec::new(), most, came: 0 }));
        Kept((0 < most).then(begun))
    }

    pub(super) fn push(&self, piece: &[u8]) {
        let Some(kept) = &self.0 else { return };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let room = kept.most.saturating_sub(kept.bytes.len()).min(piece.len());
        kept.bytes.extend_from_slice(&piece[..room]);
        kept.came += piece.len();
    }

    /// Returns the kept bytes, and the number that came in all; none if nothing is to be kept.
    pub fn bytes(&self) -> Option<(Vec<u8>, usize)> {
        let kept = self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some((kept.bytes.clone(), kept.came))
    }

    /// Returns the number of kept bytes.
    pub fn len(&self) -> usize {
        let kept = self.0.as_ref().map(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner));
        kept.map_or(0, |kept| kept.bytes.len())
    }

    /// Returns whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
