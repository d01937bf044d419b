//! Dialects: the ways in which models mark their calls, as data.
//!
//! A [`Dialect`] says which markers open and close a call, where the name stands, and in which grammar the arguments
//! are written. [`Dialects`] is a compiled set of them: the built-in ones and the caller's own. Adding a dialect is
//! adding a record; code belongs to the payload grammars.

mod check;
mod definition;
mod family;
mod first;
pub(crate) mod own;
pub(crate) mod problem;
mod record;
mod records;
mod set;
pub(crate) mod speech;

pub(crate) use self::definition::Sign;
pub use self::definition::{Anchor, Argument, Block, Dialect, Grammar, Marks, NameAt};
pub use self::family::fits;
pub(crate) use self::first::{First, agrees};
pub use self::problem::{DialectError, DialectProblem};
pub(crate) use self::record::Record;
pub(crate) use self::records::{
    ANSWER_HEADS, ANSWERS, ANY_CLOSER, FIELD, FOREIGN, FRAMES, QUOTATIONS, REASONING, RESULT_LABEL, RESULTS,
    TURN_MARKS, TURNS,
};
pub use self::set::Dialects;
pub(crate) use self::set::is_sign;
#[cfg(test)]
use crate::syntax::Text;
pub use crate::syntax::Trim;

/// Returns every mark of calls, blocks and results.
#[cfg(test)]
pub(crate) fn marks_of_all() -> Vec<Text> {
    let dialects = Dialects::default();
    let of = |marks: &Marks| [marks.open.clone(), marks.close.clone()].concat();
    let calls = dialects.iter().flat_map(|dialect| [of(&dialect.section), of(&dialect.call)].concat());
    let blocks = REASONING.iter().chain(records::SPEECH).chain(RESULTS);
    let blocks = blocks.flat_map(|(open, close)| [Text::from(*open), Text::from(*close)]);
    calls.chain(blocks).collect()
}
