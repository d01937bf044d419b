//! The errors of a configuration, once at the start, and between us and an upstream, at any time.
//!
//! No message holds a key, a header's value or a URL: they name the upstream and the variable.

use std::fmt;
use std::sync::Arc;

use http::StatusCode;

/// A configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The configuration has no upstream.
    NoUpstream,
    /// Two upstreams have this name.
    TwiceNamed(String),
    /// The base URL of an upstream is not valid.
    Url {
        /// The upstream.
        upstream: String,
        /// The fault of the URL.
        why: &'static str,
    },
    /// The environment does not have a variable that the configuration names.
    MissingVariable {
        /// The upstream.
        upstream: String,
        /// The variable.
        variable: String,
    },
    /// The key in a variable holds characters that a header cannot carry.
    Key {
        /// The upstream.
        upstream: String,
        /// The variable.
        variable: String,
    },
    /// The certificates that an upstream is to be known by cannot be used.
    Certificates {
        /// The upstream.
        upstream: String,
        /// The fault of the certificates.
        why: String,
    },
    /// A header cannot be sent as it is configured.
    Header {
        /// The upstream.
        upstream: String,
        /// The header.
        header: String,
        /// The fault of the header.
        why: &'static str,
    },
    /// A model names an upstream that is not configured.
    UnknownUpstream {
        /// The model's pattern.
        model: String,
        /// The name that no upstream has.
        upstream: String,
    },
    /// A model names an unknown dialect.
    UnknownDialect {
        /// The model's pattern.
        model: String,
        /// The name that no dialect has.
        dialect: String,
    },
    /// A model's question cannot go to the second model that it names.
    Escalation {
        /// The model's pattern.
        model: String,
        /// The second model.
        to: String,
        /// The reason for that.
        why: &'static str,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::NoUpstream => write!(f, "no upstream is configured"),
            ConfigError::TwiceNamed(name) => write!(f, "two upstreams are named `{name}`"),
            ConfigError::Url { upstream, why } => write!(f, "upstream `{upstream}`: base_url {why}"),
            ConfigError::MissingVariable { upstream, variable } => {
                write!(f, "upstream `{upstream}`: the environment variable {variable} is not set")
            }
            ConfigError::Key { upstream, variable } => {
                write!(
                    f,
                    "upstream `{upstream}`: the key in {variable} holds characters that no header carries"
                )
            }
            ConfigError::Certificates { upstream, why } => write!(f, "upstream `{upstream}`: ca_file: {why}"),
            ConfigError::Header { upstream, header, why } => {
                write!(f, "upstream `{upstream}`: header `{header}` {why}")
            }
            ConfigError::UnknownUpstream { model, upstream } => {
                write!(f, "model `{model}` names the upstream `{upstream}`, which is not configured")
            }
            ConfigError::UnknownDialect { model, dialect } => {
                write!(
                    f,
                    "model `{model}`: there is no dialect `{dialect}`; `callwright dialects` lists them"
                )
            }
            ConfigError::Escalation { model, to, why } => {
                write!(f, "model `{model}`: escalate = \"{to}\": {why}")
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// An upstream that did not answer as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamError {
    /// The upstream's name.
    pub upstream: Arc<str>,
    /// The failure.
    pub failure: Failure,
}

/// A failure between us and an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// No connection came about: the system's reason.
    Connect(String),
    /// No trust came about: the reason.
    Tls(String),
    /// A time ran out.
    Timeout(Which),
    /// The connection ended before the answer did.
    Reset,
    /// The upstream spoke something else than HTTP.
    NotHttp,
    /// The answer is longer than is allowed, in bytes.
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// The answer came in a `content-encoding` that was not asked for.
    Encoding(String),
    /// The answer's bytes are not what its `content-encoding` says.
    Packing,
    /// The upstream answered with a redirect. None is followed: a key belongs to one origin.
    Redirect(StatusCode),
    /// This path cannot be asked for.
    Path,
}

/// The time that ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// The time until the connection stood.
    Connect,
    /// The time until the first byte of the answer.
    FirstByte,
    /// The time between two pieces of the answer.
    Idle,
    /// The time for the whole answer.
    Total,
}

impl Failure {
    /// Returns whether an answer that had begun broke off: the same question may well bring another one.
    pub(crate) fn is_broken_off(&self) -> bool {
        matches!(self, Failure::Reset | Failure::Timeout(Which::Idle))
    }

    /// Returns its name in logs and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Failure::Connect(_) => "connect",
            Failure::Tls(_) => "tls",
            Failure::Timeout(Which::Connect) => "connect-timeout",
            Failure::Timeout(Which::FirstByte) => "first-byte-timeout",
            Failure::Timeout(Which::Idle) => "idle-timeout",
            Failure::Timeout(Which::Total) => "total-timeout",
            Failure::Reset => "reset",
            Failure::NotHttp => "not-http",
            Failure::TooLong { .. } => "too-long",
            Failure::Encoding(_) => "encoding",
            Failure::Packing => "packing",
            Failure::Redirect(_) => "redirect",
            Failure::Path => "path",
        }
    }
}

impl fmt::Display for UpstreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "upstream `{}` {}", self.upstream, self.failure)
    }
}

/// Says the upstream's failure, behind its name.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Connect(why) => write!(f, "could not be reached: {why}"),
            Failure::Tls(why) => write!(f, "could not be trusted: {why}"),
            Failure::Timeout(Which::Connect) => write!(f, "did not accept the connection in time"),
            Failure::Timeout(Which::FirstByte) => write!(f, "did not begin its answer in time"),
            Failure::Timeout(Which::Idle) => write!(f, "fell silent in the middle of its answer"),
            Failure::Timeout(Which::Total) => write!(f, "did not end its answer in time"),
            Failure::Reset => write!(f, "broke the connection off before its answer ended"),
            Failure::NotHttp => write!(f, "did not answer in HTTP: should its URL begin with https://?"),
            Failure::TooLong { limit } => write!(f, "answered with more than {limit} bytes"),
            Failure::Encoding(encoding) => {
                write!(f, "answered with content-encoding `{encoding}`, which was not asked for")
            }
            Failure::Packing => write!(f, "answered with a body that does not match its content-encoding"),
            Failure::Redirect(status) => {
                write!(
                    f,
                    "answered with the redirect {}, which is not followed: check base_url",
                    status.as_u16()
                )
            }
            Failure::Path => write!(f, "was not asked: the path leads out of its base_url"),
        }
    }
}

impl std::error::Error for UpstreamError {}
