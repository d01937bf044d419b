//! Chooses the way to ask a candidate: natively or in prompt mode, in which dialect, and under which constraint.

use std::sync::Arc;

use callwright::ToolChoice;
use callwright::prompt::PromptDialect;

use super::Turn;
use crate::capability::{AtHand, Capability, ModelTemplate};
use crate::config::{Constrain, Mode};
use crate::target::Target;
use crate::upstream::Candidate;

impl Turn {
    /// Returns the way to ask this candidate.
    pub(crate) async fn target(&self, candidate: Candidate) -> Target {
        // Old calls and results need a server that knows them, too.
        if !self.has_tools() && !self.ask.tells_of_tools() {
            return self.native_target(candidate);
        }
        let capabilities = &self.relay.capabilities;
        let capability = match capabilities.at_hand(&candidate) {
            AtHand::Settled(capability) => capability,
            AtHand::Presumed(capability) => {
                self.find_out_beside(&candidate);
                capability
            }
            AtHand::Missing => Box::pin(capabilities.of(&candidate)).await,
        };
        let set = candidate.config.as_deref().and_then(|set| set.mode);
        // A server that lets the model end with a call alone, and reads none of its calls, keeps it going until its tokens are
        // spent.
        if capability.tools
            && set.is_none()
            && self.ask.calls.choice.is_required()
            && let Some(seen) = &capability.demanded
        {
            tracing::debug!(model = candidate.model, %seen, "[relay] a call is demanded in prompt mode");
            return self.prompt_target(candidate).await;
        }
        let mode = if capability.tools { Mode::Native } else { Mode::Prompt };
        tracing::debug!(model = candidate.model, mode = mode.name(), source = ?capability.tools_source, "[relay] mode");
        self.target_in(mode, candidate, capability, &self.ask.calls.choice)
    }

    /// Returns the way to ask this candidate in prompt mode.
    pub(crate) async fn prompt_target(&self, candidate: Candidate) -> Target {
        let capability = Box::pin(self.relay.capabilities.of(&candidate)).await;
        self.target_in(Mode::Prompt, candidate, capability, &self.ask.calls.choice)
    }

    /// Returns the target of a follow-up to the answer of `target`. A demanded call is held to its form if the server can do
    /// that, even if the request itself left the model free.
    pub(crate) fn follow_up_target(&self, target: &Target, choice: &ToolChoice) -> Target {
        let is_free = target.mode == Mode::Prompt && target.constrain == Constrain::None;
        if !is_free || !choice.is_required() || self.ask.calls.choice.is_required() {
            return target.clone();
        }
        let capability = self.relay.capabilities.what_is_known(&target.candidate);
        self.target_in(Mode::Prompt, target.candidate.clone(), capability, choice)
    }

    /// Finds out more about `candidate`, while its first answer is under way.
    fn find_out_beside(&self, candidate: &Candidate) {
        if self.relay.capabilities.is_asking(candidate) {
            return;
        }
        let (relay, candidate) = (Arc::clone(&self.relay), candidate.clone());
        drop(tokio::spawn(async move { relay.capabilities.of(&candidate).await }));
    }

    fn native_target(&self, candidate: Candidate) -> Target {
        let bound = self.relay.capabilities.bound(&candidate);
        let most_tokens = self.relay.capabilities.most_tokens(&candidate);
        Target { bound, most_tokens, ..Target::native(candidate) }
    }

    fn target_in(
        &self,
        mode: Mode,
        candidate: Candidate,
        capability: Capability,
        choice: &ToolChoice,
    ) -> Target {
        let Capability { constrain, strict, template, .. } = capability;
        let all = &candidate.dialects;
        let configured = || {
            let name = candidate.config.as_deref().and_then(|set| set.dialect.as_deref());
            name.and_then(|name| PromptDialect::named(all, name))
        };
        let own = || match constrain {
            // Whoever must call says nothing beside it.
            Constrain::JsonSchema if choice.is_required() => PromptDialect::json(),
            // In its own dialect a model may make several calls, and speak: a schema for the whole answer lets it do one or
            // the other. It holds those that have none.
            Constrain::JsonSchema | Constrain::Grammar | Constrain::None => {
                let spoken = template.as_deref().and_then(ModelTemplate::spoken);
                spoken.unwrap_or_else(|| PromptDialect::for_model(all, &candidate.model))
            }
        };
        let dialect = match mode {
            // It is not asked in words.
            Mode::Native => PromptDialect::json(),
            Mode::Prompt => configured().unwrap_or_else(own),
        };
        let bound = self.relay.capabilities.bound(&candidate);
        let most_tokens = self.relay.capabilities.most_tokens(&candidate);
        Target { mode, dialect, constrain, strict, template, bound, most_tokens, candidate }
    }
}
