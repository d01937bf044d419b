//! What stands between calls, piece by piece: prose, thoughts, quoted blocks, and how they go out.

pub(super) mod blocks;
pub(super) mod emit;
mod line;
mod prose;
pub(super) mod skip;
