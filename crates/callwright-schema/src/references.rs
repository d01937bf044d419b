//! The schemas that a schema leads to, and the references that lead nowhere.

use std::cell::LazyCell;
use std::collections::HashSet;

use callwright_value::Value;

#[cfg(not(feature = "full-schemas"))]
use super::keywords::{identity, schemas};
use super::keywords::{inside, local_pointer, pointer_step, speaks_of_same, with_own_id};
use super::unchecked::Unchecked;

/// The keywords that name another schema.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Returns each `$ref` inside the document that says nothing, in the order of the document. It names no schema of
/// `root`, as `#/$defs/Missing`, or leads back to itself without going into the value, as `{"$ref": "#"}`. The caller
/// has bounded the depth of `root` before.
///
/// References to other documents are left alone, and so are parts with an identity of their own (`$id`).
pub(crate) fn without_target(root: &Value) -> Vec<Unchecked> {
    let broken = broken(root);
    if broken.is_empty() {
        return Vec::new();
    }
    let told = |(pointer, schema): (String, &Value)| {
        let reference = reference(schema).filter(|_| broken.contains(&std::ptr::from_ref(schema)))?;
        let reason = format!("`{reference}` leads to no schema");
        Some(Unchecked { pointer: format!("{pointer}/$ref"), reason })
    };
    with_pointers(root).into_iter().filter_map(told).collect()
}

/// Returns each reference of `root` that leads neither to its schemas nor to those `known` by their URIs. It names
/// another document, as nothing is fetched, or it is a dynamic one to a name that no schema has.
#[cfg(not(feature = "full-schemas"))]
pub(crate) fn to_elsewhere(root: &Value, known: &[(String, Value)]) -> Vec<Unchecked> {
    let ids = schemas(root).filter_map(identity);
    let known: Vec<&str> = ids.chain(known.iter().map(|(uri, _)| uri.as_str())).collect();
    let anchors = anchors(root);
    let told = |(pointer, schema): &(String, &Value), keyword: &str| {
        let reference = schema.get(keyword)?.as_str()?;
        let reason = match reference.split_once('#').unwrap_or((reference, "")) {
            ("", "") => return None,
            ("", name) if keyword == "$ref" || anchors.contains(name) => return None,
            ("", _) if local_pointer(reference).is_some_and(|pointer| root.pointer(&pointer).is_some()) => {
                return None;
            }
            ("", _) => format!("`{reference}` leads to no schema"),
            (document, _) if known.contains(&document) => return None,
            _ => format!("`{reference}` is another document, and nothing is fetched"),
        };
        Some(Unchecked { pointer: format!("{pointer}/{keyword}"), reason })
    };
    reached(root).iter().flat_map(|place| REFERENCES.map(|keyword| told(place, keyword))).flatten().collect()
}

/// Returns the schemas inside `schema` and the one that its `$ref` names by a pointer.
pub(super) fn children<'s>(root: &'s Value, schema: &'s Value) -> impl Iterator<Item = &'s Value> {
    inside(schema).map(|(_, held)| held).chain(target(root, schema))
}

fn target<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    let target = root.pointer(&local_pointer(reference(schema)?)?)?;
    (target.is_object() || target.is_boolean()).then_some(target)
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)
}

/// Returns the schemas whose `$ref` says nothing.
fn broken(root: &Value) -> HashSet<*const Value> {
    let mut broken = HashSet::new();
    let anchors = LazyCell::new(|| anchors(root));
    // Inside these schemas, `#/…` has another meaning than at the root.
    let elsewhere: LazyCell<HashSet<*const Value>, _> =
        LazyCell::new(|| with_own_id(root).flat_map(within).map(std::ptr::from_ref).collect());
    let mut starts = vec![root];
    let mut seen: HashSet<*const Value> = HashSet::new();
    while let Some(start) = starts.pop() {
        // The schemas on the way from `start` that speak about the same value.
        let mut open: HashSet<*const Value> = HashSet::new();
        // Each schema with the one whose `$ref` was the last on the way to it; without one once all inside is done.
        let mut steps = vec![(start, Some(start))];
        while let Some((schema, last)) = steps.pop() {
            let key: *const Value = schema;
            let Some(last) = last else {
                open.remove(&key);
                continue;
            };
            if open.contains(&key) {
                // Only a reference leads up, so the way back to here has one, and `last` is the latest.
                broken.insert(std::ptr::from_ref(last));
            } else if seen.insert(key) {
                open.insert(key);
                steps.push((schema, None));
                for (keyword, child) in inside(schema) {
                    match speaks_of_same(keyword) {
                        true => steps.push((child, Some(last))),
                        false => starts.push(child),
                    }
                }
                let name = reference(schema).and_then(|reference| reference.strip_prefix('#'));
                let Some(name) = name.filter(|_| !elsewhere.contains(&key)) else { continue };
                match target(root, schema) {
                    Some(named) => steps.push((named, Some(schema))),
                    None if anchors.contains(name) => {}
                    None => drop(broken.insert(key)),
                }
            }
        }
    }
    broken
}

/// Returns the names that parts of the document have for `#name`; the older drafts write them `"$id": "#name"`.
fn anchors(root: &Value) -> HashSet<&str> {
    let names_of = |schema| {
        let text = move |keyword: &str| Value::get(schema, keyword).and_then(Value::as_str);
        let anchors = ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text);
        anchors.chain(["$id", "id"].into_iter().filter_map(move |keyword| text(keyword)?.strip_prefix('#')))
    };
    within(root).flat_map(names_of).collect()
}

/// Returns the schemas that `root` leads to and their places, as [`with_pointers`] does: data may look like a schema.
pub(super) fn reached(root: &Value) -> Vec<(String, &Value)> {
    let mut reached = HashSet::new();
    let mut todo = vec![root];
    while let Some(schema) = todo.pop() {
        if reached.insert(std::ptr::from_ref(schema)) {
            todo.extend(children(root, schema));
        }
    }
    let mut places = with_pointers(root);
    places.retain(|(_, schema)| reached.contains(&std::ptr::from_ref(*schema)));
    places
}

/// Returns all values in `root` and their places as JSON pointers, in the order of the document: a reference may name
/// one under any key, as `#/components/schemas/a`.
pub(super) fn with_pointers(root: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let mut todo = vec![(String::new(), root)];
    while let Some((pointer, value)) = todo.pop() {
        match value {
            Value::Object(members) => {
                let at = |key: &String| format!("{pointer}/{}", pointer_step(key));
                todo.extend(members.iter().rev().map(|(key, member)| (at(key), member)));
            }
            Value::Array(elements) => {
                let numbered = elements.iter().enumerate().rev();
                todo.extend(numbered.map(|(n, element)| (format!("{pointer}/{n}"), element)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        found.push((pointer, value));
    }
    found
}

/// Returns `value` and all values inside it.
pub(super) fn within(value: &Value) -> impl Iterator<Item = &Value> {
    with_pointers(value).into_iter().map(|(_, value)| value)
}
