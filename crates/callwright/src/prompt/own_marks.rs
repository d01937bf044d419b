//! Parts the marks of a caller's own dialects in other people's text, like the built-in ones.
//!
//! The beginning of a mark, up to its first place holder or blank, identifies it. Backslashes inside do not hide it, so
//! that a parted mark can be joined again, to the byte, in any text.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::marks::{Backslash, escaped, neutralise, rewrite};
use crate::dialect::Dialects;
use crate::syntax::marks::fit;

/// The beginnings of the marks of the caller's own dialects: the first character, and the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnMarks(Vec<(Box<str>, Box<str>)>);

impl OwnMarks {
    /// Collects the marks of all own dialects of the set, and those around their results.
    pub(super) fn of(dialects: &Dialects) -> OwnMarks {
        let is_own = |head: &String| matches!(neutralise(head), Cow::Borrowed(_));
        let own = dialects.records().iter().filter_map(|record| Some(record.markup.as_ref()?.heads(record)));
        let heads = own.flatten().filter(is_own).filter_map(|head| {
            let head = head.replace('\\', "");
            let (first, rest) = head.split_at(head.chars().next()?.len_utf8());
            Some((first.into(), rest.into()))
        });
        OwnMarks(heads.collect::<BTreeSet<_>>().into_iter().collect())
    }

    /// Returns `text` with a backslash behind the first character of each mark.
    pub(super) fn part<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        self.rewrite(text, Backslash::Put)
    }

    /// Returns the text that [`part`](OwnMarks::part) was given.
    pub(super) fn join<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        self.rewrite(text, Backslash::Taken)
    }

    /// Returns the same JSON, with the first character of each mark in its strings escaped.
    pub(super) fn in_json(&self, json: String) -> String {
        if self.0.is_empty() {
            return json;
        }
        let (mut in_string, mut is_behind) = (false, false);
        escaped(&json, |at, byte| {
            let is_plain = in_string && !is_behind && !matches!(byte, b'"' | b'\\');
            in_string ^= byte == b'"' && !is_behind;
            // A part of an escape stands behind a backslash.
            is_behind = byte == b'\\' && !is_behind;
            (is_plain && self.head_at(&json, at).is_some()).then_some(at)
        })
    }

    fn rewrite<'t>(&self, text: Cow<'t, str>, backslash: Backslash) -> Cow<'t, str> {
        if self.0.is_empty() { text } else { rewrite(text, |text, at, _| self.head_at(text, at), backslash) }
    }

    /// Returns the end of the first character of the mark at `at`, if one stands there.
    fn head_at(&self, text: &str, at: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        self.0.iter().find_map(|(first, rest)| {
            let Ok(Some(len)) = fit(bytes.get(at..)?, first) else { return None };
            let mut end = at + len;
            for c in rest.chars() {
                end += bytes.get(end..)?.iter().take_while(|&&byte| byte == b'\\').count();
                let Ok(Some(len)) = fit(bytes.get(end..)?, c.encode_utf8(&mut [0; 4])) else { return None };
                end += len;
            }
            Some(at + len)
        })
    }
}
