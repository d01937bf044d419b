//! The form of an answer: the habits of servers that a client must not be hurt by.

use serde::Deserialize;

/// The habits of one server. The default is what OpenAI does, with whole texts in one piece.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Form {
    /// The pieces into which texts are cut.
    pub pieces: Pieces,
    /// The pieces into which argument texts are cut, where those are different.
    pub argument_pieces: Option<Pieces>,
    /// The pieces into which the bytes are cut when they are written; each event by itself where nothing is said.
    pub writes: Pieces,
    /// The place of a call's id.
    pub ids: Ids,
    /// The name is repeated in each piece.
    pub repeats_names: bool,
    /// The numbers of calls.
    pub index: Index,
    /// The pieces of several calls come in turns.
    pub interleaved: bool,
    /// A call's first delta holds its first piece of arguments too.
    pub arguments_with_name: bool,
    /// Arguments are JSON objects, not texts; those that are no JSON stay texts.
    pub object_arguments: bool,
    /// The place of the finish.
    pub finish: Finish,
    /// The role stands in each delta.
    pub repeats_role: bool,
    /// `content` is `""` where there is none, not `null`.
    pub empty_content: bool,
    /// The key of what the model thinks; `reasoning_content` where nothing is said.
    pub reasoning_key: Option<String>,
    /// There is no `[DONE]`.
    pub no_done: bool,
    /// A comment before each event: `OPENROUTER PROCESSING`.
    pub comment: Option<String>,
    /// A stream counts its tokens, or does not; as the request asks where nothing is said.
    pub usage: Option<bool>,
    /// Lines end with CR LF.
    pub crlf: bool,
    /// No space behind `data:`.
    pub tight: bool,
    /// A stream, or none, whatever the request asks for.
    pub stream: Option<bool>,
}

/// The place of a call's id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ids {
    /// In its first delta.
    #[default]
    Once,
    /// In each.
    Each,
    /// Nowhere.
    Missing,
    /// In its first delta, as an empty text.
    Empty,
}

/// The numbers of calls in a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Index {
    /// From 0 upwards.
    #[default]
    Counted,
    /// Each is the first.
    Zero,
    /// Not at all.
    Missing,
}

/// The place of a stream's finish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// In a chunk of its own.
    #[default]
    Own,
    /// In the chunk of the last delta.
    WithLast,
    /// Nowhere.
    Missing,
}

/// The pieces of a text: `"whole"`, a number of characters (of bytes where bytes are cut), `"random:7"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "PiecesText")]
pub enum Pieces {
    /// Not at all.
    #[default]
    Whole,
    /// So many in each piece.
    Each(usize),
    /// Between one and sixteen in each piece; the same seed cuts in the same way.
    Random(u64),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PiecesText {
    Each(usize),
    Text(String),
}

impl TryFrom<PiecesText> for Pieces {
    type Error = &'static str;

    fn try_from(from: PiecesText) -> Result<Pieces, &'static str> {
        let seed = |text: &str| text.strip_prefix("random:").and_then(|seed| seed.parse().ok());
        match from {
            PiecesText::Each(0) => Err("a piece is not empty"),
            PiecesText::Each(n) => Ok(Pieces::Each(n)),
            PiecesText::Text(text) if text == "whole" => Ok(Pieces::Whole),
            PiecesText::Text(text) => {
                seed(&text).map(Pieces::Random).ok_or("pieces are \"whole\", a number, or \"random:SEED\"")
            }
        }
    }
}

impl Pieces {
    /// The pieces of `text`; none of an empty one.
    pub(crate) fn of_text(self, text: &str) -> Vec<&str> {
        let mut lengths = self.lengths();
        let (mut rest, mut pieces) = (text, Vec::new());
        while !rest.is_empty() {
            let length = lengths.next_length();
            let at = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
            let (piece, tail) = rest.split_at(at);
            pieces.push(piece);
            rest = tail;
        }
        pieces
    }

    /// The pieces of `bytes`; none of no bytes.
    pub(crate) fn of_bytes(self, bytes: &[u8]) -> Vec<&[u8]> {
        let mut lengths = self.lengths();
        let (mut rest, mut pieces) = (bytes, Vec::new());
        while !rest.is_empty() {
            let (piece, tail) = rest.split_at(lengths.next_length().min(rest.len()));
            pieces.push(piece);
            rest = tail;
        }
        pieces
    }

    fn lengths(self) -> Lengths {
        let seed = if let Pieces::Random(seed) = self { seed } else { 0 };
        Lengths { pieces: self, random: Random(seed) }
    }
}

/// The lengths of pieces, one after the other.
struct Lengths {
    pieces: Pieces,
    random: Random,
}

impl Lengths {
    fn next_length(&mut self) -> usize {
        match self.pieces {
            Pieces::Whole => usize::MAX,
            Pieces::Each(n) => n.max(1),
            Pieces::Random(_) => 1 + self.random.below(16),
        }
    }
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up() {
        let text = "{\"city\": \"Zürich 😀\"}";
        for pieces in [Pieces::Whole, Pieces::Each(1), Pieces::Each(5), Pieces::Random(3)] {
            assert_eq!(pieces.of_text(text).concat(), text);
            assert_eq!(pieces.of_bytes(text.as_bytes()).concat(), text.as_bytes());
        }
        assert_eq!(Pieces::Whole.of_text(text), [text]);
        assert_eq!(Pieces::Each(3).of_text("äbcdé"), ["äbc", "dé"]);
        assert_eq!(Pieces::Each(1).of_text(text).len(), text.chars().count());
        assert!(Pieces::Whole.of_text("").is_empty());
    }
}
