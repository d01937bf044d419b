//! The faults of a dialect that cannot be used, and the limits of its size.

use std::fmt;

/// Most dialects in a set besides the built-in ones.
pub(super) const MAX_DIALECTS: usize = 256;
/// Most markers of one kind, models and aliases of a dialect.
pub(super) const MAX_MARKS: usize = 64;
/// Longest text of a dialect, in bytes.
pub(crate) const MAX_TEXT: usize = 256;

/// A dialect that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialectError {
    /// The name of the dialect.
    pub dialect: String,
    /// The member that is wrong, as in TOML: `call.open`.
    pub member: &'static str,
    /// The rule that the member breaks.
    pub problem: DialectProblem,
}

/// The rule that a member of a dialect breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DialectProblem {
    /// The member is missing or empty.
    Missing(&'static str),
    /// The name has other characters than small letters, digits, `_`, `-`, `.`.
    NotAName,
    /// Another dialect has this name.
    Taken(String),
    /// No dialect has this name.
    Unknown(String),
    /// A text is too long, or there are too many of them.
    TooLarge,
    /// The marker begins like any text: its first two characters must be fixed.
    NotFixed(String),
    /// `{…}` in the marker is not a place holder there.
    BadSlot(String),
    /// Two place holders have nothing between them.
    SlotsMeet(String),
    /// The member goes only with another setting.
    NotWith(&'static str),
}

impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dialect `{}`: {}: ", self.dialect, self.member)?;
        match &self.problem {
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
            DialectProblem::Missing(why) | DialectProblem::NotWith(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for DialectError {}
