//! Flags that stand for parts of the configuration. Each command has those that matter to it.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;

/// The flags of every command that reads the configuration. Flags come before the environment, which comes before the file.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub(crate) struct ConfigArgs {
    /// The configuration file [default: callwright.toml in the current folder if `callwright trust` accepted it, or
    /// ~/.config/callwright/callwright.toml].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A value of the configuration: --set server.workers=2. Repeatable.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

impl ConfigArgs {
    pub(crate) fn flags(&self) -> Flags<'_> {
        Flags { config: Some(self), ..Flags::default() }
    }
}

/// The upstreams.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Upstream")]
pub(crate) struct UpstreamArgs {
    /// An upstream: the URL before `/chat/completions`. Repeatable.
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Vec<String>,
    /// The environment variable that holds the key of --upstream.
    #[arg(long, value_name = "NAME", requires = "upstream")]
    pub(crate) upstream_key_env: Option<String>,
    /// Certificates (PEM) to accept from --upstream, its own or its authority's. They replace those of the system.
    #[arg(long, value_name = "FILE", requires = "upstream")]
    pub(crate) upstream_ca_file: Option<PathBuf>,
    /// Accept any certificate from --upstream. Whoever is in between can then read keys and change answers.
    #[arg(long, requires = "upstream", conflicts_with = "upstream_ca_file")]
    pub(crate) upstream_insecure: bool,
}

/// Defaults of each request.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Requests")]
pub(crate) struct RequestArgs {
    /// The model for requests that name none.
    #[arg(long, value_name = "MODEL")]
    pub(crate) default_model: Option<String>,
    /// The policy for a call that is not valid as written: `auto`, `heal`, `feedback`, `strict`.
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,
}

/// The address, and the clients that may use it.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ListenArgs {
    /// The address to listen on. Port 0 takes any free port.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<String>,
    /// Listen on other addresses than loopback without keys.
    #[arg(long)]
    pub(crate) allow_open: bool,
    /// The hash of a client's key, from `callwright key`; with `:all` behind it the key sees all sessions. Repeatable.
    #[arg(long, value_name = "SHA256")]
    pub(crate) key_hash: Vec<String>,
    /// The collector for traces, OTLP over HTTP: http://127.0.0.1:4318.
    #[arg(long, value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,
}

/// The log, on standard error.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Log")]
pub(crate) struct LogArgs {
    /// Log format: text or json.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<String>,
    /// Minimum log level, also by target: info, debug, warn,callwright_relay=debug.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
}

/// The store for requests.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Store")]
pub(crate) struct StoreArgs {
    /// The place where requests are kept: a file, postgres://…, or off.
    #[arg(long, value_name = "PATH|URL|off")]
    pub(crate) store: Option<String>,
}

/// The configuration of a gateway, but for where it listens.
#[derive(Debug, Default, Args)]
pub(crate) struct GatewayArgs {
    #[command(flatten)]
    pub(crate) upstream: UpstreamArgs,
    #[command(flatten)]
    pub(crate) requests: RequestArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

impl GatewayArgs {
    pub(crate) fn flags(&self) -> Flags<'_> {
        Flags {
            config: Some(&self.config),
            upstream: Some(&self.upstream),
            requests: Some(&self.requests),
            listen: None,
            log: Some(&self.log),
            store: Some(&self.store),
        }
    }
}

/// All flags of a command that stand for parts of the configuration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags<'a> {
    pub(crate) config: Option<&'a ConfigArgs>,
    pub(crate) upstream: Option<&'a UpstreamArgs>,
    pub(crate) requests: Option<&'a RequestArgs>,
    pub(crate) listen: Option<&'a ListenArgs>,
    pub(crate) log: Option<&'a LogArgs>,
    pub(crate) store: Option<&'a StoreArgs>,
}

impl<'a> Flags<'a> {
    /// The single values that flags set: key, value, flag.
    ///
    /// # Errors
    /// A `--set` without `=`.
    pub(crate) fn overrides(self) -> Result<Vec<(&'a str, &'a str, String)>, Failure> {
        let mut overrides = Vec::new();
        for set in self.config.map_or(&[][..], |config| &config.set) {
            let (key, value) = set
                .split_once('=')
                .ok_or_else(|| Failure::Config(format!("--set {set}: not of the form KEY=VALUE")))?;
            overrides.push((key.trim(), value.trim(), format!("--set {}", key.trim())));
        }
        let mut flag = |key, flag: &str, value: Option<&'a String>| {
            overrides.extend(value.map(|value| (key, value.as_str(), flag.to_owned())));
        };
        if let Some(requests) = self.requests {
            flag("default_model", "--default-model", requests.default_model.as_ref());
            flag("policy", "--policy", requests.policy.as_ref());
        }
        if let Some(listen) = self.listen {
            flag("listen", "--listen", listen.listen.as_ref());
            flag("traces.otlp_endpoint", "--otlp-endpoint", listen.otlp_endpoint.as_ref());
        }
        if let Some(log) = self.log {
            flag("log.format", "--log-format", log.log_format.as_ref());
            flag("log.level", "--log-level", log.log_level.as_ref());
        }
        flag("store.at", "--store", self.store.and_then(|store| store.store.as_ref()));
        if self.listen.is_some_and(|listen| listen.allow_open) {
            overrides.push(("allow_open", "true", "--allow-open".to_owned()));
        }
        Ok(overrides)
    }
}
