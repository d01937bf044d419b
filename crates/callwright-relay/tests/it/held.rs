//! A call is held until it is right: nothing of it goes out before, in no API, unless somebody asks for it or its model has
//! proved itself and the call takes long. The clock of the runtime stands still and jumps to the next timer.

use std::sync::Arc;
use std::time::Duration;

use callwright::json;
use callwright::value::Value;
use callwright_relay::config::{Mode, ModelConfig, RelayConfig};
use callwright_relay::{Nobody, Relay, Surface};
use http::{HeaderMap, HeaderValue};
use http_body_util::BodyExt;
use tokio::time::Instant;

use crate::common;
use crate::common::{Reply, Seen, Server, json as reply, upstream, with_headers};

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

const SURFACES: [Surface; 5] = Surface::ALL;

/// What a client of `surface` asks, in a stream.
fn request(surface: Surface) -> Value {
    let text = json!({"type": "string"});
    let schema = json!({
        "type": "object", "properties": {"content": text, "path": text}, "required": ["content", "path"],
    });
    let name = "write_file";
    match surface {
        Surface::Chat | Surface::Ollama => json!({
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
        Surface::Gemini => json!({
            "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
            "tools": [{"functionDeclarations": [{"name": name, "parametersJsonSchema": schema}]}],
        }),
    }
}

/// What comes of the request, each piece with the second in which it came, without signs of life.
async fn heard(relay: &Arc<Relay>, surface: Surface, header: Option<&'static str>) -> Vec<(u64, String)> {
    let mut headers = HeaderMap::new();
    if let Some(value) = header {
        headers.insert("x-callwright-stream-arguments", HeaderValue::from_static(value));
    }
    let body = request(surface).to_string();
    let request = common::request(surface, body, headers);
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

fn stream(events: &str) -> Reply {
    with_headers(200, "content-type: text/event-stream\r\n", events)
}

/// `write_file` in pieces: `one` at once, `two` after three seconds, `three` after eight; it ends with `last` after nine.
fn slow(kind: Option<&str>, last: &str) -> Reply {
    let pieces = ["{\"content\": \"one", " two", " three", last];
    let events = in_pieces(kind, &[&pieces]);
    let pauses = [0, 3, 5, 1].map(Duration::from_secs);
    let mut paced: Vec<(Duration, String)> = pauses.into_iter().zip(events).collect();
    paced[0].1.insert_str(0, HEAD);
    Reply::Paced(paced)
}

/// These calls, streamed or whole.
fn calls(kind: Option<&str>, calls: &[&str], is_streamed: bool) -> Reply {
    let whole: Vec<[&str; 1]> = calls.iter().map(|call| [*call]).collect();
    let pieces: Vec<&[&str]> = whole.iter().map(|call| &call[..]).collect();
    match (kind, is_streamed) {
        (_, true) => stream(&in_pieces(kind, &pieces).concat()),
        (Some("messages"), false) => reply(200, &message(calls).to_string()),
        (Some(_), false) => reply(200, &response("completed", calls).to_string()),
        (None, false) => reply(200, &completion(calls).to_string()),
    }
}

const GOOD: &str = r#"{"content": "fine", "path": "a"}"#;
const BAD: &str = r#"{"content": "amiss"}"#;

/// What clients speak, and what their upstream does: chats where nothing is said.
const WAYS: [(Surface, Option<&str>); 5] = [
    (Surface::Chat, None),
    (Surface::Messages, None),
    (Surface::Responses, None),
    (Surface::Messages, Some("messages")),
    (Surface::Responses, Some("responses")),
];

/// Of a call that waits for its verdict.
const HELD: [(u64, &str); 4] = [(9, "write_file"), (9, "one"), (9, "two"), (9, "three")];

/// Words that begin no call go out as they come, and to the byte, where the upstream speaks the client's API.
#[tokio::test(start_paused = true)]
async fn words_of_a_lane_do_not_wait() {
    let event = |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    let piece = |text: &str| {
        let delta = json!({"type": "text_delta", "text": text});
        event(json!({"type": "content_block_delta", "index": 0, "delta": delta}))
    };
    let begin = event(
        json!({"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 1}}}),
    ) + &event(
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    );
    let end = event(json!({"type": "content_block_stop", "index": 0}))
        + &event(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}))
        + &event(json!({"type": "message_stop"}));
    let pieces = [begin + &piece("So, one"), piece(" two"), piece(" < three"), end];
    let sent = pieces.concat();
    let (_server, relay) = relay(Mode::Native, Some("messages"), move |_, _| {
        let mut paced: Vec<_> =
            [0, 3, 5, 1].map(Duration::from_secs).into_iter().zip(pieces.clone()).collect();
        paced[0].1.insert_str(0, HEAD);
        Reply::Paced(paced)
    })
    .await;
    let heard = heard(&relay, Surface::Messages, None).await;
    assert_eq!(of_call(&heard), [(0, "one"), (3, "two"), (8, "three")]);
    assert_eq!(all(&heard), sent);
}

/// A model that has proved itself writes a call that takes long: it goes out when it has been held for five seconds, and the
/// rest as it comes. Of any other model it goes out when it is right.
#[tokio::test(start_paused = true)]
async fn a_long_call_goes_out_after_five_seconds_where_its_model_has_proved_itself() {
    for (surface, kind) in WAYS {
        let answer = move |_: &Value, n| match n % (ENOUGH + 1) {
            0 => slow(kind, RIGHT),
            _ => calls(kind, &[GOOD], true),
        };
        let (_server, relay) = relay(Mode::Native, kind, answer).await;
        let unknown = heard(&relay, surface, None).await;
        assert_eq!(of_call(&unknown), HELD, "{surface:?} {kind:?}: {}", all(&unknown));
        for _ in 0..ENOUGH {
            heard(&relay, surface, None).await;
        }
        let heard = heard(&relay, surface, None).await;
        let live = [(5, "write_file"), (5, "one"), (5, "two"), (8, "three")];
        assert_eq!(of_call(&heard), live, "{surface:?} {kind:?}: {}", all(&heard));
        assert!(!has_failed(&all(&heard)), "{surface:?} {kind:?}: {}", all(&heard));
    }
}

/// The client decides, whatever was proved.
#[tokio::test(start_paused = true)]
async fn a_client_may_have_it_at_once_or_never() {
    for (surface, kind) in WAYS {
        let answer = move |_: &Value, n| match n < ENOUGH {
            true => calls(kind, &[GOOD], true),
            false => slow(kind, RIGHT),
        };
        let (_server, relay) = relay(Mode::Native, kind, answer).await;
        for _ in 0..ENOUGH {
            heard(&relay, surface, None).await;
        }
        let never = heard(&relay, surface, Some("0")).await;
        assert_eq!(of_call(&never), HELD, "{surface:?} {kind:?}: {}", all(&never));
        let live = [(0, "write_file"), (0, "one"), (3, "two"), (8, "three")];
        let at_once = heard(&relay, surface, Some("1")).await;
        assert_eq!(of_call(&at_once), live, "{surface:?} {kind:?}: {}", all(&at_once));
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
            let end = format!("{}data: [DONE]\n\n", chunk(json!({}), json!("stop")));
            Reply::Paced(vec![
                at(0, format!("{HEAD}{}", said(begin))),
                at(6, said(" two")),
                at(3, said(&format!(" three{RIGHT}}}</tool_call>")) + &end),
            ])
        })
        .await;
        for surface in SURFACES {
            let heard = heard(&relay, surface, Some("1")).await;
            assert_eq!(of_call(&heard), HELD, "{mode:?} {surface:?}: {}", all(&heard));
        }
    }
}

/// What is repaired of a call behind the part that went out comes as the rest of it.
#[tokio::test]
async fn the_rest_of_a_call_may_be_repaired() {
    for (surface, kind) in WAYS {
        let (_server, relay) = relay(Mode::Native, kind, move |_, _| {
            let pieces = ["{\"content\": \"one", " two", "\", \"path\": \"a\",}"];
            stream(&in_pieces(kind, &[&pieces]).concat())
        })
        .await;
        let said = all(&heard(&relay, surface, Some("1")).await);
        assert_eq!(
            arguments(&said),
            r#"{"content": "one two", "path": "a"}"#,
            "{surface:?} {kind:?}: {said}"
        );
        assert!(2 < n_pieces(&said), "{surface:?} {kind:?}: {said}");
        assert!(said.contains(good_end(surface)) && !has_failed(&said), "{surface:?} {kind:?}: {said}");
    }
}

/// A call that streams is made although one behind it is refused; behind one that is refused itself comes nothing but an error.
#[tokio::test]
async fn a_call_that_streams_stands_beside_a_refused_one() {
    for (surface, kind) in WAYS {
        const FINE: [&str; 2] = ["{\"content\": \"fine", "\", \"path\": \"a\"}"];
        const TORN: [&str; 2] = ["{\"path\": \"amiss", "\", \"content\"}"];
        for (both, is_good) in [([&FINE[..], &[BAD]], true), ([&TORN, &FINE], false)] {
            let answer = move |asked: &Value, _| match asked["stream"] == true {
                true => stream(&in_pieces(kind, &both).concat()),
                false => calls(kind, &[BAD], false),
            };
            let (_server, relay) = relay(Mode::Native, kind, answer).await;
            let said = all(&heard(&relay, surface, Some("1")).await);
            let way = format!("{surface:?} {kind:?} {both:?}: {said}");
            assert!(said.contains("fine") == is_good && said.contains("amiss") != is_good, "{way}");
            assert_eq!(said.contains(good_end(surface)), is_good, "{way}");
            assert_eq!(has_failed(&said), !is_good, "{way}");
        }
    }
}

/// A server numbers the calls of each answer anew: what is made in the place of a refused call has the id of one that streamed,
/// and is made all the same.
#[tokio::test]
async fn an_id_that_comes_again_is_another_call() {
    for (surface, kind) in WAYS {
        const FINE: [&str; 2] = ["{\"content\": \"fine", "\", \"path\": \"a\"}"];
        const AGAIN: &str = r#"{"content": "again", "path": "b"}"#;
        let answer = move |asked: &Value, _| match asked["stream"] == true {
            true => stream(&in_pieces(kind, &[&FINE[..], &[BAD]]).concat()),
            false => calls(kind, &[AGAIN], false),
        };
        let (_server, relay) = relay(Mode::Native, kind, answer).await;
        let said = all(&heard(&relay, surface, Some("1")).await);
        let way = format!("{surface:?} {kind:?}: {said}");
        assert!(said.contains("fine") && said.contains("again") && !said.contains("amiss"), "{way}");
        assert!(said.contains(good_end(surface)) && !has_failed(&said), "{way}");
    }
}

/// The pieces of the arguments of the only call in these events.
fn argument_pieces(events: &str) -> Vec<String> {
    let data = events.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    let pieces = data.filter_map(|data| {
        let event: Value = data.parse().unwrap();
        let of_chat = event.pointer("/choices/0/delta/tool_calls/0/function/arguments");
        let of_message = event.pointer("/delta/partial_json");
        let is_of_response = event["type"] == "response.function_call_arguments.delta";
        let of_response = is_of_response.then(|| &event["delta"]);
        of_chat.or(of_message).or(of_response).and_then(Value::as_str).map(str::to_owned)
    });
    pieces.filter(|piece| !piece.is_empty()).collect()
}

fn arguments(events: &str) -> String {
    argument_pieces(events).concat()
}

fn n_pieces(events: &str) -> usize {
    argument_pieces(events).len()
}

/// What was never announced needs no error: a call that is refused in the end leaves a sentence, and a good end. Where a part of it
/// went out, it is closed as it was written if it is whole JSON, and else leaves an error, which no client takes for a whole call.
#[tokio::test(start_paused = true)]
async fn only_a_call_that_went_out_in_part_ends_in_an_error() {
    const MISFIT: &str = "\", \"path\": {\"a\": 1}}";
    const TORN: &str = "\", \"path\"}";
    for ((surface, kind), end) in WAYS.into_iter().flat_map(|way| [(way, MISFIT), (way, TORN)]) {
        let answer = move |asked: &Value, n| match n < ENOUGH {
            true => calls(kind, &[GOOD], true),
            false if asked["stream"] == true => slow(kind, end),
            false => calls(kind, &[BAD], false),
        };
        let (_server, relay) = relay(Mode::Native, kind, answer).await;
        for _ in 0..ENOUGH {
            heard(&relay, surface, None).await;
        }
        let live = all(&heard(&relay, surface, None).await);
        assert!(live.contains(" two") && has_failed(&live) == (end == TORN), "{surface:?} {kind:?}: {live}");
        assert_eq!(live.contains(good_end(surface)), end == MISFIT, "{surface:?} {kind:?}: {live}");
        if end == MISFIT {
            let written = format!("{{\"content\": \"one two three{MISFIT}");
            assert_eq!(arguments(&live), written, "{surface:?} {kind:?}: {live}");
        }
        // It begins the count anew: the next one is held to its end.
        let held = all(&heard(&relay, surface, None).await);
        assert!(!held.contains(" two") && !has_failed(&held), "{surface:?} {kind:?}: {held}");
        assert!(held.contains("was not run"), "{surface:?} {kind:?}: {held}");
        assert!(held.contains(good_end(surface)), "{surface:?} {kind:?}: {held}");
    }
}

/// A name is sent with the first piece of its arguments: what is refused before, also for a client that wants it at once, was
/// never announced.
#[tokio::test]
async fn a_call_that_is_refused_at_its_name_was_never_announced() {
    for (surface, kind) in WAYS {
        let answer = move |asked: &Value, _| match asked["stream"] == true {
            true => stream(&in_pieces(kind, &[&["amiss, ", "amiss"]]).concat()),
            false => calls(kind, &[BAD], false),
        };
        let (_server, relay) = relay(Mode::Native, kind, answer).await;
        let said = all(&heard(&relay, surface, Some("1")).await);
        assert!(said.contains("was not run") && !has_failed(&said), "{surface:?} {kind:?}: {said}");
        assert!(said.contains(good_end(surface)), "{surface:?} {kind:?}: {said}");
    }
}

/// Is there an error in these events?
fn has_failed(events: &str) -> bool {
    events.contains("\"error\":{") || events.contains("event: error")
}

/// The last event of an answer that ended as it should.
fn good_end(surface: Surface) -> &'static str {
    match surface {
        Surface::Chat => "data: [DONE]",
        Surface::Messages => "event: message_stop",
        Surface::Responses => "event: response.completed",
        Surface::Ollama => "\"done\":true",
        Surface::Gemini => "\"finishReason\":\"STOP\"",
    }
}

/// Two calls, of which one is wrong for good: the right one is made, the other is told of in a sentence, and the answer ends as
/// one with a call does.
#[tokio::test]
async fn a_refused_call_beside_a_right_one_ends_well() {
    for (surface, kind) in WAYS {
        for both in [[GOOD, BAD], [BAD, GOOD]] {
            let answer = move |asked: &Value, _| calls(kind, &both, asked["stream"] == true);
            let (_server, relay) = relay(Mode::Native, kind, answer).await;
            let said = all(&heard(&relay, surface, None).await);
            let way = format!("{surface:?} {kind:?} {both:?}: {said}");
            assert!(said.contains("fine") && !said.contains("amiss"), "{way}");
            assert!(said.contains("was not run") && !has_failed(&said), "{way}");
            let reason = match surface {
                Surface::Chat => "\"finish_reason\":\"tool_calls\"",
                Surface::Messages => "\"stop_reason\":\"tool_use\"",
                Surface::Responses => "\"status\":\"completed\"",
                Surface::Ollama => "\"done_reason\":\"stop\"",
                Surface::Gemini => "\"finishReason\":\"STOP\"",
            };
            assert!(said.contains(reason) && said.contains(good_end(surface)), "{way}");
        }
    }
}

/// The events of an answer with these calls, each in these pieces: what comes with one piece each.
fn in_pieces(kind: Option<&str>, calls: &[&[&str]]) -> Vec<String> {
    match kind {
        Some("messages") => messages_in_pieces(calls),
        Some(_) => responses_in_pieces(calls),
        None => chat_in_pieces(calls),
    }
}

fn chat_in_pieces(calls: &[&[&str]]) -> Vec<String> {
    let delta = |call: Value| chunk(json!({"tool_calls": [call]}), json!(null));
    let mut events = Vec::new();
    for (index, pieces) in calls.iter().enumerate() {
        for (n, piece) in pieces.iter().enumerate() {
            let mut call = json!({"index": index, "function": {"arguments": piece}});
            if n == 0 {
                call["id"] = format!("c{index}").into();
                call["type"] = "function".into();
                call["function"]["name"] = "write_file".into();
            }
            events.push(delta(call));
        }
    }
    events
        .last_mut()
        .unwrap()
        .push_str(&format!("{}data: [DONE]\n\n", chunk(json!({}), json!("tool_calls"))));
    events
}

fn messages_in_pieces(calls: &[&[&str]]) -> Vec<String> {
    let mut begun = message(&[]);
    begun["stop_reason"] = json!(null);
    let mut next = event("message_start", json!({"message": begun}));
    let mut events = Vec::new();
    for (index, pieces) in calls.iter().enumerate() {
        let block = json!({"type": "tool_use", "id": format!("c{index}"), "name": "write_file", "input": {}});
        next += &event("content_block_start", json!({"index": index, "content_block": block}));
        for piece in *pieces {
            let delta = json!({"type": "input_json_delta", "partial_json": piece});
            next += &event("content_block_delta", json!({"index": index, "delta": delta}));
            events.push(std::mem::take(&mut next));
        }
        events.last_mut().unwrap().push_str(&event("content_block_stop", json!({"index": index})));
    }
    let delta = json!({"stop_reason": "tool_use", "stop_sequence": null});
    let end = event("message_delta", json!({"delta": delta, "usage": {"output_tokens": 1}}));
    events.last_mut().unwrap().push_str(&(end + &event("message_stop", json!({}))));
    events
}

fn responses_in_pieces(calls: &[&[&str]]) -> Vec<String> {
    let mut number = 0;
    let mut numbered = |name: &str, mut members: Value| {
        members["sequence_number"] = number.into();
        number += 1;
        event(name, members)
    };
    let mut next = numbered("response.created", json!({"response": response("in_progress", &[])}));
    let mut events = Vec::new();
    let all: Vec<String> = calls.iter().map(|pieces| pieces.concat()).collect();
    for (index, pieces) in calls.iter().enumerate() {
        let (id, whole) = (format!("fc_{index}"), &all[index]);
        let begun = item(index, "", "in_progress");
        next += &numbered("response.output_item.added", json!({"output_index": index, "item": begun}));
        for piece in *pieces {
            let members = json!({"output_index": index, "item_id": id, "delta": piece});
            next += &numbered("response.function_call_arguments.delta", members);
            events.push(std::mem::take(&mut next));
        }
        let members = json!({"output_index": index, "item_id": id, "arguments": whole});
        let done = json!({"output_index": index, "item": item(index, whole, "completed")});
        let end = numbered("response.function_call_arguments.done", members)
            + &numbered("response.output_item.done", done);
        events.last_mut().unwrap().push_str(&end);
    }
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let end = numbered("response.completed", json!({"response": response("completed", &all)}));
    events.last_mut().unwrap().push_str(&end);
    events
}

fn completion(calls: &[&str]) -> Value {
    let call = |(n, arguments): (usize, &&str)| {
        let function = json!({"name": "write_file", "arguments": arguments});
        json!({"id": format!("c{n}"), "type": "function", "function": function})
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    json!({"id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})
}

fn message(calls: &[&str]) -> Value {
    let block = |(n, input): (usize, &&str)| {
        let input: Value = input.parse().unwrap();
        json!({"type": "tool_use", "id": format!("c{n}"), "name": "write_file", "input": input})
    };
    let blocks: Vec<Value> = calls.iter().enumerate().map(block).collect();
    json!({
        "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": blocks,
        "stop_reason": "tool_use", "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    })
}

fn item(index: usize, arguments: &str, status: &str) -> Value {
    json!({
        "type": "function_call", "id": format!("fc_{index}"), "call_id": format!("c{index}"),
        "name": "write_file", "arguments": arguments, "status": status,
    })
}

fn response(status: &str, calls: &[&str]) -> Value {
    let output: Vec<Value> =
        calls.iter().enumerate().map(|(index, arguments)| item(index, arguments, "completed")).collect();
    json!({
        "id": "r1", "object": "response", "created_at": 1, "model": "m", "status": status, "output": output,
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
    })
}

fn event(name: &str, members: Value) -> String {
    let mut data = json!({"type": name});
    data.as_object_mut().unwrap().extend(members.as_object().cloned().unwrap());
    format!("event: {name}\ndata: {data}\n\n")
}
