//! The scripted upstream, asked over its port.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod server;
