//! What an upstream may cost: no event is longer than is allowed, and many calls cost what they are long.

use std::sync::Arc;

use allocation_counter::measure;
use callwright::json;
use callwright::value::Value;
use callwright_relay::config::{Limits, Mode, ModelConfig, RelayConfig, UpstreamConfig};
use callwright_relay::{Nobody, Relay, Surface};
use http::{HeaderMap, HeaderValue};
use http_body_util::BodyExt;

use crate::common;
use crate::common::{Reply, Server, upstream, with_headers};

/// A relay before an upstream whose tools are native.
fn relay(upstream: UpstreamConfig, limits: Limits) -> Arc<Relay> {
    let mut model = ModelConfig::new("m");
    model.mode = Some(Mode::Native);
    let config =
        RelayConfig { upstreams: vec![upstream], models: vec![model], limits, ..RelayConfig::default() };
    let env = |name: &str| (name == "KEY").then(|| String::from("sk-of-the-upstream"));
    Relay::new(config, &env, Arc::new(Nobody)).unwrap()
}

/// The events of the answer to a request for a stream.
async fn events(relay: &Arc<Relay>, request: Value, flows: bool) -> String {
    let mut headers = HeaderMap::new();
    headers.insert("x-callwright-stream-arguments", HeaderValue::from_static(if flows { "1" } else { "0" }));
    let body = request.to_string();
    let reply = relay.chat(common::request(Surface::Chat, body, headers)).await;
    String::from_utf8(reply.body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

fn request(tools: &Value) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": tools, "stream": true})
}

fn tools() -> Value {
    let parameters = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    json!([{"type": "function", "function": {"name": "f", "parameters": parameters}}])
}

fn event(delta: Value, finish: Value) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    format!(
        "data: {}\n\n",
        json!({"id": "a", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})
    )
}

fn stream(events: &str) -> Reply {
    with_headers(200, "content-type: text/event-stream\r\n", &format!("{events}data: [DONE]\n\n"))
}

#[tokio::test]
async fn no_event_is_longer_than_is_allowed_with_tools_or_without() {
    const MOST: usize = 4096;
    /// What is read of a connection at a time goes out with the event that it belongs to.
    const PIECE: usize = 1 << 20;
    let server = Server::start(|_, _| {
        let long = event(json!({"content": "x".repeat(8 << 20)}), json!(null));
        stream(&format!(
            "{}{long}{}",
            event(json!({"content": "first"}), json!(null)),
            event(json!({}), json!("stop"))
        ))
    })
    .await;
    let plain = upstream("u", &server.base_url());
    let keyed = UpstreamConfig { key_env: Some(String::from("KEY")), ..plain.clone() };
    let counted = |tools: &Value| {
        let mut request = request(tools);
        request["stream_options"] = json!({"include_usage": true});
        request
    };
    for upstream in [plain, keyed] {
        let relay = relay(upstream, Limits { event: MOST, ..Limits::default() });
        for request in [request(&tools()), request(&json!([])), counted(&json!([]))] {
            let events = events(&relay, request, false).await;
            assert!(events.contains("first"), "{}", events.len());
            assert!(events.len() < PIECE, "{} bytes came", events.len());
            let last = events.trim_end().rsplit("\n\n").next().unwrap();
            assert!(
                last.contains("\"server_error\"") && last.contains("longer than 4096 bytes"),
                "{last:.300}"
            );
        }
    }
}

/// A server that numbers its choices on and on does not make the relay read them all.
#[tokio::test]
async fn more_choices_than_anybody_asks_for_are_none() {
    for (n, is_whole) in [(128, true), (129, false)] {
        let server = Server::start(move |_, _| {
            let choice = |index: usize, delta: Value, finish: Value| {
                let choice = json!({"index": index, "delta": delta, "finish_reason": finish});
                format!(
                    "data: {}\n\n",
                    json!({"id": "a", "object": "chat.completion.chunk", "choices": [choice]})
                )
            };
            let events = (0..n).map(|n| choice(n, json!({"content": "x"}), json!("stop")));
            stream(&events.collect::<String>())
        })
        .await;
        let relay = relay(upstream("u", &server.base_url()), Limits::default());
        let events = events(&relay, request(&tools()), false).await;
        assert_eq!(events.contains("[DONE]"), is_whole, "{n}");
        assert_eq!(events.contains("more choices"), !is_whole, "{n}");
    }
}

/// Four times the calls may take this much more, blocks that double in size included.
const LINEAR: f64 = 4.8;

#[test]
fn many_native_calls_take_memory_in_proportion() {
    const CALLS: usize = 400;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let call = |n: usize, arguments: &str| {
        let function = json!({"name": "f", "arguments": arguments});
        json!({"tool_calls": [{"index": n, "id": format!("c{n}"), "type": "function", "function": function}]})
    };
    let stream_of = move |n: usize, first: &str| {
        let calls = (0..n).map(|n| event(call(n, if n == 0 { first } else { r#"{"a": "x"}"# }), json!(null)));
        stream(&(calls.collect::<String>() + &event(json!({}), json!("tool_calls"))))
    };
    // The first one is right, or refused, so that all others wait for what becomes of it.
    for (first, is_right) in [(r#"{"a": "x"}"#, true), (r#"{"b": 1}"#, false)] {
        for flows in [false, true] {
            let taken = |n: usize| {
                let server = runtime.block_on(Server::start(move |_, _| stream_of(n, first)));
                let relay = relay(upstream("u", &server.base_url()), Limits::default());
                let mut request = request(&tools());
                request["callwright"] = json!({"policy": "heal"});
                let mut n_calls = 0;
                let taken = measure(|| {
                    let events = runtime.block_on(events(&relay, request, flows));
                    n_calls = events.matches(r#""name":"f""#).count();
                });
                assert!(n - 1 <= n_calls, "{n_calls} of {n} calls came, flows: {flows}, right: {is_right}");
                taken
            };
            let (few, many) = (taken(CALLS), taken(4 * CALLS));
            assert!(
                many.bytes_total as f64 <= LINEAR * few.bytes_total as f64,
                "{} bytes become {}, flows: {flows}, right: {is_right}",
                few.bytes_total,
                many.bytes_total
            );
            assert!(
                many.count_total as f64 <= LINEAR * few.count_total as f64,
                "{} blocks become {}, flows: {flows}, right: {is_right}",
                few.count_total,
                many.count_total
            );
        }
    }
}
