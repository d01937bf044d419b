//! The upstream that a question goes to, and the form that the upstream takes it in.

use std::sync::Arc;

use callwright::Dialects;
use callwright::prompt::PromptDialect;

use crate::capability::{BoundMember, ModelTemplate, Strict};
use crate::config::{Constrain, Mode};
use crate::question::RequestOptions;
use crate::upstream::Candidate;

/// Who is asked, and how.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) candidate: Candidate,
    pub(crate) mode: Mode,
    pub(crate) dialect: PromptDialect,
    pub(crate) constrain: Constrain,
    /// Of which native tools `strict: true` is said.
    pub(crate) strict: Strict,
    pub(crate) template: Option<Arc<ModelTemplate>>,
    /// The member that bounds an answer's tokens, where the upstream takes only one.
    pub(crate) bound: Option<BoundMember>,
    /// The most tokens that an answer may have, as the upstream has said, to this question or of the model.
    pub(crate) most_tokens: Option<u64>,
}

impl Target {
    /// This candidate, which has its tools natively.
    pub(crate) fn native(candidate: Candidate) -> Target {
        let dialect = PromptDialect::json();
        let constrain = Constrain::None;
        Target {
            mode: Mode::Native,
            dialect,
            constrain,
            strict: Strict::None,
            template: None,
            bound: None,
            most_tokens: None,
            candidate,
        }
    }

    /// The dialects that its answers are read in: the one that is configured, else with that of the model's template.
    pub(crate) fn dialects(&self) -> &Dialects {
        let is_pinned = self.candidate.config.as_deref().is_some_and(|set| set.only_dialect.is_some());
        let template = self.template.as_deref().filter(|_| !is_pinned);
        template.map_or(&self.candidate.dialects, ModelTemplate::dialects)
    }

    /// The name of the dialect that its prompt asks for; none where it has its tools natively.
    pub(crate) fn asked(&self) -> Option<&str> {
        (self.mode == Mode::Prompt).then(|| &**self.dialect.name())
    }

    /// The form that it takes questions in.
    pub(crate) fn request_options(&self) -> RequestOptions<'_> {
        RequestOptions {
            model: &self.candidate.model,
            mode: self.mode,
            dialect: &self.dialect,
            constrain: self.constrain,
            strict: self.strict,
            counts_streams: self.candidate.upstream.counts_streams(),
            set: self.candidate.config.as_deref(),
            template: self.template.as_deref(),
            bound: self.bound,
            most_tokens: self.most_tokens,
            usual_most: self.candidate.kind.usual_most_tokens(),
            kind: self.candidate.kind,
        }
    }
}
