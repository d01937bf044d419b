//! Templates of models, and what they are found to write.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod corpus;
mod response;
mod speech;
