//! The marks around a payload of JSON, of a call expression or of a relaxed object.

use super::form::{NAME, Texts, folded, marks, split_first};
use super::{Arguments, Calls};

/// The marks in front of a payload and behind it.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The texts before the tool's name, or before a payload that holds the name: in front of the first call of an
    /// answer, and of the next ones.
    pub(crate) before: Vec<String>,
    /// The text between the name and the payload; `None` if the payload holds the name.
    pub(crate) between: Option<String>,
    /// The closers of the call.
    close: Vec<String>,
    pub(crate) payload: Payload,
}

/// The beginning of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// The payload begins with a bracket.
    Value,
    /// The payload begins with the name of a tool, or a bracket.
    Call,
}

impl Frame {
    /// Compiles the frame of `calls`; `None` if the payload has no marks in front of it, or a slot may hold anything.
    pub(crate) fn of(calls: &Calls) -> Option<Frame> {
        let payload = match &calls.arguments {
            Arguments::Python(_) => Payload::Call,
            Arguments::Json | Arguments::Relaxed(_) => Payload::Value,
            Arguments::Tags(_) | Arguments::Elements(_) => return None,
        };
        let Texts { open, front, rest: mut between, end: call_close, close, .. } = Texts::of(calls, "")?;
        let mut before = open + &front;
        // The payload begins in the template, `{"name": …`, or with the arguments.
        let brace = before.find('{');
        before.truncate(brace.unwrap_or(before.len()));
        between.truncate(between.find('{').unwrap_or(between.len()));
        let mut between = (payload == Payload::Value && brace.is_none()).then_some(between);
        // The list of the calls belongs to the payload.
        let front = between.as_mut().unwrap_or(&mut before);
        front.truncate(front.strip_suffix('[').map_or(front.len(), str::len));
        // `functions.f({…})` looks like any code.
        if before.trim().is_empty() || between.as_deref().is_some_and(|between| between.contains('(')) {
            return None;
        }
        // `][unused12]`: the bracket of the list stands in front of the mark, and belongs to the payload.
        let is_bracket = |c: char| matches!(c, '}' | ']' | ')' | '"' | '\'') || c.is_whitespace();
        let close =
            [&call_close, &close].into_iter().flat_map(|text| marks(text.trim_start_matches(is_bracket)));
        let close = close.map(str::to_owned).collect();
        // `<calls><call>` → `<call>`
        let inner = split_first(&before).map(|(_, inner)| inner).filter(|inner| inner.contains(['<', '[']));
        // `<|start|>assistant<|channel|>`
        let next = calls.between.contains('<').then(|| format!("{}{before}", calls.between));
        let next: Vec<String> = inner.map(str::to_owned).into_iter().chain(next).collect();
        Some(Frame { before: [vec![before], next].concat(), between, close, payload })
    }

    /// Returns the text of a call's tag in front of its name; `None` if the payload holds the name.
    pub(crate) fn call_tag(&self) -> Option<&str> {
        let (before, _) = self.before.first().zip(self.between.as_ref())?;
        before.get(before.rfind('<')?..)
    }

    /// Returns the marks behind a call of `name`.
    pub(crate) fn closers(&self, name: &str) -> impl Iterator<Item = String> {
        self.close.iter().map(move |mark| mark.replace(NAME, name))
    }

    /// Returns its folded beginnings, as far as all tools share them.
    pub(crate) fn heads(&self) -> impl Iterator<Item = Vec<char>> {
        self.before.iter().map(|before| marks(before).next().map_or_else(Vec::new, folded))
    }

    /// Returns the marks in front of a payload for each tool of these `names`.
    pub(crate) fn openers<'n>(&'n self, names: &'n [&str]) -> impl Iterator<Item = String> + 'n {
        self.before.iter().flat_map(move |before| match &self.between {
            None => vec![before.clone()],
            Some(between) => names.iter().map(|name| format!("{before}{name}{between}")).collect(),
        })
    }
}
