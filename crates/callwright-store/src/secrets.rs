//! Texts that must not be seen again: whatever the environment gave out as a key.
//!
//! Here they are known and taken out of log lines; [`mask`](crate::mask) keeps them out of what is stored.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, PoisonError, RwLock};

/// The text in the place of a secret.
const INSTEAD: &[u8] = b"[secret]";
/// A shorter text is not a secret, and may well be a part of other words.
const SHORTEST: usize = 8;

/// The secrets that this process knows. Clones share them.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Vec<Box<[u8]>>>>);

impl Secrets {
    /// Never lets `secret` be seen. It may hold several: each of its lines is one too.
    pub fn keep(&self, secret: &str) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for text in secret.lines().map(str::trim).filter(|text| SHORTEST <= text.len()) {
            known.push(text.as_bytes().into());
        }
        // A secret that is a part of another one must not be taken out of it first.
        known.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        known.dedup();
    }

    /// `bytes` without any of the secrets; none where there was none.
    pub fn hidden(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.iter().fold(None, |hidden, secret| {
            let replaced = replaced(hidden.as_deref().unwrap_or(bytes), secret);
            replaced.or(hidden)
        })
    }
}

impl Secrets {
    /// All that are known, the longest first.
    pub(crate) fn all(&self) -> Vec<Box<[u8]>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of known secrets; it only grows.
    pub(crate) fn count(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// A text without secrets.
    pub fn hidden_text(&self, text: &str) -> String {
        let hidden = self.hidden(text.as_bytes());
        hidden.map_or_else(|| text.to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(…)")
    }
}

/// Writes on without any secret. Each write must hold whole secrets, as a line of a log does.
#[derive(Debug)]
pub struct Hiding<W> {
    /// The writer behind it.
    pub to: W,
    /// The secrets that it leaves out.
    pub secrets: Secrets,
}

impl<W: Write> Write for Hiding<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.secrets.hidden(bytes) {
            Some(hidden) => self.to.write_all(&hidden).map(|()| bytes.len()),
            None => self.to.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn replaced(bytes: &[u8], secret: &[u8]) -> Option<Vec<u8>> {
    let find = |from: usize| {
        bytes.get(from..)?.windows(secret.len()).position(|window| window == secret).map(|at| from + at)
    };
    let mut at = find(0)?;
    let mut out = Vec::with_capacity(bytes.len());
    let mut done = 0;
    loop {
        out.extend_from_slice(&bytes[done..at]);
        out.extend_from_slice(INSTEAD);
        done = at + secret.len();
        match find(done) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.extend_from_slice(&bytes[done..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_whole() {
        let secrets = Secrets::default();
        secrets.keep("sk-12345678");
        secrets.keep("sk-12345678-and-more\n");
        secrets.keep("short");
        for (text, hidden) in [
            ("key=sk-12345678;", Some("key=[secret];")),
            ("sk-12345678-and-more sk-12345678", Some("[secret] [secret]")),
            ("sk-1234567 short", None),
            ("", None),
        ] {
            let found = secrets.hidden(text.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(found.as_deref(), hidden, "{text}");
        }
        assert_eq!(format!("{secrets:?}"), "Secrets(…)");
    }
}
