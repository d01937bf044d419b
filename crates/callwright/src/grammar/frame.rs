//! What a dialect writes around a payload of JSON, of a call expression or of a relaxed object.

use super::form::{NAME, folded, marks};
use super::template::pieces;
use super::{Arguments, Calls};

/// What stands in front of a payload and behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// What stands before the name of the tool, or before the payload where that holds the name.
    pub(crate) before: String,
    /// What stands between the name and the payload; `None` where the payload holds the name.
    pub(crate) between: Option<String>,
    /// What closes the call, the name of its tool left out.
    close: Vec<String>,
    pub(crate) payload: Payload,
}

/// What begins a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// A bracket.
    Value,
    /// The name of a tool, or a bracket.
    Call,
}

/// So many blanks may stand between the marks.
const ROOM: usize = 16;

impl Frame {
    /// The frame of `calls`; `None` where the payload has no marks in front of it, or a slot may hold anything.
    pub(crate) fn of(calls: &Calls) -> Option<Frame> {
        let payload = match &calls.arguments {
            Arguments::Python(_) => Payload::Call,
            Arguments::Tags(_) => return None,
            Arguments::Json | Arguments::Elements(_) | Arguments::Relaxed(_) => Payload::Value,
        };
        let (mut before, mut between, mut behind) = (String::new(), None, String::new());
        let (mut is_begun, mut is_over) = (false, false);
        for (text, slot) in [&calls.open, &calls.call, &calls.close].into_iter().flat_map(|text| pieces(text))
        {
            let front = between.as_mut().unwrap_or(&mut before);
            match is_over {
                true => behind.push_str(text),
                false if is_begun => {}
                // The payload begins in the template, `{"name": …`, or with the arguments.
                false => {
                    let brace = text.find('{').filter(|_| payload == Payload::Value);
                    is_begun = brace.is_some();
                    front.push_str(&text[..brace.unwrap_or(text.len())]);
                }
            }
            match slot {
                "name" | "json_name" if is_over => behind.push_str(NAME),
                "name" | "json_name" if is_begun => {}
                "name" if payload == Payload::Call => is_begun = true,
                "name" => between = Some(String::new()),
                "json_name" => {
                    front.push('"');
                    between = Some("\"".to_owned());
                }
                "index" | "number" if is_begun => {}
                "index" => front.push('0'),
                "number" => front.push('1'),
                "arguments" => (is_begun, is_over) = (true, true),
                "" => {}
                _ => return None,
            }
        }
        // The list of the calls is the payload's.
        let front = between.as_mut().unwrap_or(&mut before);
        front.truncate(front.strip_suffix('[').map_or(front.len(), str::len));
        // `[unused12]` begins with the bracket that closes a list, as far as that tells.
        let is_bracket = |c: char| matches!(c, '}' | ']' | ')' | '"' | '\'');
        let behind = behind.trim_start_matches(is_bracket);
        let call = behind.strip_suffix(&*calls.close).unwrap_or("");
        let close = match call.chars().all(|c| is_bracket(c) || c.is_whitespace()) {
            true => marks(behind).map(str::to_owned).collect(),
            // `[[/call]][[/calls]]`
            false => [call, &calls.close].into_iter().flat_map(marks).map(str::to_owned).collect(),
        };
        // `functions.f({…})` is like any code.
        let is_code = between.as_deref().is_some_and(|between| between.contains('('));
        (!is_code && !before.trim().is_empty()).then_some(Frame { before, between, close, payload })
    }

    /// The frames of the next call of an answer: without the first of several marks, which opens the section, `<calls><call>` →
    /// `<call>`, and behind what stands `between` two, `<|start|>assistant<|channel|>`.
    pub(crate) fn next(&self, between: &str) -> impl Iterator<Item = Frame> {
        let mut marks = marks(&self.before);
        let first = marks.next().filter(|_| marks.next().is_some());
        let inner = first.and_then(|first| self.before.trim_start().strip_prefix(first));
        let is_marked = |before: &String| before.contains(['<', '[']);
        let behind = between.contains('<').then(|| format!("{between}{}", self.before));
        let before = inner.map(str::to_owned).filter(is_marked).into_iter().chain(behind);
        before.map(|before| Frame { before, ..self.clone() })
    }

    /// What stands in the tag of a call in front of its name; `None` where the payload holds that.
    pub(crate) fn call_tag(&self) -> Option<&str> {
        let named = self.between.as_ref().and_then(|_| self.before.rfind('<'));
        named.and_then(|from| self.before.get(from..))
    }

    /// The marks behind a call of `name`.
    pub(crate) fn closers(&self, name: &str) -> impl Iterator<Item = String> {
        self.close.iter().map(move |mark| mark.replace(NAME, name))
    }

    /// What it may begin with, folded, as far as that is the same for all tools.
    pub(crate) fn head(&self) -> Vec<char> {
        marks(&self.before).next().map_or_else(Vec::new, folded)
    }

    /// The most letters in front of a payload, without a name.
    pub(crate) fn longest(&self) -> usize {
        self.before.chars().count() + self.between.as_ref().map_or(0, |mark| mark.chars().count()) + ROOM
    }

    /// The marks in front of a payload of each of the tools of these `names`.
    pub(crate) fn openers<'n>(&'n self, names: &'n [&str]) -> impl Iterator<Item = String> + 'n {
        let alone = self.between.is_none().then(|| self.before.clone());
        let named = self
            .between
            .iter()
            .flat_map(move |between| names.iter().map(move |name| format!("{}{name}{between}", self.before)));
        alone.into_iter().chain(named)
    }
}
