//! The cases of `corpus/surfaces/ollama.toml`, and those of `corpus/gateway` once more: what a client of Ollama's API sees is
//! what a client of chat completions does.

mod read;

use std::collections::BTreeMap;

use callwright::json;
use callwright::value::Value;
use serde::Deserialize;

use crate::corpus::case::tools;
use crate::corpus::client::Got;
use crate::corpus::surfaces::{Breaches, Cut, SurfaceCase, Told, compared_with_chat};

/// What the client must see.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Sees {
    status: Option<u16>,
    /// What the error says, or a part of it.
    error: Option<String>,
    text: Option<String>,
    thinking: Option<String>,
    calls: Vec<Called>,
    done_reason: Option<String>,
    headers: BTreeMap<String, String>,
    /// By JSON pointer, in the answer.
    fields: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Called {
    name: String,
    arguments: Value,
}

/// What all requests have.
fn request() -> Value {
    json!({
        "model": "qwen3",
        "stream": false,
        "messages": [{ "role": "user", "content": "Go." }],
        "tools": tools(),
    })
}

impl SurfaceCase<Sees> {
    /// What is wrong with the case: plain, or streamed and cut like this.
    async fn wrong(&self, cut: Option<Cut>) -> Vec<String> {
        let (got, wrong_asked) = self.played("api/chat", request(), cut).await;
        let read::Read { body, breaches } = read::read(&got, cut.is_some());
        let sees = &self.sees;
        let mut breaches = Breaches::of(breaches, wrong_asked, (&got, &body), (sees.status, &sees.headers));
        let mut wrong = |is: bool, what: String| breaches.add(is, what);
        let error = body["error"].as_str();
        let fits = match &sees.error {
            Some(part) => error.is_some_and(|error| error.contains(part)),
            None => error.is_none(),
        };
        wrong(!fits, format!("error: {body}"));
        let message = &body["message"];
        if sees.error.is_none() {
            wrong(message["content"] != *sees.text.as_deref().unwrap_or_default(), format!("text: {body}"));
            let thinking = sees.thinking.as_deref().unwrap_or_default();
            wrong(message["thinking"] != *thinking, format!("thinking: {body}"));
            let expected: Vec<(String, Value)> =
                sees.calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect();
            wrong(calls(message) != expected, format!("calls: {body}"));
        }
        if let Some(reason) = &sees.done_reason {
            wrong(body["done_reason"] != **reason, format!("done_reason: {body}"));
        }
        breaches.with_fields(&body, &sees.fields)
    }
}

fn calls(message: &Value) -> Vec<(String, Value)> {
    let call = |call: &Value| {
        let function = &call["function"];
        (function["name"].as_str().unwrap_or_default().to_owned(), function["arguments"].clone())
    };
    message["tool_calls"].as_array().into_iter().flatten().map(call).collect()
}

/// A chat's request as one of Ollama's.
fn asked(chat: &Value) -> Value {
    json!({
        "model": "m", "stream": false, "options": { "num_predict": chat["max_tokens"] },
        "messages": chat["messages"], "tools": chat["tools"],
    })
}

/// What an answer tells its client.
fn told(got: &Got, stream: bool) -> Told {
    let read::Read { body, breaches } = read::read(got, stream);
    let text = |key: &str| body["message"][key].as_str().unwrap_or_default().to_owned();
    Told {
        text: text("content"),
        thought: text("thinking"),
        calls: calls(&body["message"]),
        is_whole: body["done"] == true,
        breaches,
    }
}

#[tokio::test]
async fn clients_of_ollama_see_what_they_must() {
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in SurfaceCase::<Sees>::read("ollama.toml") {
        for cut in case.ways() {
            for what in case.wrong(cut).await {
                wrong.entry(case.name.clone()).or_default().push(format!("{cut:?}: {what}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The chat cases: their text and calls are the same for a client of Ollama's API, plain and streamed.
#[tokio::test]
async fn clients_of_ollama_see_what_others_do() {
    let wrong = compared_with_chat((|_| "api/chat", true), asked, told).await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}
