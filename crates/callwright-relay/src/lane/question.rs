//! The request to an upstream that speaks the client's API: the client's own bytes, but for our own members and broken old turns.

use bytes::Bytes;
use callwright::ToolSet;
use callwright_json::{Kind, Span, Value, quote};

use super::asking::Lane;
use crate::api::Surface;
use crate::capability::Strict;
use crate::history::{Form, answered, repaired_function, settled};
use crate::question::drop_what_is_ours;
use crate::surface::messages::{OUR_SIGNATURE, unparsed};
use crate::surface::responses::is_our_code;
use crate::target::Target;
use crate::wire::{Change, Document, array, changed, object, rewritten, spliced, string_of};

impl Lane {
    /// Writes the request for `target`, with `more` behind its conversation. Returns the tools for which it says `strict` as
    /// well.
    pub(super) fn body(&self, target: &Target, more: &[String], stream: bool) -> (Bytes, Strict) {
        let model = target.candidate.model.as_str();
        let root = self.document.root();
        let key = conversation_of(self.surface);
        let tool_set = &self.tools.tool_set;
        let old = root.get(key);
        let repaired = old.filter(|old| old.kind() == Kind::Array).and_then(|old| match self.surface {
            Surface::Responses => responses_history(root, old, tool_set),
            Surface::Messages | Surface::Chat | Surface::Ollama | Surface::Gemini => {
                messages_history(old, tool_set)
            }
        });
        let more: Vec<&str> = self.looped.iter().chain(more).map(String::as_str).collect();
        let longer = (!more.is_empty()).then(|| longer(old, repaired.as_deref(), &more));
        let edits: Vec<(Span, String)> =
            old.zip(longer.or(repaired)).map(|(old, text)| (old.span(), text)).into_iter().collect();
        let mut changes: Vec<(&str, Change)> = Vec::new();
        if string_of(root, "model").is_none_or(|named| named != model) {
            changes.push(("model", Change::Set(quote(model))));
        }
        if stream != self.stream {
            changes.extend(["stream", "stream_options"].map(|key| (key, Change::Remove)));
        }
        if let Some(bound) = self.bound.filter(|_| self.most_tokens.is_none()) {
            let key = if self.surface == Surface::Responses { "max_output_tokens" } else { "max_tokens" };
            changes.push((key, Change::Set(bound.to_string())));
        }
        drop_what_is_ours(root, &mut changes);
        let tools = root.get("tools").filter(|_| !self.tools.are_barred);
        let marked = tools.and_then(|tools| target.strict.marked(tools, self.surface, tool_set));
        let strict = if marked.is_some() { target.strict } else { Strict::None };
        changes.extend(marked.map(|tools| ("tools", Change::Set(tools))));
        let text = match edits.is_empty() {
            true => None,
            false => Document::of(spliced(self.document.text(), &edits)).ok(),
        };
        let document = text.as_ref().unwrap_or(&self.document);
        let body = match changes.is_empty() {
            true => document.to_bytes(),
            false => Bytes::from(rewritten(document.root(), &changes)),
        };
        (body, strict)
    }
}

/// Returns the member that holds the conversation.
fn conversation_of(surface: Surface) -> &'static str {
    match surface {
        Surface::Responses => "input",
        Surface::Messages | Surface::Chat | Surface::Ollama | Surface::Gemini => "messages",
    }
}

/// Writes the conversation with more behind it; a bare text is the user's.
fn longer(old: Option<Value<'_>>, repaired: Option<&str>, more: &[&str]) -> String {
    let old = match (old, repaired) {
        (_, Some(repaired)) => repaired.to_owned(),
        (Some(old), None) if old.kind() == Kind::Array => old.raw().to_owned(),
        (old, None) => {
            let said = old.map_or_else(|| quote(""), |old| old.raw().to_owned());
            array([object([("role", quote("user")), ("content", said)])])
        }
    };
    let head = old.trim_end().strip_suffix(']').unwrap_or_default().trim_end();
    let comma = if head.ends_with('[') { "" } else { "," };
    format!("{head}{comma}{}]", more.join(","))
}

/// Repairs the messages; none if they need no change. Thoughts that this relay signed go, which no other server would take.
/// Inputs that Claude Code could not parse become readable. Calls and results are as in [`settled`].
fn messages_history(messages: Value<'_>, tool_set: &ToolSet) -> Option<String> {
    settled(Form::Messages, messages.elements(), |message| {
        let content = message.get("content").filter(|content| content.kind() == Kind::Array)?;
        let is_ours = |block: &Value<'_>| {
            string_of(*block, "signature").is_some_and(|signature| signature.starts_with(OUR_SIGNATURE))
        };
        let kept: Vec<Value<'_>> = content.elements().filter(|block| !is_ours(block)).collect();
        let repaired = changed(kept.iter().copied(), |block| repaired_block(block, tool_set));
        let is_shorter = kept.len() < content.elements().count();
        // A turn of nothing is one that no server takes.
        let shorter = is_shorter.then(|| match kept.is_empty() {
            true => array([object([("type", quote("text")), ("text", quote("…"))])]),
            false => array(kept.iter().map(|block| block.raw())),
        });
        let content = repaired.or(shorter)?;
        Some(rewritten(message, &[("content", Change::Set(content))]))
    })
}

fn repaired_block(block: Value<'_>, tool_set: &ToolSet) -> Option<String> {
    let raw = unparsed(block.get("input")?)?;
    let name = string_of(block, "name").unwrap_or_default();
    let function = Document::of(object([("name", quote(&name)), ("arguments", quote(&raw))])).ok()?;
    let repaired = repaired_function(function.root(), tool_set).and_then(|text| Document::of(text).ok());
    let read = repaired.as_ref().unwrap_or(&function);
    let input = string_of(read.root(), "arguments")?.into_owned();
    Some(rewritten(block, &[("input", Change::Set(input))]))
}

/// Repairs the items; none if they need no change. Thoughts that only a server of ours can read go. The arguments of old calls
/// become texts of objects. Calls and outputs are as in [`answered`].
fn responses_history(root: Value<'_>, items: Value<'_>, tool_set: &ToolSet) -> Option<String> {
    let is_ours =
        |item: &Value<'_>| string_of(*item, "encrypted_content").is_some_and(|coded| is_our_code(&coded));
    let kept: Vec<Value<'_>> = items.elements().filter(|item| !is_ours(item)).collect();
    let repaired = changed(kept.iter().copied(), |item| {
        let is_call = string_of(item, "type").is_some_and(|kind| kind == "function_call");
        is_call.then(|| repaired_function(item, tool_set))?
    });
    let is_shorter = kept.len() < items.elements().count();
    let repaired = repaired.or_else(|| is_shorter.then(|| array(kept.iter().map(|item| item.raw()))));
    // Calls may stand in what the server keeps.
    let is_whole = ["previous_response_id", "conversation"]
        .iter()
        .all(|key| root.get(key).is_none_or(|value| value.kind() == Kind::Null));
    if !is_whole {
        return repaired;
    }
    match repaired {
        None => answered(kept.into_iter()),
        Some(text) => {
            let document = Document::of(text).ok()?;
            answered(document.root().elements()).or_else(|| Some(document.text().to_owned()))
        }
    }
}
