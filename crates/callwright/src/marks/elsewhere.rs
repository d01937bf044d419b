//! Decides whether a value of a call may end elsewhere than the exact reader ends it. Only then its marks are read by
//! their cost.

use memchr::memmem;

use super::edit::ends_within;
use super::lexemes::{code, most_edits, parts};
use crate::grammar::{Form, NAME, fold, folded, marks};
use crate::tools::Tool;

/// Returns whether `value`, an argument in a call of `tool` with whole marks, holds a mark of `form`, whole or with one
/// wrong letter. A value that begins with the end of its opener counts, too: `<parameter=a>>x`.
pub(crate) fn may_end_elsewhere(value: &str, form: &Form, tool: &Tool) -> bool {
    if !value.contains(['<', '>', '＜', '＞', '&']) {
        return false;
    }
    // No blank behind a bar is left out, and no letter is folded but by its case and quotes.
    let is_plain = value.is_ascii() && !value.contains('|');
    let text: Vec<u8> = match is_plain {
        true => value.bytes().map(|byte| code(fold::fold(byte.into()))).collect(),
        false => fold::folded_letters(value).map(code).collect(),
    };
    let codes = |mark: &str| folded(mark).into_iter().map(code).collect::<Vec<u8>>();
    let begins_with = |mark: &str| text.starts_with(&codes(mark));
    if form.argument.tails.iter().filter_map(|(tail, _)| marks(tail).last()).any(begins_with) {
        return true;
    }
    let holds = |mark: &str| marks(mark).any(|mark| holds_near(&text, &codes(mark)));
    let around = form.openers().chain(form.section.iter().map(|(_, close)| close)).map(|mark| &**mark);
    let call = [form.call.with(tool.name()), form.call_close.replace(NAME, tool.name())];
    let of_key = |key: &str| [form.argument.with(key), form.argument_close.replace(NAME, key)];
    let arguments: Vec<String> = match form.closes_by_key() {
        true => tool.parameters().flat_map(of_key).collect(),
        false => {
            let fixed = [&*form.argument.head, &form.argument_close].into_iter().chain(form.token());
            fixed.map(str::to_owned).collect()
        }
    };
    around.chain(call.iter().chain(&arguments).map(String::as_str)).any(holds)
}

/// Returns whether `text` holds `mark`, or letters that differ from it by one.
fn holds_near(text: &[u8], mark: &[u8]) -> bool {
    let most = most_edits(mark.len()).min(1);
    parts(mark, most).any(|(before, part)| {
        memmem::find_iter(text, part).any(|at| {
            let mut starts = at.saturating_sub(before + most)..=(at + most).saturating_sub(before);
            starts.any(|from| !ends_within(mark, text.get(from..).unwrap_or(&[]), most).is_empty())
        })
    })
}
