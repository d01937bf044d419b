//! Texts in Anthropic's messages: blocks, which are numbered.

use std::borrow::Cow;

use callwright_json::{Value, quote};

use super::form::{Form, Made, Place};
use crate::deliver::{Came, Json};
use crate::lane::wire::told::is_announced_call;
use crate::turn::outcome::SILENCE;
use crate::wire::{count_of, object, spliced, string_of};

/// The blocks of a stream.
#[derive(Default)]
pub(super) struct Blocks {
    /// The number of the next block that begins.
    next: u64,
    /// The distance of the upstream's blocks from the numbers that it gives them.
    shift: i64,
    /// Blocks are numbered anew.
    is_changed: bool,
    /// A block with the last number is open.
    is_open: bool,
    has_calls: bool,
}

impl Form for Blocks {
    fn place<'e>(&self, event: Value<'e>) -> Place<'e> {
        let at = count_of(event, "index").unwrap_or_default();
        match string_of(event, "type").as_deref() {
            Some("content_block_delta") => {
                let Some(delta) = event.get("delta") else { return Place::Within };
                match string_of(delta, "type").as_deref() {
                    Some("text_delta") => {
                        Place::Text { at, text: string_of(delta, "text").unwrap_or_default() }
                    }
                    Some("thinking_delta") => {
                        Place::Thought(string_of(delta, "thinking").unwrap_or_default())
                    }
                    _ => Place::Within,
                }
            }
            Some("content_block_start") => {
                let block = event.get("content_block");
                let kind = block.and_then(|block| string_of(block, "type"));
                match (kind.as_deref(), block) {
                    (Some("text"), Some(block)) => {
                        Place::Opens { at, text: string_of(block, "text").unwrap_or_default() }
                    }
                    (kind, block) => Place::Block {
                        is_call: block.is_some_and(is_announced_call),
                        is_thought: kind.is_some_and(is_thought),
                    },
                }
            }
            Some("content_block_stop") => Place::Closes { at, text: Cow::Borrowed("") },
            Some("message_delta") => Place::Ends,
            Some("error") => Place::Fails,
            _ => Place::Beside,
        }
    }

    fn begins(&mut self, _at: u64) {}

    fn pass(&mut self, came: Came, out: &mut Vec<Came>) {
        let Json::Is(document) = &came.json else { return out.push(came) };
        let root = document.root();
        let Some(at) = count_of(root, "index") else { return out.push(came) };
        match string_of(root, "type").as_deref() {
            Some("content_block_start") => {
                if self.is_changed {
                    self.shift = i64::try_from(self.next).unwrap_or(0) - i64::try_from(at).unwrap_or(0);
                }
                (self.next, self.is_open) = (self.moved(at) + 1, true);
            }
            Some("content_block_stop") => self.is_open = false,
            _ => {}
        }
        let moved = self.moved(at);
        match root.get("index").filter(|_| moved != at) {
            None => out.push(came),
            Some(index) => {
                let data = spliced(document.text(), &[(index.span(), moved.to_string())]);
                out.push(Came::with_data(&came.event, &data));
            }
        }
    }

    fn pass_within(&mut self, came: Came, out: &mut Vec<Came>) {
        match self.is_changed {
            true => self.pass(came, out),
            false => out.push(came),
        }
    }

    fn say(&mut self, text: &str, out: &mut Vec<Came>) {
        if !self.is_open {
            if text.trim().is_empty() {
                // No server takes a block of nothing back.
                return;
            }
            self.start(object([("type", quote("text")), ("text", quote(""))]), out);
        }
        self.delta([("type", quote("text_delta")), ("text", quote(text))], out);
    }

    fn close(&mut self, out: &mut Vec<Came>) {
        if std::mem::replace(&mut self.is_open, false) {
            self.event("content_block_stop", None, out);
        }
    }

    fn call(&mut self, made: &Made, out: &mut Vec<Came>) {
        self.close(out);
        self.has_calls = true;
        self.start(
            object([
                ("type", quote("tool_use")),
                ("id", quote(&made.id)),
                ("name", quote(&made.name)),
                ("input", String::from("{}")),
            ]),
            out,
        );
        if let Some(arguments) = &made.arguments {
            self.delta([("type", quote("input_json_delta")), ("partial_json", quote(arguments))], out);
        }
        self.close(out);
    }

    fn over(&mut self) {}

    fn say_again(&mut self, answer: Option<Value<'_>>, out: &mut Vec<Came>) -> String {
        let Some(answer) = answer else {
            self.say(SILENCE, out);
            self.close(out);
            return String::from("end_turn");
        };
        for block in answer.get("content").into_iter().flat_map(Value::elements) {
            match string_of(block, "type").as_deref() {
                Some("text") => {
                    self.say(&string_of(block, "text").unwrap_or_default(), out);
                    self.close(out);
                }
                Some("tool_use") => self.call(
                    &Made {
                        id: string_of(block, "id").unwrap_or_default().into_owned(),
                        namespace: None,
                        name: string_of(block, "name").unwrap_or_default().into_owned(),
                        arguments: block.get("input").map(|input| input.raw().to_owned()),
                    },
                    out,
                ),
                // It passes as it is: what of it could come in pieces nobody here knows.
                _ => {
                    self.start(block.raw().to_owned(), out);
                    self.close(out);
                }
            }
        }
        string_of(answer, "stop_reason").unwrap_or(Cow::Borrowed("end_turn")).into_owned()
    }

    fn ends(&mut self, came: Came, (other, more): (Option<&str>, u64), out: &mut Vec<Came>) {
        let Json::Is(document) = &came.json else { return out.push(came) };
        let root = document.root();
        let reason = root.get("delta").and_then(|delta| delta.get("stop_reason"));
        let mut edits = Vec::new();
        if let Some(reason) = reason {
            let said = reason.as_str().unwrap_or_default();
            let new = other.or_else(|| (self.has_calls && is_end(&said)).then_some("tool_use"));
            edits.extend(new.filter(|new| *new != said).map(|new| (reason.span(), quote(new))));
        }
        let spent = root.get("usage").and_then(|usage| usage.get("output_tokens")).filter(|_| 0 < more);
        if let Some((spent, n)) = spent.and_then(|spent| Some((spent, spent.raw().parse::<u64>().ok()?))) {
            edits.push((spent.span(), (n + more).to_string()));
        }
        edits.sort_by_key(|(span, _)| *span);
        match edits.is_empty() {
            true => out.push(came),
            false => out.push(Came::with_data(&came.event, &spliced(document.text(), &edits))),
        }
    }
}

/// Returns whether this is the reason of an answer that ended by itself, without a call that the server saw.
pub(super) fn is_end(reason: &str) -> bool {
    matches!(reason, "end_turn" | "stop_sequence")
}

/// Returns whether a block of this kind is reasoning.
pub(super) fn is_thought(kind: &str) -> bool {
    matches!(kind, "thinking" | "redacted_thinking")
}

impl Blocks {
    fn moved(&self, at: u64) -> u64 {
        at.saturating_add_signed(self.shift)
    }

    fn start(&mut self, block: String, out: &mut Vec<Came>) {
        (self.is_changed, self.is_open) = (true, true);
        self.next += 1;
        self.event("content_block_start", Some(("content_block", block)), out);
    }

    fn delta<'k>(&self, members: impl IntoIterator<Item = (&'k str, String)>, out: &mut Vec<Came>) {
        self.event("content_block_delta", Some(("delta", object(members))), out);
    }

    /// Writes an event of the last block.
    fn event(&self, name: &str, more: Option<(&str, String)>, out: &mut Vec<Came>) {
        let index = self.next.saturating_sub(1).to_string();
        let members = [("type", quote(name)), ("index", index)].into_iter().chain(more);
        out.push(Came::written(name, &object(members)));
    }
}
