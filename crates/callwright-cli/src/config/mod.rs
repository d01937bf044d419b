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

use callwright::{Dialect, DialectError, Dialects};
use callwright_gateway::{ClientKey, GatewayConfig, Secrets};
use callwright_relay::config::RelayConfig;
use callwright_template::ResponseTemplate;

use crate::args::ConfigArgs;
use crate::failure::Failure;
use crate::input;
pub(crate) use check::print;
pub(crate) use settings::{KeyConfig, ResponseFile, Settings};
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
            keep_answers: settings.store.answers(),
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
    if settings.dialect.is_empty() && settings.response_template.is_empty() {
        return Ok(Dialects::default());
    }
    let mut dialects = Dialects::new(settings.dialect.iter().cloned()).map_err(refused)?;
    for response in &settings.response_template {
        let dialect = imported(response, &dialects, file)?;
        let all = dialects.own().cloned().chain([dialect]);
        dialects = Dialects::new(all).map_err(refused)?;
    }
    Ok(dialects)
}

/// The dialect that a tokenizer's file describes.
fn imported(response: &ResponseFile, dialects: &Dialects, config: Option<&Path>) -> Result<Dialect, Failure> {
    let folder = config.and_then(Path::parent).unwrap_or(Path::new(""));
    let path = folder.join(&response.file);
    let refused = |why: String| {
        Failure::Config(format!("response_template `{}`: {}: {why}", response.name, shown(&path)))
    };
    let template = ResponseTemplate::new(&input::text(&path)?).map_err(|error| refused(error.to_string()))?;
    let proved =
        template.dialect(dialects, &response.name).map_err(|unknown| refused(unknown.to_string()))?;
    let known = || refused(format!("this is the dialect `{}`, which is read without it", proved.name));
    let mut dialect = proved.own.clone().ok_or_else(known)?;
    dialect.models = response.models.iter().map(|model| model.clone().into()).collect();
    Ok(dialect)
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
