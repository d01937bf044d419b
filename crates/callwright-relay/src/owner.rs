//! Whose a request is: what is kept of it is there for whoever made it, and for nobody else.

use std::fmt;

use http::HeaderMap;

/// The headers of clients that send no key in `Authorization`: those of Anthropic, Azure and Google.
pub const KEY_HEADERS: [&str; 3] = ["x-api-key", "api-key", "x-goog-api-key"];

/// Whoever makes a request, as far as that is known.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The client whose key has this hash: whoever took the request in has checked the key.
    Key([u8; 32]),
    /// Whoever sends these headers, where nobody asks for a key.
    Headers(Box<[u8]>),
}

impl Owner {
    /// Whoever sends these headers.
    pub fn of(headers: &HeaderMap) -> Owner {
        let names = ["authorization"].into_iter().chain(KEY_HEADERS);
        let keys = names.filter_map(|name| headers.get(name));
        Owner::Headers(keys.flat_map(|key| key.as_bytes().iter().copied().chain([0])).collect())
    }
}

/// Somebody who sends no key.
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
