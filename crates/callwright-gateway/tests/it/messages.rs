//! What stands around a turn for clients of Anthropic's messages: who may ask, how errors look, models, counts.

use callwright::json;
use callwright::value::Value;
use callwright_gateway::{ClientKey, GatewayConfig, ServerConfig};
use callwright_relay::UpstreamKind;
use callwright_relay::config::{ModelConfig, RelayConfig};

use crate::running::{Running, last_asked, relay_to, replay};

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

/// The configuration for an upstream that speaks messages itself.
fn relay_of_messages(replay: &callwright_replay::Replay) -> RelayConfig {
    let mut relay = relay_to(&replay.base_url());
    relay.upstreams[0].kind = Some(UpstreamKind::Messages);
    relay
}

#[test]
fn a_server_of_messages_gets_its_key_and_its_edition_and_counts_tokens_itself() {
    let replay = replay(
        "[[answer]]\nwhen = { path = \"/v1/messages/count_tokens\" }\nbody = '{\"input_tokens\": 7}'\n[[answer]]\ntext = \"Hello.\"\nrepeat = true\n",
    );
    let running = Running::start(GatewayConfig::default(), relay_of_messages(&replay));
    let counted = running.ask("POST /v1/messages/count_tokens?beta=true", &hello().to_string());
    assert_eq!((counted.status, counted.body.as_str()), (200, "{\"input_tokens\": 7}"));
    assert!(!counted.headers.contains_key("x-callwright-estimate"));
    // It counts no more: then the length tells.
    let counted = running.ask("POST /v1/messages/count_tokens", &hello().to_string());
    assert_eq!((counted.status, counted.headers["x-callwright-estimate"].as_str()), (200, "1"));
    let answer = running.ask("POST /v1/messages\nanthropic-beta: b", &hello().to_string());
    assert_eq!((answer.status, answer.headers["x-callwright-upstream"].as_str()), (200, "replay"));
    let asked = last_asked(&replay);
    assert_eq!(asked.body, hello().to_string().as_bytes());
    assert_eq!((asked.header("x-api-key"), asked.header("authorization")), (Some("***"), None));
    assert_eq!(
        (asked.header("anthropic-version"), asked.header("anthropic-beta")),
        (Some("2023-06-01"), Some("b"))
    );
}

#[test]
fn a_call_that_was_repaired_on_the_way_is_counted() {
    let replay = replay(
        "[[answer]]\ntool_calls = [{ name = \"f\", arguments = '{\"a\": 1,}' }]\nform = { pieces = 1 }\n",
    );
    let running = Running::start(GatewayConfig::default(), relay_of_messages(&replay));
    let mut body = hello();
    body["stream"] = true.into();
    body["tools"] =
        json!([{"name": "f", "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}]);
    let answer = running.ask("POST /v1/messages", &body.to_string());
    assert!(answer.body.contains(r#""partial_json":"{\"a\": 1}""#), "{}", answer.body);
    let metrics = running.get("/metrics").body;
    let is_it = |line: &str| {
        ["callwright_requests_total", "outcome=\"repaired\"", "surface=\"messages\""]
            .iter()
            .all(|part| line.contains(part))
    };
    assert!(metrics.lines().any(is_it), "{metrics}");
}

#[test]
fn calls_in_text_stay_there_where_that_is_wanted() {
    let replay = replay(
        r#"[[answer]]
        text = '<invoke name="f"><parameter name="a">1</parameter></invoke>'
        repeat = true"#,
    );
    for (upstream, model, reason) in [
        (None, None, "tool_use"),
        (Some(false), None, "end_turn"),
        (Some(false), Some(true), "tool_use"),
        (None, Some(false), "end_turn"),
    ] {
        let mut relay = relay_of_messages(&replay);
        relay.upstreams[0].heal_text = upstream;
        relay.models = vec![ModelConfig { heal_text: model, ..ModelConfig::new("*") }];
        let running = Running::start(GatewayConfig::default(), relay);
        let mut body = hello();
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        body["tools"] = json!([{"name": "f", "input_schema": schema}]);
        let answer = running.ask("POST /v1/messages", &body.to_string()).json();
        assert_eq!(answer["stop_reason"].as_str(), Some(reason), "{answer}");
    }
}

#[test]
fn a_chat_client_before_a_server_of_messages_is_asked_for_with_its_key_and_its_edition() {
    let replay = replay(HELLO);
    let running = Running::start(GatewayConfig::default(), relay_of_messages(&replay));
    let answer = running.chat(&json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}]}));
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json()["choices"][0]["message"]["content"].as_str(), Some("Hello."));
    let asked = last_asked(&replay);
    assert_eq!(asked.path, "/v1/messages");
    assert_eq!((asked.header("x-api-key"), asked.header("authorization")), (Some("***"), None));
    assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
}
