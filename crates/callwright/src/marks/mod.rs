//! Calls whose marks are broken: a letter wrong, a mark missing, or doubled.
//!
//! The exact readers read whole marks. This module finds the marks of one dialect with their slips. The cheapest way
//! through them counts if no other one is nearly as cheap; otherwise the call is refused, and its readings are shown.

mod begin;
pub(crate) mod edit;
mod elsewhere;
mod frame;
mod lexemes;
mod parse;
mod prices;

use std::cmp::Reverse;

use callwright_json::Fuel;

pub(crate) use self::elsewhere::may_end_elsewhere;
pub(crate) use self::frame::{Front, fronts};
use self::lexemes::{Kind, Make};
pub(crate) use self::parse::read;
use crate::dialect::Record;
use crate::grammar::Form;
use crate::grammar::fold::{self, Folded};
use crate::syntax::{Incomplete, Seen};
use crate::tools::{Tool, ToolSet};

/// The result of reading broken marks.
#[derive(Debug)]
pub(crate) enum Decision<'t> {
    /// The text holds these calls.
    Calls {
        calls: Vec<(&'t Tool, String)>,
        /// The place behind the last mark.
        end: usize,
        /// The repaired marks.
        repaired: Vec<(usize, usize)>,
    },
    /// The text has more than one reading: the tool of the last call, and its arguments in each reading.
    Ambiguous { name: Option<String>, readings: Vec<String> },
    /// The text has no reading.
    Nothing {
        /// The place in bytes behind the last known mark in front of the next call, if the first call opens in its
        /// dialect's own spelling.
        extent: Option<usize>,
    },
}

/// The nearness of marks in front of a call to a text: the nearest is the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Nearness {
    /// The cost of their slips.
    cost: u32,
    /// The number of letters in the marks.
    letters: Reverse<usize>,
}

impl Nearness {
    /// Returns whether the marks have no slip.
    pub(crate) fn is_whole(self) -> bool {
        self.cost == 0
    }
}

/// Returns the nearness of the marks of `record` in front of a call of a declared tool to the beginning of `text`. At
/// the `end`, no more text will come.
pub(crate) fn begins(
    text: &str,
    record: &Record,
    tool_set: &ToolSet,
    end: bool,
    fuel: &Fuel,
) -> Seen<Nearness> {
    let names: Vec<&str> = tool_set.iter().map(Tool::name).collect();
    let formed = record.form().and_then(|form| begins_formed(text, form, tool_set, fuel));
    let framed = fronts((text, 0), record, tool_set, fuel).into_iter().map(|front| Nearness {
        cost: prices::EDIT * u32::try_from(front.edits).unwrap_or(u32::MAX / prices::EDIT),
        letters: Reverse(front.whole.chars().count()),
    });
    let nearest = formed.into_iter().chain(framed).min();
    let openers = || {
        let formed = record.form().into_iter().flat_map(|form| form.all_openers(&names));
        formed.chain(record.frames().iter().flat_map(|frame| frame.openers(&names)))
    };
    // `<function=get_weathe`: two letters more make it whole.
    match !end && !nearest.is_some_and(Nearness::is_whole) && may_grow(text, openers()) {
        true => Err(Incomplete),
        false => Ok(nearest),
    }
}

/// Longest marks in front of a call, in bytes, with its name.
const MAX_FRONT: usize = 512;

/// Returns whether more text could make `text` one of `marks`. The marks are whole, or broken.
fn may_grow(text: &str, mut marks: impl Iterator<Item = String>) -> bool {
    let signs = |text: &str| fold::folded_letters(text).filter(|c| !c.is_whitespace()).collect::<Vec<char>>();
    let text = Some(text).filter(|text| text.len() <= MAX_FRONT);
    let Some(text) = text.map(signs) else { return false };
    marks.any(|mark| {
        let mark = signs(&mark);
        // The text so far is the beginning of the mark, or all of it.
        edit::ends_within(&text, &mark, edit::MOST).next().is_some()
            || edit::ends_within(&mark, &text, edit::MOST).any(|(end, _)| end == text.len())
    })
}

/// Fuel for comparing one closer with the text behind a call.
const TORN_FUEL: usize = 64;

fn begins_formed(text: &str, form: &Form, tool_set: &ToolSet, fuel: &Fuel) -> Option<Nearness> {
    let names: Vec<&str> = tool_set.iter().map(Tool::name).collect();
    let folded = front_of((text, 0), form.all_openers(&names));
    let tools: Vec<&Tool> = tool_set.iter().collect();
    let marks = lexemes::of_calls(&folded, form, &tools, fuel);
    let sections = marks.iter().filter(|mark| mark.from == 0 && mark.kind == Kind::SectionOpen);
    let sections = sections.map(|mark| (folded.behind_blanks(mark.to), mark.price, mark.len));
    let near = sections.chain([(0, 0, 0)]).flat_map(|(at, cost, letters)| {
        let calls = marks.iter().filter(move |mark| mark.from == at && mark.kind.is_named_opener());
        calls.map(move |mark| Nearness { cost: cost + mark.price, letters: Reverse(letters + mark.len) })
    });
    near.min()
}

/// Returns whether the marks `written` name the tool `name`, and not another one of `names` that stands in them to the
/// letter and differs from it by case alone.
fn is_name_in<'n>(written: &str, name: &str, mut names: impl Iterator<Item = &'n str>) -> bool {
    let is_other = |other: &str| other != name && other.eq_ignore_ascii_case(name) && written.contains(other);
    written.contains(name) || !names.any(is_other)
}

/// Returns as much of `text`, which stands at `from`, as the longest of `openers` has. There is room for blanks between
/// the marks, and for doubled signs.
fn front_of((text, from): (&str, usize), openers: impl Iterator<Item = impl AsRef<str>>) -> Folded {
    const ROOM: usize = 32;
    let longest = ROOM + openers.map(|opener| opener.as_ref().chars().count()).max().unwrap_or(0);
    let to = text.char_indices().nth(longest).map_or(text.len(), |(to, _)| to);
    Folded::of(text.get(..to).unwrap_or(text), from)
}

/// Returns the place in bytes behind the closer of a call of `name` at the start of `all`, if letters of it are wrong.
/// A text that is as near to the opener of another call is not a closer: `<tool_call>`.
pub(crate) fn torn_closer(
    all: &str,
    record: &Record,
    name: &str,
    tool_set: &ToolSet,
    is_last: bool,
    fuel: &Fuel,
) -> Seen<usize> {
    let own = record.closers().map(|mark| mark.to_string());
    let framed = record.frames().iter().flat_map(|frame| frame.closers(name));
    let formed = record.form().into_iter().flat_map(|form| form.closers(name));
    let closers: Vec<String> = own.chain(framed).chain(formed).collect();
    let rest = all.trim_start();
    let text = front_of((rest, all.len() - rest.len()), closers.iter());
    fuel.spend(TORN_FUEL * (1 + closers.len()));
    let ends = closers.iter().flat_map(|mark| frame::spelt_ends(mark, &text, 0));
    let ends = ends.filter(|(end, edits)| *edits == 0 || !text.is_word_at(*end));
    // Among equally near ends, the longest counts: `</tool_calll>` is not `</tool_calll` with a sign behind it.
    match ends.min_by_key(|(end, edits)| (*edits, Reverse(*end))) {
        // The letter behind the longest closer tells whether it ends there.
        _ if !is_last && may_grow(rest, closers.into_iter()) => Err(Incomplete),
        Some((end, edits)) if 0 < edits => {
            let call = begins(rest, record, tool_set, is_last, fuel)?;
            let cost = prices::EDIT * u32::try_from(edits).unwrap_or(0);
            Ok(call.is_none_or(|call| cost < call.cost).then(|| text.byte(end)))
        }
        _ => Ok(None),
    }
}

/// Returns whether `text` holds a whole mark of `form` that opens or closes an argument.
pub(crate) fn holds_argument(text: &str, form: &Form, tool_set: &ToolSet, fuel: &Fuel) -> bool {
    let is_argument = |kind: Kind| matches!(kind, Kind::Argument(_) | Kind::ArgumentClose(_));
    let tools: Vec<&Tool> = tool_set.iter().collect();
    let (marks, _) = lexemes::find(&Folded::of(text, 0), form, &tools, fuel);
    marks.iter().any(|mark| mark.make == Make::Whole && is_argument(mark.kind))
}
