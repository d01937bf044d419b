//! The cases of `corpus/surfaces/responses.toml`, and responses that are gone on from.

mod read;

use std::collections::BTreeMap;

use callwright::json;
use callwright::value::Value;
use callwright_relay::UpstreamKind;
use callwright_replay::{Replay, Script};
use serde::Deserialize;

use crate::corpus::case::{ModelMode, tools};
use crate::corpus::client::{Got, ask_at};
use crate::corpus::served::Served;
use crate::corpus::surfaces::{Breaches, CUTS, Cut, SurfaceCase, Told, alike_as_chat, compared_with_chat};
use crate::running::last_asked;

/// What the client must see.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Sees {
    /// The HTTP status.
    status: Option<u16>,
    /// `completed`, where nothing else is said.
    state: Option<String>,
    /// The code of the error.
    code: Option<String>,
    text: Option<String>,
    thought: Option<String>,
    /// The calls that a client runs: of its last event in a stream, of the output of a whole response.
    calls: Vec<Called>,
    headers: BTreeMap<String, String>,
    /// By JSON pointer, in the response.
    fields: BTreeMap<String, Value>,
    /// The events in short, where texts are not cut.
    events: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Called {
    call_id: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
    input: Option<String>,
}

/// A chat's tools as a request for a response declares them.
fn declared(tools: &Value) -> Value {
    let tool = |tool: &Value| {
        let mut function = tool["function"].clone();
        function["type"] = "function".into();
        function
    };
    tools.as_array().into_iter().flatten().map(tool).collect::<Vec<_>>().into()
}

/// What all requests have.
fn request() -> Value {
    json!({ "model": "gpt-x", "input": "Go.", "tools": declared(&tools()) })
}

impl Called {
    fn is(&self, item: &Value) -> bool {
        let is = |expected: &Option<String>, key: &str| {
            expected.as_ref().is_none_or(|expected| item[key] == **expected)
        };
        is(&self.call_id, "call_id")
            && self.namespace.as_deref() == item["namespace"].as_str()
            && is(&self.name, "name")
            && is(&self.arguments, "arguments")
            && is(&self.input, "input")
    }
}

impl SurfaceCase<Sees> {
    /// What is wrong with the case: plain, or streamed and cut like this.
    async fn wrong(&self, cut: Option<Cut>) -> Vec<String> {
        let (got, wrong_asked) = self.played("responses", request(), cut).await;
        let read::Read { body, events, done, breaches } = read::read(&got, cut.is_some());
        let sees = &self.sees;
        let mut breaches = Breaches::of(breaches, wrong_asked, (&got, &body), (sees.status, &sees.headers));
        let mut wrong = |is: bool, what: String| breaches.add(is, what);
        wrong(body["error"]["code"].as_str() != sees.code.as_deref(), format!("error: {body}"));
        if got.status.is_success() {
            let state = sees.state.as_deref().unwrap_or("completed");
            wrong(body["status"] != *state, format!("state: {}", body["status"]));
        }
        let whole: Vec<Value> = body["output"].as_array().cloned().unwrap_or_default();
        let items = if cut.is_some() { &done } else { &whole };
        let said = |kind: &str| -> String {
            items.iter().filter(|item| item["type"] == *kind).map(read::said_by).collect()
        };
        if let Some(text) = &sees.text {
            wrong(said("message") != *text, format!("text: {:?}", said("message")));
        }
        wrong(said("reasoning") != sees.thought.as_deref().unwrap_or_default(), format!("thought: {body}"));
        let is_call = |item: &&Value| {
            item["type"].as_str().is_some_and(|kind| kind.ends_with("_call")) && item["status"] == "completed"
        };
        let calls: Vec<&Value> = items.iter().filter(is_call).collect();
        let fit = calls.len() == sees.calls.len()
            && calls.iter().zip(&sees.calls).all(|(item, call)| call.is(item));
        wrong(!fit, format!("calls: {calls:?}"));
        if let (Some(expected), true) = (&sees.events, cut == Some(CUTS[0])) {
            wrong(events != *expected, format!("events: {events}"));
        }
        breaches.with_fields(&body, &sees.fields)
    }
}

/// A chat's request as one for a response.
pub(crate) fn asked(chat: &Value) -> Value {
    json!({
        "model": "m", "max_output_tokens": chat["max_tokens"], "input": chat["messages"],
        "tools": declared(&chat["tools"]),
    })
}

/// What an answer tells its client.
pub(crate) fn told(got: &Got, stream: bool) -> Told {
    let read::Read { body, done, breaches, .. } = read::read(got, stream);
    let items = if stream { done } else { body["output"].as_array().cloned().unwrap_or_default() };
    let of = |kind: &str| items.iter().filter(|item| item["type"] == *kind).collect::<Vec<_>>();
    let said = |kind: &str| of(kind).into_iter().map(read::said_by).collect();
    let call = |item: &&Value| {
        let name = item["name"].as_str().unwrap_or_default().to_owned();
        (name, serde_json::from_str(&read::said_by(item)).unwrap_or_default())
    };
    let calls = of("function_call").iter().map(call).collect();
    let is_whole = body["status"] == "completed";
    Told { text: said("message"), thought: said("reasoning"), calls, is_whole, breaches }
}

#[tokio::test]
async fn clients_of_responses_see_what_they_must() {
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let alike = SurfaceCase::<Sees>::read("responses-alike.toml");
    for case in SurfaceCase::<Sees>::read("responses.toml").into_iter().chain(alike) {
        for cut in case.ways() {
            for what in case.wrong(cut).await {
                wrong.entry(case.name.clone()).or_default().push(format!("{cut:?}: {what}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The chat cases: their text and calls are the same for a client of responses, plain and streamed.
#[tokio::test]
async fn clients_of_responses_see_what_others_do() {
    let wrong = compared_with_chat((|_| "responses", false), asked, told).await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A question that goes on from a response holds all that was said before, unmasked, and only whoever made it may go on.
#[tokio::test]
async fn a_response_is_gone_on_from() {
    let script = "[[answer]]\ntool_calls = [{ id = 'c1', name = 'list_files', arguments = '{\"path\": \"a\"}' }]\n\n[[answer]]\ntext = 'Done.'\nrepeat = true\n";
    let replay = Replay::start(Script::from_toml(script).unwrap()).unwrap();
    let gateway = Served::with(&replay.base_url(), ModelMode::Native);
    let none = BTreeMap::new();
    let mine = BTreeMap::from([(String::from("authorization"), String::from("Bearer mine"))]);
    let ask = async |headers: &BTreeMap<String, String>, body: Value| -> (u16, Value) {
        let got = ask_at("responses", &gateway.base_url, headers, &body).await;
        (got.status.as_u16(), serde_json::from_slice(&got.body).unwrap())
    };
    let secret = "the key is sk-0123456789abcdefghijklmnopqrstuvwxyz";
    let mut first = request();
    first["input"] = secret.into();
    let (_, first) = ask(&mine, first).await;
    let id = first["id"].as_str().unwrap();
    assert_eq!((first["output"][0]["call_id"].as_str(), first["store"].as_bool()), (Some("c1"), Some(true)));
    let mut second = request();
    second["previous_response_id"] = id.into();
    second["input"] = json!([{ "type": "function_call_output", "call_id": "c1", "output": "b.txt" }]);
    let (status, refused) = ask(&none, second.clone()).await;
    assert_eq!((status, refused["error"]["code"].as_str()), (404, Some("previous_response_not_found")));
    let (_, second) = ask(&mine, second).await;
    assert_eq!(second["output"][0]["content"][0]["text"], "Done.");
    let asked = last_asked(&replay).json();
    let messages = &asked["messages"];
    assert_eq!(messages[0]["content"], secret);
    assert_eq!(messages[1]["tool_calls"][0]["function"]["arguments"], "{\"path\": \"a\"}");
    assert_eq!(
        (messages[2]["tool_call_id"].as_str(), messages[2]["content"].as_str()),
        (Some("c1"), Some("b.txt"))
    );
    let mut unkept = request();
    unkept["store"] = false.into();
    let (_, unkept) = ask(&mine, unkept).await;
    assert_eq!(unkept["store"], false);
    let mut third = request();
    third["previous_response_id"] = unkept["id"].clone();
    assert_eq!(ask(&mine, third).await.0, 404);
}

/// The native calls of the chat cases come to the same before an upstream of responses.
#[tokio::test]
async fn an_upstream_of_responses_comes_to_the_same_calls() {
    let wrong = alike_as_chat(("responses", UpstreamKind::Responses), asked, told).await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}
