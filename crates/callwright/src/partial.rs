//! The door for one JSON text that is still being written.

use callwright_json::{AnyValue, Partial};
use callwright_schema::Schema;

use crate::heal;

/// Returns what is certain of the value in `text`, whatever follows the text, for a schema if there is one.
///
/// With a `finish_reason` the text is over: if it has one reading, all of the value is there, and complete. Else it
/// is the part before the first sign that is out of order. What does not fit the schema is left out: it may be
/// converted in the end. [`Growing`](crate::Growing) does the same for a text that comes in pieces, and reads each once.
///
/// ```
/// use callwright::{Schema, json, partial};
///
/// let schema = Schema::compile(&json!({"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}})).unwrap();
/// let text = "```json\n{\"city\": \"Paris\", \"days\": \"3\", \"note\": ";
/// let so_far = partial(text, Some(&schema), None);
/// assert_eq!(so_far.text(), r#"{"city":"Paris"}"#);
/// assert_eq!(so_far.complete(), ["/city"]);
/// ```
pub fn partial(text: &str, schema: Option<&Schema>, finish_reason: Option<&str>) -> Partial {
    if finish_reason.is_some()
        && let Ok(healed) = heal(text, schema, finish_reason)
    {
        return Partial::whole(healed.text);
    }
    schema.map_or_else(|| Partial::of(text, &AnyValue), |schema| Partial::of(text, schema.guide()))
}
