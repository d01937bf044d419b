//! The cases of `corpus/surfaces/messages.toml`, and those of `corpus/gateway` once more: what a client of messages sees is
//! what a client of chat completions does.

mod read;

use std::collections::BTreeMap;
use std::path::Path;

use callwright::json;
use callwright::value::{Map, Value};
use callwright_replay::{Form, Pieces, Replay, Script};
use serde::Deserialize;

use crate::case::{Asked, Case, ModelMode, Way, files, tools};
use crate::served::Served;
use crate::{client, expect, strict};

/// One case.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageCase {
    name: String,
    /// Where it was found.
    #[serde(rename = "from")]
    _from: String,
    /// What the request has besides a model, a bound, one message and all tools.
    #[serde(default)]
    request: Map,
    #[serde(default)]
    mode: ModelMode,
    answer: Vec<Value>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// It is played in streams only, or only plain.
    streamed: Option<bool>,
    sees: Sees,
    asked: Option<Vec<Asked>>,
}

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

/// The ways in which streams are cut.
const CUTS: [(Pieces, Pieces); 3] = [
    (Pieces::Whole, Pieces::Whole),
    (Pieces::Each(1), Pieces::Whole),
    (Pieces::Random(5), Pieces::Random(11)),
];

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

impl MessageCase {
    fn request(&self, stream: bool) -> Value {
        let mut request = Map::from_iter([
            ("model".into(), "claude-x".into()),
            ("max_tokens".into(), 1000.into()),
            ("messages".into(), json!([{ "role": "user", "content": "Go." }])),
            ("tools".into(), declared(&tools())),
        ]);
        request.extend(self.request.clone());
        if request["tools"] == json!([]) {
            request.remove("tools");
        }
        if stream {
            request.insert("stream".into(), true.into());
        }
        request.into()
    }

    fn script(&self, cut: Option<(Pieces, Pieces)>) -> Script {
        let script = json!({ "answer": self.answer });
        let mut script = Script::from_value(script).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        if let Some((pieces, writes)) = cut {
            for answer in &mut script.answers {
                answer.form = Some(Form { pieces, writes, ..answer.form.take().unwrap_or_default() });
            }
        }
        script
    }

    /// What is wrong with the case: plain, or streamed and cut like this.
    async fn wrong(&self, cut: Option<(Pieces, Pieces)>) -> Vec<String> {
        let replay = Replay::start(self.script(cut)).unwrap();
        let gateway = Served::with(&replay.base_url(), self.mode);
        let request = self.request(cut.is_some());
        let got = client::ask_at("messages", &gateway.base_url, &self.headers, &request).await;
        let read::Read { body, events, mut breaches } = read::read(&got, cut.is_some());
        let mut wrong = |is: bool, what: String| {
            if is {
                breaches.push(what);
            }
        };
        let sees = &self.sees;
        let status = sees.status.unwrap_or(200);
        wrong(got.status != status, format!("status {}: {body}", got.status));
        for (name, value) in &sees.headers {
            let found = got.headers.get(name).and_then(|found| found.to_str().ok());
            wrong(found != Some(value), format!("{name}: {found:?}"));
        }
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
        for (pointer, value) in &sees.fields {
            let found = body.pointer(pointer);
            wrong(found != Some(value), format!("{pointer}: {found:?}"));
        }
        if let (Some(expected), true) = (&sees.events, cut == Some(CUTS[0])) {
            wrong(events != *expected, format!("events: {events}"));
        }
        if let Some(asked) = &self.asked {
            breaches.extend(expect::asked_for(asked, &replay.requests()));
        }
        breaches
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

fn cases() -> Vec<MessageCase> {
    #[derive(Deserialize)]
    struct File {
        case: Vec<MessageCase>,
    }
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/surfaces/messages.toml"));
    toml::from_str::<File>(&std::fs::read_to_string(path).unwrap()).unwrap().case
}

#[tokio::test]
async fn clients_of_messages_see_what_they_must() {
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in cases() {
        let plain = [None].into_iter().filter(|_| case.streamed != Some(true));
        let cuts = CUTS.into_iter().map(Some).filter(|_| case.streamed != Some(false));
        for cut in plain.chain(cuts) {
            for what in case.wrong(cut).await {
                wrong.entry(case.name.clone()).or_default().push(format!("{cut:?}: {what}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What a request for messages says as well as a chat request.
const SAME: [&str; 1] = ["tools"];

/// The chat cases: their text, calls and end are the same for a client of messages, plain and streamed.
#[tokio::test]
async fn clients_of_messages_see_what_others_do() {
    let (mut wrong, mut n_played) = (Vec::new(), 0);
    for case in files().iter().flat_map(|file| Case::read(file)) {
        let request = case.request(Way::Plain);
        let own = ["model", "messages"];
        let members = request.as_object().into_iter().flat_map(|members| members.keys());
        let is_plain = members.into_iter().all(|key| own.contains(&&**key) || SAME.contains(&&**key));
        if !is_plain
            || request["messages"] != json!([{ "role": "user", "content": "Go." }])
            || case.sees.error
        {
            continue;
        }
        for way in case.ways() {
            let mut chat = case.request(way);
            // These have no request without a bound.
            chat["max_tokens"] = 100_000.into();
            let mut message = json!({
                "model": "m", "max_tokens": 100_000, "thinking": {"type": "adaptive"},
                "messages": chat["messages"], "tools": declared(&chat["tools"]),
            });
            if chat["stream"] == true {
                message["stream"] = true.into();
            }
            let mut got = Vec::new();
            for (path, request) in [("chat/completions", &chat), ("messages", &message)] {
                let replay = Replay::start(case.script(way)).unwrap();
                let gateway = Served::with(&replay.base_url(), case.mode);
                got.push(client::ask_at(path, &gateway.base_url, &case.headers, request).await);
            }
            let body = strict::read(&got[0], &chat).body;
            let read = read::read(&got[1], chat["stream"] == true);
            n_played += 1;
            let name = format!("{}/{} {way:?}", case.kind, case.name);
            wrong.extend(read.breaches.iter().map(|breach| format!("{name}: {breach}")));
            if !body["error"].is_null() {
                // Half a call is open there, which is none here.
                continue;
            }
            let choice = &body["choices"][0];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let calls = choice["message"]["tool_calls"].as_array().into_iter().flatten();
            let calls: Vec<(String, Value)> = calls
                .map(|call| {
                    let arguments = text(&call["function"]["arguments"]);
                    (text(&call["function"]["name"]), serde_json::from_str(&arguments).unwrap_or_default())
                })
                .collect();
            let own = &choice["message"];
            let content = own["content"].as_str().or(own["refusal"].as_str()).unwrap_or_default();
            let said = Said::of(&read.body);
            let same_calls: Vec<(String, Value)> =
                said.calls.into_iter().map(|(_, name, input)| (name, input)).collect();
            if (&calls, content) != (&same_calls, &said.text) {
                wrong.push(format!("{name}: {body} against {}", read.body));
            }
        }
    }
    assert!(100 < n_played, "{n_played}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
