//! What became of a request, told once it has ended: for logs, metrics, traces and sessions.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use callwright::{Outcome, Policy};

use crate::config::Mode;
use crate::upstream::Kept;

/// Is told of each request when it has ended, however it ended.
///
/// It is called on the request's own task: work that takes long belongs elsewhere, and the record may be taken there.
pub trait Observer: Send + Sync {
    /// A request has ended.
    fn ended(&self, turn: TurnRecord);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Observer for Nobody {
    fn ended(&self, _turn: TurnRecord) {}
}

/// One request from its arrival to its end.
#[derive(Debug, Default)]
pub struct TurnRecord {
    /// The request's id, which its answer carries as `x-callwright-request`.
    pub id: String,
    /// The session that the client put the request in: its `x-callwright-session` header.
    pub session: Option<String>,
    /// The request's body, with the default model where the client named none. Empty where it cannot be used.
    pub request: Bytes,
    /// The model that the client named.
    pub model: String,
    /// The policy that held.
    pub policy: Policy,
    /// Was the answer a stream?
    pub streamed: bool,
    /// Did the request declare tools?
    pub has_tools: bool,
    /// The trace that the client put the request in: its `traceparent` header, as it came.
    pub traceparent: Option<String>,
    /// What the upstreams were asked, in order. Empty where the request was refused before.
    pub attempts: Vec<Attempt>,
    /// How it ended.
    pub end: TurnEnd,
    /// The HTTP status of the answer.
    pub status: u16,
    /// From the request to the first byte of the answer.
    pub first_byte: Duration,
    /// From the request to the end of the answer.
    pub total: Duration,
    /// The time in it that was spent waiting for upstreams.
    pub upstream: Duration,
    /// The most bytes of the answer that were held back at a time.
    pub held: usize,
}

/// One question to an upstream.
#[derive(Debug)]
pub struct Attempt {
    /// Why it was asked.
    pub reason: AttemptReason,
    /// The upstream's name.
    pub upstream: String,
    /// The model's name there.
    pub model: String,
    /// How the tools reached it.
    pub mode: Mode,
    /// The dialect of prompt mode.
    pub dialect: Option<Cow<'static, str>>,
    /// What was sent.
    pub request: Bytes,
    /// The HTTP status that it answered with; none where it did not answer.
    pub status: Option<u16>,
    /// What was wrong with the answer as such, in one line.
    pub error: Option<String>,
    /// What each choice of the answer came to.
    pub choices: Vec<Choice>,
    /// The answer as it came, as far as [`RelayConfig::keep_answers`](crate::config::RelayConfig::keep_answers) allows.
    pub answer: Kept,
    /// The tokens that it counted.
    pub usage: Usage,
    /// From the question to the end of the answer.
    pub duration: Duration,
}

/// One choice of an answer: what the model wrote, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The text as the model wrote it, markup included.
    pub raw: String,
    /// The native calls: name and argument text as they came.
    pub native: Vec<(String, String)>,
    /// What it thought, where the upstream said so in a member of its own: `reasoning_content` or `reasoning`.
    pub reasoning: String,
    /// The upstream's `finish_reason`.
    pub finish_reason: Option<String>,
    /// How many halves of characters came alone: `\ud83d` without its other half. In arguments each is an escape, in a
    /// text U+FFFD.
    pub lone_surrogates: usize,
    /// What the engine made of it.
    pub outcome: Outcome,
}

impl Choice {
    /// Did the model neither say nor call anything?
    pub fn is_empty(&self) -> bool {
        self.outcome.verdicts.is_empty() && self.outcome.text.trim().is_empty()
    }
}

/// Why an upstream was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttemptReason {
    /// The request itself.
    First,
    /// The upstream before it failed.
    Failover,
    /// The upstream takes no tools: the same request in prompt mode.
    NoTools,
    /// The upstream takes no schema or grammar: the same request, unconstrained.
    NoConstraint,
    /// A broken call was asked for again.
    Reask,
    /// An error went to the model as its next turn.
    Feedback,
    /// The model could not do it: another one was asked.
    OtherModel,
}

impl AttemptReason {
    /// Its name in logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            AttemptReason::First => "first",
            AttemptReason::Failover => "failover",
            AttemptReason::NoTools => "no-tools",
            AttemptReason::NoConstraint => "no-constraint",
            AttemptReason::Reask => "reask",
            AttemptReason::Feedback => "feedback",
            AttemptReason::OtherModel => "other-model",
        }
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TurnEnd {
    /// Passed as it came.
    Passed,
    /// Passed after calls or content were healed.
    Healed,
    /// Right after the model was asked again.
    Corrected,
    /// A call was refused, visibly.
    Refused,
    /// The breaker ended it: the same error over and over.
    Breaker,
    /// The request itself could not be used.
    Rejected,
    /// The upstream answered with an error, or not at all.
    UpstreamError,
    /// The upstream's answer broke off.
    Cut,
    /// The client went away: unless somebody says how it ended, nobody waited for that.
    #[default]
    HungUp,
}

impl TurnEnd {
    /// All of them.
    pub const ALL: [TurnEnd; 9] = [
        TurnEnd::Passed,
        TurnEnd::Healed,
        TurnEnd::Corrected,
        TurnEnd::Refused,
        TurnEnd::Breaker,
        TurnEnd::Rejected,
        TurnEnd::UpstreamError,
        TurnEnd::Cut,
        TurnEnd::HungUp,
    ];

    /// Its name in logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            TurnEnd::Passed => "passed",
            TurnEnd::Healed => "healed",
            TurnEnd::Corrected => "corrected",
            TurnEnd::Refused => "refused",
            TurnEnd::Breaker => "breaker",
            TurnEnd::Rejected => "rejected",
            TurnEnd::UpstreamError => "upstream-error",
            TurnEnd::Cut => "cut",
            TurnEnd::HungUp => "hung-up",
        }
    }
}

/// Tokens, as upstreams count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of the prompt.
    pub prompt: u64,
    /// Of the answer.
    pub completion: u64,
    /// Of both, as the upstream adds them up.
    pub total: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Usage) {
        self.prompt += more.prompt;
        self.completion += more.completion;
        self.total += more.total;
    }
}
