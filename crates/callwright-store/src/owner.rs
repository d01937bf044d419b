//! Whose a session is, and what of the sessions a question may see.
//!
//! An owner is a client's key. The store keeps no key and no hash that others could make of one: only what its own seal
//! makes of that. A name that a client gives a session is its own: `job-1` of two clients are two sessions, and neither
//! learns that the other one is there.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use sqlx::{AnyConnection, Row};

/// Whoever made a session: a client's key, known by a hash of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Owner([u8; 32]);

impl Owner {
    /// The client whose key has this hash.
    pub fn of_key(hash: [u8; 32]) -> Owner {
        Owner(hash)
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owner(…)")
    }
}

/// Makes hashes that nobody else can make: with a key that was drawn when the store was made, and is never in a dump.
/// Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Seal(Arc<RwLock<String>>);

/// So many bytes of a hash tell owners apart, and conversations. Keys are configured, so nobody tries for two that are equal
/// in them.
const OWNER: usize = 6;
const FINGERPRINT: usize = 12;

impl Seal {
    /// Takes the key of the store, which may be another one by now: a file that was taken away is made anew.
    pub(crate) async fn read(&self, from: &mut AnyConnection) -> Result<(), sqlx::Error> {
        let key = sqlx::query("SELECT key FROM seal").fetch_one(from).await?.try_get(0)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = key;
        Ok(())
    }

    /// The id of an owner; empty where there is none.
    pub(crate) fn owner(&self, owner: Option<&Owner>) -> String {
        owner.map_or_else(String::new, |owner| self.hash(&[b"owner", &owner.0], OWNER))
    }

    /// Returns the fingerprint that the turns of one conversation of one owner have in common.
    pub(crate) fn fingerprint(&self, owner: &str, of: &str) -> String {
        self.hash(&[b"conversation", owner.as_bytes(), of.as_bytes()], FINGERPRINT)
    }

    fn hash(&self, parts: &[&[u8]], n_bytes: usize) -> String {
        let key = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else {
            // HMAC takes a key of any length.
            return String::new();
        };
        for part in parts {
            // Their lengths keep `a`, `bc` and `ab`, `c` apart.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        let hash = mac.finalize().into_bytes();
        hash.iter().take(n_bytes).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The name of a session that an owner calls `name`.
pub(crate) fn own_name(name: &str, owner: &str) -> String {
    format!("{name}@{owner}")
}

/// The sessions that a question may see.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// Whoever asks, by id; empty for nobody's key.
    asks: String,
    /// It sees its own sessions alone.
    is_own: bool,
}

impl Reach {
    pub(crate) fn of(asks: String, is_own: bool) -> Reach {
        Reach { asks, is_own }
    }

    /// The only owner whose sessions it sees, where it does not see all.
    pub(crate) fn own(&self) -> Option<&str> {
        self.is_own.then_some(self.asks.as_str())
    }

    /// The owner whose counts it is told: those of all have none.
    pub(crate) fn counted(&self) -> &str {
        self.own().unwrap_or_default()
    }

    /// The condition on a table, ` AND s.owner = '0123456789ab' AND s.owner <> ''`: ids are hexadecimal digits. Its second
    /// half is that of the indexes, which SQLite takes only where it is said; and nobody's sessions are no client's.
    pub(crate) fn sql(&self, table: &str) -> String {
        let condition = |owner| format!(" AND {table}.owner = '{owner}' AND {table}.owner <> ''");
        self.own().map_or_else(String::new, condition)
    }

    /// The names that a session may have that is called so.
    pub(crate) fn names(&self, called: &str) -> Vec<String> {
        let own = (!self.asks.is_empty()).then(|| own_name(called, &self.asks));
        std::iter::once(called.to_owned()).chain(own).collect()
    }

    /// Returns whether it sees the sessions of this owner.
    pub(crate) fn sees(&self, owner: &str) -> bool {
        self.own().is_none_or(|own| own == owner && !owner.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(key: &str) -> Seal {
        Seal(Arc::new(RwLock::new(key.to_owned())))
    }

    #[test]
    fn hashes_are_those_of_one_store() {
        let (alice, bob) = (Owner::of_key([1; 32]), Owner::of_key([2; 32]));
        let (here, there) = (seal("a"), seal("b"));
        let id = here.owner(Some(&alice));
        assert_eq!((id.len(), here.owner(None).as_str()), (2 * OWNER, ""));
        assert_eq!(id, here.owner(Some(&alice)));
        assert_ne!(id, here.owner(Some(&bob)));
        assert_ne!(id, there.owner(Some(&alice)));
        assert_ne!(here.fingerprint(&id, "x"), here.fingerprint("", "x"));
        assert_ne!(here.fingerprint("a", "bc"), here.fingerprint("ab", "c"));
    }

    #[test]
    fn nobody_is_no_owner() {
        let everyone = Reach::default();
        assert!(everyone.sees("") && everyone.sees("0123456789ab"));
        assert_eq!((everyone.sql("s").as_str(), everyone.counted()), ("", ""));
        assert_eq!(everyone.names("x"), ["x"]);
        // A store whose seal cannot be read gives no ids out: then nothing is seen, rather than what is nobody's.
        let unknown = Reach::of(String::new(), true);
        assert!(!unknown.sees("") && !unknown.sees("0123456789ab"));
        assert_eq!(unknown.sql("s"), " AND s.owner = '' AND s.owner <> ''");
        let own = Reach::of("0123456789ab".into(), true);
        assert!(own.sees("0123456789ab") && !own.sees(""));
        assert_eq!(own.names("x"), ["x", "x@0123456789ab"]);
    }
}
