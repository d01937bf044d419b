//! What a dialect writes around a payload of JSON, of a call expression or of a relaxed object, taken from its example or from
//! the marks that it declares.
//!
//! The payload has a reader of its own. Here only the marks in front of it and behind it are looked for, with their slips.

use super::edit::{MOST, ends_within};
use super::lexemes::most_edits;
use crate::dialect::{Dialect, Grammar};
use crate::grammar::fold::{Folded, fold, is_foreign};
use crate::grammar::{NAME, folded, marks};
use crate::syntax::Text;

/// What stands in front of a payload and behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// What stands before the name of the tool, or before the payload where that holds the name.
    before: String,
    /// What stands between the name and the payload; `None` where the payload holds the name.
    between: Option<String>,
    /// What closes the call, the name of its tool left out.
    close: Vec<String>,
    payload: Payload,
}

/// What begins a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payload {
    /// A bracket.
    Value,
    /// The name of a tool, or a bracket.
    Call,
}

/// So many blanks may stand between the marks.
const ROOM: usize = 16;

/// Marks that stand before a payload, whole or broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Front {
    /// How many letters are wrong.
    pub(crate) edits: usize,
    /// The place behind them, in letters.
    pub(crate) end: usize,
    /// As they should be.
    pub(crate) whole: String,
}

impl Frame {
    /// The frame of `example`, which calls `f` with `x` for `a`; `None` for one whose payload has no marks in front of it, or is
    /// made of marks.
    pub(crate) fn of(example: &str, grammar: Grammar) -> Option<Frame> {
        let name = word_at(example, 0, 'f')?;
        let key = word_at(example, name + 1, 'a')?;
        let value = word_at(example, key + 1, 'x')?;
        let (payload, at) = match example.find('{') {
            _ if grammar == Grammar::Calls => (Payload::Call, name),
            Some(brace) => (Payload::Value, brace),
            None => return None,
        };
        let at = at - usize::from(example[..at].ends_with('['));
        let is_closed = |c: char| !matches!(c, '}' | ']' | ')' | '"' | '\'');
        let behind = example.get(value + 1..).unwrap_or("");
        let close = behind.find(is_closed).map_or("", |from| &behind[from..]);
        // `[unused12]` begins with the bracket that closes a list, as far as that tells.
        let (before, between) = match name < at {
            true => (&example[..name], Some(&example[name + 1..at])),
            false => (&example[..at], None),
        };
        let frame = Frame {
            before: before.to_owned(),
            between: between.map(str::to_owned),
            close: marks(close).iter().map(|mark| named(mark, 'f')).collect(),
            payload,
        };
        // `functions.f({…})` is like any code.
        let is_code = frame.between.as_deref().is_some_and(|between| between.contains('('));
        (!is_code && !frame.before.trim().is_empty()).then_some(frame)
    }

    /// The frame of the caller's own `dialect`, as its marks say it.
    pub(crate) fn of_marks(dialect: &Dialect) -> Option<Frame> {
        let first = |marks: &[Text]| marks.first().map_or("", |mark| &**mark).to_owned();
        let call = first(&dialect.call.open);
        let (before, between) = match call.split_once("{name}") {
            Some((before, between)) => (before, Some(between.to_owned())),
            None => (call.as_str(), None),
        };
        let closers = [first(&dialect.call.close), first(&dialect.section.close)];
        let frame = Frame {
            before: first(&dialect.section.open) + before,
            between,
            close: closers.into_iter().filter(|mark| !mark.is_empty()).collect(),
            payload: if dialect.arguments == Grammar::Calls { Payload::Call } else { Payload::Value },
        };
        let is_fixed = !frame.before.contains('{') && !frame.between.iter().any(|mark| mark.contains('{'));
        (frame.before.contains(['<', '[']) && is_fixed).then_some(frame)
    }

    /// The frames of the next call of an answer: without the first of several marks, which opens the section, `<calls><call>` →
    /// `<call>`, and behind what stands `between` two, `<|start|>assistant<|channel|>`.
    pub(crate) fn next(&self, between: &str) -> impl Iterator<Item = Frame> {
        let marks = marks(&self.before);
        let first = marks.first().filter(|_| 1 < marks.len());
        let inner = first.and_then(|first| self.before.trim_start().strip_prefix(&**first));
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
    pub(super) fn closers(&self, name: &str) -> impl Iterator<Item = String> {
        self.close.iter().map(move |mark| mark.replace(NAME, name))
    }

    /// What it may begin with, folded, as far as that is the same for all tools.
    pub(crate) fn head(&self) -> Vec<char> {
        marks(&self.before).first().map_or_else(Vec::new, |mark| folded(mark))
    }

    /// The marks in front of a payload of one of the tools of these `names` with which `text` begins, if nothing but blanks
    /// is between them and the payload.
    pub(super) fn fronts(&self, text: &Folded, names: &[&str]) -> Vec<Front> {
        let name_starts = |at: usize| names.iter().any(|name| folded(name).first() == text.folded.get(at));
        let begins_payload = |at: usize| {
            let at = text.behind_blanks(at);
            matches!(text.letters.get(at), Some('{' | '['))
                || match self.payload {
                    Payload::Value => false,
                    Payload::Call => name_starts(at),
                }
        };
        let mut fronts = Vec::new();
        for whole in self.openers(names) {
            let mark = folded(&whole);
            let holds_foreign =
                |end: usize| text.folded.iter().take(end).any(|letter| is_foreign(*letter, &mark));
            let ends = spelt_ends(&whole, text, 0).into_iter();
            let ends = ends.filter(|(end, _)| begins_payload(*end) && !holds_foreign(*end));
            let least = ends.min_by_key(|(_, edits)| *edits);
            fronts.extend(least.map(|(end, edits)| Front { edits, end, whole }));
        }
        let least = fronts.iter().map(|front| front.edits).min();
        fronts.retain(|front| Some(front.edits) == least);
        fronts
    }

    /// May `text`, all of which is there so far, still begin with such marks?
    pub(super) fn may_grow(&self, text: &Folded, names: &[&str]) -> bool {
        let text: Vec<char> = text.folded.iter().copied().filter(|c| !c.is_whitespace()).collect();
        self.openers(names).any(|whole| {
            let whole: Vec<char> = folded(&whole).into_iter().filter(|c| !c.is_whitespace()).collect();
            // All of it is the beginning of them, or all of them.
            !ends_within(&text, &whole, MOST).is_empty()
                || ends_within(&whole, &text, MOST).iter().any(|(end, _)| *end == text.len())
        })
    }

    /// Does a mark of its own stand between the name and the payload, `[ARGS]`, not only the end of the one that names the tool?
    pub(crate) fn has_argument_mark(&self) -> bool {
        self.between.as_deref().is_some_and(|between| between.contains(['<', '[']))
    }

    /// May `text` be all marks in front of a payload, by its last sign, where one stands behind the name?
    pub(super) fn ends_like(&self, text: &str) -> bool {
        let between = self.between.as_deref().filter(|_| self.has_argument_mark()).map(str::trim_end);
        let last = |text: &str| text.chars().next_back().map(fold);
        between.is_some_and(|between| last(between) == last(text))
    }

    /// Is `text` these marks, as they should be, with this name?
    pub(super) fn is_front_of(&self, text: &Folded, name: &str) -> bool {
        let between = self.between.as_deref().unwrap_or("");
        let mut at = 0;
        for mark in marks(&format!("{}{name}{between}", self.before)) {
            let mark = folded(&mark);
            at = if at == 0 { 0 } else { text.behind_blanks(at) };
            if !text.folded.get(at..).is_some_and(|rest| rest.starts_with(&mark)) {
                return false;
            }
            at += mark.len();
        }
        at == text.len()
    }

    /// The most letters in front of a payload, without a name.
    pub(super) fn longest(&self) -> usize {
        self.before.chars().count() + self.between.as_ref().map_or(0, |mark| mark.chars().count()) + ROOM
    }

    fn openers<'n>(&'n self, names: &'n [&str]) -> impl Iterator<Item = String> + 'n {
        let alone = self.between.is_none().then(|| self.before.clone());
        let named = self
            .between
            .iter()
            .flat_map(move |between| names.iter().map(move |name| format!("{}{name}{between}", self.before)));
        alone.into_iter().chain(named)
    }
}

/// For each end in `text`, how many edits make what stands from `from` up to there of `whole`, whatever blanks stand between
/// its marks.
pub(super) fn spelt_ends(whole: &str, text: &Folded, from: usize) -> Vec<(usize, usize)> {
    let most = most_edits(whole.chars().count());
    let mut ends = vec![(from, 0)];
    for mark in marks(whole) {
        let mark = folded(&mark);
        // By their places, each with the fewest edits.
        let mut next: Vec<(usize, usize)> = Vec::new();
        for (at, spent) in ends {
            let at = if at == from { from } else { text.behind_blanks(at) };
            let found = ends_within(&mark, text.folded.get(at..).unwrap_or(&[]), most - spent);
            for (end, edits) in found.into_iter().map(|(end, edits)| (at + end, spent + edits)) {
                match next.binary_search_by_key(&end, |(end, _)| *end) {
                    Ok(known) => next[known].1 = next[known].1.min(edits),
                    Err(place) => next.insert(place, (end, edits)),
                }
            }
        }
        ends = next;
    }
    ends
}

/// Where `letter` stands as a word of its own, from `from` on.
fn word_at(text: &str, from: usize, letter: char) -> Option<usize> {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut places = text.match_indices(letter).map(|(at, _)| at).filter(|at| from <= *at);
    places.find(|&at| !is_word(text[..at].chars().next_back()) && !is_word(text[at + 1..].chars().next()))
}

fn named(mark: &str, letter: char) -> String {
    match word_at(mark, 0, letter) {
        Some(at) => format!("{}{NAME}{}", &mark[..at], &mark[at + 1..]),
        None => mark.to_owned(),
    }
}
