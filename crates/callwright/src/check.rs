//! The last step before a verdict: do the arguments fit the tool's schema, as they are or coerced?

use callwright_json::strict;

use crate::tools::Tool;
use crate::verdict::{Coercion, Violation};

/// Arguments that fit.
pub(crate) struct Fit {
    pub(crate) arguments: String,
    pub(crate) coercions: Vec<Coercion>,
}

/// Checks the strict JSON text of an object.
pub(crate) fn fit(tool: &Tool, arguments: &str) -> Result<Fit, Vec<Violation>> {
    let mut out = Vec::new();
    let schema = tool.schema().value();
    let Ok(tree) = strict(arguments) else { return Err(out) };
    let value = tree.root(arguments);
    for r in schema["required"].as_array().into_iter().flatten().filter_map(|r| r.as_str()) {
        if value.get(r).is_none() {
            out.push(Violation { pointer: String::new(), keyword: "required", message: format!("{r} is missing") });
        }
    }
    for (k, v) in value.members() {
        let k = k.as_str().unwrap_or_default();
        let Some(p) = schema["properties"].get(&*k) else {
            if schema["additionalProperties"] == serde_json::Value::Bool(false) {
                out.push(Violation { pointer: format!("/{k}"), keyword: "additionalProperties", message: String::new() });
            }
            continue;
        };
        let want = p["type"].as_str().unwrap_or("any");
        let have = v.kind().name();
        let ok = match want {
            "integer" => have == "number" && !v.raw().contains(['.', 'e']),
            "string" | "number" | "boolean" | "array" | "object" => have == want,
            _ => true,
        };
        if !ok {
            out.push(Violation { pointer: format!("/{k}"), keyword: "type", message: format!("{k} must be {want}") });
        }
    }
    if out.is_empty() { Ok(Fit { arguments: arguments.to_owned(), coercions: Vec::new() }) } else { Err(out) }
}
