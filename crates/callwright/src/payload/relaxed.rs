//! Objects with bare keys whose strings have marks of their own: `{city:<|"|>Paris<|"|>,days:3}`.
//!
//! A [`Braces`] finds the end of one as it arrives; [`json_like`] spells it as what the tolerant reader takes.

use std::iter;
use std::sync::Arc;

use crate::dialect::marks::{self, Fit, fit};

/// Finds the last brace.
#[derive(Debug)]
pub(crate) struct Braces {
    mark: Arc<str>,
    at: usize,
    levels: usize,
    /// It stands between parentheses.
    is_list: bool,
    inside: Inside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Nothing,
    /// Between two marks.
    Marks,
    /// In a string of JSON.
    Quotes,
}

impl Braces {
    /// For the object whose brace stands at `from`, with strings between two of `mark`.
    pub(crate) fn new(from: usize, mark: Arc<str>) -> Braces {
        Braces { mark, at: from, levels: 0, is_list: false, inside: Inside::Nothing }
    }

    /// Goes on from where the last call stopped: the place behind the last brace, if it is there by now.
    pub(crate) fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(&byte) = bytes.get(self.at) {
            let rest = &bytes[self.at..];
            if self.inside != Inside::Quotes {
                match fit(rest, &self.mark) {
                    Fit::Is(len) => {
                        let is_open = self.inside == Inside::Marks;
                        self.inside = if is_open { Inside::Nothing } else { Inside::Marks };
                        self.at += len;
                        continue;
                    }
                    Fit::Grows => return None,
                    Fit::No => {}
                }
            }
            match (self.inside, byte) {
                (Inside::Nothing, b'{' | b'[') => self.levels += 1,
                // `f(a:<|"|>x<|"|>)`
                (Inside::Nothing, b'(') if self.levels == 0 => {
                    self.levels += 1;
                    self.is_list = true;
                }
                (Inside::Nothing, b')') if self.levels != 1 || !self.is_list => {}
                // `{a:[1]],b:2}`: the object is not over.
                (Inside::Nothing, b']') if self.levels == 1 => {}
                (Inside::Nothing, b'}' | b']' | b')') => {
                    self.levels = self.levels.saturating_sub(1);
                    if self.levels == 0 {
                        return Some(self.at + 1);
                    }
                }
                (Inside::Nothing, b'"') => self.inside = Inside::Quotes,
                (Inside::Quotes, b'"') => self.inside = Inside::Nothing,
                (Inside::Quotes, b'\\') if rest.len() == 1 => return None,
                (Inside::Quotes, b'\\') => self.at += 1,
                _ => {}
            }
            self.at += 1;
        }
        None
    }
}

/// `{a:<|"|>say "x"<|"|>}` → `{a:"say \"x\""}`; `None` where a mark stands at no edge of a value, and so is one that a
/// text holds. Between two members the comma may be missing, `{a:<|"|>x<|"|>b:3}`, where `is_key` knows the second one.
pub(crate) fn json_like(text: &str, mark: &str, is_key: &dyn Fn(&str) -> bool) -> Option<String> {
    let mut json = String::with_capacity(text.len());
    for (n, piece) in pieces(text, mark).enumerate() {
        if n % 2 == 1 {
            json.push_str(&serde_json::Value::from(piece).to_string());
            continue;
        }
        let (first, last) = (piece.trim_start().chars().next(), piece.trim_end().chars().next_back());
        let is_behind = n == 0 || matches!(first, None | Some(',' | '}' | ']' | ':' | ')'));
        let is_member = || n != 0 && piece.split_once(':').is_some_and(|(key, _)| is_key(key.trim()));
        if !is_behind && is_member() {
            json.push(',');
        }
        let is_behind = is_behind || is_member();
        let is_before = matches!(last, None | Some(',' | '{' | '[' | ':' | '}' | ']' | '(' | ')' | '='));
        if !is_behind || !is_before {
            return None;
        }
        push_with_quoted_keys(&mut json, piece, n != 0);
    }
    let inner = json.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    Some(inner.map_or_else(|| json.clone(), |inner| format!("{{{inner}}}")))
}

/// What stands between the marks, whatever their bars and the case of their letters: `<｜"｜>`, `<ESCAPE>`.
fn pieces<'t>(text: &'t str, mark: &str) -> impl Iterator<Item = &'t str> {
    let mut rest = Some(text);
    iter::from_fn(move || {
        let text = rest?;
        let found = marks::find(text, iter::once(mark)).map(|at| (at, fit(&text.as_bytes()[at..], mark)));
        let Some((at, Fit::Is(len))) = found else { return rest.take() };
        rest = text.get(at + len..);
        text.get(..at)
    })
}

/// Adds a piece of an object without strings to `json`; keys with blanks in them get quotes. With `is_behind_string`, a
/// string stands before it.
fn push_with_quoted_keys(json: &mut String, piece: &str, is_behind_string: bool) {
    let mut rest = piece;
    let mut before = if is_behind_string { '"' } else { ':' };
    while let Some(at) = rest.find(['{', ',']) {
        let (head, behind) = rest.split_at(at + 1);
        json.push_str(head);
        let value = head[..at].trim_end().chars().next_back().unwrap_or(before);
        // Behind a text without marks it may go on: `{a: b, c d: e}`
        let is_member = head.ends_with('{') || matches!(value, '"' | '}' | ']') || value.is_ascii_digit();
        let len = behind.find([':', ',', '{', '}', '[', ']', '"']).unwrap_or(behind.len());
        let (key, behind) = behind.split_at(len);
        let name = key.trim();
        match behind.starts_with(':') && is_member && name.contains(char::is_whitespace) {
            true => json.push_str(&serde_json::Value::from(name).to_string()),
            false => json.push_str(key),
        }
        before = key.trim_end().chars().next_back().unwrap_or(',');
        rest = behind;
    }
    json.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_inside_strings_do_not_count() {
        let text = "{a:<|\"|>} x {<|\"|>,b:{c:[1,2]},d:\"}\\\"\"} more }";
        let end = text.find(" more").unwrap();
        assert_eq!(Braces::new(0, "<|\"|>".into()).advance(text.as_bytes()), Some(end));
        let mut braces = Braces::new(0, "<|\"|>".into());
        let found = (1..=text.len()).find_map(|n| braces.advance(&text.as_bytes()[..n]));
        assert_eq!(found, Some(end));
        let list = b"(a:<|\"|>)<|\"|>,b:[1]) )";
        assert_eq!(Braces::new(0, "<|\"|>".into()).advance(list), Some(list.len() - 2));
        assert_eq!(Braces::new(0, "<escape>".into()).advance(b"{a:<escape>}"), None);
    }

    #[test]
    fn strings_are_spelt_as_json() {
        assert_eq!(
            json_like("{a:<escape>say \"x\"\n<escape>,b:3}", "<escape>", &|_| false).as_deref(),
            Some("{a:\"say \\\"x\\\"\\n\",b:3}")
        );
        assert_eq!(json_like("{a:<escape>say <escape>x<escape> now<escape>}", "<escape>", &|_| false), None);
        let torn = "{a:<escape>x<escape> b:<escape>y<escape>c:3}";
        assert_eq!(json_like(torn, "<escape>", &|key| key != "a").as_deref(), Some("{a:\"x\", b:\"y\",c:3}"));
        assert_eq!(json_like(torn, "<escape>", &|key| key == "b"), None);
        let blanks = "{a b:<escape>x<escape>,c\td:{e f:[]}, g h:1,i j:2,k:l, m n:o}";
        let quoted = "{\"a b\":\"x\",\"c\\td\":{\"e f\":[]},\"g h\":1,\"i j\":2,k:l, m n:o}";
        assert_eq!(json_like(blanks, "<escape>", &|_| false).as_deref(), Some(quoted));
    }
}
