//! Marks that end a thought or begin a turn.

use crate::dialect::{ANY_CLOSER, FIELD, REASONING, RESULTS, TURN_MARKS, TURNS};
use crate::syntax::marks::{first_of, fit, fit_any};
use crate::syntax::{Incomplete, Seen};

/// The end of a thought in a channel that lost its tokens.
pub(super) const BARE_FINAL: &str = "assistantfinal";

/// Returns the length of the mark at the beginning of `bytes` that ends the reasoning that `close` closes. A message in
/// a channel also ends where the next message begins, which does not belong to its closer.
pub(in crate::scan) fn thought_ends(bytes: &[u8], close: &str) -> Seen<usize> {
    let next: &[&str] = match close {
        "<|end|>" | "<|eom|>" => &["<|start|>assistant", "<|channel|>"],
        BARE_FINAL => &["assistantcommentary"],
        _ => &[],
    };
    let own = match close {
        FIELD => Ok(None),
        ANY_CLOSER => fit_any(bytes, REASONING.iter().map(|(_, close)| *close)),
        _ => fit(bytes, close),
    };
    let next = fit_any(bytes, next.iter().copied()).map(|next| next.map(|_| 0));
    first_of([own, next].into_iter())
}

/// Returns whether a turn that is not the model's own, or a result that it cannot know, begins at `at`.
pub(in crate::scan) fn turn(text: &str, at: usize) -> Result<bool, Incomplete> {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    let mark = fit_any(rest, TURN_MARKS.iter().copied());
    if let Ok(Some(len)) = mark {
        return rest.get(len).map(u8::is_ascii_alphabetic).ok_or(Incomplete);
    }
    let results = RESULTS.iter().map(|(open, _)| *open);
    let other = fit_any(rest, TURNS.iter().copied().chain(results));
    first_of([mark, other].into_iter()).map(|mark| mark.is_some())
}
