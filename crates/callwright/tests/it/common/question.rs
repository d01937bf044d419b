//! A question to the engine: an answer of a model, the tools, and all that the caller knows. It is asked whole or in pieces.

use callwright::{CallDelta, Context, Delta, NativeCall, Outcome, Scanner, ToolSet, parse};

use super::hash::Hash;

/// The tools of a question, with the definitions that they were compiled from.
pub(crate) struct Tools {
    pub(crate) json: String,
    pub(crate) set: ToolSet,
    /// The hash of the definitions, which are longer than most texts.
    pub(crate) hash: Hash,
}

impl Tools {
    pub(crate) fn new(json: &str) -> Tools {
        Tools::of(json, ToolSet::from_json(json).unwrap())
    }

    pub(crate) fn of(json: &str, set: ToolSet) -> Tools {
        let mut hash = Hash::new();
        hash.put(json);
        Tools { json: json.to_owned(), set, hash }
    }
}

/// One answer and its circumstances.
pub(crate) struct Question<'q> {
    pub(crate) tools: &'q Tools,
    /// The thoughts that the upstream keeps apart. They come before the text.
    pub(crate) apart: &'q str,
    pub(crate) text: &'q str,
    /// The name and the arguments of a native call. It comes before the text.
    pub(crate) native: Option<(&'q str, &'q str)>,
    pub(crate) context: &'q Context<'q>,
    /// Tells the dialects of the context from others: their records, or their names.
    pub(crate) dialects: &'q str,
}

impl Question<'_> {
    pub(crate) fn whole(&self) -> Outcome {
        if !self.apart.is_empty() {
            return self.in_pieces(|| usize::MAX);
        }
        let call = self.native.map(|(name, arguments)| NativeCall { id: Some("call_1"), name, arguments });
        parse(&self.tools.set, self.text, call.as_slice(), self.context)
    }

    /// Feeds thoughts and text in pieces, each of as many characters as `len` says. A native call is one piece.
    pub(crate) fn in_pieces(&self, mut len: impl FnMut() -> usize) -> Outcome {
        let mut events = Vec::new();
        let mut scanner = Scanner::new(&self.tools.set, self.context);
        if let Some((name, arguments)) = self.native {
            let (name, arguments) = (Some(name), Some(arguments));
            let call = CallDelta { index: Some(0), id: Some("call_1"), name, arguments };
            scanner.feed(Delta::ToolCall(call), &mut events);
        }
        let mut feed = |mut rest: &str, of: for<'d> fn(&'d str) -> Delta<'d>| {
            while let Some((at, _)) = rest.char_indices().nth(len()) {
                scanner.feed(of(&rest[..at]), &mut events);
                rest = &rest[at..];
            }
            scanner.feed(of(rest), &mut events);
        };
        feed(self.apart, |piece| Delta::Reasoning(piece));
        feed(self.text, |piece| Delta::Text(piece));
        scanner.finish().1
    }
}
