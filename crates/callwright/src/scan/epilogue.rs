//! Closes the markup behind a payload, and lets its verdict out.

use std::borrow::Cow;

use callwright_json::{Repair, RepairKind, Span, strict};

use super::opener::{Delimiter, Place};
use super::repeat::Spot;
use super::tail::{self, Tail, tail};
use super::{Event, Flow, Scanner, State};
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
                    self.state = State::Prose;
                    return Flow::On;
                }
            },
        };
        self.at = at;
        self.state = State::After(blank);
        flow
    }

    /// Returns the place behind the broken mark at `at` that closes the last call. An argument there that the call
    /// lacks has the call refused.
    fn goes_on_at(&mut self, at: usize, end: bool) -> Seen<usize> {
        if let Some(torn) = self.torn_closer(at, end)? {
            tail::close_tag(&mut self.markup.delimiters);
            return Ok(Some(torn));
        }
        let Some((key, behind)) = self.beside(at, end)? else { return Ok(None) };
        if let Some(Verdict::Accepted(call)) = self.markup.pending.pop() {
            let span = Span::new(call.span.start as usize, at);
            let reason = Reason::Shape(ShapeError::BesideArguments(key));
            self.markup.pending.push(Verdict::Refused(call.refused(span, &self.text, reason)));
        }
        Ok(behind)
    }

    /// Returns the key of an argument at `at`, behind the last call and the marks that close it. The call lacks this
    /// argument, `{"a": 1}, "b": 2}`, `f(a=1), b=2)`, or it is the first one of an object that is not a call by itself,
    /// `{"a": 1}, {"a": 2}`. Behind repaired brackets, it is any text in quotes, `f(a=['b'), 'c'])`. For an object in a
    /// comment, `{"name": "f", …} // {"name": "f", …}`, the place behind that comes with the key. Nobody can say which
    /// one is meant.
    fn beside(&self, at: usize, end: bool) -> Seen<(String, Option<usize>)> {
        let (Some(Verdict::Accepted(call)), Some(record)) = (self.markup.pending.last(), &self.markup.inside)
        else {
            return Ok(None);
        };
        let Some(tool) = self.names.resolve(&call.name) else { return Ok(None) };
        let begin = at + blanks(&self.text, at, usize::MAX);
        let (before, rest) = (self.text[..at].trim_end(), &self.text[begin..]);
        let more = if rest.len() < MAX_KEY && !end { Err(Incomplete) } else { Ok(None) };
        let remark = ["//", "/*", "#"].iter().find_map(|mark| rest.strip_prefix(mark)).map(str::trim_start);
        let is_alone = record.anchor != Anchor::Distinct
            && !matches!(record.name_at, NameAt::Payload | NameAt::Key)
            && self.markup.delimiters.is_empty();
        let object = remark.unwrap_or(rest).strip_prefix('{').filter(|_| remark.is_some() || is_alone);
        let from = object.map(str::trim_start).or(remark).unwrap_or(rest);
        let is_bracket =
            |repair: &Repair| matches!(repair.kind, RepairKind::AddCloser | RepairKind::SwapBracket);
        let is_torn = from.len() == rest.len()
            && self.text[at..begin].bytes().all(|byte| byte == b' ')
            && call.repairs.iter().any(is_bracket);
        // A word alone may begin the next sentence.
        let is_adjacent = before.ends_with([')', '}', ']']) && before.len() == begin;
        let is_listed = before.ends_with(',') || is_adjacent;
        let may_be_word = remark.is_none() && object.is_none() && (is_listed || before.ends_with(')'));
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let may_be_quoted = remark.is_none() || object.is_some();
        let quote = from.chars().next().filter(|c| matches!(c, '"' | '\'') && may_be_quoted);
        let (key, sign) = match quote {
            Some(quote) => match from[1..].split_once(quote) {
                Some(split) => split,
                None if is_torn && more.is_ok() => (&from[1..], ""),
                None => return more,
            },
            None if may_be_word => from.split_at(from.find(|c| !is_word(c)).unwrap_or(from.len())),
            None => ("", from),
        };
        let found = |behind| Ok(Some((key.to_owned(), behind)));
        if is_torn && quote.is_some() {
            return found(None);
        }
        if quote.is_none() && key.is_empty() {
            let is_begun = rest == "/" || from.is_empty() && (remark.is_some() || is_alone);
            return if is_begun { more } else { Ok(None) };
        }
        if object.is_some() {
            if !(tool.declares(key) || remark.is_some() && keys::is_of_call(key)) {
                return Ok(None);
            }
            return found(comment_end(rest, end)?.map(|len| begin + len));
        }
        let is_given =
            || strict(&call.arguments).is_ok_and(|tree| tree.root(&call.arguments).get(key).is_some());
        match sign.trim_start().as_bytes() {
            [] if quote.is_none() && sign.is_empty() => more,
            _ if !keys::ARGUMENTS.contains(&key) && (!tool.declares(key) || is_given()) => Ok(None),
            [] => more,
            [b':', ..] if quote.is_some() || is_listed => found(None),
            [b'='] if !end && quote.is_none() => Err(Incomplete),
            [b'=', next @ ..] if quote.is_none() && next.first() != Some(&b'=') => found(None),
            _ => Ok(None),
        }
    }

    /// Returns the place behind the mark at `at` that closes the last call, if letters of it are wrong: `</tool_cal>`.
    /// The call notes the repair. A mark whose repair the policy forbids closes nothing.
    fn torn_closer(&mut self, at: usize, end: bool) -> Seen<usize> {
        let next = at + blanks(&self.text, at, usize::MAX);
        let is_open = self.markup.delimiters.contains(&Delimiter::Tag);
        let may_close = |byte: &u8| is_open || byte.is_ascii_punctuation();
        let Some(dialect) = &self.markup.inside else { return Ok(None) };
        if !self.text.as_bytes().get(next).is_some_and(may_close) {
            return Ok(None);
        }
        // `</tool_call>⏎<|tool_call|>`: a mark that begins the next call in any dialect is not a closer.
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

    /// Returns the spot of the last call. If it `is_marked`, its dialect has marks that stand for nothing else.
    pub(super) fn last_spot(&self, dialect: Cow<'static, str>, is_marked: bool) -> Spot {
        Spot { dialect, is_marked, block: self.standing.block, group: self.markup.group }
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.outcome.verdicts.is_empty() || self.is_holding()
    }
}

/// Returns the length of the comment at the head of `rest`, up to a mark on its line that closes the call. The end of
/// the text ends it, too.
fn comment_end(rest: &str, end: bool) -> Seen<usize> {
    let len = match comment(rest.as_bytes()) {
        Err(Incomplete) if end => Some(rest.len()),
        len => len?,
    };
    Ok(len.map(|len| rest.get(..len).and_then(|inside| inside.find("</")).unwrap_or(len)))
}

/// Longest name of an argument behind a call, in bytes.
const MAX_KEY: usize = 64;
