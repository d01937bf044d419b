//! Behind a payload: its markup is closed, and its verdict goes out.

use std::borrow::Cow;

use callwright_json::{Guide as _, Repair, RepairKind, Span, strict};

use super::opener::{Delimiter, Place};
use super::repeat::Spot;
use super::tail::{self, Tail, tail};
use super::{Event, Flow, Mode, Scanner};
use crate::dialect::{Anchor, NameAt};
use crate::marks;
use crate::shape::keys;
use crate::syntax::comment::comment;
use crate::syntax::{Incomplete, Seen, blanks};
use crate::verdict::{Reason, ShapeError, Verdict};

impl Scanner<'_> {
    pub(super) fn tail(&mut self, blank: usize, end: bool, out: &mut Vec<Event>) -> Flow {
        let mut delimiters = std::mem::take(&mut self.markup.delimiters);
        let place = Place { inside: self.markup.inside.as_ref(), ..self.place(false, end) };
        let found = tail(&self.text, self.at, blank, &mut delimiters, place);
        self.markup.delimiters = delimiters;
        let (at, blank, flow) = match found {
            Tail::Wait { at, blank } => (at, blank, Flow::Wait),
            Tail::Ended(at) => match self.goes_on_at(at, end) {
                Err(Incomplete) => (at, at, Flow::Wait),
                Ok(Some(to)) => (to, to, Flow::On),
                Ok(None) => {
                    self.at = at;
                    self.markup.last_call_end = at;
                    self.flush_calls(out);
                    self.mode = Mode::Prose;
                    return Flow::On;
                }
            },
        };
        self.at = at;
        self.mode = Mode::Tail(blank);
        flow
    }

    /// The place behind the broken mark at `at` that closes the last call. An argument there, which that call lacks, has it
    /// refused.
    fn goes_on_at(&mut self, at: usize, end: bool) -> Seen<usize> {
        if let Some(torn) = self.torn_closer(at, end)? {
            tail::close_tag(&mut self.markup.delimiters);
            return Ok(Some(torn));
        }
        let named = beside(&self.text, at, end, |key| self.is_left_out(key))?;
        let left_out = match named.or_else(|| self.text_beside(at)) {
            Some(key) => Some((key, None)),
            None => self.object_beside(at, end)?,
        };
        let Some((key, behind)) = left_out.map(|(key, behind)| (key.to_owned(), behind)) else {
            return Ok(None);
        };
        self.refuse_last(key, at);
        Ok(behind)
    }

    /// The first key of the object that stands at `at`, behind a call, if it is an argument of that and the object is no call by
    /// itself: `Action Input: {"a": 1}, {"a": 2}`. Of an object in a comment, `{"name": "f", …} // {"name": "f", …}`, also the place
    /// behind that. Which one is meant nobody can say.
    fn object_beside(&self, at: usize, end: bool) -> Seen<(&str, Option<usize>)> {
        let Some(Verdict::Accepted(call)) = self.markup.pending.last() else { return Ok(None) };
        let Some(record) = &self.markup.inside else { return Ok(None) };
        let begin = at + blanks(&self.text, at, usize::MAX);
        let rest = self.text.get(begin..).unwrap_or("");
        if rest == "/" && !end {
            return Err(Incomplete);
        }
        let remark = ["//", "/*", "#"].iter().find_map(|mark| rest.strip_prefix(mark)).map(str::trim_start);
        let is_alone = record.anchor != Anchor::Distinct
            && !matches!(record.name_at, NameAt::Payload | NameAt::Key)
            && self.markup.delimiters.is_empty();
        if remark.is_none() && !is_alone {
            return Ok(None);
        }
        let Some(key) = first_key(remark.unwrap_or(rest), end)? else { return Ok(None) };
        let Some(tool) = self.names.resolve(&call.name) else { return Ok(None) };
        let is_of_call = || remark.is_some() && keys::all_of_call().any(|of_call| of_call == key);
        if !tool.declares(key) && !is_of_call() {
            return Ok(None);
        }
        let len = match comment(rest.as_bytes()) {
            Err(Incomplete) if !end => return Err(Incomplete),
            Err(Incomplete) => Some(rest.len()),
            Ok(len) => len,
        };
        // What closes the call may stand on the line of the comment.
        let behind = |len| begin + rest.get(..len).and_then(|inside| inside.find("</")).unwrap_or(len);
        Ok(Some((key, len.map(behind))))
    }

    /// The text in quotes that stands at `at`, behind a call whose brackets were repaired: `f(a=['b'), 'c'])`. They were meant to
    /// hold it.
    fn text_beside(&self, at: usize) -> Option<&str> {
        let Some(Verdict::Accepted(call)) = self.markup.pending.last() else { return None };
        let is_bracket =
            |repair: &Repair| matches!(repair.kind, RepairKind::AddCloser | RepairKind::SwapBracket);
        let rest = self.text.get(at..)?.trim_start_matches(' ');
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        call.repairs.iter().any(is_bracket).then(|| rest[1..].split(quote).next())?
    }

    /// The place behind the mark at `at` that closes the last call, if letters of it are wrong: `</tool_cal>`. That it is repaired is
    /// noted, where that may be done.
    fn torn_closer(&mut self, at: usize, end: bool) -> Seen<usize> {
        let next = at + blanks(&self.text, at, usize::MAX);
        let is_open = self.markup.delimiters.contains(&Delimiter::Tag);
        let may_close = |byte: &u8| is_open || byte.is_ascii_punctuation();
        let Some(dialect) = &self.markup.inside else { return Ok(None) };
        if !self.text.as_bytes().get(next).is_some_and(may_close) {
            return Ok(None);
        }
        // `</tool_call>⏎<|tool_call|>`: what begins the next call in any dialect is no closer.
        if self.rules.dialects.begins_opener(&self.text, next, end)? {
            return Ok(None);
        }
        let last = self.markup.pending.last_mut();
        let name = last.as_ref().and_then(|last| last.head().0);
        let rest = self.text.get(at..).unwrap_or("");
        let (name, tools) = (name.unwrap_or(""), self.names.tools());
        let Some(len) = marks::torn_closer(rest, dialect, name, tools, end, &self.work.fuel)? else {
            return Ok(None);
        };
        if let Some(Verdict::Accepted(call)) = last {
            let at = Span::new(at, at + len);
            call.repairs.push(Repair { kind: RepairKind::MendMark, at, put: "".into() });
            if !self.rules.admission.policy.admits(call) {
                call.repairs.pop();
                return Ok(None);
            }
        }
        Ok(Some(at + len))
    }

    /// Returns whether the last call lacks an argument of this name, or the name is that of all arguments. Where the name is not
    /// over, every key that begins with it counts.
    fn is_left_out(&self, key: Named<'_>) -> bool {
        let Some(Verdict::Accepted(call)) = self.markup.pending.last() else { return false };
        let Some(tool) = self.names.resolve(&call.name) else { return false };
        let guide = tool.schema().guide();
        let is_given = |key: &str| {
            strict(&call.arguments).is_ok_and(|tree| tree.root(&call.arguments).get(key).is_some())
        };
        match key {
            Named::Whole(key) => keys::ARGUMENTS.contains(&key) || tool.declares(key) && !is_given(key),
            Named::Begun(start) => {
                let mut all = guide.names(guide.root()).chain(keys::ARGUMENTS.iter().copied());
                all.any(|key| key.starts_with(start))
            }
        }
    }

    /// `f(a=1), b=2)`: the call seemed to be over and was not.
    fn refuse_last(&mut self, key: String, at: usize) {
        let Some(Verdict::Accepted(call)) = self.markup.pending.pop() else { return };
        let span = Span::new(call.span.start as usize, at);
        let reason = Reason::Shape(ShapeError::BesideArguments(key));
        self.markup.pending.push(Verdict::Refused(call.refused(span, &self.text, reason)));
    }

    fn flush_calls(&mut self, out: &mut Vec<Event>) {
        let end = Span::at(self.at).end;
        let mut verdicts = std::mem::take(&mut self.markup.pending);
        for verdict in &mut verdicts {
            match verdict {
                Verdict::Accepted(call) => call.span.end = end,
                Verdict::Refused(refusal) => refusal.span.end = end,
            }
        }
        if !verdicts.is_empty() && std::mem::take(&mut self.standing.prose_since_call) {
            self.standing.block += 1;
        }
        let is_marked = self.markup.inside.as_ref().is_some_and(|record| record.anchor == Anchor::Distinct);
        let spotted = verdicts.into_iter().map(|verdict| {
            let spot = self.last_spot(verdict.head().1.clone(), is_marked);
            (verdict, spot)
        });
        let spotted = spotted.collect();
        self.markup.group += usize::from(self.markup.delimiters.is_empty());
        self.end_run(spotted, out);
    }

    /// The spot of the last call, in a dialect whose marks stand for nothing else, if it `is_marked`.
    pub(super) fn last_spot(&self, dialect: Cow<'static, str>, is_marked: bool) -> Spot {
        Spot { dialect, is_marked, block: self.standing.block, group: self.markup.group }
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.outcome.verdicts.is_empty() || self.has_waiting_call()
    }
}

/// A name, or the beginning of one.
enum Named<'t> {
    Whole(&'t str),
    Begun(&'t str),
}

/// The longest name of an argument behind a call, in bytes.
const MAX_KEY: usize = 64;

/// The first key of the object that `text` is or begins with.
fn first_key(text: &str, end: bool) -> Seen<&str> {
    let more = |rest: &str| rest.is_empty() && !end && text.len() < MAX_KEY;
    let inside = text.strip_prefix('{').map(str::trim_start);
    let Some(inside) = inside else { return if more(text) { Err(Incomplete) } else { Ok(None) } };
    let Some(quote) = inside.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return if more(inside) { Err(Incomplete) } else { Ok(None) };
    };
    match inside[1..].split_once(quote) {
        Some((key, _)) => Ok(Some(key)),
        None if more("") => Err(Incomplete),
        None => Ok(None),
    }
}

/// The name of the argument of a call that stands at `from`, behind it and its closing marks: `{"a": 1}, "b": 2}`,
/// `f(a=1), b=2)`.
fn beside(text: &str, from: usize, end: bool, is_left_out: impl Fn(Named<'_>) -> bool) -> Seen<&str> {
    let before = text.get(..from).unwrap_or("");
    let rest = text.get(from..).unwrap_or("").trim_start();
    // A word alone may begin what is said next.
    let is_listed = before.trim_end().ends_with(',')
        || before.ends_with([')', '}', ']']) && before.len() + rest.len() == text.len();
    let is_called = before.trim_end().ends_with(')');
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let may_grow = |begun: &str| !end && begun.len() < MAX_KEY && is_left_out(Named::Begun(begun));
    let (key, behind, is_quoted) = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => match rest[1..].split_once(quote) {
            Some((key, behind)) => (key, behind, true),
            None if may_grow(&rest[1..]) => return Err(Incomplete),
            None => return Ok(None),
        },
        Some(first) if is_word(first) && (is_listed || is_called) => {
            let (key, behind) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
            if behind.is_empty() && may_grow(key) {
                return Err(Incomplete);
            }
            (key, behind, false)
        }
        _ => return Ok(None),
    };
    if MAX_KEY < key.len() || !is_left_out(Named::Whole(key)) {
        return Ok(None);
    }
    match behind.trim_start().as_bytes() {
        [] if !end && behind.len() < MAX_KEY => Err(Incomplete),
        [b':', ..] if is_quoted || is_listed => Ok(Some(key)),
        [b'='] if !end && !is_quoted => Err(Incomplete),
        [b'=', next @ ..] if !is_quoted && next.first() != Some(&b'=') => Ok(Some(key)),
        _ => Ok(None),
    }
}
