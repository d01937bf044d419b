//! The upstream that a question goes to, and the form that the upstream takes it in.

use std::sync::Arc;

use callwright::Dialects;
use callwright::prompt::PromptDialect;

use crate::capability::{BoundMember, ModelTemplate, Strict};
use crate::config::{Constrain, Mode};
use crate::question::RequestOptions;
use crate::upstream::Candidate;

/// An upstream, and the way in which it is asked.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) candidate: Candidate,
    pub(crate) mode: Mode,
    pub(crate) dialect: PromptDialect,
    pub(crate) constrain: Constrain,
    /// The native tools for which `strict: true` is said.
    pub(crate) strict: Strict,
    pub(crate) template: Option<Arc<ModelTemplate>>,
    /// The member that bounds an answer's tokens, if the upstream takes only one.
    pub(crate) bound: Option<BoundMember>,
    /// The most tokens that an answer may have, by the upstream's words about this question or the model.
    pub(crate) most_tokens: Option<u64>,
}

impl Target {
    /// Makes the target of a candidate that has its tools natively.
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

    /// Returns the dialects that its answers are read in: the configured one, else all with that of the model's template.
    pub(crate) fn dialects(&self) -> &Dialects {
        let is_pinned = self.candidate.config.as_deref().is_some_and(|set| set.only_dialect.is_some());
        let template = self.template.as_deref().filter(|_| !is_pinned);
        template.map_or(&self.candidate.dialects, ModelTemplate::dialects)
    }

    /// Returns the name of the dialect that its prompt asks for; none if it has its tools natively.
    pub(crate) fn asked(&self) -> Option<&str> {
        (self.mode == Mode::Prompt).then(|| &**self.dialect.name())
    }

    /// Returns the form that it takes questions in.
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
