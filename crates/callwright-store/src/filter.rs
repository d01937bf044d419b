//! The filter of a list: the parts of a turn that a session is chosen by.

use serde::Deserialize;

use crate::former;
use crate::turn::NAME;

/// The wanted turn of a session. All members must fit one turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Filter {
    /// The end of the turn: `passed`, `repaired`, `retried`, `refused`, `gave-up`, ….
    #[serde(deserialize_with = "former::read_asked")]
    pub outcome: Option<String>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The way by which the tools reached it: `native`, `prompt`.
    pub mode: Option<String>,
    /// The dialect of its calls.
    pub dialect: Option<String>,
    /// The API in which it was asked for: `chat`, `messages`, `responses`.
    pub surface: Option<String>,
    /// Something that was wrong: `truncated`, `drop-comma`, ….
    pub error: Option<String>,
    /// Words that were said, all of them; the last one may be the beginning of a word.
    pub text: Option<String>,
}

impl Filter {
    /// Each member with its name, which is that of its parameter in the API and on the page.
    pub fn members(&self) -> [(&'static str, &Option<String>); 7] {
        let Filter { outcome, model, mode, dialect, surface, error, text } = self;
        [
            ("outcome", outcome),
            ("model", model),
            ("mode", mode),
            ("dialect", dialect),
            ("surface", surface),
            ("error", error),
            ("text", text),
        ]
    }

    /// [`Filter::members`], to be set.
    pub fn members_mut(&mut self) -> [(&'static str, &mut Option<String>); 7] {
        let Filter { outcome, model, mode, dialect, surface, error, text } = self;
        [
            ("outcome", outcome),
            ("model", model),
            ("mode", mode),
            ("dialect", dialect),
            ("surface", surface),
            ("error", error),
            ("text", text),
        ]
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// Without what is empty, as forms send it; names are as long as they are kept, and current.
    pub(crate) fn given(mut self) -> Filter {
        for (member, value) in self.members_mut() {
            *value = value.take().filter(|value| !value.trim().is_empty());
            if member != "text"
                && let Some(name) = value
            {
                name.truncate(name.floor_char_boundary(NAME));
            }
        }
        self.outcome = self.outcome.map(|name| former::outcome(&name).to_owned());
        self
    }
}
