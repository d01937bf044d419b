//! The settings of a store. Plain data with defaults.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use regex::Regex;

use crate::secrets::Secrets;

/// Everything that a [`Store`](crate::Store) needs to know.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// Its place.
    pub location: Location,
    /// The bounds of what is kept.
    pub retention: Retention,
    /// The masks that are laid over everything before it is written.
    pub masking: Masking,
    /// The most records that may wait to be written. Any more are dropped, and counted.
    pub queue: usize,
    /// The most bytes that they may hold together.
    pub queue_bytes: usize,
}

impl StoreConfig {
    /// A store in this file, with everything else as it is by default.
    pub fn at(file: impl Into<PathBuf>) -> StoreConfig {
        StoreConfig::of(Location::File(file.into()))
    }

    /// A store at this place, with everything else as it is by default.
    pub fn of(location: Location) -> StoreConfig {
        StoreConfig {
            location,
            retention: Retention::default(),
            masking: Masking::default(),
            queue: 4096,
            queue_bytes: 64 << 20,
        }
    }
}

/// The place of a store.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A file of SQLite, made where it is not there.
    File(PathBuf),
    /// A database of Postgres, as a URL: `postgres://user:password@host/name`.
    Postgres(String),
}

impl FromStr for Location {
    type Err = LocationError;

    /// Reads a URL of Postgres, or else a path; `sqlite:` before it is taken off.
    fn from_str(text: &str) -> Result<Location, LocationError> {
        let text = text.trim();
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Location::Postgres(text.into()));
        }
        let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")).unwrap_or(text);
        match path {
            "" => Err(LocationError::Empty),
            other if other.contains("://") => Err(LocationError::Unknown),
            path => Ok(Location::File(path.into())),
        }
    }
}

/// A text that names no place for a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationError {
    /// There is nothing.
    Empty,
    /// A URL of something else.
    Unknown,
}

impl fmt::Display for LocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LocationError::Empty => "a store is a file, or postgres://…",
            LocationError::Unknown => "a store is a file, or postgres://…, and no other URL",
        })
    }
}

impl std::error::Error for LocationError {}

impl fmt::Display for Location {
    /// Without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::File(path) => write!(f, "{}", path.display()),
            Location::Postgres(url) => {
                let rest = url.split_once("://").map_or("", |(_, rest)| rest);
                let rest = rest.split('?').next().unwrap_or(rest);
                write!(f, "postgres://{}", rest.rsplit('@').next().unwrap_or(rest))
            }
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The bounds of what is kept. The oldest goes first, a session as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// For how many days after its last turn a session is kept; 0 stands for ever.
    pub days: u32,
    /// The most bytes of texts that are kept in all; 0 stands for any number.
    pub bytes: u64,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { days: 30, bytes: 1 << 30 }
    }
}

/// The secrets that must not be written.
#[derive(Clone, Debug, Default)]
pub struct Masking {
    /// Texts that this process knows to be secret.
    pub secrets: Secrets,
    /// Further patterns. Where one has a group, the first group is masked, else all of it.
    pub patterns: Vec<Regex>,
}

impl Masking {
    /// With these patterns.
    ///
    /// # Errors
    /// A pattern that cannot be used, and why.
    pub fn new(secrets: Secrets, patterns: &[String]) -> Result<Masking, String> {
        let compile = |pattern: &String| Regex::new(pattern).map_err(|error| error.to_string());
        Ok(Masking { secrets, patterns: patterns.iter().map(compile).collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_file_or_a_database_and_shows_no_password() {
        for (text, shown) in [
            ("callwright.db", Ok("callwright.db")),
            ("sqlite:///var/lib/a b.db", Ok("/var/lib/a b.db")),
            (
                "postgres://me:pa@ss@db.example:5432/traces?sslmode=require",
                Ok("postgres://db.example:5432/traces"),
            ),
            ("postgresql:///traces", Ok("postgres:///traces")),
            ("mysql://a/b", Err(LocationError::Unknown)),
            (" ", Err(LocationError::Empty)),
        ] {
            let location: Result<Location, LocationError> = text.parse();
            assert_eq!(location.map(|at| format!("{at:?}")), shown.map(str::to_owned), "{text}");
        }
    }
}
