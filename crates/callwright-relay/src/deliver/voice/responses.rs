//! OpenAI's responses: items of text, thought and calls, streamed or whole. The response at the end says all of them again.

use callwright_json::{quote, strict};

use super::serial::{Blocks, End, Kind};
use crate::clock::unix_seconds;
use crate::surface::Failure;
use crate::surface::responses::{Form, Wanted, coded_thought, new_id};
use crate::tokens::Usage;
use crate::wire::{array, object, string_of};

/// Writes a response.
pub(in crate::deliver) struct ResponseItems {
    id: String,
    created: u64,
    wanted: Wanted,
    /// The response goes out as events; else whole.
    is_stream: bool,
    sequence: u64,
    /// The finished items.
    output: Vec<String>,
    open: Option<Item>,
    body: String,
}

/// The open item.
struct Item {
    id: String,
    kind: ItemKind,
    /// All of its text or arguments that has come.
    text: String,
}

enum ItemKind {
    Text,
    Refusal,
    Thought,
    Call { call_id: String, namespace: Option<String>, name: String, form: Form },
}

/// The names of the events of an item's text.
struct TextEvents {
    delta: &'static str,
    done: &'static str,
    /// The member of `done` that holds the text.
    member: &'static str,
    /// The item's member that counts its parts.
    index: &'static str,
}

impl ResponseItems {
    pub(in crate::deliver) fn new(wanted: Wanted, is_stream: bool) -> ResponseItems {
        ResponseItems {
            id: new_id("resp_"),
            created: unix_seconds(),
            wanted,
            is_stream,
            sequence: 0,
            output: Vec::new(),
            open: None,
            body: String::new(),
        }
    }

    /// Returns the whole response, once it has ended.
    pub(in crate::deliver) fn into_response(self) -> String {
        self.body
    }

    fn event(&mut self, name: &str, members: &[(&str, String)], out: &mut String) {
        if !self.is_stream {
            return;
        }
        let numbered = [("type", quote(name)), ("sequence_number", self.sequence.to_string())];
        self.sequence += 1;
        let data = object(numbered.into_iter().chain(members.iter().cloned()));
        out.push_str("event: ");
        out.push_str(name);
        out.push_str("\ndata: ");
        out.push_str(&data);
        out.push_str("\n\n");
    }

    /// Writes an event of the open item.
    fn item_event(&mut self, name: &str, id: &str, members: &[(&str, String)], out: &mut String) {
        let of = [("item_id", quote(id)), ("output_index", self.output.len().to_string())];
        let members: Vec<(&str, String)> = of.into_iter().chain(members.iter().cloned()).collect();
        self.event(name, &members, out);
    }

    fn text_events(&self, kind: &ItemKind) -> Option<TextEvents> {
        Some(match kind {
            ItemKind::Text => TextEvents {
                delta: "response.output_text.delta",
                done: "response.output_text.done",
                member: "text",
                index: "content_index",
            },
            ItemKind::Refusal => TextEvents {
                delta: "response.refusal.delta",
                done: "response.refusal.done",
                member: "refusal",
                index: "content_index",
            },
            ItemKind::Thought if self.wanted.summarises => TextEvents {
                delta: "response.reasoning_summary_text.delta",
                done: "response.reasoning_summary_text.done",
                member: "text",
                index: "summary_index",
            },
            ItemKind::Thought => TextEvents {
                delta: "response.reasoning_text.delta",
                done: "response.reasoning_text.done",
                member: "text",
                index: "content_index",
            },
            ItemKind::Call { form: Form::Function, .. } => TextEvents {
                delta: "response.function_call_arguments.delta",
                done: "response.function_call_arguments.done",
                member: "arguments",
                index: "",
            },
            // Its text is known when all of the call is.
            ItemKind::Call { .. } => return None,
        })
    }

    /// Returns the part that holds this text.
    fn part(&self, kind: &ItemKind, text: &str) -> Option<String> {
        let text = quote(text);
        Some(match kind {
            ItemKind::Text => object([
                ("type", quote("output_text")),
                ("text", text),
                ("annotations", String::from("[]")),
                ("logprobs", String::from("[]")),
            ]),
            ItemKind::Refusal => object([("type", quote("refusal")), ("refusal", text)]),
            ItemKind::Thought if self.wanted.summarises => {
                object([("type", quote("summary_text")), ("text", text)])
            }
            ItemKind::Thought => object([("type", quote("reasoning_text")), ("text", text)]),
            ItemKind::Call { .. } => return None,
        })
    }

    /// Returns an item with this content, in this state.
    fn item(&self, item: &Item, parts: &str, text: &str, status: &str) -> String {
        let mut members = vec![("id", quote(&item.id))];
        match &item.kind {
            ItemKind::Text | ItemKind::Refusal => members.extend([
                ("type", quote("message")),
                ("role", quote("assistant")),
                ("content", format!("[{parts}]")),
            ]),
            ItemKind::Thought => {
                let (summary, content) = match self.wanted.summarises {
                    true => (format!("[{parts}]"), None),
                    false => (String::from("[]"), Some(format!("[{parts}]"))),
                };
                members.extend([("type", quote("reasoning")), ("summary", summary)]);
                members.extend(content.map(|content| ("content", content)));
                if self.wanted.codes_thoughts {
                    let coded = coded_thought(text).map_or(String::from("null"), |coded| quote(&coded));
                    members.push(("encrypted_content", coded));
                }
            }
            ItemKind::Call { call_id, namespace, name, form } => {
                let call_id = ("call_id", quote(call_id));
                let name = ("name", quote(name));
                match form {
                    Form::Function => members.extend([
                        ("type", quote("function_call")),
                        call_id,
                        name,
                        ("arguments", quote(text)),
                    ]),
                    Form::Custom => members.extend([
                        ("type", quote("custom_tool_call")),
                        call_id,
                        name,
                        ("input", quote(text)),
                    ]),
                    Form::Search => {
                        let arguments = if text.is_empty() { "{}" } else { text };
                        members.extend([
                            ("type", quote("tool_search_call")),
                            call_id,
                            ("execution", quote("client")),
                            ("arguments", arguments.to_owned()),
                        ]);
                    }
                }
                members.extend(namespace.as_ref().map(|namespace| ("namespace", quote(namespace))));
            }
        }
        members.push(("status", quote(status)));
        object(members)
    }

    fn response(&self, status: &str, more: Vec<(&str, String)>) -> String {
        let null = || String::from("null");
        let is_done = status == "completed";
        let mut members = vec![
            ("id", quote(&self.id)),
            ("object", quote("response")),
            ("created_at", self.created.to_string()),
            ("completed_at", if is_done { unix_seconds().to_string() } else { null() }),
            ("status", quote(status)),
            ("background", String::from("false")),
            ("truncation", quote("disabled")),
            ("service_tier", quote("default")),
            ("store", self.wanted.keeper.is_some().to_string()),
        ];
        members.extend(self.wanted.echo.iter().cloned());
        for (key, otherwise) in [("error", null()), ("incomplete_details", null()), ("usage", null())] {
            if !more.iter().any(|(own, _)| *own == key) {
                members.push((key, otherwise));
            }
        }
        members.push(("output", array(&self.output)));
        members.extend(more);
        object(members)
    }

    /// Opens the part of the open item, if it has one.
    fn open_part(&mut self, item: &Item, out: &mut String) {
        let Some(part) = self.part(&item.kind, "") else { return };
        let (name, index) = match item.kind {
            ItemKind::Thought if self.wanted.summarises => {
                ("response.reasoning_summary_part.added", "summary_index")
            }
            _ => ("response.content_part.added", "content_index"),
        };
        self.item_event(name, &item.id, &[(index, String::from("0")), ("part", part)], out);
    }

    fn added(&mut self, item: &Item, out: &mut String) {
        let begun = self.item(item, "", "", "in_progress");
        let members = [("output_index", self.output.len().to_string()), ("item", begun)];
        self.event("response.output_item.added", &members, out);
    }

    /// Says the whole text of an item once more, and closes its part.
    fn done(&mut self, item: &Item, events: &TextEvents, out: &mut String) {
        let index = Some((events.index, String::from("0"))).filter(|(index, _)| !index.is_empty());
        let mut members: Vec<(&str, String)> = index.clone().into_iter().collect();
        members.push((events.member, quote(&item.text)));
        if matches!(item.kind, ItemKind::Text) {
            members.push(("logprobs", String::from("[]")));
        }
        self.item_event(events.done, &item.id, &members, out);
        let Some(part) = self.part(&item.kind, &item.text) else { return };
        let name = match events.index {
            "summary_index" => "response.reasoning_summary_part.done",
            _ => "response.content_part.done",
        };
        let members: Vec<(&str, String)> = index.into_iter().chain([("part", part)]).collect();
        self.item_event(name, &item.id, &members, out);
    }

    /// Returns an item's text for the client.
    fn text_of(&self, item: &Item) -> String {
        match item.kind {
            ItemKind::Call { form: Form::Custom, .. } => input_of(&item.text),
            _ => item.text.clone(),
        }
    }

    /// Ends the open item in this state. The item of an unfinished call gets no `done`.
    fn settle(&mut self, status: &str, out: &mut String) {
        let Some(item) = self.open.take() else { return };
        let text = self.text_of(&item);
        let is_whole = status == "completed";
        let is_call = matches!(item.kind, ItemKind::Call { .. });
        if is_call && !is_whole {
            return self.output.push(self.item(&item, "", &text, status));
        }
        match self.text_events(&item.kind) {
            Some(events) => self.done(&item, &events, out),
            None => {
                self.added(&item, out);
                if matches!(item.kind, ItemKind::Call { form: Form::Custom, .. }) {
                    let name = "response.custom_tool_call_input";
                    self.item_event(&format!("{name}.delta"), &item.id, &[("delta", quote(&text))], out);
                    self.item_event(&format!("{name}.done"), &item.id, &[("input", quote(&text))], out);
                }
            }
        }
        let parts = self.part(&item.kind, &item.text).unwrap_or_default();
        let whole = self.item(&item, &parts, &text, status);
        let members = [("output_index", self.output.len().to_string()), ("item", whole.clone())];
        self.event("response.output_item.done", &members, out);
        self.output.push(whole);
    }
}

/// Returns the bare text in the arguments of a custom tool.
fn input_of(arguments: &str) -> String {
    let tree = strict(arguments).ok();
    let input = tree.as_ref().and_then(|tree| string_of(tree.root(arguments), "input"));
    input.unwrap_or_default().into_owned()
}

/// Returns whether a call may go out under this id. Clients take 64 visible letters.
fn fits(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}

fn counts(usage: Usage) -> String {
    if usage.total == 0 {
        return String::from("null");
    }
    object([
        ("input_tokens", usage.prompt.to_string()),
        (
            "input_tokens_details",
            object([("cached_tokens", usage.cached.to_string()), ("cache_write_tokens", String::from("0"))]),
        ),
        ("output_tokens", usage.completion.to_string()),
        ("output_tokens_details", object([("reasoning_tokens", usage.reasoning.to_string())])),
        ("total_tokens", usage.total.to_string()),
    ])
}

impl Blocks for ResponseItems {
    fn start(&mut self, out: &mut String) {
        let response = self.response("in_progress", Vec::new());
        self.event("response.created", &[("response", response.clone())], out);
        self.event("response.in_progress", &[("response", response)], out);
    }

    fn open(&mut self, kind: Kind<'_>, out: &mut String) {
        let (id, kind) = match kind {
            Kind::Text => ("msg_", ItemKind::Text),
            Kind::Refusal => ("msg_", ItemKind::Refusal),
            Kind::Thought => ("rs_", ItemKind::Thought),
            Kind::Call { id, name, foreign: _ } => {
                let entry = self.wanted.table.get(name);
                let form = entry.map_or(Form::Function, |entry| entry.form);
                let call_id = if fits(id) { id.to_owned() } else { crate::calls::new_id("call_") };
                let namespace = entry.and_then(|entry| entry.namespace.clone());
                let name = entry.map_or(name, |entry| &entry.name).to_owned();
                let begin = match form {
                    Form::Function => "fc_",
                    Form::Custom => "ctc_",
                    Form::Search => "tsc_",
                };
                (begin, ItemKind::Call { call_id, namespace, name, form })
            }
        };
        let item = Item { id: new_id(id), kind, text: String::new() };
        if self.text_events(&item.kind).is_some() {
            self.added(&item, out);
            self.open_part(&item, out);
        }
        self.open = Some(item);
    }

    fn add(&mut self, piece: &str, out: &mut String) {
        let Some(mut item) = self.open.take() else { return };
        item.text.push_str(piece);
        if let Some(events) = self.text_events(&item.kind) {
            let index = Some((events.index, String::from("0"))).filter(|(index, _)| !index.is_empty());
            let mut members: Vec<(&str, String)> = index.into_iter().collect();
            members.push(("delta", quote(piece)));
            if matches!(item.kind, ItemKind::Text) {
                members.push(("logprobs", String::from("[]")));
            }
            self.item_event(events.delta, &item.id, &members, out);
        }
        self.open = Some(item);
    }

    fn close(&mut self, out: &mut String) {
        self.settle("completed", out);
    }

    fn cut(&mut self, out: &mut String) -> bool {
        self.settle("incomplete", out);
        true
    }

    fn end(&mut self, end: End<'_>, out: &mut String) {
        let reason = match end.reason {
            Some("length") => Some("max_output_tokens"),
            Some("content_filter") => Some("content_filter"),
            _ => None,
        };
        let (status, name) = match reason {
            Some(_) => ("incomplete", "response.incomplete"),
            None => ("completed", "response.completed"),
        };
        let mut more = vec![("usage", counts(end.usage))];
        more.extend(reason.map(|reason| ("incomplete_details", object([("reason", quote(reason))]))));
        more.extend(end.report.map(|report| ("callwright", report.to_owned())));
        let mut response = self.response(status, more.clone());
        // What the response says of itself is what came of it: a client must not go on from what is not there.
        if let Some(keeper) = self.wanted.keeper.clone()
            && !keeper.keep(&self.id, response.clone(), self.output.clone())
        {
            self.wanted.keeper = None;
            response = self.response(status, more);
        }
        self.event(name, &[("response", response.clone())], out);
        if self.is_stream {
            out.push_str("data: [DONE]\n\n");
        }
        self.body = response;
    }

    /// Half of the clients read `error`, the others the response that has failed.
    fn fail(&mut self, failure: &Failure, out: &mut String) {
        if let Some(item) = self.open.take() {
            // What is not whole is told of here alone: a client runs what is done.
            let parts = self.part(&item.kind, &item.text).unwrap_or_default();
            let text = self.text_of(&item);
            let begun = self.item(&item, &parts, &text, "incomplete");
            self.output.push(begun);
        }
        let (code, message) = (failure.response_code(), quote(&failure.message));
        let error = [("code", quote(code)), ("message", message.clone()), ("param", String::from("null"))];
        let nested = object([("type", quote(failure.response_type()))].into_iter().chain(error.clone()));
        let members: Vec<(&str, String)> = error.into_iter().chain([("error", nested)]).collect();
        self.event("error", &members, out);
        self.wanted.keeper = None;
        let error = object([("code", quote(code)), ("message", message)]);
        let response = self.response("failed", vec![("error", error)]);
        self.event("response.failed", &[("response", response)], out);
        if self.is_stream {
            out.push_str("data: [DONE]\n\n");
        }
    }

    fn beat(&mut self, out: &mut String) {
        self.event("keepalive", &[], out);
    }
}
