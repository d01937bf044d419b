//! The configuration: flags, environment, file and defaults, the former before the latter.
//!
//! What is wrong is said in one sentence that names the key, and the line where it stands in a file. Keys of
//! upstreams are never part of it, only the names of the variables that hold them.

mod settings;
mod store;
mod file;
mod upstream;
mod check;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use callwright::{DialectError, Dialects};
use callwright_gateway::{ClientKey, GatewayConfig, Secrets};
use callwright_relay::config::RelayConfig;

use crate::args::ConfigArgs;
use crate::failure::Failure;
pub(crate) use check::print;
pub(crate) use settings::{KeyConfig, Settings};
pub(crate) use upstream::{configured, named};

/// Looks up a variable of the environment.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The file that is read where none is named.
pub(crate) const FILE: &str = "callwright.toml";

/// All that is configured, and where each part comes from.
pub(crate) struct Config {
    pub(crate) settings: Settings,
    /// The file that was read.
    pub(crate) file: Option<PathBuf>,
    /// Did the user name it? One that merely lies where we were started may be anybody's.
    pub(crate) is_named: bool,
    /// Of each setting that is not the default.
    pub(crate) origins: BTreeMap<&'static str, Origin>,
    /// The dialects that answers are read in.
    pub(crate) dialects: Dialects,
    /// The single values that are set, as they are shown.
    values: BTreeMap<&'static str, String>,
}

/// Where a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The file.
    File,
    /// This variable of the environment.
    Env(String),
    /// This flag.
    Flag(String),
    /// Nobody said it: this was found, or chosen.
    Found(&'static str),
}

impl Config {
    /// Reads everything.
    ///
    /// # Errors
    /// A file that cannot be read; a key or a value that cannot be used.
    pub(crate) fn load(args: &ConfigArgs, env: Env<'_>) -> Result<Config, Failure> {
        let named = args.config.clone().or_else(|| env("CALLWRIGHT_CONFIG").map(PathBuf::from));
        let is_named = named.is_some();
        let file = named.or_else(|| Some(PathBuf::from(FILE)).filter(|path| path.exists()));
        let (mut table, mut origins) = match &file {
            Some(path) => file::read(path)?,
            None => Default::default(),
        };
        for setting in settings::ALL {
            if let Some(value) = env(&setting.variable()) {
                let origin = Origin::Env(setting.variable());
                settings::put(&mut table, setting.key, &value, &origin)?;
                origins.insert(setting.key, origin);
            }
        }
        for (key, value, flag) in args.overrides()? {
            let origin = Origin::Flag(flag);
            let key = settings::put(&mut table, key, value, &origin)?;
            origins.insert(key, origin);
        }
        let values = settings::values(&table);
        let mut settings = settings::of(table)?;
        if let Some((hashes, origin)) = upstream::listed(&args.key_hash, "--key-hash", env, "CALLWRIGHT_KEYS")
        {
            settings.keys = hashes.into_iter().map(|sha256| KeyConfig { name: None, sha256 }).collect();
            origins.insert("keys", origin);
        }
        if let Some((urls, origin)) =
            upstream::listed(&args.upstream, "--upstream", env, "CALLWRIGHT_UPSTREAM")
        {
            settings.upstreams = configured(&urls, args.upstream_key_env.as_deref(), env)?;
            origins.insert("upstreams", origin);
        }
        upstream::check(&settings.upstreams)?;
        settings.log.check().map_err(|error| Failure::Config(format!("log.level: {error}")))?;
        let dialects = dialects(&settings, file.as_deref())?;
        Ok(Config { settings, file, is_named, origins, dialects, values })
    }

    /// The gateway's part and the relay's part of it.
    ///
    /// # Errors
    /// An address or a hash that is none.
    pub(crate) fn parts(&self, secrets: &Secrets) -> Result<(GatewayConfig, RelayConfig), Failure> {
        let settings = &self.settings;
        let hash = |(number, key): (usize, &KeyConfig)| {
            let name = key.name.clone().unwrap_or_else(|| number.to_string());
            let hash = ClientKey::from_hash(key.sha256.trim());
            hash.map_err(|error| Failure::Config(format!("key {name}: sha256: {error}")))
        };
        let gateway = GatewayConfig {
            listen: upstream::address(&settings.listen)?,
            keys: (1..).zip(&settings.keys).map(hash).collect::<Result<_, _>>()?,
            allow_open: settings.allow_open,
            server: settings.server.clone(),
            traces: settings.traces.clone(),
            keep: None,
            secrets: secrets.clone(),
        };
        let relay = RelayConfig {
            upstreams: settings.upstreams.clone(),
            default_model: settings.default_model.clone(),
            models: settings.models.clone(),
            policy: settings.policy,
            notes: settings.notes,
            stream_arguments: settings.stream_arguments,
            ladder: settings.ladder.clone(),
            limits: settings.limits,
            capability: settings.capability.clone(),
            dialects: self.dialects.clone(),
        };
        Ok((gateway, relay))
    }
}

/// The built-in dialects, and those that the settings bring with them.
fn dialects(settings: &Settings, file: Option<&Path>) -> Result<Dialects, Failure> {
    let refused = |error: DialectError| {
        let file = file.map_or_else(String::new, |path| format!("{}: ", shown(path)));
        Failure::Config(format!("{file}{error}"))
    };
    if settings.dialect.is_empty() {
        return Ok(Dialects::default());
    }
    Dialects::new(settings.dialect.iter().cloned()).map_err(refused)
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File => f.write_str("file"),
            Origin::Env(variable) => f.write_str(variable),
            Origin::Flag(flag) => f.write_str(flag),
            Origin::Found(how) => f.write_str(how),
        }
    }
}

/// A path as it is shown.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
