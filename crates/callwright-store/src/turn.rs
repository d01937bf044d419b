//! Turns: one request to its end, and what became of each call in it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::former;
use crate::node::NewNode;
use crate::owner::Owner;
use crate::session::SessionRef;

/// The longest name of a session, a model, a tool, in bytes: Postgres takes no key of several kilobytes.
pub(crate) const NAME: usize = 200;

/// Something that becomes a turn when it is written: the work of putting it together is left to the writer.
pub trait Record: Send {
    /// Returns the number of bytes that it holds, about.
    fn size(&self) -> usize;

    /// The turn; none where there is nothing to keep.
    fn into_turn(self: Box<Self>) -> Option<NewTurn>;
}

/// A turn that is to be written.
#[derive(Clone, Debug)]
pub struct NewTurn {
    /// The session that it belongs to.
    pub session: SessionRef,
    /// Whose it is: the session of this name or conversation is that owner's. None where no client's key made it.
    pub owner: Option<Owner>,
    /// Who wrote it: `gateway`, `agent`.
    pub origin: &'static str,
    /// Its subject, for whoever searches the session: the user's first words.
    pub title: String,
    /// Its facts. Its `id`, `session` and `number` are given when it is written.
    pub turn: Turn,
    /// The events, in order.
    pub nodes: Vec<NewNode>,
    /// The events before it, which are only of use where the session begins with this turn: the conversation so far.
    pub before: Before,
    /// The calls that came of it, or were refused for good.
    pub calls: Vec<Call>,
    /// All that was wrong with what the model wrote, repaired or not.
    pub faults: Vec<Fault>,
    /// The model hears of what was refused, so that a later turn of the session may fix it.
    pub feeds_back: bool,
}

/// The nodes before a turn. They may be many, so they are made only where they are needed.
#[derive(Clone, Default)]
pub struct Before(Option<Arc<dyn Fn() -> Vec<NewNode> + Send + Sync>>);

impl Before {
    /// Returns the nodes that `make` makes.
    pub fn made_by(make: impl Fn() -> Vec<NewNode> + Send + Sync + 'static) -> Before {
        Before(Some(Arc::new(make)))
    }

    /// Returns whether there is surely nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn nodes(&self) -> Vec<NewNode> {
        self.0.as_ref().map(|make| make()).unwrap_or_default()
    }
}

impl fmt::Debug for Before {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "Before(nothing)" } else { "Before(…)" })
    }
}

/// One request, from its arrival to its end. Times are in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Turn {
    /// Its number in the store.
    pub id: i64,
    /// Its number in the session, from 1.
    pub number: i64,
    /// The request's id.
    pub request: String,
    /// When it ended, in milliseconds since 1970.
    pub at: i64,
    /// Its end: `passed`, `repaired`, `retried`, `refused`, ….
    #[serde(deserialize_with = "former::read_outcome")]
    pub outcome: String,
    /// The model that was asked for.
    pub model: String,
    /// The API in which it was asked for: `chat`, `messages`, `responses`; empty where nobody knows.
    pub surface: String,
    /// The upstream that answered.
    pub upstream: String,
    /// The way by which the tools reached it: `native`, `prompt`; empty where there were none.
    pub mode: String,
    /// The dialect of its calls; empty where there were none.
    pub dialect: String,
    /// The policy that held.
    pub policy: String,
    /// The answer was a stream.
    pub streamed: bool,
    /// The HTTP status of the answer.
    pub status: i64,
    /// The number of questions to models.
    pub attempts: i64,
    /// To the first byte of the answer.
    pub first_byte_us: i64,
    /// To its end.
    pub total_us: i64,
    /// Of that, waiting for models.
    pub upstream_us: i64,
    /// Tokens of all questions.
    pub prompt_tokens: i64,
    /// Tokens of all answers.
    pub completion_tokens: i64,
    /// The number of questions that were there to put calls right.
    pub repair_turns: i64,
    /// The number of these that told the model of its errors, as its next turn.
    pub feedback_turns: i64,
    /// The tokens of those questions and their answers.
    pub repair_tokens: i64,
    /// The number of edits that repaired its calls.
    pub repairs: i64,
}

/// The fate of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Became {
    /// Right as it was written.
    #[serde(alias = "right")]
    Passed,
    /// Repaired.
    #[serde(alias = "healed")]
    Repaired,
    /// Right after the model was asked again.
    #[serde(alias = "corrected")]
    Retried,
    /// Refused for good.
    Refused,
}

impl Became {
    /// Its stable name.
    pub fn name(self) -> &'static str {
        match self {
            Became::Passed => "passed",
            Became::Repaired => "repaired",
            Became::Retried => "retried",
            Became::Refused => "refused",
        }
    }

    /// That of this name.
    pub fn named(name: &str) -> Option<Became> {
        [Became::Passed, Became::Repaired, Became::Retried, Became::Refused]
            .into_iter()
            .find(|became| became.name() == name)
    }
}

/// One call of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tool; empty where none could be read.
    pub tool: String,
    /// The dialect that it was written in.
    pub dialect: String,
    /// Its fate.
    pub became: Became,
}

/// Something that was wrong with what a model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its stable name: `unknown-tool`, `truncated`, `drop-comma`, ….
    pub kind: String,
    /// The tool; empty where none could be read.
    pub tool: String,
    /// The place or the keyword, which tells equal errors from different ones of a kind: `/limit type`.
    pub place: String,
}
