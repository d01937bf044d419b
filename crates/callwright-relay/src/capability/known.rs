//! The facts about models, in memory: read by each request, written rarely.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use super::fact::{Fact, Facts, Metadata, ProbeResult};
use super::file::File;
use super::server::Server;
use crate::upstream::Upstream;

/// The most models of one upstream that are remembered. Clients name the models, so their number has no bound of its own.
const MOST_MODELS: usize = 4096;

#[derive(Debug)]
pub(super) struct Known {
    facts: Arc<RwLock<Facts>>,
    file: Option<Arc<File>>,
}

impl Known {
    /// Takes the facts about `upstreams` that an earlier run left in `dir`, as far as they still hold.
    pub(super) fn new(dir: Option<&Path>, upstreams: &[Arc<Upstream>], now: u64) -> Known {
        let file = dir.map(|dir| Arc::new(File::new(dir, upstreams)));
        let mut facts = file.as_ref().map(|file| file.read()).unwrap_or_default();
        for known in facts.values_mut() {
            known.models.retain(|_, fact| now < fact.until());
        }
        Known { facts: Arc::new(RwLock::new(facts)), file }
    }

    /// Gives `look` the facts about a model.
    pub(super) fn with<T>(&self, upstream: &str, model: &str, look: impl FnOnce(Option<&Fact>) -> T) -> T {
        let facts = self.facts.read().unwrap_or_else(PoisonError::into_inner);
        look(facts.get(upstream).and_then(|known| known.models.get(model)))
    }

    /// Gives `look` the facts about a model, with the upstream's description while it holds.
    pub(super) fn with_metadata<T>(
        &self,
        upstream: &str,
        model: &str,
        now: u64,
        look: impl FnOnce(Option<&Fact>, Option<&Metadata>) -> T,
    ) -> T {
        let facts = self.facts.read().unwrap_or_else(PoisonError::into_inner);
        let known = facts.get(upstream);
        let fact = known.and_then(|known| known.models.get(model));
        let only = known.and_then(|known| known.only.as_ref());
        let only = only.filter(|(_, until)| now < *until).map(|(metadata, _)| metadata);
        look(fact, fact.and_then(|fact| fact.metadata(now)).or(only))
    }

    /// Returns the server of the upstream, if it is known.
    pub(super) fn server(&self, upstream: &str, now: u64) -> Option<Server> {
        let facts = self.facts.read().unwrap_or_else(PoisonError::into_inner);
        let (server, until) = facts.get(upstream)?.server?;
        (now < until).then_some(server)
    }

    /// Returns whether a question about the model would bring nothing. The upstream was asked not long ago, could not tell, or
    /// says nothing about single models.
    pub(super) fn was_asked(&self, upstream: &str, model: &str, now: u64) -> bool {
        let facts = self.facts.read().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = facts.get(upstream) else { return false };
        // A variant such as `:nitro` is not listed by itself: the list is read once more for it.
        let is_variant = !known.models.contains_key(model)
            && model.rsplit_once(':').is_some_and(|(base, _)| known.models.contains_key(base));
        let is_known =
            |(server, until): (Server, u64)| now < until && !server.is_asked_by_name() && !is_variant;
        now < known.quiet_until
            || known.only.as_ref().is_some_and(|(_, until)| now < *until)
            || known.server.is_some_and(is_known)
            || known.models.get(model).is_some_and(|fact| now < fact.metadata_until)
    }

    /// Takes up the upstream's answer, which holds until `until`.
    pub(super) fn tell(&self, upstream: &str, result: ProbeResult, until: u64) {
        let (model, metadata) = result.model;
        {
            let mut facts = self.facts.write().unwrap_or_else(PoisonError::into_inner);
            let known = facts.entry(upstream.to_owned()).or_default();
            known.server = result.server.map(|server| (server, until)).or(known.server);
            known.only = result.is_only.then(|| (metadata.clone(), until));
        }
        for (other, metadata) in result.others {
            self.update(upstream, &other, |fact| (fact.metadata, fact.metadata_until) = (metadata, until));
        }
        self.update(upstream, &model, |fact| (fact.metadata, fact.metadata_until) = (metadata, until));
    }

    /// Notes that the upstream could not be asked, and is not asked again before `until`. Its last answer holds until then.
    pub(super) fn asked_in_vain(&self, upstream: &str, model: &str, until: u64) {
        self.update(upstream, model, |fact| fact.metadata_until = until);
        let mut facts = self.facts.write().unwrap_or_else(PoisonError::into_inner);
        facts.entry(upstream.to_owned()).or_default().quiet_until = until;
    }

    pub(super) fn update(&self, upstream: &str, model: &str, change: impl FnOnce(&mut Fact)) {
        let mut facts = self.facts.write().unwrap_or_else(PoisonError::into_inner);
        let models = &mut facts.entry(upstream.to_owned()).or_default().models;
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

    /// Forgets the model, and the server of the upstream.
    pub(super) fn forget(&self, upstream: &str, model: &str) {
        let mut facts = self.facts.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = facts.get_mut(upstream) {
            (known.server, known.quiet_until, known.only) = (None, 0, None);
            known.models.remove(model);
        }
    }

    /// Writes the file, if there is one.
    pub(super) async fn save(&self, now: u64) {
        let Some(file) = self.file.clone() else { return };
        let facts = Arc::clone(&self.facts);
        // The facts are copied under the file's lock: the last one to write has the newest.
        let write = move || file.write(now, || facts.read().unwrap_or_else(PoisonError::into_inner).clone());
        if let Err(error) = tokio::task::spawn_blocking(write).await {
            tracing::warn!(%error, "the capability file was not written");
        }
    }
}
