//! Decides whether a value of a call may end elsewhere than the exact reader ends it. Only then its marks are read by
//! their cost.

use memchr::memmem;

use super::edit::ends_within;
use super::lexemes::{most_edits, parts};
use crate::grammar::fold::{fold, folded};
use crate::grammar::{Form, NAME, marks};
use crate::tools::Tool;

/// Returns whether `value`, an argument in a call of `tool` with whole marks, holds a mark of `form`, whole or with one
/// wrong letter. A value that begins with the end of its opener counts, too: `<parameter=a>>x`.
pub(crate) fn may_end_elsewhere(value: &str, form: &Form, tool: &Tool) -> bool {
    if !value.contains(['<', '>', '＜', '＞', '&']) {
        return false;
    }
    let value = if value.is_ascii() { value.to_ascii_lowercase() } else { value.chars().map(fold).collect() };
    let begins_with = |tail: &str| marks(tail).last().is_some_and(|last| begins(&value, &folded(last)));
    if form.argument.tails.iter().any(|tail| begins_with(tail)) {
        return true;
    }
    let holds = |mark: &str| marks(mark).any(|mark| holds(&value, &folded(mark)));
    let is_closed_by_key = form.closes_by_key();
    let section = form.section.iter().flat_map(|(open, close)| [open, close]);
    let fixed = section.chain((!is_closed_by_key).then_some(&form.argument_close));
    fixed.chain(form.heads_of_words()).any(|mark| holds(mark))
        || !is_closed_by_key && form.token().is_some_and(holds)
        || holds(&form.call_close.replace(NAME, tool.name()))
        || form.is_named() && holds(&form.opener_of(tool.name()))
        || is_closed_by_key
            && tool
                .parameters()
                .any(|key| holds(&form.argument_close.replace(NAME, key)) || holds(&form.argument_of(key)))
}

fn begins(value: &str, mark: &[char]) -> bool {
    !mark.is_empty() && value.chars().take(mark.len()).eq(mark.iter().copied())
}

/// Returns whether `text` holds `mark`, or letters that differ from it by one. Both are folded.
fn holds(text: &str, mark: &[char]) -> bool {
    let most = most_edits(mark.len()).min(1);
    parts(mark, most).any(|(before, part)| {
        let part: String = part.iter().collect();
        memmem::find_iter(text.as_bytes(), &part).any(|at| {
            // The mark begins as many letters in front of this part as it has there, one more or one fewer.
            let (before_part, rest) = (text.get(..at).unwrap_or(""), text.get(at..).unwrap_or(""));
            let mut letters: Vec<char> = before_part.chars().rev().take(before + most).collect();
            letters.reverse();
            let n_before = letters.len();
            letters.extend(rest.chars().take(mark.len() + most - before));
            let starts = before.saturating_sub(most)..=before + most;
            starts
                .filter_map(|back| letters.get(n_before.checked_sub(back)?..))
                .any(|text| !text.is_empty() && !ends_within(mark, text, most).is_empty())
        })
    })
}
