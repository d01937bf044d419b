//! The cases of `corpus/gateway`: what a client asks, what its upstream answers, what the client must see.

use std::collections::BTreeMap;
use std::path::Path;

use callwright::json;
use callwright::value::{Map, Value};
use callwright_replay::{Form, Pieces, Script};
use serde::Deserialize;

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
        let mut script = Script::from_value(script.into())
            .unwrap_or_else(|error| panic!("{}/{}: {error}", self.kind, self.name));
        if let Way::Streamed(pieces, writes) = way {
            for answer in &mut script.answers {
                answer.form = Some(Form { pieces, writes, ..answer.form.take().unwrap_or_default() });
            }
        }
        script
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
