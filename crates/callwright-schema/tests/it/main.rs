//! Schemas, from outside.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod check;
mod coerce;
mod compile;
#[cfg(feature = "full-schemas")]
mod laws;
#[cfg(feature = "full-schemas")]
mod schemas;
mod suite;
