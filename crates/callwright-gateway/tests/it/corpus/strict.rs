//! The rules of the wire as the strictest of clients holds them: an answer goes in, what it adds up to and
//! what breaks a rule come out.

use std::collections::{BTreeMap, BTreeSet};

use callwright::json;
use callwright::value::{Map, Value};
use callwright::{Context, NativeCall, Policy, ToolSet, Verdict, parse};

use crate::corpus::client::Got;

/// An answer, read strictly.
pub(crate) struct Read {
    /// The body of a plain answer, or the one that a stream adds up to. Null where there is none.
    pub(crate) body: Value,
    /// The rules that are broken, a sentence each.
    pub(crate) breaches: Vec<String>,
}

const FINISHES: [&str; 5] = ["stop", "length", "tool_calls", "content_filter", "function_call"];

/// How the rule begins that a call breaks which fits no tool.
pub(crate) const MISFIT: &str = "no tool takes";

/// Reads an answer to `request`.
pub(crate) fn read(got: &Got, request: &Value) -> Read {
    let mut rules = Rules { request, breaches: Vec::new() };
    rules.hold(got.broken.is_none(), || format!("the body breaks off: {:?}", got.broken));
    rules.hold(!got.headers.contains_key("content-encoding"), || "the body is encoded".into());
    let is_stream = got.status.is_success() && request["stream"] == true;
    let content_type = got.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or("");
    let wanted = if is_stream { "text/event-stream" } else { "application/json" };
    rules.hold(content_type.split(';').next() == Some(wanted), || format!("content-type: {content_type}"));
    let caching = got.headers.get("cache-control").and_then(|value| value.to_str().ok());
    rules.hold(!is_stream || caching == Some("no-cache"), || format!("cache-control: {caching:?}"));
    let body = if is_stream { rules.stream(&got.body) } else { rules.document(&got.body) };
    if !got.status.is_success() {
        rules.hold(body["error"]["message"].is_string(), || format!("no error message: {body}"));
    } else if body["error"].is_null() {
        rules.completion(&body);
    }
    Read { body, breaches: rules.breaches }
}

struct Rules<'r> {
    request: &'r Value,
    breaches: Vec<String>,
}

impl Rules<'_> {
    fn breach(&mut self, what: String) {
        self.breaches.push(what);
    }

    fn hold(&mut self, is: bool, otherwise: impl FnOnce() -> String) {
        if !is {
            self.breach(otherwise());
        }
    }

    fn document(&mut self, bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap_or_else(|error| {
            self.breach(format!("the body is not JSON: {error}"));
            Value::Null
        })
    }

    /// A whole answer.
    fn completion(&mut self, body: &Value) {
        self.hold(body["object"] == "chat.completion", || format!("object: {}", body["object"]));
        self.hold(body["id"].as_str().is_some_and(|id| !id.is_empty()), || format!("id: {}", body["id"]));
        self.hold(body["created"].is_u64(), || format!("created: {}", body["created"]));
        self.hold(body["model"].is_string(), || format!("model: {}", body["model"]));
        // Our own field is for those who ask for it.
        self.hold(body.get("callwright").is_none(), || "a field that was not asked for".into());
        let choices = body["choices"].as_array().map_or(&[][..], Vec::as_slice);
        let wanted = self.request["n"].as_u64().unwrap_or(1);
        self.hold(choices.len() as u64 == wanted, || format!("{} choices", choices.len()));
        for (index, choice) in choices.iter().enumerate() {
            self.hold(choice["index"] == index, || format!("choice {index} has index {}", choice["index"]));
            self.choice(choice);
        }
        if let Some(usage) = body.get("usage").filter(|usage| !usage.is_null()) {
            let counts = ["prompt_tokens", "completion_tokens", "total_tokens"];
            self.hold(counts.iter().all(|count| usage[count].is_u64()), || format!("usage: {usage}"));
        }
    }

    fn choice(&mut self, choice: &Value) {
        let message = &choice["message"];
        self.hold(message["role"] == "assistant", || format!("role: {}", message["role"]));
        let content = message.get("content");
        self.hold(content.is_some_and(|c| c.is_null() || c.is_string()), || format!("content: {content:?}"));
        let calls = message.get("tool_calls");
        if calls.is_some() {
            self.hold(content != Some(&json!("")), || "content is empty, not null, beside calls".into());
        }
        let finish = choice["finish_reason"].as_str().unwrap_or("");
        // What was cut stands behind the calls.
        let is_cut = self.request["stream"] == true && finish == "length";
        self.calls(calls);
        if let Some(call) = message.get("function_call") {
            self.hold(!self.request["functions"].is_null(), || {
                "a function call that was not asked for".into()
            });
            self.hold(is_object_text(&call["arguments"]), || format!("function call: {call}"));
        }
        self.hold(FINISHES.contains(&finish), || format!("finish_reason: {}", choice["finish_reason"]));
        let has_calls = calls.is_some();
        // A choice of one function is answered with `stop` by some, with `tool_calls` by others.
        let is_named = self.request["tool_choice"].is_object();
        self.hold((finish == "tool_calls") == has_calls || has_calls && (is_named || is_cut), || {
            format!("finish_reason is {finish}, calls: {has_calls}")
        });
    }

    fn calls(&mut self, calls: Option<&Value>) {
        let Some(calls) = calls else { return };
        let calls = calls.as_array().map_or(&[][..], Vec::as_slice);
        self.hold(!calls.is_empty(), || "an empty list of calls".into());
        let tool_set = ToolSet::from_value(&self.request["tools"]).unwrap_or_else(|_| ToolSet::empty());
        let mut ids = BTreeSet::new();
        for call in calls {
            let id = call["id"].as_str().unwrap_or("");
            self.hold(!id.is_empty() && ids.insert(id), || format!("id of a call: {}", call["id"]));
            self.hold(call["type"] == "function", || format!("type of a call: {}", call["type"]));
            let name = call["function"]["name"].as_str().unwrap_or("");
            let arguments = &call["function"]["arguments"];
            self.hold(is_object_text(arguments), || format!("arguments: {arguments}"));
            let arguments = arguments.as_str().unwrap_or("");
            self.hold(fits(&tool_set, name, arguments), || format!("{MISFIT} {name}({arguments})"));
        }
    }

    /// A stream; what it adds up to. Each chunk is JSON, and so are the joined arguments (S0-56).
    fn stream(&mut self, bytes: &[u8]) -> Value {
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.breach("the stream is not UTF-8".into());
            return Value::Null;
        };
        self.hold(text.ends_with("\n\n"), || "the last event has no end".into());
        let mut joined = Joined::default();
        let mut is_done = false;
        for line in text.split("\n").map(|line| line.strip_suffix('\r').unwrap_or(line)) {
            if line.is_empty() || [":", "event:", "id:", "retry:"].iter().any(|field| line.starts_with(field))
            {
                continue;
            }
            let Some(data) = line.strip_prefix("data:").map(str::trim_start) else {
                self.breach(format!("a line that is no field: {line}"));
                continue;
            };
            self.hold(!is_done, || format!("behind the end: {line}"));
            if data == "[DONE]" {
                is_done = true;
                continue;
            }
            match serde_json::from_str(data) {
                Ok(chunk) => self.chunk(&chunk, &mut joined),
                Err(error) => self.breach(format!("an event is not JSON: {error}: {data}")),
            }
        }
        if joined.top.contains_key("error") {
            // What broke off has no finish, and a call that it left is none.
            for (index, choice) in &joined.choices {
                self.hold(choice.finishes == 0, || format!("choice {index} ends, and fails"));
                let whole = |call: &&Map| is_object_text(&call["function"]["arguments"]);
                let last = choice.calls.last().filter(whole);
                self.hold(last.is_none(), || format!("a whole call, and a failure: {last:?}"));
            }
            return joined.completion();
        }
        self.hold(is_done, || "no [DONE]".into());
        let asked = self.request["stream_options"]["include_usage"] == true;
        self.hold(asked == joined.counted, || format!("tokens asked for: {asked}, told: {}", joined.counted));
        for (index, choice) in &joined.choices {
            self.hold(choice.finishes == 1, || format!("choice {index} ends {} times", choice.finishes));
            self.hold(choice.roles == 1, || format!("choice {index} has {} roles", choice.roles));
        }
        joined.completion()
    }

    fn chunk(&mut self, chunk: &Value, joined: &mut Joined) {
        if !chunk["error"].is_null() {
            joined.top.insert("error".into(), chunk["error"].clone());
            return;
        }
        self.hold(chunk["object"] == "chat.completion.chunk", || format!("object: {}", chunk["object"]));
        for key in ["id", "created", "model"] {
            let first = joined.top.get(key).unwrap_or(&chunk[key]);
            self.hold(*first == chunk[key], || format!("{key} changes: {first}, {}", chunk[key]));
        }
        let Some(choices) = chunk["choices"].as_array() else {
            return self.breach(format!("a chunk without choices: {chunk}"));
        };
        if choices.is_empty() {
            let is_count = chunk["usage"].is_object();
            // Some servers tell other things in a chunk of its own.
            let tells = chunk.as_object().is_some_and(|chunk| 5 < chunk.len());
            self.hold(!(is_count && joined.counted) && tells, || format!("nothing in {chunk}"));
            joined.counted |= is_count;
        }
        for (key, value) in chunk.as_object().into_iter().flatten() {
            if key != "choices" && key != "object" && !(key == "usage" && value.is_null()) {
                joined.top.insert(key.clone(), value.clone());
            }
        }
        for choice in choices {
            let Some(index) = choice["index"].as_u64() else {
                self.breach(format!("a choice without index: {chunk}"));
                continue;
            };
            self.choice_chunk(choice, joined.choices.entry(index).or_default());
        }
    }

    fn choice_chunk(&mut self, choice: &Value, joined: &mut JoinedChoice) {
        self.hold(joined.finishes == 0, || format!("behind the finish: {choice}"));
        let Some(delta) = choice["delta"].as_object() else {
            return self.breach(format!("a choice without delta: {choice}"));
        };
        if joined.roles == 0 {
            self.hold(delta.contains_key("role"), || format!("the first delta has no role: {choice}"));
        }
        for (key, value) in delta {
            match key.as_str() {
                "role" => {
                    joined.roles += 1;
                    joined.message.insert("role".into(), value.clone());
                }
                "tool_calls" => {
                    for piece in value.as_array().into_iter().flatten() {
                        self.call_piece(piece, joined);
                    }
                }
                _ => add(&mut joined.message, key, value),
            }
        }
        for (key, value) in choice.as_object().into_iter().flatten() {
            match key.as_str() {
                "index" | "delta" => {}
                "finish_reason" if value.is_null() => {}
                "finish_reason" => {
                    joined.finishes += 1;
                    joined.rest.insert(key.clone(), value.clone());
                }
                _ => add(&mut joined.rest, key, value),
            }
        }
    }

    fn call_piece(&mut self, piece: &Value, joined: &mut JoinedChoice) {
        let function = &piece["function"];
        let arguments = &function["arguments"];
        self.hold(arguments.is_string() || arguments.is_null(), || format!("arguments: {arguments}"));
        let arguments = arguments.as_str().unwrap_or("");
        let Some(index) = piece["index"].as_u64().and_then(|index| usize::try_from(index).ok()) else {
            return self.breach(format!("a piece without index: {piece}"));
        };
        match joined.calls.get_mut(index) {
            None => {
                self.hold(index == joined.calls.len(), || format!("index {index} before its turn"));
                self.hold(piece["id"].is_string() && function["name"].is_string(), || {
                    format!("a call begins without id or name: {piece}")
                });
                joined.calls.push(Map::from_iter([
                    ("id".into(), piece["id"].clone()),
                    ("type".into(), piece["type"].clone()),
                    ("function".into(), json!({ "name": function["name"], "arguments": arguments })),
                ]));
            }
            Some(call) => {
                self.hold(piece.get("id").is_none() && function.get("name").is_none(), || {
                    format!("id or name once more: {piece}")
                });
                let so_far = call["function"]["arguments"].as_str().unwrap_or("");
                call["function"]["arguments"] = format!("{so_far}{arguments}").into();
            }
        }
        let is_ours = |key: &str| matches!(key, "index" | "id" | "type" | "function");
        if let Some(call) = joined.calls.get_mut(index) {
            for (key, value) in piece.as_object().into_iter().flatten().filter(|(key, _)| !is_ours(key)) {
                add(call, key, value);
            }
        }
    }
}

/// What a stream adds up to.
#[derive(Default)]
struct Joined {
    top: Map,
    choices: BTreeMap<u64, JoinedChoice>,
    /// The tokens were told.
    counted: bool,
}

#[derive(Default)]
struct JoinedChoice {
    message: Map,
    calls: Vec<Map>,
    rest: Map,
    roles: usize,
    finishes: usize,
}

impl Joined {
    fn completion(self) -> Value {
        let mut body = self.top;
        body.insert("object".into(), "chat.completion".into());
        let choices = self.choices.into_iter().map(|(index, choice)| {
            let mut message = choice.message;
            // An empty text beside calls is the beginning of none.
            let has_text = message.get("content").is_some_and(|content| *content != "");
            if !has_text && !choice.calls.is_empty() || !message.contains_key("content") {
                message.insert("content".into(), Value::Null);
            }
            if !choice.calls.is_empty() {
                message.insert("tool_calls".into(), choice.calls.into_iter().map(Value::Object).collect());
            }
            let mut whole = choice.rest;
            whole.insert("index".into(), index.into());
            whole.insert("message".into(), message.into());
            Value::Object(whole)
        });
        body.insert("choices".into(), choices.collect());
        body.into()
    }
}

/// Texts and lists grow, objects grow by their members, anything else is the last one said.
fn add(to: &mut Map, key: &str, value: &Value) {
    match (to.get_mut(key), value) {
        (Some(Value::String(so_far)), Value::String(more)) => so_far.push_str(more),
        (Some(Value::Array(so_far)), Value::Array(more)) => so_far.extend(more.iter().cloned()),
        (Some(Value::Object(so_far)), Value::Object(more)) if key == "function_call" => {
            let before = so_far.get("arguments").and_then(Value::as_str).unwrap_or("").to_owned();
            let piece = more.get("arguments").and_then(Value::as_str).unwrap_or("");
            so_far.insert("arguments".into(), (before + piece).into());
        }
        (Some(_), Value::Null) => {}
        _ => drop(to.insert(key.into(), value.clone())),
    }
}

fn is_object_text(arguments: &Value) -> bool {
    arguments.as_str().is_some_and(|text| serde_json::from_str::<Map>(text).is_ok())
}

/// Is it a declared tool with arguments that fit, as they stand?
fn fits(tool_set: &ToolSet, name: &str, arguments: &str) -> bool {
    let call = NativeCall { id: None, name, arguments };
    let context = Context { native: true, policy: Policy::Strict, ..Context::default() };
    let outcome = parse(tool_set, "", &[call], &context);
    matches!(&outcome.verdicts[..], [Verdict::Accepted(call)] if call.name == name && call.arguments == arguments)
}
