//! Reads the local configuration of servers: the way to each, and what its tools may do to the world.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use callwright_relay::upstream::{expand, is_settable};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::name::is_server_name;
use crate::command::is_harmless;
use crate::tool::Kind;

/// One server of the configuration.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// The program that speaks MCP over its standard streams.
    #[serde(default)]
    pub command: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables of the program's environment, besides the harmless ones of the user. Values may name the user's
    /// environment: `${NAME}`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The address of a server that listens, in place of a program.
    #[serde(default)]
    pub url: Option<String>,
    /// Headers of each request. Values may name the environment: `Bearer ${NAME}`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Its tools that change nothing, by the server's names. Tools in no list may do anything.
    #[serde(default)]
    pub read: BTreeSet<String>,
    /// Its tools that only add, or make changes that can be undone.
    #[serde(default)]
    pub write: BTreeSet<String>,
    /// Its tools for which a second equal call changes nothing more.
    #[serde(default)]
    pub idempotent: BTreeSet<String>,
    /// The server reaches nobody but this machine, so arguments of its reading tools cannot leak.
    #[serde(default)]
    pub closed_world: bool,
    /// The most seconds that it may take to start and to list its tools.
    #[serde(default = "start_seconds")]
    pub start_seconds: f64,
    /// The most seconds of a call.
    #[serde(default = "call_seconds")]
    pub call_seconds: f64,
}

fn start_seconds() -> f64 {
    30.0
}

fn call_seconds() -> f64 {
    60.0
}

impl ServerConfig {
    /// Returns the rights of one of this server's tools. Only this file decides: the server's own words are a hint from
    /// a possible attacker.
    pub(super) fn kind(&self, tool: &str) -> Kind {
        let kind = match (self.read.contains(tool), self.write.contains(tool)) {
            // A tool in both lists has the worse kind.
            (_, true) => Kind::WRITE,
            (true, false) => Kind::READ,
            (false, false) => Kind::DESTRUCTIVE,
        };
        let kind = if self.closed_world { kind.closed() } else { kind.open() };
        if self.idempotent.contains(tool) { kind.idempotent() } else { kind }
    }

    /// Returns the tools that this configuration names.
    pub(super) fn named(&self) -> impl Iterator<Item = &String> {
        let all: BTreeSet<&String> = self.read.iter().chain(&self.write).chain(&self.idempotent).collect();
        all.into_iter()
    }

    pub(super) fn to_start(&self) -> Duration {
        seconds(self.start_seconds)
    }

    pub(super) fn to_call(&self) -> Duration {
        seconds(self.call_seconds)
    }
}

/// Converts seconds; a number that is not a valid time becomes a day.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(86_400))
}

/// The surroundings of the servers.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The user's environment. A started server gets the harmless part of it, and the variables that its configuration
    /// names.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder in which servers are started: the workspace.
    pub folder: PathBuf,
    /// The folder of pinned definitions.
    pub pins: PathBuf,
    /// The user named the file that configures the servers. A file that merely lies in the folder may be anybody's: its
    /// servers are not started before the user accepts them.
    pub is_named: bool,
}

impl Surroundings {
    /// Returns a hash of a server's configuration and folder: a command in another folder is another command.
    pub(super) fn fingerprint(&self, config: &ServerConfig) -> String {
        let mut hash = Sha256::new();
        // All keys are strings, so serialisation cannot fail.
        hash.update(serde_json::to_vec(config).unwrap_or_default());
        hash.update([0]);
        hash.update(self.folder.as_os_str().as_encoded_bytes());
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A server that cannot be used, as configured or at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    /// The server's name.
    pub server: String,
    /// One sentence without a full stop; it holds no value of the environment.
    pub why: String,
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MCP server {}: {}", crate::shown(&self.server), crate::shown(&self.why))
    }
}

impl std::error::Error for ServerError {}

/// The way to a server, ready for use.
#[derive(Clone)]
pub(super) enum Reach {
    Program {
        program: String,
        arguments: Vec<String>,
        environment: Vec<(OsString, OsString)>,
        folder: PathBuf,
    },
    Url {
        uri: Uri,
        headers: HeaderMap,
    },
}

impl Reach {
    /// Reads the configuration. It starts nothing and asks nobody.
    pub(super) fn of(
        name: &str,
        config: &ServerConfig,
        surroundings: &Surroundings,
    ) -> Result<Reach, ServerError> {
        let error = |why: String| ServerError { server: name.to_owned(), why };
        if !is_server_name(name) {
            let why = "its name is one to 24 of A-Z, a-z, 0-9, `-` and single `_` between them";
            return Err(error(why.to_owned()));
        }
        let look_up = |variable: &str| {
            let found = surroundings.environment.iter().find(|(name, _)| name.to_str() == Some(variable));
            found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
        };
        let expanded = |key: &str, text: &str| {
            expand(text, &look_up).map_err(|missing| match missing {
                Some(variable) => error(format!("the environment variable {variable} is not set")),
                None => error(format!("`{key}` has a `${{` without its `}}`")),
            })
        };
        match (&config.command, &config.url) {
            (Some(program), None) if config.headers.is_empty() => {
                let harmless = surroundings.environment.iter().filter(|(name, _)| is_harmless(name));
                let mut environment: Vec<(OsString, OsString)> = harmless.cloned().collect();
                for (key, text) in &config.env {
                    let value = expanded(&format!("env.{key}"), text)?;
                    environment.retain(|(name, _)| name.to_str() != Some(key));
                    environment.push((key.into(), value.into()));
                }
                Ok(Reach::Program {
                    program: program.clone(),
                    arguments: config.args.clone(),
                    environment,
                    folder: surroundings.folder.clone(),
                })
            }
            (None, Some(url)) if config.env.is_empty() && config.args.is_empty() => {
                let uri =
                    address(url).ok_or_else(|| error("`url` is not an http or https address".to_owned()))?;
                let mut headers = HeaderMap::new();
                for (key, text) in &config.headers {
                    let header: Option<HeaderName> = key.parse().ok().filter(is_free);
                    let header = header.ok_or_else(|| error(format!("`headers.{key}` is not to be set")))?;
                    let text = expanded(&format!("headers.{key}"), text)?;
                    let value = HeaderValue::from_str(&text);
                    let mut value = value
                        .map_err(|_| error(format!("`headers.{key}` is not a valid value of a header")))?;
                    // The value may be a key.
                    value.set_sensitive(true);
                    headers.insert(header, value);
                }
                Ok(Reach::Url { uri, headers })
            }
            (Some(_), None) => Err(error("`headers` belong to a `url`".to_owned())),
            (None, Some(_)) => Err(error("`args` and `env` belong to a `command`".to_owned())),
            (Some(_), Some(_)) => Err(error("it has a `command` or a `url`, not both".to_owned())),
            (None, None) => Err(error("it has neither `command` nor `url`".to_owned())),
        }
    }
}

/// Returns whether the configuration may set the header: not one that frames the message or belongs to the protocol.
fn is_free(name: &HeaderName) -> bool {
    let reserved = ["accept", "content-type", "last-event-id"];
    is_settable(name) && !reserved.contains(&name.as_str()) && !name.as_str().starts_with("mcp-")
}

/// Parses an address without user and password, which would show up in messages.
fn address(url: &str) -> Option<Uri> {
    let uri: Uri = url.parse().ok()?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    let has_host = uri.host().is_some_and(|host| !host.is_empty());
    let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
    (is_http && has_host && !has_user).then_some(uri)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{Effect, World};

    fn config(text: &str) -> ServerConfig {
        serde_json::from_str(text).unwrap()
    }

    fn reach(name: &str, text: &str) -> Result<Reach, String> {
        let environment = [("PATH", "/bin"), ("MY_TOKEN", "sesame"), ("AWS_SECRET", "no")];
        let surroundings = Surroundings {
            environment: environment.map(|(name, value)| (name.into(), value.into())).to_vec(),
            folder: "/w".into(),
            pins: "/p".into(),
            is_named: true,
        };
        Reach::of(name, &config(text), &surroundings).map_err(|error| error.to_string())
    }

    #[test]
    fn a_program_gets_what_is_harmless_and_what_is_named() {
        let text = r#"{"command": "serve", "args": ["x"], "env": {"TOKEN": "${MY_TOKEN}", "PATH": "/mine"}}"#;
        let Ok(Reach::Program { environment, .. }) = reach("files", text) else { panic!("no program") };
        let environment: Vec<_> =
            environment.iter().map(|(n, v)| (n.to_str().unwrap(), v.to_str().unwrap())).collect();
        assert_eq!(environment, [("PATH", "/mine"), ("TOKEN", "sesame")]);
    }

    #[test]
    fn a_url_gets_its_headers() {
        let text = r#"{"url": "https://a.example/mcp", "headers": {"authorization": "Bearer ${MY_TOKEN}"}}"#;
        let Ok(Reach::Url { uri, headers }) = reach("web", text) else { panic!("no address") };
        assert_eq!(uri.host(), Some("a.example"));
        assert_eq!(headers["authorization"], "Bearer sesame");
        assert!(headers["authorization"].is_sensitive());
    }

    #[test]
    fn what_cannot_be_used_is_said_without_a_value() {
        for (name, text, why) in [
            ("a__b", r#"{"command": "x"}"#, "its name is"),
            ("_a", r#"{"command": "x"}"#, "its name is"),
            ("a b", r#"{"command": "x"}"#, "its name is"),
            ("a", "{}", "neither"),
            ("a", r#"{"command": "x", "url": "http://h/"}"#, "not both"),
            ("a", r#"{"command": "x", "headers": {"a": "b"}}"#, "belong to a `url`"),
            ("a", r#"{"url": "http://h/", "args": ["b"]}"#, "belong to a `command`"),
            ("a", r#"{"url": "ftp://h/"}"#, "not an http"),
            ("a", r#"{"url": "http://me:sesame@h/"}"#, "not an http"),
            ("a", r#"{"url": "http://h/", "headers": {"host": "b"}}"#, "not to be set"),
            ("a", r#"{"url": "http://h/", "headers": {"mcp-session-id": "b"}}"#, "not to be set"),
            ("a", r#"{"url": "http://h/", "headers": {"x": "sesame\n"}}"#, "not a valid value of a header"),
            ("a", r#"{"url": "http://h/", "headers": {"x": "${NONE}"}}"#, "NONE is not set"),
            ("a", r#"{"command": "x", "env": {"x": "${NONE"}}"#, "without its"),
        ] {
            let said = reach(name, text).err().unwrap_or_default();
            assert!(said.contains(why) && !said.contains("sesame"), "{text}: {said}");
        }
    }

    #[test]
    fn only_the_configuration_says_what_a_tool_may_do() {
        let config =
            config(r#"{"command": "x", "read": ["a", "b"], "write": ["b", "c"], "idempotent": ["c"]}"#);
        assert_eq!(config.kind("a"), Kind::READ.open());
        assert_eq!(config.kind("b"), Kind::WRITE.open());
        assert_eq!(config.kind("c"), Kind::WRITE.open().idempotent());
        assert_eq!(config.kind("d"), Kind::DESTRUCTIVE);
        let closed = ServerConfig { closed_world: true, ..config };
        assert_eq!((closed.kind("a").effect, closed.kind("a").world), (Effect::Read, World::Closed));
    }
}
