//! Judges arguments in JSON behind a name that stands in the markup: `[TOOL_CALLS]f[ARGS]{"a": "x"}`.

use callwright_json::{Kind, Parse, Reading, Repair, RepairKind, Span, Start, Value};

use super::{Attempt, Case, Judged};
use crate::payload::{self, Payload};
use crate::shape::{self, Arguments, Shaped, keys};
use crate::tools::{Expected, Tool};
use crate::verdict::{Reason, ShapeError, Verdict};

impl Case<'_, '_> {
    /// Judges the arguments of a call whose name stands in its markup.
    pub(super) fn named(&self, at: usize) -> Judged {
        let written = self.opener.name(self.text).unwrap_or_default();
        let tool = match self.opener.server {
            Some(server) => self.names.resolve_of(server.of(self.text), written),
            None => self.names.named(written),
        };
        let Some(tool) = tool else {
            let guide = Expected::AnyCall(self.names.tools());
            let payload = payload::read(Start::Value, self.text, at, &guide, self.options(self.cut));
            let is_taken = |reading: &Reading<'_>| self.are_taken(reading.value());
            if !self.opener.is_distinct() && !payload.parse.settled().is_some_and(is_taken) {
                return Judged::Text(None);
            }
            let end = self.ends.end.unwrap_or(payload.end);
            if let Some(calls) = self.own_name(&payload, at) {
                return Judged::Calls(calls, end);
            }
            let reason = Reason::unknown_tool(written, self.names.tools());
            return self.refused(Some(written), reason, Span::new(at, end));
        };
        let is_whole_call = self.is_whole_call(at, tool);
        let guide = if is_whole_call { Expected::Call(tool) } else { Expected::Arguments(tool) };
        let Some(payload) = self.read(at, &guide) else { return Judged::Unclear };
        let end = self.ends.end.unwrap_or(payload.end).max(payload.end);
        if let Some(reading) = payload.parse.settled() {
            // `<f>{"name": "f", "arguments": {…}}</f>`
            let whole = shape::calls_in(reading.value(), self.names, shape::Told::default());
            let is_call = match whole.as_slice() {
                [
                    Shaped::Call {
                        tool: inner, arguments: Arguments::Object(..) | Arguments::Text(_), ..
                    },
                ] => inner.name() == tool.name() && !fits(tool, reading.value()),
                [Shaped::Wrong { .. }] => is_whole_call,
                _ => false,
            };
            if is_call {
                return Judged::Calls(self.shaped(reading, Span::new(at, payload.end)), end);
            }
            // `{"name": "f", "arguments":: {"a": 1}}`, `{"name": ["f"], "arguments": {"a": 1}}`
            if is_whole_call {
                return self.broken(Span::new(at, end), Some(written), &Parse::default());
            }
        }
        self.arguments(tool, written, payload, at)
    }

    /// Returns the verdicts by the name beside the arguments, in a dialect that writes the name twice. The name in the
    /// markup is unknown there: `<|message_model|>g<|content_invoke_tool_json|>{"name": "f", "args": {}}`. In any other
    /// dialect, `f` is an argument of `g`.
    fn own_name(&self, payload: &Payload<'_>, at: usize) -> Option<Vec<Verdict>> {
        let reading = payload.parse.settled().filter(|_| self.opener.record.is_named_twice())?;
        let calls = shape::calls_in(reading.value(), self.names, shape::Told::default());
        let [Shaped::Call { arguments: Arguments::Object(..), .. }] = calls.as_slice() else { return None };
        Some(self.shaped(reading, Span::new(at, payload.end))).filter(|calls| !calls.is_empty())
    }

    /// Returns whether the object at `at` begins with the name of the call, and not with an argument:
    /// `{"name": "f", "arguments": {…}}`.
    pub(super) fn is_whole_call(&self, at: usize, tool: &Tool) -> bool {
        let rest = self.text.get(at + 1..).unwrap_or("").trim_start();
        let key = rest.trim_start_matches(['"', '\'']);
        let len = key.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let key = key.get(..len).unwrap_or("");
        keys::NAME.contains(&key) && !tool.declares(key)
    }

    pub(super) fn arguments(&self, tool: &Tool, written: &str, payload: Payload<'_>, at: usize) -> Judged {
        let end = self.ends.end.unwrap_or(payload.end).max(payload.end);
        let (read, all) = (Span::new(at, payload.end), Span::new(at, end));
        let Some(reading) = payload.parse.settled() else {
            return self.broken(all, Some(written), &payload.parse);
        };
        let value = reading.value();
        if let Some(inner) = shape::object_in_text(value, tool, &reading.repairs) {
            let unwrap = Repair { kind: RepairKind::Unwrap, at: read, put: inner.clone().into() };
            // Brackets tell nothing of a string's end: those that follow may be of the next call.
            let end = if value.kind() == Kind::String { payload.end } else { end };
            return self.one(self.verdict(tool, written, &inner, vec![unwrap], read), end);
        }
        if value.kind() != Kind::Object {
            if self.opener.is_distinct() && self.attempt != Attempt::Last {
                return Judged::Unclear;
            }
            let reason = Reason::Shape(ShapeError::ArgumentsNotObject(value.kind().name()));
            return self.refused(Some(written), reason, all);
        }
        self.one(self.verdict_on(tool, written, value, reading.repairs.clone(), read), end)
    }
}

/// Returns whether `value` is right as the arguments of `tool`, and holds no others than it declares.
fn fits(tool: &Tool, value: Value<'_>) -> bool {
    shape::declares_all(tool, value) && tool.schema().check_whole(value).violations.is_empty()
}
