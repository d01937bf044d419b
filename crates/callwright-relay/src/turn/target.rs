//! Whom a question goes to: an upstream and a model, and the form that they take it in.

use std::sync::Arc;

use callwright::Dialects;
use callwright::prompt::PromptDialect;

use super::Turn;
use crate::capability::ModelTemplate;
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
    pub(crate) template: Option<Arc<ModelTemplate>>,
}

impl Target {
    /// The dialects that its answers are read in: the one that is configured, else with that of the model's template.
    pub(super) fn dialects(&self) -> &Dialects {
        let is_pinned = self.candidate.config.as_deref().is_some_and(|set| set.only_dialect.is_some());
        let template = self.template.as_deref().filter(|_| !is_pinned);
        template.map_or(&self.candidate.dialects, ModelTemplate::dialects)
    }

    /// The name of the dialect that its prompt asks for; none where it has its tools natively.
    pub(super) fn asked(&self) -> Option<&str> {
        (self.mode == Mode::Prompt).then(|| &**self.dialect.name())
    }

    /// The form that it takes questions in.
    pub(super) fn request_options(&self) -> RequestOptions<'_> {
        RequestOptions {
            model: &self.candidate.model,
            mode: self.mode,
            dialect: &self.dialect,
            constrain: self.constrain,
            counts_streams: self.candidate.upstream.counts_streams(),
            set: self.candidate.config.as_deref(),
            template: self.template.as_deref(),
        }
    }
}

impl Turn {
    /// How this candidate is to be asked.
    pub(crate) async fn target(&self, candidate: Candidate) -> Target {
        let set = candidate.config.as_deref();
        let dialect = |constrain, template: Option<&ModelTemplate>| {
            let all = &candidate.dialects;
            let configured = set.and_then(|set| set.dialect.as_deref());
            configured.and_then(|name| PromptDialect::named(all, name)).unwrap_or_else(|| match constrain {
                Constrain::JsonSchema => PromptDialect::json(),
                Constrain::Grammar | Constrain::None => {
                    let family = || PromptDialect::for_model(all, &candidate.model);
                    template.and_then(ModelTemplate::spoken).unwrap_or_else(family)
                }
            })
        };
        // Old calls and results need a server that knows them, too.
        if !self.has_tools() && !self.ask.tells_of_tools() {
            let dialect = dialect(Constrain::None, None);
            return Target {
                mode: Mode::Native,
                dialect,
                constrain: Constrain::None,
                template: None,
                candidate,
            };
        }
        let capability = self.relay.capabilities.of(&candidate).await;
        let mode = if capability.tools { Mode::Native } else { Mode::Prompt };
        tracing::debug!(model = candidate.model, mode = mode.name(), source = ?capability.tools_source, "[relay] mode");
        let dialect = dialect(capability.constrain, capability.template.as_deref());
        let (constrain, template) = (capability.constrain, capability.template);
        Target { mode, dialect, constrain, template, candidate }
    }
}
