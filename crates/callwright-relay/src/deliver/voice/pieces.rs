//! Answers of APIs without pieces of calls: a piece of a text goes out as it comes, a call in one piece once it is whole.

use super::serial::{Blocks, End, Kind};
use crate::surface::Failure;

/// A piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::deliver) enum Piece<'a> {
    Text(&'a str),
    Thought(&'a str),
    /// A call that is whole and right. Its arguments are JSON in one line.
    Call {
        id: &'a str,
        name: &'a str,
        arguments: &'a str,
        /// Members that its upstream added, each with a comma before it.
        foreign: &'a str,
    },
}

/// Writes the pieces of one API.
pub(in crate::deliver) trait Pieces: Send {
    fn say(&mut self, piece: Piece<'_>, out: &mut String);

    /// Ends a whole answer.
    fn end(&mut self, end: End<'_>, out: &mut String);

    /// Ends an answer that has failed.
    fn fail(&mut self, failure: &Failure, out: &mut String);

    /// Writes a sign that clients pass over.
    fn comment(&mut self, out: &mut String);

    /// Writes a sign of life.
    fn beat(&mut self, out: &mut String);
}

/// Says blocks as such pieces.
pub(in crate::deliver) struct InPieces<P> {
    pieces: P,
    open: Block,
    /// The arguments of the open call.
    arguments: String,
}

/// The open block.
enum Block {
    None,
    Text,
    Thought,
    Call { id: String, name: String, foreign: String },
}

impl<P> InPieces<P> {
    pub(in crate::deliver) fn new(pieces: P) -> InPieces<P> {
        InPieces { pieces, open: Block::None, arguments: String::new() }
    }

    /// Returns the writer of the pieces.
    pub(in crate::deliver) fn into_pieces(self) -> P {
        self.pieces
    }
}

/// Returns JSON without line breaks: in strings they are escaped, and elsewhere they are blanks. `{\n"a": 1}` → `{ "a": 1}`
pub(super) fn in_one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

impl<P: Pieces> Blocks for InPieces<P> {
    fn start(&mut self, _out: &mut String) {}

    fn open(&mut self, kind: Kind<'_>, _out: &mut String) {
        self.arguments.clear();
        self.open = match kind {
            Kind::Text | Kind::Refusal => Block::Text,
            Kind::Thought => Block::Thought,
            Kind::Call { id, name, foreign } => {
                Block::Call { id: id.to_owned(), name: name.to_owned(), foreign: foreign.to_owned() }
            }
        };
    }

    fn add(&mut self, piece: &str, out: &mut String) {
        match self.open {
            Block::None => {}
            Block::Text => self.pieces.say(Piece::Text(piece), out),
            Block::Thought => self.pieces.say(Piece::Thought(piece), out),
            Block::Call { .. } => self.arguments.push_str(piece),
        }
    }

    fn close(&mut self, out: &mut String) {
        let open = std::mem::replace(&mut self.open, Block::None);
        let Block::Call { id, name, foreign } = open else { return };
        let arguments = if self.arguments.is_empty() { "{}" } else { &self.arguments };
        let (arguments, foreign) = (in_one_line(arguments), in_one_line(&foreign));
        let call = Piece::Call { id: &id, name: &name, arguments: &arguments, foreign: &foreign };
        self.pieces.say(call, out);
    }

    /// Nothing of a call goes out before it is whole.
    fn cut(&mut self, _out: &mut String) -> bool {
        !matches!(self.open, Block::Call { .. })
    }

    fn end(&mut self, end: End<'_>, out: &mut String) {
        self.pieces.end(end, out);
    }

    fn fail(&mut self, failure: &Failure, out: &mut String) {
        self.pieces.fail(failure, out);
    }

    fn comment(&mut self, out: &mut String) {
        self.pieces.comment(out);
    }

    fn beat(&mut self, out: &mut String) {
        self.pieces.beat(out);
    }
}
