//! The answers of `corpus/recorded` whose file says `lanes`, each in the text of an upstream of every API: a client of the same API
//! gets its calls.

use std::collections::BTreeMap;
use std::path::Path;

use callwright::json;
use callwright::value::Value;
use callwright_relay::UpstreamKind;
use callwright_replay::{Form, Replay, Script};
use serde::Deserialize;

use crate::corpus::case::ModelMode;
use crate::corpus::client::{Got, ask_at};
use crate::corpus::served::Served;
use crate::corpus::surfaces::{CUTS, Told, calls_of_chat};
use crate::corpus::{messages, responses, strict};

#[derive(Deserialize)]
struct File {
    /// The tools as a chat declares them, as JSON.
    tools: String,
    case: Vec<Answer>,
}

/// The files whose answers were calls that a server left in the text. The others are read by the engine alone.
fn files() -> Vec<File> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/recorded"));
    let mut files = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        if path.extension().is_some_and(|ext| ext == "toml") {
            let table: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
            if table.contains_key("lanes") {
                files.push(table.try_into().unwrap());
            }
        }
    }
    files
}

#[derive(Deserialize)]
struct Answer {
    name: String,
    text: String,
    finish_reason: String,
    /// `f {"a": 1}` each.
    calls: Vec<String>,
    #[serde(default)]
    says: String,
}

impl Answer {
    fn calls(&self) -> Vec<(String, Value)> {
        let read = |call: &String| {
            let (name, arguments) = call.split_once(' ').unwrap();
            (name.to_owned(), serde_json::from_str(arguments).unwrap())
        };
        self.calls.iter().map(read).collect()
    }

    /// The upstream's script; a server that left the calls in the text may still say that there are some.
    fn script(&self, form: Option<Form>) -> Script {
        let finish_reason = if self.finish_reason == "tool_use" { "tool_calls" } else { "stop" };
        let answer = json!({ "text": self.text, "finish_reason": finish_reason });
        let mut script = Script::from_value(json!({ "answer": [answer] })).unwrap();
        script.answers[0].form = form;
        script
    }
}

/// What an answer tells a client of chat completions.
fn told_of_chat(got: &Got, request: &Value) -> Told {
    let strict::Read { body, breaches, .. } = strict::read(got, request);
    let message = &body["choices"][0]["message"];
    Told {
        text: message["content"].as_str().unwrap_or_default().to_owned(),
        thought: String::new(),
        calls: calls_of_chat(message),
        is_whole: body["choices"][0]["finish_reason"] == "tool_calls",
        breaches,
    }
}

type Asked = fn(&Value) -> Value;
/// What an answer to a request tells.
type Read = fn(&Got, &Value) -> Told;

#[tokio::test]
async fn what_was_recorded_becomes_calls_in_every_lane() {
    let lanes: [(&str, UpstreamKind, Asked, Read); 3] = [
        ("chat/completions", UpstreamKind::Chat, Value::clone, told_of_chat),
        ("messages", UpstreamKind::Messages, messages::asked, |got, request| {
            messages::told(got, request["stream"] == true)
        }),
        ("responses", UpstreamKind::Responses, responses::asked, |got, request| {
            responses::told(got, request["stream"] == true)
        }),
    ];
    let (mut wrong, mut n_answers) = (Vec::new(), 0);
    for file in files() {
        let tools: Value = serde_json::from_str(&file.tools).unwrap();
        for answer in &file.case {
            n_answers += 1;
            for (path, kind, asked, told) in &lanes {
                let chat = json!({
                    "model": "m", "max_tokens": 1000, "tools": tools,
                    "messages": [{ "role": "user", "content": "Go." }],
                });
                for cut in std::iter::once(None).chain(CUTS.into_iter().map(Some)) {
                    let form = cut.map(|(pieces, writes)| Form { pieces, writes, ..Form::default() });
                    let replay = Replay::start(answer.script(form)).unwrap();
                    let gateway = Served::of_kind(&replay.base_url(), ModelMode::Native, Some(*kind));
                    let mut request = asked(&chat);
                    if cut.is_some() {
                        request["stream"] = true.into();
                    }
                    let got = ask_at(path, &gateway.base_url, &BTreeMap::new(), &request).await;
                    let Told { text, calls, breaches, is_whole, .. } = told(&got, &request);
                    if calls != answer.calls()
                        || text.trim() != answer.says
                        || !is_whole
                        || !breaches.is_empty()
                    {
                        wrong.push(format!(
                            "{} at {path}, {cut:?}: {text:?}, {calls:?}, {breaches:?}",
                            answer.name
                        ));
                    }
                }
            }
        }
    }
    assert!(10 < n_answers, "{n_answers}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
