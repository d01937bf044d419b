//! The gateway, asked over its port.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod corpus;
mod gemini;
mod kept;
mod messages;
mod observed;
mod ollama;
mod page;
mod responses;
mod running;
mod server;
mod tenants;
