//! Answers of other APIs as those of a chat server.
//!
//! A reader, which lanes have as well, tells the meaning of an event; here that is said again in chunks.

use bytes::{Bytes, BytesMut};
use callwright_json::{Value, quote, strict};
use http::StatusCode;

use super::lines::Lines;
use crate::calls::new_id;
use crate::clock::unix_seconds;
use crate::config::Limits;
use crate::lane::call::CallHead;
use crate::lane::wire;
use crate::lane::wire::told::{Reader, Seen, Told};
use crate::sse::{Decoder, EventTooLong};
use crate::surface::{CONTEXT, Failure};
use crate::tokens::Usage;
use crate::upstream::Rewriter;
use crate::wire::{array, object, string_of};

/// An answer, as far as it has come.
pub(super) struct Answer {
    reader: Box<dyn Reader>,
    told: Told,
    calls: Vec<Call>,
    head: Option<Head>,
    form: Form,
    /// Nothing more of the answer is read.
    is_over: bool,
}

/// The framing of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// As server-sent events.
    Events,
    /// As lines, a JSON value each.
    Lines,
    /// In one piece.
    Whole,
}

impl Framing {
    /// Returns the framing of a body of this type.
    pub(super) fn of(content_type: &str) -> Framing {
        let is = |kind: &str| content_type.trim_start().starts_with(kind);
        match () {
            () if is("text/event-stream") => Framing::Events,
            () if is("application/x-ndjson") => Framing::Lines,
            () => Framing::Whole,
        }
    }
}

enum Form {
    Events(Decoder),
    Lines(Lines),
    Whole { body: BytesMut, limit: usize },
}

/// The members that all chunks of an answer repeat.
struct Head {
    id: String,
    model: String,
    created: u64,
}

/// A call that has begun.
struct Call {
    /// The call's place in the upstream's answer.
    at: u64,
    head: CallHead,
    /// The arguments that have gone out.
    said: String,
    is_whole: bool,
}

impl Answer {
    /// Reads an answer in the API of `reader`.
    pub(super) fn of(reader: Box<dyn Reader>, framing: Framing, limits: &Limits) -> Answer {
        let form = match framing {
            Framing::Events => Form::Events(Decoder::new(limits.event)),
            Framing::Lines => Form::Lines(Lines::new(limits.event)),
            Framing::Whole => Form::Whole { body: BytesMut::new(), limit: limits.answer },
        };
        Answer { reader, told: Told::default(), calls: Vec::new(), head: None, form, is_over: false }
    }

    /// Turns an event with these data into chunks. An event without data is a comment.
    fn event(&mut self, data: Option<&Bytes>, out: &mut String) {
        let Some(data) = data else { return out.push_str(": callwright\n\n") };
        if data.as_ref() == b"[DONE]" {
            return;
        }
        let text = std::str::from_utf8(data).ok();
        let Some((json, tree)) = text.and_then(|json| Some((json, strict(json).ok()?))) else {
            return self.fail("the upstream's stream holds an event that is not JSON", "bad_answer", out);
        };
        let root = tree.root(json);
        if self.head.is_none() {
            self.head = Some(Head::of(root));
            let begun = [("role", quote("assistant")), ("content", quote(""))];
            self.chunk(Some(object(begun)), None, out);
        }
        let seen = self.reader.see(root, &mut self.told);
        self.said(out);
        match seen {
            // So that whoever waits hears of it.
            Seen::Beat => out.push_str(": callwright\n\n"),
            Seen::Beside | Seen::Starts | Seen::CallSaid(..) => {}
            Seen::CallBegins(at, head) => self.begin(at, head, out),
            Seen::CallPiece(at, piece) => {
                if let Some(n) = self.open_call(at) {
                    self.more(n, &piece, out);
                }
            }
            Seen::CallEnds(at, head) => match (self.open_call(at), head) {
                (Some(n), head) => self.end(n, head, out),
                (None, Some(head)) => self.at_once(at, head, out),
                (None, None) => {}
            },
            Seen::Calls(all) => {
                for (at, head) in all {
                    self.at_once(at, head, out);
                }
            }
            Seen::Ends(all) => {
                for (at, head) in all {
                    match self.open_call(at) {
                        Some(n) => self.end(n, Some(head), out),
                        None => self.at_once(at, head, out),
                    }
                }
                self.finish(out);
            }
            Seen::Fails => self.fails(root, out),
        }
    }

    /// Writes the words and thoughts that came since the last call of this function.
    fn said(&mut self, out: &mut String) {
        let Told { text, thought, refusal, .. } = &mut self.told;
        let said = [("reasoning_content", thought), ("content", text), ("refusal", refusal)];
        let said = said.map(|(key, text)| (key, std::mem::take(text)));
        for (key, text) in said.into_iter().filter(|(_, text)| !text.is_empty()) {
            self.chunk(Some(object([(key, quote(&text))])), None, out);
        }
    }

    fn begin(&mut self, at: u64, head: CallHead, out: &mut String) {
        let index = self.calls.len();
        let call = call_of(&head, "", Some(index));
        self.chunk(Some(object([("tool_calls", array([call]))])), None, out);
        self.calls.push(Call { at, head, said: String::new(), is_whole: false });
    }

    /// Writes a call that no event has announced.
    fn at_once(&mut self, at: u64, head: CallHead, out: &mut String) {
        if self.calls.iter().any(|call| call.head.id == head.id) {
            return;
        }
        self.begin(at, head, out);
        self.end(self.calls.len() - 1, None, out);
    }

    fn open_call(&self, at: u64) -> Option<usize> {
        self.calls.iter().position(|call| call.at == at && !call.is_whole)
    }

    fn more(&mut self, n: usize, piece: &str, out: &mut String) {
        let Some(call) = self.calls.get_mut(n).filter(|_| !piece.is_empty()) else { return };
        call.said.push_str(piece);
        let function = object([("arguments", quote(piece))]);
        let call = object([("index", n.to_string()), ("function", function)]);
        self.chunk(Some(object([("tool_calls", array([call]))])), None, out);
    }

    /// Ends a call that is whole. Arguments that its end says count; they cannot contradict those that went out.
    fn end(&mut self, n: usize, head: Option<CallHead>, out: &mut String) {
        let Some(call) = self.calls.get_mut(n) else { return };
        call.is_whole = true;
        let all = match head {
            Some(head) => head.arguments,
            None if call.said.is_empty() => call.head.arguments.clone(),
            None => return,
        };
        match all.strip_prefix(&call.said).map(str::to_owned) {
            Some(rest) => self.more(n, &rest, out),
            None => self.fail("the upstream gives two texts of the arguments of one call", "bad_answer", out),
        }
    }

    fn finish(&mut self, out: &mut String) {
        if self.is_over {
            return;
        }
        let reason = self.told.reason.clone().unwrap_or_else(|| String::from("stop"));
        self.chunk(Some(String::from("{}")), Some(&reason), out);
        self.chunk(None, None, out);
        out.push_str("data: [DONE]\n\n");
        self.is_over = true;
    }

    /// Writes a chunk with this delta, or without one the chunk that counts the tokens.
    fn chunk(&self, delta: Option<String>, reason: Option<&str>, out: &mut String) {
        let reason = reason.map_or_else(|| String::from("null"), quote);
        let is_last = delta.is_none();
        let choice = delta
            .map(|delta| object([("index", String::from("0")), ("delta", delta), ("finish_reason", reason)]));
        let usage = counted(self.told.usage).filter(|_| is_last);
        if is_last && usage.is_none() {
            return;
        }
        let choices = ("choices", array(choice));
        let members = self.members("chat.completion.chunk").into_iter().chain([choices]);
        out.push_str("data: ");
        out.push_str(&object(members.chain(usage.map(|usage| ("usage", usage)))));
        out.push_str("\n\n");
    }

    fn members(&self, kind: &str) -> Vec<(&'static str, String)> {
        let Some(Head { id, model, created }) = &self.head else { return Vec::new() };
        vec![
            ("id", quote(id)),
            ("object", quote(kind)),
            ("created", created.to_string()),
            ("model", quote(model)),
        ]
    }

    /// Passes the upstream's error on, once.
    fn fails(&mut self, event: Value<'_>, out: &mut String) {
        if !std::mem::replace(&mut self.is_over, true) {
            out.push_str("data: ");
            out.push_str(&error_of(event.get("response").unwrap_or(event)));
            out.push_str("\n\n");
        }
    }

    fn fail(&mut self, why: &str, code: &str, out: &mut String) {
        if !std::mem::replace(&mut self.is_over, true) {
            let error = [("message", quote(why)), ("type", quote("upstream_error")), ("code", quote(code))];
            out.push_str("data: ");
            out.push_str(&object([("error", object(error))]));
            out.push_str("\n\n");
        }
    }

    /// Reads an answer in one piece; none if it cannot be read.
    fn whole(&mut self, body: &str) -> Option<String> {
        let tree = strict(body).ok()?;
        let root = tree.root(body);
        if wire::is_failed(root) {
            return Some(error_of(root));
        }
        self.head = Some(Head::of(root));
        let heads = self.reader.calls(root, &mut self.told);
        let Told { text, thought, refusal, reason, usage, .. } = &self.told;
        let content = if text.is_empty() { String::from("null") } else { quote(text) };
        let mut message = vec![("role", quote("assistant")), ("content", content)];
        for (key, text) in [("reasoning_content", thought), ("refusal", refusal)] {
            message.extend((!text.is_empty()).then(|| (key, quote(text))));
        }
        let calls: Vec<String> = heads.iter().map(|(_, head)| call_of(head, &head.arguments, None)).collect();
        message.extend((!calls.is_empty()).then(|| ("tool_calls", array(calls))));
        let reason = reason.as_deref().map_or_else(|| quote("stop"), quote);
        let choice = [("index", String::from("0")), ("message", object(message)), ("finish_reason", reason)];
        let members = self.members("chat.completion").into_iter();
        let members = members.chain([("choices", array([object(choice)]))]);
        Some(object(members.chain(counted(*usage).map(|usage| ("usage", usage)))))
    }
}

impl Rewriter for Answer {
    fn push(&mut self, piece: Bytes) -> Bytes {
        if self.is_over {
            return Bytes::new();
        }
        match &mut self.form {
            // One that is too long is for the reader to refuse.
            Form::Whole { body, limit } if *limit < body.len() + piece.len() => {
                self.is_over = true;
                let mut all = std::mem::take(body);
                all.extend_from_slice(&piece);
                return all.freeze();
            }
            Form::Whole { body, .. } => {
                body.extend_from_slice(&piece);
                return Bytes::new();
            }
            Form::Events(decoder) => decoder.push(piece),
            Form::Lines(lines) => lines.push(piece),
        }
        let mut out = String::new();
        while !self.is_over {
            match self.form.next() {
                Ok(Some(data)) => self.event(data.as_ref(), &mut out),
                Ok(None) => break,
                Err(error) => self.fail(&error.to_string(), "bad_answer", &mut out),
            }
        }
        Bytes::from(out)
    }

    fn finish(mut self: Box<Self>) -> Bytes {
        let form = std::mem::replace(&mut self.form, Form::Whole { body: BytesMut::new(), limit: 0 });
        if self.is_over {
            return Bytes::new();
        }
        let last = match form {
            Form::Whole { body, .. } => {
                let read = std::str::from_utf8(&body).ok().and_then(|text| self.whole(text));
                return read.map_or_else(|| body.freeze(), Bytes::from);
            }
            Form::Events(decoder) => decoder.finish().and_then(|event| event.data),
            Form::Lines(lines) => lines.finish(),
        };
        let mut out = String::new();
        // One that was cut is no event.
        let is_json = |data: &Bytes| std::str::from_utf8(data).is_ok_and(|json| strict(json).is_ok());
        if let Some(data) = last.filter(is_json) {
            self.event(Some(&data), &mut out);
        }
        Bytes::from(out)
    }
}

impl Form {
    /// Returns the data of the next event of a stream; a comment has none.
    fn next(&mut self) -> Result<Option<Option<Bytes>>, EventTooLong> {
        match self {
            Form::Events(decoder) => Ok(decoder.next()?.map(|event| event.data)),
            Form::Lines(lines) => Ok(lines.next()?.map(Some)),
            Form::Whole { .. } => Ok(None),
        }
    }
}

/// A refusal of the upstream, as far as it has come.
pub(super) struct ErrorAnswer {
    status: StatusCode,
    body: BytesMut,
    limit: usize,
}

impl ErrorAnswer {
    /// Reads a refusal with this status.
    pub(super) fn of(status: StatusCode, limits: &Limits) -> ErrorAnswer {
        ErrorAnswer { status, body: BytesMut::new(), limit: limits.answer }
    }
}

impl Rewriter for ErrorAnswer {
    fn push(&mut self, piece: Bytes) -> Bytes {
        if self.limit < self.body.len() + piece.len() {
            return piece;
        }
        self.body.extend_from_slice(&piece);
        Bytes::new()
    }

    fn finish(self: Box<Self>) -> Bytes {
        let ErrorAnswer { status, body, .. } = *self;
        let text = std::str::from_utf8(&body).ok();
        let read = text.and_then(|json| Some((json, strict(json).ok()?)));
        match read.filter(|(json, tree)| tree.root(json).get("error").is_some()) {
            Some((json, tree)) => Bytes::from(error_with(tree.root(json), status)),
            None => body.freeze(),
        }
    }
}

impl Head {
    /// Reads the head of an event or of a whole answer.
    fn of(root: Value<'_>) -> Head {
        let within = root.get("message").or_else(|| root.get("response"));
        let text = |key| {
            let text = within.and_then(|answer| string_of(answer, key)).or_else(|| string_of(root, key));
            text.unwrap_or_default().into_owned()
        };
        let id = Some(text("id")).filter(|id| !id.is_empty()).unwrap_or_else(|| new_id("chatcmpl-"));
        Head { id, model: text("model"), created: unix_seconds() }
    }
}

/// Writes the error of an event, or of a whole answer, as a chat server does.
fn error_of(value: Value<'_>) -> String {
    error_with(value, StatusCode::BAD_GATEWAY)
}

fn error_with(value: Value<'_>, status: StatusCode) -> String {
    let failure = Failure::of_value(status, value);
    let error = value.get("error").unwrap_or(value);
    let kind = string_of(error, "type").filter(|kind| *kind != "error");
    let code = match failure.overflow {
        Some(_) => CONTEXT,
        None => &failure.code,
    };
    let code = if code.is_empty() { String::from("null") } else { quote(code) };
    let param = error.get("param").map_or_else(|| String::from("null"), |param| param.raw().to_owned());
    let error = object([
        ("message", quote(&failure.message)),
        ("type", quote(kind.as_deref().unwrap_or("upstream_error"))),
        ("param", param),
        ("code", code),
    ]);
    object([("error", error)])
}

/// Writes a call of a chat, with its index in a stream.
fn call_of(head: &CallHead, arguments: &str, index: Option<usize>) -> String {
    let function = object([("name", quote(&head.name)), ("arguments", quote(arguments))]);
    let index = index.map(|index| ("index", index.to_string()));
    let call = [("id", quote(&head.id)), ("type", quote("function")), ("function", function)];
    object(index.into_iter().chain(call))
}

/// Writes the tokens as a chat counts them; none if nobody has counted.
fn counted(usage: Usage) -> Option<String> {
    if usage == Usage::default() {
        return None;
    }
    let mut members = vec![
        ("prompt_tokens", usage.prompt.to_string()),
        ("completion_tokens", usage.completion.to_string()),
        ("total_tokens", usage.total.to_string()),
    ];
    let details = [
        ("prompt_tokens_details", "cached_tokens", usage.cached),
        ("completion_tokens_details", "reasoning_tokens", usage.reasoning),
    ];
    for (key, part, n) in details.into_iter().filter(|(.., n)| 0 < *n) {
        members.push((key, object([(part, n.to_string())])));
    }
    Some(object(members))
}
