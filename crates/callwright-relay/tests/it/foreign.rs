//! What is not ours goes on in its place: tools and calls of other kinds, members of a vendor's own, and arguments as they
//! are written.

use std::sync::Arc;

use callwright::json;
use callwright::value::Value;
use callwright_relay::config::{Mode, ModelConfig, RelayConfig};
use callwright_relay::{Nobody, Relay, Surface};
use http::{HeaderMap, HeaderValue};
use http_body_util::BodyExt;

use crate::common;
use crate::common::{Reply, Seen, Server, json as reply, upstream, with_headers};

/// An upstream whose tools are native, and a relay before it.
async fn relay(answer: impl Fn(&Value, usize) -> Reply + Send + Sync + 'static) -> (Server, Arc<Relay>) {
    let server = Server::start(move |seen, n| answer(&body(seen), n)).await;
    let mut model = ModelConfig::new("m");
    model.mode = Some(Mode::Native);
    let upstreams = vec![upstream("u", &server.base_url())];
    let config = RelayConfig { upstreams, models: vec![model], ..RelayConfig::default() };
    (server, Relay::new(config, &|_| None, Arc::new(Nobody)).unwrap())
}

fn body(seen: &Seen) -> Value {
    seen.body.parse().unwrap()
}

fn function(name: &str, properties: Value, required: Value) -> Value {
    let parameters = json!({"type": "object", "properties": properties, "required": required});
    json!({"type": "function", "function": {"name": name, "parameters": parameters}})
}

fn write_file() -> Value {
    function(
        "write_file",
        json!({"content": {"type": "string"}, "path": {"type": "string"}}),
        json!(["content", "path"]),
    )
}

/// The headers and the body of the answer to a request with these tools.
async fn ask(
    relay: &Arc<Relay>,
    tools: &Value,
    stream: bool,
    header: Option<&'static str>,
) -> (HeaderMap, String) {
    let request = json!({"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": tools, "stream": stream});
    let mut headers = HeaderMap::new();
    if let Some(value) = header {
        headers.insert("x-callwright-stream-arguments", HeaderValue::from_static(value));
    }
    let body = request.to_string();
    let surface = Surface::Chat;
    let request = common::request(surface, body, headers);
    let reply = relay.chat(request).await;
    let bytes = reply.body.collect().await.unwrap().to_bytes();
    (reply.headers, String::from_utf8(bytes.to_vec()).unwrap())
}

fn whole(calls: &Value) -> Reply {
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    reply(
        200,
        &json!({"id": "a", "object": "chat.completion", "model": "m", "choices": [choice]}).to_string(),
    )
}

/// A stream of these pieces of calls.
fn streamed(pieces: &[Value]) -> Reply {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!(
            "data: {}\n\n",
            json!({"id": "a", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})
        )
    };
    let calls: String =
        pieces.iter().map(|piece| chunk(json!({"tool_calls": [piece]}), json!(null))).collect();
    let begin = chunk(json!({"role": "assistant", "content": null}), json!(null));
    let end = chunk(json!({}), json!("tool_calls"));
    let events = format!("{begin}{calls}{end}data: [DONE]\n\n");
    with_headers(200, "content-type: text/event-stream\r\n", &events)
}

/// The pieces of calls in a stream.
fn pieces(events: &str) -> Vec<Value> {
    let chunks =
        events.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    let deltas = chunks.map(|chunk| chunk.parse::<Value>().unwrap()["choices"][0]["delta"].clone());
    deltas.flat_map(|delta| delta["tool_calls"].as_array().cloned().unwrap_or_default()).collect()
}

#[tokio::test]
async fn custom_and_hosted_tools_pass_both_ways() {
    for (tool, call, first, more) in [
        (
            json!({"type": "custom", "custom": {"name": "sql", "format": {"type": "text"}}}),
            json!({"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}),
            json!({"index": 0, "id": "c1", "type": "custom", "custom": {"name": "sql", "input": ""}}),
            json!({"index": 0, "custom": {"input": "SELECT 1"}}),
        ),
        (
            json!({"type": "custom", "name": "apply_patch"}),
            json!({"id": "c1", "type": "custom", "name": "apply_patch", "input": "*** Begin"}),
            json!({"index": 0, "id": "c1", "type": "custom", "name": "apply_patch", "input": ""}),
            json!({"index": 0, "input": "*** Begin"}),
        ),
        (
            json!({"type": "web_search_preview"}),
            json!({"id": "c1", "type": "web_search_call", "status": "completed"}),
            json!({"index": 0, "id": "c1", "type": "web_search_call", "status": "searching"}),
            json!({"index": 0, "status": "completed"}),
        ),
        (
            json!({"type": "openrouter:web_search"}),
            json!({"id": "c1", "type": "openrouter:web_search", "query": "x"}),
            json!({"index": 0, "id": "c1", "type": "openrouter:web_search", "query": ""}),
            json!({"index": 0, "query": "x"}),
        ),
        (
            json!({"google_search": {}}),
            json!({"id": "c1", "type": "google_search", "google_search": {"queries": ["x"]}}),
            json!({"index": 0, "id": "c1", "type": "google_search", "google_search": {}}),
            json!({"index": 0, "google_search": {"queries": ["x"]}}),
        ),
    ] {
        let tools = json!([write_file(), tool]);
        let (came, sent) = (json!([call]), [first, more]);
        let (of_whole, of_stream) = (came.clone(), sent.clone());
        let (server, relay) = relay(move |request, _| match request["stream"] == true {
            true => streamed(&of_stream),
            false => whole(&of_whole),
        })
        .await;
        let (_, answer) = ask(&relay, &tools, false, None).await;
        assert_eq!(answer.parse::<Value>().unwrap()["choices"][0]["message"]["tool_calls"], came, "{tool}");
        let (_, events) = ask(&relay, &tools, true, None).await;
        assert_eq!(pieces(&events), sent, "{tool}");
        assert!(
            events.contains("\"finish_reason\":\"tool_calls\"") && events.ends_with("[DONE]\n\n"),
            "{events}"
        );
        for seen in server.seen() {
            assert_eq!(body(&seen)["tools"], tools);
        }
        assert_eq!(server.seen().len(), 2, "nothing is asked again");
    }
}

/// Pieces without an id belong to the call that began last: what comes between those of a call that is open waits for its last one.
#[tokio::test]
async fn a_custom_call_goes_out_behind_the_last_piece_of_the_call_before_it() {
    let function = |arguments: &str| json!({"index": 0, "function": {"arguments": arguments}});
    let begun = json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "write_file", "arguments": "{\"content\": \"one two"}});
    let custom =
        json!({"index": 1, "id": "c2", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}});
    let sent = [begun, custom.clone(), function(" three"), function("\", \"path\": \"a\"}")];
    let (_server, relay) = relay(move |_, _| streamed(&sent)).await;
    let tools = json!([write_file(), {"type": "custom", "custom": {"name": "sql"}}]);
    let (_, events) = ask(&relay, &tools, true, Some("1")).await;
    let pieces = pieces(&events);
    assert!(3 < pieces.len(), "{events}");
    assert_eq!(pieces.last(), Some(&custom), "{events}");
    assert!(pieces.iter().rev().skip(1).all(|piece| piece["index"] == 0), "{events}");
}

/// A call that went out as it was written is told of in the report, and in the record.
#[tokio::test]
async fn a_call_that_goes_out_unchecked_is_flagged() {
    let call = |arguments: &str| json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "write_file", "arguments": arguments}});
    let rest = json!({"index": 0, "function": {"arguments": " two\"}"}});
    let sent = [call("{\"content\": \"one"), rest];
    let (_server, relay) = relay(move |_, _| streamed(&sent)).await;
    let request = json!({
        "model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": [write_file()], "stream": true,
    });
    let mut headers = HeaderMap::new();
    headers.insert("x-callwright-stream-arguments", HeaderValue::from_static("1"));
    let request = common::request(Surface::Chat, request.to_string(), headers);
    let reply = relay.chat(callwright_relay::Request { wants_report: true, ..request }).await;
    let bytes = reply.body.collect().await.unwrap().to_bytes();
    let events = String::from_utf8(bytes.to_vec()).unwrap();
    let last = events.lines().rfind(|line| line.contains("\"callwright\":")).unwrap_or_default();
    let report: Value = last.trim_start_matches("data: ").parse().unwrap();
    assert_eq!(report["callwright"]["outcome"], "invalid", "{events}");
    assert_eq!(report["callwright"]["choices"][0]["unchecked_live"], true, "{events}");
    assert!(
        events.contains("\"finish_reason\":\"tool_calls\"") && !events.contains("\"error\":{"),
        "{events}"
    );
}

#[tokio::test]
async fn a_custom_call_stands_beside_one_that_is_repaired() {
    let custom = json!({"id": "c2", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}});
    let broken = json!({"name": "write_file", "arguments": "{\"content\": \"x\", \"path\": \"a\",}"});
    let calls = json!([{"id": "c1", "type": "function", "function": broken, "vendor": {"x": 1}}, custom]);
    let (_server, relay) = relay(move |_, _| whole(&calls)).await;
    let tools = json!([write_file(), {"type": "custom", "custom": {"name": "sql"}}]);
    let (_, answer) = ask(&relay, &tools, false, None).await;
    let repaired = json!({"name": "write_file", "arguments": "{\"content\": \"x\", \"path\": \"a\"}"});
    assert_eq!(
        answer.parse::<Value>().unwrap()["choices"][0]["message"]["tool_calls"],
        json!([{"id": "c1", "type": "function", "function": repaired, "vendor": {"x": 1}}, custom])
    );
}

/// A signature belongs to the call that goes out, also where that was asked for again.
#[tokio::test]
async fn what_a_call_that_is_made_again_brings_goes_out_with_it() {
    let call = |arguments: &str, signature: &str| {
        let function = json!({"name": "write_file", "arguments": arguments});
        json!({"index": 0, "id": "c1", "type": "function", "function": function, "signature": signature})
    };
    let torn = call("{\"path\": \"a\", \"content\": \"x\", \"path\": \"b\"}", "S1");
    let right = call("{\"content\": \"x\", \"path\": \"a\"}", "S2");
    let (server, relay) = relay(move |request, n| match request["stream"] == true {
        true => streamed(std::slice::from_ref(&torn)),
        false if n == 0 => whole(&json!([torn])),
        false => whole(&json!([right])),
    })
    .await;
    let tools = json!([write_file()]);
    let (_, answer) = ask(&relay, &tools, false, None).await;
    let made = answer.parse::<Value>().unwrap()["choices"][0]["message"]["tool_calls"][0].clone();
    assert_eq!((&made["id"], &made["signature"]), (&json!("c1"), &json!("S2")), "{answer}");
    let (_, events) = ask(&relay, &tools, true, None).await;
    let signatures: Vec<Value> =
        pieces(&events).iter().filter_map(|piece| piece.get("signature").cloned()).collect();
    assert_eq!(signatures, ["S2"], "{events}");
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn tools_that_cannot_be_checked_are_named() {
    let says = |_: &Value, _: usize| {
        let message = json!({"role": "assistant", "content": "Yes."});
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        reply(
            200,
            &json!({"id": "a", "object": "chat.completion", "model": "m", "choices": [choice]}).to_string(),
        )
    };
    let (_server, relay) = relay(says).await;
    let odd = function("odd", json!({"a": {"type": "string", "pattern": "(?>a)\\Z"}}), json!(["a"]));
    for (tools, named) in [(json!([write_file()]), None), (json!([write_file(), odd]), Some("odd"))] {
        let (headers, _) = ask(&relay, &tools, false, None).await;
        assert_eq!(headers.get("x-callwright-unchecked").map(|value| value.to_str().unwrap()), named);
    }
}

/// The arguments of a stream as they came: how many pieces had any.
async fn n_pieces(relay: &Arc<Relay>, header: Option<&'static str>) -> usize {
    let (_, events) = ask(relay, &json!([write_file()]), true, header).await;
    let pieces = pieces(&events);
    let arguments = |piece: &Value| piece["function"]["arguments"].as_str().unwrap_or("").to_owned();
    let all: String = pieces.iter().map(arguments).collect();
    assert_eq!(all.parse::<Value>().unwrap()["path"], "a", "{events}");
    pieces.iter().filter(|piece| !arguments(piece).is_empty()).count()
}

/// One client may choose; of all others a call is held until it is right, whatever the model has proved.
#[tokio::test]
async fn arguments_flow_where_a_client_asks_for_it() {
    let piece = |arguments: &str| json!({"index": 0, "function": {"arguments": arguments}});
    let first = json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "write_file", "arguments": ""}});
    let right = vec![first, piece("{\"content\": \"x"), piece("yz"), piece("\", \"path\": \"a\"}")];
    let (_server, relay) = relay(move |_, _| streamed(&right)).await;
    for n in 0..25 {
        assert_eq!(n_pieces(&relay, None).await, 1, "{n}");
    }
    assert!(1 < n_pieces(&relay, Some("1")).await);
    assert_eq!(n_pieces(&relay, Some("0")).await, 1);
}

#[tokio::test]
async fn another_value_of_the_header_is_a_mistake() {
    let (_server, relay) = relay(|_, _| whole(&json!([]))).await;
    let (_, answer) = ask(&relay, &json!([write_file()]), true, Some("yes")).await;
    assert_eq!(answer.parse::<Value>().unwrap()["error"]["code"], "invalid_header");
}
