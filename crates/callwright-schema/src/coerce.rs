//! Gives a value the type of its schema, if there is one way to do it and nothing is lost.
//!
//! | from | to | where the schema wants |
//! |---|---|---|
//! | `"5"` | `5` | a number; not `"007"`, `"1,000"`, `" 5"` |
//! | `"true"`, `"True"`, `"TRUE"` | `true` | a boolean |
//! | `"null"`, `"None"`, `"NULL"`, `"Null"` | `null` | null and no string |
//! | `"[1]"`, `"{\"a\": 1}"`, `"['a']"` | `[1]`, `{"a": 1}`, `["a"]` | an array or an object |
//! | `5`, `1.50` | `"5"`, `"1.50"` | a string |
//! | `"a": 0, "a": "x"` | `"a": "x"` | a string: of a key that stands twice the only value that fits |
//! | `"a": null` | nothing | any other type, where `a` is optional |
//! | `"excellent"` | `"Excellent"` | one of some values, if only this one is the same but for its case |
//!
//! Nothing else: no scalar becomes a list, no boolean a string, no word another one, and no default is filled in.

use std::ops::ControlFlow;

use callwright_json::{Class, Guide, Kind, Kinds, Member, Place, Reading, Span, Tree, Value, read, strict};

use super::check::walk;
use super::fits::has_type;
use super::guide::{Rule, SchemaGuide};
use super::message::{Held, pointer_to, show, way};
use super::number;
use super::schema::Schema;
use super::violation::{Checked, Fault, Sort, Violation};

/// Most rounds over one value: a value from a string may hold more to coerce.
const MAX_ROUNDS: usize = 4;
/// Most coercions of one value.
const MAX_COERCIONS: usize = 256;

/// A value that got the type its schema asks for, without loss: `"5"` → `5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coercion {
    /// A JSON pointer into the arguments: `/limit`.
    pub pointer: String,
    /// The JSON text before.
    pub from: String,
    /// The JSON text after.
    pub to: String,
}

impl Coercion {
    /// Returns the violation that replaces this coercion if nothing may be coerced.
    pub fn violation(&self) -> Violation {
        let at = self.pointer.trim_start_matches('/');
        let message = format!("{at}: write {}, not {}", show(&self.to), show(&self.from));
        Violation { pointer: self.pointer.clone(), keyword: "type", message }
    }
}

/// A value that fits after coercions.
#[derive(Clone, Debug)]
pub struct Coerced {
    /// The strict JSON text. Values that were not coerced stay as they stood.
    pub text: String,
    /// The places of the values in `text`.
    pub tree: Tree,
    /// The coercions, in the order in which they were made.
    pub coercions: Vec<Coercion>,
    /// The check covered all of the schema: see [`Checked::is_whole`].
    pub is_whole: bool,
}

impl Schema {
    /// Makes a value that does not fit one that does, by coercions that lose nothing; `None` if there is no way.
    ///
    /// `text` is strict JSON and `tree` its values. Call it only after [`Schema::check`] found violations.
    ///
    /// ```
    /// use callwright_schema::{Schema, SchemaError};
    /// use callwright_value::json;
    ///
    /// let schema = Schema::compile(&json!({"properties": {"limit": {"type": "integer"}}}))?;
    /// let text = r#"{"limit": "5"}"#;
    /// let coerced = schema.coerce(text, &callwright_json::strict(text).unwrap()).unwrap();
    /// assert_eq!(coerced.text, r#"{"limit": 5}"#);
    /// # Ok::<(), SchemaError>(())
    /// ```
    pub fn coerce(&self, text: &str, tree: &Tree) -> Option<Coerced> {
        let mut coercions = Vec::new();
        let mut text = self.coerce_types(text, tree, &mut coercions)?;
        for _ in 0..MAX_ROUNDS {
            let tree = strict(&text).ok()?;
            let Checked { violations, is_whole } = self.check_whole(tree.root(&text));
            if violations.is_empty() {
                return Some(Coerced { text, tree, coercions, is_whole });
            }
            text = self.coerce_types(&text, &tree, &mut coercions)?;
        }
        None
    }

    /// Coerces every value that has a wrong type; `None` if one of them cannot be coerced, or there is none.
    fn coerce_types(&self, text: &str, tree: &Tree, coercions: &mut Vec<Coercion>) -> Option<String> {
        let root = tree.root(text);
        let mut edits: Vec<(Span, Coercion)> = Vec::new();
        let mut dropped: Vec<Value<'_>> = Vec::new();
        let coercion = |value: Value<'_>, to: String| Coercion {
            pointer: pointer_to(root, value),
            from: value.raw().to_owned(),
            to,
        };
        // The tables err on the permissive side: a type that they refuse is wrong, whatever else the schema says.
        let walked = walk(&self.guide, self.guide.root, root, &mut |fault| {
            let Fault { value, place, entry, sort } = fault;
            if MAX_COERCIONS <= edits.len() + dropped.len() + coercions.len() {
                return ControlFlow::Break(());
            }
            match sort {
                Sort::Type if has_fitting_twin(root, value, entry.kinds) => dropped.push(value),
                Sort::Type => match converted(&self.guide, place, value, entry.kinds) {
                    Some(to) => edits.push((value.span(), coercion(value, to))),
                    None if value.kind() != Kind::Null || !is_optional(&self.guide, root, value) => {
                        return ControlFlow::Break(());
                    }
                    None => dropped.push(value),
                },
                Sort::Rule(Rule::OneOf { canonical, .. }) => {
                    let to = in_other_case(value, canonical);
                    edits.extend(to.map(|to| (value.span(), coercion(value, to))));
                }
                Sort::Rule(_) | Sort::Missing(_) | Sort::Unknown(_) => {}
                Sort::Duplicate(_) | Sort::Surrogate => {}
            }
            ControlFlow::Continue(())
        });
        if walked.is_break() {
            return None;
        }
        for &value in &dropped {
            edits.push((member_span(root, value, &dropped)?, coercion(value, String::new())));
        }
        if edits.is_empty() {
            return None;
        }
        // All edits but the dropped members came in the order of the text.
        let mut ordered: Vec<(Span, Coercion)> = Vec::with_capacity(edits.len());
        for edit in edits {
            ordered.insert(ordered.partition_point(|(at, _)| *at <= edit.0), edit);
        }
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (at, coercion) in ordered {
            let at = at.range();
            out.push_str(text.get(done..at.start)?);
            out.push_str(&coercion.to);
            done = at.end;
            coercions.push(coercion);
        }
        out.push_str(text.get(done..)?);
        Some(out)
    }
}

/// Returns the JSON text of `value`, which has none of `kinds`, as one of them.
fn converted(guide: &SchemaGuide, place: Place, value: Value<'_>, kinds: Kinds) -> Option<String> {
    match value.kind() {
        // A number's text keeps its digits.
        Kind::Number if kinds.meets(Kinds::STRING) => Some(format!("\"{}\"", value.raw())),
        Kind::String if !value.has_lone_surrogate() => from_text(guide, place, &value.as_str()?, kinds),
        Kind::Number | Kind::String | Kind::Null | Kind::Bool | Kind::Array | Kind::Object => None,
    }
}

/// Returns the only one of `choices` that equals the string `value` but for the case of its letters.
fn in_other_case(value: Value<'_>, choices: &[Box<str>]) -> Option<String> {
    let own = (value.kind() == Kind::String).then(|| value.canonical())?;
    let mut alike = choices.iter().filter(|choice| choice.eq_ignore_ascii_case(&own));
    alike.next().filter(|_| alike.next().is_none()).map(|choice| choice.to_string())
}

fn from_text(guide: &SchemaGuide, place: Place, text: &str, kinds: Kinds) -> Option<String> {
    match text {
        "true" | "True" | "TRUE" => return kinds.meets(Kinds::BOOL).then(|| "true".to_owned()),
        "false" | "False" | "FALSE" => return kinds.meets(Kinds::BOOL).then(|| "false".to_owned()),
        "null" | "None" | "NULL" | "Null" => return kinds.meets(Kinds::NULL).then(|| "null".to_owned()),
        _ => {}
    }
    let is_wanted = |value: Value<'_>| match value.kind() {
        // Spaces around a number would not come back.
        Kind::Number => {
            value.raw() == text
                && (kinds.has(Kinds::NUMBER) || kinds.meets(Kinds::INTEGER) && number::is_whole(text))
        }
        Kind::Array => kinds.meets(Kinds::ARRAY),
        Kind::Object => kinds.meets(Kinds::OBJECT),
        Kind::Null | Kind::Bool | Kind::String => false,
    };
    if let Ok(tree) = strict(text) {
        return is_wanted(tree.root(text)).then(|| text.to_owned());
    }
    // `['a']` is a list as another language writes it; prose that happens to hold brackets is not.
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let parse = read(text, &guide.at(place));
    let is_lossless = |reading: &&Reading<'_>| reading.class() <= Class::Lossless && reading.is_whole(text);
    let reading = parse.settled().filter(is_lossless)?;
    is_wanted(reading.value()).then(|| reading.text.clone().into_owned())
}

/// Returns whether the key of `value`, which has none of `kinds`, stands once more in its object with a value that has
/// one.
fn has_fitting_twin(root: Value<'_>, value: Value<'_>, kinds: Kinds) -> bool {
    let Some(Held { around, key: Some(key), .. }) = way(root, value).pop() else { return false };
    let mut twins = around.members().filter(|(other, member)| other.same_as(key) && has_type(*member, kinds));
    twins.next().is_some() && twins.next().is_none()
}

/// Returns whether `value` is a declared member that its object need not have.
fn is_optional(guide: &SchemaGuide, root: Value<'_>, value: Value<'_>) -> bool {
    let mut place = guide.root();
    for held in way(root, value) {
        place = match held.key.map(|key| guide.member(place, &key.as_str().unwrap_or_default())) {
            Some(Member::Declared(slot, _)) if held.value.span() == value.span() => {
                return guide.required(place) >> slot & 1 == 0;
            }
            Some(Member::Declared(_, at) | Member::Open(at)) => at,
            Some(Member::Forbidden) => return false,
            None => guide.element(place, held.number),
        };
    }
    false
}

/// Returns the text to remove with the member `value`, its comma included, if all of `dropped` go. The spans of several
/// members never overlap.
fn member_span(root: Value<'_>, value: Value<'_>, dropped: &[Value<'_>]) -> Option<Span> {
    let object = way(root, value).pop().filter(|held| held.key.is_some())?.around;
    let is_dropped = |member: Value<'_>| dropped.iter().any(|d| d.span() == member.span());
    let members: Vec<_> = object.members().collect();
    let at = members.iter().position(|(_, member)| member.span() == value.span())?;
    let key = members[at].0.span();
    let before =
        members[..at].last().filter(|_| members[..at].iter().any(|(_, member)| !is_dropped(*member)));
    Some(match (before, members.get(at + 1)) {
        (Some((_, before)), _) => Span { start: before.span().end, end: value.span().end },
        (None, Some((next, _))) => Span { start: key.start, end: next.span().start },
        (None, None) => Span { start: key.start, end: value.span().end },
    })
}
