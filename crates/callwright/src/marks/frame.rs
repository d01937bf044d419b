//! The marks in front of a payload with a reader of its own, whole or with slips.

use super::edit::{ends_within, most_edits};
use super::{front_of, is_name_in};
use crate::grammar::fold::{Folded, is_foreign};
use crate::grammar::{Frame, Payload, folded, marks};
use crate::tools::ToolSet;

/// Marks in front of a payload, whole or broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Front {
    /// The number of wrong letters.
    pub(crate) edits: usize,
    /// The proper spelling of the marks.
    pub(crate) whole: String,
    /// The number of the tool that the marks name.
    pub(crate) tool: Option<usize>,
}

/// Returns the marks of `frame` at the start of a text in front of a payload, each behind its end in bytes. Only blanks
/// may stand between them and the payload. They are in their proper spelling, with each tool's name.
pub(crate) fn fronts(written: &str, frame: &Frame, tool_set: &ToolSet) -> Vec<(usize, Front)> {
    let (names, text) = front_of(written, frame.longest(), tool_set);
    let name_starts = |at: usize| names.iter().any(|name| folded(name).first() == text.folded.get(at));
    let begins_payload = |at: usize| {
        let at = text.behind_blanks(at);
        matches!(text.letters.get(at), Some('{' | '[')) || frame.payload == Payload::Call && name_starts(at)
    };
    let mut fronts = Vec::new();
    for (n, whole) in frame.openers(&names).enumerate() {
        // Each beginning comes with all names, one after the other.
        let tool = frame.between.is_some().then(|| n % names.len());
        let mark = folded(&whole);
        // A comment in front of a call comments it out.
        let is_comment = |letter: char| letter == '#' && frame.payload == Payload::Call;
        let is_other = |letter: &char| is_foreign(*letter, &mark) || is_comment(*letter);
        let holds_foreign = |end: usize| text.folded.iter().take(end).any(is_other);
        let ends = spelt_ends(&whole, &text, 0).into_iter();
        let ends = ends.filter(|(end, _)| begins_payload(*end) && !holds_foreign(*end));
        let least = ends.min_by_key(|(_, edits)| *edits).map(|(end, edits)| (text.byte(end), edits));
        let is_named = |end: usize| {
            tool.is_none_or(|tool| is_name_in(&written[..end], names[tool], names.iter().copied()))
        };
        let least = least.filter(|(end, _)| is_named(*end));
        fronts.extend(least.map(|(end, edits)| (end, Front { edits, whole, tool })));
    }
    fronts
}

/// Returns the ends up to which the text from `from` on is a few edits from `whole`, each with its number of edits.
/// Blanks may stand between its marks.
pub(super) fn spelt_ends(whole: &str, text: &Folded, from: usize) -> Vec<(usize, usize)> {
    let most = most_edits(whole.chars().count());
    let mut ends = vec![(from, 0)];
    for mark in marks(whole) {
        let mark = folded(mark);
        // Ends by their places, each with the fewest edits.
        let mut next: Vec<(usize, usize)> = Vec::new();
        for (at, spent) in ends {
            let at = if at == from { from } else { text.behind_blanks(at) };
            let found = ends_within(&mark, text.folded.get(at..).unwrap_or(&[]), most - spent);
            for (end, edits) in found.map(|(end, edits)| (at + end, spent + edits)) {
                match next.binary_search_by_key(&end, |(end, _)| *end) {
                    Ok(known) => next[known].1 = next[known].1.min(edits),
                    Err(place) => next.insert(place, (end, edits)),
                }
            }
        }
        ends = next;
    }
    ends
}
