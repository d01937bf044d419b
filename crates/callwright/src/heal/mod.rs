//! The door for one JSON text: native arguments, or an answer that should be JSON.

mod pairs;

use callwright_json::{AnyValue, Class, Options, Parse, Problem, Reading, Repair, Tree, class_of, read_with};
use callwright_schema::{Checked, Coerced, Coercion, Schema};

use crate::context::is_cut;
use crate::payload::holds_several;
use crate::verdict::Reason;

/// A repaired text: strict JSON that fits the schema, and what it took.
#[derive(Clone, Debug)]
pub struct Healed {
    /// The strict JSON text; the source itself, byte for byte, where that was right.
    pub text: String,
    /// Where the values stand in `text`: see [`Healed::value`].
    pub tree: Tree,
    /// The edits of the source, in order.
    pub repairs: Vec<Repair>,
    /// Values that were given the type that the schema asks for; applied after the repairs.
    pub coercions: Vec<Coercion>,
    /// It was not held against all of the schema: see [`Acceptance::unchecked`](crate::Acceptance::unchecked).
    pub unchecked: bool,
}

/// Repairs one JSON text, for a schema where there is one.
///
/// `finish_reason` is the upstream's; `stop` is assumed where there is none. After `length` and `content_filter`
/// nothing is closed at the end of the text.
///
/// # Errors
/// The reason why there is not exactly one reading that fits the schema. Spans are bytes of `text`.
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
    let Some(schema) = schema else { return settle(read_with(text, &AnyValue, &options)).map(Healed::of) };
    let mut parse = read_with(text, schema.guide(), &options);
    // Of several readings of one value, the schema may admit one only.
    let fits = |reading: &Reading<'_>| schema.check(reading.value()).is_empty();
    let are_of_one = 1 < parse.readings.len() && !holds_several(&parse);
    if are_of_one && parse.readings.iter().filter(|reading| fits(reading)).count() == 1 {
        parse.readings.retain(fits);
    }
    if parse.readings.is_empty() {
        parse.readings.extend(pairs::read(text, schema.guide()));
    }
    fit(settle(parse)?, schema)
}

/// The reading that a parse is settled on, or the reason why there is none.
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

/// Checks a reading, and coerces what can be coerced without loss.
pub(crate) fn fit(reading: Reading<'_>, schema: &Schema) -> Result<Healed, Reason> {
    let Checked { violations, is_whole } = schema.check_whole(reading.value());
    if violations.is_empty() {
        return Ok(Healed { unchecked: !is_whole, ..Healed::of(reading) });
    }
    let coerced = schema.coerce(&reading.text, &reading.tree).ok_or(Reason::Invalid(violations))?;
    let Coerced { text, tree, coercions, is_whole } = coerced;
    Ok(Healed { text, tree, repairs: reading.repairs, coercions, unchecked: !is_whole })
}

impl Healed {
    /// What the text says, without reading it again.
    pub fn value(&self) -> callwright_json::Value<'_> {
        self.tree.root(&self.text)
    }

    /// The worst class of all that was done to the text.
    pub fn class(&self) -> Class {
        let repairs = class_of(&self.repairs);
        if self.coercions.is_empty() { repairs } else { repairs.max(Class::Inferred) }
    }

    fn of(reading: Reading<'_>) -> Healed {
        let (text, coercions) = (reading.text.into_owned(), Vec::new());
        Healed { text, tree: reading.tree, repairs: reading.repairs, coercions, unchecked: false }
    }
}
