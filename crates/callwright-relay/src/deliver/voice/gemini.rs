//! Gemini's `generateContent`: an object for an answer, or one for each part, as events or as the elements of an array. The format:
//! `ai.google.dev/api/generate-content`.

use callwright_json::quote;

use super::pieces::{InPieces, Piece, Pieces, in_one_line};
use super::serial::End;
use crate::calls::new_id;
use crate::surface::gemini::{Wanted, error, signature};
use crate::surface::{Failure, GeminiForm};
use crate::tokens::Usage;
use crate::wire::{array, object};

/// Writes an answer of Gemini's.
pub(in crate::deliver) struct GeminiParts {
    wanted: Wanted,
    id: String,
    /// Something of the array is out.
    has_begun: bool,
    /// The thoughts since the last call.
    thought: String,
    /// The parts of a whole answer; of a stream, the last call, which may be the last of all.
    parts: Vec<String>,
    whole: String,
}

/// The part of an empty answer: clients take a content without parts for a broken one.
const EMPTY: &str = r#"{"text":""}"#;

impl GeminiParts {
    pub(in crate::deliver) fn new(wanted: Wanted) -> InPieces<GeminiParts> {
        InPieces::new(GeminiParts {
            wanted,
            id: new_id(""),
            has_begun: false,
            thought: String::new(),
            parts: Vec::new(),
            whole: String::new(),
        })
    }

    /// Returns the whole answer, once it has ended.
    pub(in crate::deliver) fn into_answer(self) -> String {
        self.whole
    }

    /// Writes an answer, or a part of one.
    fn put(&mut self, answer: &str, out: &mut String) {
        match self.wanted.form {
            GeminiForm::Whole => self.whole = answer.to_owned(),
            GeminiForm::Events => {
                out.push_str("data: ");
                out.push_str(answer);
                out.push_str("\n\n");
            }
            GeminiForm::Array => {
                out.push_str(if self.has_begun { ",\n" } else { "[" });
                out.push_str(answer);
            }
        }
        self.has_begun = true;
    }

    /// Returns an answer with these parts, the reason for its end, and its further members.
    fn answer<'m>(
        &self,
        parts: &[String],
        reason: Option<&'static str>,
        more: impl IntoIterator<Item = (&'m str, String)>,
    ) -> String {
        let parts = if parts.is_empty() { array([EMPTY]) } else { array(parts) };
        let mut candidate = vec![("content", object([("parts", parts), ("role", quote("model"))]))];
        candidate.extend(reason.map(|reason| ("finishReason", quote(reason))));
        candidate.push(("index", String::from("0")));
        let head = [("candidates", array([object(candidate)]))];
        let tail = [("modelVersion", quote(&self.wanted.model)), ("responseId", quote(&self.id))];
        object(head.into_iter().chain(more).chain(tail))
    }

    /// Writes the parts that wait in a stream.
    fn release(&mut self, out: &mut String) {
        if self.wanted.form != GeminiForm::Whole && !self.parts.is_empty() {
            let parts = std::mem::take(&mut self.parts);
            self.put(&self.answer(&parts, None, []), out);
        }
    }

    fn close(&self, out: &mut String) {
        if self.wanted.form == GeminiForm::Array {
            out.push_str("]\n");
        }
    }
}

/// Returns the reason of this API, which has no word for calls.
fn finish_reason(end: &End<'_>) -> &'static str {
    match end.reason {
        Some("length") => "MAX_TOKENS",
        Some("content_filter") => "SAFETY",
        _ => "STOP",
    }
}

/// Writes the tokens as this API counts them: thoughts stand apart from words.
fn counted(usage: Usage) -> String {
    let mut members = vec![
        ("promptTokenCount", usage.prompt.to_string()),
        ("candidatesTokenCount", usage.completion.saturating_sub(usage.reasoning).to_string()),
        ("totalTokenCount", usage.total.to_string()),
    ];
    for (key, n) in [("thoughtsTokenCount", usage.reasoning), ("cachedContentTokenCount", usage.cached)] {
        members.extend((0 < n).then(|| (key, n.to_string())));
    }
    object(members)
}

impl Pieces for GeminiParts {
    fn say(&mut self, piece: Piece<'_>, out: &mut String) {
        if let Piece::Thought(text) = piece {
            self.thought.push_str(text);
            if !self.wanted.thoughts {
                return;
            }
        }
        self.release(out);
        let is_call = matches!(piece, Piece::Call { .. });
        self.parts.push(match piece {
            Piece::Text(text) => object([("text", quote(text))]),
            Piece::Thought(text) => object([("text", quote(text)), ("thought", String::from("true"))]),
            Piece::Call { id, name, arguments, foreign } => {
                let call = [("id", quote(id)), ("name", quote(name)), ("args", arguments.to_owned())];
                let signature = signature(&std::mem::take(&mut self.thought), foreign);
                let signature = signature.map(|signature| ("thoughtSignature", quote(&signature)));
                object([("functionCall", object(call))].into_iter().chain(signature))
            }
        });
        // The part that ends a turn has the reason with it: some clients forget a turn whose last content is empty.
        if !is_call {
            self.release(out);
        }
    }

    fn end(&mut self, end: End<'_>, out: &mut String) {
        let usage = (0 < end.usage.total).then(|| ("usageMetadata", counted(end.usage)));
        let report = end.report.map(|report| ("callwright", in_one_line(report)));
        let parts = std::mem::take(&mut self.parts);
        let answer = self.answer(&parts, Some(finish_reason(&end)), usage.into_iter().chain(report));
        self.put(&answer, out);
        self.close(out);
    }

    fn fail(&mut self, failure: &Failure, out: &mut String) {
        self.release(out);
        self.put(&error(failure), out);
        self.close(out);
    }

    /// The packages of Python and Go take a comment for a broken answer, and pass over an empty line.
    fn comment(&mut self, out: &mut String) {
        out.push_str("\n\n");
    }

    fn beat(&mut self, out: &mut String) {
        self.put(&self.answer(&[], None, []), out);
    }
}
