//! Sessions: turns and nodes that belong together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::former;
use crate::node::{Node, NodeKind};
use crate::owner::Reach;
use crate::turn::Turn;

/// The session that a turn belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionRef {
    /// The one of this name, which begins with its first turn.
    Named(String),
    /// The one whose conversation began like this. Two conversations may begin alike: one that `begins` here is never
    /// an older one, and one that goes on is the youngest.
    Conversation {
        /// All turns of a conversation have it.
        fingerprint: String,
        /// No model has answered in it yet.
        begins: bool,
        /// The name of the session, should it be a new one.
        name: String,
    },
}

/// The line of a session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Its name.
    pub id: String,
    /// Who wrote it: `gateway`, `agent`.
    pub origin: String,
    /// The user's first words.
    pub title: String,
    /// When it began, in milliseconds since 1970.
    pub created: i64,
    /// When something was last added to it.
    pub updated: i64,
    /// The end of its last turn.
    #[serde(deserialize_with = "former::read_outcome")]
    pub outcome: String,
    /// The model of its last turn.
    pub model: String,
    /// The mode of its last turn.
    pub mode: String,
    /// The dialect of its last turn.
    pub dialect: String,
    /// The number of its turns.
    pub turns: i64,
    /// The number of its nodes.
    pub nodes: i64,
    /// The number of edits that repaired its calls.
    pub repairs: i64,
    /// The number of questions that told a model of its errors: each is a turn that the model needed more.
    #[serde(default)]
    pub feedback_turns: i64,
    /// The number of its calls that were refused for good.
    pub refusals: i64,
    /// Tokens of all questions and answers.
    pub tokens: i64,
    /// The number of faults in what models wrote.
    pub faults: i64,
    /// The number of those that had been made before in the same way.
    pub repeated: i64,
    /// The time of its slowest request, in microseconds.
    #[serde(default)]
    pub slowest_us: i64,
}

impl Summary {
    /// The share of errors that repeat an earlier one of the session; none where there was no error.
    pub fn repeat_error_rate(&self) -> Option<f64> {
        (0 < self.faults).then(|| self.repeated as f64 / self.faults as f64)
    }
}

/// A whole session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Session {
    /// Its line in a list.
    pub summary: Summary,
    /// Its turns, in order.
    pub turns: Vec<Turn>,
    /// Its nodes, in order.
    pub nodes: Vec<Node>,
    /// Texts that stand in several bodies, by number.
    pub parts: BTreeMap<i64, String>,
}

impl Session {
    /// Returns the acts that are not known to have been done: intents without an effect for the same call.
    pub fn unfinished(&self) -> Vec<&Node> {
        let is_done = |intent: &&Node| {
            let of_call = |node: &&Node| node.kind == NodeKind::Effect && node.call == intent.call;
            self.nodes.iter().filter(|node| intent.number < node.number).any(|node| of_call(&node))
        };
        self.nodes.iter().filter(|node| node.kind == NodeKind::Intent && !is_done(node)).collect()
    }

    /// The whole body of a node.
    pub fn body(&self, node: &Node) -> Option<String> {
        node.body.as_ref().map(|body| body.text(&self.parts))
    }
}

/// Something was added to a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The session's name.
    pub session: String,
    /// The event: `added` or `deleted`.
    pub what: &'static str,
    /// The turn that was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<i64>,
    /// The number of its last node.
    pub nodes: i64,
    /// Whose it is, by the id that the store has for an owner; empty where it is nobody's.
    #[serde(skip)]
    pub owner: String,
}

/// The additions and deletions from this moment on, as far as whoever asks may see them.
#[derive(Debug)]
pub struct Changes {
    pub(crate) all: broadcast::Receiver<Change>,
    pub(crate) reach: Reach,
}

/// All that comes by a channel.
impl From<broadcast::Receiver<Change>> for Changes {
    fn from(all: broadcast::Receiver<Change>) -> Changes {
        Changes { all, reach: Reach::default() }
    }
}

impl Changes {
    /// The next change.
    ///
    /// # Errors
    /// Some were missed, and how many; of who sees only its own sessions nobody knows how many of them those were, so it is
    /// told of one. Or the store is closed.
    pub async fn recv(&mut self) -> Result<Change, RecvError> {
        loop {
            match self.all.recv().await {
                Ok(change) if !self.reach.sees(&change.owner) => {}
                Err(RecvError::Lagged(_)) if self.reach.own().is_some() => return Err(RecvError::Lagged(1)),
                other => return other,
            }
        }
    }
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The session's name.
    pub session: String,
    /// The turn's number in the store, where one was written.
    pub turn: Option<i64>,
    /// The numbers of the nodes in the session.
    pub numbers: Vec<i64>,
}
