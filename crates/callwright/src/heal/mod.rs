//! The door for one JSON text: native arguments, or an answer that should be JSON.

mod pairs;

use callwright_json::{
    AnyValue, Class, Options, Parse, Problem, Reading, Repair, RepairKind, Tree, class_of, read_with,
};
use callwright_schema::{Checked, Coerced, Coercion, Schema};

use crate::context::is_cut;
use crate::payload::holds_several;
use crate::verdict::Reason;

/// A repaired text: strict JSON that fits the schema, with its repairs.
#[derive(Clone, Debug)]
pub struct Healed {
    /// The strict JSON text; the source itself, byte for byte, if that was right.
    pub text: String,
    /// The places of the values in `text`: see [`Healed::value`].
    pub tree: Tree,
    /// The edits of the source, in order.
    pub repairs: Vec<Repair>,
    /// The values that were converted to the type of the schema, after the repairs.
    pub coercions: Vec<Coercion>,
    /// The check did not cover all of the schema: see [`Acceptance::unchecked`](crate::Acceptance::unchecked).
    pub unchecked: bool,
    /// The text ends before its value does: brackets were added there. The text cannot tell whether they were forgotten, or
    /// it was cut.
    pub open_end: bool,
}

/// Repairs one JSON text, for a schema if there is one.
///
/// `finish_reason` is the upstream's; the default is `stop`. After `length` and `content_filter` nothing is closed at
/// the end of the text.
///
/// # Errors
/// An error is the reason why there is not exactly one reading that fits the schema. Spans are bytes of `text`.
///
/// ```
/// let healed = callwright::heal(r#"{"path": "test.py", "content": "hello""#, None, None).unwrap();
/// assert_eq!(healed.text, r#"{"path": "test.py", "content": "hello"}"#);
/// assert_eq!(healed.value().get("path").unwrap().as_str().unwrap(), "test.py");
/// assert_eq!(healed.repairs.len(), 1);
/// ```
///
/// Without a schema and with one:
///
/// ```
/// use callwright::{Schema, heal, json};
///
/// let healed = heal("{'city': 'Paris', days: 3,}", None, None).unwrap();
/// assert_eq!(healed.text, r#"{"city": "Paris", "days": 3}"#);
///
/// let schema = Schema::compile(&json!({"properties": {"days": {"type": "integer"}}})).unwrap();
/// let healed = heal(r#"{"days": "3"}"#, Some(&schema), Some("stop")).unwrap();
/// assert_eq!(healed.text, r#"{"days": 3}"#);
/// ```
pub fn heal(text: &str, schema: Option<&Schema>, finish_reason: Option<&str>) -> Result<Healed, Reason> {
    let options = Options { cut: finish_reason.is_some_and(is_cut), ..Options::default() };
    let Some(schema) = schema else {
        return settle(read_with(text, &AnyValue, &options))
            .map(Healed::of)
            .map(|healed| healed.of_text(text));
    };
    let mut parse = read_with(text, schema.guide(), &options);
    // The schema may admit only one of several readings of one value.
    let fits = |reading: &Reading<'_>| schema.check(reading.value()).is_empty();
    let are_of_one = 1 < parse.readings.len() && !holds_several(&parse);
    if are_of_one && parse.readings.iter().filter(|reading| fits(reading)).count() == 1 {
        parse.readings.retain(fits);
    }
    if parse.readings.is_empty() {
        parse.readings.extend(pairs::read(text, schema.guide()));
    }
    fit(settle(parse)?, schema).map(|healed| healed.of_text(text))
}

/// Returns the only reading of a parse, or the reason why there is not exactly one.
pub(crate) fn settle(parse: Parse<'_>) -> Result<Reading<'_>, Reason> {
    let Parse { mut readings, diagnostics } = parse;
    let is_cut = diagnostics.iter().any(|diagnostic| diagnostic.problem == Problem::Truncated);
    match readings.len() {
        1 => Ok(readings.swap_remove(0)),
        0 if is_cut => Err(Reason::Truncated(diagnostics)),
        0 => Err(Reason::Unreadable(diagnostics)),
        _ => Err(Reason::Ambiguous { readings: readings.into_iter().map(|r| r.text.into_owned()).collect() }),
    }
}

/// Checks a reading, and coerces the values that can be coerced without loss.
pub(crate) fn fit(reading: Reading<'_>, schema: &Schema) -> Result<Healed, Reason> {
    let Checked { violations, is_whole } = schema.check_whole(reading.value());
    if violations.is_empty() {
        return Ok(Healed { unchecked: !is_whole, ..Healed::of(reading) });
    }
    let coerced = schema.coerce(&reading.text, &reading.tree).ok_or(Reason::Invalid(violations))?;
    let Coerced { text, tree, coercions, is_whole } = coerced;
    Ok(Healed { text, tree, repairs: reading.repairs, coercions, unchecked: !is_whole, open_end: false })
}

impl Healed {
    /// Returns the value of the text, without reading it again.
    pub fn value(&self) -> callwright_json::Value<'_> {
        self.tree.root(&self.text)
    }

    /// Returns the worst class of all repairs and coercions of the text.
    pub fn class(&self) -> Class {
        let repairs = class_of(&self.repairs);
        if self.coercions.is_empty() { repairs } else { repairs.max(Class::Inferred) }
    }

    fn of(reading: Reading<'_>) -> Healed {
        let (text, coercions) = (reading.text.into_owned(), Vec::new());
        let (tree, repairs) = (reading.tree, reading.repairs);
        Healed { text, tree, repairs, coercions, unchecked: false, open_end: false }
    }

    /// Notes whether the `source` ends before the value.
    fn of_text(self, source: &str) -> Healed {
        let end = source.trim_end().len();
        let is_last =
            |repair: &Repair| repair.kind == RepairKind::AddCloser && end <= repair.at.start as usize;
        Healed { open_end: self.repairs.iter().any(is_last), ..self }
    }
}
