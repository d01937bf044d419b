//! The loop against a scripted upstream.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bench;
mod cancel;
mod cut;
mod golden;
mod kept;
mod kill;
mod machine;
mod runner;
