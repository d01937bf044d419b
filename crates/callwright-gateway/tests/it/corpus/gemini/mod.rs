//! The cases of `corpus/surfaces/gemini.toml`, and those of `corpus/gateway` once more: what a client of Gemini's API sees is what
//! a client of chat completions does.

mod read;

use std::collections::BTreeMap;

use callwright::json;
use callwright::value::Value;
use serde::Deserialize;

use self::read::Form;
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
    thought: Option<String>,
    calls: Vec<Called>,
    finish_reason: Option<String>,
    headers: BTreeMap<String, String>,
    /// By JSON pointer, in what the answer adds up to.
    fields: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Called {
    name: String,
    args: Value,
}

/// Where an answer of this form is asked for.
fn path(form: Form) -> &'static str {
    match form {
        Form::Whole => "v1beta/models/m:generateContent",
        Form::Events => "v1beta/models/m:streamGenerateContent?alt=sse",
        Form::Array => "v1beta/models/m:streamGenerateContent",
    }
}

/// Tools of chats as those of this API.
fn declared(tools: &Value) -> Value {
    let functions: Vec<Value> = tools.as_array().into_iter().flatten().map(declaration).collect();
    json!([{ "functionDeclarations": functions }])
}

fn declaration(tool: &Value) -> Value {
    let function = &tool["function"];
    let mut declaration = json!({ "name": function["name"] });
    for (from, to) in [("description", "description"), ("parameters", "parametersJsonSchema")] {
        if !function[from].is_null() {
            declaration[to] = function[from].clone();
        }
    }
    declaration
}

/// What all requests have.
fn request() -> Value {
    json!({ "contents": [{ "role": "user", "parts": [{ "text": "Go." }] }], "tools": declared(&tools()) })
}

impl SurfaceCase<Sees> {
    /// What is wrong with the case in this form, cut like this if it streams.
    async fn wrong(&self, form: Form, cut: Option<Cut>) -> Vec<String> {
        let (got, wrong_asked) = self.played(path(form), request(), cut).await;
        let read::Read { body, breaches } = read::read(&got, form);
        let sees = &self.sees;
        let mut breaches = Breaches::of(breaches, wrong_asked, (&got, &body), (sees.status, &sees.headers));
        let mut wrong = |is: bool, what: String| breaches.add(is, what);
        let error = body["error"]["message"].as_str();
        let fits = match &sees.error {
            Some(part) => error.is_some_and(|error| error.contains(part)),
            None => error.is_none(),
        };
        wrong(!fits, format!("error: {body}"));
        if sees.error.is_none() {
            wrong(body["text"] != *sees.text.as_deref().unwrap_or_default(), format!("text: {body}"));
            wrong(
                body["thought"] != *sees.thought.as_deref().unwrap_or_default(),
                format!("thought: {body}"),
            );
            let expected: Vec<(String, Value)> =
                sees.calls.iter().map(|call| (call.name.clone(), call.args.clone())).collect();
            wrong(calls(&body) != expected, format!("calls: {body}"));
        }
        if let Some(reason) = &sees.finish_reason {
            wrong(body["finishReason"] != **reason, format!("finishReason: {body}"));
        }
        breaches.with_fields(&body, &sees.fields)
    }
}

fn calls(body: &Value) -> Vec<(String, Value)> {
    let call = |call: &Value| (call["name"].as_str().unwrap_or_default().to_owned(), call["args"].clone());
    body["calls"].as_array().into_iter().flatten().map(call).collect()
}

/// A chat's request as one of Gemini's: its only message is the user's.
fn asked(chat: &Value) -> Value {
    let mut asked = json!({
        "contents": [{ "role": "user", "parts": [{ "text": chat["messages"][0]["content"] }] }],
        "generationConfig": { "maxOutputTokens": chat["max_tokens"], "thinkingConfig": { "includeThoughts": true } },
    });
    if !chat["tools"].is_null() {
        asked["tools"] = declared(&chat["tools"]);
    }
    asked
}

/// What an answer tells its client.
fn told(got: &Got, stream: bool) -> Told {
    let form = if stream { Form::Events } else { Form::Whole };
    let read::Read { body, breaches } = read::read(got, form);
    let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
    Told {
        text: text("text"),
        thought: text("thought"),
        calls: calls(&body),
        is_whole: body["finishReason"].is_string(),
        breaches,
    }
}

#[tokio::test]
async fn clients_of_gemini_see_what_they_must() {
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in SurfaceCase::<Sees>::read("gemini.toml") {
        for cut in case.ways() {
            let forms = if cut.is_some() { &[Form::Events, Form::Array][..] } else { &[Form::Whole] };
            for form in forms {
                for what in case.wrong(*form, cut).await {
                    wrong.entry(case.name.clone()).or_default().push(format!("{form:?} {cut:?}: {what}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The chat cases: their text and calls are the same for a client of Gemini's API, plain and streamed.
#[tokio::test]
async fn clients_of_gemini_see_what_others_do() {
    let at = |stream| path(if stream { Form::Events } else { Form::Whole });
    let wrong = compared_with_chat((at, true), asked, told).await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}
