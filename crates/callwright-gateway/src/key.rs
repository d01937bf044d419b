//! The keys of clients: only their SHA-256 hashes are known here, and they are compared in constant time.

use std::fmt;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};

/// One client's key, as its hash, and what it may see.
#[derive(Clone)]
pub struct ClientKey {
    hash: [u8; 32],
    sessions: Sessions,
}

/// The kept sessions that a client sees, searches, counts and deletes with its key. Its own turns go to its own sessions in any
/// case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sessions {
    /// Those that were made with the same key.
    #[default]
    Own,
    /// All: those of other keys, of an agent, and those that nobody's key made.
    All,
}

/// A text that is not the hash of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyError;

impl ClientKey {
    /// Reads a hash as `callwright key` prints it: 64 hexadecimal digits. With `:all` behind them the key sees all sessions.
    ///
    /// # Errors
    /// Any other text.
    pub fn from_hash(text: &str) -> Result<ClientKey, KeyError> {
        let (text, sessions) = match text.strip_suffix(":all") {
            Some(text) => (text, Sessions::All),
            None => (text, Sessions::Own),
        };
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(KeyError);
        }
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(ClientKey { hash, sessions })
    }

    /// The key whose text is `key`.
    pub fn of(key: &str) -> ClientKey {
        ClientKey { hash: Sha256::digest(key.as_bytes()).into(), sessions: Sessions::Own }
    }

    /// The same key, which sees these sessions.
    pub fn sees(self, sessions: Sessions) -> ClientKey {
        ClientKey { sessions, ..self }
    }

    /// The sessions that it sees.
    pub fn sessions(&self) -> Sessions {
        self.sessions
    }

    /// Its hash, as bytes.
    pub(crate) fn bytes(&self) -> [u8; 32] {
        self.hash
    }

    /// Its hash, as 64 hexadecimal digits.
    pub fn hash(&self) -> String {
        self.hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The one of `keys` that `key` is. The time does not tell which one, nor how much of it was right.
pub(crate) fn known<'k>(keys: &'k [ClientKey], key: &[u8]) -> Option<&'k ClientKey> {
    let hash: [u8; 32] = Sha256::digest(key).into();
    // From 1; 0 is none of them.
    let found = (1..)
        .zip(keys)
        .fold(0_u64, |found, (n, key)| u64::conditional_select(&found, &n, key.hash.ct_eq(&hash)));
    keys.get(usize::try_from(found).ok()?.checked_sub(1)?)
}

fn digit(digit: u8) -> Result<u8, KeyError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        b'A'..=b'F' => Ok(digit - b'A' + 10),
        _ => Err(KeyError),
    }
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientKey(…)")
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key's hash is 64 hexadecimal digits, which may have `:all` behind them; `callwright key` prints one")
    }
}

impl std::error::Error for KeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_hash_alone() {
        let keys: Vec<ClientKey> =
            ["cw-one", "cw-two"].map(|key| ClientKey::from_hash(&ClientKey::of(key).hash()).unwrap()).into();
        for (key, known) in
            [("cw-one", true), ("cw-two", true), ("cw-on", false), ("cw-onee", false), ("", false)]
        {
            assert_eq!(super::known(&keys, key.as_bytes()).is_some(), known, "{key}");
        }
        assert!(super::known(&[], b"cw-one").is_none());
        assert_eq!(super::known(&keys, b"cw-two").unwrap().bytes(), keys[1].bytes());
        // The hash of the empty text, as everyone computes it.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(ClientKey::of("").hash(), empty);
        assert!(super::known(&[ClientKey::from_hash(&empty.to_uppercase()).unwrap()], b"").is_some());
        for (text, sessions) in [(empty.to_owned(), Sessions::Own), (format!("{empty}:all"), Sessions::All)] {
            assert_eq!(ClientKey::from_hash(&text).unwrap().sessions(), sessions);
        }
    }

    #[test]
    fn what_is_no_hash_is_refused() {
        for text in [
            "",
            "cw-one",
            &"g".repeat(64),
            &"a".repeat(63),
            &"é".repeat(32),
            &format!("{}:own", "a".repeat(64)),
        ] {
            assert!(ClientKey::from_hash(text).is_err(), "{text}");
        }
    }
}
