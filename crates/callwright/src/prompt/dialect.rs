//! The dialect of a prompt: one of a set, with its speech.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use super::marks;
use super::own_marks::OwnMarks;
use crate::dialect::speech::PromptFormat;
use crate::dialect::{Dialect, Dialects};
use crate::syntax::Text;

/// The dialect for a model of no known family; `docs/dialects.md` gives the reasons.
const UNKNOWN: &str = "json_bare";

/// A dialect that a prompt can teach. Cheap to clone.
///
/// ```
/// use callwright::prompt::PromptDialect;
///
/// let harmony: PromptDialect = "harmony".parse()?;
/// assert!(harmony.speech().trained);
/// assert!("klingon".parse::<PromptDialect>().is_err());
/// # Ok::<(), callwright::prompt::UnknownDialect>(())
/// ```
#[derive(Clone, Debug)]
pub struct PromptDialect {
    name: Text,
    speech: Arc<PromptFormat>,
    dialects: Dialects,
    own_marks: Arc<OwnMarks>,
}

impl PromptDialect {
    /// Returns the one of `dialects` with this name or alias.
    pub fn named(dialects: &Dialects, name: &str) -> Option<PromptDialect> {
        Some(PromptDialect::of(dialects, dialects.get(name)?))
    }

    /// Returns the best dialect for this model: its family's, or the one that small models do best with.
    pub fn for_model(dialects: &Dialects, model: &str) -> PromptDialect {
        let dialect = dialects.for_model(model);
        dialect.map_or_else(PromptDialect::json, |dialect| PromptDialect::of(dialects, dialect))
    }

    /// Returns all of `dialects`.
    pub fn all(dialects: &Dialects) -> impl Iterator<Item = PromptDialect> {
        let own_marks = Arc::new(OwnMarks::of(dialects));
        dialects.iter().map(move |dialect| PromptDialect::with(dialects, dialect, Arc::clone(&own_marks)))
    }

    /// Returns the dialect whose whole answer is JSON, `{"tool_calls": [{"name": …, "arguments": {…}}]}`. A server can
    /// hold a model to it, and an unknown model is taught it.
    pub fn json() -> PromptDialect {
        static JSON: LazyLock<PromptDialect> = LazyLock::new(|| {
            let dialects = Dialects::default();
            PromptDialect::named(&dialects, UNKNOWN)
                .unwrap_or_else(|| PromptDialect::of(&dialects, &Dialect::new(UNKNOWN)))
        });
        JSON.clone()
    }

    fn of(dialects: &Dialects, dialect: &Dialect) -> PromptDialect {
        PromptDialect::with(dialects, dialect, Arc::new(OwnMarks::of(dialects)))
    }

    fn with(dialects: &Dialects, dialect: &Dialect, own_marks: Arc<OwnMarks>) -> PromptDialect {
        let speech = Arc::new(PromptFormat::whole(dialect));
        PromptDialect { name: dialect.name.clone(), speech, dialects: dialects.clone(), own_marks }
    }

    /// Returns the name: `hermes`, `harmony`, `json_bare`.
    pub fn name(&self) -> &Text {
        &self.name
    }

    /// Returns the texts that teach and write it.
    pub fn speech(&self) -> &PromptFormat {
        &self.speech
    }

    /// Returns `text` without marks: those of [`neutralise`](super::neutralise), and those of the caller's own
    /// dialects.
    pub fn neutralise<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.own_marks.part(marks::neutralise(text))
    }

    /// Returns the text that [`neutralise`](PromptDialect::neutralise) was given.
    pub fn restore<'t>(&self, text: &'t str) -> Cow<'t, str> {
        marks::restored(self.own_marks.join(Cow::Borrowed(text)))
    }

    /// Returns the marks of the caller's own dialects.
    pub(super) fn own_marks(&self) -> &OwnMarks {
        &self.own_marks
    }

    /// Returns the dialects that read the written text back.
    pub fn dialects(&self) -> &Dialects {
        &self.dialects
    }

    /// Returns whether the whole answer is JSON, as in [`PromptDialect::json`].
    pub fn is_json(&self) -> bool {
        self.speech.calls.open.starts_with("{\"tool_calls\"")
    }
}

impl PartialEq for PromptDialect {
    fn eq(&self, other: &PromptDialect) -> bool {
        self.name == other.name && self.speech == other.speech
    }
}

impl Eq for PromptDialect {}

/// Returns the dialect for this model; for an unknown family, the one that small models do best with.
pub fn dialect_for(model: &str) -> PromptDialect {
    PromptDialect::for_model(&Dialects::default(), model)
}

/// Finds a built-in dialect by its name or alias.
impl FromStr for PromptDialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<PromptDialect, UnknownDialect> {
        PromptDialect::named(&Dialects::default(), name).ok_or(UnknownDialect)
    }
}

/// No dialect has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownDialect;

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dialects = Dialects::default();
        let names: Vec<&str> = dialects.iter().map(|dialect| &*dialect.name).collect();
        write!(f, "no dialect has this name; there are {}", names.join(", "))
    }
}

impl std::error::Error for UnknownDialect {}
