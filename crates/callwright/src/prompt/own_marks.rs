//! The marks of a caller's own dialects, parted in other people's text like those that are built in.
//!
//! A mark is known by what it begins with, up to its first place holder or blank. Backslashes inside do not hide it, so
//! that what was parted can be joined again, to the byte, whatever the text held before.

use std::borrow::Cow;

use super::marks::{Edit, joined, neutralise, parted, rewrite};
use crate::dialect::{Dialects, own};
use crate::syntax::marks::fit;

/// What the marks of the caller's own dialects begin with: the first character, and the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnMarks(Vec<(Box<str>, Box<str>)>);

impl OwnMarks {
    /// Those of all own dialects of the set, and what stands around their results.
    pub(super) fn of(dialects: &Dialects) -> OwnMarks {
        let is_own = |head: &String| matches!(neutralise(head), Cow::Borrowed(_));
        let heads = dialects.own().flat_map(own::heads).filter(is_own).filter_map(|head| {
            let head = head.replace('\\', "");
            let first = head.chars().next()?.len_utf8();
            let (first, rest) = head.split_at(first);
            Some((first.into(), rest.into()))
        });
        let mut heads: Vec<_> = heads.collect();
        heads.sort();
        heads.dedup();
        OwnMarks(heads)
    }

    /// `text` with a backslash behind the first character of each mark.
    pub(super) fn part<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        self.rewrite(text, parted)
    }

    /// The text that [`part`](OwnMarks::part) was given.
    pub(super) fn join<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        self.rewrite(text, joined)
    }

    /// JSON in whose strings the first character of each mark is escaped. It says the same.
    pub(super) fn in_json(&self, json: String) -> String {
        if self.0.is_empty() {
            return json;
        }
        let mut out = String::with_capacity(json.len());
        let (mut in_string, mut escaped) = (false, false);
        for (at, c) in json.char_indices() {
            if in_string && !escaped && !matches!(c, '"' | '\\') && self.head_at(&json, at).is_some() {
                let mut units = [0; 2];
                out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
                continue;
            }
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = !in_string,
                _ => {}
            }
            out.push(c);
        }
        out
    }

    fn rewrite<'t>(&self, text: Cow<'t, str>, edit: Edit) -> Cow<'t, str> {
        if self.0.is_empty() { text } else { rewrite(text, |text, at, _| self.head_at(text, at), edit) }
    }

    /// The end of the first character of the mark at `at`, if one stands there.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Argument, Dialect, Grammar, Marks};
    use crate::prompt::speech::PromptFormat;
    use proptest::prelude::*;

    const PIECES: &[&str] = &[
        "[[",
        "[",
        "call ",
        "]]",
        "⟦",
        "⟦do",
        "\\",
        "abab",
        "ab",
        "<|x|>",
        "<｜x｜>",
        "got",
        "-",
        "\"",
        "\n",
    ];

    fn marks() -> OwnMarks {
        let open = |text: &'static str| Marks { open: vec![text.into()], close: vec!["abab".into()] };
        let mut speech = PromptFormat::of(&Dialect::new("b"));
        speech.results.result = "got {content}--".into();
        let named = Dialect { call: open("[[call {name}]]"), ..Dialect::new("a") };
        let tagged = Dialect {
            call: open("⟦do {name}⟧"),
            arguments: Grammar::Tags,
            argument: Some(Argument { open: "<|x|>{key}:".into(), close: "[[/".into() }),
            speech: Some(speech),
            ..Dialect::new("b")
        };
        OwnMarks::of(&Dialects::new([named, tagged]).unwrap())
    }

    #[test]
    fn marks_are_parted_and_words_are_not() {
        let marks = marks();
        for (text, parted) in [
            ("a [[call f]] b", "a [\\[call f]] b"),
            ("[[CALL", "[\\[CALL"),
            ("⟦do it⟧", "⟦\\do it⟧"),
            ("<｜x｜>a: [[/", "<｜x｜>a: [\\[/"),
            ("got it", "got it"),
            ("x--", "x-\\-"),
            ("ababab", "a\\ba\\bab"),
            ("[1, [2]] a -- b".trim_end_matches(" a -- b"), "[1, [2]]"),
        ] {
            assert_eq!(marks.part(text.into()), parted);
            assert_eq!(marks.join(parted.into()), text);
        }
        let json = crate::json!({"a": "[[call f]] \\ \"⟦do", "b": [[1]]}).to_string();
        let escaped = marks.in_json(json.clone());
        assert!(!escaped.contains("[[call") && !escaped.contains("⟦do"), "{escaped}");
        let value = |text: &str| serde_json::from_str::<crate::value::Value>(text).unwrap();
        assert_eq!(value(&escaped), value(&json));
    }

    proptest! {
        #[test]
        fn parting_loses_nothing_and_leaves_no_mark(
            pieces in proptest::collection::vec(
                prop_oneof![proptest::sample::select(PIECES).prop_map(str::to_owned), ".{0,2}"],
                0..12,
            )
        ) {
            let marks = marks();
            let text = pieces.concat();
            let parted = marks.part(text.as_str().into()).into_owned();
            for mark in ["[[call", "⟦do", "abab", "[[/", "--"] {
                prop_assert!(!parted.contains(mark), "{parted:?}");
            }
            prop_assert_eq!(marks.join(parted.as_str().into()), text);
        }
    }
}
