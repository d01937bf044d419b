//! The cases of `corpus/surfaces/messages.toml`, and those of `corpus/gateway` once more: what a client of messages sees is
//! what a client of chat completions does.

mod read;

use std::collections::BTreeMap;

use callwright::json;
use callwright::value::Value;
use callwright_relay::UpstreamKind;
use serde::Deserialize;

use crate::corpus::case::tools;
use crate::corpus::client::Got;
use crate::corpus::surfaces::{Breaches, CUTS, Cut, SurfaceCase, Told, alike_as_chat, compared_with_chat};

/// What the client must see.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Sees {
    status: Option<u16>,
    /// The type of the error; in a stream, of its last event.
    error: Option<String>,
    /// What the error says, or a part of it.
    message: Option<String>,
    text: Option<String>,
    thinking: Option<String>,
    calls: Vec<Called>,
    stop_reason: Option<String>,
    headers: BTreeMap<String, String>,
    /// By JSON pointer, in the message.
    fields: BTreeMap<String, Value>,
    /// The events in short, where texts are not cut.
    events: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Called {
    id: Option<String>,
    name: String,
    input: Value,
}

/// A chat's tools as a request for messages declares them.
fn declared(tools: &Value) -> Value {
    let tool = |tool: &Value| {
        let function = &tool["function"];
        json!({
            "name": function["name"],
            "description": function["description"],
            "input_schema": function["parameters"],
        })
    };
    tools.as_array().into_iter().flatten().map(tool).collect::<Vec<_>>().into()
}

/// What all requests have.
fn request() -> Value {
    json!({
        "model": "claude-x",
        "max_tokens": 1000,
        "messages": [{ "role": "user", "content": "Go." }],
        "tools": declared(&tools()),
    })
}

impl SurfaceCase<Sees> {
    /// What is wrong with the case: plain, or streamed and cut like this.
    async fn wrong(&self, cut: Option<Cut>) -> Vec<String> {
        let (got, wrong_asked) = self.played("messages", request(), cut).await;
        let read::Read { body, events, breaches } = read::read(&got, cut.is_some());
        let sees = &self.sees;
        let mut breaches = Breaches::of(breaches, wrong_asked, (&got, &body), (sees.status, &sees.headers));
        let mut wrong = |is: bool, what: String| breaches.add(is, what);
        wrong(body["error"]["type"].as_str() != sees.error.as_deref(), format!("error: {body}"));
        if let Some(message) = &sees.message {
            let found = body["error"]["message"].as_str().unwrap_or_default();
            wrong(!found.contains(message), format!("error: {found}"));
        }
        let said = Said::of(&body);
        if sees.error.is_none() {
            let text = sees.text.as_deref().unwrap_or_default();
            wrong(said.text != text, format!("text: {:?}", said.text));
            wrong(said.thinking != sees.thinking.as_deref().unwrap_or_default(), format!("thinking: {body}"));
            let fit = said.calls.len() == sees.calls.len()
                && said.calls.iter().zip(&sees.calls).all(|((id, name, input), call)| {
                    call.id.as_ref().is_none_or(|expected| expected == id)
                        && *name == call.name
                        && *input == call.input
                });
            wrong(!fit, format!("calls: {:?}", said.calls));
        }
        if let Some(reason) = &sees.stop_reason {
            wrong(body["stop_reason"] != **reason, format!("stop_reason: {}", body["stop_reason"]));
        }
        if let (Some(expected), true) = (&sees.events, cut == Some(CUTS[0])) {
            wrong(events != *expected, format!("events: {events}"));
        }
        breaches.with_fields(&body, &sees.fields)
    }
}

/// What a message says.
#[derive(Debug, Default, PartialEq)]
struct Said {
    text: String,
    thinking: String,
    calls: Vec<(String, String, Value)>,
}

impl Said {
    fn of(message: &Value) -> Said {
        let mut said = Said::default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for block in message["content"].as_array().into_iter().flatten() {
            said.text.push_str(&text(&block["text"]));
            said.thinking.push_str(&text(&block["thinking"]));
            if block["type"] == "tool_use" {
                said.calls.push((text(&block["id"]), text(&block["name"]), block["input"].clone()));
            }
        }
        said
    }
}

/// A chat's request as one for messages.
pub(crate) fn asked(chat: &Value) -> Value {
    json!({
        "model": "m", "max_tokens": chat["max_tokens"], "thinking": {"type": "adaptive"},
        "messages": chat["messages"], "tools": declared(&chat["tools"]),
    })
}

/// What an answer tells its client.
pub(crate) fn told(got: &Got, stream: bool) -> Told {
    let read::Read { body, breaches, .. } = read::read(got, stream);
    let Said { text, thinking, calls } = Said::of(&body);
    let calls = calls.into_iter().map(|(_, name, input)| (name, input)).collect();
    Told { text, thought: thinking, calls, is_whole: body["type"] == "message", breaches }
}

#[tokio::test]
async fn clients_of_messages_see_what_they_must() {
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let alike = SurfaceCase::<Sees>::read("messages-alike.toml");
    for case in SurfaceCase::<Sees>::read("messages.toml").into_iter().chain(alike) {
        for cut in case.ways() {
            for what in case.wrong(cut).await {
                wrong.entry(case.name.clone()).or_default().push(format!("{cut:?}: {what}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The chat cases: their text and calls are the same for a client of messages, plain and streamed.
#[tokio::test]
async fn clients_of_messages_see_what_others_do() {
    let wrong = compared_with_chat((|_| "messages", false), asked, told).await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The native calls of the chat cases come to the same before an upstream of messages.
#[tokio::test]
async fn an_upstream_of_messages_comes_to_the_same_calls() {
    let wrong = alike_as_chat(("messages", UpstreamKind::Messages), asked, told).await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}
