//! Tells the certain part of a text that is still being written.

use callwright::Partial;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::definitions::Schema;
use crate::told::{json, text};

/// Returns what is certain of the JSON `text`: `{"value": …, "complete": […]}`, without a value as long as nothing is.
#[wasm_bindgen]
pub fn partial(source: &[u8], finish_reason: Option<String>) -> String {
    told(&callwright::partial(&text(source), None, finish_reason.as_deref()))
}

#[wasm_bindgen]
impl Schema {
    /// Returns the same for a value that shall fit the schema.
    pub fn partial(&self, source: &[u8], finish_reason: Option<String>) -> String {
        told(&callwright::partial(&text(source), Some(&self.schema), finish_reason.as_deref()))
    }
}

/// Writes a value so far as JSON.
pub(crate) fn told(partial: &Partial) -> String {
    let complete = json(&partial.complete());
    match partial.text() {
        "" => format!(r#"{{"complete":{complete}}}"#),
        value => format!(r#"{{"value":{value},"complete":{complete}}}"#),
    }
}
