//! The errors of a store, each as a sentence.

use std::fmt;
use std::io;

use crate::clock::rfc3339;
use crate::config::Location;

/// An error of a store.
#[derive(Debug)]
pub enum StoreError {
    /// It cannot be opened, and why.
    Open(Location, String),
    /// The database refused, or is gone.
    Database(sqlx::Error),
    /// It was written by a later version, or is damaged.
    Unreadable(String),
    /// Somebody else goes on with the session of this name.
    Held(String, Holder),
    /// It has been closed.
    Closed,
}

/// Who holds a session, as far as it says so: a process that began a moment ago may not have said anything yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// Its process and its machine: `4711@box`.
    pub process: Option<String>,
    /// Since when, in milliseconds since 1970.
    pub since: Option<i64>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process.as_deref().and_then(|process| process.split_once('@')) {
            Some((pid, host)) => write!(f, "the process {pid} on {host}")?,
            None => f.write_str("another process")?,
        }
        self.since.map_or(Ok(()), |since| write!(f, ", since {}", rfc3339(since)))
    }
}

impl StoreError {
    pub(crate) fn open(location: &Location, why: String) -> StoreError {
        StoreError::Open(location.clone(), why)
    }

    pub(crate) fn io(location: &Location) -> impl FnOnce(io::Error) -> StoreError {
        |error| StoreError::open(location, error.to_string())
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        match error {
            sqlx::Error::PoolClosed => StoreError::Closed,
            error => StoreError::Database(error),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Open(location, why) => write!(f, "the store {location} cannot be opened: {why}"),
            StoreError::Database(error) => write!(f, "the store cannot be used: {error}"),
            StoreError::Unreadable(why) => write!(f, "the store holds what cannot be read: {why}"),
            StoreError::Held(session, holder) => {
                write!(
                    f,
                    "the session {session} is under way: {holder} holds it, and two must not go on with one"
                )
            }
            StoreError::Closed => f.write_str("the store is closed"),
        }
    }
}

impl std::error::Error for StoreError {}
