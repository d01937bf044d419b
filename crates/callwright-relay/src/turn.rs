//! One request on its way: which upstream is asked, how, and what is asked next.

use std::sync::Arc;

use bytes::Bytes;
use callwright::prompt::PromptDialect;
use callwright::{Dialects, Event, Policy, ToolChoice, ToolSet};
use http::{HeaderMap, StatusCode, header};

use crate::capability::{ModelTemplate, Refused, refusal};
use crate::climb::Settled;
use crate::config::{Constrain, Mode};
use crate::ladder::Ladder;
use crate::log::Log;
use crate::question::{Manner, Posed, Question};
use crate::reading::{self, Reading, Shown};
use crate::record::{AttemptReason, Choice, Usage};
use crate::recover::recover_from_error;
use crate::relay::Relay;
use crate::upstream::{Answer, Candidate, Upstream};
use crate::wire::{Ask, Document, WireError, choices};

/// A request on its way.
pub(crate) struct Turn {
    pub(crate) relay: Arc<Relay>,
    pub(crate) ask: Ask,
    /// The tools that the request declares.
    pub(crate) tool_set: Arc<ToolSet>,
    pub(crate) policy: Policy,
    pub(crate) log: Log,
    /// What of the client's headers upstreams may see.
    pub(crate) headers: HeaderMap,
    pub(crate) ladder: Ladder,
}

/// An upstream that is answering, and how it was asked.
pub(crate) struct Opened {
    pub(crate) source: Source,
    pub(crate) chosen: Chosen,
    pub(crate) shown: Shown,
}

impl Opened {
    /// Does the answer come as events?
    pub(crate) fn is_stream(&self) -> bool {
        let Source::Answer(answer) = &self.source else { return false };
        let kind = answer.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
    }
}

/// Where an answer comes from.
pub(crate) enum Source {
    /// The upstream.
    Answer(Box<Answer>),
    /// An error message of the upstream that holds what the model wrote.
    Recovered(Document),
}

/// Who is asked, and how.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) candidate: Candidate,
    pub(crate) mode: Mode,
    pub(crate) dialect: PromptDialect,
    pub(crate) constrain: Constrain,
    pub(crate) template: Option<Arc<ModelTemplate>>,
}

/// No answer that could be read.
pub(crate) enum Failed {
    /// Nothing came, or nothing that can be used.
    Error(WireError),
    /// The upstream's own error, which the client gets as it is.
    Upstream(StatusCode, HeaderMap, Bytes),
}

impl Turn {
    /// Does the request declare tools?
    pub(crate) fn has_tools(&self) -> bool {
        !self.tool_set.is_empty()
    }

    /// Is there anything in the answer that may need healing?
    pub(crate) fn is_read(&self) -> bool {
        let may_call = self.has_tools() && self.ask.choice != ToolChoice::None;
        may_call || self.ask.json_content && self.policy != Policy::Strict
    }

    /// Asks the upstreams of the model one after the other, each in the way that it can take.
    pub(crate) async fn open(
        &mut self,
        question: &Question,
        reason: AttemptReason,
    ) -> Result<Opened, Failed> {
        let model = self.ask.model.clone();
        let route = self.relay.upstreams.route(&model);
        if route.candidates.is_empty() {
            let message = format!("no upstream serves the model {model}");
            let error = WireError {
                status: StatusCode::NOT_FOUND,
                message,
                kind: "invalid_request_error",
                param: Some("model"),
                code: "model_not_found",
            };
            return Err(Failed::Error(error));
        }
        let (mut failed, mut reason) = (None, reason);
        for candidate in route.candidates {
            let chosen = self.choose(candidate).await;
            match self.open_at(chosen, question, reason).await {
                Err(failure) if failure.is_worth_another_upstream() => failed = Some(failure),
                done => return done,
            }
            tracing::warn!(model, "[relay] upstream failed, asking the next one");
            reason = AttemptReason::Failover;
        }
        Err(failed.unwrap_or_else(|| {
            Failed::Error(WireError::upstream(
                StatusCode::BAD_GATEWAY,
                "no_answer",
                String::from("no upstream answered"),
            ))
        }))
    }

    /// How this candidate is to be asked.
    pub(crate) async fn choose(&self, candidate: Candidate) -> Chosen {
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
            return Chosen {
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
        Chosen { mode, dialect, constrain, template, candidate }
    }

    pub(crate) async fn open_at(
        &mut self,
        mut chosen: Chosen,
        question: &Question,
        reason: AttemptReason,
    ) -> Result<Opened, Failed> {
        let mut reason = reason;
        loop {
            let Posed { body, shown, constrain } = question.posed(&self.ask, &self.tool_set, chosen.manner());
            let asked = Chosen { constrain, ..chosen.clone() };
            self.log.asked(reason, &asked, body.clone());
            let upstream = Arc::clone(&chosen.candidate.upstream);
            let mut answer = match upstream.post("/chat/completions", body, &self.headers).await {
                Ok(answer) => answer,
                Err(error) => {
                    self.log.failed(None, &error.to_string());
                    return Err(Failed::Error(unreachable(&error)));
                }
            };
            self.log.answered(&mut answer, self.relay.config.keep_answers);
            if answer.status.is_success() {
                return Ok(Opened { source: Source::Answer(Box::new(answer)), chosen: asked, shown });
            }
            let (status, headers) = (answer.status, answer.headers);
            let limit = self.relay.config.limits.answer;
            let body = match answer.body.whole(limit).await {
                Ok(body) => body,
                Err(error) => {
                    self.log.failed(Some(status.as_u16()), &error.to_string());
                    return Err(Failed::Error(unreachable(&error)));
                }
            };
            let body = upstream.without_secrets(body);
            self.log.failed(Some(status.as_u16()), &error_line(&body));
            let text = String::from_utf8_lossy(&body);
            let refusal = refusal(status, &body);
            let refused = refusal.as_ref().map(|refusal| refusal.what);
            let words = refusal.as_ref().map_or("", |refusal| &refusal.words);
            if self.has_tools() && chosen.mode == Mode::Native {
                if let Some(Refused::Tools | Refused::ToolChoice) = refused {
                    tracing::info!(
                        model = chosen.candidate.model,
                        reason = words,
                        "[relay] fallback: the upstream takes no tools"
                    );
                    if refused == Some(Refused::Tools) {
                        self.relay.capabilities.learn_no_tools(&chosen.candidate, words).await;
                    }
                    chosen = self.choose(chosen.candidate).await;
                    chosen.mode = Mode::Prompt;
                    reason = AttemptReason::NoTools;
                    continue;
                }
                if let Some(document) = recover_from_error(&self.ask.model, &text) {
                    return Ok(Opened { source: Source::Recovered(document), chosen: asked, shown });
                }
            }
            if asked.constrain != Constrain::None
                && let Some(Refused::Constraint | Refused::Schema) = refused
            {
                tracing::info!(
                    model = chosen.candidate.model,
                    reason = words,
                    "[relay] fallback: the upstream takes no constraint"
                );
                if refused == Some(Refused::Constraint) {
                    self.relay.capabilities.learn_no_constraint(&chosen.candidate, words).await;
                }
                chosen.constrain = Constrain::None;
                reason = AttemptReason::NoConstraint;
                continue;
            }
            return Err(match is_told(status, &body) {
                true => Failed::Upstream(status, headers, body),
                false => {
                    let hint = hint(status, &upstream);
                    let message = format!(
                        "upstream `{}` answered {status}, and no error that says why{hint}",
                        upstream.name()
                    );
                    Failed::Error(WireError::upstream(status, "bad_answer", message))
                }
            });
        }
    }

    /// How an answer of `chosen` is to be read.
    pub(crate) fn manner<'a>(
        &self,
        chosen: &'a Chosen,
        allowed: &'a ToolChoice,
        shown: &'a Shown,
    ) -> reading::Manner<'a> {
        let bounds = &self.relay.config.ladder;
        reading::Manner {
            mode: chosen.mode,
            constrain: chosen.constrain,
            policy: self.policy,
            doubt_open_ends: self.policy == Policy::Auto && bounds.confirm_open_ends,
            live: false,
            calls_in_reasoning: chosen.candidate.calls_in_reasoning(),
            dialects: chosen.dialects(),
            allowed,
            shown: (chosen.mode == Mode::Prompt).then_some(shown),
        }
    }

    /// Did neither words nor calls come of a question about tools? What was cut short has an end of its own.
    pub(crate) fn is_silent(&self, settled: &Settled) -> bool {
        let is_cut =
            !matches!(settled.finish_reason.as_deref(), Some("stop" | "tool_calls" | "function_call"));
        self.has_tools()
            && !is_cut
            && settled.verdicts.is_empty()
            && settled.first.outcome.reasoning.is_empty()
    }

    /// Must the model call a tool, and did not the upstream let it?
    pub(crate) fn was_left_out(&self, chosen: &Chosen, choice: &Choice) -> bool {
        let set = chosen.candidate.config.as_deref().and_then(|set| set.mode);
        let is_silent = choice.outcome.verdicts.is_empty();
        let is_empty = choice.outcome.text.trim().is_empty() && choice.outcome.reasoning.is_empty();
        chosen.mode == Mode::Native
            && set.is_none()
            && self.has_tools()
            && self.ask.choice != ToolChoice::None
            && choice.finish_reason.as_deref() != Some("length")
            && is_silent
            && (is_empty || self.ask.choice.is_required())
    }

    /// Asks the same candidate the same in prompt mode.
    pub(crate) async fn in_prompt_mode(
        &mut self,
        chosen: &Chosen,
        question: &Question,
    ) -> Result<Opened, Failed> {
        tracing::info!(model = chosen.candidate.model, "[relay] fallback: the upstream made no call");
        let mut other = self.choose(chosen.candidate.clone()).await;
        other.mode = Mode::Prompt;
        Box::pin(self.open_at(other, question, AttemptReason::NoTools)).await
    }
}

impl Chosen {
    /// The dialects that its answers are read in: the one that is configured, else with that of the model's template.
    fn dialects(&self) -> &Dialects {
        let is_pinned = self.candidate.config.as_deref().is_some_and(|set| set.only_dialect.is_some());
        let template = self.template.as_deref().filter(|_| !is_pinned);
        template.map_or(&self.candidate.dialects, ModelTemplate::dialects)
    }

    fn manner(&self) -> Manner<'_> {
        Manner {
            model: &self.candidate.model,
            mode: self.mode,
            dialect: &self.dialect,
            constrain: self.constrain,
            set: self.candidate.config.as_deref(),
            template: self.template.as_deref(),
        }
    }
}

impl Failed {
    fn is_worth_another_upstream(&self) -> bool {
        match self {
            Failed::Error(error) => error.status != StatusCode::NOT_FOUND,
            Failed::Upstream(status, ..) => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
        }
    }
}

/// Reads all choices of a whole answer.
pub(crate) fn read_whole(
    document: &Document,
    tool_set: &ToolSet,
    manner: reading::Manner<'_>,
    max_tokens: Option<u64>,
    spent: Usage,
) -> Vec<Choice> {
    let is_cut = max_tokens.is_some_and(|most| most <= spent.completion);
    choices(document.root())
        .map(|answered| {
            let mut events: Vec<Event> = Vec::new();
            let mut reading = Reading::new(tool_set, manner);
            for (index, call) in answered.calls.iter().enumerate() {
                reading.call(call.delta(index), &mut events);
            }
            reading.thought(answered.reasoning.as_deref().unwrap_or_default());
            reading.text(&answered.text, &mut events);
            reading.lone_surrogates(answered.n_alone());
            if let Some(reason) = &answered.finish_reason {
                reading.stopped(reason);
            }
            reading.finish(is_cut, &mut events)
        })
        .collect()
}

fn unreachable(error: &crate::upstream::UpstreamError) -> WireError {
    use crate::upstream::Failure;
    let status = match error.failure {
        Failure::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    WireError::upstream(status, "upstream_unavailable", error.to_string())
}

/// Is this the upstream's own error, which says more than we could? A proxy's page is none, and neither is what a web
/// framework says of a path that it does not know: `{"detail": "Not Found"}`.
fn is_told(status: StatusCode, body: &[u8]) -> bool {
    let Ok(error) = serde_json::from_slice::<callwright::value::Value>(body) else { return false };
    status != StatusCode::NOT_FOUND || ["error", "message"].iter().any(|key| error.get(key).is_some())
}

/// What is mostly wrong where an upstream answers like this.
fn hint(status: StatusCode, upstream: &Upstream) -> &'static str {
    let is_plain = upstream.location().starts_with("http:");
    match status {
        StatusCode::NOT_FOUND if upstream.path().contains("/v1") => {
            "; is its base_url what stands before /chat/completions?"
        }
        StatusCode::NOT_FOUND => "; does its base_url lack /v1?",
        StatusCode::BAD_REQUEST if is_plain => "; should its base_url begin with https://?",
        _ => "",
    }
}

/// The first line of an error's body, for the log.
fn error_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(2048)]);
    text.lines().next().unwrap_or("").chars().take(300).collect()
}
