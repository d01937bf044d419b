//! Texts in OpenAI's responses: items with parts, in numbered events, and a last event that repeats all items.

use std::borrow::Cow;

use callwright_json::{Span, Value, quote, strict};

use super::super::wire::text_part;
use super::form::{Form, Made, Place};
use crate::deliver::{Came, Json};
use crate::surface::responses::new_id;
use crate::turn::outcome::SILENCE;
use crate::wire::{Change, array, count_of, object, rewritten, spliced, string_of};

/// The items of a stream.
#[derive(Default)]
pub(super) struct Items {
    /// The number of the next item that begins.
    next: u64,
    /// The distance of the upstream's items from the numbers that it gives them.
    shift: i64,
    /// The number of the next event.
    number: u64,
    /// Items and events are numbered anew.
    is_changed: bool,
    /// The number that the upstream gives to the item whose text is read, or that began last.
    at: u64,
    open: Option<Item>,
    /// The message that began last, as the upstream began it.
    begun: Option<String>,
    /// The items that stand in the place of the one whose text is read, as they are done.
    made: Vec<String>,
    /// The message that began last is among them, or stands before them as it came.
    is_kept: bool,
    changed: Vec<Changed>,
}

/// A message that is open.
struct Item {
    id: String,
    /// Its parts that are done.
    parts: Vec<String>,
    /// The text of the open part.
    part: Option<String>,
}

/// An item of the upstream, and its replacement, or the items behind it.
struct Changed {
    at: u64,
    is_kept: bool,
    items: Vec<String>,
}

impl Form for Items {
    fn place<'e>(&self, event: Value<'e>) -> Place<'e> {
        let at = count_of(event, "output_index").unwrap_or_default();
        let text = |key| string_of(event, key).unwrap_or_default();
        let item = event.get("item");
        let is_message = item.is_some_and(is_message);
        match string_of(event, "type").as_deref() {
            Some("response.output_text.delta") => Place::Text { at, text: text("delta") },
            Some("response.output_item.added") if is_message => {
                Place::Opens { at, text: item.map(text_of).unwrap_or_default() }
            }
            Some("response.output_item.added") => {
                let kind = item.and_then(|item| string_of(item, "type"));
                Place::Block {
                    is_call: kind.as_deref() == Some("function_call"),
                    is_thought: kind.as_deref() == Some("reasoning"),
                }
            }
            Some("response.content_part.added") => match event.get("part").filter(|part| is_text(*part)) {
                Some(part) => Place::Opening(string_of(part, "text").unwrap_or_default()),
                None => Place::Within,
            },
            Some("response.output_text.done") => Place::Closes { at, text: text("text") },
            Some("response.content_part.done") => match event.get("part").filter(|part| is_text(*part)) {
                Some(part) => Place::Closes { at, text: string_of(part, "text").unwrap_or_default() },
                None => Place::Within,
            },
            Some("response.output_item.done") if is_message => {
                Place::Closes { at, text: item.map(text_of).unwrap_or_default() }
            }
            Some("response.reasoning_text.delta" | "response.reasoning_summary_text.delta") => {
                Place::Thought(text("delta"))
            }
            Some("response.output_text.annotation.added") => Place::Within,
            Some("response.completed" | "response.incomplete") => Place::Ends,
            Some("response.failed" | "error") => Place::Fails,
            _ => Place::Aside,
        }
    }

    fn begins(&mut self, at: u64) {
        (self.at, self.is_kept) = (at, false);
    }

    fn pass(&mut self, came: Came, out: &mut Vec<Came>) {
        let edits = self.numbered(&came);
        self.edited(came, edits, out);
    }

    fn say(&mut self, text: &str, out: &mut Vec<Came>) {
        if self.open.is_none() {
            if text.trim().is_empty() {
                return;
            }
            self.is_changed = true;
            self.next += 1;
            let item = Item { id: new_id("msg_"), parts: Vec::new(), part: None };
            let message = self.message(&item.id, "in_progress", &[]);
            self.open = Some(item);
            self.event("response.output_item.added", [("item", message)], out);
        }
        if self.open.as_ref().is_some_and(|open| open.part.is_none()) {
            self.is_changed = true;
            self.part("response.content_part.added", [("part", text_part(""))], out);
            if let Some(open) = &mut self.open {
                open.part = Some(String::new());
            }
        }
        self.part(
            "response.output_text.delta",
            [("delta", quote(text)), ("logprobs", String::from("[]"))],
            out,
        );
        if let Some(said) = self.open.as_mut().and_then(|open| open.part.as_mut()) {
            said.push_str(text);
        }
    }

    fn close(&mut self, out: &mut Vec<Came>) {
        let Some(open) = &mut self.open else { return };
        self.is_changed = true;
        if let Some(said) = open.part.take() {
            let part = text_part(&said);
            self.part(
                "response.output_text.done",
                [("text", quote(&said)), ("logprobs", String::from("[]"))],
                out,
            );
            self.part("response.content_part.done", [("part", part.clone())], out);
            if let Some(open) = &mut self.open {
                open.parts.push(part);
            }
        }
        let Some(Item { id, parts, .. }) = self.open.take() else { return };
        let item = self.message(&id, "completed", &parts);
        self.made.push(item.clone());
        self.event("response.output_item.done", [("item", item)], out);
    }

    fn call(&mut self, made: &Made, out: &mut Vec<Came>) {
        self.close(out);
        self.is_changed = true;
        self.next += 1;
        let id = new_id("fc_");
        let arguments = made.arguments.as_deref().unwrap_or("{}");
        let item = |status: &str, arguments: &str| {
            let namespace = made.namespace.as_ref().map(|namespace| ("namespace", quote(namespace)));
            let members = [
                ("id", quote(&id)),
                ("type", quote("function_call")),
                ("status", quote(status)),
                ("arguments", quote(arguments)),
                ("call_id", quote(&made.id)),
                ("name", quote(&made.name)),
            ];
            object(members.into_iter().chain(namespace))
        };
        self.event("response.output_item.added", [("item", item("in_progress", ""))], out);
        let own = || ("item_id", quote(&id));
        if made.arguments.is_some() {
            let members = [own(), ("delta", quote(arguments))];
            self.event("response.function_call_arguments.delta", members, out);
        }
        let members = [own(), ("name", quote(&made.name)), ("arguments", quote(arguments))];
        self.event("response.function_call_arguments.done", members, out);
        let done = item("completed", arguments);
        self.made.push(done.clone());
        self.event("response.output_item.done", [("item", done)], out);
    }

    fn over(&mut self) {
        self.flush();
    }

    fn say_again(&mut self, _answer: Option<Value<'_>>, out: &mut Vec<Came>) -> String {
        self.say(SILENCE, out);
        self.close(out);
        String::new()
    }

    fn ends(&mut self, came: Came, _other: (Option<&str>, u64), out: &mut Vec<Came>) {
        self.flush();
        let mut edits = self.numbered(&came);
        if let Json::Is(document) = &came.json {
            let output = document.root().get("response").and_then(|response| response.get("output"));
            edits.extend(output.and_then(|output| self.output(output)));
        }
        self.edited(came, edits, out);
    }
}

impl Items {
    /// Writes the items of the end, with those that were changed.
    fn output(&self, output: Value<'_>) -> Option<(Span, String)> {
        if self.changed.is_empty() {
            return None;
        }
        let mut items = Vec::new();
        for (at, item) in (0..).zip(output.elements()) {
            let changed = || self.changed.iter().filter(move |changed| changed.at == at);
            if changed().all(|changed| changed.is_kept) {
                items.push(item.raw());
            }
            items.extend(changed().flat_map(|changed| changed.items.iter().map(String::as_str)));
        }
        // Some servers list none.
        (!items.is_empty()).then(|| (output.span(), array(items)))
    }

    /// Remembers the replacement of the last item, or the items behind it.
    fn flush(&mut self) {
        if !self.made.is_empty() {
            let items = std::mem::take(&mut self.made);
            self.changed.push(Changed { at: self.at, is_kept: self.is_kept, items });
        }
    }

    /// Takes an event of the upstream, and returns the edits that give it its new numbers.
    fn numbered(&mut self, came: &Came) -> Vec<(Span, String)> {
        let Json::Is(document) = &came.json else { return Vec::new() };
        let root = document.root();
        let mut edits = Vec::new();
        if let Some(number) = root.get("sequence_number") {
            let own = number.raw().parse().unwrap_or(self.number);
            if self.is_changed && own != self.number {
                edits.push((number.span(), self.number.to_string()));
            }
            self.number = if self.is_changed { self.number + 1 } else { own + 1 };
        }
        if let (Some(index), Some(at)) = (root.get("output_index"), count_of(root, "output_index")) {
            self.goes(root, at);
            let moved = at.saturating_add_signed(self.shift);
            if moved != at {
                edits.push((index.span(), moved.to_string()));
            }
        }
        edits
    }

    /// Follows the effect of an upstream's event on the open item.
    fn goes(&mut self, root: Value<'_>, at: u64) {
        let id = |holder: Value<'_>, key| string_of(holder, key).unwrap_or_default().into_owned();
        match string_of(root, "type").as_deref() {
            Some("response.output_item.added") => {
                self.flush();
                (self.at, self.is_kept) = (at, true);
                if self.is_changed {
                    self.shift = i64::try_from(self.next).unwrap_or(0) - i64::try_from(at).unwrap_or(0);
                }
                self.next = at.saturating_add_signed(self.shift) + 1;
                let message = root.get("item").filter(|item| is_message(*item));
                if let Some(message) = message {
                    (self.begun, self.is_kept) = (Some(message.raw().to_owned()), false);
                }
                self.open = message.map(|item| Item { id: id(item, "id"), parts: Vec::new(), part: None });
            }
            Some("response.output_item.done") => {
                // A call behind it that stands in reasoning leaves it as it is.
                (self.open, self.is_kept) = (None, true);
                self.next = self.next.max(at.saturating_add_signed(self.shift) + 1);
            }
            Some("response.content_part.added") => {
                if let Some(open) = &mut self.open {
                    open.part = Some(String::new());
                }
            }
            Some("response.content_part.done") => {
                if let (Some(open), Some(part)) = (&mut self.open, root.get("part")) {
                    open.parts.push(part.raw().to_owned());
                    open.part = None;
                }
            }
            Some("response.output_text.delta") => {
                let said = self.open.as_mut().and_then(|open| open.part.as_mut());
                if let (Some(said), Some(delta)) = (said, string_of(root, "delta")) {
                    said.push_str(&delta);
                }
            }
            _ => {}
        }
    }

    fn edited(&self, came: Came, mut edits: Vec<(Span, String)>, out: &mut Vec<Came>) {
        match &came.json {
            Json::Is(document) if !edits.is_empty() => {
                edits.sort_by_key(|(span, _)| *span);
                out.push(Came::with_data(&came.event, &spliced(document.text(), &edits)));
            }
            _ => out.push(came),
        }
    }

    /// Writes an event about the last part of the open item.
    fn part<'k>(
        &mut self,
        name: &str,
        members: impl IntoIterator<Item = (&'k str, String)>,
        out: &mut Vec<Came>,
    ) {
        let Some(open) = &self.open else { return };
        let own = [("item_id", quote(&open.id)), ("content_index", open.parts.len().to_string())];
        self.event(name, own.into_iter().chain(members), out);
    }

    /// Writes an event about the last item.
    fn event<'k>(
        &mut self,
        name: &str,
        members: impl IntoIterator<Item = (&'k str, String)>,
        out: &mut Vec<Came>,
    ) {
        let index = self.next.saturating_sub(1).to_string();
        let own =
            [("type", quote(name)), ("sequence_number", self.number.to_string()), ("output_index", index)];
        self.number += 1;
        out.push(Came::written(name, &object(own.into_iter().chain(members))));
    }
}

impl Items {
    /// Writes a message, with the foreign members of the one that the upstream began.
    fn message(&self, id: &str, status: &str, parts: &[String]) -> String {
        let begun = self.begun.as_deref().and_then(|begun| Some((begun, strict(begun).ok()?)));
        let (id, status, content) = (quote(id), quote(status), array(parts));
        match &begun {
            Some((begun, tree)) => {
                let changes = [("id", id), ("status", status), ("content", content)];
                rewritten(tree.root(begun), &changes.map(|(key, text)| (key, Change::Set(text))))
            }
            None => object([
                ("id", id),
                ("type", quote("message")),
                ("status", status),
                ("content", content),
                ("role", quote("assistant")),
            ]),
        }
    }
}

/// Returns whether this item is a message.
pub(super) fn is_message(item: Value<'_>) -> bool {
    string_of(item, "type").is_some_and(|kind| kind == "message")
}

fn is_text(part: Value<'_>) -> bool {
    string_of(part, "type").is_some_and(|kind| kind == "output_text")
}

/// Returns the text of a message.
pub(super) fn text_of(item: Value<'_>) -> Cow<'_, str> {
    let parts = item.get("content").into_iter().flat_map(Value::elements).filter(|part| is_text(*part));
    let mut texts = parts.filter_map(|part| string_of(part, "text"));
    let first = texts.next().unwrap_or_default();
    texts.fold(first, |all, more| Cow::Owned(all.into_owned() + &more))
}
