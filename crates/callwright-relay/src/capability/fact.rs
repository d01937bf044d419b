//! The facts about models and upstreams.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::experience::{CallsInText, Evidence, Experience, StrictSeen};
use super::server::Server;
use crate::config::Constrain;

/// The facts about one model at one upstream. Times are in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Fact {
    #[serde(rename = "told")]
    pub(super) metadata: Metadata,
    /// The time until which `metadata` holds; 0 if the upstream was never asked.
    #[serde(rename = "told_until")]
    pub(super) metadata_until: u64,
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

/// The facts about one upstream.
#[derive(Clone, Debug, Default)]
pub(super) struct AtUpstream {
    /// The server, and the time until which that holds.
    pub(super) server: Option<(Server, u64)>,
    /// The upstream could not tell, and is not asked before this time.
    pub(super) quiet_until: u64,
    /// The description of its only model, whatever its name, and the time until which that holds.
    pub(super) only: Option<(Metadata, u64)>,
    pub(super) models: HashMap<String, Fact>,
}

/// Facts by upstream.
pub(super) type Facts = HashMap<String, AtUpstream>;
