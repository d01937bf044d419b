//! The place of an upstream: its base URL, and the addresses below and beside it.

use bytes::Bytes;
use http::uri::{Authority, PathAndQuery, Scheme, Uri};

use super::error::ConfigError;
use crate::api::UpstreamKind;
use crate::config::UpstreamConfig;

/// The parts of an upstream's address.
pub(super) struct Origin {
    pub(super) scheme: Scheme,
    pub(super) authority: Authority,
    /// The path without a slash at its end: `/v1`.
    pub(super) path: String,
    /// The query with its question mark, or empty: `?api-version=2026-01-01`.
    query: String,
}

impl Origin {
    /// Reads the base URL of `config`.
    pub(super) fn new(config: &UpstreamConfig) -> Result<Origin, ConfigError> {
        let error = |why| ConfigError::Url { upstream: config.name.clone(), why };
        let uri: Uri = config.base_url.trim().parse().map_err(|_| error("is not a URL"))?;
        let parts = uri.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(error("must begin with http:// or https:// and a host"));
        };
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(error("must begin with http:// or https://"));
        }
        if authority.as_str().contains('@') {
            return Err(error("must not hold a user name or password: name the key's variable in key_env"));
        }
        let path_and_query = parts.path_and_query.as_ref();
        let mut path = path_and_query.map_or("", PathAndQuery::path).trim_end_matches('/').to_owned();
        if leaves(&path) {
            return Err(error("must not hold `..`"));
        }
        // What Ollama has like OpenAI, its list of models above all, is below `/v1` whatever part of it is named.
        if config.kind == Some(UpstreamKind::Ollama) && !path.ends_with("/v1") {
            path.truncate(path.strip_suffix("/api").map_or(path.len(), str::len));
            path.push_str("/v1");
        }
        let query =
            path_and_query.and_then(PathAndQuery::query).map_or(String::new(), |query| format!("?{query}"));
        Ok(Origin { scheme, authority, path, query })
    }

    /// Returns a path below the base URL.
    pub(super) fn below(&self, path: &str) -> Option<Uri> {
        self.uri(&[&self.path, path])
    }

    /// Returns a path beside the one that is like OpenAI's.
    pub(super) fn beside(&self, path: &str) -> Option<Uri> {
        self.uri(&[self.path.strip_suffix("/v1").unwrap_or(&self.path), path])
    }

    /// Returns a path below another one than the base URL's.
    pub(super) fn uri(&self, path: &[&str; 2]) -> Option<Uri> {
        let [base, path] = path;
        if !path.starts_with('/') || leaves(path) {
            return None;
        }
        let separator = if path.contains('?') && !self.query.is_empty() { "&" } else { "?" };
        let query = self.query.strip_prefix('?').map_or([""; 2], |query| [separator, query]);
        let whole = [*base, path, query[0], query[1]].concat();
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(PathAndQuery::from_maybe_shared(Bytes::from(whole)).ok()?);
        Uri::from_parts(parts).ok()
    }
}

/// Returns whether a path leads up and out, plainly or encoded: `/../admin`, `/%2e%2e/admin`.
fn leaves(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    path.contains("..") || path.to_ascii_lowercase().contains("%2e")
}
