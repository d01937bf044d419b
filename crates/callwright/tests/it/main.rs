//! The engine, from outside.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod account;
mod beside;
mod broken_marks;
mod broken_texts;
mod candidates;
mod chunks;
mod common;
mod constrain;
mod corpus;
mod dialects;
mod differential;
mod doors;
mod edits;
mod feedback;
mod gbnf;
mod growth;
mod heal_corpus;
mod json_loads;
mod laws;
mod lint;
mod live;
mod native;
mod partial;
mod prompt;
mod report;
mod smuggling;
mod speech;
mod taught;
mod tools;
mod truncation;
