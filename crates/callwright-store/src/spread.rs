//! Puts the pieces of a stream of events together. A secret may be spread over its events, a few letters in each.

use std::collections::BTreeMap;

use callwright_value::Value;

/// Deeper than this no event has texts.
const DEPTH: usize = 12;

/// The texts of a stream of server-sent events: for each place in the events, all that stands there, in order.
///
/// `data: {"a": "x"}`, `data: {"a": "y"}` → `xy`. Any other text has none.
pub(crate) fn texts(stream: &str) -> Vec<String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let events = stream.lines().filter_map(|line| line.strip_prefix("data:"));
    for event in events.filter_map(|data| serde_json::from_str::<Value>(data).ok()) {
        collect(&event, &mut String::new(), 0, &mut texts);
    }
    texts.into_values().collect()
}

fn collect(value: &Value, place: &mut String, depth: usize, texts: &mut BTreeMap<String, String>) {
    let end = place.len();
    match value {
        Value::String(text) => texts.entry(place.clone()).or_default().push_str(text),
        Value::Array(values) if depth < DEPTH => {
            // Each event has its list anew; what belongs together says so by an index.
            for value in values {
                let index = value.get("index").and_then(Value::as_u64).unwrap_or_default();
                place.push_str(&format!("/{index}"));
                collect(value, place, depth + 1, texts);
                place.truncate(end);
            }
        }
        Value::Object(members) if depth < DEPTH => {
            for (key, value) in members {
                place.push('/');
                place.push_str(key);
                collect(value, place, depth + 1, texts);
                place.truncate(end);
            }
        }
        Value::Array(_) | Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_piece_by_piece_is_put_together() {
        let stream = "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"hun\"}}]}\n\n\
                      data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"no\"}}]}\n\n\
                      data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"ter2\"}}]}\n\n\
                      data: [DONE]\n\ndata: {\"cut";
        assert_eq!(texts(stream), ["no", "hunter2"]);
        assert!(texts("{\"content\": \"x\"}").is_empty());
        let deep = format!("data: {}1{}", "[".repeat(100), "]".repeat(100));
        assert!(texts(&deep).is_empty());
    }
}
