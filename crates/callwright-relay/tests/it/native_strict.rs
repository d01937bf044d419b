//! `strict: true` in native mode: where it is said, what takes it back, and what answers show of it.

use std::sync::Arc;

use bytes::Bytes;
use callwright::json;
use callwright::value::Value;
use callwright_relay::capability::{Source, Strict, StrictHeld};
use callwright_relay::config::{NativeStrict, RelayConfig, UpstreamConfig};
use callwright_relay::{Nobody, Relay, Surface, UpstreamKind};
use http::HeaderMap;
use http_body_util::BodyExt;

use crate::common::{self, Reply, Seen, Server, candidate, json as reply, upstreams};

const REFUSED: &str =
    r#"{"error":{"message":"Invalid schema for function 'get_weather': strict is not supported here"}}"#;

/// A server of this owner, whose chats and messages `answers` answers.
async fn server(owner: &'static str, answers: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |seen, _| match seen.line.as_str() {
        "GET /v1/models" => {
            reply(200, &json!({"data": [{"id": "m", "object": "model", "owned_by": owner}]}).to_string())
        }
        "POST /v1/chat/completions" | "POST /v1/messages" => answers(&body(seen)),
        _ => reply(404, "{}"),
    })
    .await
}

fn body(seen: &Seen) -> Value {
    serde_json::from_str(&seen.body).unwrap()
}

fn asked(server: &Server) -> Vec<Value> {
    server.seen().iter().filter(|seen| seen.line.starts_with("POST /v1/")).map(body).collect()
}

/// What a tool of each request says of it.
fn said(server: &Server) -> Vec<Value> {
    let strict = |request: Value| {
        let tool = &request["tools"][0];
        tool.get("function").unwrap_or(tool)["strict"].clone()
    };
    asked(server).into_iter().map(strict).collect()
}

fn calls(arguments: &str) -> Reply {
    let function = json!({"name": "get_weather", "arguments": arguments});
    let call = json!({"id": "c1", "type": "function", "function": function});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    reply(
        200,
        &json!({"id": "a", "object": "chat.completion", "model": "m", "choices": [choice]}).to_string(),
    )
}

fn is_strict(request: &Value) -> bool {
    request.to_string().contains("\"strict\":true")
}

async fn relay(server: &Server, set: impl FnOnce(&mut UpstreamConfig)) -> Arc<Relay> {
    let mut upstream = UpstreamConfig { retries: 0, ..UpstreamConfig::new("u", &server.base_url()) };
    set(&mut upstream);
    let config = RelayConfig { upstreams: vec![upstream], ..RelayConfig::default() };
    let relay = Relay::new(config, &|_| None, Arc::new(Nobody)).unwrap();
    relay.meet_upstreams().await;
    relay
}

/// A tool with a member that may be left out.
fn tool() -> Value {
    json!({"name": "get_weather", "description": "The weather of a city."})
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}, "day": {"type": "string"}}, "required": ["city"]})
}

async fn ask(relay: &Arc<Relay>, surface: Surface, more: Value) -> (u16, Value) {
    let mut tool = tool();
    let tools = match surface {
        Surface::Chat => {
            tool["parameters"] = schema();
            for (key, value) in more.as_object().unwrap() {
                tool[key.as_str()] = value.clone();
            }
            json!([{"type": "function", "function": tool}])
        }
        _ => {
            tool["input_schema"] = schema();
            json!([tool])
        }
    };
    let request = json!({"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": tools, "max_tokens": 100});
    let answer = relay.chat(common::request(surface, request.to_string(), HeaderMap::new())).await;
    let status = answer.status.as_u16();
    let body: Bytes = answer.body.collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap())
}

fn known(relay: &Relay) -> (Strict, Source, StrictHeld) {
    let upstreams = upstreams(&[relay.config().upstreams[0].clone()]).unwrap();
    let known = relay.capabilities().what_is_known(&candidate(&upstreams, "m"));
    (known.strict, known.strict_source, known.strict_held)
}

#[tokio::test]
async fn servers_of_any_schema_are_asked_for_it_and_others_are_not() {
    for (owner, is) in [("vllm", true), ("sglang", true), ("llamacpp", false), ("somebody", false)] {
        let server = server(owner, |_| calls("{\"city\":\"Paris\"}")).await;
        let relay = relay(&server, |_| {}).await;
        assert_eq!(ask(&relay, Surface::Chat, json!({})).await.0, 200);
        assert_eq!(said(&server), [if is { json!(true) } else { Value::Null }], "{owner}");
    }
    // What is configured counts, and what the client says more.
    for (set, more, is) in [
        (NativeStrict::Never, json!({}), Value::Null),
        (NativeStrict::Auto, json!({"strict": false}), json!(false)),
        (NativeStrict::Never, json!({"strict": true}), json!(true)),
    ] {
        let server = server("vllm", |_| calls("{\"city\":\"Paris\"}")).await;
        let relay = relay(&server, |upstream| upstream.native_strict = Some(set)).await;
        assert_eq!(ask(&relay, Surface::Chat, more).await.0, 200);
        assert_eq!(said(&server), [is], "{set:?}");
    }
    let server = server("somebody", |_| calls("{\"city\":\"Paris\"}")).await;
    let relay = relay(&server, |upstream| upstream.native_strict = Some(NativeStrict::Always)).await;
    assert_eq!(ask(&relay, Surface::Chat, json!({})).await.0, 200);
    assert_eq!(said(&server), [json!(true)]);
}

#[tokio::test]
async fn a_refusal_takes_it_back_and_is_remembered() {
    let server = server("vllm", |request| match is_strict(request) {
        true => reply(400, REFUSED),
        false => calls("{\"city\":\"Paris\"}"),
    })
    .await;
    let relay = relay(&server, |_| {}).await;
    for _ in 0..2 {
        let (status, answer) = ask(&relay, Surface::Chat, json!({})).await;
        assert_eq!(status, 200);
        assert!(answer["choices"][0]["message"]["tool_calls"][0].is_object());
    }
    assert_eq!(said(&server), [json!(true), Value::Null, Value::Null]);
    let (strict, source, _) = known(&relay);
    assert_eq!(strict, Strict::None);
    assert!(matches!(source, Source::Experience(_)), "{source}");
}

/// What is wrong with the client's own request is no refusal of it, and its error is the client's.
#[tokio::test]
async fn an_error_that_stays_is_the_clients_and_teaches_nothing() {
    let server = server("vllm", |_| reply(400, REFUSED)).await;
    let relay = relay(&server, |_| {}).await;
    for _ in 0..2 {
        assert_eq!(ask(&relay, Surface::Chat, json!({})).await.0, 400);
    }
    assert_eq!(said(&server), [json!(true), Value::Null, json!(true), Value::Null]);
    // One that says it itself gets the refusal of it.
    assert_eq!(ask(&relay, Surface::Chat, json!({"strict": true})).await.0, 400);
    assert_eq!(said(&server).len(), 5);
}

#[tokio::test]
async fn answers_show_whether_the_server_keeps_to_it() {
    let server = server("vllm", |request| match request.to_string().contains("not valid") {
        true => calls("{\"city\":\"Oslo\"}"),
        false => calls("{\"city\":[1]}"),
    })
    .await;
    let relay = relay(&server, |_| {}).await;
    assert_eq!(known(&relay).2, StrictHeld::Unknown);
    ask(&relay, Surface::Chat, json!({})).await;
    assert_eq!(known(&relay).2, StrictHeld::Ignored);
    let server = self::server("vllm", |_| calls("{\"city\":\"Paris\"}")).await;
    let relay = self::relay(&server, |_| {}).await;
    for n in 0..20 {
        assert_eq!(known(&relay).2, StrictHeld::Unknown, "{n}");
        ask(&relay, Surface::Chat, json!({})).await;
    }
    assert_eq!(known(&relay).2, StrictHeld::Yes);
}

#[tokio::test]
async fn a_lane_says_it_and_takes_it_back() {
    let server = server("somebody", |request| match is_strict(request) {
        true => reply(400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"tools.0.custom.strict: Extra inputs are not permitted"}}"#),
        false => {
            let block = json!({"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}});
            let answer = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [block],
                "stop_reason": "tool_use", "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}});
            reply(200, &answer.to_string())
        }
    })
    .await;
    let relay = relay(&server, |upstream| {
        upstream.kind = Some(UpstreamKind::Messages);
        upstream.native_strict = Some(NativeStrict::Always);
    })
    .await;
    for _ in 0..2 {
        let (status, answer) = ask(&relay, Surface::Messages, json!({})).await;
        assert_eq!((status, &answer["content"][0]["input"]), (200, &json!({"city": "Paris"})));
    }
    assert_eq!(said(&server), [json!(true), Value::Null, Value::Null]);
}
