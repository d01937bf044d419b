//! The loop, the tools and their walls, from outside.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run;
mod tools;
