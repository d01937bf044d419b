//! The reader, from outside.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod growth;
mod hostile;
mod laws;
mod values;
