//! The grammar of a dialect's calls: the templates of its record, and the marks that they put around a call.
//!
//! A template is data. Writing fills it in, reading finds the texts between its slots, and a grammar for a server comes
//! from the same texts. This module knows no tool, no schema and no text of a model.

pub(crate) mod fold;
mod form;
mod frame;
pub(crate) mod near;
mod sequence;
pub(crate) mod template;

use serde::{Deserialize, Serialize};

pub(crate) use self::form::{Form, NAME, Pieces, folded, marks, split_first};
pub(crate) use self::frame::{Frame, Payload};
pub(crate) use self::sequence::{Sequence, behind_blanks};
use crate::syntax::Text;

/// The templates of an answer's calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Calls {
    /// The text before the first call.
    pub open: Text,
    /// One call. `{name}` is the tool's name, `{json_name}` the same as a JSON string, `{arguments}` the arguments;
    /// `{index}` counts the calls of the answer from 0, `{number}` from 1.
    pub call: Text,
    /// The text between two calls.
    pub between: Text,
    /// The text behind the last call.
    pub close: Text,
    /// The form of the arguments.
    pub arguments: Arguments,
}

impl Calls {
    /// Returns the text right in front of the tool's name, up to its dot, `functions.`, or an empty one.
    pub(crate) fn namespace(&self) -> &str {
        let before = self.call.split_once("{name}").map_or("", |(before, _)| before);
        let Some(word) = before.strip_suffix('.') else { return "" };
        before.trim_start_matches(word.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_'))
    }

    /// Returns the text between the name and the arguments of a call, `⏎{arguments}` → `⏎`, or an empty one.
    pub(crate) fn behind_name(&self) -> &str {
        let behind = self.call.split_once("{name}").and_then(|(_, behind)| behind.split_once("{arguments}"));
        behind.map_or("", |(between, _)| between)
    }
}

/// The form of arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Arguments {
    /// A JSON object.
    #[default]
    Json,
    /// Raw text between tags, by this template for one argument: `{key}` and `{value}`; `{type}` is its JSON type, and
    /// `{is_text}` is `true` or `false`.
    Tags(Text),
    /// Elements that are named for the arguments, each tag behind this mark: `<a>x</a>`.
    Elements(Text),
    /// Keyword arguments of Python, with this quote around strings: `a="x", b=True`.
    Python(char),
    /// An object with bare keys, with this mark at both ends of a string: `{a:<|"|>x<|"|>,b:1}`.
    Relaxed(Text),
}
