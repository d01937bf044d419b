//! Decides whether a value of a call may end elsewhere than the exact reader ends it. Only then its marks are read by
//! their cost.

use callwright_json::Fuel;

use super::lexemes::Index;
use crate::grammar::fold::Folded;
use crate::grammar::{Form, NAME, folded, marks};
use crate::tools::Tool;

/// Returns whether `value`, an argument in a call of `tool` with whole marks, holds a mark of `form`, whole or with one
/// wrong letter. A value that begins with the end of its opener counts, too: `<parameter=a>>x`.
pub(crate) fn may_end_elsewhere(value: &str, form: &Form, tool: &Tool) -> bool {
    if !value.contains(['<', '>', '＜', '＞', '&']) {
        return false;
    }
    let (text, fuel) = (Folded::of(value, 0), Fuel::new(u32::MAX));
    let index = Index::of(&text, &fuel);
    let begins_with = |mark: &str| text.folded.starts_with(&folded(mark));
    if form.argument.tails.iter().filter_map(|tail| marks(tail).last()).any(begins_with) {
        return true;
    }
    let holds = |mark: &str| marks(mark).any(|mark| index.holds_near(&folded(mark)));
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
