//! Who may come in: with keys, whoever has one; without keys, whoever is on this machine.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, ORIGIN};

use crate::config::GatewayConfig;
use crate::key::{ClientKey, Sessions, known};
use crate::problem::Problem;
use callwright_relay::{KEY_HEADERS, Owner};
use callwright_store::Store;

/// The rule of one server.
pub(crate) enum Admission {
    /// A key is needed.
    Keys(Vec<ClientKey>),
    /// Only loopback is listened on. A page in a browser can reach that too, under a name that it has made
    /// to point here: so the name must be this machine's.
    Loopback,
    /// Anyone, because the configuration says so.
    Anyone,
}

/// Whoever was let in.
#[derive(Clone, Default)]
pub(crate) struct Admitted(Option<ClientKey>);

impl Admitted {
    /// Whose its request is.
    pub(crate) fn owner(&self, headers: &HeaderMap) -> Owner {
        self.0.as_ref().map_or_else(|| Owner::of(headers), |key| Owner::Key(key.bytes()))
    }

    /// Returns the part of a store that it sees.
    pub(crate) fn sees(&self, store: &Store) -> Store {
        match &self.0 {
            Some(key) => store.seen_by(callwright_store::Owner::of_key(key.bytes()), self.sees_all()),
            None => store.clone(),
        }
    }

    /// Returns whether it sees what others do. Where no keys are configured there are no others.
    pub(crate) fn sees_all(&self) -> bool {
        self.0.as_ref().is_none_or(|key| key.sessions() == Sessions::All)
    }
}

impl Admission {
    /// The rule that holds for `config`; none where it would let strangers in without being told to.
    pub(crate) fn of(config: &GatewayConfig) -> Option<Admission> {
        if !config.keys.is_empty() {
            Some(Admission::Keys(config.keys.clone()))
        } else if config.listen.ip().is_loopback() {
            Some(Admission::Loopback)
        } else {
            config.allow_open.then_some(Admission::Anyone)
        }
    }

    /// Lets the request with these headers in.
    ///
    /// # Errors
    /// What is missing.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<Admitted, Problem> {
        match self {
            Admission::Keys(keys) => {
                let key = sent_keys(headers).find_map(|key| known(keys, key));
                key.map(|key| Admitted(Some(key.clone()))).ok_or_else(Problem::unauthorized)
            }
            Admission::Loopback if !is_local(headers) => Err(Problem::foreign_host(named_host(headers))),
            Admission::Loopback | Admission::Anyone => Ok(Admitted::default()),
        }
    }

    /// Returns whether a page of another site asks for what nobody needs a key for. A request without a body is sent by a browser
    /// unasked, whether the page may read the answer or not: `<img src="http://127.0.0.1:4000/v1/models">`, a socket's handshake.
    /// With a key it would ask first.
    pub(crate) fn is_blind(&self, headers: &HeaderMap) -> bool {
        match self {
            Admission::Keys(_) => false,
            Admission::Loopback | Admission::Anyone => is_foreign(headers),
        }
    }

    /// Lets the request with these headers see the sessions. A browser sends a key along by itself once it has it, so a page of
    /// another site may not even ask.
    ///
    /// # Errors
    /// What is missing, or who asks.
    pub(crate) fn check_page(&self, headers: &HeaderMap) -> Result<Admitted, Problem> {
        if is_foreign(headers) {
            return Err(Problem::foreign_origin());
        }
        match self {
            Admission::Keys(keys) => {
                let sent = sent_keys(headers).find_map(|key| known(keys, key));
                let key = sent.or_else(|| known(keys, &basic(headers)?));
                key.map(|key| Admitted(Some(key.clone()))).ok_or_else(Problem::unauthorized_page)
            }
            Admission::Loopback => self.check(headers),
            Admission::Anyone => Err(Problem::keys_needed()),
        }
    }
}

/// Returns whether a page of another site asks.
fn is_foreign(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let site = text(SEC_FETCH_SITE).is_some_and(|site| !matches!(site, "same-origin" | "none"));
    // `http://127.0.0.1:4000`, and `Host: 127.0.0.1:4000`; a proxy that adds TLS keeps the host.
    let origin = text(ORIGIN).is_some_and(|origin| {
        let authority = origin.split_once("://").map(|(_, authority)| authority);
        authority.is_none() || authority != text(HOST)
    });
    site || origin
}

/// The password of `Authorization: Basic base64(user:password)`.
fn basic(headers: &HeaderMap) -> Option<Vec<u8>> {
    let (scheme, coded) = headers.get(AUTHORIZATION)?.as_bytes().split_at_checked(6)?;
    if !scheme.eq_ignore_ascii_case(b"basic ") {
        return None;
    }
    let decoded = STANDARD.decode(coded.trim_ascii()).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    decoded.get(colon + 1..).map(<[u8]>::to_vec)
}

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Accepts a body that is said to be JSON. A page of another site cannot say so without asking first, and is never told yes; so a
/// page's request that does not say it is not taken.
///
/// # Errors
/// Any other type; none at all where a browser asks.
pub(crate) fn is_json(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(kind) = headers.get(CONTENT_TYPE) else {
        return if is_of_a_page(headers) { Err(Problem::not_json()) } else { Ok(()) };
    };
    let kind = kind.as_bytes();
    let kind = kind.split(|b| *b == b';').next().unwrap_or(kind).trim_ascii();
    if kind.eq_ignore_ascii_case(b"application/json") { Ok(()) } else { Err(Problem::not_json()) }
}

/// Checks the type of what is passed on, where other types are taken too: not from a page. A form is something that a page can
/// send without asking first.
///
/// # Errors
/// A page sends something else than JSON.
pub(crate) fn is_json_of_a_page(headers: &HeaderMap) -> Result<(), Problem> {
    if is_of_a_page(headers) { is_json(headers) } else { Ok(()) }
}

/// Returns whether a browser says that a page asks.
fn is_of_a_page(headers: &HeaderMap) -> bool {
    headers.contains_key(ORIGIN) || headers.contains_key(SEC_FETCH_SITE)
}

/// The keys that a request brings: in `Authorization: Bearer KEY`, and where clients of Anthropic, Azure and Google put them.
fn sent_keys(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let named = KEY_HEADERS.into_iter().filter_map(|name| headers.get(name));
    bearer(headers).into_iter().chain(named.map(|value| value.as_bytes().trim_ascii()))
}

/// The host that is asked for, without its port.
fn named_host(headers: &HeaderMap) -> &str {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    host.split(':').next().unwrap_or(host)
}

/// The key of `Authorization: Bearer KEY`.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let (scheme, key) = headers.get(AUTHORIZATION)?.as_bytes().split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(key.trim_ascii())
}

/// Returns whether the host of the request is `localhost` or an address. HTTP/1.0 may name none.
fn is_local(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST) else { return true };
    let Ok(host) = host.to_str() else { return false };
    // `[::1]:4000`, `127.0.0.1:4000`, `localhost`
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_key_is_needed_where_keys_are_configured() {
        let admission = Admission::Keys(vec![ClientKey::of("cw-1")]);
        for (value, is_in) in [
            ("Bearer cw-1", true),
            ("bearer  cw-1", true),
            ("Bearer cw-2", false),
            ("Bearer ", false),
            ("Bearer", false),
            ("cw-1", false),
            ("Basic cw-1", false),
        ] {
            assert_eq!(admission.check(&headers(&[("authorization", value)])).is_ok(), is_in, "{value}");
        }
        assert!(admission.check(&HeaderMap::new()).is_err());
    }

    #[test]
    fn without_keys_only_this_machine_is_a_host() {
        for (host, is_in) in [
            ("localhost:4000", true),
            ("LOCALHOST", true),
            ("127.0.0.1:4000", true),
            ("[::1]:4000", true),
            ("evil.example:4000", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("", false),
        ] {
            assert_eq!(Admission::Loopback.check(&headers(&[("host", host)])).is_ok(), is_in, "{host}");
            assert!(Admission::Anyone.check(&headers(&[("host", host)])).is_ok());
        }
    }

    #[test]
    fn what_was_said_is_shown_to_nobody_else() {
        let keys = Admission::Keys(vec![ClientKey::of("cw-1")]);
        let here = [("host", "127.0.0.1:4000")];
        // `user:cw-1`, `:cw-2`
        for (value, is_in) in [
            ("Bearer cw-1", true),
            ("Basic dXNlcjpjdy0x", true),
            ("Basic OmN3LTI=", false),
            ("Basic ???", false),
            ("Basic ", false),
        ] {
            let headers = headers(&[here[0], ("authorization", value)]);
            assert_eq!(keys.check_page(&headers).is_ok(), is_in, "{value}");
        }
        assert!(Admission::Loopback.check_page(&headers(&here)).is_ok());
        assert!(Admission::Anyone.check_page(&headers(&here)).is_err());
        for (name, value, is_in) in [
            ("origin", "http://127.0.0.1:4000", true),
            ("origin", "http://127.0.0.1:4001", false),
            ("origin", "http://evil.example", false),
            ("origin", "null", false),
            ("sec-fetch-site", "same-origin", true),
            ("sec-fetch-site", "none", true),
            ("sec-fetch-site", "cross-site", false),
            ("sec-fetch-site", "same-site", false),
        ] {
            let headers = headers(&[here[0], (name, value), ("authorization", "Bearer cw-1")]);
            assert_eq!(Admission::Loopback.check_page(&headers).is_ok(), is_in, "{name}: {value}");
            assert_eq!(keys.check_page(&headers).is_ok(), is_in, "{name}: {value}");
        }
        assert!(Admission::Loopback.check_page(&headers(&[("host", "evil.example")])).is_err());
    }

    #[test]
    fn only_json_is_taken() {
        for (pairs, is_taken) in [
            (&[("content-type", "application/json")][..], true),
            (&[("content-type", "Application/JSON; charset=utf-8"), ("origin", "http://a")], true),
            (&[("content-type", "text/plain")], false),
            (&[("content-type", "application/jsonx")], false),
            (&[("content-type", "multipart/form-data; boundary=x")], false),
            (&[], true),
            (&[("origin", "http://a")], false),
            (&[("sec-fetch-site", "cross-site")], false),
        ] {
            assert_eq!(is_json(&headers(pairs)).is_ok(), is_taken, "{pairs:?}");
        }
    }
}
