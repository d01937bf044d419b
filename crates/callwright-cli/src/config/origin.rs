//! The origin of a setting, and how that is said.

use std::fmt;
use std::path::Path;

/// Looks up a variable of the environment.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The place that a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The file.
    File,
    /// This variable of the environment.
    Env(String),
    /// This flag.
    Flag(String),
    /// Nobody said it: this was found, or chosen.
    Found(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File => f.write_str("file"),
            Origin::Env(variable) => f.write_str(variable),
            Origin::Flag(flag) => f.write_str(flag),
            Origin::Found(how) => f.write_str(how),
        }
    }
}

/// Returns a path as a user reads it.
pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}
