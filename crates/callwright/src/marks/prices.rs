//! The prices of marks that differ from their dialect's spelling, in halves of a point.
//!
//! A reading that costs more than [`CEILING`] does not count, and one counts only if each other one costs [`MARGIN`]
//! more.

/// Highest cost of a reading.
pub(super) const CEILING: u32 = 26;
/// A reading wins only if it is at least this much cheaper than the runner-up.
pub(super) const MARGIN: u32 = 6;

/// A letter of a mark is too many, missing, changed or exchanged with its neighbour.
pub(super) const EDIT: u32 = 8;
/// A piece of an opener is missing.
pub(super) const HALF: u32 = 12;
/// A piece of an opener stands twice.
pub(super) const DOUBLED: u32 = 10;

/// The way passes over a mark that belongs to nothing.
pub(super) const STRAY: u32 = 10;
/// The way passes over a mark that belongs to nothing and names a call or an argument.
pub(super) const NEVER: u32 = 40;
/// The opener or the closer of the section is missing.
pub(super) const NO_SECTION: u32 = 4;
/// The closer of an argument is missing, though others are closed.
pub(super) const NO_ARGUMENT_CLOSE: u32 = 12;
/// The closer of an argument is missing, and nothing in the text closes arguments: a habit of the model.
pub(super) const NO_CLOSERS: u32 = 4;
/// The opener of an argument is missing.
pub(super) const NO_ARGUMENT: u32 = 16;
/// An opener stands twice.
pub(super) const REPEATED: u32 = 10;

/// The value holds its first mark of its own dialect: a whole one, or a torn one.
pub(super) const HELD: u32 = 20;
pub(super) const HELD_TORN: u32 = 18;
/// A closer within a line closes a value that stands on lines of its own.
pub(super) const HELD_IN_LINE: u32 = 16;
/// The value holds each further mark.
pub(super) const HELD_NEXT: u32 = 6;
/// The end of an opener stands twice, and where the second one is a word or ends the line.
pub(super) const TAIL_AGAIN: u32 = 10;
pub(super) const TAIL_AGAIN_ALONE: u32 = 16;
