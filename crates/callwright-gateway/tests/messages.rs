//! What stands around a turn for clients of Anthropic's messages: who may ask, how errors look, models, counts.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod running;

use callwright::json;
use callwright::value::Value;
use callwright_gateway::{ClientKey, GatewayConfig, ServerConfig};

use crate::running::{Running, relay_to, replay};

const HELLO: &str =
    "[[answer]]\ntext = \"Hello.\"\nrepeat = true\n\n[[models]]\nid = \"qwen3\"\ncreated = 1767225600\n";

fn hello() -> Value {
    json!({"model": "qwen3", "max_tokens": 10, "messages": [{"role": "user", "content": "Hi."}]})
}

#[test]
fn either_key_admits_and_none_is_told_in_the_form_of_the_api() {
    let replay = replay(HELLO);
    let keys = vec![ClientKey::of("cw-one")];
    let mut relay = relay_to(&replay.base_url());
    relay.capability.probe = false;
    let running = Running::start(GatewayConfig { keys, ..GatewayConfig::default() }, relay);
    for (key, status) in [
        ("", 401),
        ("\nx-api-key: cw-two", 401),
        ("\nx-api-key: cw-one", 200),
        ("\nauthorization: Bearer cw-one", 200),
    ] {
        for path in ["/v1/messages", "/messages", "/v1/messages/count_tokens"] {
            let answer = running.ask(&format!("POST {path}{key}"), &hello().to_string());
            assert_eq!(answer.status, status, "{path}{key}");
            if status == 401 {
                let error = answer.json();
                assert_eq!(
                    (error["type"].as_str(), error["error"]["type"].as_str()),
                    (Some("error"), Some("authentication_error"))
                );
                assert_eq!(
                    error["request_id"].as_str(),
                    answer.headers.get("x-callwright-request").map(String::as_str)
                );
            }
        }
    }
}

#[test]
fn what_cannot_be_a_turn_is_told_in_the_form_of_the_api() {
    let replay = replay(HELLO);
    let running = Running::before(&replay, ServerConfig::default());
    for (head, body, status, kind) in [
        ("GET /v1/messages", "", 405, "invalid_request_error"),
        ("POST /v1/messages", "{", 400, "invalid_request_error"),
        ("POST /v1/messages", "[]", 400, "invalid_request_error"),
        ("POST /v1/messages", r#"{"messages": [], "max_tokens": 1}"#, 400, "invalid_request_error"),
        ("POST /v1/messages\ncontent-type: text/plain", "{}", 415, "invalid_request_error"),
        ("POST /v1/messages\nx-callwright-policy: lax", "{}", 400, "invalid_request_error"),
    ] {
        let answer = running.ask(head, body);
        let error = answer.json();
        assert_eq!((answer.status, error["error"]["type"].as_str()), (status, Some(kind)), "{head}: {error}");
        assert!(error["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
    }
}

#[test]
fn tokens_are_estimated_and_models_are_listed() {
    let replay = replay(HELLO);
    let running = Running::before(&replay, ServerConfig::default());
    let answer = running.ask("POST /v1/messages/count_tokens?beta=true", &hello().to_string());
    assert_eq!((answer.status, answer.headers["x-callwright-estimate"].as_str()), (200, "1"));
    let n = answer.json()["input_tokens"].as_u64().unwrap();
    assert!((10..60).contains(&n), "{n}");
    let models = running.ask("GET /v1/models\nanthropic-version: 2023-06-01", "").json();
    let expected = json!({
        "type": "model", "id": "qwen3", "display_name": "qwen3", "created_at": "2026-01-01T00:00:00.000Z",
        "lifecycle": "active",
    });
    assert_eq!(models["data"], json!([expected]));
    assert_eq!(models["has_more"], false);
    let chat = running.get("/v1/models").json();
    assert_eq!((chat["object"].as_str(), chat["data"][0]["id"].as_str()), (Some("list"), Some("qwen3")));
}
