//! A call is held until it is right: nothing of it goes out before, in no API, unless somebody asks for it or its model has
//! proved itself and the call takes long. The clock of the runtime stands still and jumps to the next timer.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use callwright::json;
use callwright::value::Value;
use callwright_relay::config::{Mode, ModelConfig, RelayConfig};
use callwright_relay::{Nobody, Relay, Request, Surface};
use common::{Reply, Seen, Server, json as reply, upstream, with_headers};
use http::{HeaderMap, HeaderValue};
use http_body_util::BodyExt;
use tokio::time::Instant;

/// How many right calls in a row prove a model.
const ENOUGH: usize = 20;

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// The end of the arguments that [`slow`] begins, which makes them whole and right.
const RIGHT: &str = "\", \"path\": \"a\"}";

/// A relay before an upstream that answers request n with `answer(request, n)`.
async fn relay(
    mode: Mode,
    kind: Option<&str>,
    answer: impl Fn(&Value, usize) -> Reply + Send + Sync + 'static,
) -> (Server, Arc<Relay>) {
    let server = Server::start(move |seen: &Seen, n| answer(&seen.body.parse().unwrap(), n)).await;
    let mut model = ModelConfig::new("m");
    model.mode = Some(mode);
    let mut upstream = upstream("u", &server.base_url());
    upstream.kind = kind.map(|kind| toml::from_str::<Kind>(&format!("kind = '{kind}'")).unwrap().kind);
    let config = RelayConfig { upstreams: vec![upstream], models: vec![model], ..RelayConfig::default() };
    (server, Relay::new(config, &|_| None, Arc::new(Nobody)).unwrap())
}

#[derive(serde::Deserialize)]
struct Kind {
    kind: callwright_relay::UpstreamKind,
}

const SURFACES: [Surface; 3] = [Surface::Chat, Surface::Messages, Surface::Responses];

/// What a client of `surface` asks, in a stream.
fn request(surface: Surface) -> Value {
    let text = json!({"type": "string"});
    let schema = json!({
        "type": "object", "properties": {"content": text, "path": text}, "required": ["content", "path"],
    });
    let name = "write_file";
    match surface {
        Surface::Chat => json!({
            "model": "m", "stream": true, "messages": [{"role": "user", "content": "Go."}],
            "tools": [{"type": "function", "function": {"name": name, "parameters": schema}}],
        }),
        Surface::Messages => json!({
            "model": "m", "stream": true, "max_tokens": 9999,
            "messages": [{"role": "user", "content": "Go."}],
            "tools": [{"name": name, "input_schema": schema}],
        }),
        Surface::Responses => json!({
            "model": "m", "stream": true, "input": "Go.",
            "tools": [{"type": "function", "name": name, "parameters": schema}],
        }),
    }
}

/// What comes of the request, each piece with the second in which it came, without signs of life.
async fn heard(relay: &Arc<Relay>, surface: Surface, header: Option<&'static str>) -> Vec<(u64, String)> {
    let mut headers = HeaderMap::new();
    if let Some(value) = header {
        headers.insert("x-callwright-stream-arguments", HeaderValue::from_static(value));
    }
    let body = request(surface).to_string().into();
    let request = Request { id: "r".into(), body, policy: None, wants_report: false, headers, surface };
    let start = Instant::now();
    let mut body = relay.chat(request).await.body;
    let mut heard = Vec::new();
    while let Some(frame) = body.frame().await {
        let piece = String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap();
        heard.push((start.elapsed().as_secs(), piece));
    }
    heard
}

fn all(heard: &[(u64, String)]) -> String {
    heard.iter().map(|(_, piece)| piece.as_str()).collect()
}

/// What is heard of the call, and when: its name, and pieces of its arguments.
fn of_call(heard: &[(u64, String)]) -> Vec<(u64, &str)> {
    let words = ["write_file", "one", "two", "three"];
    let found = heard.iter().flat_map(|(at, piece)| {
        // The last event of a response says all of it again.
        let piece = piece.split("event: response.completed").next().unwrap_or(piece);
        words.iter().filter(|word| piece.contains(**word)).map(|word| (*at, *word))
    });
    let mut seen: Vec<&str> = Vec::new();
    found
        .filter(|(_, word)| {
            let is_new = !seen.contains(word);
            seen.push(word);
            is_new
        })
        .collect()
}

fn chunk(delta: Value, finish: Value) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    let chunk = json!({"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]});
    format!("data: {chunk}\n\n")
}

fn call(index: usize, arguments: &str) -> String {
    let function = json!({"name": "write_file", "arguments": arguments});
    let id = format!("c{index}");
    chunk(
        json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}),
        json!(null),
    )
}

fn more(arguments: &str) -> String {
    chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]}), json!(null))
}

fn end(reason: &str) -> String {
    format!("{}data: [DONE]\n\n", chunk(json!({}), json!(reason)))
}

fn stream(events: &str) -> Reply {
    with_headers(200, "content-type: text/event-stream\r\n", events)
}

/// `write_file` in three pieces: `one` at once, `two` after three seconds, `three` after eight; it ends with `last` after nine.
fn slow(last: &str) -> Reply {
    let at = |seconds, text: String| (Duration::from_secs(seconds), text);
    Reply::Paced(vec![
        at(0, format!("{HEAD}{}", call(0, "{\"content\": \"one"))),
        at(3, more(" two")),
        at(5, more(" three")),
        at(1, format!("{}{}", more(last), end("tool_calls"))),
    ])
}

fn right() -> Reply {
    stream(&(call(0, r#"{"content": "x", "path": "a"}"#) + &end("tool_calls")))
}

/// A model that has proved itself writes a call that takes long: it goes out when it has been held for five seconds, and the
/// rest as it comes. Of any other model it goes out when it is right.
#[tokio::test(start_paused = true)]
async fn a_long_call_goes_out_after_five_seconds_where_its_model_has_proved_itself() {
    for surface in SURFACES {
        let (_server, relay) =
            relay(Mode::Native, None, |_, n| if n % (ENOUGH + 1) == 0 { slow(RIGHT) } else { right() }).await;
        let held = [(9, "write_file"), (9, "one"), (9, "two"), (9, "three")];
        assert_eq!(of_call(&heard(&relay, surface, None).await), held, "{surface:?}: nobody knows it");
        for _ in 0..ENOUGH {
            heard(&relay, surface, None).await;
        }
        let heard = heard(&relay, surface, None).await;
        let live = [(5, "write_file"), (5, "one"), (5, "two"), (8, "three")];
        assert_eq!(of_call(&heard), live, "{surface:?}: {}", all(&heard));
        assert!(!has_failed(&all(&heard)), "{}", all(&heard));
    }
}

/// The client decides, whatever was proved.
#[tokio::test(start_paused = true)]
async fn a_client_may_have_it_at_once_or_never() {
    for surface in SURFACES {
        let (_server, relay) =
            relay(Mode::Native, None, |_, n| if n < ENOUGH { right() } else { slow(RIGHT) }).await;
        for _ in 0..ENOUGH {
            heard(&relay, surface, None).await;
        }
        let never = heard(&relay, surface, Some("0")).await;
        let held = [(9, "write_file"), (9, "one"), (9, "two"), (9, "three")];
        assert_eq!(of_call(&never), held, "{surface:?}");
        let live = [(0, "write_file"), (0, "one"), (3, "two"), (8, "three")];
        assert_eq!(of_call(&heard(&relay, surface, Some("1")).await), live, "{surface:?}");
    }
}

/// A call that is written as text waits for its verdict, also where a client asks for arguments at once.
#[tokio::test(start_paused = true)]
async fn a_call_in_the_text_waits_for_its_verdict() {
    let said = |text: &str| chunk(json!({"content": text}), json!(null));
    for mode in [Mode::Native, Mode::Prompt] {
        let (_server, relay) = relay(mode, None, move |_, _| {
            let begin = "<tool_call>{\"name\": \"write_file\", \"arguments\": {\"content\": \"one";
            let at = |seconds, text: String| (Duration::from_secs(seconds), text);
            Reply::Paced(vec![
                at(0, format!("{HEAD}{}", said(begin))),
                at(6, said(" two")),
                at(3, said(&format!(" three{RIGHT}}}</tool_call>")) + &end("stop")),
            ])
        })
        .await;
        for surface in SURFACES {
            let heard = heard(&relay, surface, Some("1")).await;
            let held = [(9, "write_file"), (9, "one"), (9, "two"), (9, "three")];
            assert_eq!(of_call(&heard), held, "{mode:?} {surface:?}: {}", all(&heard));
        }
    }
}

/// What was never announced needs no error: a call that is refused in the end leaves a sentence, and a good end. What a part
/// of went out leaves an error, which no client takes for a whole call.
#[tokio::test(start_paused = true)]
async fn only_a_call_that_went_out_in_part_ends_in_an_error() {
    let torn = "\", \"path\": {\"a\": 1}}";
    for surface in SURFACES {
        let (_server, relay) =
            relay(Mode::Native, None, move |_, n| if n < ENOUGH { right() } else { slow(torn) }).await;
        for _ in 0..ENOUGH {
            heard(&relay, surface, None).await;
        }
        let live = all(&heard(&relay, surface, None).await);
        assert!(live.contains("one two") && has_failed(&live), "{surface:?}: {live}");
        // It begins the count anew: the next one is held to its end.
        let held = all(&heard(&relay, surface, None).await);
        assert!(!held.contains("one two") && !has_failed(&held), "{surface:?}: {held}");
        assert!(held.contains("was not run") && held.contains(good_end(surface)), "{surface:?}: {held}");
    }
}

/// Is there an error in these events?
fn has_failed(events: &str) -> bool {
    events.contains("\"error\":{") || events.contains("event: error")
}

fn good_end(surface: Surface) -> &'static str {
    match surface {
        Surface::Chat => "data: [DONE]",
        Surface::Messages => "event: message_stop",
        Surface::Responses => "event: response.completed",
    }
}

/// Two calls, of which one is wrong for good: the right one is made, the other is told of in a sentence, and the answer ends as
/// one with a call does. In every API, before an upstream of chats and before one of the client's own.
#[tokio::test]
async fn a_refused_call_beside_a_right_one_ends_well() {
    const GOOD: &str = r#"{"content": "fine", "path": "a"}"#;
    const BAD: &str = r#"{"content": "amiss"}"#;
    for (surface, kind) in [
        (Surface::Chat, None),
        (Surface::Messages, None),
        (Surface::Responses, None),
        (Surface::Messages, Some("messages")),
        (Surface::Responses, Some("responses")),
    ] {
        for calls in [[GOOD, BAD], [BAD, GOOD]] {
            let (_server, relay) = relay(Mode::Native, kind, move |asked, _| {
                let stream = asked["stream"] == true;
                match kind {
                    Some("messages") => messages(&calls, stream),
                    Some(_) => responses(&calls, stream),
                    None => chat(&calls, stream),
                }
            })
            .await;
            let said = all(&heard(&relay, surface, None).await);
            assert!(
                said.contains("fine") && !said.contains("amiss"),
                "{surface:?} {kind:?} {calls:?}: {said}"
            );
            assert!(said.contains("was not run"), "{surface:?} {kind:?} {calls:?}: {said}");
            let reason = match surface {
                Surface::Chat => "\"finish_reason\":\"tool_calls\"",
                Surface::Messages => "\"stop_reason\":\"tool_use\"",
                Surface::Responses => "\"status\":\"completed\"",
            };
            assert!(
                said.contains(reason) && said.contains(good_end(surface)),
                "{surface:?} {kind:?}: {said}"
            );
            assert!(!has_failed(&said), "{surface:?} {kind:?}: {said}");
        }
    }
}

fn chat(calls: &[&str], stream: bool) -> Reply {
    if stream {
        let calls: String =
            calls.iter().enumerate().map(|(index, arguments)| call(index, arguments)).collect();
        return self::stream(&(calls + &end("tool_calls")));
    }
    let call = |(n, arguments): (usize, &&str)| {
        let function = json!({"name": "write_file", "arguments": arguments});
        json!({"id": format!("c{n}"), "type": "function", "function": function})
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    reply(
        200,
        &json!({"id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})
            .to_string(),
    )
}

fn event(name: &str, members: Value) -> String {
    let mut data = json!({"type": name});
    data.as_object_mut().unwrap().extend(members.as_object().cloned().unwrap());
    format!("event: {name}\ndata: {data}\n\n")
}

fn messages(calls: &[&str], stream: bool) -> Reply {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let block = |n: usize, input: Value| json!({"type": "tool_use", "id": format!("t{n}"), "name": "write_file", "input": input});
    let message = |content: Value, reason: Value| {
        json!({
            "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": reason, "stop_sequence": null, "usage": usage,
        })
    };
    if !stream {
        let blocks = calls.iter().enumerate().map(|(n, input)| block(n, input.parse().unwrap()));
        return reply(200, &message(blocks.collect::<Vec<_>>().into(), json!("tool_use")).to_string());
    }
    let mut events = event("message_start", json!({"message": message(json!([]), json!(null))}));
    for (n, input) in calls.iter().enumerate() {
        events += &event("content_block_start", json!({"index": n, "content_block": block(n, json!({}))}));
        let delta = json!({"type": "input_json_delta", "partial_json": input});
        events += &event("content_block_delta", json!({"index": n, "delta": delta}));
        events += &event("content_block_stop", json!({"index": n}));
    }
    let delta = json!({"stop_reason": "tool_use", "stop_sequence": null});
    events += &event("message_delta", json!({"delta": delta, "usage": {"output_tokens": 1}}));
    self::stream(&(events + &event("message_stop", json!({}))))
}

fn responses(calls: &[&str], stream: bool) -> Reply {
    let item = |n: usize, arguments: &str, status: &str| {
        json!({
            "type": "function_call", "id": format!("fc_{n}"), "call_id": format!("c{n}"), "name": "write_file",
            "arguments": arguments, "status": status,
        })
    };
    let output: Vec<Value> =
        calls.iter().enumerate().map(|(n, arguments)| item(n, arguments, "completed")).collect();
    let response = |status: &str, output: Value| {
        let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
        json!({
            "id": "r1", "object": "response", "created_at": 1, "model": "m", "status": status,
            "output": output, "usage": usage,
        })
    };
    let whole = response("completed", output.into());
    if !stream {
        return reply(200, &whole.to_string());
    }
    let mut events = event(
        "response.created",
        json!({"sequence_number": 0, "response": response("in_progress", json!([]))}),
    );
    let mut number = 1;
    for (n, arguments) in calls.iter().enumerate() {
        let id = format!("fc_{n}");
        for (name, members) in [
            ("response.output_item.added", json!({"item": item(n, "", "in_progress")})),
            ("response.function_call_arguments.delta", json!({"item_id": id, "delta": arguments})),
            ("response.function_call_arguments.done", json!({"item_id": id, "arguments": arguments})),
            ("response.output_item.done", json!({"item": item(n, arguments, "completed")})),
        ] {
            let mut members = members;
            members["sequence_number"] = number.into();
            members["output_index"] = n.into();
            number += 1;
            events += &event(name, members);
        }
    }
    self::stream(
        &(events + &event("response.completed", json!({"sequence_number": number, "response": whole}))),
    )
}
