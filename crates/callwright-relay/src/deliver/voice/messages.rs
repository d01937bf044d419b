//! Anthropic's messages: blocks of text, thought and calls, streamed or whole.

use callwright_json::quote;

use super::serial::{Blocks, End, Kind};
use crate::surface::messages::{OUR_SIGNATURE, Wanted, coded_id};
use crate::surface::{Failure, messages_error};
use crate::tokens::Usage;
use crate::wire::{array, object};

/// The longest piece of a call's input in one event: a client's reader has a bound for a line.
const PIECE: usize = 16 << 10;

/// Writes a message.
pub(in crate::deliver) struct MessageBlocks {
    id: String,
    wanted: Wanted,
    /// The blocks are kept for an answer that goes out whole; else they go out as events.
    kept: Option<Vec<String>>,
    /// The number of the open block.
    index: usize,
    open: Block,
    /// The content of the open block, if it is kept.
    text: String,
    /// The open block has a piece.
    has_piece: bool,
    /// Bytes of all words, for a server that counts no tokens.
    said: usize,
    whole: String,
}

/// The open block.
enum Block {
    None,
    Text,
    Thought,
    /// A thought that the client has not asked for.
    Hidden,
    Call {
        id: String,
        name: String,
    },
}

impl MessageBlocks {
    /// Makes the writer of an answer that streams.
    pub(in crate::deliver) fn streamed(wanted: Wanted) -> MessageBlocks {
        MessageBlocks {
            id: crate::calls::new_id("msg_"),
            wanted,
            kept: None,
            index: 0,
            open: Block::None,
            text: String::new(),
            has_piece: false,
            said: 0,
            whole: String::new(),
        }
    }

    /// Makes the writer of an answer that goes out whole.
    pub(in crate::deliver) fn kept(wanted: Wanted) -> MessageBlocks {
        MessageBlocks { kept: Some(Vec::new()), ..MessageBlocks::streamed(wanted) }
    }

    /// Returns the whole message, once it has ended.
    pub(in crate::deliver) fn into_message(self) -> String {
        self.whole
    }

    fn event(&self, name: &str, members: &str, out: &mut String) {
        if self.kept.is_none() {
            out.push_str("event: ");
            out.push_str(name);
            out.push_str("\ndata: {\"type\":\"");
            out.push_str(name);
            out.push('"');
            out.push_str(members);
            out.push_str("}\n\n");
        }
    }

    fn delta(&self, kind: &str, key: &str, piece: &str, out: &mut String) {
        let members =
            format!(",\"index\":{},\"delta\":{{\"type\":\"{kind}\",\"{key}\":{}}}", self.index, quote(piece));
        self.event("content_block_delta", &members, out);
    }

    fn message(&self, content: String, reason: &str, stopped_by: &str, usage: String, more: &str) -> String {
        let message = object([
            ("id", quote(&self.id)),
            ("type", quote("message")),
            ("role", quote("assistant")),
            ("model", quote(&self.wanted.model)),
            ("content", content),
            ("stop_reason", reason.to_owned()),
            ("stop_sequence", stopped_by.to_owned()),
            ("usage", usage),
        ]);
        match message.strip_suffix('}') {
            Some(members) => format!("{members}{more}}}"),
            None => message,
        }
    }

    /// Writes the tokens as this API counts them: cached ones stand apart from the others. If nobody has counted, they are
    /// estimated.
    fn usage(&self, usage: Usage) -> String {
        let (input, output) = match usage.total {
            0 => (self.wanted.estimate, self.said.div_ceil(4) as u64),
            _ => (usage.prompt.saturating_sub(usage.cached), usage.completion),
        };
        let mut members = vec![
            ("input_tokens", input.to_string()),
            ("output_tokens", output.to_string()),
            ("cache_creation_input_tokens", String::from("0")),
            ("cache_read_input_tokens", usage.cached.to_string()),
        ];
        if 0 < usage.reasoning {
            let thinking = object([("thinking_tokens", usage.reasoning.to_string())]);
            members.push(("output_tokens_details", thinking));
        }
        object(members)
    }
}

/// Returns the reason of this API, and the client's sequence that stopped the answer.
fn stop_reason<'e>(end: &End<'e>) -> (&'static str, Option<&'e str>) {
    match end.reason {
        Some("length") => ("max_tokens", None),
        Some("content_filter") => ("refusal", None),
        _ if end.has_calls => ("tool_use", None),
        _ if end.has_refusal => ("refusal", None),
        _ => match end.stopped_by {
            Some(word) => ("stop_sequence", Some(word)),
            None => ("end_turn", None),
        },
    }
}

impl Blocks for MessageBlocks {
    fn start(&mut self, out: &mut String) {
        let usage = format!("{{\"input_tokens\":{},\"output_tokens\":0}}", self.wanted.estimate);
        let message = self.message(String::from("[]"), "null", "null", usage, "");
        self.event("message_start", &format!(",\"message\":{message}"), out);
        self.beat(out);
    }

    fn open(&mut self, kind: Kind<'_>, out: &mut String) {
        self.text.clear();
        self.has_piece = false;
        let (open, block) = match kind {
            Kind::Text | Kind::Refusal => (Block::Text, String::from("{\"type\":\"text\",\"text\":\"\"}")),
            Kind::Thought if !self.wanted.thoughts => (Block::Hidden, String::new()),
            Kind::Thought => {
                (Block::Thought, String::from("{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}"))
            }
            Kind::Call { id, name, foreign: _ } => {
                let id = coded_id(id).into_owned();
                let block = object([
                    ("type", quote("tool_use")),
                    ("id", quote(&id)),
                    ("name", quote(name)),
                    ("input", String::from("{}")),
                ]);
                (Block::Call { id, name: name.to_owned() }, block)
            }
        };
        self.open = open;
        if !block.is_empty() {
            let members = format!(",\"index\":{},\"content_block\":{block}", self.index);
            self.event("content_block_start", &members, out);
        }
    }

    fn add(&mut self, piece: &str, out: &mut String) {
        self.said += piece.len();
        if matches!(self.open, Block::Hidden) {
            return;
        }
        self.has_piece = true;
        if self.kept.is_some() {
            return self.text.push_str(piece);
        }
        match self.open {
            Block::None | Block::Hidden => {}
            Block::Text => self.delta("text_delta", "text", piece, out),
            Block::Thought => self.delta("thinking_delta", "thinking", piece, out),
            Block::Call { .. } => {
                let mut rest = piece;
                while !rest.is_empty() {
                    let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE));
                    self.delta("input_json_delta", "partial_json", piece, out);
                    rest = more;
                }
            }
        }
    }

    fn close(&mut self, out: &mut String) {
        let open = std::mem::replace(&mut self.open, Block::None);
        let block = match &open {
            Block::None | Block::Hidden => return,
            Block::Text => object([("type", quote("text")), ("text", quote(&self.text))]),
            Block::Thought => {
                self.delta("signature_delta", "signature", OUR_SIGNATURE, out);
                object([
                    ("type", quote("thinking")),
                    ("thinking", quote(&self.text)),
                    ("signature", quote(OUR_SIGNATURE)),
                ])
            }
            Block::Call { id, name } => {
                if !self.has_piece {
                    self.delta("input_json_delta", "partial_json", "{}", out);
                    self.text.push_str("{}");
                }
                object([
                    ("type", quote("tool_use")),
                    ("id", quote(id)),
                    ("name", quote(name)),
                    ("input", self.text.clone()),
                ])
            }
        };
        self.event("content_block_stop", &format!(",\"index\":{}", self.index), out);
        self.index += 1;
        if let Some(kept) = &mut self.kept {
            kept.push(block);
        }
    }

    /// Clients run a block that stops, and nothing else says that a block is over.
    fn cut(&mut self, out: &mut String) -> bool {
        let is_call = matches!(self.open, Block::Call { .. });
        if !is_call {
            self.close(out);
        }
        !is_call
    }

    fn end(&mut self, end: End<'_>, out: &mut String) {
        let (reason, sequence) = stop_reason(&end);
        let (reason, sequence) = (quote(reason), sequence.map_or(String::from("null"), quote));
        let usage = self.usage(end.usage);
        let details = match reason.as_str() {
            "\"refusal\"" => ",\"stop_details\":{\"type\":\"refusal\"}",
            _ => "",
        };
        let report = end.report.map(|report| format!(",\"callwright\":{report}")).unwrap_or_default();
        if let Some(kept) = self.kept.take() {
            let more = format!("{details}{report}");
            self.whole = self.message(array(&kept), &reason, &sequence, usage, &more);
            return;
        }
        let members = format!(
            ",\"delta\":{{\"stop_reason\":{reason},\"stop_sequence\":{sequence}{details}}},\"usage\":{usage}{report}"
        );
        self.event("message_delta", &members, out);
        self.event("message_stop", "", out);
    }

    fn fail(&mut self, failure: &Failure, out: &mut String) {
        let error = messages_error(failure.messages_type(), &failure.messages_text());
        self.event("error", &format!(",\"error\":{error}"), out);
    }

    fn beat(&mut self, out: &mut String) {
        self.event("ping", "", out);
    }
}
