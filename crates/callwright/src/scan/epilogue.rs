//! Behind a payload: its markup is closed, and its verdict goes out.

use std::borrow::Cow;

use callwright_json::{Repair, RepairKind, Span, strict};

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
        let beside = match self.text_beside(at, end)? {
            Some(text) => Some((text, None)),
            None => self.key_beside(at, end)?,
        };
        let Some((key, behind)) = beside.map(|(key, behind)| (key.to_owned(), behind)) else {
            return Ok(None);
        };
        self.refuse_last(key, at);
        Ok(behind)
    }

    /// The key of an argument that stands at `at`, behind the last call and what closes it: of one that the call lacks,
    /// `{"a": 1}, "b": 2}`, `f(a=1), b=2)`, or the first one of an object that is no call by itself, `{"a": 1}, {"a": 2}`. Of an object
    /// in a comment, `{"name": "f", …} // {"name": "f", …}`, also the place behind that. Which one is meant nobody can say.
    fn key_beside(&self, at: usize, end: bool) -> Seen<(&str, Option<usize>)> {
        let (Some(Verdict::Accepted(call)), Some(record)) = (self.markup.pending.last(), &self.markup.inside)
        else {
            return Ok(None);
        };
        let begin = at + blanks(&self.text, at, usize::MAX);
        let (before, rest) = (self.text[..at].trim_end(), &self.text[begin..]);
        let more = |left: &str| left.is_empty() && !end && rest.len() < MAX_KEY;
        let ended = |left: &str| if more(left) { Err(Incomplete) } else { Ok(None) };
        let remark = ["//", "/*", "#"].iter().find_map(|mark| rest.strip_prefix(mark)).map(str::trim_start);
        let is_alone = record.anchor != Anchor::Distinct
            && !matches!(record.name_at, NameAt::Payload | NameAt::Key)
            && self.markup.delimiters.is_empty();
        let object = remark.unwrap_or(rest).strip_prefix('{').filter(|_| remark.is_some() || is_alone);
        let from = object.map(str::trim_start).or(remark).unwrap_or(rest);
        // A word alone may begin what is said next.
        let is_adjacent = before.ends_with([')', '}', ']']) && before.len() == begin;
        let is_listed = before.ends_with(',') || is_adjacent;
        let may_be_word = remark.is_none() && object.is_none() && (is_listed || before.ends_with(')'));
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let (key, sign, is_quoted) = match from.chars().next() {
            Some(quote @ ('"' | '\'')) if remark.is_none() || object.is_some() => {
                match from[1..].split_once(quote) {
                    Some((key, sign)) => (key, sign, true),
                    None => return ended(""),
                }
            }
            Some(first) if may_be_word && is_word(first) => {
                let (key, sign) = from.split_at(from.find(|c| !is_word(c)).unwrap_or(from.len()));
                (key, sign, false)
            }
            _ if rest == "/" => return ended(""),
            _ if remark.is_some() || is_alone => return ended(from),
            _ => return Ok(None),
        };
        let Some(tool) = self.names.resolve(&call.name) else { return Ok(None) };
        if object.is_some() {
            if !(tool.declares(key) || remark.is_some() && keys::is_of_call(key)) {
                return Ok(None);
            }
            let len = match comment(rest.as_bytes()) {
                Err(Incomplete) if !end => return Err(Incomplete),
                Err(Incomplete) => Some(rest.len()),
                Ok(len) => len,
            };
            // What closes the call may stand on the line of the comment.
            let behind = |len| begin + rest.get(..len).and_then(|inside| inside.find("</")).unwrap_or(len);
            return Ok(Some((key, len.map(behind))));
        }
        let is_given =
            || strict(&call.arguments).is_ok_and(|tree| tree.root(&call.arguments).get(key).is_some());
        match sign.trim_start().as_bytes() {
            [] if !is_quoted && sign.is_empty() => ended(""),
            _ if !keys::ARGUMENTS.contains(&key) && (!tool.declares(key) || is_given()) => Ok(None),
            [] => ended(""),
            [b':', ..] if is_quoted || is_listed => Ok(Some((key, None))),
            [b'='] if !end && !is_quoted => Err(Incomplete),
            [b'=', next @ ..] if !is_quoted && next.first() != Some(&b'=') => Ok(Some((key, None))),
            _ => Ok(None),
        }
    }

    /// The text in quotes that stands at `at`, behind a call whose brackets were repaired: `f(a=['b'), 'c'])`. They were meant to
    /// hold it.
    fn text_beside(&self, at: usize, end: bool) -> Seen<&str> {
        let Some(Verdict::Accepted(call)) = self.markup.pending.last() else { return Ok(None) };
        let is_bracket =
            |repair: &Repair| matches!(repair.kind, RepairKind::AddCloser | RepairKind::SwapBracket);
        let rest = self.text.get(at..).unwrap_or("").trim_start_matches(' ');
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let Some(quote) = quote.filter(|_| call.repairs.iter().any(is_bracket)) else { return Ok(None) };
        let near = rest.char_indices().nth(MAX_KEY).map(|(len, _)| len);
        let inside = &rest[1..near.unwrap_or(rest.len())];
        match inside.split_once(quote) {
            Some((text, _)) => Ok(Some(text)),
            None if near.is_some() || end => Ok(Some(inside)),
            None => Err(Incomplete),
        }
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

/// The longest name of an argument behind a call, in bytes.
const MAX_KEY: usize = 64;
