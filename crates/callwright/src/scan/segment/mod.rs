//! The text between calls, piece by piece: prose, thoughts, quoted blocks, and the way in which they go out.

mod blocks;
pub(super) mod edges;
pub(super) mod emit;
mod line;
mod prose;
pub(super) mod skip;
