//! The tools, as a run uses them: by name, with JSON.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bench;
mod commands;
mod definitions;
mod escapes;
mod files;
mod functions;
mod searches;
mod walls;
