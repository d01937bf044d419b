//! The command, run as users run it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod binary;
mod built_in;
mod caps;
mod chat;
mod commands;
mod dialects;
mod inputs;
mod kept;
mod kill;
mod kill_gateway;
mod lines;
mod mcp;
mod picture;
mod replay;
mod run;
mod serve;
mod setup;
mod terminal;
mod tls;
mod trust;
