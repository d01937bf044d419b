//! The node that is open, with what its turn sent and was sent.

use callwright_store::{Node, NodeKind, Session};

use super::report::declares_tools;

/// A node, and what is needed to show it.
pub(crate) struct Opened {
    pub(crate) node: Node,
    /// The request to the upstream, for a model's turn.
    pub(crate) body: Option<String>,
    /// The client's request of the same turn.
    pub(crate) asked: Option<String>,
}

impl Opened {
    /// A node of a whole session, with its bodies.
    pub(crate) fn of(session: &Session, number: i64) -> Option<Opened> {
        let node = session.nodes.iter().find(|node| node.number == number)?;
        let asked = said_before(session, number).and_then(|said| session.body(said));
        Some(Opened { body: session.body(node), node: node.clone(), asked })
    }

    /// A request that declares the tools: the one that was sent, or in prompt mode, where that holds them as words, the
    /// client's own.
    pub(crate) fn request(&self) -> &str {
        let bodies = [&self.body, &self.asked];
        let bodies = bodies.into_iter().flatten().map(String::as_str);
        bodies.clone().find(|body| declares_tools(body)).or_else(|| bodies.clone().next()).unwrap_or("{}")
    }
}

/// The node that the client's request of the same turn stands with: the last one before the first question.
pub(crate) fn said_before(session: &Session, number: i64) -> Option<&Node> {
    let turn = session.nodes.iter().find(|node| node.number == number)?.turn?;
    let of_turn = session.nodes.iter().filter(|node| node.turn == Some(turn));
    of_turn.take_while(|node| node.kind != NodeKind::ModelTurn).last()
}
