//! The words at which anything but prose may begin. They come from the records, and are built with them.

use super::definition::Dialect;
use super::records::WORD_OPENERS;
use crate::syntax::{Text, ends_with_any_case, starts_with_any_case};
use crate::tools::names::is_name_byte;

/// The words of a set of dialects that begin calls, or stand in front of their payloads.
#[derive(Debug)]
pub(crate) struct First {
    /// The parts of each opener of several words, from the beginning of its second word up to its first sign:
    /// `function c`, `function call`.
    openers: Vec<Text>,
    /// The labels in front of names: `action`.
    labels: Vec<Text>,
    /// The words that begin openers and labels: `functools`, `to`, `function`, `action`.
    words: Vec<Text>,
    /// The words of headers that are not names: `commentary`, `json`.
    of_headers: Vec<Text>,
}

impl First {
    /// Takes the words out of these dialects.
    pub(super) fn of<'d>(dialects: impl Iterator<Item = &'d Dialect> + Clone) -> First {
        let part = |text: &Text, is_in: fn(char) -> bool| -> Text {
            text.split(|c| !is_in(c)).next().unwrap_or("").to_owned().into()
        };
        let openers = dialects.clone().flat_map(Dialect::openers);
        let openers = openers.filter(|open| open.starts_with(char::is_alphanumeric));
        let openers: Vec<Text> =
            openers.map(|open| part(open, |c| c.is_alphanumeric() || c == ' ')).collect();
        let labels = dialects.clone().flat_map(|dialect| &dialect.labels).map(|[label, _]| label.clone());
        let labels: Vec<Text> = labels.collect();
        let is_of_name = |c: char| !c.is_ascii() || u8::try_from(c).is_ok_and(is_name_byte);
        let words = openers.iter().chain(&labels).map(|text| part(text, is_of_name));
        First {
            words: words.chain(WORD_OPENERS.iter().map(|word| Text::from(*word))).collect(),
            openers: openers.iter().flat_map(parts).collect(),
            labels,
            of_headers: dialects.flat_map(|dialect| &dialect.words).cloned().collect(),
        }
    }

    /// Returns the number of bytes at the end of `before` that are the first words of an opener, and a part of the next.
    pub(crate) fn words_before(&self, before: &[u8]) -> Option<usize> {
        let parts = self.openers.iter().filter(|part| ends_with_any_case(before, part));
        parts.map(|part| part.len()).max()
    }

    /// Returns whether `before` ends in a label.
    pub(crate) fn ends_in_label(&self, before: &[u8]) -> bool {
        self.labels.iter().any(|label| ends_with_any_case(before, label))
    }

    /// Returns whether `text` begins with a label, as far as it goes.
    pub(crate) fn may_be_label(&self, text: &[u8]) -> bool {
        self.labels.iter().any(|label| agrees(text, label))
    }

    /// Returns whether an opener or a label begins with `word`; one that is not whole may go on.
    pub(crate) fn may_open(&self, word: &str, is_whole: bool) -> bool {
        self.words.iter().any(|known| match is_whole {
            true => known.eq_ignore_ascii_case(word),
            false => starts_with_any_case(known.as_bytes(), word),
        })
    }

    /// Returns whether this word of a header is not a name.
    pub(crate) fn is_of_header(&self, word: &str) -> bool {
        self.of_headers.iter().any(|known| known == word)
    }

    /// Returns whether more text could make `word` one of a header that is not a name.
    pub(crate) fn may_be_of_header(&self, word: &str) -> bool {
        self.of_headers.iter().any(|known| known.starts_with(word))
    }
}

/// Returns the parts of an opener from the beginning of its second word on.
fn parts(open: &Text) -> impl Iterator<Item = Text> {
    let blank = open.find(' ').unwrap_or(open.len());
    (blank + 1..=open.len()).filter_map(|end| Some(open.get(..end)?.to_owned().into()))
}

/// Returns whether one of `text` and `mark` begins with the other, in any case of the ASCII letters.
pub(crate) fn agrees(text: &[u8], mark: &str) -> bool {
    text.iter().zip(mark.as_bytes()).all(|(a, b)| a.eq_ignore_ascii_case(b))
}
