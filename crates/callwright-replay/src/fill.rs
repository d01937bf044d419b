//! A value that a JSON schema admits, out of the words of a task as far as they fit, else a plain one.

use callwright_value::json;
use callwright_value::{Map, Number, Value};

use crate::pattern;
use crate::task::Task;

/// The most depth to which schemas are followed: one that refers to itself ends there.
const MAX_DEPTH: usize = 32;

/// The material of values.
pub(crate) struct Source<'a> {
    /// The words of the user.
    pub(crate) task: &'a Task<'a>,
    /// Values for parameters of these names, where their schema admits them.
    pub(crate) with: &'a Map,
    /// The whole schema, for references.
    pub(crate) root: &'a Value,
}

impl Source<'_> {
    /// A value that `root` admits.
    pub(crate) fn value(&self) -> Value {
        self.fill(self.root, "", 0, 0)
    }

    /// The value of the parameter `key`, the `nth` of its list.
    fn fill(&self, schema: &Value, key: &str, nth: usize, depth: usize) -> Value {
        if MAX_DEPTH < depth {
            return Value::Null;
        }
        let schema = &self.resolved(schema, depth);
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let given = self.with.get(key).filter(|value| admits(schema, value));
        if let Some(value) = given {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            let said = values.iter().find(|value| value.as_str().is_some_and(|text| self.task.says(text)));
            let other = values.iter().filter(|value| !value.is_null()).nth(nth);
            return said.filter(|_| nth == 0).or(other).or(values.first()).cloned().unwrap_or_default();
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, key, depth),
            "integer" | "number" => self.number(schema, nth),
            "boolean" => preset(schema).unwrap_or(Value::Bool(false)),
            "null" => Value::Null,
            _ => self.string(schema, nth).into(),
        }
    }

    /// A schema whose references, variants and parts are put together.
    fn resolved(&self, schema: &Value, depth: usize) -> Value {
        let Value::Object(members) = schema else { return json!({}) };
        let mut all = members.clone();
        let mut parts = Vec::new();
        if let Some(place) = all.remove("$ref")
            && let Some(pointer) = place.as_str().and_then(|place| place.strip_prefix('#'))
        {
            parts.extend(self.root.pointer(pointer));
        }
        for key in ["anyOf", "oneOf"] {
            let variants = members.get(key).and_then(Value::as_array);
            // Null is what an optional value may be.
            let is_null = |variant: &&Value| variant["type"] == "null";
            parts.extend(variants.and_then(|all| all.iter().find(|v| !is_null(v)).or(all.first())));
        }
        parts.extend(members.get("allOf").and_then(Value::as_array).into_iter().flatten());
        for part in parts {
            if MAX_DEPTH < depth {
                break;
            }
            let Value::Object(part) = self.resolved(part, depth + 1) else { continue };
            for (key, value) in part {
                match (all.get_mut(&key), value) {
                    (Some(Value::Object(there)), Value::Object(more)) => there.extend(more),
                    (Some(Value::Array(there)), Value::Array(more)) if key == "required" => {
                        there.extend(more);
                    }
                    (Some(_), _) => {}
                    (None, value) => {
                        all.insert(key, value);
                    }
                }
            }
        }
        Value::Object(all)
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut keys: Vec<&str> = required.collect();
        // A value that is given is wanted, demanded or not.
        let given = self.with.keys().filter(|key| properties.contains_key(key));
        let enough = size(schema, "minProperties");
        let more = properties.keys().filter(|key| !properties[*key]["type"].is_null());
        for key in given.map(String::as_str) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in more {
            if keys.len() < enough && !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
        let mut members = Map::new();
        for key in keys {
            let schema = properties.get(key).or_else(|| schema.get("additionalProperties"));
            members.insert(key.to_owned(), self.fill(schema.unwrap_or(&Value::Null), key, 0, depth + 1));
        }
        while members.len() < enough {
            let key = format!("key{}", members.len() + 1);
            let value = self.fill(&schema["additionalProperties"], &key, 0, depth + 1);
            members.insert(key, value);
        }
        members.into()
    }

    fn array(&self, schema: &Value, key: &str, depth: usize) -> Value {
        let prefix = schema["prefixItems"].as_array().map_or(&[][..], Vec::as_slice);
        let most = schema["maxItems"]
            .as_u64()
            .map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        // An empty list shows nothing.
        let n = size(schema, "minItems").max(prefix.len()).max(1).min(most);
        let item = |nth: usize| {
            let schema = prefix.get(nth).unwrap_or(&schema["items"]);
            self.fill(schema, key, nth, depth + 1)
        };
        (0..n).map(item).collect()
    }

    fn number(&self, schema: &Value, nth: usize) -> Value {
        let is_integer = kind(schema) == "integer";
        let bound = |key: &str| schema[key].as_f64();
        let step = bound("multipleOf").filter(|step| 0.0 < *step);
        let fits = |value: f64| {
            (!is_integer || value.fract() == 0.0)
                && bound("minimum").is_none_or(|least| least <= value)
                && bound("maximum").is_none_or(|most| value <= most)
                && bound("exclusiveMinimum").is_none_or(|least| least < value)
                && bound("exclusiveMaximum").is_none_or(|most| value < most)
                && step.is_none_or(|step| (value / step).fract() == 0.0)
        };
        if let Some(number) = self.task.number(|number| number.as_f64().is_some_and(fits)) {
            return number.into();
        }
        if let Some(value) = preset(schema).filter(|value| value.as_f64().is_some_and(fits)) {
            return value;
        }
        // From the lower bound upwards, or from the upper one downwards; 1 where there is none.
        let unit = step.unwrap_or(1.0);
        let lower = bound("minimum").or(bound("exclusiveMinimum"));
        let upper = bound("maximum").or(bound("exclusiveMaximum"));
        let onto = |value: f64| step.map_or(value, |step| (value / step).ceil() * step);
        let start = match (lower, upper) {
            (Some(lower), _) => onto(lower),
            (None, Some(upper)) if upper < 1.0 => upper.floor(),
            (None, _) => onto(1.0),
        };
        let down = if lower.is_none() && upper.is_some() { -unit } else { unit };
        let between = lower.zip(upper).map(|(lower, upper)| f64::midpoint(lower, upper));
        let candidates = (0..4_u8).map(|n| start + down * f64::from(n)).chain(between).filter(|n| fits(*n));
        let value = candidates.cycle().nth(nth).unwrap_or(start);
        // Written as a whole number where it is one.
        match value.fract() == 0.0 && value.abs() < 1e15 {
            true => Value::from(value as i64),
            false => Number::from_f64(value).map_or(Value::Null, Value::Number),
        }
    }

    fn string(&self, schema: &Value, nth: usize) -> String {
        if let Some(text) = schema["pattern"].as_str().and_then(pattern::example) {
            return text;
        }
        if let Some(Format { is, plain }) = schema["format"].as_str().and_then(format) {
            return self.task.word(is).unwrap_or_else(|| plain.to_owned());
        }
        let in_bounds = |text: &String| {
            let n = text.chars().count();
            size(schema, "minLength") <= n && schema["maxLength"].as_u64().is_none_or(|most| n as u64 <= most)
        };
        let text = self.task.named().filter(in_bounds);
        let text = text.or_else(|| preset(schema)?.as_str().map(str::to_owned));
        let text = text.or_else(|| shown_in(schema["description"].as_str()?)).filter(in_bounds);
        let mut text = text.unwrap_or_else(|| self.task.rest());
        if 0 < nth {
            text.push_str(&format!(" {}", nth + 1));
        }
        if text.is_empty() {
            text.push_str("hello");
        }
        let least = size(schema, "minLength");
        while text.chars().count() < least {
            text.push('.');
        }
        match schema["maxLength"].as_u64() {
            Some(most) => text.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect(),
            None => text,
        }
    }
}

/// The type of a schema, in whatever case; the first that is not null where there are several.
fn kind(schema: &Value) -> &'static str {
    const KINDS: [&str; 7] = ["object", "array", "integer", "number", "boolean", "null", "string"];
    let told = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    };
    let by_members = || {
        let has = |key: &str| schema.get(key).is_some();
        if has("properties") || has("required") {
            "object"
        } else if has("items") || has("prefixItems") {
            "array"
        } else if has("minimum") || has("maximum") {
            "number"
        } else {
            "string"
        }
    };
    let known = told.and_then(|told| KINDS.into_iter().find(|kind| kind.eq_ignore_ascii_case(told)));
    known.unwrap_or_else(by_members)
}

/// Returns whether `value` is of the schema's type, and among its values.
fn admits(schema: &Value, value: &Value) -> bool {
    let is_one = schema["enum"].as_array().is_none_or(|values| values.contains(value));
    is_one
        && match kind(schema) {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            _ => value.is_string(),
        }
}

fn size(schema: &Value, key: &str) -> usize {
    schema[key].as_u64().map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX))
}

/// The value that the schema itself names.
fn preset(schema: &Value) -> Option<Value> {
    let preset =
        schema.get("default").or_else(|| schema["examples"].get(0)).or_else(|| schema.get("example"));
    preset.filter(|value| admits(schema, value)).cloned()
}

/// The value that a description shows: `The city (e.g., 'Paris')`.
fn shown_in(description: &str) -> Option<String> {
    Task::new(description, None).quoted()
}

/// The texts of a format.
struct Format {
    /// Returns whether a word is one. A text that nobody would say in a sentence has no such word.
    is: fn(&str) -> bool,
    /// One that is.
    plain: &'static str,
}

fn format(name: &str) -> Option<Format> {
    fn digits(word: &str, separator: char, lengths: &[usize]) -> bool {
        let parts: Vec<&str> = word.split(separator).collect();
        parts.len() == lengths.len()
            && parts
                .iter()
                .zip(lengths)
                .all(|(part, length)| part.len() == *length && part.bytes().all(|byte| byte.is_ascii_digit()))
    }
    let (is, plain): (fn(&str) -> bool, &str) = match name {
        "date" => (|word| digits(word, '-', &[4, 2, 2]), "2026-01-31"),
        "time" => (|_| false, "12:00:00Z"),
        "date-time" => (|_| false, "2026-01-31T12:00:00Z"),
        "duration" => (|_| false, "PT1H"),
        "email" | "idn-email" => (
            |word| word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.')),
            "ada@example.com",
        ),
        "uri" | "url" | "iri" | "uri-reference" | "iri-reference" => {
            (|word| word.starts_with("http://") || word.starts_with("https://"), "https://example.com/")
        }
        "uuid" => (|_| false, "123e4567-e89b-42d3-a456-426614174000"),
        "ipv4" => (|word| word.parse::<std::net::Ipv4Addr>().is_ok(), "192.0.2.1"),
        "ipv6" => (|word| word.parse::<std::net::Ipv6Addr>().is_ok(), "2001:db8::1"),
        "hostname" | "idn-hostname" => (|_| false, "example.com"),
        "json-pointer" => (|_| false, "/a"),
        "regex" => (|_| false, "a+"),
        _ => return None,
    };
    Some(Format { is, plain })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(schema: &Value, text: &str) -> Value {
        Source { task: &Task::new(text, None), with: &Map::new(), root: schema }.value()
    }

    fn member(schema: Value, text: &str) -> Value {
        let root = json!({ "type": "object", "properties": { "a": schema }, "required": ["a"] });
        filled(&root, text)["a"].clone()
    }

    #[test]
    fn words_of_the_task_go_where_they_fit() {
        let object = json!({
            "type": "object",
            "properties": {
                "from": { "type": "string" },
                "to": { "type": "string" },
                "n": { "type": "integer", "minimum": 2 },
                "class": { "enum": ["first", "second"] },
                "mail": { "type": "string", "format": "email" },
            },
            "required": ["n", "to", "from", "class", "mail"],
        });
        let text = "Book 1 train for 3 from Rome to Paris, second class, for ada@example.org.";
        let value = filled(&object, text);
        assert_eq!(
            value,
            json!({ "n": 3, "to": "ada@example.org", "from": "Rome", "class": "second", "mail": "ada@example.org" }),
        );
    }

    #[test]
    fn each_keyword_is_kept_without_words() {
        for (schema, value) in [
            (json!({ "const": "x" }), json!("x")),
            (json!({ "enum": [null, "a"] }), json!("a")),
            (json!({ "type": ["null", "integer"] }), json!(1)),
            (json!({ "type": "integer", "minimum": 5, "multipleOf": 3 }), json!(6)),
            (json!({ "type": "integer", "exclusiveMinimum": 5 }), json!(6)),
            (json!({ "type": "integer", "maximum": -5 }), json!(-5)),
            (json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 }), json!(0.5)),
            (json!({ "type": "boolean" }), json!(false)),
            (json!({ "type": "boolean", "default": true }), json!(true)),
            (json!({ "type": "string", "minLength": 7 }), json!("hello..")),
            (json!({ "type": "string", "maxLength": 2, "examples": ["long"] }), json!("he")),
            (json!({ "type": "string", "description": "It (e.g., 'Paris')" }), json!("Paris")),
            (json!({ "type": "string", "pattern": "^[A-Z]{2}$" }), json!("AA")),
            (json!({ "type": "string", "format": "date" }), json!("2026-01-31")),
            (
                json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2, "uniqueItems": true }),
                json!([1, 2]),
            ),
            (json!({ "type": "array", "maxItems": 0 }), json!([])),
            (
                json!({ "type": "array", "prefixItems": [{ "type": "integer" }, { "const": "b" }] }),
                json!([1, "b"]),
            ),
            (json!({ "anyOf": [{ "type": "null" }, { "type": "integer" }] }), json!(1)),
            (
                json!({ "allOf": [{ "properties": { "b": { "const": 1 } }, "required": ["b"] }, { "properties": { "c": { "const": 2 } }, "required": ["c"] }] }),
                json!({ "b": 1, "c": 2 }),
            ),
            (
                json!({ "type": "object", "minProperties": 1, "additionalProperties": { "type": "integer" } }),
                json!({ "key1": 1 }),
            ),
            (json!({ "type": "object", "required": ["b"] }), json!({ "b": "hello" })),
        ] {
            assert_eq!(member(schema.clone(), ""), value, "{schema}");
        }
    }

    #[test]
    fn references_are_followed_and_one_to_itself_ends() {
        let schema = json!({
            "$defs": { "node": { "type": "object", "properties": { "next": { "$ref": "#/$defs/node" } }, "required": ["next"] } },
            "$ref": "#/$defs/node",
        });
        assert!(filled(&schema, "")["next"]["next"].is_object());
    }
}
