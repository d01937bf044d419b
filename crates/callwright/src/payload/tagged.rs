//! Arguments in tags, one raw text each: `<parameter=a>x</parameter>`, `<arg_key>a</arg_key><arg_value>x</arg_value>`,
//! `<a>x</a>`.
//!
//! [`Tags`] goes over the text of one call as it arrives, by the marks of its dialect and no others. It finds the end
//! of the call and the place of each argument. [`crate::marks`] reads the same marks with slips.

use std::sync::Arc;

use callwright_json::{Guide, Kinds, Span};

use super::is_json_up_to;
use super::value::place_of;
use crate::dialect::Record;
use crate::grammar::fold::{fold, mark_at};
use crate::grammar::{Form, Sequence, behind_blanks};
use crate::syntax::marks::first_of;
use crate::syntax::tag::unescaped;
use crate::syntax::{Incomplete, Seen, Typing, at_end};
use crate::tools::Tool;

/// Longest key, in bytes.
const MAX_KEY: usize = 256;
/// Most arguments of one call.
const MAX_PARAMS: usize = 1024;
/// Most closing marks in one value that is JSON.
const MAX_INNER: usize = 8;

/// Reads the arguments of one call.
#[derive(Debug)]
pub(crate) struct Tags {
    record: Arc<Record>,
    /// The closer of the tag in which the call was named: `</function>`.
    own_close: String,
    /// The text in front of the word of that tag: `ns:`, `｜DSML｜`.
    namespace: String,
    at: usize,
    value: Option<Value>,
    /// The mark of an argument stands at a place without a readable argument.
    is_torn: bool,
    /// The place up to which the end of an unreadable call was searched.
    looked: usize,
    /// The arguments so far.
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

/// The way in which a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// A closing mark ends the call, or the next call begins.
    Closed,
    /// The text ends behind a whole argument.
    Bare,
    /// The text ends inside an argument, or before any.
    Cut,
    /// Something that belongs to no call stands there.
    Broken,
}

/// The end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The place behind the call.
    pub(crate) at: usize,
    /// The way in which it ends.
    pub(crate) ending: Ending,
}

/// The text so far, and the tool that is called in it.
#[derive(Clone, Copy)]
pub(crate) struct View<'t> {
    pub(crate) text: &'t str,
    /// The name of the tool as the model wrote it.
    pub(crate) name: &'t str,
    /// The tool, if it is known.
    pub(crate) tool: Option<&'t Tool>,
    /// No more text will come.
    pub(crate) end: bool,
}

/// A value that is not closed yet.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    key: Span,
    typing: Typing,
    from: usize,
    /// An opener of an argument stands in the value.
    is_nested: bool,
    /// The first place at which the value may end, with the place behind its closer, if it is JSON that goes on there.
    first_end: Option<(usize, usize)>,
    /// The number of such places so far.
    n_inner: usize,
    /// The value holds a closer behind which the call does not go on.
    holds_closer: bool,
    /// The place in the value at which tokens of its dialect open another call.
    next_call: Option<usize>,
}

/// The text between two arguments.
enum Next {
    /// An argument opens here.
    Value(Value),
    /// The call ends here, up to this place.
    Over(usize),
}

impl Tags {
    /// Starts at the call whose first argument begins at `from`, in the marks of `record`, behind `head`, the text in
    /// front of its name.
    pub(crate) fn new(from: usize, record: Arc<Record>, head: &str) -> Tags {
        let tag = head.rsplit_once('<').map_or("", |(_, tag)| tag);
        let word = tag.split(|c: char| c.is_whitespace() || matches!(c, '=' | '>')).next().unwrap_or("");
        let bars = word.match_indices(['|', '｜']).nth(1).filter(|_| word.starts_with(['|', '｜']));
        let end = bars.or_else(|| word.rmatch_indices(':').next()).map_or(0, |(at, sign)| at + sign.len());
        let namespace = word.get(..end).unwrap_or("");
        let own_close = if word.is_empty() { String::new() } else { format!("</{word}>") };
        Tags {
            record,
            own_close,
            namespace: namespace.to_owned(),
            at: from,
            value: None,
            is_torn: false,
            looked: from,
            params: Vec::new(),
            is_doubtful: false,
            goes_on: false,
        }
    }

    /// Returns whether an argument opens at its beginning.
    pub(crate) fn begins(&self, view: View<'_>) -> Result<bool, Incomplete> {
        let Some(form) = self.record.form() else { return Ok(false) };
        Ok(matches!(at_end(self.next(view, form, self.at), view.end)?, Some(Next::Value(_))))
    }

    /// Returns whether an argument was opened, or its mark written.
    pub(crate) fn has_arguments(&self) -> bool {
        !self.params.is_empty() || self.value.is_some() || self.is_torn
    }

    /// Returns the key, the typing and the beginning of the argument that is not closed yet.
    pub(crate) fn open_value(&self) -> Option<(Span, Typing, usize)> {
        let Value { key, typing, from, .. } = self.value?;
        Some((key, typing, from))
    }

    /// Goes on from the last stop.
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

    /// Reads the text between arguments: the opener of the next one, or the end of the call.
    fn between(&mut self, view: View<'_>, form: &Form) -> Seen<End> {
        let View { text, end, .. } = view;
        let mut at = behind_blanks(text, self.at);
        // `<tool_sep>` stands behind the name.
        if self.params.is_empty()
            && let Some((mark, _)) = form.call.tails.first().filter(|(mark, _)| mark.starts_with('<'))
            && let Some(behind) = at_end(self.behind(mark, text, at, ""), end)?
        {
            at = behind_blanks(text, behind);
        }
        let ends = |at: usize, ending: Ending| Ok(Some(End { at, ending }));
        if at == text.len() {
            let over = if self.params.is_empty() { Ending::Cut } else { Ending::Bare };
            return if end { ends(at, over) } else { Err(Incomplete) };
        }
        match self.next(view, form, at) {
            Ok(Some(Next::Value(_))) if MAX_PARAMS <= self.params.len() => ends(at, Ending::Broken),
            Ok(Some(Next::Value(value))) => {
                (self.at, self.value) = (value.from, Some(value));
                Ok(None)
            }
            Ok(Some(Next::Over(behind))) => {
                self.goes_on = self.has_words_behind(view, form, behind)?;
                ends(behind, Ending::Closed)
            }
            Err(Incomplete) if !end => Err(Incomplete),
            Err(Incomplete) => ends(text.len(), Ending::Cut),
            Ok(None) => {
                self.is_torn =
                    !form.is_of_elements() && self.behind(&form.argument.head, text, at, "") != Ok(None);
                let over = if self.has_arguments() { self.over(view, form, at)? } else { at };
                ends(over, Ending::Broken)
            }
        }
    }

    /// Returns the opener of an argument or the end of the call at `at`. `%%next%%` ends the call, and is not a
    /// `%%{key}%%`.
    fn next(&self, view: View<'_>, form: &Form, at: usize) -> Seen<Next> {
        match self.closer(view, form, at) {
            Ok(Some(behind)) => Ok(Some(Next::Over(behind))),
            closer => match self.opener(view, form, at)? {
                Some(value) => Ok(Some(Next::Value(value))),
                None => closer.map(|_| None),
            },
        }
    }

    /// Returns the argument that opens at `at`.
    fn opener(&self, View { text, tool, .. }: View<'_>, form: &Form, at: usize) -> Seen<Value> {
        let Some(from) = self.behind(&form.argument.head, text, at, "")? else { return Ok(None) };
        let rest = text.get(from..).unwrap_or("");
        let first = form.argument.tails.first().map_or('>', |(tail, _)| tail.first());
        let letters = rest.char_indices().take_while(|(len, _)| *len <= MAX_KEY);
        // `name=a>`: no quote stands behind the key if none stands in front of it.
        let before = text.get(..from).and_then(|before| before.chars().next_back());
        let is_bare = first == '"' && before.map(fold) != Some(first);
        let ends: &[char] = if is_bare { &['>', ' '] } else { &[first] };
        for (len, _) in letters.filter(|(_, letter)| ends.contains(&fold(*letter))) {
            for (tail, typing) in &form.argument.tails {
                let Some(behind) = self.behind(tail, text, from + len, "")? else {
                    // `</arg_key>` ends the key with anything behind it, and `<arg_value>` with anything in front.
                    match tail.part_at(text, from + len)? {
                        Some(_) => return Ok(None),
                        None => continue,
                    }
                };
                let written = rest.get(..len).unwrap_or("");
                let key = written.trim();
                let start = from + written.len() - written.trim_start().len();
                return Ok(is_key(key, tool, form).then_some(Value {
                    key: Span::new(start, start + key.len()),
                    typing: typing.unwrap_or(self.record.typing),
                    from: behind,
                    ..Value::default()
                }));
            }
        }
        if rest.len() <= MAX_KEY { Err(Incomplete) } else { Ok(None) }
    }

    /// Returns the end of a call whose closer stands at `at`: the place behind the closer, or the place of the next
    /// opener.
    fn closer(&self, View { text, name, .. }: View<'_>, form: &Form, at: usize) -> Seen<usize> {
        // With several closers, only the first and that of the section close the call.
        let (first, last) = (form.over.first(), form.section.as_ref().map(|(_, close)| close));
        let rest = text.get(at..).unwrap_or("");
        let own = Some(&*self.own_close).filter(|mark| !mark.is_empty());
        let own = own.into_iter().map(|mark| mark_at(rest, mark, &self.namespace).map(|len| Some(at + len?)));
        let closers = first.into_iter().chain(last).map(|mark| self.behind(mark, text, at, name));
        let opened = form.openers().map(|mark| self.behind(mark, text, at, name).map(|to| to.map(|_| at)));
        first_of(closers.chain(own).chain(opened))
    }

    /// Returns the end of a call that cannot be read at `at`: the place behind its closer, or the place of the next
    /// opener.
    fn over(&mut self, view: View<'_>, form: &Form, at: usize) -> Result<usize, Incomplete> {
        let firsts = [
            form.over.first().map_or('<', Sequence::first),
            form.openers().next_back().map_or('<', Sequence::first),
        ];
        self.looked = self.looked.max(at);
        while let Some(next) = next_of(view.text, self.looked, firsts) {
            match self.closer(view, form, next) {
                Ok(Some(over)) if at < over => return Ok(over),
                Err(Incomplete) if !view.end => return Err(Incomplete),
                _ => self.looked = behind_letter(view.text, next),
            }
        }
        self.looked = view.text.len();
        if view.end { Ok(at) } else { Err(Incomplete) }
    }

    /// Returns whether words follow on the line of the marks that close a call. The first mark ends at `behind`. With such
    /// words, all of the line may belong to a value: `</parameter></function> is how it ends.</parameter></function>`.
    fn has_words_behind(
        &self,
        View { text, name, end, .. }: View<'_>,
        form: &Form,
        behind: usize,
    ) -> Result<bool, Incomplete> {
        let mut at = behind;
        for mark in form.over.iter().skip(1) {
            at = at_end(self.behind(mark, text, behind_blanks(text, at), name), end)?.unwrap_or(at);
        }
        let line = text.get(at..).unwrap_or("").trim_start_matches([' ', '\t']);
        if line.is_empty() && !end { Err(Incomplete) } else { Ok(line.starts_with(char::is_alphanumeric)) }
    }

    /// Reads `value` to its end, if that is there.
    fn value(&mut self, view: View<'_>, form: &Form, mut value: Value) -> Seen<End> {
        let found = self.end_of(view, form, &mut value);
        if let Ok(Some((end, behind))) = found {
            let Value { key, typing, from, .. } = value;
            // A value that goes on over such a mark may end there.
            let is_in_letters = self.record.markup.is_none() && form.is_in_letters();
            self.is_doubtful |= value.is_nested || is_in_letters && value.holds_closer;
            self.params.push(Param { key, typing, value: Span::new(from, end) });
            self.at = behind;
            return Ok(None);
        }
        self.value = Some(value);
        found?;
        let ending = if value.holds_closer { Ending::Broken } else { Ending::Cut };
        // A text does not spell tokens by chance: the next call begins behind a value that nothing closes.
        Ok(Some(End { at: value.next_call.unwrap_or(view.text.len()), ending }))
    }

    /// Finds the first closer of `value` behind which the call goes on: its place, and the place behind it. `self.at`
    /// is the progress of the search.
    fn end_of(&mut self, view: View<'_>, form: &Form, value: &mut Value) -> Seen<(usize, usize)> {
        let View { text, end, .. } = view;
        let (close, head) = (&form.argument_close, &form.argument.head);
        let (key, may_be_json) = (value.key.of(text), view.may_be_json(value));
        while let Some(at) = next_of(text, self.at, [close.first(), head.first()]) {
            self.at = at;
            if let Some(behind) = at_end(self.behind(close, text, at, key), end)? {
                let goes_on = self.goes_on_behind(view, form, behind)?;
                value.holds_closer |= !goes_on;
                if goes_on && may_be_json && goes_on_as_json(text, value.from, at) {
                    value.first_end = value.first_end.or(Some((at, behind)));
                    value.n_inner += 1;
                    self.at = behind;
                    if MAX_INNER <= value.n_inner {
                        break;
                    }
                    continue;
                }
                if goes_on {
                    value.is_nested &= !may_be_json;
                    return Ok(Some((at, behind)));
                }
            }
            if self.behind(head, text, at, "") != Ok(None)
                && let Some(Next::Value(inner)) = at_end(self.next(view, form, at), end)?
            {
                let is_alike = !form.closes_by_key() || inner.key.of(text) == key;
                // Marks of a caller's own may be any characters, which a text holds by chance.
                let is_told = self.record.markup.is_none() || !form.is_in_letters();
                value.is_nested |= value.first_end.is_none() && is_alike && is_told;
            }
            if let Some(call) = form.openers().next_back().filter(|_| form.is_of_tokens())
                && at_end(self.behind(call, text, at, ""), end)?.is_some()
            {
                value.next_call = value.next_call.or(Some(at));
            }
            self.at = behind_letter(text, at);
        }
        if value.first_end.is_some() && (end || MAX_INNER <= value.n_inner) {
            return Ok(value.first_end);
        }
        self.at = text.len();
        if end { Ok(None) } else { Err(Incomplete) }
    }

    /// Returns the place behind `marks` at `at`, with `name` in their slot.
    fn behind(&self, marks: &Sequence, text: &str, at: usize, name: &str) -> Seen<usize> {
        marks.at(text, at, name, &self.namespace)
    }

    /// Returns whether the call goes on, or ends, behind the closer of a value that ends at `behind`.
    fn goes_on_behind(&self, view: View<'_>, form: &Form, behind: usize) -> Result<bool, Incomplete> {
        let next = behind_blanks(view.text, behind);
        match if next == view.text.len() { Err(Incomplete) } else { self.next(view, form, next) } {
            Ok(next) => Ok(next.is_some()),
            Err(Incomplete) if view.end => Ok(true),
            Err(Incomplete) => Err(Incomplete),
        }
    }
}

impl View<'_> {
    /// Returns whether `value` is JSON, if it looks like JSON.
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

/// Returns whether `key` may belong to an argument of `tool`.
fn is_key(key: &str, tool: Option<&Tool>, form: &Form) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    let is_word = || !key.is_empty() && key.chars().all(is_letter);
    match tool {
        Some(tool) if tool.declares(key) => true,
        // `k&amp;q`
        Some(tool) if key.contains('&') => tool.declares(&unescaped(key)),
        // `<` alone begins an argument only in front of a key that the tool takes.
        tool if form.is_of_elements() => tool.is_some_and(|tool| tool.takes(key)) && is_word(),
        // `count31337` lacks a mark.
        Some(tool) => is_word() && !tool.parameters().any(|own| key.starts_with(own)),
        None => is_word(),
    }
}

/// Returns whether the object or list behind the blanks at `from` is not over at `at`, and is JSON so far:
/// `{"html": "</parameter></function>"}</parameter>`.
fn goes_on_as_json(text: &str, from: usize, at: usize) -> bool {
    let piece = text.get(..at).unwrap_or("");
    let from = from + piece.get(from..).map_or(0, |value| value.len() - value.trim_start().len());
    piece.get(from..).is_some_and(|value| value.starts_with(['{', '['])) && is_json_up_to(piece, from)
}

/// Returns the place behind the letter at `at`.
fn behind_letter(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

/// Returns the next place from `from` on at which a mark may begin, by the first letters of two marks.
fn next_of(text: &str, from: usize, firsts: [char; 2]) -> Option<usize> {
    let rest = text.get(from..)?;
    let found = match firsts {
        [a, b] if a.is_ascii_punctuation() && b.is_ascii_punctuation() => {
            memchr::memchr2(a as u8, b as u8, rest.as_bytes())
        }
        _ => rest
            .find(|letter: char| firsts.iter().any(|first| first.to_lowercase().eq(letter.to_lowercase()))),
    };
    found.map(|found| from + found)
}
