//! The key that an upstream was sent reaches no client, in whatever string and header it is repeated, and however it is cut.

use std::sync::Arc;

use callwright::json;
use callwright::value::Value;
use callwright_relay::config::{Mode, ModelConfig, RelayConfig, UpstreamConfig};
use callwright_relay::{Nobody, Relay, Surface, UpstreamKind};
use http::{HeaderMap, Method};
use http_body_util::BodyExt;

use crate::common;
use crate::common::{Server, upstream, with_headers};

const KEY: &str = "sk-canary/0123456789";

fn relay(base_url: &str, kind: UpstreamKind) -> Arc<Relay> {
    let mut model = ModelConfig::new("*");
    model.mode = Some(Mode::Native);
    let upstream =
        UpstreamConfig { kind: Some(kind), key_env: Some("KEY".into()), ..upstream("u", base_url) };
    let config = RelayConfig { upstreams: vec![upstream], models: vec![model], ..RelayConfig::default() };
    Relay::new(config, &|name| (name == "KEY").then(|| KEY.to_owned()), Arc::new(Nobody)).unwrap()
}

/// The events in which an upstream of this API says `text`, as words and as arguments, in pieces of `size`.
fn events(surface: Surface, text: &str, size: usize) -> Vec<Value> {
    let pieces = |text: &str| -> Vec<String> {
        text.as_bytes().chunks(size).map(|piece| String::from_utf8(piece.to_vec()).unwrap()).collect()
    };
    let arguments = json!({"path": text}).to_string();
    let mut events = Vec::new();
    match surface {
        // Before an upstream of chats.
        Surface::Chat | Surface::Ollama | Surface::Gemini => {
            let chunk = |delta: Value, finish: Value| {
                let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
                json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})
            };
            for key in ["content", "reasoning_content", "refusal"] {
                events.extend(pieces(text).into_iter().map(|piece| chunk(json!({key: piece}), json!(null))));
            }
            for (n, piece) in pieces(&arguments).into_iter().enumerate() {
                let mut call = json!({"index": 0, "function": {"arguments": piece}});
                if n == 0 {
                    call["id"] = json!("t");
                    call["function"]["name"] = json!("read_file");
                }
                events.push(chunk(json!({"tool_calls": [call]}), json!(null)));
            }
            events.push(chunk(json!({}), json!("tool_calls")));
        }
        Surface::Messages => {
            let message =
                json!({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []});
            events.push(json!({"type": "message_start", "message": message}));
            let call = json!({"type": "tool_use", "id": "t", "name": "read_file", "input": {}});
            let blocks = [
                (json!({"type": "text", "text": ""}), "text_delta", "text", text),
                (json!({"type": "thinking", "thinking": ""}), "thinking_delta", "thinking", text),
                (call, "input_json_delta", "partial_json", &arguments),
            ];
            for (at, (block, kind, key, text)) in blocks.into_iter().enumerate() {
                events.push(json!({"type": "content_block_start", "index": at, "content_block": block}));
                events.extend(pieces(text).into_iter().map(|piece| {
                    json!({"type": "content_block_delta", "index": at, "delta": {"type": kind, key: piece}})
                }));
                events.push(json!({"type": "content_block_stop", "index": at}));
            }
            events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
            events.push(json!({"type": "message_stop"}));
        }
        Surface::Responses => {
            let call = |arguments: &str| {
                json!({"type": "function_call", "id": "f", "call_id": "t", "name": "read_file",
                    "arguments": arguments})
            };
            let message = |text: &str| {
                json!({"type": "message", "id": "w", "role": "assistant",
                    "content": [{"type": "output_text", "text": text}]})
            };
            let response = json!({"id": "r", "object": "response", "output": []});
            events.push(json!({"type": "response.created", "response": response}));
            let items = [
                ("output_text", message(""), message(text), text),
                ("function_call_arguments", call(""), call(&arguments), arguments.as_str()),
            ];
            for (at, (kind, begun, done, text)) in items.into_iter().enumerate() {
                events.push(json!({"type": "response.output_item.added", "output_index": at, "item": begun}));
                events.extend(pieces(text).into_iter().map(|piece| {
                    json!({"type": format!("response.{kind}.delta"), "output_index": at, "delta": piece})
                }));
                events.push(json!({"type": "response.output_item.done", "output_index": at, "item": done}));
            }
            let response = json!({"id": "r", "object": "response", "status": "completed", "output": []});
            events.push(json!({"type": "response.completed", "response": response}));
        }
    }
    events
}

/// All strings of all events, those at one place put together.
fn strings(value: &Value, place: &str, out: &mut std::collections::BTreeMap<String, String>) {
    let number = ["index", "output_index", "type"].map(|key| value[key].to_string()).concat();
    match value {
        Value::String(text) => out.entry(place.to_owned()).or_default().push_str(text),
        Value::Array(list) => list.iter().for_each(|value| strings(value, place, out)),
        Value::Object(members) => {
            for (key, value) in members {
                strings(value, &format!("{place}/{number}/{key}"), out);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn no_client_gets_the_key_in_whatever_pieces() {
    let kinds = [
        (Surface::Chat, UpstreamKind::Chat),
        (Surface::Messages, UpstreamKind::Messages),
        (Surface::Responses, UpstreamKind::Responses),
        (Surface::Ollama, UpstreamKind::Chat),
        (Surface::Gemini, UpstreamKind::Chat),
    ];
    for (surface, kind) in kinds {
        for (size, with_tools) in [(1, true), (3, true), (7, true), (1000, true), (3, false)] {
            let said = events(surface, &format!("It is {KEY}, yes."), size);
            let body: String = said
                .iter()
                .map(|event| match event["type"].as_str() {
                    Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
                    None => format!("data: {event}\n\n"),
                })
                .collect();
            let head =
                format!("content-type: text/event-stream\r\nx-request-id: {KEY}\r\nx-echo: a {KEY} b\r\n");
            let server =
                Server::start(move |_, _| with_headers(200, &head, &format!("{body}data: [DONE]\n\n"))).await;
            let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
            let tool = match surface {
                Surface::Chat | Surface::Ollama => {
                    json!({"type": "function", "function": {"name": "read_file", "parameters": schema}})
                }
                Surface::Gemini => {
                    json!({"functionDeclarations": [{"name": "read_file", "parametersJsonSchema": schema}]})
                }
                Surface::Messages => json!({"name": "read_file", "input_schema": schema}),
                Surface::Responses => json!({"type": "function", "name": "read_file", "parameters": schema}),
            };
            let mut request = json!({"model": "m", "stream": true, "max_tokens": 4096});
            let conversation = if surface == Surface::Responses { "input" } else { "messages" };
            request[conversation] = json!([{"role": "user", "content": "Go."}]);
            request["contents"] = json!([{"role": "user", "parts": [{"text": "Go."}]}]);
            if with_tools {
                request["tools"] = json!([tool]);
            }
            let reply = relay(&server.base_url(), kind)
                .chat(common::request(surface, request.to_string(), HeaderMap::new()))
                .await;
            assert_eq!(reply.headers["x-echo"], "a [secret] b");
            assert_eq!(reply.headers["x-request-id"], "[secret]");
            let body = reply.body.collect().await.unwrap().to_bytes().to_vec();
            let body = String::from_utf8(body).unwrap();
            let mut all = std::collections::BTreeMap::new();
            for event in body.lines().filter_map(|line| line.trim_start_matches("data: ").parse().ok()) {
                strings(&event, "", &mut all);
            }
            assert!(!body.contains("\"error\""), "{surface:?}, {size}: {body}");
            assert!(all.values().any(|text| text.contains("[secret], yes.")), "{surface:?}, {size}: {body}");
            for (place, text) in all {
                assert!(!text.contains("canary"), "{surface:?} in pieces of {size}, {place}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn the_headers_of_what_is_passed_tell_no_key() {
    let head = format!("content-type: application/json\r\nx-echo: {KEY}\r\n");
    let server = Server::start(move |_, _| with_headers(200, &head, "{}")).await;
    let relay = relay(&server.base_url(), UpstreamKind::Chat);
    let reply = relay.pass(Method::GET, "/models", Default::default(), &HeaderMap::new()).await;
    assert_eq!(reply.headers["x-echo"], "[secret]");
}
