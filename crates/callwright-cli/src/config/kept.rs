//! The place of kept requests: as configured, or in the user's own folder for what programs remember.

use std::path::PathBuf;

use callwright_gateway::{KeepConfig, Secrets};
use callwright_relay::config::CapabilityConfig;
use callwright_store::{Location, Masking, Retention, StoreConfig};

use super::Config;
use super::origin::Env;
use super::store::{BUILT_IN, own_folder};
use crate::failure::Failure;

/// The name of the file, where only a folder is known.
const FILE: &str = "callwright.db";

impl Config {
    /// Returns the place of kept requests; `None` where that is switched off, or there is no place.
    ///
    /// # Errors
    /// A place or a pattern that cannot be used.
    pub(crate) fn keep(&self, env: Env<'_>, secrets: &Secrets) -> Result<Option<KeepConfig>, Failure> {
        let settings = &self.settings.store;
        let Some(location) = self.location(env)? else { return Ok(None) };
        if let Location::Postgres(url) = &location {
            // Whatever stands before the host may hold a password.
            let authority = url.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
            authority
                .into_iter()
                .filter_map(|(user, _)| user.split_once(':'))
                .for_each(|(_, p)| secrets.keep(p));
        }
        let folder = match &location {
            Location::File(path) => path.parent().map(PathBuf::from),
            Location::Postgres(_) => self.state_folder(env),
        };
        let dumps = settings.dumps.clone().unwrap_or_else(|| folder.unwrap_or_default().join("dumps"));
        let masking = Masking::new(secrets.clone(), &settings.mask)
            .map_err(|error| Failure::Config(format!("store.mask: {error}")))?;
        let retention = Retention { days: settings.days, bytes: settings.bytes };
        let store = StoreConfig { retention, masking, ..StoreConfig::of(location) };
        Ok(Some(KeepConfig { store, dumps, is_needed: settings.at.is_some() }))
    }

    fn location(&self, env: Env<'_>) -> Result<Option<Location>, Failure> {
        let refused = |error| Failure::Config(format!("store.at: {error}"));
        match self.settings.store.at.as_deref().map(str::trim) {
            Some("off") => Ok(None),
            Some(text) => text.parse().map(Some).map_err(refused),
            None => Ok(self.state_folder(env).map(|folder| Location::File(folder.join(FILE)))),
        }
    }

    /// Returns the way to find out about models. The findings stand beside the sessions, if no other place is named for them, and
    /// nowhere if no sessions are kept. Nothing is kept of the built-in upstream, which is another one each time.
    pub(crate) fn capability(&self, env: Env<'_>) -> CapabilityConfig {
        let own = self.settings.capability.clone();
        let beside = || match self.location(env).ok()?? {
            _ if self.origins.get("upstreams") == Some(&BUILT_IN) => None,
            Location::File(path) => path.parent().map(PathBuf::from),
            Location::Postgres(_) => self.state_folder(env),
        };
        CapabilityConfig { dir: own.dir.clone().or_else(beside), ..own }
    }

    /// Returns whether anything is to be kept.
    pub(crate) fn wants_store(&self) -> bool {
        !self.settings.store.is_off()
    }

    /// Returns the folder for findings about models, or else the one for what programs remember of this user.
    pub(crate) fn state_folder(&self, env: Env<'_>) -> Option<PathBuf> {
        self.settings.capability.dir.clone().or_else(|| own_folder(env))
    }
}
