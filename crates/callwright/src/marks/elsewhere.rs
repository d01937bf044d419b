//! Decides whether a value of a call may end elsewhere than the exact reader ends it. Only then its marks are read by
//! their cost.

use crate::grammar::near::{Near, codes};
use crate::grammar::{Form, NAME};
use crate::tools::Tool;

/// Returns whether `value`, an argument in a call of `tool` with whole marks, holds a mark of `form`, whole or with one
/// wrong letter. A value that begins with the end of its opener counts, too: `<parameter=a>>x`.
pub(crate) fn may_end_elsewhere(value: &str, form: &Form, tool: &Tool) -> bool {
    if !value.contains(['<', '>', '＜', '＞', '&']) {
        return false;
    }
    let text = codes(value);
    let holds = |mark: &str| Near::all(mark).any(|mark| mark.is_in(&text));
    let of_key = |key: &str| [form.argument.with(key), form.argument_close.replace(NAME, key)];
    form.fixed().tails.iter().any(|tail| text.starts_with(tail))
        || form.fixed().marks.iter().any(|mark| mark.is_in(&text))
        || form.is_named() && holds(&form.call.with(tool.name()))
        || form.call_close.contains(NAME) && holds(&form.call_close.replace(NAME, tool.name()))
        || form.closes_by_key() && tool.parameters().any(|key| of_key(key).iter().any(|mark| holds(mark)))
}
