//! Does a value fit? The tables decide on the value as it was read, without building another; only where a schema
//! says what tables cannot, the validator is asked.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use callwright_json::{Kind, Kinds, MAX_SLOTS, Place, Value};

use super::guide::{ANY, Entry, Rule, SchemaGuide};
use super::number::{compare, is_multiple_of, is_whole};
use super::{Schema, Violation, message};

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
        // Where a validator decides, what it does not look at remains; and so it does in a language of which nothing is known.
        let is_judged = self.has_validator() || !self.is_known;
        let root = if is_judged { ANY } else { self.guide.root };
        if walk(&self.guide, root, value, &mut |_| ControlFlow::Break(())).is_break() {
            let mut faults = Vec::new();
            let _ = walk(&self.guide, root, value, &mut |fault| {
                faults.push(fault);
                if faults.len() < MAX_VIOLATIONS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            faults.sort_by_key(|fault| fault.value.span());
            return faults.iter().map(|fault| message::of_fault(value, fault)).collect();
        }
        #[cfg(feature = "full-schemas")]
        if let Some(validator) = &self.validator {
            return validator.violations(value, MAX_VIOLATIONS);
        }
        Vec::new()
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
        // Of several forms for one type, each has its own rules and members, and one of them is enough.
        let rules = if entry.is_disjoint { &*entry.rules } else { &[] };
        for (about, rule) in rules {
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
                            let at =
                                entry.members.get(i).filter(|_| entry.is_disjoint).map_or(ANY, |(_, at)| *at);
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
pub(super) fn bits(kind: Kind) -> Kinds {
    match kind {
        Kind::Null => Kinds::NULL,
        Kind::Bool => Kinds::BOOL,
        Kind::Number => Kinds::NUMBER,
        Kind::String => Kinds::STRING,
        Kind::Array => Kinds::ARRAY,
        Kind::Object => Kinds::OBJECT,
    }
}

pub(super) fn has_type(value: Value<'_>, kinds: Kinds) -> bool {
    match value.kind() {
        Kind::Number if kinds.has(Kinds::NUMBER) => true,
        Kind::Number if kinds.has(Kinds::INTEGER) => is_whole(value.raw()),
        Kind::Number => false,
        kind => kinds.meets(bits(kind)),
    }
}

/// Does `value`, which `rule` is about, keep it?
pub(super) fn keeps(value: Value<'_>, rule: &Rule) -> bool {
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
        Rule::MultipleOf(divisor) => is_multiple_of(value.raw(), divisor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use callwright_json::strict;

    fn check(schema: crate::value::Value, text: &str) -> Vec<(String, &'static str, String)> {
        let tree = strict(text).unwrap();
        let violations = Schema::compile(&schema).unwrap().check(tree.root(text));
        violations.into_iter().map(|v| (v.pointer, v.keyword, v.message)).collect()
    }

    fn messages(schema: crate::value::Value, text: &str) -> Vec<String> {
        check(schema, text).into_iter().map(|(_, _, message)| message).collect()
    }

    fn file_schema() -> crate::value::Value {
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

    #[cfg(feature = "full-schemas")]
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
        let schema: crate::value::Value =
            serde_json::from_str(r#"{"maximum": 123456789012345678901234567890}"#).unwrap();
        assert!(check(schema.clone(), "123456789012345678901234567890").is_empty());
        assert_eq!(check(schema, "123456789012345678901234567891")[0].1, "maximum");
        assert_eq!(check(json!({"uniqueItems": true}), "[1, 1.0]")[0].1, "uniqueItems");
        assert_eq!(check(json!({"minLength": 2}), r#""\ud83d\ude00""#)[0].1, "minLength");
    }

    /// Alone the tables say all of it; under `not`, `oneOf` and a pattern the validator is asked.
    #[cfg(feature = "full-schemas")]
    #[test]
    fn numbers_are_compared_as_they_are_spelt() {
        let big = "123456789012345678901234567890";
        for (schema, right, wrong) in [
            (
                format!(r#"{{"maximum": {big}}}"#),
                vec![big, "1e29", "-1e400"],
                vec!["123456789012345678901234567890.1", "1e400"],
            ),
            (
                format!(r#"{{"exclusiveMinimum": {big}}}"#),
                vec!["123456789012345678901234567891"],
                vec![big, "1.2345678901234567890123456789e29"],
            ),
            (r#"{"minimum": 1e400}"#.into(), vec!["1e400", "10e399", "1e401"], vec!["9.9e399", "0"]),
            (
                format!(r#"{{"enum": [{big}, 0.10, "x"]}}"#),
                vec![big, "0.1", "1e-1", "\"x\""],
                vec!["123456789012345678901234567891", "0.10000000000000000001"],
            ),
            (
                format!(r#"{{"const": {{"a": [{big}]}}}}"#),
                vec![r#"{"a": [1.23456789012345678901234567890e29]}"#],
                vec![r#"{"a": [123456789012345678901234567891]}"#],
            ),
            (r#"{"multipleOf": 0.1}"#.into(), vec!["0.3", "1e400", "-0"], vec!["0.35"]),
            (
                format!(r#"{{"multipleOf": {big}}}"#),
                vec![big, "246913578024691357802469135780"],
                vec!["246913578024691357802469135781"],
            ),
            (
                r#"{"type": "integer"}"#.into(),
                vec!["1e400", big, "5.0"],
                vec!["123456789012345678901234567890.5"],
            ),
            (
                r#"{"uniqueItems": true}"#.into(),
                vec!["[123456789012345678901234567890, 123456789012345678901234567891]"],
                vec!["[1e400, 10e399]"],
            ),
        ] {
            let not = format!(r#"{{"not": {{"not": {schema}}}}}"#);
            let one = format!(r#"{{"oneOf": [{schema}, {{"type": "string", "pattern": "^never$"}}]}}"#);
            let beside = format!(r#"{{"allOf": [{schema}], "not": {{"const": "never"}}}}"#);
            let reference = format!(r##"{{"$ref": "#/x/0", "not": {{"const": "never"}}, "x": [{schema}]}}"##);
            for schema in [schema, not, one, beside, reference] {
                for text in &right {
                    assert_eq!(check(schema.parse().unwrap(), text), [], "{schema} {text}");
                }
                for text in &wrong {
                    assert_ne!(check(schema.parse().unwrap(), text), [], "{schema} {text}");
                }
            }
        }
    }

    #[test]
    fn what_speaks_of_numbers_has_the_same_words_from_the_validator() {
        let schema = json!({"properties": {"n": {"minimum": 1, "multipleOf": 0.5}, "e": {"enum": [1, "a"]}}});
        let mut strict = schema.clone();
        strict["not"] = json!({"const": 1});
        let text = r#"{"n": 0.3, "e": 2}"#;
        let (mut by_tables, mut by_validator) = (check(schema, text), check(strict, text));
        by_tables.sort();
        by_validator.sort();
        assert_eq!(by_tables.len(), 3);
        assert_eq!(by_tables, by_validator);
    }

    #[cfg(feature = "full-schemas")]
    #[test]
    fn draft_4_makes_a_bound_exclusive_by_a_second_keyword() {
        let schema = json!({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true});
        assert_eq!(messages(schema.clone(), "1"), ["the value must be more than 1"]);
        assert!(messages(schema, "1.5").is_empty());
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
