//! The keys of clients: only their SHA-256 hashes are known here, and they are compared in constant time.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

/// One client's key, as its hash.
#[derive(Clone)]
pub struct ClientKey {
    hash: [u8; 32],
}

/// A text that is no hash of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyError;

impl ClientKey {
    /// Reads a hash as `callwright key` prints it: 64 hexadecimal digits.
    ///
    /// # Errors
    /// Any other text.
    pub fn from_hash(text: &str) -> Result<ClientKey, KeyError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(KeyError);
        }
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(ClientKey { hash })
    }

    /// The key whose text is `key`.
    pub fn of(key: &str) -> ClientKey {
        ClientKey { hash: Sha256::digest(key.as_bytes()).into() }
    }

    /// Its hash, as 64 hexadecimal digits.
    pub fn hash(&self) -> String {
        self.hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Is `key` one of `keys`? The time does not tell which one, nor how much of it was right.
pub(crate) fn is_known(keys: &[ClientKey], key: &[u8]) -> bool {
    let hash: [u8; 32] = Sha256::digest(key).into();
    let found = keys.iter().fold(Choice::from(0), |found, key| found | key.hash.ct_eq(&hash));
    found.into()
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
        f.write_str("a key's hash is 64 hexadecimal digits; `callwright key` prints one")
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
            assert_eq!(is_known(&keys, key.as_bytes()), known, "{key}");
        }
        assert!(!is_known(&[], b"cw-one"));
        // The hash of the empty text, as everyone computes it.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(ClientKey::of("").hash(), empty);
        assert!(is_known(&[ClientKey::from_hash(&empty.to_uppercase()).unwrap()], b""));
    }

    #[test]
    fn what_is_no_hash_is_refused() {
        for text in ["", "cw-one", &"g".repeat(64), &"a".repeat(63), &"é".repeat(32)] {
            assert!(ClientKey::from_hash(text).is_err(), "{text}");
        }
    }
}
