//! An answer that takes long to read holds nobody up: on one thread, whoever asks behind it is answered before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use callwright::json;
use callwright::value::Value;
use callwright_relay::config::{Mode, ModelConfig, RelayConfig};
use callwright_relay::{Nobody, Relay, Surface};
use http::HeaderMap;
use http_body_util::BodyExt;

use crate::common;
use crate::common::{Reply, Server, upstream, with_headers};

fn relay(base_url: &str) -> Arc<Relay> {
    let mut model = ModelConfig::new("*");
    model.mode = Some(Mode::Native);
    let upstreams = vec![upstream("u", base_url)];
    let config = RelayConfig { upstreams, models: vec![model], ..RelayConfig::default() };
    Relay::new(config, &|_| None, Arc::new(Nobody)).unwrap()
}

/// The body of the answer to a request for `model`.
async fn ask(relay: &Arc<Relay>, model: &str, stream: bool) -> String {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tools = json!([{"type": "function", "function": {"name": "read_file", "parameters": parameters}}]);
    let messages = json!([{"role": "user", "content": "Go."}]);
    let body = json!({"model": model, "messages": messages, "tools": tools, "stream": stream,
        "callwright": {"policy": "heal"}});
    let reply = relay.chat(common::request(Surface::Chat, body.to_string(), HeaderMap::new())).await;
    String::from_utf8(reply.body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

/// What a model wrote that went round in a circle: a call whose end is nowhere, and might be anywhere.
fn circle() -> String {
    let torn = "</paramete\n".repeat(5_000);
    format!("<tool_call>\n<function=read_file>\n<parameter=path>\n{torn}</parameter></function></tool_call>")
}

fn answer(text: &str, stream: bool) -> Reply {
    let head = |kind| format!("content-type: {kind}\r\n");
    if !stream {
        let message = json!({"role": "assistant", "content": text});
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        let body = json!({"id": "a", "object": "chat.completion", "model": "m", "choices": [choice]});
        return with_headers(200, &head("application/json"), &body.to_string());
    }
    let event = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"id": "a", "object": "chat.completion.chunk", "choices": [choice]}))
    };
    let letters: Vec<char> = text.chars().collect();
    let pieces = letters
        .chunks(200)
        .map(|piece| event(json!({"content": piece.iter().collect::<String>()}), json!(null)));
    let events: String = pieces.chain([event(json!({}), json!("stop")), "data: [DONE]\n\n".into()]).collect();
    with_headers(200, &head("text/event-stream"), &events)
}

#[tokio::test]
async fn who_asks_behind_a_long_answer_is_answered_before_it() {
    for stream in [false, true] {
        let server = Server::start(move |seen, _| match seen.body.contains("\"long\"") {
            true => answer(&circle(), stream),
            false => answer("Hello.", stream),
        })
        .await;
        let relay = relay(&server.base_url());
        let is_over = Arc::new(AtomicBool::new(false));
        let long = tokio::spawn({
            let (relay, is_over) = (Arc::clone(&relay), Arc::clone(&is_over));
            async move {
                let body = ask(&relay, "long", stream).await;
                is_over.store(true, Ordering::SeqCst);
                body
            }
        });
        server.arrived.notified().await;
        // The long answer is under way, and all of it is there before the other one is.
        assert!(ask(&relay, "short", stream).await.contains("Hello."));
        assert!(!is_over.load(Ordering::SeqCst), "stream: {stream}");
        assert!(!long.await.unwrap().is_empty());
    }
}
