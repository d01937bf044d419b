//! The secrets of an upstream: the key that it was sent. Some servers repeat it in their answers.
//!
//! In go the upstream's bytes, out come the same with `[secret]` in the place of a key. Only the key as it is counts: an upstream
//! that means to give its key away can spell it so that nobody finds it.

use std::fmt;

use memchr::memchr_iter;
use memchr::memmem::Finder;

use callwright_json::quote;

/// The replacement for a secret.
pub(super) const INSTEAD: &[u8] = b"[secret]";
/// The shortest secret: a shorter text may well be a part of other words.
const SHORTEST: usize = 8;
/// A text that ends with this many bytes of a secret is held until the next one comes. Fewer, such as `sk-`, tell nothing, and
/// words end with them.
pub(super) const CERTAIN: usize = 4;
/// The bytes of a secret that are hidden at the very end of a text as well.
pub(super) const MOST: usize = 12;

/// The secrets of one upstream.
#[derive(Default)]
pub(crate) struct Secrets {
    plain: Vec<Finder<'static>>,
    /// The secrets as JSON texts escape them.
    written: Vec<Finder<'static>>,
}

impl Secrets {
    /// Makes the secrets of these texts.
    pub(super) fn of(texts: impl IntoIterator<Item = String>) -> Secrets {
        let mut texts: Vec<String> = texts.into_iter().map(|text| text.trim().to_owned()).collect();
        texts.retain(|text| SHORTEST <= text.len());
        // One that is a part of another one must not be taken out of it first.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts.dedup();
        let written = texts.iter().flat_map(|text| {
            let text = quote(text);
            let text = text.get(1..text.len() - 1).unwrap_or("").to_owned();
            // `\/` is how PHP writes a slash.
            let slashed = text.contains('/').then(|| text.replace('/', "\\/"));
            [Some(text), slashed].into_iter().flatten()
        });
        let finder = |text: &[u8]| Finder::new(text).into_owned();
        Secrets {
            written: written.map(|text| finder(text.as_bytes())).collect(),
            plain: texts.iter().map(|text| finder(text.as_bytes())).collect(),
        }
    }

    /// Returns whether there is nothing to hide.
    pub(crate) fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// Hides the secrets in a JSON text, or in events; none if it has none.
    pub(crate) fn hidden(&self, text: &[u8]) -> Option<Vec<u8>> {
        without(&self.written, text)
    }

    /// Returns whether a text holds a secret, or ends in the beginning of one.
    pub(super) fn is_begun(&self, text: &[u8]) -> bool {
        0 < self.begun_in(text) || self.first_in(text).is_some()
    }

    /// Hides the secrets in a text of any form, such as the value of a header; none if it has none.
    pub(super) fn hidden_in_plain(&self, text: &[u8]) -> Option<Vec<u8>> {
        without(&self.plain, text)
    }

    /// Returns the place of the first secret in `text`, and its length.
    pub(super) fn first_in(&self, text: &[u8]) -> Option<(usize, usize)> {
        let found = |secret: &Finder<'_>| Some((secret.find(text)?, secret.needle().len()));
        // Of two at one place the longer one counts, which stands first.
        self.plain.iter().filter_map(found).min_by_key(|(at, _)| *at)
    }

    /// Returns the length of a secret's beginning, short of all of it, at the end of `text`.
    pub(super) fn begun_in(&self, text: &[u8]) -> usize {
        let begun = |secret: &Finder<'_>| {
            let secret = secret.needle();
            let end = &text[text.len().saturating_sub(secret.len() - 1)..];
            let mut starts = memchr_iter(secret[0], end).map(|at| &end[at..]);
            starts.find(|start| secret.starts_with(start)).map_or(0, <[u8]>::len)
        };
        self.plain.iter().map(begun).max().unwrap_or(0)
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(…)")
    }
}

fn without(secrets: &[Finder<'_>], text: &[u8]) -> Option<Vec<u8>> {
    let mut hidden: Option<Vec<u8>> = None;
    for secret in secrets {
        let text = hidden.as_deref().unwrap_or(text);
        if let Some(first) = secret.find(text) {
            hidden = Some(replaced(text, secret, first));
        }
    }
    hidden
}

fn replaced(text: &[u8], secret: &Finder<'_>, first: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut done, mut next) = (0, Some(first));
    while let Some(at) = next {
        out.extend_from_slice(&text[done..at]);
        out.extend_from_slice(INSTEAD);
        done = at + secret.needle().len();
        next = secret.find(&text[done..]).map(|at| done + at);
    }
    out.extend_from_slice(&text[done..]);
    out
}

/// The end of a text that comes in pieces: as much of it as a secret may begin with.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    end: Vec<u8>,
    /// The bytes of it that are out.
    out: usize,
}

impl Tail {
    /// Returns the bytes that go out with `piece`; none if they are the piece itself.
    pub(crate) fn push(&mut self, secrets: &Secrets, piece: &[u8]) -> Option<Vec<u8>> {
        if self.end.is_empty() && secrets.begun_in(piece) == 0 && secrets.first_in(piece).is_none() {
            return None;
        }
        let mut text = std::mem::take(&mut self.end);
        text.extend_from_slice(piece);
        let mut goes = Vec::with_capacity(piece.len());
        let (mut from, mut done) = (0, self.out);
        while let Some((at, length)) = secrets.first_in(&text[from..]) {
            let at = from + at;
            // It may be the beginning of a longer one.
            if text.len() - secrets.begun_in(&text[from..]) <= at {
                break;
            }
            goes.extend_from_slice(text.get(done..at).unwrap_or_default());
            goes.extend_from_slice(INSTEAD);
            from = at + length;
            done = from;
        }
        let begun = secrets.begun_in(&text[from..]);
        let begin = text.len() - begun;
        let held = if CERTAIN <= begun { begin.max(done) } else { text.len() };
        goes.extend_from_slice(text.get(done..held).unwrap_or_default());
        self.out = held - begin;
        self.end = text.split_off(begin);
        (goes != piece).then_some(goes)
    }

    /// Returns the held bytes, at the end of the text.
    pub(crate) fn rest(&mut self, secrets: &Secrets) -> Vec<u8> {
        let end = std::mem::take(&mut self.end);
        let rest = end.get(std::mem::take(&mut self.out)..).unwrap_or_default();
        let is_told = MOST <= end.len() || secrets.first_in(&end).is_some();
        if is_told && !rest.is_empty() { INSTEAD.to_vec() } else { rest.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-canary/0123456789";

    fn secrets() -> Secrets {
        Secrets::of([String::from(KEY), String::from("short"), format!(" {KEY}-and-more\n")])
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_json_text_tells_no_secret() {
        for (whole, hidden) in [
            (
                format!(r#"{{"a": "Bearer {KEY}", "b": "{KEY}-and-more"}}"#),
                r#"{"a": "Bearer [secret]", "b": "[secret]"}"#,
            ),
            (String::from(r#"{"a": "sk-canary\/0123456789"}"#), r#"{"a": "[secret]"}"#),
        ] {
            assert_eq!(secrets().hidden(whole.as_bytes()).map(text).as_deref(), Some(hidden), "{whole}");
        }
        assert_eq!(secrets().hidden(b"{\"a\": \"short sk-canary/012345678\"}"), None);
        assert_eq!(format!("{:?}", secrets()), "Secrets(…)");
    }

    /// No cut of a text lets a secret through or hides anything else, and at most three letters of a secret go before.
    #[test]
    fn pieces_tell_no_secret() {
        for (whole, expected) in [
            (format!("It is {KEY}."), "It is [secret]."),
            (format!("{KEY}{KEY}-and-more {KEY}!"), "[secret][secret] [secret]!"),
            (
                String::from("sk-canary is a bird, sk-canary/01 is none. s"),
                "sk-canary is a bird, sk-canary/01 is none. s",
            ),
            (String::from("sssk-sk-cask-canary/0 sk-can"), "sssk-sk-cask-canary/0 sk-can"),
            // It was cut: what is there of it says nearly all.
            (String::from("So sk-canary/012345678"), "So [secret]"),
        ] {
            for size in 1..=whole.len() {
                let (mut tail, mut said) = (Tail::default(), Vec::new());
                for piece in whole.as_bytes().chunks(size) {
                    said.extend(tail.push(&secrets(), piece).unwrap_or_else(|| piece.to_vec()));
                }
                said.extend(tail.rest(&secrets()));
                let begun = ["sk-[secret]", "sk[secret]", "s[secret]"];
                let said = begun.iter().fold(text(said), |said, begun| said.replace(begun, "[secret]"));
                assert_eq!(said, expected, "in pieces of {size}");
            }
        }
    }

    #[test]
    fn what_is_no_secret_is_not_held() {
        let mut tail = Tail::default();
        for piece in ["The ", "words", " of s", "sk", " and sk-", "x"] {
            assert_eq!(tail.push(&secrets(), piece.as_bytes()), None, "{piece}");
        }
        assert_eq!(tail.rest(&secrets()), b"");
    }
}
