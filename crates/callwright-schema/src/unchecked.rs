//! The parts of a schema that are held against nothing: one that cannot be compiled or resolved is left out, so that the rest
//! holds.
//!
//! A value that fits the schema as it was given also fits the rest of it. To leave out a part of what a value must *not* be
//! would forbid more, so all of that goes with it.

use super::keywords::{Holds, holds, inside_mut, pointer_key, pointer_step};
use super::references::{REFERENCES, within};
use callwright_value::{Map, Value};

/// A part of a schema that nothing is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchecked {
    /// A JSON pointer into the schema: `/properties/path/pattern`; empty for the whole.
    pub pointer: String,
    /// Why, in words without a full stop.
    pub reason: String,
}

/// Keywords that admit less where what stands in them admits more.
const CONTRARY: [&str; 3] = ["not", "if", "contains"];
/// Keywords that forbid what no keyword beside them speaks of.
const OF_OTHERS: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "unevaluatedItems"];

/// Leaves `parts` out of `root`, and adds them to `unchecked` with all that goes with them. Says whether there were any: a part
/// that an earlier one took along is passed over.
pub(super) fn leave_out(root: &mut Value, mut parts: Vec<Unchecked>, unchecked: &mut Vec<Unchecked>) -> bool {
    parts.retain(|part| cut(root, &part.pointer.split('/').skip(1).map(pointer_key).collect::<Vec<_>>()));
    let is_any = !parts.is_empty();
    if is_any {
        parts.extend(loosen(root, &parts));
    }
    unchecked.extend(parts);
    is_any
}

/// Takes a keyword out of the schema it stands in, or puts one that says nothing in the place of a schema.
fn cut(schema: &mut Value, steps: &[String]) -> bool {
    let Some((keyword, rest)) = steps.split_first() else {
        *schema = Value::Bool(true);
        return true;
    };
    let Value::Object(keywords) = schema else { return false };
    match (holds(keyword), keywords.get_mut(keyword), rest) {
        (_, None, _) => false,
        (Holds::Schema | Holds::SchemaOrList, Some(held @ Value::Object(_)), rest) => cut(held, rest),
        (Holds::List | Holds::SchemaOrList, Some(Value::Array(list)), [number, rest @ ..]) => {
            let element = number.parse().ok().and_then(|n: usize| list.get_mut(n));
            element.is_some_and(|element| cut(element, rest))
        }
        // Its name is a pattern, which may be what is wrong with it.
        (Holds::Map, Some(Value::Object(map)), [name]) if keyword == "patternProperties" => {
            map.remove(name).is_some()
        }
        (Holds::Map, Some(Value::Object(map)), [name, rest @ ..]) => {
            map.get_mut(name).is_some_and(|held| cut(held, rest))
        }
        // A reference may lead to a schema under any keyword.
        (_, Some(held), [middle @ .., last])
            if held.pointer(&pointer_of(middle)).is_some_and(Value::is_object) =>
        {
            let schema = held.pointer_mut(&pointer_of(middle)).and_then(Value::as_object_mut);
            schema.is_some_and(|schema| schema.remove(last).is_some())
        }
        _ => keywords.remove(keyword).is_some(),
    }
}

fn pointer_of(steps: &[String]) -> String {
    steps.iter().map(|step| format!("/{}", pointer_step(step))).collect()
}

/// Leaves out what would forbid more now that `parts` are gone, and says what that is.
fn loosen(root: &mut Value, parts: &[Unchecked]) -> Vec<Unchecked> {
    let mut along = Vec::new();
    let mut todo = vec![(root, String::new())];
    while let Some((schema, pointer)) = todo.pop() {
        let Value::Object(keywords) = schema else { continue };
        // What of each part's place is left behind a keyword of this schema.
        let inside = |keyword: &str| {
            let keyword = format!("{pointer}/{keyword}/");
            parts.iter().filter_map(move |part| part.pointer.strip_prefix(&*keyword))
        };
        let is_touched = |keywords: &Map, keyword: &str| {
            let mut held = keywords.get(keyword).into_iter().flat_map(within);
            inside(keyword).next().is_some()
                || held.any(|value| REFERENCES.iter().any(|keyword| value.get(keyword).is_some()))
        };
        let mut gone: Vec<&str> =
            CONTRARY.into_iter().filter(|keyword| is_touched(keywords, keyword)).collect();
        // A reference, or a pattern of names, that is gone spoke of members.
        let here = format!("{pointer}/");
        let is_reference = |place: &str| REFERENCES.iter().any(|keyword| place.ends_with(keyword));
        let spoke = parts.iter().any(|part| part.pointer.starts_with(&here) && is_reference(&part.pointer));
        let lost_names = inside("patternProperties").any(|rest| !rest.contains('/'));
        gone.extend(OF_OTHERS.into_iter().filter(|keyword| match *keyword {
            "additionalProperties" => lost_names,
            _ => spoke || lost_names,
        }));
        let mut note = |keyword: &str| {
            let reason = "a part of it, or of what it speaks of, is not checked".to_owned();
            along.push(Unchecked { pointer: format!("{pointer}/{keyword}"), reason });
        };
        for keyword in gone {
            if keywords.remove(keyword).is_some() {
                note(keyword);
            }
        }
        // Of forms of which one says less, several may fit.
        if is_touched(keywords, "oneOf")
            && let Some(forms) = keywords.remove("oneOf")
        {
            note("oneOf");
            keywords.entry("anyOf").or_insert(forms);
        }
        todo.extend(inside_mut(keywords).map(|(at, held)| (held, format!("{pointer}{at}"))));
    }
    along
}
