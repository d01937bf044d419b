//! The configuration: flags, environment, file and defaults, the former before the latter.
//!
//! An error is one sentence that names the key, and the line where it stands in a file. Keys of upstreams are never part of it,
//! only the names of the variables that hold them.

mod origin;
mod message;
mod settings;
mod store;
mod kept;
mod found;
mod trust;
mod file;
mod upstream;
pub(crate) mod check;
#[cfg(test)]
mod reference;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callwright::{Dialect, DialectError, Dialects};
use callwright_gateway::{ClientKey, GatewayConfig, Secrets, Sessions};
use callwright_relay::config::RelayConfig;
use callwright_relay::survey::Survey;
use callwright_template::ResponseTemplate;

use crate::args::Flags;
use crate::failure::Failure;
use crate::input;
pub(crate) use found::summary;
pub(crate) use message::meant;
use origin::shown;
pub(crate) use origin::{Env, Origin};
pub(crate) use settings::{KeyConfig, ResponseFile, Settings};
pub(crate) use store::{BUILT_IN, own_folder};
pub(crate) use trust::Trusted;
pub(crate) use upstream::{configured, named};

/// All that is configured, and where each part comes from.
pub(crate) struct Config {
    pub(crate) settings: Settings,
    /// The file that was read.
    pub(crate) file: Option<PathBuf>,
    /// Of each setting that is not the default.
    pub(crate) origins: BTreeMap<&'static str, Origin>,
    /// The dialects that answers are read in.
    pub(crate) dialects: Dialects,
    /// The single values that are set, as they are shown.
    values: BTreeMap<&'static str, String>,
}

impl Config {
    /// Reads everything.
    ///
    /// # Errors
    /// A file that cannot be read; a key or a value that cannot be used.
    pub(crate) fn load(flags: Flags<'_>, env: Env<'_>) -> Result<Config, Failure> {
        let named = flags.config.and_then(|args| args.config.clone());
        let named = named.or_else(|| env("CALLWRIGHT_CONFIG").map(PathBuf::from));
        let found = match named {
            Some(path) => Some((input::text(&path)?, path)),
            None => found::file(env)?.map(|(path, text)| (text, path)),
        };
        let (mut table, mut origins) = match &found {
            Some((text, path)) => file::read(path, text)?,
            None => Default::default(),
        };
        let file = found.map(|(_, path)| path);
        // A former name comes first: the current one is set over it.
        let former = settings::FORMER.iter().map(|(key, _)| *key);
        for key in former.chain(settings::ALL.iter().map(|setting| setting.key)) {
            let variable = settings::variable(key);
            if let Some(value) = env(&variable) {
                let origin = Origin::Env(variable);
                let key = settings::put(&mut table, key, &value, &origin)?;
                origins.insert(key, origin);
            }
        }
        for (key, value, flag) in flags.overrides()? {
            let origin = Origin::Flag(flag);
            let key = settings::put(&mut table, key, value, &origin)?;
            origins.insert(key, origin);
        }
        let values = settings::values(&table);
        let mut settings = settings::of(table)?;
        let hashes = flags.listen.map_or(&[][..], |listen| &listen.key_hash);
        if let Some((hashes, origin)) = upstream::listed(hashes, "--key-hash", env, "CALLWRIGHT_KEYS") {
            let key = |sha256| KeyConfig { name: None, sha256, sessions: Sessions::default() };
            settings.keys = hashes.into_iter().map(key).collect();
            origins.insert("keys", origin);
        }
        let urls = flags.upstream.map_or(&[][..], |upstream| &upstream.upstream);
        if let Some((urls, origin)) = upstream::listed(urls, "--upstream", env, "CALLWRIGHT_UPSTREAM") {
            settings.upstreams = configured(&urls, flags.upstream, env)?;
            origins.insert("upstreams", origin);
        }
        upstream::check(&settings.upstreams)?;
        settings.log.check().map_err(|error| Failure::Config(format!("log.level: {error}")))?;
        let dialects = dialects(&settings, file.as_deref())?;
        Ok(Config { settings, file, origins, dialects, values })
    }

    /// The gateway's part and the relay's part of it.
    ///
    /// # Errors
    /// An address or a hash that is not valid.
    pub(crate) fn parts(
        &self,
        env: Env<'_>,
        secrets: &Secrets,
    ) -> Result<(GatewayConfig, RelayConfig), Failure> {
        let settings = &self.settings;
        let hash = |(number, key): (usize, &KeyConfig)| {
            let name = key.name.clone().unwrap_or_else(|| number.to_string());
            let hash = ClientKey::from_hash(key.sha256.trim());
            let hash = hash.map(|hash| match key.sessions {
                Sessions::All => hash.sees(Sessions::All),
                // The hash may say so itself.
                Sessions::Own => hash,
            });
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
            loop_guard: settings.loop_guard,
            stream_arguments: settings.stream_arguments,
            tools: settings.tools,
            ladder: settings.ladder.clone(),
            limits: settings.limits,
            keep_answers: settings.store.answers(),
            capability: self.capability(env),
            dialects: self.dialects.clone(),
        };
        Ok((gateway, relay))
    }

    /// The upstreams, to be asked about themselves.
    ///
    /// # Errors
    /// What is configured cannot be used.
    pub(crate) fn survey(&self, env: Env<'_>) -> Result<Survey, Failure> {
        let (_, relay) = self.parts(env, &Secrets::default())?;
        Survey::new(&relay, env).map_err(|error| Failure::Config(error.to_string()))
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
