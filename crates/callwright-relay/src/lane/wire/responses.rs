//! OpenAI's responses: items that are added, grow and are done, and a last event that repeats all of them.

use callwright_json::{Span, Value, quote};

use super::told::{Reader, Seen, Settled, Told, Wire, edited, read, written};
use crate::lane::call::{CallHead, Put};
use crate::sse::Event;
use crate::surface::Failure;
use crate::tokens::Usage;
use crate::wire::{Change, Document, array, count_of, object, rewritten, string_of};

/// The event of a whole response.
const COMPLETED: &str = "response.completed";

/// A stream of numbered events.
#[derive(Default)]
pub(super) struct Responses {
    /// The number of the next event that is written.
    next: u64,
    /// The response as it began.
    begun: Option<String>,
    /// The items whose arguments have been said anew.
    said: Vec<u64>,
}

impl Reader for Responses {
    fn see(&mut self, event: Value<'_>, told: &mut Told) -> Seen {
        self.next = count_of(event, "sequence_number").map_or(self.next, |number| number + 1);
        let at = count_of(event, "output_index").unwrap_or_default();
        let call = || event.get("item").filter(|item| is_call(*item)).map(head);
        let delta = || string_of(event, "delta").unwrap_or_default();
        match string_of(event, "type").as_deref() {
            Some("error" | "response.failed") => return Seen::Fails,
            Some("response.created") => {
                self.begun = event.get("response").map(|response| response.raw().to_owned());
                return Seen::Starts;
            }
            Some("response.in_progress" | "response.queued") => return Seen::Starts,
            Some("response.output_item.added") => {
                if let Some(head) = call() {
                    return Seen::CallBegins(at, head);
                }
            }
            Some("response.function_call_arguments.delta") => {
                return Seen::CallPiece(at, delta().into_owned());
            }
            Some("response.function_call_arguments.done") => {
                return Seen::CallSaid(at, string_of(event, "arguments").unwrap_or_default().into_owned());
            }
            Some("response.output_item.done") => {
                if let Some(head) = call() {
                    return Seen::CallEnds(at, Some(head));
                }
            }
            Some("response.output_text.delta") => told.text.push_str(&delta()),
            Some("response.refusal.delta") => told.refusal.push_str(&delta()),
            Some("response.reasoning_text.delta" | "response.reasoning_summary_text.delta") => {
                told.thought.push_str(&delta());
            }
            Some("response.completed" | "response.incomplete") => {
                let Some(response) = event.get("response") else { return Seen::Beside };
                told.is_over = true;
                count(response, told);
                return Seen::Ends(calls(response));
            }
            _ => {}
        }
        Seen::Beside
    }

    fn calls(&mut self, answer: Value<'_>, told: &mut Told) -> Vec<(u64, CallHead)> {
        count(answer, told);
        for item in output(answer) {
            let parts = ["summary", "content"].into_iter().filter_map(|key| item.get(key));
            for part in parts.flat_map(Value::elements) {
                let said = string_of(part, "text").unwrap_or_default();
                told.refusal.push_str(&string_of(part, "refusal").unwrap_or_default());
                match string_of(item, "type").as_deref() {
                    Some("message") => told.text.push_str(&said),
                    _ => told.thought.push_str(&said),
                }
            }
        }
        calls(answer)
    }
}

impl Wire for Responses {
    fn goes_on_with(&mut self, event: Value<'_>) {
        self.next = count_of(event, "sequence_number").unwrap_or(self.next);
    }

    fn write(
        &mut self,
        event: &Event,
        (data, root): (&str, Value<'_>),
        settled: &Settled<'_>,
        out: &mut String,
    ) {
        let at = count_of(root, "output_index").unwrap_or_default();
        let put = root.get("output_index").and_then(|_| settled.put_at(at));
        let kind = string_of(root, "type").unwrap_or_default();
        let item = root.get("item");
        let mut edits = Vec::new();
        match (&*kind, put, item) {
            ("response.output_item.added", Some(put), Some(item)) => {
                edits.push((item.span(), self::item(item, put, true)));
                if let Put::Words(_) = put {
                    self.edited(event, (data, root), edits, out);
                    return self.part("response.content_part.added", (at, &message_id(item)), "", out);
                }
            }
            ("response.function_call_arguments.delta", Some(_), _) => return,
            ("response.function_call_arguments.done", Some(Put::Words(_)), _) => return,
            ("response.function_call_arguments.done", Some(Put::Call { name, arguments, .. }), _) => {
                let id = string_of(root, "item_id").unwrap_or_default();
                self.say(at, &id, unsent(arguments, settled, at), out);
                edits.extend(root.get("name").map(|own| (own.span(), quote(name))));
                edits.extend(root.get("arguments").map(|own| (own.span(), quote(arguments))));
            }
            ("response.output_item.done", Some(put), Some(item)) => {
                match put {
                    Put::Call { arguments, .. } => {
                        let id = string_of(item, "id").unwrap_or_default();
                        self.say(at, &id, unsent(arguments, settled, at), out);
                    }
                    Put::Words(words) => self.words((at, &message_id(item)), words, out),
                }
                edits.push((item.span(), self::item(item, put, false)));
            }
            ("response.completed" | "response.incomplete", ..) => {
                edits =
                    root.get("response").map(|response| self.edits(response, settled)).unwrap_or_default();
            }
            _ => {}
        }
        if let ("response.incomplete", true, Some(kind)) = (&*kind, settled.is_mended, root.get("type")) {
            edits.push((kind.span(), quote(COMPLETED)));
            let event = Event { name: COMPLETED.into(), ..event.clone() };
            return self.edited(&event, (data, root), edits, out);
        }
        self.edited(event, (data, root), edits, out);
    }

    fn taken_over(&mut self, other: &[Event], held: &[Value<'_>], more: Usage) -> Option<String> {
        let first = held.iter().find_map(|event| count_of(*event, "output_index"))?;
        let own = held.iter().find_map(|event| event.get("response")).into_iter().flat_map(output);
        let own: Vec<&str> = own.take(usize::try_from(first).ok()?).map(Value::raw).collect();
        let settled = Settled { calls: &[], has_calls: true, is_mended: false, more };
        let begun = self.begun.clone().and_then(|begun| Document::of(begun).ok());
        self.next = held.first().and_then(|event| count_of(*event, "sequence_number")).unwrap_or(self.next);
        let (mut out, mut is_over) = (String::new(), false);
        for (event, (data, tree)) in other.iter().filter_map(|event| Some((event, read(event)?))) {
            let root = tree.root(&data);
            let mut edits = Vec::new();
            match string_of(root, "type").as_deref() {
                Some("response.created" | "response.in_progress" | "response.queued") => continue,
                Some("error" | "response.failed") => return None,
                Some("response.completed" | "response.incomplete") => {
                    let response = root.get("response")?;
                    is_over = true;
                    edits.extend(counted(response, &settled));
                    let all = own.iter().copied().chain(output(response).map(Value::raw));
                    edits.extend(response.get("output").map(|output| (output.span(), array(all))));
                    // The client knows it by what was said when it began.
                    let said = begun.as_ref().map(Document::root);
                    let said = ["id", "model", "created_at"].into_iter().filter_map(|key| {
                        Some((response.get(key)?.span(), said?.get(key)?.raw().to_owned()))
                    });
                    edits.extend(said);
                }
                _ => {}
            }
            let at = root.get("output_index").zip(count_of(root, "output_index"));
            edits.extend(at.map(|(index, at)| (index.span(), (first + at).to_string())));
            self.edited(event, (&data, root), edits, &mut out);
        }
        is_over.then_some(out)
    }

    fn fail(&mut self, failure: &Failure, out: &mut String) {
        let (code, message) = (quote(failure.response_code()), quote(&failure.message));
        let told = [("code", code.clone()), ("message", message.clone()), ("param", String::from("null"))];
        let nested = object([("type", quote(failure.response_type()))].into_iter().chain(told.clone()));
        self.event("error", told.into_iter().chain([("error", nested)]).collect(), out);
        let error = object([("code", code), ("message", message)]);
        let tree =
            self.begun.as_deref().and_then(|begun| Some((begun, callwright_json::strict(begun).ok()?)));
        let changes = [("status", Change::Set(quote("failed"))), ("error", Change::Set(error.clone()))];
        let response = match &tree {
            Some((begun, tree)) => rewritten(tree.root(begun), &changes),
            None => object([("status", quote("failed")), ("error", error)]),
        };
        self.event("response.failed", vec![("response", response)], out);
        out.push_str("data: [DONE]\n\n");
    }

    fn beat(&self) -> &'static str {
        // An event would need a number, and those that are held have the next ones.
        ": callwright\n\n"
    }

    fn edits(&self, answer: Value<'_>, settled: &Settled<'_>) -> Vec<(Span, String)> {
        let changed = output(answer).filter(|item| is_call(*item)).filter_map(|call| {
            let put = settled.put_of(&string_of(call, "call_id")?)?;
            Some((call.span(), item(call, put, false)))
        });
        changed.chain(counted(answer, settled)).chain(mended(answer, settled)).collect()
    }
}

/// Edits a response whose calls were cut: it is whole once they were made again.
fn mended(response: Value<'_>, settled: &Settled<'_>) -> Vec<(Span, String)> {
    let status = response.get("status").filter(|_| settled.is_mended);
    let Some(status) = status.filter(|status| status.as_str().is_some_and(|said| said == "incomplete"))
    else {
        return Vec::new();
    };
    let details = response.get("incomplete_details");
    let none = details.map(|details| (details.span(), String::from("null")));
    std::iter::once((status.span(), quote("completed"))).chain(none).collect()
}

impl Responses {
    /// Writes an event of ours.
    fn event(&mut self, name: &str, members: Vec<(&str, String)>, out: &mut String) {
        let numbered = [("type", quote(name)), ("sequence_number", self.next.to_string())];
        self.next += 1;
        written(name, &object(numbered.into_iter().chain(members)), out);
    }

    /// Writes an event of the upstream's, under its new number.
    fn edited(
        &mut self,
        event: &Event,
        (data, root): (&str, Value<'_>),
        mut edits: Vec<(Span, String)>,
        out: &mut String,
    ) {
        if let Some(number) = root.get("sequence_number") {
            if number.raw() != self.next.to_string() {
                edits.push((number.span(), self.next.to_string()));
            }
            self.next += 1;
        }
        edited(event, data, edits, out);
    }

    /// Writes the arguments of a call that the client lacks, once.
    fn say(&mut self, at: u64, id: &str, arguments: &str, out: &mut String) {
        if !self.said.contains(&at) {
            self.said.push(at);
            let members =
                vec![("item_id", quote(id)), ("output_index", at.to_string()), ("delta", quote(arguments))];
            self.event("response.function_call_arguments.delta", members, out);
        }
    }

    /// Writes the words of an item that has begun.
    fn words(&mut self, (at, id): (u64, &str), words: &str, out: &mut String) {
        for (name, key) in [("response.output_text.delta", "delta"), ("response.output_text.done", "text")] {
            let mut members = part_of(at, id);
            members.extend([(key, quote(words)), ("logprobs", String::from("[]"))]);
            self.event(name, members, out);
        }
        self.part("response.content_part.done", (at, id), words, out);
    }

    fn part(&mut self, name: &str, (at, id): (u64, &str), words: &str, out: &mut String) {
        let mut members = part_of(at, id);
        members.push(("part", text_part(words)));
        self.event(name, members, out);
    }
}

/// Returns the arguments of the call at this place that the client lacks.
fn unsent<'a>(arguments: &'a str, settled: &Settled<'_>, at: u64) -> &'a str {
    arguments.get(settled.sent_at(at).len()..).unwrap_or("")
}

/// Returns the place of an item's only part.
fn part_of(at: u64, id: &str) -> Vec<(&'static str, String)> {
    vec![("item_id", quote(id)), ("output_index", at.to_string()), ("content_index", String::from("0"))]
}

/// Writes a part of a message with these words.
pub(crate) fn text_part(words: &str) -> String {
    let none = String::from("[]");
    object([
        ("type", quote("output_text")),
        ("text", quote(words)),
        ("annotations", none.clone()),
        ("logprobs", none),
    ])
}

fn output(response: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    response.get("output").into_iter().flat_map(Value::elements)
}

fn calls(response: Value<'_>) -> Vec<(u64, CallHead)> {
    (0..)
        .zip(output(response))
        .filter(|(_, item)| is_call(*item))
        .map(|(at, item)| (at, head(item)))
        .collect()
}

fn is_call(item: Value<'_>) -> bool {
    string_of(item, "type").is_some_and(|kind| kind == "function_call")
}

fn head(item: Value<'_>) -> CallHead {
    let text = |key| string_of(item, key).map(|text| text.into_owned());
    CallHead {
        id: text("call_id").unwrap_or_default(),
        namespace: text("namespace"),
        name: text("name").unwrap_or_default(),
        is_misspelt: item.get("arguments").is_some_and(|own| own.as_str().is_none()),
        arguments: text("arguments")
            .or_else(|| item.get("arguments").map(|own| own.raw().to_owned()))
            .unwrap_or_default(),
    }
}

/// Returns the id of the words in the place of a call: the same in all their events.
fn message_id(item: Value<'_>) -> String {
    let id = string_of(item, "id").unwrap_or_default();
    format!("msg_{}", id.strip_prefix("fc_").unwrap_or(&id))
}

/// Writes the item in the place of a call, at its beginning or its end.
fn item(call: Value<'_>, put: &Put, begins: bool) -> String {
    match put {
        Put::Call { namespace, name, arguments } => {
            let arguments = if begins { "" } else { arguments };
            let mut changes =
                vec![("name", Change::Set(quote(name))), ("arguments", Change::Set(quote(arguments)))];
            if string_of(call, "status").is_some_and(|status| status == "incomplete") {
                changes.push(("status", Change::Set(quote("completed"))));
            }
            if string_of(call, "namespace").as_deref() != namespace.as_deref() {
                let change = namespace.as_ref().map_or(Change::Remove, |name| Change::Set(quote(name)));
                changes.push(("namespace", change));
            }
            rewritten(call, &changes)
        }
        Put::Words(words) => object([
            ("id", quote(&message_id(call))),
            ("type", quote("message")),
            ("status", quote(if begins { "in_progress" } else { "completed" })),
            ("role", quote("assistant")),
            ("content", if begins { String::from("[]") } else { array([text_part(words)]) }),
        ]),
    }
}

/// Edits the tokens to those of all answers.
fn counted(response: Value<'_>, settled: &Settled<'_>) -> Vec<(Span, String)> {
    let Some(usage) = response.get("usage").filter(|_| settled.more != Usage::default()) else {
        return Vec::new();
    };
    let all = [
        ("input_tokens", settled.more.prompt),
        ("output_tokens", settled.more.completion),
        ("total_tokens", settled.more.total),
    ];
    let more =
        |(key, more): (&str, u64)| Some((usage.get(key)?.span(), (count_of(usage, key)? + more).to_string()));
    all.into_iter().filter_map(more).collect()
}

/// Reads the end of a response.
fn count(response: Value<'_>, told: &mut Told) {
    let cut = response.get("incomplete_details").and_then(|details| string_of(details, "reason"));
    let reason = match cut.as_deref() {
        Some("content_filter") => "content_filter",
        Some(_) => "length",
        None if output(response).any(is_call) => "tool_calls",
        None => "stop",
    };
    told.reason = Some(reason.to_owned());
    let Some(usage) = response.get("usage") else { return };
    let n = |key| count_of(usage, key).unwrap_or(0);
    let within =
        |key: &str, part: &str| usage.get(key).and_then(|details| count_of(details, part)).unwrap_or(0);
    let (prompt, completion) = (n("input_tokens"), n("output_tokens"));
    told.usage = Usage {
        prompt,
        completion,
        total: prompt + completion,
        cached: within("input_tokens_details", "cached_tokens"),
        reasoning: within("output_tokens_details", "reasoning_tokens"),
    };
}
