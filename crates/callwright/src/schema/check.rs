//! Does a value fit? The tables decide on the value as it was read, without building another; only where a schema
//! says what tables cannot, the validator is asked.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use callwright_json::{Kind, Kinds, MAX_SLOTS, Place, Value};

use super::guide::{ANY, Entry, Rule, SchemaGuide};
use super::number::{compare, is_whole};
use super::{Schema, message};
use crate::verdict::Violation;

/// The most violations that are listed.
const MAX_VIOLATIONS: usize = 16;
/// Above this number of undeclared members, equal keys are found by hashing.
const FEW: usize = 12;

impl Schema {
    /// The ways in which `value` does not fit; none where it fits.
    ///
    /// Besides what the schema demands, no key may stand twice in one object with different values (keyword
    /// `duplicate`), and no string may hold half a surrogate pair (keyword `surrogate`), at any depth. At most 16
    /// violations are listed.
    pub fn check(&self, value: Value<'_>) -> Vec<Violation> {
        let is_exact = self.validator.is_none();
        let root = if is_exact { self.guide.root } else { ANY };
        if walk(&self.guide, root, value, &mut |_| ControlFlow::Break(())).is_break() {
            let mut faults = Vec::new();
            let _ = walk(&self.guide, root, value, &mut |fault| {
                faults.push(fault);
                if faults.len() < MAX_VIOLATIONS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            faults.sort_by_key(|fault| fault.value.span());
            return faults.iter().map(|fault| message::of_fault(value, fault)).collect();
        }
        let Some(validator) = &self.validator else { return Vec::new() };
        let built = build(value);
        if validator.is_valid(&built) {
            return Vec::new();
        }
        validator
            .iter_errors(&built)
            .take(MAX_VIOLATIONS)
            .map(|error| message::of_error(value, &error))
            .collect()
    }
}

/// One thing wrong with one value.
pub(super) struct Fault<'v, 'g> {
    pub(super) value: Value<'v>,
    /// Where it stands; for a member that must not be there, or stands twice, the place of the object around it.
    pub(super) place: Place,
    /// What is known about that place.
    pub(super) entry: &'g Entry,
    pub(super) sort: Sort<'v, 'g>,
}

pub(super) enum Sort<'v, 'g> {
    /// Its type is none of the entry's.
    Type,
    Rule(&'g Rule),
    /// Members that are declared and required, but not there, one bit per number.
    Missing(u128),
    /// It is a member of this name, and no such member may be there.
    Unknown(Cow<'v, str>),
    /// It is a member of this name, and another one with another value stands before it.
    Duplicate(Cow<'v, str>),
    /// It is a string, or has a key, with half a surrogate pair.
    Surrogate,
}

/// Looks at `value` at the place `root`, and at all within it. `on_fault` says when it has heard enough.
pub(super) fn walk<'v, 'g>(
    guide: &'g SchemaGuide,
    root: u32,
    value: Value<'v>,
    on_fault: &mut impl FnMut(Fault<'v, 'g>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    // Halves of surrogate pairs are rare: one fast search spares a look into every string.
    let has_escapes = value.raw().contains("\\u");
    let mut todo: Vec<(Value<'v>, u32)> = Vec::with_capacity(16);
    todo.push((value, root));
    while let Some((value, at)) = todo.pop() {
        let place = Place(at);
        let entry = guide.entry(place);
        let mut report = |value, sort| on_fault(Fault { value, place, entry, sort });
        if !has_type(value, entry.kinds) {
            report(value, Sort::Type)?;
            continue;
        }
        for (about, rule) in &entry.rules {
            if about.meets(bits(value.kind())) && !keeps(value, rule) {
                report(value, Sort::Rule(rule))?;
            }
        }
        match value.kind() {
            Kind::Null | Kind::Bool | Kind::Number => {}
            Kind::String => {
                if has_escapes && value.has_lone_surrogate() {
                    report(value, Sort::Surrogate)?;
                }
            }
            Kind::Array => {
                for (i, element) in value.elements().enumerate() {
                    todo.push((element, entry.prefix.get(i).copied().unwrap_or(entry.element)));
                }
            }
            Kind::Object => {
                let mut seen: u128 = 0;
                let mut others: Vec<(Cow<'v, str>, Value<'v>)> = Vec::new();
                for (key, member) in value.members() {
                    if has_escapes && key.has_lone_surrogate() {
                        report(value, Sort::Surrogate)?;
                    }
                    let name = key.as_str().unwrap_or_default();
                    match entry.find(&name) {
                        Some(i) => {
                            let at = entry.members.get(i).map_or(ANY, |(_, at)| *at);
                            todo.push((member, at));
                            if MAX_SLOTS <= i {
                                others.push((name, member));
                            } else if seen & 1 << i == 0 {
                                seen |= 1 << i;
                            } else if value.get(&name).is_some_and(|first| !first.same_as(member)) {
                                report(member, Sort::Duplicate(name))?;
                            }
                        }
                        None => match entry.additional {
                            Some(at) => {
                                todo.push((member, at));
                                others.push((name, member));
                            }
                            None => report(member, Sort::Unknown(name))?,
                        },
                    }
                }
                if entry.required & !seen != 0 {
                    report(value, Sort::Missing(entry.required & !seen))?;
                }
                for (name, member) in differing(others) {
                    report(member, Sort::Duplicate(name))?;
                }
            }
        }
    }
    ControlFlow::Continue(())
}

/// The members whose key stood before with another value.
fn differing<'v>(members: Vec<(Cow<'v, str>, Value<'v>)>) -> Vec<(Cow<'v, str>, Value<'v>)> {
    if members.len() <= FEW {
        let has_twin = |i: usize| members[..i].iter().any(|(name, _)| *name == members[i].0);
        if !(1..members.len()).any(has_twin) {
            return Vec::new();
        }
    }
    let mut first: HashMap<Cow<'v, str>, Value<'v>> = HashMap::new();
    let mut differing = Vec::new();
    for (name, member) in members {
        match first.get(&name) {
            None => drop(first.insert(name, member)),
            Some(other) if other.same_as(member) => {}
            Some(_) => differing.push((name, member)),
        }
    }
    differing
}

/// The types as which a kind of value may count.
fn bits(kind: Kind) -> Kinds {
    match kind {
        Kind::Null => Kinds::NULL,
        Kind::Bool => Kinds::BOOL,
        Kind::Number => Kinds::NUMBER,
        Kind::String => Kinds::STRING,
        Kind::Array => Kinds::ARRAY,
        Kind::Object => Kinds::OBJECT,
    }
}

fn has_type(value: Value<'_>, kinds: Kinds) -> bool {
    match value.kind() {
        Kind::Number if kinds.has(Kinds::NUMBER) => true,
        Kind::Number if kinds.has(Kinds::INTEGER) => is_whole(value.raw()),
        Kind::Number => false,
        kind => kinds.meets(bits(kind)),
    }
}

fn keeps(value: Value<'_>, rule: &Rule) -> bool {
    let within = |n: usize, min: u64| u64::try_from(n).is_ok_and(|n| min <= n);
    let length = || value.as_str().map_or(0, |text| text.chars().count());
    let order = |bound: &str| compare(value.raw(), bound);
    match rule {
        Rule::OneOf { canonical, .. } => {
            let own = value.canonical();
            canonical.iter().any(|one| **one == *own)
        }
        Rule::MinLength(min) => within(length(), *min),
        Rule::MaxLength(max) => !within(length(), max.saturating_add(1)),
        Rule::MinItems(min) => within(value.elements().count(), *min),
        Rule::MaxItems(max) => !within(value.elements().count(), max.saturating_add(1)),
        Rule::MinProperties(min) => within(value.members().count(), *min),
        Rule::MaxProperties(max) => !within(value.members().count(), max.saturating_add(1)),
        Rule::UniqueItems => {
            let mut seen = HashSet::new();
            value.elements().all(|element| seen.insert(element.canonical()))
        }
        Rule::Minimum(bound) => order(bound) != Ordering::Less,
        Rule::ExclusiveMinimum(bound) => order(bound) == Ordering::Greater,
        Rule::Maximum(bound) => order(bound) != Ordering::Greater,
        Rule::ExclusiveMaximum(bound) => order(bound) == Ordering::Less,
    }
}

/// The value as the validator wants it: numbers keep their digits, members their order.
fn build(value: Value<'_>) -> serde_json::Value {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut next = value;
    loop {
        match (next.kind(), open.last_mut()) {
            (Kind::Array | Kind::Object, _) => open.push(Open::new(next)),
            (_, Some(around)) => around.put(build_scalar(next)),
            (_, None) => return build_scalar(next),
        }
        // What has no children left goes into the one around it.
        loop {
            let Some(top) = open.last_mut() else { return serde_json::Value::Null };
            if let Some(child) = top.next_child() {
                next = child;
                break;
            }
            let Some(finished) = open.pop() else { return serde_json::Value::Null };
            match open.last_mut() {
                Some(around) => around.put(finished.built),
                None => return finished.built,
            }
        }
    }
}

fn build_scalar(value: Value<'_>) -> serde_json::Value {
    match value.kind() {
        Kind::Null | Kind::Array | Kind::Object => serde_json::Value::Null,
        Kind::Bool => serde_json::Value::Bool(value.as_bool() == Some(true)),
        Kind::Number => value.raw().parse().map_or(serde_json::Value::Null, serde_json::Value::Number),
        Kind::String => serde_json::Value::String(value.as_str().unwrap_or_default().into_owned()),
    }
}

/// An array or object of which some children are still to come.
struct Open<'v> {
    built: serde_json::Value,
    /// The children to come, with their keys, the next one last.
    rest: Vec<(String, Value<'v>)>,
    /// The key of the child that is being built.
    key: String,
}

impl<'v> Open<'v> {
    fn new(value: Value<'v>) -> Open<'v> {
        let members =
            value.members().map(|(key, member)| (key.as_str().unwrap_or_default().into_owned(), member));
        let elements = value.elements().map(|element| (String::new(), element));
        let mut rest: Vec<(String, Value<'v>)> = members.chain(elements).collect();
        rest.reverse();
        let built = match value.kind() {
            Kind::Object => serde_json::Value::Object(serde_json::Map::with_capacity(rest.len())),
            _ => serde_json::Value::Array(Vec::with_capacity(rest.len())),
        };
        Open { built, rest, key: String::new() }
    }

    fn next_child(&mut self) -> Option<Value<'v>> {
        let (key, child) = self.rest.pop()?;
        self.key = key;
        Some(child)
    }

    fn put(&mut self, child: serde_json::Value) {
        match &mut self.built {
            serde_json::Value::Array(elements) => elements.push(child),
            serde_json::Value::Object(members) => drop(members.insert(std::mem::take(&mut self.key), child)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright_json::strict;
    use serde_json::json;

    fn check(schema: serde_json::Value, text: &str) -> Vec<(String, &'static str, String)> {
        let tree = strict(text).unwrap();
        let violations = Schema::compile(&schema).unwrap().check(tree.root(text));
        violations.into_iter().map(|v| (v.pointer, v.keyword, v.message)).collect()
    }

    fn messages(schema: serde_json::Value, text: &str) -> Vec<String> {
        check(schema, text).into_iter().map(|(_, _, message)| message).collect()
    }

    fn file_schema() -> serde_json::Value {
        json!({"type": "object", "properties": {
            "path": {"type": "string"}, "content": {"type": "string"}, "mode": {"enum": ["append", "replace"]},
            "lines": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}},
                      "required": ["n"]}},
        }, "required": ["path", "content"], "additionalProperties": false})
    }

    /// S0-58: arguments are validated, and the model is told in these words.
    #[test]
    fn wrong_types_are_named() {
        assert_eq!(
            messages(file_schema(), r#"{"path": 5, "content": []}"#),
            ["path must be a string", "content must be a string"]
        );
    }

    #[test]
    fn each_violation_is_one_sentence_with_its_place() {
        let found = check(
            file_schema(),
            r#"{"pth": "a", "mode": "x", "lines": [{"n": 1.0}, {"n": 0}, {}, 7, {"n": 1.5}]}"#,
        );
        let expected = [
            ("", "required", "missing required: path, content"),
            (
                "/pth",
                "additionalProperties",
                "unknown: pth (nearest: path; declared: path, content, mode, lines)",
            ),
            ("/mode", "enum", "mode must be one of \"append\", \"replace\""),
            ("/lines/1/n", "minimum", "/lines/1/n must be at least 1"),
            ("/lines/2", "required", "missing required: n in /lines/2"),
            ("/lines/3", "type", "/lines/3 must be an object"),
            ("/lines/4/n", "type", "/lines/4/n must be an integer"),
        ];
        let found: Vec<(&str, &str, &str)> =
            found.iter().map(|(p, k, m)| (p.as_str(), *k, m.as_str())).collect();
        assert_eq!(found, expected);
        assert_eq!(messages(file_schema(), "[]"), ["the value must be an object"]);
    }

    #[test]
    fn the_validator_speaks_the_same_words() {
        // `pattern` makes the schema one for the validator.
        let mut schema = file_schema();
        schema["properties"]["path"]["pattern"] = json!("^[a-z]+$");
        assert_eq!(
            messages(schema.clone(), r#"{"path": 5, "content": [], "mode": "x"}"#),
            [
                "path must be a string",
                "content must be a string",
                "mode must be one of \"append\", \"replace\""
            ]
        );
        assert_eq!(messages(schema.clone(), r#"{"path": "a"}"#), ["missing required: content"]);
        assert_eq!(
            messages(schema, r#"{"path": "A", "content": "", "lines": [{"n": 0}]}"#),
            ["path must match the pattern ^[a-z]+$", "/lines/0/n must be at least 1"]
        );
    }

    #[test]
    fn duplicates_and_surrogates_are_violations_at_any_depth() {
        for schema in [json!({}), json!({"pattern": "a"})] {
            let keywords =
                |text: &str| -> Vec<&str> { check(schema.clone(), text).iter().map(|v| v.1).collect() };
            assert_eq!(keywords(r#"{"a": [{"b": 1, "\u0062": 1.0}]}"#), [""; 0]);
            assert_eq!(keywords(r#"{"a": [{"b": 1, "\u0062": 2}]}"#), ["duplicate"]);
            assert_eq!(keywords(r#"["\ud800"]"#), ["surrogate"]);
            assert_eq!(keywords(r#"{"\udc00": "\ud83d\ude00"}"#), ["surrogate"]);
        }
        let declared = json!({"properties": {"a": {"type": "integer"}}});
        assert_eq!(
            check(declared, r#"{"a": 1, "a": 2}"#),
            [("/a".to_owned(), "duplicate", "a stands twice with different values".to_owned())]
        );
        let many: Vec<String> = (0..100).map(|n| format!("\"k{}\": {n}", n % 99)).collect();
        assert_eq!(check(json!({}), &format!("{{{}}}", many.join(",")))[0].1, "duplicate");
    }

    #[test]
    fn values_are_compared_exactly() {
        let big = json!({"enum": [1, {"a": [1, "\u{e9}"]}]});
        assert!(check(big.clone(), "1.0").is_empty());
        assert!(check(big, r#"{"a": [1e0, "\u00e9"]}"#).is_empty());
        let schema: serde_json::Value =
            serde_json::from_str(r#"{"maximum": 123456789012345678901234567890}"#).unwrap();
        assert!(check(schema.clone(), "123456789012345678901234567890").is_empty());
        assert_eq!(check(schema, "123456789012345678901234567891")[0].1, "maximum");
        assert_eq!(check(json!({"uniqueItems": true}), "[1, 1.0]")[0].1, "uniqueItems");
        assert_eq!(check(json!({"minLength": 2}), r#""\ud83d\ude00""#)[0].1, "minLength");
    }

    #[test]
    fn what_is_built_for_the_validator_is_the_value() {
        let text =
            r#"{"a": [1e400, {"b": []}, "x\n", [[]], {}], "c": null, "d": 123456789012345678901234567890}"#;
        let tree = strict(text).unwrap();
        assert_eq!(build(tree.root(text)), serde_json::from_str::<serde_json::Value>(text).unwrap());
    }

    #[test]
    fn the_deepest_values_need_little_stack() {
        let text = format!("{}1{}", r#"{"a":["#.repeat(64), "]}".repeat(64));
        let exact = json!({"properties": {"a": {"items": {"$ref": "#"}}}});
        let judged =
            json!({"properties": {"a": {"items": {"$ref": "#"}}}, "if": {"minLength": 1}, "then": true});
        let [exact, judged] = [exact, judged].map(|schema| Schema::compile(&schema).unwrap());
        let check = std::thread::Builder::new().stack_size(128 << 10).spawn(move || {
            let tree = strict(&text).unwrap();
            exact.check(tree.root(&text)).len() + judged.check(tree.root(&text)).len()
        });
        assert_eq!(check.unwrap().join().unwrap(), 0);
    }
}
