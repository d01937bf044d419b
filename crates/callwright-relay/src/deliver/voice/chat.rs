//! Chat completions: chunks in the form of the upstream's, and the upstream's own wherever nothing in them is changed.

use bytes::Bytes;
use callwright::Acceptance;
use callwright_json::{Kind, Value, quote};

use super::say::{COMMENT, CallHead, Voice};
use crate::calls::{foreign_delta, function, tool_call_delta};
use crate::clock::unix_seconds;
use crate::deliver::sse::{SERVER_ERROR, broken_off, error};
use crate::reply::BodySender;
use crate::sse;
use crate::surface::Failure;
use crate::tokens::Usage;
use crate::turn::Turn;
use crate::wire::{
    Change, Delta, Document, Foreign, Template, error_status, is_passing, rewritten, string_of,
};

/// Says an answer as the chunks of chat completions.
pub(in crate::deliver) struct ChatVoice {
    to: BodySender,
    /// The text that is written and has yet to go.
    out: String,
    /// The form of a chunk; none before the upstream's first.
    template: Option<Template>,
    /// The id and the model of chunks, if the upstream sends none to go by.
    own: (String, String),
    /// Calls go out as `function_call`.
    is_legacy: bool,
    /// The client asked for the number of tokens.
    wants_usage: bool,
    /// The chunks that end their choices: the choice's number, the form of the chunk, the choice as it came.
    last: Vec<(usize, Template, String)>,
    /// The chunk that counts tokens, which comes last.
    usage: Option<Bytes>,
    /// `[DONE]` is out.
    is_closed: bool,
}

impl ChatVoice {
    pub(in crate::deliver) fn new(turn: &Turn, to: BodySender) -> ChatVoice {
        let record = turn.log.record();
        ChatVoice {
            to,
            out: String::new(),
            template: None,
            own: (record.id.clone(), record.model.clone()),
            is_legacy: turn.ask.calls.is_legacy,
            wants_usage: turn.ask.answer.usage,
            last: Vec::new(),
            usage: None,
            is_closed: false,
        }
    }

    /// Notes that the upstream's own `[DONE]` has gone on.
    pub(in crate::deliver) fn has_closed(&mut self) {
        self.is_closed = true;
    }

    /// Makes a voice with nothing of a request in it, for the tests that only need some voice.
    #[cfg(test)]
    pub(in crate::deliver) fn bare(to: BodySender) -> ChatVoice {
        ChatVoice {
            to,
            out: String::new(),
            template: Some(Template::own("c1", "m", 1)),
            own: Default::default(),
            is_legacy: false,
            wants_usage: false,
            last: Vec::new(),
            usage: None,
            is_closed: false,
        }
    }

    /// Completes the upstream's chunk that counts tokens; none if it lacks nothing.
    fn completed(&self, event: &sse::Event) -> Option<Bytes> {
        let template = self.template.as_ref().filter(|template| template.is_filled)?;
        let document = Document::parse(event.data.clone()?).ok()?;
        let mut out = String::new();
        template.usage(document.root().get("usage")?.raw(), &mut out);
        Some(out.into())
    }

    /// Returns the form of a chunk, and the text to write it to.
    fn frame(&mut self) -> (&Template, &mut String) {
        let (id, model) = &self.own;
        let template = self.template.get_or_insert_with(|| Template::own(id, model, unix_seconds()));
        (template, &mut self.out)
    }

    fn delta(&mut self, choice: usize, delta: &str) {
        let (template, out) = self.frame();
        template.delta(choice, delta, out);
    }
}

impl Voice for ChatVoice {
    fn meets(&mut self, chunk: Value<'_>) -> bool {
        let (id, model) = &self.own;
        let template = || Template::filled(chunk, (id, model), unix_seconds());
        self.template.get_or_insert_with(template).is_of(chunk)
    }

    fn pass(&mut self, event: &sse::Event) {
        self.flush();
        self.to.write(&event.raw);
    }

    fn begin(&mut self, choice: usize) {
        self.delta(choice, "{\"role\":\"assistant\",\"content\":null}");
    }

    fn beside(&mut self, delta: &Delta<'_>, repeats_role: bool) {
        let mut changes = vec![("tool_calls", Change::Remove), ("function_call", Change::Remove)];
        if delta.repaired.text || delta.text.as_deref().is_some_and(|text| !text.is_empty()) {
            changes.push(("content", Change::Remove));
        }
        if let (true, Some(thought)) = (delta.repaired.thought, &delta.reasoning) {
            for key in ["reasoning_content", "reasoning"] {
                if delta.choice.get("delta").is_some_and(|own| own.get(key).is_some()) {
                    changes.push((key, Change::Set(quote(thought))));
                }
            }
        }
        if repeats_role {
            changes.push(("role", Change::Remove));
        }
        let own = delta.choice.get("delta").map_or(String::from("{}"), |own| rewritten(own, &changes));
        match delta.has_siblings_now() {
            true => {
                let choice = rewritten(delta.choice, &[("delta", Change::Set(own))]);
                let (template, out) = self.frame();
                template.event(&format!("[{choice}]"), out);
            }
            false => self.delta(delta.index, &own),
        }
    }

    fn text(&mut self, choice: usize, text: &str) {
        self.delta(choice, &format!("{{\"content\":{}}}", quote(text)));
    }

    fn thought(&mut self, choice: usize, text: &str) {
        self.delta(choice, &format!("{{\"reasoning_content\":{}}}", quote(text)));
    }

    fn call_begin(&mut self, choice: usize, head: &CallHead<'_>) {
        let CallHead { number, id, name, foreign } = head;
        let (id, name) = (quote(id), quote(name));
        let delta = format!(
            "{{\"tool_calls\":[{{\"index\":{number},\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":\"\"{}}}{}}}]}}",
            foreign.function, foreign.call
        );
        self.delta(choice, &delta);
    }

    fn call_piece(&mut self, choice: usize, number: usize, piece: &str) {
        if !piece.is_empty() {
            let piece = quote(piece);
            let delta =
                format!("{{\"tool_calls\":[{{\"index\":{number},\"function\":{{\"arguments\":{piece}}}}}]}}");
            self.delta(choice, &delta);
        }
    }

    /// Nothing on this wire says that a call is whole.
    fn call_end(&mut self, _choice: usize, _number: usize) {}

    fn call(&mut self, choice: usize, number: usize, id: &str, call: &Acceptance, foreign: &[Foreign]) {
        let none = Foreign::default();
        let (first, more) = foreign.split_first().unwrap_or((&none, &[]));
        if self.is_legacy {
            return self.delta(choice, &format!("{{\"function_call\":{}}}", function(call, first)));
        }
        self.delta(choice, &tool_call_delta(number, id, call, first));
        for more in more {
            self.delta(choice, &foreign_delta(number, more));
        }
    }

    fn foreign(&mut self, choice: usize, number: usize, foreign: &Foreign) {
        self.delta(choice, &foreign_delta(number, foreign));
    }

    fn foreign_call(&mut self, choice: usize, number: usize, piece: Value<'_>) {
        let piece = rewritten(piece, &[("index", Change::Set(number.to_string()))]);
        self.delta(choice, &format!("{{\"tool_calls\":[{piece}]}}"));
    }

    fn tool_error(&mut self, choice: usize, part: &str) {
        let (template, out) = self.frame();
        template.tool_error(&choice.to_string(), part, out);
    }

    fn stopped(&mut self, delta: &Delta<'_>, chunk: Value<'_>) {
        let (template, _) = self.frame();
        let template = if template.is_of(chunk) { Template::of(chunk) } else { template.clone() };
        self.last.retain(|(choice, ..)| *choice != delta.index);
        self.last.push((delta.index, template, delta.choice.raw().to_owned()));
    }

    fn finish(&mut self, choice: usize, reason: Option<&str>, report: Option<&str>) {
        let at = self.last.iter().position(|(of, ..)| *of == choice);
        let (template, came) = match at.map(|at| self.last.swap_remove(at)) {
            Some((_, template, came)) => (template, came),
            // The upstream broke off before it said so.
            None => (
                self.frame().0.clone(),
                format!("{{\"index\":{choice},\"delta\":{{}},\"finish_reason\":null}}"),
            ),
        };
        let Ok(tree) = callwright_json::strict(&came) else { return };
        let reason = reason.map_or(String::from("null"), quote);
        // All that was said in this chunk is out already.
        let changes = [("delta", Change::Set(String::from("{}"))), ("finish_reason", Change::Set(reason))];
        let choice = rewritten(tree.root(&came), &changes);
        template.last(&format!("[{choice}]"), report, &mut self.out);
    }

    fn counted(&mut self, event: &sse::Event) {
        // Strict clients look for a choice in each chunk that they did not ask for.
        if self.wants_usage {
            self.usage = Some(self.completed(event).unwrap_or_else(|| event.raw.clone()));
        }
    }

    fn usage(&mut self, spent: Usage, attempts: usize) {
        let Some(came) = self.usage.take() else { return };
        if attempts <= 1 {
            self.flush();
            return self.to.write(&came);
        }
        let counts = format!(
            "{{\"prompt_tokens\":{},\"completion_tokens\":{},\"total_tokens\":{}}}",
            spent.prompt, spent.completion, spent.total
        );
        let (template, out) = self.frame();
        template.usage(&counts, out);
    }

    fn upstream_error(&mut self, event: &sse::Event, chunk: Value<'_>) {
        let status = error_status(chunk);
        let Some(error) = chunk.get("error").filter(|_| is_passing(status)) else { return self.pass(event) };
        let is_known = string_of(error, "type").is_some_and(|kind| kind == SERVER_ERROR)
            && error.get("code").is_some_and(|code| code.raw() == status.as_str());
        if is_known {
            return self.pass(event);
        }
        let Failure { message, .. } = Failure::of_value(status, chunk);
        let own = [
            ("message", Change::Set(quote(&broken_off(&message)))),
            ("type", Change::Set(quote(SERVER_ERROR))),
            ("code", Change::Set(status.as_str().to_owned())),
        ];
        let error = match error.kind() {
            Kind::Object => rewritten(error, &own),
            _ => crate::wire::object(own.into_iter().filter_map(|(key, change)| match change {
                Change::Set(text) => Some((key, text)),
                Change::Remove => None,
            })),
        };
        self.pass(&event.with_data(&rewritten(chunk, &[("error", Change::Set(error))])));
    }

    fn fail(&mut self, code: &str, message: &str) {
        self.out.push_str(&error(code, message));
    }

    fn close(&mut self) {
        if !std::mem::replace(&mut self.is_closed, true) {
            self.out.push_str("data: [DONE]\n\n");
        }
    }

    fn comment(&mut self) {
        self.out.push_str(COMMENT);
    }

    fn beat(&mut self, choice: usize) {
        self.delta(choice, "{}");
    }

    fn flush(&mut self) {
        if !self.out.is_empty() {
            self.to.write(self.out.as_bytes());
            self.out.clear();
        }
    }
}
