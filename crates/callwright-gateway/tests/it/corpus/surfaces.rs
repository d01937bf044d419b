//! The cases of `corpus/surfaces`: what a client of another API asks, what its upstream answers to the chat that comes of it,
//! what the client must see.

use std::collections::BTreeMap;
use std::path::Path;

use callwright::json;
use callwright::value::{Map, Value};
use callwright_relay::UpstreamKind;
use callwright_replay::{Form, Pieces, Replay, Script};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::corpus::case::{Asked, Case, ModelMode, Second, Stage, Way, files};
use crate::corpus::client::{Got, ask_at};
use crate::corpus::served::Served;
use crate::corpus::strict;

/// How a stream is cut: its texts into deltas, and its bytes into writes.
pub(crate) type Cut = (Pieces, Pieces);

/// The ways in which streams are cut; in the first one texts are whole.
pub(crate) const CUTS: [Cut; 3] = [
    (Pieces::Whole, Pieces::Whole),
    (Pieces::Each(1), Pieces::Whole),
    (Pieces::Random(5), Pieces::Random(11)),
];

/// One case, with what its client must see.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SurfaceCase<S> {
    pub(crate) name: String,
    /// Where it was found.
    #[serde(rename = "from")]
    _from: String,
    /// What the request has besides what all have.
    #[serde(default)]
    request: Map,
    #[serde(default)]
    mode: ModelMode,
    /// The API that the upstream speaks itself, if it speaks another one than chat completions.
    kind: Option<UpstreamKind>,
    /// What the upstream's script says besides its answers.
    #[serde(default)]
    server: Map,
    /// What the gateway's configuration has.
    #[serde(default)]
    config: Map,
    /// Another upstream: its model `big` is asked where the case's own fails.
    second: Option<Second>,
    answer: Vec<Value>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// It is played in streams only, or only plain.
    streamed: Option<bool>,
    pub(crate) sees: S,
    asked: Option<Vec<Asked>>,
    /// Request and answer pass to the byte.
    #[serde(default)]
    same: bool,
}

/// Collects what is wrong with an answer.
pub(crate) struct Breaches(Vec<String>);

impl Breaches {
    /// Begins with these, and with what is wrong with status and headers.
    pub(crate) fn of(
        mut known: Vec<String>,
        asked: Vec<String>,
        (got, body): (&Got, &Value),
        (status, headers): (Option<u16>, &BTreeMap<String, String>),
    ) -> Breaches {
        known.extend(asked);
        let mut breaches = Breaches(known);
        breaches.add(got.status != status.unwrap_or(200), format!("status {}: {body}", got.status));
        for (name, value) in headers {
            let found = got.headers.get(name).and_then(|found| found.to_str().ok());
            breaches.add(found != Some(value), format!("{name}: {found:?}"));
        }
        breaches
    }

    /// Takes down `what`, if it is so.
    pub(crate) fn add(&mut self, is: bool, what: String) {
        if is {
            self.0.push(what);
        }
    }

    /// Looks at members of the answer, by JSON pointer. Returns all that is wrong.
    pub(crate) fn with_fields(mut self, body: &Value, fields: &BTreeMap<String, Value>) -> Vec<String> {
        for (pointer, value) in fields {
            let found = body.pointer(pointer);
            self.add(found != Some(value), format!("{pointer}: {found:?}"));
        }
        self.0
    }
}

impl<S: DeserializeOwned> SurfaceCase<S> {
    /// The cases of a file of `corpus/surfaces`.
    pub(crate) fn read(file: &str) -> Vec<SurfaceCase<S>> {
        #[derive(Deserialize)]
        #[serde(bound = "S: DeserializeOwned")]
        struct File<S> {
            case: Vec<SurfaceCase<S>>,
        }
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/surfaces")).join(file);
        let text = std::fs::read_to_string(path).unwrap();
        toml::from_str::<File<S>>(&text).unwrap_or_else(|error| panic!("{file}: {error}")).case
    }
}

impl<S> SurfaceCase<S> {
    /// The ways in which it is played: plain, and streamed in each cut.
    pub(crate) fn ways(&self) -> impl Iterator<Item = Option<Cut>> + use<S> {
        let streamed = self.streamed;
        let all = std::iter::once(None).chain(CUTS.into_iter().map(Some));
        all.filter(move |cut| streamed.is_none_or(|streamed| streamed == cut.is_some()))
    }

    /// What the client gets at `path` in this way, and what is wrong with what the upstream was asked.
    pub(crate) async fn played(&self, path: &str, all: Value, cut: Option<Cut>) -> (Got, Vec<String>) {
        let script = (self.script(cut), self.kind);
        let stage = Stage::set(script, self.mode, &self.config, self.second.as_ref(), cut);
        let request = self.request(all, cut.is_some());
        let got = ask_at(path, &stage.gateway.base_url, &self.headers, &request).await;
        let mut wrong = stage.wrong(self.asked.as_ref());
        if self.same {
            let alone = Replay::start(self.script(cut)).unwrap();
            let direct = ask_at(path, &alone.base_url(), &self.headers, &request).await;
            if (got.status, &got.body) != (direct.status, &direct.body) {
                let (got, direct) =
                    (String::from_utf8_lossy(&got.body), String::from_utf8_lossy(&direct.body));
                wrong.push(format!("not what the upstream sent: {got}\nagainst {direct}"));
            }
            if stage.replay.requests()[0].body != alone.requests()[0].body {
                wrong.push(String::from("not what the client sent"));
            }
        }
        (got, wrong)
    }

    /// The client's request, with what all have.
    pub(crate) fn request(&self, all: Value, stream: bool) -> Value {
        let mut request = all.as_object().cloned().unwrap_or_default();
        request.extend(self.request.clone());
        if request.get("tools") == Some(&json!([])) {
            request.remove("tools");
        }
        if stream {
            request.insert("stream".into(), true.into());
        }
        request.into()
    }

    fn script(&self, cut: Option<Cut>) -> Script {
        let mut script = self.server.clone();
        script.insert("answer".into(), self.answer.clone().into());
        let mut script =
            Script::from_value(script.into()).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        if let Some((pieces, writes)) = cut {
            for answer in &mut script.answers {
                answer.form = Some(Form { pieces, writes, ..answer.form.take().unwrap_or_default() });
            }
        }
        script
    }
}

/// Plays the cases of `corpus/gateway` whose upstream makes native calls and says nothing, to a client of chat completions and
/// to one of another API, each before an upstream of its own kind. Returns where they do not get the same calls.
pub(crate) async fn alike_as_chat(
    (path, kind): (&str, UpstreamKind),
    request: impl Fn(&Value) -> Value,
    told: impl Fn(&Got, bool) -> Told,
) -> Vec<String> {
    let (mut wrong, mut n_played) = (Vec::new(), 0);
    for case in files().iter().flat_map(|file| Case::read(file)) {
        let plain = case.request(Way::Plain);
        let is_said_by_all = |key: &str| matches!(key, "model" | "messages" | "tools");
        let mut members = plain.as_object().into_iter().flat_map(|members| members.keys());
        let script = case.script(Way::Plain);
        let makes_calls = |answer: &callwright_replay::Answer| {
            let said = &answer.choice;
            !said.tool_calls.is_empty()
                && said.text.is_none()
                && said.finish_reason.is_none()
                && said.message.is_empty()
                && answer.error.is_none()
                // Habits of servers of chats.
                && answer.form.is_none()
        };
        if !matches!(script.answers.as_slice(), [answer] if makes_calls(answer))
            || case.sees.error
            // What is out of it before its verdict depends on its pieces.
            || case.sees.misfit
            || case.is_configured()
            || case.sees.calls.is_empty()
            || !members.all(|key| is_said_by_all(key))
        {
            continue;
        }
        for way in case.ways() {
            let chat = case.request(way);
            let stream = chat["stream"] == true;
            let mut other = request(&chat);
            other["max_tokens"] = 100_000.into();
            if stream {
                other["stream"] = true.into();
            }
            let replay = Replay::start(case.script(way)).unwrap();
            let gateway = Served::of_kind(&replay.base_url(), ModelMode::Native, Some(kind));
            let got = ask_at(path, &gateway.base_url, &case.headers, &other).await;
            n_played += 1;
            let Told { calls, .. } = told(&got, stream);
            let name = format!("{}/{} {way:?}", case.kind, case.name);
            let expected: Vec<(String, Value)> =
                case.sees.calls.iter().map(|call| (call.name.clone(), call.value())).collect();
            if calls != expected {
                wrong.push(format!("{name}: {calls:?} against {expected:?}"));
            }
        }
    }
    assert!(40 < n_played, "{n_played}");
    wrong
}

/// What a client was told.
pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) thought: String,
    /// Names, and values of the arguments.
    pub(crate) calls: Vec<(String, Value)>,
    /// It ends as an answer does that is whole.
    pub(crate) is_whole: bool,
    /// The rules that are broken, a sentence each.
    pub(crate) breaches: Vec<String>,
}

/// The calls of a chat's message: names, and values of the arguments.
pub(crate) fn calls_of_chat(message: &Value) -> Vec<(String, Value)> {
    let call = |call: &Value| {
        let function = &call["function"];
        let arguments = function["arguments"].as_str().unwrap_or_default();
        let name = function["name"].as_str().unwrap_or_default().to_owned();
        (name, serde_json::from_str(arguments).unwrap_or_default())
    };
    message["tool_calls"].as_array().into_iter().flatten().map(call).collect()
}

/// Plays the cases of `corpus/gateway` to a client of chat completions and to one at `path`, which asks there for a stream or for
/// none, whose request `request` makes of the chat's and whose answer `told` reads. Returns where they are not told the same. An API
/// that `holds_calls` has no form for a part of one.
pub(crate) async fn compared_with_chat(
    (path, holds_calls): (impl Fn(bool) -> &'static str, bool),
    request: impl Fn(&Value) -> Value,
    told: impl Fn(&Got, bool) -> Told,
) -> Vec<String> {
    let (mut wrong, mut n_played) = (Vec::new(), 0);
    for case in files().iter().flat_map(|file| Case::read(file)) {
        let plain = case.request(Way::Plain);
        let is_said_by_all = |key: &str| matches!(key, "model" | "messages" | "tools");
        let mut members = plain.as_object().into_iter().flat_map(|members| members.keys());
        let is_usual = plain["messages"] == json!([{ "role": "user", "content": "Go." }]);
        let is_live = holds_calls && case.headers.contains_key("x-callwright-stream-arguments");
        if case.sees.error || is_live || !is_usual || !members.all(|key| is_said_by_all(key)) {
            continue;
        }
        for way in case.ways() {
            let mut chat = case.request(way);
            // Some APIs have no request without a bound.
            chat["max_tokens"] = 100_000.into();
            let stream = chat["stream"] == true;
            let mut other = request(&chat);
            if stream {
                other["stream"] = true.into();
            }
            let mut got = Vec::new();
            for (path, request) in [("chat/completions", &chat), (path(stream), &other)] {
                let stage = case.stage(way, None);
                got.push(ask_at(path, &stage.gateway.base_url, &case.headers, request).await);
            }
            n_played += 1;
            let name = format!("{}/{} {way:?}", case.kind, case.name);
            let Told { text, calls, breaches, .. } = told(&got[1], stream);
            wrong.extend(breaches.iter().map(|breach| format!("{name}: {breach}")));
            let body = strict::read(&got[0], &chat).body;
            if !body["error"].is_null() {
                // Half a call is open there, which is none here.
                continue;
            }
            let message = &body["choices"][0]["message"];
            let content = message["content"].as_str().or(message["refusal"].as_str()).unwrap_or_default();
            let expected = calls_of_chat(message);
            if (&*text, &calls) != (content, &expected) {
                wrong.push(format!("{name}: {body} against {text:?} and {calls:?}"));
            }
        }
    }
    assert!(100 < n_played, "{n_played}");
    wrong
}
