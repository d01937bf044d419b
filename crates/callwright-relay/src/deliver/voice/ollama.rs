//! Ollama's own chats: a JSON object a line, or one for all of an answer. The format: `docs/api.md` of Ollama.

use callwright_json::quote;

use super::pieces::{InPieces, Piece, Pieces, in_one_line};
use super::serial::End;
use crate::clock::rfc3339;
use crate::surface::Failure;
use crate::surface::ollama::{Wanted, error};
use crate::wire::{array, object};

/// Writes an answer of Ollama's. A call stands in one line, once it is whole.
pub(in crate::deliver) struct OllamaLines {
    wanted: Wanted,
    is_stream: bool,
    /// The text of a whole answer.
    text: String,
    thought: String,
    calls: Vec<String>,
    n_calls: usize,
    whole: String,
}

impl OllamaLines {
    /// Makes the writer of an answer that streams, or of one that goes out whole.
    pub(in crate::deliver) fn new(wanted: Wanted, is_stream: bool) -> InPieces<OllamaLines> {
        InPieces::new(OllamaLines {
            wanted,
            is_stream,
            text: String::new(),
            thought: String::new(),
            calls: Vec::new(),
            n_calls: 0,
            whole: String::new(),
        })
    }

    /// Returns the whole answer, once it has ended.
    pub(in crate::deliver) fn into_answer(self) -> String {
        self.whole
    }

    /// Writes an answer, or a part of one, whose message has these members besides its role.
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

    /// Writes a line of a stream.
    fn line<'m>(&self, said: impl IntoIterator<Item = (&'m str, String)>, out: &mut String) {
        if self.is_stream {
            out.push_str(&self.answer(said, [("done", String::from("false"))]));
            out.push('\n');
        }
    }
}

/// Returns the reason of this API, which has no word for calls.
fn done_reason(reason: Option<&str>) -> &str {
    match reason {
        None | Some("tool_calls" | "function_call") => "stop",
        Some(reason) => reason,
    }
}

impl Pieces for OllamaLines {
    fn say(&mut self, piece: Piece<'_>, out: &mut String) {
        let content = |text: &str| ("content", quote(text));
        match piece {
            Piece::Thought(_) if !self.wanted.thoughts => {}
            Piece::Text(text) if self.is_stream => self.line([content(text)], out),
            Piece::Thought(text) if self.is_stream => {
                self.line([content(""), ("thinking", quote(text))], out);
            }
            Piece::Text(text) => self.text.push_str(text),
            Piece::Thought(text) => self.thought.push_str(text),
            Piece::Call { id, name, arguments, foreign: _ } => {
                let function = object([
                    ("index", self.n_calls.to_string()),
                    ("name", quote(name)),
                    ("arguments", arguments.to_owned()),
                ]);
                let call = object([("id", quote(id)), ("function", function)]);
                self.n_calls += 1;
                match self.is_stream {
                    true => self.line([content(""), ("tool_calls", array([call]))], out),
                    false => self.calls.push(call),
                }
            }
        }
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

    /// Clients read each line, so that every line has to say something.
    fn comment(&mut self, out: &mut String) {
        self.beat(out);
    }

    fn beat(&mut self, out: &mut String) {
        self.line([("content", quote(""))], out);
    }
}
