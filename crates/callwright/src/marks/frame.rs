//! The marks in front of a payload with a reader of its own, whole or with slips.

use callwright_json::{Fuel, Span};

use super::edit::{ends_within, most_edits};
use super::{front_of, is_name_in};
use crate::dialect::Record;
use crate::grammar::fold::{Folded, is_foreign};
use crate::grammar::{Frame, Payload, folded, marks};
use crate::tools::{Tool, ToolSet};

/// Fuel for finding the marks in front of one tool's payload.
const FRAME_FUEL: usize = 256;

/// Marks in front of a payload, whole or broken.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    /// The place of the marks.
    pub(crate) at: Span,
    /// The proper spelling of the marks.
    pub(crate) whole: String,
    /// The number of wrong letters.
    pub(crate) edits: usize,
    /// The name of the tool in the marks, if they name one.
    pub(crate) name: Option<String>,
}

/// Returns the marks of `record` in front of a payload at the start of `text`, which stands at `from` of the answer. Only
/// blanks may stand between them and the payload. They are in their proper spelling, with each tool's name.
pub(crate) fn fronts(
    (text, from): (&str, usize),
    record: &Record,
    tool_set: &ToolSet,
    fuel: &Fuel,
) -> Vec<Front> {
    let names: Vec<&str> = tool_set.iter().map(Tool::name).collect();
    fuel.spend(FRAME_FUEL * record.frames().len() * (1 + names.len()));
    record.frames().iter().flat_map(|frame| fronts_of((text, from), frame, &names)).collect()
}

fn fronts_of((written, from): (&str, usize), frame: &Frame, names: &[&str]) -> Vec<Front> {
    let text = front_of((written, from), frame.openers(names));
    let name_starts = |at: usize| names.iter().any(|name| folded(name).first() == text.folded.get(at));
    let begins_payload = |at: usize| {
        let at = text.behind_blanks(at);
        matches!(text.letters.get(at), Some('{' | '[')) || frame.payload == Payload::Call && name_starts(at)
    };
    let mut fronts = Vec::new();
    for (n, whole) in frame.openers(names).enumerate() {
        // Each beginning comes with all names, one after the other.
        let name = frame.between.as_ref().map(|_| names[n % names.len()]);
        let mark = folded(&whole);
        // A comment in front of a call comments it out.
        let is_comment = |letter: char| letter == '#' && frame.payload == Payload::Call;
        let is_other = |letter: &char| is_foreign(*letter, &mark) || is_comment(*letter);
        let holds_foreign = |end: usize| text.folded.iter().take(end).any(is_other);
        let ends = spelt_ends(&whole, &text, 0).into_iter();
        let ends = ends.filter(|(end, _)| begins_payload(*end) && !holds_foreign(*end));
        let least = ends.min_by_key(|(_, edits)| *edits).map(|(end, edits)| (text.byte(end), edits));
        let is_named = |end: usize| {
            let front = written.get(..end - from).unwrap_or("");
            name.is_none_or(|name| is_name_in(front, name, names.iter().copied()))
        };
        let name = name.map(str::to_owned);
        let least = least.filter(|(end, _)| is_named(*end));
        fronts.extend(least.map(|(end, edits)| Front { at: Span::new(from, end), whole, edits, name }));
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
