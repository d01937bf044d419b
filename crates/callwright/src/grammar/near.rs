//! Marks that a text may hold, whole or with one wrong letter.

use memchr::memmem::Finder;

use super::{Form, NAME, fold, marks};
use crate::marks::edit::{code, ends_within, most_edits, parts};

/// The marks of a form that hold no name, ready for the search in the values of right calls.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    /// The last mark of each end of an argument's opener.
    pub(crate) tails: Vec<Vec<u8>>,
    pub(crate) marks: Vec<Near>,
}

/// A mark of folded letters, a byte for each.
#[derive(Clone, Debug)]
pub(crate) struct Near {
    mark: Vec<u8>,
    /// Most wrong letters.
    most: usize,
    /// With so many, one of these parts stays whole. Each has the number of letters in front of it.
    parts: Vec<(usize, Finder<'static>)>,
}

impl Fixed {
    pub(super) fn of(form: &Form) -> Fixed {
        let last = |tail: &str| marks(tail).last().map(codes);
        let close = (!form.closes_by_key()).then_some(&form.argument_close);
        let head = close.map(|_| &form.argument.head);
        let around = form.openers().chain(form.over.iter().filter(|mark| !mark.contains(NAME)));
        // `<arg_value></arg_key>⏎<arg_value>x`: the end of an opener of several marks.
        let tail = Some(form.argument.tail()).filter(|tail| 1 < marks(tail).count());
        let all = around.chain(close).chain(head).map(|mark| &**mark);
        let all = all.chain(tail).chain(close.and_then(|_| form.token()));
        Fixed {
            tails: form.argument.tails.iter().filter_map(|(tail, _)| last(tail)).collect(),
            marks: all.flat_map(Near::all).collect(),
        }
    }
}

impl Near {
    /// Returns the single marks of `mark`.
    pub(crate) fn all(mark: &str) -> impl Iterator<Item = Near> {
        marks(mark).map(|mark| {
            let mark = codes(mark);
            let most = most_edits(mark.len()).min(1);
            let parts = parts(&mark, most).map(|(before, part)| (before, Finder::new(part).into_owned()));
            Near { parts: parts.collect(), most, mark }
        })
    }

    /// Returns whether `text` holds the mark. Both are [`codes`].
    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        let most = self.most;
        self.parts.iter().any(|(before, part)| {
            part.find_iter(text).any(|at| {
                let mut starts = at.saturating_sub(before + most)..=(at + most).saturating_sub(*before);
                starts.any(|from| {
                    ends_within(&self.mark, text.get(from..).unwrap_or(&[]), most).next().is_some()
                })
            })
        })
    }
}

/// Returns a byte for each folded letter of `text`. In a plain one no blank behind a bar is left out, and letters differ
/// in case and quotes alone.
pub(crate) fn codes(text: &str) -> Vec<u8> {
    let is_plain = text.is_ascii() && !text.contains("| ");
    let plain = |byte: u8| if byte == b'\'' { b'"' } else { byte.to_ascii_lowercase() };
    match is_plain {
        true => text.bytes().map(plain).collect(),
        false => fold::folded_letters(text).map(code).collect(),
    }
}
