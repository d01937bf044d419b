//! What keeps a record from being used.

use std::fmt;

/// The most dialects of a set besides those that are built in.
pub(super) const MAX_DIALECTS: usize = 256;
/// The most markers of one kind, models and aliases of a dialect.
pub(super) const MAX_MARKS: usize = 64;
/// The longest of its texts, in bytes.
pub(crate) const MAX_TEXT: usize = 256;

/// A dialect that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialectError {
    /// Its name.
    pub dialect: String,
    /// The member that is wrong, as in TOML: `call.open`.
    pub member: &'static str,
    /// What is wrong with it.
    pub problem: DialectProblem,
}

/// What is wrong with a member of a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DialectProblem {
    /// It is missing or empty.
    Missing(&'static str),
    /// A name with other characters than small letters, digits, `_`, `-`, `.`.
    NotAName,
    /// A name that another dialect has.
    Taken(String),
    /// No dialect has this name.
    Unknown(String),
    /// Too long a text, or too many of them.
    TooLarge,
    /// A marker that begins like any text: its first two characters must be fixed.
    NotFixed(String),
    /// `{…}` in a marker that is no place holder there.
    BadSlot(String),
    /// Two place holders with nothing between them.
    SlotsMeet(String),
    /// It goes with another setting only.
    NotWith(&'static str),
}

impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dialect `{}`: {}: ", self.dialect, self.member)?;
        match &self.problem {
            DialectProblem::Missing(what) => write!(f, "{what}"),
            DialectProblem::NotAName => {
                write!(f, "a name is made of small letters, digits, `_`, `-` and `.`, at most 64 of them")
            }
            DialectProblem::Taken(name) => write!(f, "`{name}` is the name of another dialect"),
            DialectProblem::Unknown(name) => write!(f, "there is no dialect `{name}`"),
            DialectProblem::TooLarge => {
                write!(
                    f,
                    "at most {MAX_MARKS} texts of at most {MAX_TEXT} bytes, and {MAX_DIALECTS} dialects"
                )
            }
            DialectProblem::NotFixed(marker) => {
                write!(f, "`{marker}` begins like any text: two or more fixed characters must come first")
            }
            DialectProblem::BadSlot(slot) => write!(f, "`{slot}` stands for nothing here"),
            DialectProblem::SlotsMeet(marker) => {
                write!(f, "in `{marker}` something fixed must stand behind each place holder but the last")
            }
            DialectProblem::NotWith(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for DialectError {}
