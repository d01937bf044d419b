//! The rules of Anthropic's wire as the strictest of its clients holds them: an answer goes in, what it adds up to and what
//! breaks a rule come out.

use callwright::json;
use callwright::value::Value;

use crate::corpus::client::Got;

/// An answer, read strictly.
pub(crate) struct Read {
    /// The message, whole or as its events add up to it, or the error.
    pub(crate) body: Value,
    /// The events in short, a letter pair each; those that come several times in a row stand there once.
    pub(crate) events: String,
    /// The rules that are broken, a sentence each.
    pub(crate) breaches: Vec<String>,
}

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
        reader.hold(reader.state == State::Over, "no end");
    } else {
        reader.message = serde_json::from_str(&text).unwrap_or_default();
        let is_error = reader.message["type"] == "error";
        reader.hold(is_error != got.status.is_success(), "an error has an error's status");
        reader.hold(!is_error || reader.message["request_id"].is_string(), "an error names its request");
    }
    let body = reader.message.clone();
    if body["type"] != "error" {
        reader.whole(&body);
    }
    Read { body, events: reader.events.trim_end().to_owned(), breaches: reader.breaches }
}

#[derive(Default)]
struct Reader {
    message: Value,
    events: String,
    breaches: Vec<String>,
    state: State,
    /// The input of the open call, as far as it has come.
    input: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Before,
    Between,
    /// A block is open.
    Within,
    /// The reason has come.
    Told,
    Over,
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
        let data: Value = line("data:").and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default();
        let kind = data["type"].as_str().unwrap_or_default().to_owned();
        self.hold(line("event:") == Some(kind.as_str()), &format!("an event without its name: {event}"));
        self.hold(self.state != State::Over, &format!("behind the end: {event}"));
        let short = match kind.as_str() {
            "message_start" => "ms".to_owned(),
            "content_block_start" => format!("bs({})", data["content_block"]["type"].as_str().unwrap_or("?")),
            "content_block_delta" => "bd".to_owned(),
            "content_block_stop" => "bS".to_owned(),
            "message_delta" => format!("md({})", data["delta"]["stop_reason"].as_str().unwrap_or("?")),
            "message_stop" => "mS".to_owned(),
            other => other.to_owned(),
        };
        if !self.events.ends_with(&format!("{short} ")) {
            self.events.push_str(&short);
            self.events.push(' ');
        }
        let index = self.message["content"].as_array().map_or(0, Vec::len);
        match (kind.as_str(), self.state) {
            ("message_start", State::Before) => {
                self.message = data["message"].clone();
                self.hold(self.message["content"] == json!([]), "a message begins empty");
                self.hold(self.message["stop_reason"].is_null(), "a message begins without its end");
                self.state = State::Between;
            }
            ("ping", _) => self.hold(self.state != State::Before, "a ping before the message"),
            ("content_block_start", State::Between) => {
                self.hold(data["index"] == index, &format!("not the next block: {data}"));
                if let Some(content) = self.message["content"].as_array_mut() {
                    content.push(data["content_block"].clone());
                }
                self.input.clear();
                self.state = State::Within;
            }
            ("content_block_delta", State::Within) => self.delta(&data, index.saturating_sub(1)),
            ("content_block_stop", State::Within) => {
                self.hold(data["index"] == index.saturating_sub(1), "another block stops");
                let block = &mut self.message["content"][index.saturating_sub(1)];
                // Without a delta, the input is that of the beginning.
                if block["type"] == "tool_use" && !self.input.is_empty() {
                    block["input"] = serde_json::from_str(&self.input).unwrap_or_default();
                }
                self.state = State::Between;
            }
            ("message_delta", State::Between) => {
                for member in ["stop_reason", "stop_sequence"] {
                    self.message[member] = data["delta"][member].clone();
                }
                for member in ["input_tokens", "output_tokens", "cache_read_input_tokens"] {
                    self.hold(data["usage"][member].is_u64(), &format!("no {member}"));
                    self.message["usage"][member] = data["usage"][member].clone();
                }
                self.state = State::Told;
            }
            ("message_stop", State::Told) => self.state = State::Over,
            ("error", _) => {
                // What an open call had come to is no call.
                let content = self.message["content"].as_array_mut();
                if self.state == State::Within {
                    content.and_then(|blocks| blocks.pop_if(|block| block["type"] == "tool_use"));
                }
                let content = self.message["content"].clone();
                self.message = json!({ "type": "error", "error": data["error"], "content": content });
                self.state = State::Over;
            }
            _ => self.breaches.push(format!("{:?}: {event}", self.state)),
        }
    }

    fn delta(&mut self, data: &Value, at: usize) {
        self.hold(data["index"] == at, &format!("a delta of another block: {data}"));
        let kind = self.message["content"][at]["type"].as_str().unwrap_or_default().to_owned();
        let delta = &data["delta"];
        let (of, member) = match delta["type"].as_str() {
            Some("text_delta") => ("text", "text"),
            Some("thinking_delta") => ("thinking", "thinking"),
            Some("signature_delta") => ("thinking", "signature"),
            Some("input_json_delta") => ("tool_use", "partial_json"),
            _ => ("", ""),
        };
        self.hold(kind == of, &format!("a delta for a block of {kind}: {data}"));
        let piece = delta[member].as_str().unwrap_or_default();
        if of == "tool_use" {
            self.input.push_str(piece);
            return self.hold(begins_json(&self.input), &format!("no JSON begins so: {}", self.input));
        }
        let before = self.message["content"][at][member].as_str().unwrap_or_default();
        self.message["content"][at][member] = format!("{before}{piece}").into();
    }

    fn whole(&mut self, message: &Value) {
        for (member, is) in [
            ("id", message["id"].as_str().is_some_and(|id| id.starts_with("msg_"))),
            ("type", message["type"] == "message"),
            ("role", message["role"] == "assistant"),
            ("model", message["model"].is_string()),
            ("stop_reason", message["stop_reason"].is_string()),
            (
                "usage",
                message["usage"]["input_tokens"].is_u64() && message["usage"]["output_tokens"].is_u64(),
            ),
        ] {
            self.hold(is, &format!("{member}: {}", message[member]));
        }
        let blocks: Vec<Value> = message["content"].as_array().into_iter().flatten().cloned().collect();
        self.hold(!blocks.is_empty() || message["stop_reason"] == "max_tokens", "nothing is said");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        for block in &blocks {
            let is = match block["type"].as_str() {
                Some("text") => block["text"].as_str().is_some_and(|text| !text.is_empty()),
                Some("thinking") => block["signature"].is_string(),
                Some("tool_use") => {
                    let id = block["id"].as_str().unwrap_or_default();
                    block["input"].is_object() && !id.is_empty() && id.chars().all(is_plain)
                }
                _ => false,
            };
            self.hold(is, &format!("a block {block}"));
        }
    }
}

/// Does the text of some object begin with this one?
fn begins_json(text: &str) -> bool {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    match serde::de::IgnoredAny::deserialize(&mut deserializer) {
        Ok(_) => true,
        Err(error) => error.is_eof(),
    }
}

use serde::Deserialize as _;
