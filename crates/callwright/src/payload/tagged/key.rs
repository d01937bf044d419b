//! Keys in tags of their own: `<arg_key>a</arg_key><arg_value>`.

use callwright_json::Span;

use super::{End, Ending, MAX_KEY, Next, State, View, Walk, ends};
use crate::syntax::tag::Role;
use crate::syntax::{Incomplete, Seen, Typing};

impl Walk {
    /// `a</arg_key>`; a declared key may look like a tag: `list<int></arg_key>`.
    pub(super) fn key(&mut self, view: View<'_>, from: usize, looked: usize) -> Seen<End> {
        let View { text, end, .. } = view;
        let rest = text.get(from..).unwrap_or("");
        let Some(first) = memchr::memchr(b'<', &text.as_bytes()[looked..]).map(|len| looked + len - from)
        else {
            self.state = State::Key { from, looked: text.len() };
            return if end { ends(text.len(), Ending::Cut) } else { Err(Incomplete) };
        };
        let mut len = first;
        loop {
            let written = rest.get(..len).unwrap_or("");
            let key = written.trim();
            let is_key = len == first || view.declares(key);
            let behind = match self.lexer.tag_at(text, from + len) {
                Ok(Some(tag)) if is_key && tag.closing && tag.role == Role::Key => Some(tag.at.end),
                // Of a mark between key and value nothing but the key tells whether it stands in its place.
                Ok(Some(tag)) if tag.is_joint(text) && !view.declares(key) && !is_plain(key, view) => {
                    return ends(from + len, Ending::Cut);
                }
                Ok(Some(tag)) if is_key && !tag.closing && tag.role == Role::Value => {
                    tag.is_joint(text).then_some(tag.at.start)
                }
                Err(Incomplete) if !end => return Err(Incomplete),
                Err(Incomplete) => return ends(text.len(), Ending::Cut),
                Ok(Some(_)) | Ok(None) => None,
            };
            if let Some(behind) = behind {
                let start = from + (written.len() - written.trim_start().len());
                self.state = State::Keyed(Span::new(start, start + key.len()));
                self.at = behind as usize;
                return Ok(None);
            }
            let window = rest.as_bytes().get(len + 1..rest.len().min(MAX_KEY)).unwrap_or(&[]);
            match window.iter().position(|byte| *byte == b'<') {
                Some(more) => len += 1 + more,
                None if !end && rest.len() < MAX_KEY => return Err(Incomplete),
                None => return ends(from + first, Ending::Broken),
            }
        }
    }

    /// `<arg_value>`, behind a key.
    pub(super) fn keyed(&mut self, view: View<'_>, key: Span) -> Seen<End> {
        let (at, next) = self.next(view, self.at)?;
        let tag = match next {
            Next::Tag(tag) => tag,
            Next::Begun => return ends(view.text.len(), Ending::Cut),
            Next::End => return ends(at, Ending::Cut),
            Next::Other => return ends(at, Ending::Broken),
        };
        match (tag.role, tag.closing) {
            (Role::Value, false) => {
                self.at = tag.at.end as usize;
                self.open(key, Typing::Schema, true);
                Ok(None)
            }
            (Role::Other, _) => ends(at, Ending::Broken),
            // A key without a value.
            _ => ends(at, Ending::Cut),
        }
    }
}

/// Is `key` a word that may well be a key, though nobody declared it, and not one with its value?
fn is_plain(key: &str, view: View<'_>) -> bool {
    let is_word = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    is_word && !key.is_empty() && !(1..key.len()).any(|end| view.declares(&key[..end]))
}
