//! What is checked is what a client gets: an upstream that says a call in two ways, or calls what nobody declared, is refused,
//! whichever of its words a client would read.

use std::sync::Arc;

use callwright::value::Value;
use callwright::{Policy, json};
use callwright_relay::config::{Mode, ModelConfig, RelayConfig, UpstreamConfig};
use callwright_relay::{Nobody, Relay, Request, Surface, UpstreamKind};
use http::HeaderMap;
use http_body_util::BodyExt;

use crate::common;
use crate::common::{Server, upstream, with_headers};

const RIGHT: &str = r#"{"path": "a"}"#;
/// No number is a path.
const WRONG: &str = r#"{"path": 5}"#;

fn relay(base_url: &str, kind: UpstreamKind) -> Arc<Relay> {
    let mut model = ModelConfig::new("*");
    model.mode = Some(Mode::Native);
    let upstream = UpstreamConfig { kind: Some(kind), ..upstream("u", base_url) };
    let config = RelayConfig { upstreams: vec![upstream], models: vec![model], ..RelayConfig::default() };
    Relay::new(config, &|_| None, Arc::new(Nobody)).unwrap()
}

/// What a client of this API gets where the upstream, which speaks it as well, answers so: its status and its body.
async fn through(surface: Surface, stream: bool, body: &str, more_tools: &[Value]) -> (u16, String) {
    let kind = if stream { "text/event-stream" } else { "application/json" };
    let (head, body) = (format!("content-type: {kind}\r\n"), body.to_owned());
    let server = Server::start(move |_, _| with_headers(200, &head, &body)).await;
    let kind = match surface {
        Surface::Chat | Surface::Gemini => UpstreamKind::Chat,
        Surface::Messages => UpstreamKind::Messages,
        Surface::Responses => UpstreamKind::Responses,
        Surface::Ollama => UpstreamKind::Ollama,
    };
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tool = |name: &str| match surface {
        Surface::Chat | Surface::Ollama | Surface::Gemini => {
            json!({"type": "function", "function": {"name": name, "parameters": schema}})
        }
        Surface::Messages => json!({"name": name, "input_schema": schema}),
        Surface::Responses => json!({"type": "function", "name": name, "parameters": schema}),
    };
    let tools: Vec<Value> =
        ["read_file", "delete_file"].map(tool).into_iter().chain(more_tools.iter().cloned()).collect();
    let said = json!([{"role": "user", "content": "Go."}]);
    let mut request = json!({"model": "m", "stream": stream, "tools": tools});
    match surface {
        Surface::Chat | Surface::Ollama | Surface::Gemini => request["messages"] = said,
        Surface::Messages => {
            request["messages"] = said;
            request["max_tokens"] = json!(4096);
        }
        Surface::Responses => request["input"] = said,
    }
    let reply = relay(&server.base_url(), kind)
        .chat(Request {
            policy: Some(Policy::Strict),
            ..common::request(surface, request.to_string(), HeaderMap::new())
        })
        .await;
    let status = reply.status.as_u16();
    let body = reply.body.collect().await.unwrap().to_bytes().to_vec();
    (status, String::from_utf8(body).unwrap())
}

fn sse(events: &[String]) -> String {
    let of = |event: &String| {
        let value: Value = event.parse().unwrap();
        format!("event: {}\ndata: {event}\n\n", value["type"].as_str().unwrap())
    };
    events.iter().map(of).collect()
}

/// Does a body say that it is none: by an event, or by its status?
fn is_error(status: u16, body: &str) -> bool {
    status >= 500 || body.contains("\"type\":\"error\"") || body.contains("event: error")
}

/// The events of a message that reads a file, with `change` made to them.
fn message(change: impl FnOnce(&mut Vec<String>)) -> String {
    let mut events = vec![
        r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}"#.to_owned(),
        block_start("tool_use", "t1", "read_file"),
        block_piece(0, RIGHT),
        r#"{"type":"content_block_stop","index":0}"#.to_owned(),
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}"#.to_owned(),
        r#"{"type":"message_stop"}"#.to_owned(),
    ];
    change(&mut events);
    sse(&events)
}

fn block_start(kind: &str, id: &str, name: &str) -> String {
    let block = json!({"type": kind, "id": id, "name": name, "input": {}});
    json!({"type": "content_block_start", "index": 0, "content_block": block}).to_string()
}

fn block_piece(at: usize, piece: &str) -> String {
    let delta = json!({"type": "input_json_delta", "partial_json": piece});
    json!({"type": "content_block_delta", "index": at, "delta": delta}).to_string()
}

fn item(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": format!("fc_{id}"), "type": "function_call", "call_id": id, "name": name,
        "arguments": arguments, "status": "completed"})
}

/// What a response says of its call in each place where a client may look for it.
#[derive(Clone, Debug)]
struct Said {
    added: Value,
    pieces: Vec<String>,
    arguments_done: Option<String>,
    item_done: Option<Value>,
    completed: Vec<Value>,
}

impl Said {
    fn right() -> Said {
        Said {
            added: item("c1", "read_file", ""),
            pieces: vec![RIGHT.to_owned()],
            arguments_done: Some(RIGHT.to_owned()),
            item_done: Some(item("c1", "read_file", RIGHT)),
            completed: vec![item("c1", "read_file", RIGHT)],
        }
    }

    fn events(&self) -> String {
        let response = |status: &str, output: &[Value]| {
            json!({"id": "r", "object": "response", "status": status, "model": "m", "output": output,
                "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}})
        };
        let of_arguments = |kind: &str, key: &str, text: &str| {
            json!({"type": format!("response.function_call_arguments.{kind}"), "output_index": 0,
                "item_id": "fc_c1", key: text})
        };
        let mut events = vec![
            json!({"type": "response.created", "response": response("in_progress", &[])}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": self.added}),
        ];
        events.extend(self.pieces.iter().map(|piece| of_arguments("delta", "delta", piece)));
        events.extend(self.arguments_done.iter().map(|text| of_arguments("done", "arguments", text)));
        let done = |item| json!({"type": "response.output_item.done", "output_index": 0, "item": item});
        events.extend(self.item_done.clone().map(done));
        events
            .push(json!({"type": "response.completed", "response": response("completed", &self.completed)}));
        let numbered = events.into_iter().enumerate().map(|(n, mut event)| {
            event["sequence_number"] = json!(n);
            event.to_string()
        });
        sse(&numbered.collect::<Vec<_>>())
    }
}

#[tokio::test]
async fn what_is_said_once_passes_to_the_byte() {
    let right = message(|_| {});
    assert_eq!(through(Surface::Messages, true, &right, &[]).await, (200, right));
    let blank = Said { item_done: Some(item("c1", "read_file", "{\"path\":\"a\"}")), ..Said::right() };
    let bare = Said { arguments_done: None, item_done: None, completed: vec![], ..Said::right() };
    for said in [Said::right(), blank, bare] {
        let right = said.events();
        assert_eq!(through(Surface::Responses, true, &right, &[]).await, (200, right));
    }
}

#[tokio::test]
async fn a_message_says_its_calls_in_one_place() {
    let doubled = |member: &str| {
        let (first, wrong) = (json!(RIGHT), json!(WRONG));
        format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":{first},"{member}":{wrong}}}}}"#
        )
    };
    type Change<'c> = Box<dyn FnOnce(&mut Vec<String>) + 'c>;
    let changes: Vec<(&str, Change<'_>)> = vec![
        (
            "a call in its beginning",
            Box::new(|events| {
                let call = r#"[{"type":"tool_use","id":"t","name":"delete_file","input":{"path":5}}]"#;
                events[0] = events[0].replace("\"content\":[]", &format!("\"content\":{call}"));
            }),
        ),
        ("a piece twice", Box::new(|events| events[2] = doubled("partial_json"))),
        ("a piece twice, spelt", Box::new(|events| events[2] = doubled("parti\\u0061l_json"))),
        ("two beginnings", Box::new(|events| events.insert(2, block_start("tool_use", "t2", "delete_file")))),
        ("more behind the end", Box::new(|events| events.insert(4, block_piece(0, ", \"b\": 1")))),
        (
            "an input and pieces of another",
            Box::new(|events| events[1] = events[1].replace("\"input\":{}", "\"input\":{\"path\":5}")),
        ),
        (
            "a tool of the server's",
            Box::new(|events| events[1] = block_start("server_tool_use", "t", "wipe")),
        ),
        (
            "a tool of another server's",
            Box::new(|events| events[1] = block_start("mcp_tool_use", "t", "wipe")),
        ),
    ];
    for (name, change) in changes {
        let (status, body) = through(Surface::Messages, true, &message(change), &[]).await;
        assert!(is_error(status, &body), "{name}: {body}");
        assert!(!body.contains("delete_file") && !body.contains("message_stop"), "{name}: {body}");
    }
    // Once a message has ended, nothing more comes of it.
    let late = |events: &mut Vec<String>| {
        events.extend([block_start("tool_use", "t2", "delete_file"), block_piece(0, WRONG)]);
    };
    assert_eq!(through(Surface::Messages, true, &message(late), &[]).await, (200, message(|_| {})));
}

#[tokio::test]
async fn a_call_that_is_no_function_is_of_a_declared_tool() {
    let shell = r#"{"type":"local_shell_call","id":"l","call_id":"c","status":"completed","action":{"type":"exec","command":["rm"],"env":{}}}"#;
    let custom = r#"{"type":"custom_tool_call","id":"l","call_id":"c","name":"delete_file","input":"x","status":"completed"}"#;
    let response = |item: &str| {
        format!(r#"{{"id":"r","object":"response","status":"completed","model":"m","output":[{item}]}}"#)
    };
    for (item, tool) in
        [(shell, json!({"type": "local_shell"})), (custom, json!({"type": "custom", "name": "x"}))]
    {
        let answer = response(item);
        assert_eq!(through(Surface::Responses, false, &answer, &[]).await.0, 502, "{item}");
        assert_eq!(through(Surface::Responses, false, &answer, &[tool]).await, (200, answer));
    }
    let unknown = response(r#"{"type":"some_news","id":"n"}"#);
    assert_eq!(through(Surface::Responses, false, &unknown, &[]).await, (200, unknown));
}

/// Wrong calls that an upstream lets stand wherever a client might read them.
#[tokio::test]
async fn no_place_of_a_response_holds_a_call_that_was_not_checked() {
    // One seed to work on, one that only judges.
    for seed in [11, 4711] {
        let mut random = Random(seed);
        for _ in 0..120 {
            let (mut said, mut lies) = (Said::right(), 0);
            let wrong = |random: &mut Random| match random.below(3) {
                0 => item("c1", "delete_file", WRONG),
                1 => item("c1", "read_file", WRONG),
                _ => item("c1", "delete_file", r#"{"path": "b"}"#),
            };
            while lies < 1 + random.below(2) {
                match random.below(6) {
                    0 => said.added = wrong(&mut random),
                    1 => said.pieces = vec![WRONG.to_owned()],
                    2 => said.arguments_done = Some(WRONG.to_owned()),
                    3 => said.item_done = Some(wrong(&mut random)),
                    4 => said.completed = vec![wrong(&mut random)],
                    _ => said.completed.push(item("c2", "delete_file", WRONG)),
                }
                lies += 1;
            }
            let events = said.events();
            let (status, body) = through(Surface::Responses, true, &events, &[]).await;
            assert!(is_error(status, &body) || is_sound(&body), "seed {seed}: {said:#?}\n{body}");
        }
    }
}

/// Do the events of a response say one thing of each call in all places, and is that right? What was refused is words.
fn is_sound(body: &str) -> bool {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = data.filter_map(|data| data.parse().ok()).collect();
    let of_items = events.iter().flat_map(|event| {
        let output = event["response"]["output"].as_array().cloned().unwrap_or_default();
        output.into_iter().chain([event["item"].clone()])
    });
    let calls: Vec<Value> = of_items.filter(|item| item["type"] == "function_call").collect();
    let names = calls.iter().map(|call| call["name"].as_str().unwrap().to_owned());
    let is_delta = |event: &&Value| event["type"] == "response.function_call_arguments.delta";
    let pieces: String = events.iter().filter(is_delta).filter_map(|event| event["delta"].as_str()).collect();
    let done = events.iter().filter(|event| event["type"] == "response.function_call_arguments.done");
    let texts = done.chain(&calls).filter_map(|said| said["arguments"].as_str()).map(str::to_owned);
    let texts = texts.chain([pieces]).filter(|text| !text.is_empty());
    let one_of = |all: Vec<String>| all.iter().collect::<std::collections::BTreeSet<_>>().len() <= 1;
    let is_right = |text: &String| text.parse::<Value>().is_ok_and(|value| value["path"].is_string());
    let texts: Vec<String> = texts.collect();
    texts.iter().all(is_right) && one_of(texts) && one_of(names.collect())
}

/// Chat: of two equal members nobody knows which one a client takes.
#[tokio::test]
async fn a_chat_says_nothing_twice() {
    let call = |name: &str, arguments: &str| {
        format!(
            r#"{{"id":"c","type":"function","function":{{"name":"{name}","arguments":{}}}}}"#,
            json!(arguments)
        )
    };
    let (right, wrong) = (call("read_file", RIGHT), call("delete_file", WRONG));
    let message = |members: &str| format!(r#""message":{{"role":"assistant","content":null,{members}}}"#);
    let choice =
        |members: &str| format!(r#""choices":[{{"index":0,{members},"finish_reason":"tool_calls"}}]"#);
    let answer = |members: &str| {
        format!(r#"{{"id":"x","object":"chat.completion","created":1,"model":"m",{members}}}"#)
    };
    let of_message = |members: &str| answer(&choice(&message(members)));
    let of_calls = |call: &str| format!(r#""tool_calls":[{call}]"#);
    let calls = of_calls(&right);
    let other = choice(&message(&of_calls(&wrong)));
    let function = r#""function":{"name":"delete_file","arguments":"{}"}}"#;
    let right_answer = of_message(&calls);
    assert_eq!(through(Surface::Chat, false, &right_answer, &[]).await, (200, right_answer.clone()));
    for doubled in [
        of_message(&format!("{calls},{}", of_calls(&wrong))),
        of_message(&format!(r#"{calls},"tool_\u0063alls":[{wrong}]"#)),
        answer(&format!("{},{other}", choice(&message(&calls)))),
        answer(&choice(&format!("{},{}", message(&calls), message(&of_calls(&wrong))))),
        of_message(&of_calls(&format!("{},{function}", right.strip_suffix('}').unwrap()))),
        right_answer.replace(r#""name":"read_file""#, r#""name":"read_file","name":"delete_file""#),
        right_answer.replace(r#""arguments":"#, r#""arguments":"{}","arguments":"#),
        of_message(r#""content":"<tool_call>""#),
        of_message(&of_calls(r#"{"id":"c","type":"custom","custom":{"name":"wipe","input":"x"}}"#)),
    ] {
        let (status, body) = through(Surface::Chat, false, &doubled, &[]).await;
        assert_eq!(status, 502, "{doubled}: {body}");
        assert!(!body.contains("delete_file"), "{body}");
        let chunk =
            doubled.replace("\"message\"", "\"delta\"").replace("chat.completion", "chat.completion.chunk");
        let events = format!("data: {chunk}\n\ndata: [DONE]\n\n");
        let (_, body) = through(Surface::Chat, true, &events, &[]).await;
        assert!(body.contains("\"error\"") && !body.contains("delete_file"), "{events}: {body}");
    }
}

/// A generator of numbers, the same ones for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}
