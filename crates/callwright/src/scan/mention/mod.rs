//! Decides whether a call is made or only shown, by its place and its surroundings, never by a word of any language.
//!
//! A run is calls with nothing but marks and blanks between them. Its beginning decides, or else the text behind it, which is held
//! until it does: the rest of its line, the first word, the end. A call that is shown goes out as the text it is, to the byte.

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
    /// Its extent, its marks included.
    at: Range<usize>,
    verdicts: Vec<(Verdict, Spot)>,
    before: Before,
    behind: Behind,
    /// It is written by marks that only calls have.
    is_marked: bool,
    /// It is call expressions without marks.
    is_expression: bool,
    /// The first of them is a token of a vocabulary, which no text spells by chance.
    is_of_tokens: bool,
    /// It begins with a word or a label that calls alone have: `functools[`, `Action: f`.
    is_labelled: bool,
    /// It is written as it was asked for.
    is_asked: bool,
    /// The fence of its own that it stands in.
    fence: Option<Fence>,
    /// The text behind it stands in its list, `[f(a=1), …`.
    is_listed: bool,
    /// The pairs that its own marks open.
    own: Vec<Pair>,
    /// The decision, where nothing that follows can change it.
    told: Option<Stand>,
}

#[derive(Clone, Copy, Debug)]
struct Fence {
    /// It is longer than one around calls is, or has a heading in it.
    shows: bool,
    /// Its label names something in which calls are written.
    is_of_calls: bool,
    /// It shows nothing, and its label says that it is there to be run.
    is_run: bool,
    /// More stands in it than the run.
    is_open: bool,
}

/// A decision about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Made,
    /// A call perhaps: the caller may ask.
    Unsure,
    /// Unmarked and between words: what the runs at the edge are.
    Between,
    /// It stands in code that a model wants run.
    InCode,
    Shown(ShownBy),
}

impl Stand {
    fn is_call(self) -> bool {
        matches!(self, Stand::Made | Stand::Unsure)
    }
}

/// The text that is held until its runs are decided, and a summary of those that went out.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The first is a run.
    pieces: Vec<Piece>,
    /// The decision about the last run that went out, and whether that had marks.
    last: Option<(Stand, bool)>,
    /// The runs that went out as calls.
    calls: Either,
    /// Those that went out as unsure.
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

/// A piece of the text that is held.
#[derive(Debug)]
enum Piece {
    Prose(Range<usize>),
    /// Marks that end what was opened before them.
    Marks(Range<usize>),
    /// The next one of the runs that wait.
    Run,
}

impl Held {
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns whether the last run that went out is shown.
    fn is_last_shown(&self) -> bool {
        matches!(self.last, Some((Stand::Shown(_), _)))
    }
}

/// The calls of a text, and what had been said when each was made. Words are any letters and digits; their meaning decides nothing.
#[derive(Debug, Default)]
pub(super) struct Beside {
    calls: Vec<(usize, usize, Option<BesideProse>)>,
}

impl Beside {
    /// Notes the verdict `number`, of a call behind `said` bytes of text, and how it stands to the words before it, those of an
    /// unclosed thought among them.
    fn note(&mut self, number: usize, said: usize, before: Option<BesideProse>) {
        self.calls.push((number, said, before));
    }

    /// Says of each accepted call how it stands in `text`, which is all that the model said.
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
                // What a thought says before it and the text behind it are not about one place.
                before => before.max(is_before.then_some(BesideProse::Below)),
            };
        }
    }
}

/// The most ticks of a fence among `delimiters`.
fn ticks<'d>(delimiters: impl Iterator<Item = &'d Delimiter>) -> Option<usize> {
    let ticks = delimiters.filter_map(|delimiter| match delimiter {
        Delimiter::Fence(ticks) => Some(*ticks),
        _ => None,
    });
    ticks.max()
}
