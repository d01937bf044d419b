//! Whole answers: calls in their texts become native ones, as they do in a stream.

use callwright::{Event, Verdict};
use callwright_json::{Span, Value, quote};

use super::super::wire::{self, text_part};
use super::content::Content;
use super::form::Made;
use super::found::Found;
use super::messages::{is_end, is_thought};
use super::part::Waiting;
use super::reads::{Reads, UNSAID, call_of, end_of};
use super::responses::{is_message, text_of};
use crate::api::Surface;
use crate::lane::asking::Lane;
use crate::lane::tools::Tools;
use crate::lane::wire::told::Told;
use crate::surface::responses::new_id;
use crate::target::Target;
use crate::tokens::Budget;
use crate::turn::outcome::SILENCE;
use crate::wire::{self as json, Document, array, object, rewritten, spliced, string_of};

/// An answer whose texts are read.
pub(in crate::lane) struct Whole {
    pub(in crate::lane) document: Document,
    pub(in crate::lane) found: Found,
    /// The outcome of a text that has to be JSON, if it was not right.
    pub(in crate::lane) content: Option<Content>,
}

impl Whole {
    pub(in crate::lane) fn as_it_came(document: Document) -> Whole {
        Whole { document, found: Found::default(), content: None }
    }
}

/// A piece of the replacement for an item or block.
enum Piece {
    Text(String),
    Call(Verdict),
}

/// A block or an item that is changed.
struct Change {
    at: usize,
    /// The block stays as it came, and the pieces stand behind it.
    is_kept: bool,
    pieces: Vec<Piece>,
}

impl Change {
    /// Makes a change that puts calls of reasoning in front of the block at this place.
    fn behind(tools: &Tools, at: usize, calls: Vec<Verdict>) -> Option<Change> {
        let is_left =
            |verdict: &Verdict| matches!(verdict, Verdict::Refused(refusal) if tools.leaves(refusal));
        let calls = calls.into_iter().filter(|verdict| !is_left(verdict));
        let pieces: Vec<Piece> = calls.map(Piece::Call).collect();
        let at = at.checked_sub(1)?;
        (!pieces.is_empty()).then_some(Change { at, is_kept: true, pieces })
    }
}

/// The kind of an item or block, for its text.
enum Block {
    Text(String),
    Thought(String),
    Call,
    Other,
}

impl Lane {
    /// Reads the texts of a whole answer.
    pub(in crate::lane) async fn read_texts(&self, document: Document, target: &Target) -> Whole {
        if self.wants_json(target) {
            return self.json_text(document).await;
        }
        let mut found = Found::default();
        let Some(reads) = Reads::of(self, target) else { return Whole::as_it_came(document) };
        let mut told = Told::default();
        wire::of(self.surface).calls(document.root(), &mut told);
        let end = (told.reason.as_deref(), Budget::of(self.most_tokens(), told.usage));
        let blocks: Vec<Block> =
            listed(self.surface, document.root()).map(|block| Block::of(self.surface, block)).collect();
        let mut changed = Vec::new();
        let mut thought = String::new();
        for (at, block) in blocks.iter().enumerate() {
            if block.says() {
                let calls = reads.thought(&std::mem::take(&mut thought), true, UNSAID).await;
                changed.extend(Change::behind(&self.tools, at, calls));
            }
            match block {
                Block::Call => break,
                Block::Other => {}
                Block::Thought(text) => thought.push_str(text),
                Block::Text(text) => {
                    found.raw.push_str(text);
                    let mut events = Vec::new();
                    let mut reading = reads.reading();
                    reading.text(text, &mut events).await;
                    let is_last = at + 1 == blocks.len();
                    end_of(reading, if is_last { end } else { UNSAID }, &mut events).await;
                    let pieces = self::pieces(&self.tools, text, events);
                    if pieces.iter().any(|piece| matches!(piece, Piece::Call(_))) {
                        changed.push(Change { at, is_kept: false, pieces });
                    }
                }
            }
        }
        let calls = reads.thought(&thought, false, end).await;
        changed.extend(Change::behind(&self.tools, blocks.len(), calls));
        if changed.is_empty() {
            return Whole { document, found, content: None };
        }
        let mut edits = Vec::new();
        let blocks: Vec<Value<'_>> = listed(self.surface, document.root()).collect();
        for Change { at, is_kept, pieces } in changed {
            let Some(block) = blocks.get(at) else { continue };
            let mut written = if is_kept { vec![block.raw().to_owned()] } else { Vec::new() };
            for piece in pieces {
                written.push(match piece {
                    Piece::Call(verdict) => call(self.surface, &found.take(self, verdict)),
                    Piece::Text(text) => self::text(self.surface, &text, *block, written.is_empty()),
                });
            }
            edits.push((block.span(), written.join(",")));
        }
        let reason = document.root().get("stop_reason");
        let reason = reason.filter(|reason| reason.as_str().is_some_and(|reason| is_end(&reason)));
        edits.extend(reason.map(|reason| (reason.span(), quote("tool_use"))));
        let document = with(document, edits);
        Whole { document, found, content: None }
    }

    /// Reads the text of a whole answer that has to be JSON.
    async fn json_text(&self, document: Document) -> Whole {
        let mut told = Told::default();
        wire::of(self.surface).calls(document.root(), &mut told);
        let block = listed(self.surface, document.root())
            .find_map(|block| Some((block, Block::of(self.surface, block).text()?)));
        let Some((block, raw)) = block else { return Whole::as_it_came(document) };
        let Some(content) = self.content(&raw, told.reason.as_deref()).await else {
            return Whole::as_it_came(document);
        };
        let put = content.put.as_ref().map(|put| self::text(self.surface, put, block, true));
        let edits = put.map(|put| (block.span(), put)).into_iter().collect();
        let document = with(document, edits);
        Whole { document, found: Found { raw, ..Found::default() }, content: Some(content) }
    }

    /// Returns whether an answer stops for calls, and holds neither calls nor anything else.
    pub(in crate::lane) fn is_phantom(&self, answer: Value<'_>) -> bool {
        let stops_for_calls = string_of(answer, "stop_reason").is_some_and(|reason| reason == "tool_use");
        let blocks = listed(self.surface, answer);
        self.surface == Surface::Messages
            && stops_for_calls
            && blocks.map(|block| string_of(block, "type").unwrap_or_default()).all(|kind| is_thought(&kind))
    }

    /// Adds a sentence to an answer that stops for calls and has none.
    pub(in crate::lane) fn told_of_silence(&self, document: Document) -> Document {
        let root = document.root();
        let said = object([("type", quote("text")), ("text", quote(SILENCE))]);
        let blocks = listed(self.surface, root).map(|block| block.raw().to_owned());
        let all = array(blocks.chain([said]));
        let content = root.get(list_of(self.surface));
        let mut edits: Vec<(Span, String)> =
            content.map(|content| (content.span(), all)).into_iter().collect();
        edits.extend(root.get("stop_reason").map(|reason| (reason.span(), quote("end_turn"))));
        with(document, edits)
    }
}

fn with(document: Document, mut edits: Vec<(Span, String)>) -> Document {
    edits.sort_by_key(|(span, _)| *span);
    Document::of(spliced(document.text(), &edits)).unwrap_or(document)
}

/// Returns the blocks or items of an answer.
fn listed(surface: Surface, answer: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    answer.get(list_of(surface)).into_iter().flat_map(Value::elements)
}

/// Returns the member that holds them.
fn list_of(surface: Surface) -> &'static str {
    match surface {
        Surface::Responses => "output",
        Surface::Messages | Surface::Chat | Surface::Ollama | Surface::Gemini => "content",
    }
}

impl Block {
    fn of(surface: Surface, block: Value<'_>) -> Block {
        let text = |key| string_of(block, key).unwrap_or_default().into_owned();
        match (surface, &*text("type")) {
            (Surface::Responses, "function_call") | (Surface::Messages, "tool_use") => Block::Call,
            (Surface::Responses, _) if is_message(block) => Block::Text(text_of(block).into_owned()),
            (Surface::Responses, "reasoning") => {
                let parts = ["summary", "content"].into_iter().filter_map(|key| block.get(key));
                let parts = parts.flat_map(Value::elements).filter_map(|part| string_of(part, "text"));
                Block::Thought(parts.collect())
            }
            (Surface::Messages, "text") => Block::Text(text("text")),
            (Surface::Messages, "thinking") => Block::Thought(text("thinking")),
            _ => Block::Other,
        }
    }

    fn text(self) -> Option<String> {
        match self {
            Block::Text(text) => Some(text),
            Block::Thought(_) | Block::Call | Block::Other => None,
        }
    }

    /// Returns whether it closes the reasoning before it.
    fn says(&self) -> bool {
        match self {
            Block::Text(text) => !text.trim().is_empty(),
            Block::Call => true,
            Block::Thought(_) | Block::Other => false,
        }
    }
}

/// Returns the pieces of a text: its own words before the first call, and the engine's words from there on.
fn pieces(tools: &Tools, text: &str, events: Vec<Event>) -> Vec<Piece> {
    let mut before = Waiting::of(text);
    let mut pieces: Vec<Piece> = Vec::new();
    for event in events {
        match event {
            Event::Call(Verdict::Refused(refusal)) if tools.leaves(&refusal) => {
                let said = refusal.span.of(text);
                match pieces.last_mut() {
                    None => {}
                    Some(Piece::Text(text)) => text.push_str(said),
                    Some(Piece::Call(_)) => pieces.push(Piece::Text(said.to_owned())),
                }
            }
            Event::Text(said) | Event::Reasoning(said) => match pieces.last_mut() {
                None => before.release(&said),
                Some(Piece::Text(text)) => text.push_str(&said),
                Some(Piece::Call(_)) if said.trim().is_empty() => {}
                Some(Piece::Call(_)) => pieces.push(Piece::Text(said)),
            },
            event => {
                let Some(verdict) = call_of(event) else { continue };
                if pieces.is_empty() {
                    let before = before.take();
                    if !before.is_empty() {
                        pieces.push(Piece::Text(before));
                    }
                }
                pieces.push(Piece::Call(verdict));
            }
        }
    }
    pieces
}

fn text(surface: Surface, text: &str, block: Value<'_>, is_first: bool) -> String {
    let mut changes = match surface {
        Surface::Responses => vec![("content", json::Change::Set(array([text_part(text)])))],
        Surface::Messages | Surface::Chat | Surface::Ollama | Surface::Gemini => {
            vec![("text", json::Change::Set(quote(text)))]
        }
    };
    if surface == Surface::Responses && !is_first {
        changes.push(("id", json::Change::Set(quote(&new_id("msg_")))));
    }
    rewritten(block, &changes)
}

fn call(surface: Surface, made: &Made) -> String {
    let arguments = made.arguments.as_deref().unwrap_or("{}");
    let namespace = made.namespace.as_ref().map(|namespace| ("namespace", quote(namespace)));
    match surface {
        Surface::Responses => object(
            [
                ("id", quote(&new_id("fc_"))),
                ("type", quote("function_call")),
                ("status", quote("completed")),
                ("arguments", quote(arguments)),
                ("call_id", quote(&made.id)),
                ("name", quote(&made.name)),
            ]
            .into_iter()
            .chain(namespace),
        ),
        Surface::Messages | Surface::Chat | Surface::Ollama | Surface::Gemini => object([
            ("type", quote("tool_use")),
            ("id", quote(&made.id)),
            ("name", quote(&made.name)),
            ("input", arguments.to_owned()),
        ]),
    }
}
