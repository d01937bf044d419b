//! Turns with servers that the tests write.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod capability;
mod common;
mod content;
mod cuts;
mod explained;
mod foreign;
mod held;
mod ladder;
mod limits;
mod long;
mod native;
mod native_strict;
mod routing;
mod secrets;
mod sound;
mod sse;
mod turn;
mod upstream;
