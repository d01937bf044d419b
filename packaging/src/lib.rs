//! Builds what is published, and tests it as users get it.
#![expect(clippy::print_stdout, reason = "a command talks to its user")]

pub mod command;
pub mod crates;
pub mod javascript;
pub mod python;
pub mod standalone;
