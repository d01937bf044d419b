//! Decides whether a call is made or only shown, by its place and its surroundings, never by a word of any language.
//!
//! A run is a row of calls with nothing but marks and blanks between them. Its beginning decides, or else the text
//! behind it: the rest of its line, the first word, the end. That text is held until then. A shown call goes out as its
//! own text, to the byte.

mod code;
mod elements;
mod pairs;
mod prefix;
pub(super) mod stand;
mod surroundings;
mod waiting;

use std::ops::Range;

use self::pairs::Pair;
use self::surroundings::Behind;
pub(super) use self::surroundings::{Before, Surroundings};
use super::opener::Delimiter;
use super::repeat::Spot;
use crate::verdict::{BesideProse, ShownBy, Verdict};

/// Calls without words between them.
#[derive(Debug)]
pub(super) struct Run {
    /// The extent of the run, with its marks.
    at: Range<usize>,
    verdicts: Vec<(Verdict, Spot)>,
    before: Before,
    behind: Behind,
    /// The run has marks that only calls have.
    is_marked: bool,
    /// The run is call expressions without marks.
    is_expression: bool,
    /// The first mark is a token of a vocabulary, which no text spells by chance.
    is_of_tokens: bool,
    /// The run begins with a word or a label that calls alone have: `functools[`, `Action: f`.
    is_labelled: bool,
    /// The run has the form that was asked for.
    is_asked: bool,
    /// The fence around the run, if it is the run's own.
    fence: Option<Fence>,
    /// The text behind the run stands in its list: `[f(a=1), …`.
    is_listed: bool,
    /// The pair around the run that its own marks open and close.
    own: Option<Pair>,
    /// The decision, if no later text can change it.
    told: Option<Stand>,
    /// The text behind the run that waits with it.
    text: Vec<Piece>,
}

#[derive(Clone, Copy, Debug)]
struct Fence {
    /// The fence is longer than one around calls, or has a heading in it.
    shows: bool,
    /// Its label names calls, or a format in which calls are written.
    is_of_calls: bool,
    /// The fence shows nothing, and its label says that its code is to be run.
    is_run: bool,
    /// The fence holds more than the run.
    is_open: bool,
}

/// A decision about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Made,
    /// The run may be calls: the caller may ask.
    Unsure,
    /// The run has no marks and stands between words: the runs at the edge decide.
    Between,
    /// The run stands in code that the model means to be run.
    InCode,
    Shown(ShownBy),
}

impl Stand {
    fn is_call(self) -> bool {
        matches!(self, Stand::Made | Stand::Unsure)
    }
}

/// A summary of the runs that went out.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The decision about the last run that went out, and whether that run had marks.
    last: Option<(Stand, bool)>,
    /// The runs that went out as calls.
    calls: Either,
    /// The runs that went out as unsure.
    doubts: Either,
}

/// Tells whether there are runs with marks, and runs without.
#[derive(Clone, Copy, Debug, Default)]
struct Either {
    marked: bool,
    unmarked: bool,
}

impl Either {
    /// Counts `run` in, if it `is_one`.
    fn add(&mut self, run: &Run, is_one: bool) {
        self.marked |= is_one && run.is_marked;
        self.unmarked |= is_one && !run.is_marked;
    }
}

/// A piece of the text behind a run.
#[derive(Debug)]
struct Piece {
    at: Range<usize>,
    /// The piece is marks that close those of earlier calls.
    is_marks: bool,
}

impl Told {
    /// Returns whether the last run that went out is shown.
    fn is_last_shown(&self) -> bool {
        matches!(self.last, Some((Stand::Shown(_), _)))
    }
}

/// The calls of a text, and the prose in front of each. Words are any letters and digits; their meaning decides
/// nothing.
#[derive(Debug, Default)]
pub(super) struct Beside {
    calls: Vec<(usize, usize, Option<BesideProse>)>,
}

impl Beside {
    /// Notes the verdict `number`, of a call behind `said` bytes of text, and its relation to the words before it.
    /// These include the words of an unclosed thought.
    fn note(&mut self, number: usize, said: usize, before: Option<BesideProse>) {
        self.calls.push((number, said, before));
    }

    /// Writes into each accepted call its relation to `text`, the whole prose of the model.
    pub(super) fn tell(&self, text: &str, verdicts: &mut [Verdict]) {
        let first = text.find(char::is_alphanumeric);
        let last = text.rfind(char::is_alphanumeric);
        for &(number, said, before) in &self.calls {
            let Some(Verdict::Accepted(call)) = verdicts.get_mut(number) else { continue };
            let is_behind = first.is_some_and(|first| first < said);
            let is_before = last.is_some_and(|last| said <= last);
            call.beside_prose = match before.or(is_behind.then_some(BesideProse::Above)) {
                Some(BesideProse::Sentence) => before,
                _ if is_behind && is_before => Some(BesideProse::Between),
                // A thought before the call and text behind it are two places, so the call does not stand between them.
                before => before.max(is_before.then_some(BesideProse::Below)),
            };
        }
    }
}

/// Returns the most ticks of a fence among `delimiters`.
fn ticks<'d>(delimiters: impl Iterator<Item = &'d Delimiter>) -> Option<usize> {
    let ticks = delimiters.filter_map(|delimiter| match delimiter {
        Delimiter::Fence(ticks) => Some(*ticks),
        _ => None,
    });
    ticks.max()
}
