//! Calls and outputs among the items of a request for responses: each call has an output, and each output stands behind its call.

use std::borrow::Cow;
use std::collections::HashSet;

use callwright_json::{Value, quote};

use crate::surface::conversation::{NO_RESULT, earlier_result, text};
use crate::wire::{array, object, string_of};

/// The types of calls that a client answers, and the types of their outputs.
const OUTPUTS: [(&str, &str); 2] =
    [("function_call", "function_call_output"), ("custom_tool_call", "custom_tool_call_output")];

/// Gives each old call an output, and makes outputs of no call words of the user. None if the items need no change, or refer to
/// one that only the server has. The last calls may have no output yet.
pub(crate) fn answered<'d>(items: impl Iterator<Item = Value<'d>>) -> Option<String> {
    let items: Vec<(Kind, Value<'d>)> = items.map(|item| (kind(item), item)).collect();
    let (mut calls, mut outputs, mut orphans) = (HashSet::new(), HashSet::new(), HashSet::new());
    for (kind, item) in &items {
        match kind {
            Kind::Reference => return None,
            Kind::Call(_) => calls.extend(id(*item)),
            Kind::Output => {
                let id = id(*item)?;
                if !calls.contains(&id) {
                    orphans.insert(id.clone());
                }
                outputs.insert(id);
            }
            Kind::Other => {}
        }
    }
    let n_last = items.iter().rev().take_while(|(kind, _)| matches!(kind, Kind::Call(_))).count();
    let old = items.len() - n_last;
    let is_unanswered = |item: Value<'d>| id(item).is_some_and(|id| !outputs.contains(&id));
    let is_open = |(kind, item): &(Kind, Value<'d>)| matches!(kind, Kind::Call(_)) && is_unanswered(*item);
    if orphans.is_empty() && !items.iter().take(old).any(is_open) {
        return None;
    }
    let written = |(at, (kind, item)): (usize, &(Kind, Value<'d>))| match (kind, id(*item)) {
        (Kind::Call(output), Some(call)) if at < old && is_unanswered(*item) => {
            let none =
                object([("type", quote(output)), ("call_id", quote(&call)), ("output", quote(NO_RESULT))]);
            vec![Cow::Borrowed(item.raw()), Cow::Owned(none)]
        }
        (Kind::Output, Some(call)) if orphans.contains(&call) => {
            let words = earlier_result(&call, &text(item.get("output")));
            vec![Cow::Owned(object([("role", quote("user")), ("content", quote(&words))]))]
        }
        _ => vec![Cow::Borrowed(item.raw())],
    };
    Some(array(items.iter().enumerate().flat_map(written)))
}

#[derive(Clone, Copy)]
enum Kind {
    /// A call, with the type of its output.
    Call(&'static str),
    Output,
    /// An item that only the server has.
    Reference,
    Other,
}

fn kind(item: Value<'_>) -> Kind {
    let Some(own) = string_of(item, "type") else { return Kind::Other };
    let of = OUTPUTS.into_iter().find_map(|(call, output)| match &*own {
        own if own == call => Some(Kind::Call(output)),
        own if own == output => Some(Kind::Output),
        _ => None,
    });
    of.unwrap_or(if own == "item_reference" { Kind::Reference } else { Kind::Other })
}

fn id(item: Value<'_>) -> Option<Cow<'_, str>> {
    string_of(item, "call_id")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Document;

    #[test]
    fn each_call_has_an_output_and_each_output_its_call() {
        let call = |id: &str| {
            format!(r#"{{"type":"function_call","call_id":"{id}","name":"f","arguments":"{{}}"}}"#)
        };
        let output =
            |id: &str| format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"12"}}"#);
        let custom = r#"{"type":"custom_tool_call","call_id":"c","name":"g","input":"x"}"#.to_owned();
        let user = r#"{"role":"user","content":"x"}"#.to_owned();
        let none = |kind: &str, id: &str| {
            format!(r#"{{"type":"{kind}","call_id":"{id}","output":"no result was recorded"}}"#)
        };
        let lost = r#"{"role":"user","content":"Result of an earlier call b: 12"}"#.to_owned();
        let made = |items: &[String]| {
            let document = Document::of(array(items)).unwrap();
            answered(document.root().elements())
        };
        let reference = r#"{"type":"item_reference","id":"x"}"#.to_owned();
        for items in [
            vec![user.clone(), call("a"), call("b"), output("b"), output("a")],
            vec![user.clone(), call("a")],
            vec![reference, output("a")],
        ] {
            assert_eq!(made(&items), None, "{items:?}");
        }
        for (items, expected) in [
            (
                vec![call("a"), call("b"), output("b")],
                vec![call("a"), none("function_call_output", "a"), call("b"), output("b")],
            ),
            (
                vec![custom.clone(), user.clone()],
                vec![custom, none("custom_tool_call_output", "c"), user.clone()],
            ),
            (vec![user.clone(), output("b")], vec![user, lost]),
        ] {
            assert_eq!(made(&items), Some(array(expected)), "{items:?}");
        }
    }
}
