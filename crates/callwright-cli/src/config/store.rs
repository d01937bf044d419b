//! The section `[store]`, and the user's own folder for what programs remember.

use std::path::PathBuf;

use callwright_store::Retention;
use serde::Deserialize;

use super::origin::{Env, Origin};

/// The section `[store]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct StoreSettings {
    /// A file, `postgres://…`, or `off`.
    pub(super) at: Option<String>,
    pub(super) days: u32,
    pub(super) bytes: u64,
    pub(super) mask: Vec<String>,
    pub(super) dumps: Option<PathBuf>,
    answers: usize,
}

impl StoreSettings {
    /// Of each answer of an upstream so many bytes are kept as they came.
    pub(crate) fn answers(&self) -> usize {
        if self.is_off() { 0 } else { self.answers }
    }

    pub(super) fn is_off(&self) -> bool {
        self.at.as_deref().map(str::trim) == Some("off")
    }
}

impl Default for StoreSettings {
    fn default() -> StoreSettings {
        let Retention { days, bytes } = Retention::default();
        StoreSettings { at: None, days, bytes, mask: Vec::new(), dumps: None, answers: 0 }
    }
}

/// The origin of the built-in upstream.
pub(crate) const BUILT_IN: Origin = Origin::Found("built in");

/// The user's own folder for what programs remember: `~/.local/state/callwright`. No configuration chooses it.
pub(crate) fn own_folder(env: Env<'_>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_STATE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".local/state")))
        .or_else(|| set("LOCALAPPDATA"))?;
    Some(folder.join("callwright"))
}
