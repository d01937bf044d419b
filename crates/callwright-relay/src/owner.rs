//! The owner of a request: everything kept of it is there for its maker, and for nobody else.

use std::fmt;

use http::HeaderMap;

/// The headers of clients that send no key in `Authorization`: those of Anthropic, Azure and Google.
pub const KEY_HEADERS: [&str; 3] = ["x-api-key", "api-key", "x-goog-api-key"];

/// The maker of a request, as far as that is known.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The client whose key has this hash: the receiver of the request has checked the key.
    Key([u8; 32]),
    /// The sender of these headers, if nobody asks for a key.
    Headers(Box<[u8]>),
}

impl Owner {
    /// Returns the sender of these headers.
    pub fn of(headers: &HeaderMap) -> Owner {
        let names = ["authorization"].into_iter().chain(KEY_HEADERS);
        let keys = names.filter_map(|name| headers.get(name));
        Owner::Headers(keys.flat_map(|key| key.as_bytes().iter().copied().chain([0])).collect())
    }
}

/// The sender of no key.
impl Default for Owner {
    fn default() -> Owner {
        Owner::Headers(Box::default())
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owner(…)")
    }
}
