//! The door for JavaScript: what the npm package `callwright` in `js/` stands on.
//!
//! Texts come in as UTF-8, definitions, options and results cross as JSON, which costs less than building objects from
//! here. A text that is right crosses once: its caller has it already. Nothing is decided here: the engine reads, and
//! this translates. Places, which the engine counts in bytes, are told in UTF-16 units, as JavaScript counts. The modules
//! stand in reading order.

mod told;
mod definitions;
pub mod options;
pub mod heal;
pub mod partial;
mod outcome;
mod scanner;
#[cfg(feature = "view")]
pub mod view;
