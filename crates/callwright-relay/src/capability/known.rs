//! The facts about models, in memory: read by each request, written rarely.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use super::experience::{CallsInText, Evidence, Experience, StrictSeen};
use super::file::File;
use super::server::Server;
use crate::config::Constrain;
use crate::upstream::Upstream;

/// The most models of one upstream that are remembered. Clients name the models, so their number has no bound of its own.
const MOST_MODELS: usize = 4096;

/// The facts about one model at one upstream. Times are in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Fact {
    #[serde(rename = "told")]
    metadata: Metadata,
    /// The time until which `metadata` holds; 0 if the upstream was never asked.
    #[serde(rename = "told_until")]
    metadata_until: u64,
    /// The experience with its tools.
    pub(super) tools: Option<Experience>,
    /// The answers with calls as text.
    pub(super) calls_in_text: CallsInText,
    /// A demanded call did not come, and the answer went on until its tokens were spent.
    pub(super) demanded: Option<Experience>,
    /// The upstream refused to be constrained.
    pub(super) no_constraint: Option<Experience>,
    /// The upstream refused `strict`.
    pub(super) no_strict: Option<Experience>,
    /// The experience with `strict`.
    pub(super) strict_seen: StrictSeen,
    /// The upstream refused the other member.
    pub(super) bound: Option<(BoundMember, Experience)>,
    /// The most tokens that an answer may have, learned from a refusal.
    pub(super) most_tokens: Option<(u64, Experience)>,
    /// The time until which no request of our own tries the model out.
    pub(super) tried_until: u64,
}

/// The member of a request that bounds its answer's tokens. Servers take one, the other, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BoundMember {
    /// `max_tokens`, the older one.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's reasoning models demand.
    MaxCompletionTokens,
}

impl BoundMember {
    /// Returns its name in a request.
    pub fn name(self) -> &'static str {
        match self {
            BoundMember::MaxTokens => "max_tokens",
            BoundMember::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    /// Returns the member to use if this one is refused.
    pub fn other(self) -> BoundMember {
        match self {
            BoundMember::MaxTokens => BoundMember::MaxCompletionTokens,
            BoundMember::MaxCompletionTokens => BoundMember::MaxTokens,
        }
    }
}

/// The upstream's own description of a model, each fact with the place where it stands. It is empty if the upstream tells
/// nothing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Metadata {
    pub(super) tools: Option<(bool, Arc<str>)>,
    pub(super) constrain: Option<(Constrain, Arc<str>)>,
    /// The model's own chat template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) template: Option<Arc<str>>,
}

/// The upstream's description of a model, and those of others that came with it.
#[derive(Debug, Default)]
pub(super) struct ProbeResult {
    /// The server, if its answers tell.
    pub(super) server: Option<Server>,
    /// The model that was asked about, and its description.
    pub(super) model: (String, Metadata),
    /// The server has no other model, so that all names mean this one.
    pub(super) is_only: bool,
    pub(super) others: Vec<(String, Metadata)>,
}

impl Fact {
    /// Returns the upstream's description of the model while it holds.
    pub(super) fn metadata(&self, now: u64) -> Option<&Metadata> {
        (now < self.metadata_until).then_some(&self.metadata)
    }

    /// Adds an experience, unless a known one counts more. Returns whether it was added.
    pub(super) fn learn(&mut self, experience: Experience) -> bool {
        let stands = |known: &Experience| {
            experience.since < known.until && known.evidence.outweighs(experience.evidence)
        };
        let is_taken = !self.tools.as_ref().is_some_and(stands);
        if is_taken && experience.evidence == Evidence::Called {
            self.calls_in_text = CallsInText::default();
        }
        if is_taken {
            self.tools = Some(experience);
        }
        is_taken
    }

    pub(super) fn until(&self) -> u64 {
        let bound = self.bound.as_ref().map(|(_, experience)| experience);
        let most_tokens = self.most_tokens.as_ref().map(|(_, experience)| experience);
        let learned = [
            self.tools.as_ref(),
            self.demanded.as_ref(),
            self.no_constraint.as_ref(),
            self.no_strict.as_ref(),
            bound,
            most_tokens,
        ];
        let learned = learned.into_iter().flatten().map(|learned| learned.until);
        learned.fold(
            self.metadata_until
                .max(self.tried_until)
                .max(self.strict_seen.until)
                .max(self.calls_in_text.until),
            u64::max,
        )
    }
}

/// The facts about one upstream.
#[derive(Clone, Debug, Default)]
pub(super) struct AtUpstream {
    /// The server, and the time until which that holds.
    pub(super) server: Option<(Server, u64)>,
    /// The upstream could not tell, and is not asked before this time.
    quiet_until: u64,
    /// The description of its only model, whatever its name, and the time until which that holds.
    only: Option<(Metadata, u64)>,
    pub(super) models: HashMap<String, Fact>,
}

/// Facts by upstream.
pub(super) type Facts = HashMap<String, AtUpstream>;

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
