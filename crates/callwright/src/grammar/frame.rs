//! What a dialect writes around a payload of JSON, of a call expression or of a relaxed object.

use super::form::{NAME, Texts, folded, marks, split_first};
use super::{Arguments, Calls};

/// What stands in front of a payload and behind it.
#[derive(Debug)]
pub(crate) struct Frame {
    /// What stands before the name of the tool, or before the payload where that holds the name: in front of the first call of an
    /// answer, and of the next ones.
    pub(crate) before: Vec<String>,
    /// What stands between the name and the payload; `None` where the payload holds the name.
    pub(crate) between: Option<String>,
    /// What closes the call.
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
        // The list of the calls is the payload's.
        let front = between.as_mut().unwrap_or(&mut before);
        front.truncate(front.strip_suffix('[').map_or(front.len(), str::len));
        // `functions.f({…})` is like any code.
        if before.trim().is_empty() || between.as_deref().is_some_and(|between| between.contains('(')) {
            return None;
        }
        // `[unused12]` begins with the bracket that closes a list, as far as that tells.
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

    /// What stands in the tag of a call in front of its name; `None` where the payload holds that.
    pub(crate) fn call_tag(&self) -> Option<&str> {
        let (before, _) = self.before.first().zip(self.between.as_ref())?;
        before.get(before.rfind('<')?..)
    }

    /// The marks behind a call of `name`.
    pub(crate) fn closers(&self, name: &str) -> impl Iterator<Item = String> {
        self.close.iter().map(move |mark| mark.replace(NAME, name))
    }

    /// What it may begin with, folded, as far as that is the same for all tools.
    pub(crate) fn heads(&self) -> impl Iterator<Item = Vec<char>> {
        self.before.iter().map(|before| marks(before).next().map_or_else(Vec::new, folded))
    }

    /// The most letters in front of a payload, without a name.
    pub(crate) fn longest(&self) -> usize {
        let letters = |text: &String| text.chars().count();
        self.before.iter().map(letters).max().unwrap_or(0) + self.between.as_ref().map_or(0, letters) + ROOM
    }

    /// The marks in front of a payload of each of the tools of these `names`.
    pub(crate) fn openers<'n>(&'n self, names: &'n [&str]) -> impl Iterator<Item = String> + 'n {
        self.before.iter().flat_map(move |before| {
            let alone = self.between.is_none().then(|| before.clone());
            let named = self
                .between
                .iter()
                .flat_map(move |between| names.iter().map(move |name| format!("{before}{name}{between}")));
            alone.into_iter().chain(named)
        })
    }
}
