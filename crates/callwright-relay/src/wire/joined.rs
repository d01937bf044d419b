//! A stream in answer to a question for a whole answer, put together: some servers always stream, as events or as lines of JSON.

use std::collections::HashMap;

use callwright::value::{Map, Value};

use super::call_id::is_no_id;

/// Joins the chunks in `body`, as a JSON text. An error among them is the answer. None for other texts, or without an end.
pub(crate) fn joined(body: &str) -> Option<String> {
    let mut whole = Map::new();
    let mut choices: Vec<JoinedChoice> = Vec::new();
    for line in body.lines() {
        let line = line.strip_prefix("data:").unwrap_or(line).trim();
        // Comments, names of events, `[DONE]`.
        if !line.starts_with('{') {
            continue;
        }
        let chunk: Map = serde_json::from_str(line).ok()?;
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Some(line.to_owned());
        }
        for (key, value) in chunk {
            match value {
                Value::Array(list) if key == "choices" => {
                    for choice in list {
                        let Value::Object(choice) = choice else { return None };
                        add_choice(&mut choices, choice);
                    }
                }
                value if !value.is_null() => drop(whole.insert(key, value)),
                _ => {}
            }
        }
    }
    let is_finished = |choice: &JoinedChoice| choice.rest.contains_key("finish_reason");
    if choices.is_empty() || !choices.iter().all(is_finished) {
        return None;
    }
    whole.insert(String::from("object"), "chat.completion".into());
    whole.insert(String::from("choices"), choices.into_iter().map(JoinedChoice::whole).collect());
    serde_json::to_string(&whole).ok()
}

/// One choice, as far as it has come.
struct JoinedChoice {
    index: Value,
    message: Map,
    calls: Vec<Map>,
    /// The last call of each index that the upstream gives, and of each index and id: no piece needs a search among all calls.
    last: HashMap<(String, Option<String>), usize>,
    /// The members beside the message.
    rest: Map,
}

impl JoinedChoice {
    fn whole(self) -> Value {
        let JoinedChoice { index, mut message, calls, rest, last: _ } = self;
        message.entry("content").or_insert(Value::Null);
        if !calls.is_empty() {
            let calls: Value = calls.into_iter().map(Value::Object).collect();
            message.insert(String::from("tool_calls"), calls);
        }
        let mut choice = Map::new();
        choice.insert(String::from("index"), index);
        choice.insert(String::from("message"), message.into());
        choice.extend(rest);
        choice.into()
    }

    fn add_call(&mut self, mut piece: Map) {
        let index = piece.remove("index").map(|index| index.to_string());
        if piece.get("id").and_then(Value::as_str).is_some_and(is_no_id) {
            piece.remove("id");
        }
        let id = piece.get("id").map(Value::to_string);
        let known = match (&index, &id) {
            (None, None) => self.calls.len().checked_sub(1),
            // Without an index, an id begins a call.
            (None, Some(_)) => None,
            (Some(index), _) => self.last.get(&(index.clone(), id.clone())).copied(),
        };
        if let Some(call) = known.and_then(|at| self.calls.get_mut(at)) {
            return add_to_call(call, piece);
        }
        if let Some(index) = index {
            self.last.extend([(index.clone(), None), (index, id)].map(|place| (place, self.calls.len())));
        }
        self.calls.push(piece);
    }
}

fn add_choice(choices: &mut Vec<JoinedChoice>, mut choice: Map) {
    let index = choice.remove("index").unwrap_or_else(|| 0_u64.into());
    let at = choices.iter().position(|known| known.index == index).unwrap_or_else(|| {
        choices.push(JoinedChoice {
            index,
            message: Map::new(),
            calls: Vec::new(),
            last: HashMap::new(),
            rest: Map::new(),
        });
        choices.len() - 1
    });
    let Some(known) = choices.get_mut(at) else { return };
    if let Some(Value::Object(mut delta)) = choice.remove("delta") {
        if let Some(Value::Array(calls)) = delta.remove("tool_calls") {
            for call in calls {
                if let Value::Object(call) = call {
                    known.add_call(call);
                }
            }
        }
        for (key, value) in delta {
            match key.as_str() {
                "role" => drop(known.message.insert(key, value)),
                "function_call" => add_member(&mut known.message, key, value, add_to_call),
                _ => add_member(&mut known.message, key, value, |old, new| old.extend(new)),
            }
        }
    }
    for (key, value) in choice {
        // `logprobs` has lists, which grow.
        let grow = |old: &mut Map, new: Map| {
            new.into_iter().for_each(|(key, value)| add_member(old, key, value, |old, new| old.extend(new)));
        };
        match key.as_str() {
            // It is said once, and `null` before that.
            "finish_reason" if value.is_null() => {}
            "finish_reason" => drop(known.rest.insert(key, value)),
            _ => add_member(&mut known.rest, key, value, grow),
        }
    }
}

/// Adds a piece to a call. Only arguments grow; a call says its other members once, or again.
fn add_to_call(call: &mut Map, piece: Map) {
    for (key, value) in piece {
        let is_empty = value.is_null() || value == "";
        match (call.get_mut(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) if key == "function" => add_to_call(old, new),
            (Some(Value::String(old)), Value::String(more)) if key == "arguments" => old.push_str(&more),
            (_, value) if !is_empty => drop(call.insert(key, value)),
            _ => {}
        }
    }
}

/// Adds a member. Texts and lists grow, objects as `grow` says; the last value of any other member counts.
fn add_member(to: &mut Map, key: String, value: Value, grow: impl Fn(&mut Map, Map)) {
    match (to.get_mut(&key), value) {
        (Some(_), Value::Null) => {}
        (Some(Value::String(old)), Value::String(more)) => old.push_str(&more),
        (Some(Value::Array(old)), Value::Array(more)) => old.extend(more),
        (Some(Value::Object(old)), Value::Object(more)) => grow(old, more),
        (_, value) => drop(to.insert(key, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_add_up_to_an_answer() {
        let chunk =
            |choice: &str| format!(r#"{{"id":"c1","object":"chat.completion.chunk","choices":[{choice}]}}"#);
        let chunks = [
            chunk(r#"{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}"#),
            chunk(r#"{"index":0,"delta":{"content":"b","vendor":{"x":1}},"logprobs":{"content":[1]}}"#),
            chunk(
                r#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","sign":"S","function":{"name":"f","arguments":"{"}}]},"logprobs":{"content":[2]}}"#,
            ),
            chunk(
                r#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"null","function":{"name":"","arguments":"}"}}]}}"#,
            ),
            chunk(
                r#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}}"#,
            ),
            chunk(r#"{"index":0,"delta":{},"finish_reason":"tool_calls"}"#),
            String::from(r#"{"id":"c1","choices":[],"usage":{"total_tokens":3}}"#),
        ];
        let expected = r#"{"id":"c1","object":"chat.completion","usage":{"total_tokens":3},"choices":[{"index":0,"message":{"role":"assistant","content":"ab","vendor":{"x":1},"tool_calls":[{"id":"a","type":"function","sign":"S","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls","logprobs":{"content":[1,2]}}]}"#;
        let value = |text: &str| text.parse::<Value>().unwrap();
        let events: String = chunks.iter().map(|chunk| format!(": x\n\ndata: {chunk}\n\n")).collect();
        for body in [format!("{events}data: [DONE]\n\n"), chunks.join("\n")] {
            assert_eq!(value(&joined(&body).unwrap()), value(expected));
        }
        // Without its end it is no answer.
        assert_eq!(joined(&chunks[..4].join("\n")), None);
        assert_eq!(joined("<html>"), None);
        let error = r#"{"error":{"message":"no"}}"#;
        assert_eq!(joined(&format!("{}\ndata: {error}", chunks[0])).as_deref(), Some(error));
    }
}
