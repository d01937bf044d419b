//! One JSON text: repaired, or refused.

use callwright::Healed;
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::definitions::Schema;
use crate::told::{self, Edits, Refusal, json, utf16};

/// Makes strict JSON of `text`; nothing where it is that already.
///
/// # Errors
/// Why there is not exactly one reading, as JSON.
#[wasm_bindgen]
pub fn heal(text: &[u8], finish_reason: Option<String>) -> Result<Option<String>, String> {
    healed(&told::text(text), None, finish_reason.as_deref())
}

/// Returns what [`heal`] did, as JSON; nothing where it refuses.
#[wasm_bindgen]
pub fn healing(text: &[u8], finish_reason: Option<String>) -> Option<String> {
    details(&told::text(text), None, finish_reason.as_deref())
}

#[wasm_bindgen]
impl Schema {
    /// Makes strict JSON that fits the schema of `text`; nothing where it is that already.
    ///
    /// # Errors
    /// Why there is not exactly one reading that fits, as JSON.
    pub fn heal(&self, text: &[u8], finish_reason: Option<String>) -> Result<Option<String>, String> {
        healed(&told::text(text), Some(&self.schema), finish_reason.as_deref())
    }

    /// Returns what `heal` did, as JSON; nothing where it refuses.
    pub fn healing(&self, text: &[u8], finish_reason: Option<String>) -> Option<String> {
        details(&told::text(text), Some(&self.schema), finish_reason.as_deref())
    }
}

fn healed(
    text: &str,
    schema: Option<&callwright::Schema>,
    finish_reason: Option<&str>,
) -> Result<Option<String>, String> {
    match callwright::heal(text, schema, finish_reason) {
        Ok(healed) if healed.repairs.is_empty() && healed.coercions.is_empty() => Ok(None),
        Ok(healed) => Ok(Some(healed.text)),
        Err(reason) => {
            let refusal = callwright::Refusal::of_text(text, reason);
            let (start, end) = utf16(text).pair(refusal.span);
            // What is repaired is no call in a text: the model is told as of a native one.
            let feedback = refusal.feedback().tool_result();
            Err(json(&Refusal::of(&refusal, start, end, feedback)))
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Healing<'h> {
    repair_class: &'static str,
    edits: Edits<'h>,
}

fn details(text: &str, schema: Option<&callwright::Schema>, finish_reason: Option<&str>) -> Option<String> {
    let healed: Healed = callwright::heal(text, schema, finish_reason).ok()?;
    Some(json(&Healing {
        repair_class: healed.class().code(),
        edits: Edits::of(&healed.repairs, &healed.coercions, &mut utf16(text)),
    }))
}
