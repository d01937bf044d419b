//! What has been found out about models, in memory: read by each request, written rarely.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use super::file::File;
use crate::config::Constrain;
use crate::upstream::Upstream;

/// How many models of one upstream are remembered. Clients name the models, so their number has no bound of
/// its own.
const MOST_MODELS: usize = 4096;

/// What has been found out about one model at one upstream. Times are in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Fact {
    #[serde(rename = "told")]
    metadata: Metadata,
    /// Until when `metadata` holds; 0 where the upstream was never asked.
    #[serde(rename = "told_until")]
    metadata_until: u64,
    pub(super) no_tools: Option<Learned>,
    pub(super) no_constraint: Option<Learned>,
}

/// What an upstream tells about a model, each with the place where it does so. Empty where it tells nothing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Metadata {
    pub(super) tools: Option<(bool, Arc<str>)>,
    pub(super) constrain: Option<(Constrain, Arc<str>)>,
    /// The model's own chat template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) template: Option<Arc<str>>,
}

/// What an upstream refused.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Learned {
    pub(super) words: Arc<str>,
    pub(super) until: u64,
}

/// What an upstream tells of a model, and what it told of others when asked about it.
#[derive(Debug, Default)]
pub(super) struct ProbeResult {
    pub(super) model: Metadata,
    pub(super) others: Vec<(String, Metadata)>,
}

impl Fact {
    /// What the upstream tells, as long as that holds.
    pub(super) fn metadata(&self, now: u64) -> Option<&Metadata> {
        (now < self.metadata_until).then_some(&self.metadata)
    }

    fn until(&self) -> u64 {
        let learned =
            [&self.no_tools, &self.no_constraint].into_iter().flatten().map(|learned| learned.until);
        learned.fold(self.metadata_until, u64::max)
    }
}

/// Facts by upstream, then by model.
pub(super) type Facts = HashMap<String, HashMap<String, Fact>>;

#[derive(Debug)]
pub(super) struct Known {
    facts: Arc<RwLock<Facts>>,
    file: Option<Arc<File>>,
}

impl Known {
    /// What an earlier run left in `dir` about `upstreams`, as far as it still holds.
    pub(super) fn new(dir: Option<&Path>, upstreams: &[Arc<Upstream>], now: u64) -> Known {
        let file = dir.map(|dir| Arc::new(File::new(dir, upstreams)));
        let mut facts = file.as_ref().map(|file| file.read()).unwrap_or_default();
        for models in facts.values_mut() {
            models.retain(|_, fact| now < fact.until());
        }
        Known { facts: Arc::new(RwLock::new(facts)), file }
    }

    /// Gives `look` what is known of a model.
    pub(super) fn with<T>(&self, upstream: &str, model: &str, look: impl FnOnce(Option<&Fact>) -> T) -> T {
        let facts = self.facts.read().unwrap_or_else(PoisonError::into_inner);
        look(facts.get(upstream).and_then(|models| models.get(model)))
    }

    /// Was the upstream asked about the model not long ago?
    pub(super) fn was_asked(&self, upstream: &str, model: &str, now: u64) -> bool {
        self.with(upstream, model, |fact| fact.is_some_and(|fact| now < fact.metadata_until))
    }

    /// The upstream has told, which holds until `until`.
    pub(super) fn tell(&self, upstream: &str, model: &str, result: ProbeResult, until: u64) {
        for (other, metadata) in result.others {
            self.update(upstream, &other, |fact| (fact.metadata, fact.metadata_until) = (metadata, until));
        }
        self.update(upstream, model, |fact| (fact.metadata, fact.metadata_until) = (result.model, until));
    }

    /// The upstream could not be asked, and is not asked again before `until`: what it told last holds so long.
    pub(super) fn asked_in_vain(&self, upstream: &str, model: &str, until: u64) {
        self.update(upstream, model, |fact| fact.metadata_until = until);
    }

    pub(super) fn update(&self, upstream: &str, model: &str, change: impl FnOnce(&mut Fact)) {
        let mut facts = self.facts.write().unwrap_or_else(PoisonError::into_inner);
        let models = facts.entry(upstream.to_owned()).or_default();
        if MOST_MODELS <= models.len() && !models.contains_key(model) {
            // The half that ends first goes, so that this is rare.
            let mut ends: Vec<u64> = models.values().map(Fact::until).collect();
            let middle = ends.len() / 2;
            let (_, middle, _) = ends.select_nth_unstable(middle);
            let middle = *middle;
            models.retain(|_, fact| middle < fact.until());
        }
        change(models.entry(model.to_owned()).or_default());
    }

    pub(super) fn forget(&self, upstream: &str, model: &str) {
        let mut facts = self.facts.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(models) = facts.get_mut(upstream) {
            models.remove(model);
        }
    }

    /// Writes the file, if there is one.
    pub(super) async fn save(&self) {
        let Some(file) = self.file.clone() else { return };
        let facts = Arc::clone(&self.facts);
        // The facts are copied under the file's lock: the last one to write has the newest.
        let write = move || file.write(|| facts.read().unwrap_or_else(PoisonError::into_inner).clone());
        if let Err(error) = tokio::task::spawn_blocking(write).await {
            tracing::warn!(%error, "the capability file was not written");
        }
    }
}
