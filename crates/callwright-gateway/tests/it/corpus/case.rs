//! The cases of `corpus/gateway`: what a client asks, what its upstream answers, what the client must see.

use std::collections::BTreeMap;
use std::path::Path;

use callwright::json;
use callwright::value::{Map, Value};
use callwright_relay::UpstreamKind;
use callwright_replay::{Form, Pieces, Recorded, Replay, Script};
use serde::Deserialize;

use crate::corpus::expect;
use crate::corpus::served::Served;

/// One case.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What it is an example of.
    pub(crate) kind: String,
    /// Which one.
    pub(crate) name: String,
    /// Where it was found.
    #[serde(rename = "from")]
    _from: String,
    /// What the request has besides a model, one message and all tools.
    #[serde(default)]
    request: Map,
    /// How its model is configured; `auto` where the gateway is to find out.
    #[serde(default)]
    pub(crate) mode: ModelMode,
    /// What the upstream's script says besides its answers.
    #[serde(default)]
    pub(crate) server: Map,
    /// What the gateway's configuration has.
    #[serde(default)]
    config: Map,
    /// Another upstream: its model `big` is asked where the case's own fails.
    second: Option<Second>,
    /// The upstream's answers, as a script of `callwright replay` has them.
    answer: Vec<Value>,
    /// The request's headers.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// It is played in streams only, or only plain.
    streamed: Option<bool>,
    /// What the client must see.
    pub(crate) sees: Sees,
    /// What the upstream must be asked, request by request; anything where nothing is said.
    pub(crate) asked: Option<Vec<Asked>>,
}

/// Another upstream than the one of the case.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Second {
    /// The API that it speaks itself, if it speaks another one than chat completions.
    kind: Option<UpstreamKind>,
    /// Its answers, as a script has them.
    answer: Vec<Value>,
    /// What it must be asked, request by request; anything where nothing is said.
    asked: Option<Vec<Asked>>,
}

/// A gateway, and what stands behind it.
pub(crate) struct Stage {
    pub(crate) replay: Replay,
    second: Option<(Replay, Option<Vec<Asked>>)>,
    pub(crate) gateway: Served,
}

impl Stage {
    /// Sets these up, with answers that come whole or in such pieces.
    pub(crate) fn set(
        (script, kind): (Script, Option<UpstreamKind>),
        mode: ModelMode,
        config: &Map,
        second: Option<&Second>,
        cut: Option<(Pieces, Pieces)>,
    ) -> Stage {
        let replay = Replay::start(script).unwrap();
        let second = second.map(|second| {
            let script = Script::from_value(json!({ "answer": second.answer })).unwrap();
            (Replay::start(cut_like(script, cut)).unwrap(), second)
        });
        let behind = second.as_ref().map(|(replay, second)| (replay.base_url(), second.kind));
        let behind = behind.as_ref().map(|(url, kind)| (url.as_str(), *kind));
        let gateway = Served::set((&replay.base_url(), kind), mode, config, behind);
        let second = second.map(|(replay, second)| (replay, second.asked.clone()));
        Stage { replay, second, gateway }
    }

    /// Everything in which the requests are not what is expected of them. No upstream sees another one's headers.
    pub(crate) fn wrong(&self, asked: Option<&Vec<Asked>>) -> Vec<String> {
        let mut wrong = Vec::new();
        let first = (&self.replay, asked, "replay");
        let second = self.second.as_ref().map(|(replay, asked)| (replay, asked.as_ref(), "second"));
        for (replay, asked, name) in [Some(first), second].into_iter().flatten() {
            let requests = replay.requests();
            wrong.extend(asked.map(|asked| expect::asked_for(asked, &requests)).unwrap_or_default());
            let headers = requests.iter().flat_map(|request: &Recorded| &request.headers);
            let foreign = headers.filter(|(key, whose)| key == "x-whose" && whose != name);
            wrong.extend(foreign.map(|(_, whose)| format!("{name} was asked with a header of {whose}")));
        }
        wrong
    }
}

/// The script with its answers cut like this.
fn cut_like(mut script: Script, cut: Option<(Pieces, Pieces)>) -> Script {
    if let Some((pieces, writes)) = cut {
        for answer in &mut script.answers {
            answer.form = Some(Form { pieces, writes, ..answer.form.take().unwrap_or_default() });
        }
    }
    script
}

/// How tools reach a case's model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModelMode {
    #[default]
    Native,
    Prompt,
    Auto,
}

/// What a client must see in the first choice, and beside it.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Sees {
    pub(crate) status: Option<u16>,
    /// `content`; null where there is nothing.
    pub(crate) text: Option<String>,
    /// `content` is the text of this value.
    pub(crate) json: Option<Value>,
    /// An error, by status or in the stream, and no finish.
    pub(crate) error: bool,
    /// A call of it does not fit its schema: it had begun to go out.
    pub(crate) misfit: bool,
    /// A sentence, and no calls but these.
    pub(crate) refused: bool,
    pub(crate) reasoning: Option<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) function_call: Option<Call>,
    /// `tool_calls` where there are calls, anything where there is none.
    pub(crate) finish_reason: Option<String>,
    /// The answer is the upstream's: its body to the byte, its stream in what it adds up to.
    pub(crate) same: bool,
    pub(crate) headers: BTreeMap<String, String>,
    /// By JSON pointer, in the body, or in what the stream adds up to.
    pub(crate) fields: BTreeMap<String, Value>,
}

/// A call that the client must see.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    /// The value of its arguments.
    pub(crate) arguments: Option<Value>,
    /// Their text.
    pub(crate) exact: Option<String>,
}

/// What must be true of a request to the upstream.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// By JSON pointer; the value of an argument text where a value is expected.
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, Value>,
    pub(crate) contains: Option<String>,
    pub(crate) lacks: Option<String>,
    /// The arguments of all old calls are JSON texts of objects.
    #[serde(default)]
    pub(crate) parseable_arguments: bool,
}

/// The way in which a case is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Plain,
    /// As a stream: how its texts are cut into deltas, and its bytes into writes.
    Streamed(Pieces, Pieces),
}

/// All ways.
const WAYS: [Way; 4] = [
    Way::Plain,
    Way::Streamed(Pieces::Whole, Pieces::Whole),
    Way::Streamed(Pieces::Each(1), Pieces::Whole),
    Way::Streamed(Pieces::Random(5), Pieces::Random(11)),
];

impl Way {
    fn cut(self) -> Option<(Pieces, Pieces)> {
        match self {
            Way::Plain => None,
            Way::Streamed(pieces, writes) => Some((pieces, writes)),
        }
    }
}

impl Case {
    /// The cases of one file of `corpus/gateway`.
    pub(crate) fn read(file: &str) -> Vec<Case> {
        #[derive(Deserialize)]
        struct File {
            case: Vec<Case>,
        }
        let text = std::fs::read_to_string(folder().join(file)).unwrap();
        toml::from_str::<File>(&text).unwrap_or_else(|error| panic!("{file}: {error}")).case
    }

    /// The ways in which it is played.
    pub(crate) fn ways(&self) -> impl Iterator<Item = Way> {
        let is_streamed = |way: &Way| *way != Way::Plain;
        WAYS.into_iter().filter(move |way| self.streamed.is_none_or(|streamed| streamed == is_streamed(way)))
    }

    /// The client's request.
    pub(crate) fn request(&self, way: Way) -> Value {
        let mut request = Map::from_iter([
            ("model".into(), "m".into()),
            ("messages".into(), json!([{ "role": "user", "content": "Go." }])),
            ("tools".into(), tools()),
        ]);
        request.extend(self.request.clone());
        if request["tools"] == json!([]) {
            request.remove("tools");
        }
        match way {
            // Only a stream has options.
            Way::Plain => drop(request.remove("stream_options")),
            Way::Streamed(..) => drop(request.insert("stream".into(), true.into())),
        }
        request.into()
    }

    /// What the upstream does.
    pub(crate) fn script(&self, way: Way) -> Script {
        let mut script = self.server.clone();
        script.insert("answer".into(), self.answer.clone().into());
        let script = Script::from_value(script.into())
            .unwrap_or_else(|error| panic!("{}/{}: {error}", self.kind, self.name));
        cut_like(script, way.cut())
    }

    /// A gateway before an upstream of this kind, which plays the case.
    pub(crate) fn stage(&self, way: Way, kind: Option<UpstreamKind>) -> Stage {
        let script = (self.script(way), kind);
        Stage::set(script, self.mode, &self.config, self.second.as_ref(), way.cut())
    }

    /// Is it about more than one upstream and its answers?
    pub(crate) fn is_configured(&self) -> bool {
        self.second.is_some() || !self.config.is_empty()
    }
}

/// The files of `corpus/gateway` that hold cases.
pub(crate) fn files() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    files.sort();
    files
}

/// The tools that requests declare.
pub(crate) fn tools() -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder().join("tools.json")).unwrap()).unwrap()
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/gateway"))
}
