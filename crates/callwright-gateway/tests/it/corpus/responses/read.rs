//! The rules of OpenAI's responses as the strictest of their clients hold them: an answer goes in, what it adds up to and
//! what breaks a rule come out.

use callwright::json;
use callwright::value::Value;

use crate::corpus::client::Got;

/// An answer, read strictly.
pub(crate) struct Read {
    /// The response, whole or as the last event has it, or the error.
    pub(crate) body: Value,
    /// The events in short; those that come several times in a row stand there once.
    pub(crate) events: String,
    /// The items that a client takes for done, in a stream: it runs their calls.
    pub(crate) done: Vec<Value>,
    /// The rules that are broken, a sentence each.
    pub(crate) breaches: Vec<String>,
}

/// The events and how they are called in short.
const SHORT: [(&str, &str); 24] = [
    ("response.created", "rc"),
    ("response.in_progress", "ip"),
    ("response.output_item.added", "ia"),
    ("response.output_item.done", "iD"),
    ("response.content_part.added", "cp"),
    ("response.content_part.done", "cP"),
    ("response.output_text.delta", "td"),
    ("response.output_text.done", "tD"),
    ("response.refusal.delta", "fd"),
    ("response.refusal.done", "fD"),
    ("response.reasoning_text.delta", "rd"),
    ("response.reasoning_text.done", "rD"),
    ("response.reasoning_summary_part.added", "sp"),
    ("response.reasoning_summary_part.done", "sP"),
    ("response.reasoning_summary_text.delta", "sd"),
    ("response.reasoning_summary_text.done", "sD"),
    ("response.function_call_arguments.delta", "ad"),
    ("response.function_call_arguments.done", "aD"),
    ("response.custom_tool_call_input.delta", "cd"),
    ("response.custom_tool_call_input.done", "cD"),
    ("response.completed", "CO"),
    ("response.incomplete", "IN"),
    ("response.failed", "FA"),
    ("keepalive", "ka"),
];

/// What every response has.
const ALWAYS: [&str; 24] = [
    "id",
    "object",
    "created_at",
    "status",
    "model",
    "output",
    "parallel_tool_calls",
    "tool_choice",
    "tools",
    "error",
    "incomplete_details",
    "instructions",
    "metadata",
    "temperature",
    "top_p",
    "max_output_tokens",
    "previous_response_id",
    "reasoning",
    "text",
    "truncation",
    "usage",
    "user",
    "store",
    "background",
];

/// Reads an answer to a request that wanted a stream, or none.
pub(crate) fn read(got: &Got, wants_stream: bool) -> Read {
    let mut reader = Reader::default();
    reader.hold(got.broken.is_none(), "the body breaks off");
    let is_stream = got.status.is_success() && wants_stream;
    let kind = got.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or("");
    let wanted = if is_stream { "text/event-stream" } else { "application/json" };
    reader.hold(kind == wanted, &format!("content-type: {kind}"));
    let text = String::from_utf8_lossy(&got.body);
    if is_stream {
        text.split("\n\n").filter(|event| !event.trim().is_empty()).for_each(|event| reader.event(event));
        reader.hold(reader.events.ends_with("DN "), "no end");
    } else {
        reader.body = serde_json::from_str(&text).unwrap_or_default();
        reader.hold(
            reader.body["error"].is_null() == got.status.is_success(),
            "an error has an error's status",
        );
    }
    let body = reader.body.clone();
    if got.status.is_success() {
        reader.response(&body);
        if body["status"] == "completed" && is_stream {
            reader.hold(body["output"] == json!(reader.done), "the end does not say what was done");
        }
    }
    let Reader { events, done, breaches, .. } = reader;
    Read { body, events: events.trim_end().to_owned(), done, breaches }
}

#[derive(Default)]
struct Reader {
    body: Value,
    events: String,
    done: Vec<Value>,
    breaches: Vec<String>,
    sequence: u64,
    id: String,
    /// The open item, as far as it has come.
    open: Option<Value>,
    /// What its deltas add up to.
    text: String,
}

impl Reader {
    fn hold(&mut self, is: bool, otherwise: &str) {
        if !is {
            self.breaches.push(otherwise.to_owned());
        }
    }

    fn event(&mut self, event: &str) {
        if event.lines().all(|line| line.starts_with(':')) {
            return;
        }
        let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if line("data:") == Some("[DONE]") {
            return self.events.push_str("DN ");
        }
        self.hold(!self.events.ends_with("DN "), &format!("behind the end: {event}"));
        let data: Value = line("data:").and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default();
        let kind = data["type"].as_str().unwrap_or_default().to_owned();
        self.hold(line("event:") == Some(kind.as_str()), &format!("an event without its name: {event}"));
        self.hold(
            data["sequence_number"] == self.sequence,
            &format!("not number {}: {event}", self.sequence),
        );
        self.sequence += 1;
        if self.sequence == 1 {
            self.hold(kind == "response.created", &format!("the first event: {event}"));
        }
        let short = match SHORT.iter().find(|(name, _)| *name == kind) {
            Some((_, short)) => (*short).to_owned(),
            None if kind == "error" => "ER".to_owned(),
            None => {
                self.breaches.push(format!("no client knows {kind}"));
                return;
            }
        };
        if !self.events.ends_with(&format!("{short} ")) {
            self.events.push_str(&short);
            self.events.push(' ');
        }
        let response = &data["response"];
        if response.is_object() {
            let id = response["id"].as_str().unwrap_or_default().to_owned();
            self.hold(self.id.is_empty() || self.id == id, "another response");
            self.id = id;
            self.body = response.clone();
        }
        let at = self.done.len();
        match &*short {
            "rc" => self.hold(
                response["output"] == json!([]) && response["status"] == "in_progress",
                "it begins empty",
            ),
            "ia" => {
                self.hold(self.open.is_none(), &format!("two items are open: {data}"));
                self.hold(data["output_index"] == at, &format!("not the next item: {data}"));
                self.open = Some(data["item"].clone());
                self.text.clear();
            }
            "iD" => {
                let item = data["item"].clone();
                let begun = self.open.take().unwrap_or_default();
                for member in ["id", "type", "call_id", "name", "namespace"] {
                    self.hold(begun[member] == item[member], &format!("another {member}: {item}"));
                }
                self.hold(data["output_index"] == at, &format!("not this item: {data}"));
                let said = said_by(&item);
                self.hold(
                    item["type"] == "tool_search_call" || said == self.text,
                    &format!("{said:?} was {:?}", self.text),
                );
                self.done.push(item);
            }
            "td" | "fd" | "rd" | "sd" | "ad" | "cd" => {
                self.of_open(&data, at);
                self.text.push_str(data["delta"].as_str().unwrap_or_default());
            }
            "tD" | "fD" | "rD" | "sD" | "aD" | "cD" => {
                self.of_open(&data, at);
                let whole =
                    ["text", "refusal", "arguments", "input"].iter().find_map(|key| data[*key].as_str());
                self.hold(whole == Some(&self.text.clone()), &format!("another text: {data}"));
            }
            "cp" | "cP" | "sp" | "sP" => self.of_open(&data, at),
            _ => {}
        }
    }

    fn of_open(&mut self, data: &Value, at: usize) {
        let is = self.open.as_ref().is_some_and(|open| open["id"] == data["item_id"]);
        self.hold(is && data["output_index"] == at, &format!("of no open item: {data}"));
    }

    fn response(&mut self, response: &Value) {
        for member in ALWAYS {
            self.hold(response.get(member).is_some(), &format!("no {member}"));
        }
        self.hold(response["id"].as_str().is_some_and(|id| id.starts_with("resp_")), "its id");
        self.hold(response["object"] == "response", "its object");
        let items: Vec<Value> = response["output"].as_array().into_iter().flatten().cloned().collect();
        self.hold(!items.is_empty() || response["status"] != "completed", "nothing is said");
        for item in &items {
            let is = item["id"].is_string()
                && match item["type"].as_str() {
                    Some("message") => item["role"] == "assistant" && item["content"].is_array(),
                    Some("reasoning") => item["summary"].is_array(),
                    Some("function_call") => {
                        let is_id = item["call_id"].as_str().is_some_and(|id| (1..=64).contains(&id.len()));
                        is_id && item["name"].is_string() && item["arguments"].is_string()
                    }
                    Some("custom_tool_call") => item["call_id"].is_string() && item["input"].is_string(),
                    Some("tool_search_call") => item["arguments"].is_object(),
                    _ => false,
                };
            self.hold(is, &format!("an item {item}"));
        }
    }
}

/// What an item says, all of it.
pub(crate) fn said_by(item: &Value) -> String {
    let direct = ["arguments", "input"].iter().find_map(|key| item[*key].as_str());
    let parts = ["content", "summary"].iter().filter_map(|key| item[*key].as_array()).flatten();
    let said =
        |part: &Value| part["text"].as_str().or(part["refusal"].as_str()).unwrap_or_default().to_owned();
    direct.map_or_else(|| parts.map(said).collect(), str::to_owned)
}
