//! Ollama's own chats: a JSON object a line, or one for all of an answer. The format: `docs/api.md` of Ollama.

use callwright_json::quote;

use super::serial::{Block, Blocks, End, Kind};
use crate::clock::rfc3339;
use crate::surface::Failure;
use crate::surface::ollama::{Wanted, error};
use crate::wire::{array, object};

/// Writes an answer of Ollama's. A call stands in one line, once it is whole.
pub(in crate::deliver) struct OllamaLines {
    wanted: Wanted,
    is_stream: bool,
    open: Block,
    /// The arguments of the open call.
    arguments: String,
    /// What a whole answer has come to.
    text: String,
    thought: String,
    calls: Vec<String>,
    n_calls: usize,
    whole: String,
}

impl OllamaLines {
    /// For an answer that streams, or one that goes out whole.
    pub(in crate::deliver) fn new(wanted: Wanted, is_stream: bool) -> OllamaLines {
        OllamaLines {
            wanted,
            is_stream,
            open: Block::None,
            arguments: String::new(),
            text: String::new(),
            thought: String::new(),
            calls: Vec::new(),
            n_calls: 0,
            whole: String::new(),
        }
    }

    /// The whole answer, once it has ended.
    pub(in crate::deliver) fn into_answer(self) -> String {
        self.whole
    }

    /// An answer, or a part of one, whose message has these members besides its role.
    fn answer<'m>(
        &self,
        said: impl IntoIterator<Item = (&'m str, String)>,
        end: impl IntoIterator<Item = (&'m str, String)>,
    ) -> String {
        let message = [("role", quote("assistant"))].into_iter().chain(said);
        let head = [
            ("model", quote(&self.wanted.model)),
            ("created_at", quote(&rfc3339())),
            ("message", object(message)),
        ];
        object(head.into_iter().chain(end))
    }

    /// A line of a stream.
    fn line<'m>(&self, said: impl IntoIterator<Item = (&'m str, String)>, out: &mut String) {
        if self.is_stream {
            out.push_str(&self.answer(said, [("done", String::from("false"))]));
            out.push('\n');
        }
    }
}

/// JSON without line breaks: in strings they are escaped, and elsewhere they are blanks. `{\n"a": 1}` → `{ "a": 1}`
fn in_one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

/// The reason of this API, which has no word for calls.
fn done_reason(reason: Option<&str>) -> &str {
    match reason {
        None | Some("tool_calls" | "function_call") => "stop",
        Some(reason) => reason,
    }
}

impl Blocks for OllamaLines {
    fn start(&mut self, _out: &mut String) {}

    fn open(&mut self, kind: Kind<'_>, _out: &mut String) {
        self.arguments.clear();
        self.open = Block::of(kind, self.wanted.thoughts);
    }

    fn add(&mut self, piece: &str, out: &mut String) {
        let content = |text: &str| ("content", quote(text));
        match self.open {
            Block::None | Block::Hidden => {}
            Block::Text if self.is_stream => self.line([content(piece)], out),
            Block::Thought if self.is_stream => {
                self.line([content(""), ("thinking", quote(piece))], out);
            }
            Block::Text => self.text.push_str(piece),
            Block::Thought => self.thought.push_str(piece),
            Block::Call { .. } => self.arguments.push_str(piece),
        }
    }

    fn close(&mut self, out: &mut String) {
        let Block::Call { id, name } = std::mem::replace(&mut self.open, Block::None) else { return };
        let arguments = if self.arguments.is_empty() { "{}" } else { &self.arguments };
        let function = object([
            ("index", self.n_calls.to_string()),
            ("name", quote(&name)),
            ("arguments", in_one_line(arguments)),
        ]);
        let call = object([("id", quote(&id)), ("function", function)]);
        self.n_calls += 1;
        if self.is_stream {
            self.line([("content", quote("")), ("tool_calls", array([call]))], out);
        } else {
            self.calls.push(call);
        }
    }

    /// Nothing of a call goes out before it is whole.
    fn cut(&mut self, _out: &mut String) -> bool {
        !matches!(self.open, Block::Call { .. })
    }

    fn end(&mut self, end: End<'_>, out: &mut String) {
        let taken = self.wanted.since.elapsed().as_nanos();
        let mut members = vec![
            ("done", String::from("true")),
            ("done_reason", quote(done_reason(end.reason))),
            ("total_duration", taken.to_string()),
        ];
        if 0 < end.usage.total {
            members.push(("prompt_eval_count", end.usage.prompt.to_string()));
            members.push(("eval_count", end.usage.completion.to_string()));
        }
        members.extend(end.report.map(|report| ("callwright", in_one_line(report))));
        let mut said = vec![("content", quote(&self.text))];
        said.extend((!self.thought.is_empty()).then(|| ("thinking", quote(&self.thought))));
        said.extend((!self.calls.is_empty()).then(|| ("tool_calls", array(&self.calls))));
        let answer = self.answer(said, members);
        if self.is_stream {
            out.push_str(&answer);
            out.push('\n');
        } else {
            self.whole = answer;
        }
    }

    fn fail(&mut self, failure: &Failure, out: &mut String) {
        out.push_str(&error(&failure.message));
        out.push('\n');
    }

    /// Each line is read: none may say nothing.
    fn comment(&mut self, out: &mut String) {
        self.beat(out);
    }

    fn beat(&mut self, out: &mut String) {
        self.line([("content", quote(""))], out);
    }
}
