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
    if form.argument.tails.iter().filter_map(|(tail, _)| marks(tail).last()).any(begins_with) {
        return true;
    }
    let holds = |mark: &str| marks(mark).any(|mark| index.holds_near(&folded(mark)));
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
