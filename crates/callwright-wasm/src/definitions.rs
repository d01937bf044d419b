//! Tools and schemas, as a caller declares them: compiled once for each text, whoever asks.

use std::sync::{Arc, LazyLock};

use callwright::Compiled;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::told::{json, text};

static TOOL_SETS: LazyLock<Compiled<Arc<callwright::ToolSet>>> = LazyLock::new(|| {
    Compiled::new(|text| {
        callwright::ToolSet::from_json(text).map(Arc::new).map_err(|error| error.to_string())
    })
});

static SCHEMAS: LazyLock<Compiled<Arc<callwright::Schema>>> = LazyLock::new(|| {
    Compiled::new(|text| {
        let schema: callwright::value::Value =
            text.parse().map_err(|error| format!("the schema is not JSON: {error}"))?;
        let schema = callwright::Schema::compile(&schema).map_err(|error| error.to_string())?;
        match schema.faults() {
            [] => Ok(Arc::new(schema)),
            faults => Err(format!("the schema is not one: {}", sentences(faults).join("; "))),
        }
    })
});

/// Says of each part of a schema where it stands and why it says nothing.
fn sentences(parts: &[callwright::Unchecked]) -> Vec<String> {
    parts.iter().map(ToString::to_string).collect()
}

/// The tools that a model may call.
#[wasm_bindgen]
pub struct Tools {
    pub(crate) tools: Arc<callwright::ToolSet>,
}

#[wasm_bindgen]
impl Tools {
    /// Compiles `definitions`, JSON.
    ///
    /// # Errors
    /// Why they cannot be used.
    #[wasm_bindgen(constructor)]
    pub fn new(definitions: &[u8]) -> Result<Tools, String> {
        Result::clone(&TOOL_SETS.get(&text(definitions))).map(|tools| Tools { tools })
    }

    /// The names in the order of declaration, as JSON.
    pub fn names(&self) -> String {
        json(&self.tools.iter().map(callwright::Tool::name).collect::<Vec<_>>())
    }

    /// The demands that are not held against calls, one sentence each, as JSON.
    pub fn unchecked(&self) -> String {
        let parts = self.tools.unchecked().map(|(tool, part)| format!("{tool}: {part}"));
        json(&parts.collect::<Vec<String>>())
    }

    /// Returns whether all that the schemas demand is held against calls.
    pub fn is_fully_checked(&self) -> bool {
        self.tools.iter().all(|tool| tool.schema().is_fully_checked())
    }
}

/// A JSON Schema.
#[wasm_bindgen]
pub struct Schema {
    pub(crate) schema: Arc<callwright::Schema>,
}

#[wasm_bindgen]
impl Schema {
    /// Compiles `schema`, JSON.
    ///
    /// # Errors
    /// Why it cannot be used.
    #[wasm_bindgen(constructor)]
    pub fn new(schema: &[u8]) -> Result<Schema, String> {
        Result::clone(&SCHEMAS.get(&text(schema))).map(|schema| Schema { schema })
    }

    /// The demands that are not held against values, one sentence each, as JSON.
    pub fn unchecked(&self) -> String {
        json(&sentences(self.schema.unchecked()))
    }

    /// Returns whether all that the schema demands is held against values.
    pub fn is_fully_checked(&self) -> bool {
        self.schema.is_fully_checked()
    }
}
