//! Characters beyond 16 bits whose two halves come apart: `"\ud83d"` at the end of one string, `"\ude00"` at the beginning of the
//! next. Servers that cut between tokens write such strings, which are JSON, and no text by themselves.
//!
//! In go the strings of a text as they come, out comes their joint text. A half that stays alone has no form in UTF-8. In
//! arguments, a JSON text, it becomes an escape of that text; anywhere else U+FFFD stands for it. Each is counted.

use std::borrow::Cow;
use std::collections::BTreeMap;

use callwright_json::{Value, strict};

use super::chunk::Delta;

/// The halves of one choice.
#[derive(Debug, Default)]
pub(crate) struct Surrogates {
    text: Seam,
    reasoning: Seam,
    /// The seams of arguments, by the index of their call.
    arguments: BTreeMap<Option<usize>, Seam>,
}

/// The half that waits between two strings of one text.
#[derive(Debug, Default)]
struct Seam {
    high: Option<u16>,
    n_alone: usize,
}

/// The form of a half that stays alone.
#[derive(Clone, Copy, Debug)]
enum Alone {
    /// U+FFFD.
    Replaced,
    /// `\ud83d`
    Escaped,
}

/// A piece of the inside of a string.
enum Part<'s> {
    /// Whole characters, as they are escaped.
    Whole(&'s str),
    Half(u16),
}

impl Surrogates {
    /// Joins a half at the end of the chunks before with its other half in this one.
    pub(crate) fn repair(&mut self, delta: &mut Delta<'_>) {
        let Some(said) = delta.choice.get("delta") else { return };
        if let Some(text) = said.get("content").and_then(|text| self.text.join(text, Alone::Replaced)) {
            delta.text = Some(Cow::Owned(text));
            delta.repaired.text = true;
        }
        let thought = ["reasoning_content", "reasoning"].into_iter().find_map(|key| said.get(key));
        if let Some(text) = thought.and_then(|text| self.reasoning.join(text, Alone::Replaced)) {
            delta.reasoning = Some(Cow::Owned(text));
            delta.repaired.thought = true;
        }
        for call in &mut delta.calls {
            let seam = self.arguments.entry(call.index).or_default();
            if let Some(text) = call.written.and_then(|text| seam.join(text, Alone::Escaped)) {
                call.arguments = Some(Cow::Owned(text));
            }
        }
    }

    /// Returns the half that waits for more text, which does not come.
    pub(crate) fn last_of_text(&mut self) -> Option<String> {
        self.text.end(Alone::Replaced)
    }

    /// Returns the halves that wait for more of the arguments of calls, by the index of their call.
    pub(crate) fn last_of_calls(&mut self) -> Vec<(Option<usize>, String)> {
        let last = |(index, seam): (&Option<usize>, &mut Seam)| Some((*index, seam.end(Alone::Escaped)?));
        self.arguments.iter_mut().filter_map(last).collect()
    }

    /// Returns the number of halves that stayed alone.
    pub(crate) fn n_alone(&self) -> usize {
        let calls: usize = self.arguments.values().map(|seam| seam.n_alone).sum();
        self.text.n_alone + self.reasoning.n_alone + calls
    }
}

/// Returns the text of a whole string of arguments with lone halves, and their number.
pub(crate) fn arguments(value: Value<'_>) -> Option<(String, usize)> {
    let mut seam = Seam::default();
    let mut text = seam.join(value, Alone::Escaped)?;
    text.extend(seam.end(Alone::Escaped));
    Some((text, seam.n_alone))
}

/// Counts the lone halves in a string.
pub(crate) fn n_alone(value: Value<'_>) -> usize {
    arguments(value).map_or(0, |(_, n)| n)
}

impl Seam {
    /// Returns the addition of `value`; `None` if the string alone says the same.
    fn join(&mut self, value: Value<'_>, alone: Alone) -> Option<String> {
        if self.high.is_none() && !value.has_lone_surrogate() {
            return None;
        }
        let inside = value.raw().strip_prefix('"')?.strip_suffix('"')?;
        let mut text = String::with_capacity(inside.len());
        for part in parts(inside) {
            match (part, self.high.take()) {
                (Part::Half(low @ 0xdc00..), Some(high)) => {
                    let pair = char::decode_utf16([high, low]).next();
                    text.extend(pair.and_then(Result::ok));
                }
                (Part::Half(half), waiting) => {
                    self.alone(waiting, alone, &mut text);
                    if half < 0xdc00 {
                        self.high = Some(half);
                    } else {
                        self.alone(Some(half), alone, &mut text);
                    }
                }
                (Part::Whole(piece), waiting) => {
                    self.alone(waiting, alone, &mut text);
                    let string = format!("\"{piece}\"");
                    if let Ok(tree) = strict(&string) {
                        text.push_str(&tree.root(&string).as_str().unwrap_or_default());
                    }
                }
            }
        }
        Some(text)
    }

    fn alone(&mut self, half: Option<u16>, alone: Alone, text: &mut String) {
        let Some(half) = half else { return };
        self.n_alone += 1;
        match alone {
            Alone::Replaced => text.push(char::REPLACEMENT_CHARACTER),
            Alone::Escaped => text.push_str(&format!("\\u{half:04x}")),
        }
    }

    fn end(&mut self, alone: Alone) -> Option<String> {
        let high = self.high.take()?;
        let mut text = String::new();
        self.alone(Some(high), alone, &mut text);
        Some(text)
    }
}

/// Splits the inside of a string at its halves.
fn parts(inside: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = inside.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        let len = match (unit(inside, at), unit(inside, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(half @ 0xd800..=0xdfff), _) => {
                parts.extend(inside.get(from..at).filter(|whole| !whole.is_empty()).map(Part::Whole));
                parts.push(Part::Half(half));
                from = at + 6;
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        at += len;
    }
    parts.extend(inside.get(from..).filter(|whole| !whole.is_empty()).map(Part::Whole));
    parts
}

/// Returns the unit of the escape `\u….` at `at`.
fn unit(inside: &str, at: usize) -> Option<u16> {
    let digits = inside.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(strings: &[&str], alone: Alone) -> (Vec<String>, usize) {
        let mut seam = Seam::default();
        let mut texts: Vec<String> = Vec::new();
        for string in strings {
            let tree = strict(string).unwrap();
            let value = tree.root(string);
            let own = || value.as_str().unwrap().into_owned();
            texts.push(seam.join(value, alone).unwrap_or_else(own));
        }
        texts.extend(seam.end(alone));
        (texts, seam.n_alone)
    }

    #[test]
    fn halves_find_each_other() {
        for (strings, expected, n_alone) in [
            (&[r#""a""#, r#""\ud83d\ude00""#][..], &["a", "😀"][..], 0),
            (&[r#""a \ud83d""#, r#""\ude00 b""#], &["a ", "😀 b"], 0),
            (&[r#""\ud83d""#, r#""""#, r#""\uDE00\ud83d""#, r#""\ude01""#], &["", "", "😀", "😁"], 0),
            (&[r#""x\n\\\ud83d""#, r#""\ude00""#], &["x\n\\", "😀"], 0),
            (&[r#""\\ud83d""#, r#""\ude00""#], &["\\ud83d", "\u{fffd}"], 1),
            (&[r#""\ud83d""#, r#""a""#], &["", "\u{fffd}a"], 1),
            (&[r#""\ud83d\ud83d""#, r#""\ude00""#], &["\u{fffd}", "😀"], 1),
            (&[r#""a\ud83d""#], &["a", "\u{fffd}"], 1),
            (&[r#""\ude00 \ud83d b""#], &["\u{fffd} \u{fffd} b"], 2),
        ] {
            let expected: Vec<String> = expected.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(joined(strings, Alone::Replaced), (expected, n_alone), "{strings:?}");
        }
        let (texts, n_alone) = joined(&[r#""{\"a\": \"\ud83d""#, r#""x\"}""#], Alone::Escaped);
        assert_eq!((texts.concat(), n_alone), (String::from(r#"{"a": "\ud83dx"}"#), 1));
    }
}
