//! What it costs to read a mark that is not as its dialect writes it, in halves of a point.
//!
//! A reading that costs more than [`CEILING`] is none, and one counts only if each other one costs [`MARGIN`] more.

/// The most that a reading may cost.
pub(super) const CEILING: u32 = 26;
/// How much less than any other a reading costs that counts.
pub(super) const MARGIN: u32 = 6;

/// One letter of a mark too many, missing, changed or exchanged with its neighbour.
pub(super) const EDIT: u32 = 8;
/// A closer that is cut short: `</para>`.
pub(super) const SHORT: u32 = 16;
/// A piece of an opener is missing.
pub(super) const HALF: u32 = 12;
/// A piece of an opener stands twice.
pub(super) const DOUBLED: u32 = 10;

/// A mark that belongs to nothing is passed over.
pub(super) const STRAY: u32 = 10;
/// A mark that belongs to nothing and names a call or an argument is passed over.
pub(super) const NEVER: u32 = 40;
/// What opens or closes the section is not there.
pub(super) const NO_SECTION: u32 = 4;
/// What closes a call is not there.
pub(super) const NO_CALL_CLOSE: u32 = 10;
/// What closes an argument is not there, though others are closed.
pub(super) const NO_ARGUMENT_CLOSE: u32 = 12;
/// What closes an argument is not there, and nothing in the text closes arguments: a habit of the model.
pub(super) const NO_CLOSERS: u32 = 4;
/// What opens an argument is not there.
pub(super) const NO_ARGUMENT: u32 = 16;
/// An opener stands twice.
pub(super) const REPEATED: u32 = 10;

/// The first whole mark of its own dialect in a value, and the first torn one.
pub(super) const HELD: u32 = 20;
pub(super) const HELD_TORN: u32 = 18;
/// A closer in a line, that is taken for the value's where that stands on lines of its own.
pub(super) const HELD_IN_LINE: u32 = 16;
/// Each one after that.
pub(super) const HELD_NEXT: u32 = 6;
/// An edge of a value that a neighbouring mark explains better.
pub(super) const EDGE: u32 = 8;
/// The end of an opener once more, and where it is a word or ends the line.
pub(super) const TAIL_AGAIN: u32 = 10;
pub(super) const TAIL_AGAIN_ALONE: u32 = 16;
