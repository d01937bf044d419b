//! The parts of a schema that are not checked: a part that cannot be compiled or resolved is left out, so that the rest
//! holds.
//!
//! A value that fits the given schema also fits the rest of it. Leaving out a part of what a value must *not* be would
//! forbid more, so all of that goes with it.

use std::fmt;

use super::keywords::{Holds, holds, inside_mut, pointer_key, pointer_step};
use super::references::{REFERENCES, within};
use callwright_value::{Map, Value};

/// A part of a schema that is not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchecked {
    /// A JSON pointer into the schema: `/properties/path/pattern`; empty for the whole.
    pub pointer: String,
    /// The reason, in words without a full stop.
    pub reason: String,
}

/// `/properties/path/pattern: it is not a regular expression here`
impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.reason)
    }
}

/// Keywords that admit less if the schema in them admits more.
const CONTRARY: [&str; 3] = ["not", "if", "contains"];
/// Keywords that forbid all parts of a value that no keyword beside them names.
const OF_OTHERS: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "unevaluatedItems"];

/// Leaves `parts` out of `root`, and adds them to `unchecked` with all that goes with them. Returns whether there were
/// any: a part that an earlier one took along is skipped.
pub(super) fn leave_out(root: &mut Value, mut parts: Vec<Unchecked>, unchecked: &mut Vec<Unchecked>) -> bool {
    parts.retain(|part| cut(root, &part.pointer.split('/').skip(1).map(pointer_key).collect::<Vec<_>>()));
    let is_any = !parts.is_empty();
    if is_any {
        parts.extend(loosen(root, &parts));
    }
    unchecked.extend(parts);
    is_any
}

/// Takes a keyword out of its schema, or replaces a schema by one that says nothing.
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
        // The name is a pattern, which may be the fault.
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

/// Leaves out the keywords that would forbid more without `parts`, and returns them.
fn loosen(root: &mut Value, parts: &[Unchecked]) -> Vec<Unchecked> {
    let mut along = Vec::new();
    let mut todo = vec![(root, String::new())];
    while let Some((schema, pointer)) = todo.pop() {
        let Value::Object(keywords) = schema else { continue };
        // Returns the rest of each part's place behind a keyword of this schema.
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
        // A missing reference, or a missing pattern of names, spoke of members.
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
        // With several forms, if one demands less, several may fit.
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
