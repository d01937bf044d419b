//! Arguments in tags, one raw text each: `<parameter=a>x</parameter>`, `<arg_key>a</arg_key><arg_value>x</arg_value>`,
//! `<a>x</a>`.
//!
//! [`Tags`] goes over the text of one call as it arrives, by the marks of its dialect and no others, and says where the call
//! ends and which piece of it is which argument. [`crate::marks`] reads the same marks where they are not as they should be.

use std::borrow::Cow;
use std::sync::Arc;

use callwright_json::{Guide, Kinds, Span, strict_end};

use super::value::place_of;
use crate::dialect::Record;
use crate::grammar::{Form, NAME, marks, marks_at, split_first};
use crate::syntax::tag::unescaped;
use crate::syntax::{Incomplete, Seen, Typing, at_end, blanks};
use crate::tools::Tool;

/// The most white space between two marks.
const MAX_SPACE: usize = 256;
/// The longest key, in bytes.
const MAX_KEY: usize = 256;
/// The most arguments of one call.
const MAX_PARAMS: usize = 1024;
/// The most closing marks in one value that is JSON.
const MAX_INNER: usize = 8;

/// Goes over one call.
#[derive(Debug)]
pub(crate) struct Tags {
    record: Arc<Record>,
    at: usize,
    value: Option<Value>,
    /// The mark of an argument stands where no argument could be read.
    is_torn: bool,
    /// What was read so far.
    pub(crate) params: Vec<Param>,
    /// A value holds an opener of its own kind, so that it may end elsewhere.
    pub(crate) is_doubtful: bool,
    /// Words stand behind the call on its line, so that all of it may be a value.
    pub(crate) goes_on: bool,
}

/// One argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) key: Span,
    pub(crate) typing: Typing,
    pub(crate) value: Span,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With a closing mark, or where the next call begins.
    Closed,
    /// The text is over behind a whole argument.
    Bare,
    /// The text is over inside an argument, or before any.
    Cut,
    /// Something stands there that belongs to no call.
    Broken,
}

/// Where a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The place behind it.
    pub(crate) at: usize,
    /// How it ends.
    pub(crate) ending: Ending,
}

/// The text as far as it goes, and what is called in it.
#[derive(Clone, Copy)]
pub(crate) struct View<'t> {
    pub(crate) text: &'t str,
    /// The name of the tool, as it is written.
    pub(crate) name: &'t str,
    /// Nothing, where it is not known.
    pub(crate) tool: Option<&'t Tool>,
    /// No more text will come.
    pub(crate) end: bool,
}

/// A value that is not closed yet.
#[derive(Clone, Copy, Debug)]
struct Value {
    key: Span,
    typing: Typing,
    from: usize,
    /// An opener of an argument stands in it.
    is_nested: bool,
    /// The first place where it may end, and the place behind its closing mark, if it is JSON that goes on there.
    first_end: Option<(usize, usize)>,
    /// How many such places were passed.
    n_inner: usize,
    /// A closing mark stands in it behind which the call does not go on.
    holds_closer: bool,
    /// Where the tokens of its dialect open another call in it.
    next_call: Option<usize>,
}

impl Tags {
    /// For the call whose first argument begins at `from`, in the marks of `record`.
    pub(crate) fn new(from: usize, record: Arc<Record>) -> Tags {
        Tags {
            record,
            at: from,
            value: None,
            is_torn: false,
            params: Vec::new(),
            is_doubtful: false,
            goes_on: false,
        }
    }

    /// Returns whether an argument opens where it begins.
    pub(crate) fn begins(&self, view: View<'_>) -> Result<bool, Incomplete> {
        let Some(form) = self.record.form() else { return Ok(false) };
        Ok(at_end(self.opener(view, form, self.at), view.end)?.is_some())
    }

    /// Was an argument opened, or its mark written?
    pub(crate) fn has_arguments(&self) -> bool {
        !self.params.is_empty() || self.value.is_some() || self.is_torn
    }

    /// Goes on from where the last call stopped.
    pub(crate) fn advance(&mut self, view: View<'_>) -> Result<End, Incomplete> {
        let record = Arc::clone(&self.record);
        let Some(form) = record.form() else {
            let ending = if self.at == view.text.len() { Ending::Cut } else { Ending::Broken };
            return Ok(End { at: self.at, ending });
        };
        loop {
            let ended = match self.value.take() {
                None => self.between(view, form),
                Some(value) => self.value(view, form, value),
            };
            if let Some(ended) = ended? {
                return Ok(ended);
            }
        }
    }

    /// Reads what stands between arguments: the opener of the next one, or the end of the call.
    fn between(&mut self, view: View<'_>, form: &Form) -> Seen<End> {
        let View { text, end, .. } = view;
        let mut at = behind_blanks(text, self.at);
        // `<tool_sep>`, which stands behind the name.
        if self.params.is_empty()
            && form.call.tail().starts_with('<')
            && let Some(behind) = at_end(marks_at(text, at, form.call.tail()), end)?
        {
            at = behind_blanks(text, behind);
        }
        let ends = |at: usize, ending: Ending| Ok(Some(End { at, ending }));
        if at == text.len() {
            let over = if self.params.is_empty() { Ending::Cut } else { Ending::Bare };
            return if end { ends(at, over) } else { Err(Incomplete) };
        }
        let (opener, closer) = (self.opener(view, form, at), self.closer(view, form, at));
        match (opener, closer) {
            (Ok(Some(_)), _) if MAX_PARAMS <= self.params.len() => ends(at, Ending::Broken),
            (Ok(Some(value)), _) => {
                (self.at, self.value) = (value.from, Some(value));
                Ok(None)
            }
            (_, Ok(Some(behind))) => {
                self.goes_on = self.has_words_behind(view, form, behind)?;
                ends(behind, Ending::Closed)
            }
            (Err(Incomplete), _) | (_, Err(Incomplete)) if !end => Err(Incomplete),
            (Err(Incomplete), _) | (_, Err(Incomplete)) => ends(text.len(), Ending::Cut),
            (Ok(None), Ok(None)) => {
                self.is_torn = !form.is_of_elements() && marks_at(text, at, &form.argument.head) != Ok(None);
                let over = if self.has_arguments() { self.over(view, form, at)? } else { at };
                ends(over, Ending::Broken)
            }
        }
    }

    /// The argument that is opened at `at`.
    fn opener(&self, view: View<'_>, form: &Form, at: usize) -> Seen<Value> {
        let View { text, tool, .. } = view;
        let Some(from) = marks_at(text, at, &form.argument.head)? else { return Ok(None) };
        // `%%next%%` is no `%%{key}%%`.
        if self.closer(view, form, at)?.is_some() {
            return Ok(None);
        }
        let rest = text.get(from..).unwrap_or("");
        let first = form.argument.tail().chars().next();
        for (len, letter) in rest.char_indices().take_while(|(len, _)| *len <= MAX_KEY) {
            if Some(letter) != first {
                match letter {
                    '<' | '\n' if first != Some('<') => return Ok(None),
                    _ => continue,
                }
            }
            for (n, tail) in form.argument.tails.iter().enumerate() {
                let Some(behind) = marks_at(text, from + len, tail)? else {
                    // `</arg_key>` ends the key, whatever stands behind it.
                    match split_first(tail) {
                        Some((end, _)) if marks_at(text, from + len, end)?.is_some() => return Ok(None),
                        _ => continue,
                    }
                };
                let written = rest.get(..len).unwrap_or("");
                let key = written.trim();
                let start = from + written.len() - written.trim_start().len();
                // `k&amp;q`
                let is_declared =
                    tool.is_some_and(|tool| tool.declares(key) || tool.declares(&unescaped(key)));
                // `<` alone begins an argument only of a key that the tool takes.
                let may_be = !form.is_of_elements() || tool.is_some_and(|tool| tool.takes(key));
                let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
                // `count31337` lacks a mark.
                let is_two = tool.is_some_and(|tool| tool.parameters().any(|own| key.starts_with(own)));
                let is_word = !key.is_empty() && key.chars().all(is_letter) && !is_two;
                return Ok((is_declared || may_be && is_word).then_some(Value {
                    key: Span::new(start, start + key.len()),
                    typing: match n {
                        _ if form.argument.tails.len() == 1 => self.record.typing,
                        0 => Typing::Text,
                        _ => Typing::Json,
                    },
                    from: behind,
                    is_nested: false,
                    first_end: None,
                    n_inner: 0,
                    holds_closer: false,
                    next_call: None,
                }));
            }
        }
        if rest.len() <= MAX_KEY { Err(Incomplete) } else { Ok(None) }
    }

    /// The end of the call, where what ends it stands at `at`: the place behind its closing mark, or where another call opens.
    fn closer(&self, View { text, name, .. }: View<'_>, form: &Form, at: usize) -> Seen<usize> {
        let call_close = form.call_close.replace(NAME, name);
        let section = form.section.as_ref();
        let own = marks(&call_close).next().into_iter().chain(section.map(|(_, close)| &**close));
        let closers = own.chain(self.record.closers().map(|close| &**close));
        let opens_call = (!form.is_named()).then_some(&*form.call.head);
        let openers = opens_call.into_iter().chain(section.map(|(open, _)| &**open));
        let mut grows = false;
        for (mark, is_closer) in closers.map(|mark| (mark, true)).chain(openers.map(|mark| (mark, false))) {
            match marks_at(text, at, mark) {
                Ok(Some(behind)) => return Ok(Some(if is_closer { behind } else { at })),
                Ok(None) => {}
                Err(Incomplete) => grows = true,
            }
        }
        if grows { Err(Incomplete) } else { Ok(None) }
    }

    /// Where a call is over that cannot be read at `at`: behind its closing mark, or where the next one opens.
    fn over(&self, view: View<'_>, form: &Form, at: usize) -> Result<usize, Incomplete> {
        let close = form.call_close.replace(NAME, view.name);
        let mut from = at;
        while let Some(next) = next_of(view.text, from, [&close, &form.call.head]) {
            match self.closer(view, form, next) {
                Ok(Some(over)) if at < over => return Ok(over),
                Err(Incomplete) if !view.end => return Err(Incomplete),
                _ => from = next + view.text[next..].chars().next().map_or(1, char::len_utf8),
            }
        }
        if view.end { Ok(at) } else { Err(Incomplete) }
    }

    /// Returns whether words follow on the line of the marks that close a call, the first of which ends at `behind`. That leaves
    /// open whether all was a value's: `</parameter></function> is how it ends.</parameter></function>`.
    fn has_words_behind(
        &self,
        View { text, name, end, .. }: View<'_>,
        form: &Form,
        behind: usize,
    ) -> Result<bool, Incomplete> {
        let call_close = form.call_close.replace(NAME, name);
        let section = form.section.iter().map(|(_, close)| &**close);
        let mut at = behind;
        for mark in marks(&call_close).skip(1).chain(section) {
            at = at_end(marks_at(text, behind_blanks(text, at), mark), end)?.unwrap_or(at);
        }
        let line = text.get(at..).unwrap_or("").trim_start_matches([' ', '\t']);
        if line.is_empty() && !end { Err(Incomplete) } else { Ok(line.starts_with(char::is_alphanumeric)) }
    }

    /// Looks for the end of `value`: the first closing mark of its own behind which the call goes on. `self.at` is how far that was
    /// done.
    fn value(&mut self, view: View<'_>, form: &Form, mut value: Value) -> Seen<End> {
        let View { text, end, .. } = view;
        let close: Cow<'_, str> = match form.closes_by_key() {
            true => form.argument_close.replace(NAME, value.key.of(text)).into(),
            false => (&*form.argument_close).into(),
        };
        let may_be_json = view.may_be_json(&value);
        let inner = [&*close, &form.argument.head];
        while let Some(at) = next_of(text, self.at, inner) {
            match self.closes(view, form, &close, at) {
                Err(Incomplete) => {
                    (self.at, self.value) = (at, Some(value));
                    return Err(Incomplete);
                }
                Ok(Some(behind)) if may_be_json && goes_on_as_json(text, value.from, at) => {
                    value.first_end = value.first_end.or(Some((at, behind)));
                    value.n_inner += 1;
                    self.at = behind;
                    if MAX_INNER <= value.n_inner {
                        break;
                    }
                    continue;
                }
                Ok(Some(behind)) => {
                    self.close(&value, at, behind, may_be_json);
                    return Ok(None);
                }
                Ok(None) => value.holds_closer |= matches!(marks_at(text, at, &close), Ok(Some(_))),
            }
            match self.opener(view, form, at) {
                Err(Incomplete) if !end => {
                    (self.at, self.value) = (at, Some(value));
                    return Err(Incomplete);
                }
                Ok(Some(inner)) => {
                    let is_alike = !form.closes_by_key() || inner.key.of(text) == value.key.of(text);
                    // Marks of a caller's own may be any characters, which a text holds by chance.
                    let is_tag = form.argument.head.starts_with(['<', ']']);
                    value.is_nested |= value.first_end.is_none() && is_alike && is_tag;
                }
                _ => {}
            }
            if form.is_of_tokens() && matches!(marks_at(text, at, &form.call.head), Ok(Some(_))) {
                value.next_call = value.next_call.or(Some(at));
            }
            self.at = at + text[at..].chars().next().map_or(1, char::len_utf8);
        }
        match value.first_end {
            Some((at, behind)) if end || MAX_INNER <= value.n_inner => {
                self.close(&value, at, behind, false);
                Ok(None)
            }
            _ if !end => {
                (self.at, self.value) = (text.len(), Some(value));
                Err(Incomplete)
            }
            _ => {
                self.value = Some(value);
                let ending = if value.holds_closer { Ending::Broken } else { Ending::Cut };
                // No text spells tokens by chance: behind a value that nothing closes the next call begins.
                Ok(Some(End { at: value.next_call.unwrap_or(text.len()), ending }))
            }
        }
    }

    /// The place behind the mark `close` at `at`, where the call goes on behind that.
    fn closes(&self, view: View<'_>, form: &Form, close: &str, at: usize) -> Seen<usize> {
        let View { text, end, .. } = view;
        let Some(behind) = at_end(marks_at(text, at, close), end)? else { return Ok(None) };
        let next = behind_blanks(text, behind);
        if next == text.len() {
            return if end { Ok(Some(behind)) } else { Err(Incomplete) };
        }
        let goes_on = match (self.opener(view, form, next), self.closer(view, form, next)) {
            (Ok(Some(_)), _) | (_, Ok(Some(_))) => true,
            (Err(Incomplete), _) | (_, Err(Incomplete)) if !end => return Err(Incomplete),
            (opener, closer) => opener.is_err() || closer.is_err(),
        };
        Ok(goes_on.then_some(behind))
    }

    /// Ends `value` at `end`; the call goes on at `behind`.
    fn close(&mut self, value: &Value, end: usize, behind: usize, is_json: bool) {
        let Value { key, typing, from, .. } = *value;
        self.is_doubtful |= value.is_nested && !is_json;
        self.params.push(Param { key, typing, value: Span::new(from, end) });
        self.at = behind;
    }

    /// Returns whether arguments open with tokens of a vocabulary, which no text spells by chance: `<|open|>argument key="`.
    pub(crate) fn is_of_tokens(&self) -> bool {
        self.record.form().is_some_and(Form::is_of_tokens)
    }
}

impl View<'_> {
    /// Returns whether `value` is JSON, if it looks like that.
    fn may_be_json(&self, value: &Value) -> bool {
        match value.typing {
            Typing::Text => false,
            Typing::Json => true,
            Typing::Schema => {
                let Some(guide) = self.tool.map(|tool| tool.schema().guide()) else { return false };
                let place = place_of(guide, guide.root(), value.key.of(self.text));
                let kinds = place.map(|place| guide.kinds(place));
                kinds.is_some_and(|kinds| {
                    kinds.meets(Kinds::OBJECT.or(Kinds::ARRAY)) && !kinds.meets(Kinds::STRING)
                })
            }
        }
    }
}

/// The place behind the blanks at `from`, line breaks written as `\\n` included. A backslash with which the text ends may become one.
fn behind_blanks(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        at += blanks(text, at, MAX_SPACE);
        match text.as_bytes().get(at..) {
            Some([b'\\', b'n' | b'r' | b't', ..]) if at - from < MAX_SPACE => at += 2,
            Some([b'\\']) => return text.len(),
            _ => return at,
        }
    }
}

/// Returns whether the object or list that begins behind the blanks at `from` is not over at `at`, and is JSON so far:
/// `{"html": "</parameter></function>"}</parameter>`.
fn goes_on_as_json(text: &str, from: usize, at: usize) -> bool {
    /// A literal or an escape that ends there may have begun so far before.
    const TOKEN: usize = 6;
    let piece = text.get(..at).unwrap_or("");
    let from = from + piece.get(from..).map_or(0, |value| value.len() - value.trim_start().len());
    piece.get(from..).is_some_and(|value| value.starts_with(['{', '[']))
        && strict_end(piece, from).is_err_and(|broken| at <= broken + TOKEN)
}

/// The next place from `from` on where one of `marks` may begin.
fn next_of(text: &str, from: usize, marks: [&str; 2]) -> Option<usize> {
    let rest = text.get(from..)?;
    let firsts = marks.map(|mark| mark.chars().next().unwrap_or('\0'));
    let found = match firsts {
        [a, b] if a.is_ascii_punctuation() && b.is_ascii_punctuation() => {
            memchr::memchr2(a as u8, b as u8, rest.as_bytes())
        }
        _ => rest
            .find(|letter: char| firsts.iter().any(|first| first.to_lowercase().eq(letter.to_lowercase()))),
    };
    found.map(|found| from + found)
}
