//! The list of models that an upstream gives in OpenAI's form, and the same as Anthropic's clients read it.

use callwright::json;
use callwright::value::{Map, Value};
use callwright_store::rfc3339;

/// So many models stand on a page where the client does not say, and so many at most.
const PAGE: usize = 20;
const MOST: usize = 1000;

/// The names that servers have for the size of a model's context.
const CONTEXTS: [&str; 3] = ["max_input_tokens", "context_length", "max_model_len"];

/// The answer to `GET /v1/models`, or `GET /v1/models/ID`, for a client of messages; none where `body` lists no models.
pub(crate) fn models(body: &[u8], query: Option<&str>) -> Option<Value> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let Some(listed) = body["data"].as_array() else {
        return body["id"].is_string().then(|| model(&body));
    };
    let (mut most, mut after, mut before) = (PAGE, None, None);
    for (key, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        match &*key {
            "limit" => most = value.parse().unwrap_or(PAGE).clamp(1, MOST),
            "after_id" => after = Some(value.into_owned()),
            "before_id" => before = Some(value.into_owned()),
            _ => {}
        }
    }
    let at = |id: &str| listed.iter().position(|model| model["id"] == *id);
    let first = after.as_deref().and_then(at).map_or(0, |at| at + 1);
    let end = before.as_deref().and_then(at).unwrap_or(listed.len()).max(first);
    // What stands before a model ends right before it.
    let (first, last) = match before {
        Some(_) => (end.saturating_sub(most).max(first), end),
        None => (first, end.min(first + most)),
    };
    let page: Vec<Value> = listed[first..last].iter().map(model).collect();
    let id = |model: Option<&Value>| model.map(|model| model["id"].clone()).unwrap_or_default();
    Some(json!({
        "first_id": id(page.first()),
        "last_id": id(page.last()),
        "has_more": if before.is_some() { 0 < first } else { last < listed.len() },
        "data": page,
    }))
}

/// When a listed model was made, as texts have it.
pub(crate) fn created(listed: &Value) -> String {
    rfc3339(listed["created"].as_i64().unwrap_or_default().saturating_mul(1000))
}

/// Returns the size of a listed model's context in tokens, where the list says so.
pub(crate) fn context(listed: &Value) -> Option<u64> {
    CONTEXTS.iter().find_map(|key| listed[*key].as_u64())
}

fn model(listed: &Value) -> Value {
    let mut model = Map::from_iter([
        ("type".into(), "model".into()),
        ("id".into(), listed["id"].clone()),
        ("display_name".into(), listed["id"].clone()),
        ("created_at".into(), created(listed).into()),
        ("lifecycle".into(), "active".into()),
    ]);
    if let Some(context) = context(listed) {
        model.insert("max_input_tokens".into(), context.into());
    }
    model.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_listed_by_the_page() {
        let body = br#"{"object": "list", "data": [{"id": "a", "created": 1767225600, "max_model_len": 4096}, {"id": "b"}, {"id": "c"}]}"#;
        let ids = |query: &str| {
            let listed = models(body, Some(query)).unwrap();
            let ids: Vec<String> =
                listed["data"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap().into()).collect();
            (ids.concat(), listed["has_more"] == true)
        };
        assert_eq!(ids(""), ("abc".into(), false));
        assert_eq!(ids("limit=2"), ("ab".into(), true));
        assert_eq!(ids("limit=2&after_id=b"), ("c".into(), false));
        assert_eq!(ids("limit=1&before_id=c"), ("b".into(), true));
        let first = json!({
            "type": "model", "id": "a", "display_name": "a", "created_at": rfc3339(1_767_225_600_000),
            "lifecycle": "active", "max_input_tokens": 4096,
        });
        assert_eq!(models(body, None).unwrap()["data"][0], first);
        assert_eq!(
            models(br#"{"id": "a", "created": 1767225600, "max_model_len": 4096}"#, None).unwrap(),
            first
        );
        assert_eq!(models(b"[]", None), None);
    }
}
