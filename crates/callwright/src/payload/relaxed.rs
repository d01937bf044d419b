//! Objects with bare keys whose strings have marks of their own: `{city:<|"|>Paris<|"|>,days:3}`.
//!
//! A [`Braces`] finds the end of an object as it arrives; [`json_like`] spells it for the tolerant reader. The marks of
//! calls end an object with unclosed braces: `{city:<|"|>Paris<|"|><tool_call|>`.

use std::iter;
use std::sync::Arc;

use super::tagged::{End, Ending};
use crate::syntax::marks::{self, fit, fit_any};
use crate::syntax::{Incomplete, Seen, Text, ends_with_any_case};

/// Finds the last brace of an object.
#[derive(Debug)]
pub(crate) struct Braces {
    /// The mark at both ends of a string.
    mark: Arc<str>,
    /// The closers of the call.
    close: Vec<Text>,
    /// The opener of the next call.
    open: Arc<str>,
    from: usize,
    at: usize,
    levels: usize,
    inside: Inside,
    /// The beginning of the current text outside of strings: the place behind the last mark.
    piece: usize,
    /// One of its strings holds a mark of a call.
    holds_marks: bool,
    /// A mark of a call stands outside of its strings, too, so their ends are unknown. The inner place is the end of
    /// the call, if it was closed.
    torn: Option<Option<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Nothing,
    /// The reader is between two marks.
    Marks,
    /// The reader is in a string of JSON.
    Quotes,
}

impl Braces {
    /// Starts at the object whose brace stands at `from`. Two of `mark` enclose a string; the call begins with `open`
    /// and ends with one of `close`.
    pub(crate) fn new(from: usize, mark: Arc<str>, open: &str, close: Vec<Text>) -> Braces {
        let (open, at, piece, inside) = (open.into(), from, from, Inside::Nothing);
        let (levels, holds_marks, torn) = (0, false, None);
        Braces { mark, close, open, from, at, levels, inside, piece, holds_marks, torn }
    }

    /// Goes on from the last stop. Returns the end of the object as soon as it is there: behind its last brace, at a
    /// mark of a call, or where another call cuts it.
    pub(crate) fn advance(&mut self, text: &str) -> Option<End> {
        let bytes = text.as_bytes();
        loop {
            if let Some(end) = self.torn {
                return end.map(|at| End { at, ending: Ending::Cut });
            }
            let rest = bytes.get(self.at..).unwrap_or(&[]);
            // Only the end of a string matters within it.
            self.at += match self.inside {
                Inside::Nothing => 0,
                Inside::Marks => marks::beginnings(rest, &self.mark).next().unwrap_or(rest.len()),
                Inside::Quotes => memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len()),
            };
            let rest = bytes.get(self.at..).unwrap_or(&[]);
            let byte = *rest.first()?;
            match self.fits(rest) {
                Err(Incomplete) => return None,
                Ok(Some(_)) if self.inside != Inside::Nothing => self.holds_marks = true,
                Ok(Some(_)) if self.levels != 0 && !self.holds_marks => {
                    return Some(End { at: self.at, ending: Ending::Closed });
                }
                Ok(Some(_)) if self.levels != 0 => {
                    self.torn = Some(self.broken_at(text.get(..self.at)?));
                    continue;
                }
                Ok(_) => {}
            }
            if self.inside != Inside::Quotes {
                match fit(rest, &self.mark) {
                    Ok(Some(len)) => {
                        let piece = text.get(self.piece..self.at)?;
                        let lacks_first = is_behind(piece, self.piece != self.from) && !may_open(piece);
                        // Behind a string with a call's mark in it, no mark is sure.
                        let opens = self.inside == Inside::Nothing && (self.holds_marks || !lacks_first);
                        self.inside = if opens { Inside::Marks } else { Inside::Nothing };
                        self.at += len;
                        self.piece = self.at;
                        continue;
                    }
                    Err(Incomplete) => return None,
                    Ok(None) => {}
                }
            }
            match (self.inside, byte) {
                (Inside::Nothing, b'{' | b'[') => self.levels += 1,
                // `{a:[1]],b:2}`: the object is not over.
                (Inside::Nothing, b']') if self.levels == 1 => {}
                (Inside::Nothing, b'}' | b']') => {
                    self.levels = self.levels.saturating_sub(1);
                    if self.levels == 0 {
                        return Some(End { at: self.at + 1, ending: Ending::Closed });
                    }
                }
                (Inside::Nothing, b'"') => self.inside = Inside::Quotes,
                (Inside::Quotes, b'"') => self.inside = Inside::Nothing,
                (Inside::Quotes, b'\\') if rest.len() == 1 => return None,
                (Inside::Quotes, b'\\') => self.at += 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Returns the length of a call's mark at the beginning of `bytes`.
    fn fits(&self, bytes: &[u8]) -> Seen<usize> {
        let open = Some(&*self.open).filter(|open| !open.is_empty());
        fit_any(bytes, open.into_iter().chain(self.close.iter().map(|mark| &**mark)))
    }

    /// Returns the end of a call that has no end in `text`: the place behind a mark that closes it, with another call
    /// right behind that.
    pub(crate) fn broken_at(&self, text: &str) -> Option<usize> {
        let rest = text.get(self.from..).filter(|_| !self.open.is_empty())?;
        let mut places = marks::beginnings(rest.as_bytes(), &self.open).map(|at| self.from + at);
        let is_open = |at: &usize| matches!(fit(&text.as_bytes()[*at..], &self.open), Ok(Some(_)));
        let is_closed = |at: &usize| {
            let before = text.get(self.from..*at).unwrap_or("").trim_end().as_bytes();
            self.close.iter().any(|mark| ends_with_any_case(before, mark))
        };
        places.find(|at| is_open(at) && is_closed(at))
    }
}

/// An object in the spelling of the tolerant reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spelt {
    pub(crate) json: String,
    /// The first mark of one of its strings is missing.
    pub(crate) lacks_mark: bool,
    /// The object has quotes of its own, besides those in place of the marks.
    pub(crate) has_quotes: bool,
}

/// Spells an object for the tolerant reader: `{a:<|"|>say "x"<|"|>}` → `{a:"say \"x\""}`. `None` if a mark does not
/// stand at the edge of a value, so that it belongs to a text. The first mark of a text with quotes of its own may be
/// missing: `{a:'x'<|"|>}`.
pub(crate) fn json_like(text: &str, mark: &str) -> Option<Spelt> {
    let mut json = String::with_capacity(text.len());
    let mut pieces = pieces(text, mark).peekable();
    let (mut is_first, mut lacks_mark, mut has_quotes) = (true, false, false);
    while let Some(piece) = pieces.next() {
        if !is_behind(piece, !is_first) {
            return None;
        }
        has_quotes |= piece.contains('"');
        if may_open(piece) {
            json.push_str(piece);
            let string = pieces.next();
            json.extend(string.map(callwright_json::quote));
        } else {
            // No string begins behind the last mark.
            pieces.peek()?;
            // `'x'<|"|>`: the text's own quotes are its edges without its first mark.
            let (before, text) = piece.split_at(piece.find('\'')?);
            if !may_open(before)
                || !is_quoted(text)
                || text.contains(['"', '{', '}', '[', ']', '(', ')', '<'])
            {
                return None;
            }
            json.push_str(before);
            json.push_str(text);
            lacks_mark = true;
        }
        is_first = false;
    }
    Some(Spelt { json, lacks_mark, has_quotes })
}

/// Returns whether `piece` may go on with the object. If it `is_behind_string`, a string stands before it.
fn is_behind(piece: &str, is_behind_string: bool) -> bool {
    let first = piece.trim_start().chars().next();
    !is_behind_string || matches!(first, None | Some(',' | '}' | ']' | ':' | ')'))
}

/// Returns whether a mark behind `piece`, which holds no string, may be the first one of its string.
fn may_open(piece: &str) -> bool {
    let last = piece.trim_end().chars().next_back();
    matches!(last, None | Some(',' | '{' | '[' | ':' | '}' | ']' | '(' | ')' | '='))
}

/// Returns whether `text` stands in single quotes: `'x'`.
fn is_quoted(text: &str) -> bool {
    let inner = text.trim_end().strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    inner.is_some_and(|inner| !inner.contains('\''))
}

/// Returns the pieces between the marks, with any bars and any case of letters: `<｜"｜>`, `<ESCAPE>`.
fn pieces<'t>(text: &'t str, mark: &str) -> impl Iterator<Item = &'t str> {
    let mut rest = Some(text);
    iter::from_fn(move || {
        let text = rest?;
        let found = marks::find(text, iter::once(mark)).map(|at| (at, fit(&text.as_bytes()[at..], mark)));
        let Some((at, Ok(Some(len)))) = found else { return rest.take() };
        rest = text.get(at + len..);
        text.get(..at)
    })
}
