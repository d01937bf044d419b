//! Stores in files and, where `CALLWRIGHT_TEST_POSTGRES` names a server, in Postgres.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod crash;
mod damage;
mod hold;
mod laws;
mod limits;
mod owners;
mod parts;
mod places;
mod power;
mod store;
mod table;
mod upgrade;
