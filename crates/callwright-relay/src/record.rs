//! The record of a request, told once it has ended: for logs, metrics, traces and sessions.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use callwright::{Outcome, Policy, Verdict};

use crate::api::{Surface, UpstreamKind};
use crate::config::Mode;
use crate::owner::Owner;
use crate::recover::LostCall;
use crate::strict::Strict;
use crate::tokens::{Budget, Usage, ends_by_itself};
use crate::upstream::Kept;
use crate::wire::Foreign;

/// Gets the record of each request when it has ended, however it ended.
///
/// It is called on the request's own task: long work belongs elsewhere, and the record may be taken there.
pub trait Observer: Send + Sync {
    /// Takes the record of a request that has ended.
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
    /// The owner of the request, if a key was asked for.
    pub owner: Owner,
    /// The session that the client put the request in: its `x-callwright-session` header.
    pub session: Option<String>,
    /// The request's body, with the default model if the client named none. A request of another API stands here as a chat
    /// request. It is empty if it cannot be used.
    pub request: Bytes,
    /// The API that the client speaks.
    pub surface: Surface,
    /// The model that the client named.
    pub model: String,
    /// The second model whose answer stands in the place of its own, by its name in the configuration.
    pub escalated: Option<String>,
    /// The number of turns in which the model made the same calls with the same results, and was told so; 0 if it was not.
    pub looped: u32,
    /// The policy that held.
    pub policy: Policy,
    /// The answer was a stream.
    pub streamed: bool,
    /// The request declared tools.
    pub has_tools: bool,
    /// The trace that the client put the request in: its `traceparent` header, as it came.
    pub traceparent: Option<String>,
    /// The questions to upstreams, in order. It is empty if the request was refused before.
    pub attempts: Vec<Attempt>,
    /// The end of the request.
    pub end: TurnEnd,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The reason for which the client does not get its answer, in one line, unless it is the fault of one attempt alone.
    pub error: Option<String>,
    /// The time from the request to the first byte of the answer.
    pub first_byte: Duration,
    /// The time from the request to the end of the answer.
    pub total: Duration,
    /// The time in it that was spent waiting for upstreams.
    pub upstream: Duration,
    /// The most bytes of the answer that were held back at a time.
    pub held: usize,
}

impl TurnRecord {
    /// Returns the tokens of all questions and answers.
    pub fn usage(&self) -> Usage {
        self.attempts.iter().map(|attempt| attempt.usage).sum()
    }

    /// Returns the attempts that were made because an answer was not right.
    pub fn corrections(&self) -> impl Iterator<Item = &Attempt> + Clone {
        self.attempts.iter().filter(|attempt| attempt.reason.is_correction())
    }

    /// Counts the repairs, coercions and renamings in the accepted calls of all answers.
    pub fn n_repaired(&self) -> usize {
        let choices = self.attempts.iter().flat_map(|attempt| &attempt.choices);
        let repaired = |verdict: &Verdict| match verdict {
            Verdict::Accepted(call) if !Policy::Strict.admits(call) => {
                call.repairs.len() + call.coercions.len() + usize::from(call.renamed_from.is_some())
            }
            // What stands around a payload that is right is left out without having been wrong.
            Verdict::Accepted(_) | Verdict::Refused(_) => 0,
        };
        choices.flat_map(|choice| &choice.outcome.verdicts).map(repaired).sum()
    }
}

/// One question to an upstream.
#[derive(Debug)]
pub struct Attempt {
    /// The reason for the question.
    pub reason: AttemptReason,
    /// The upstream's name.
    pub upstream: String,
    /// The model's name there.
    pub model: String,
    /// The way in which the tools reached it.
    pub mode: Mode,
    /// The tools for which `strict: true` was said beside the client's own.
    pub strict: Strict,
    /// The number of calls in its answer that broke the schemas of those tools, as they were written.
    pub strict_broken: u32,
    /// The number of calls in its answer that went out as they were written, although they do not fit their schemas: they had
    /// begun to.
    pub unchecked_live: u32,
    /// The dialect of prompt mode.
    pub dialect: Option<Cow<'static, str>>,
    /// The body of the question.
    pub request: Bytes,
    /// The API of `request`: the client's own, or that of chats, from which a question is translated for an upstream of another
    /// one.
    pub api: Surface,
    /// The API that the upstream was asked in.
    pub kind: UpstreamKind,
    /// The HTTP status of its answer; none if it did not answer.
    pub status: Option<u16>,
    /// The fault of the answer as such, in one line.
    pub error: Option<String>,
    /// The choices of the answer.
    pub choices: Vec<Choice>,
    /// The answer as it came, as far as [`RelayConfig::keep_answers`](crate::config::RelayConfig::keep_answers) allows.
    pub answer: Kept,
    /// The tokens that it counted.
    pub usage: Usage,
    /// The time from the question to the end of the answer.
    pub duration: Duration,
}

/// One choice of an answer: the model's text, and its outcome.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The text as the model wrote it, markup included.
    pub raw: String,
    /// The native calls: name and argument text as they came.
    pub native: Vec<(String, String)>,
    /// The members in each of them that are not ours; empty if none has any.
    pub(crate) foreign: Vec<Foreign>,
    /// The number of calls to custom tools, or to tools that the upstream runs: they pass as they come.
    pub foreign_calls: usize,
    /// The thoughts that the upstream marks in a member of its own: `reasoning_content` or `reasoning`.
    pub reasoning: String,
    /// The upstream's `finish_reason`.
    pub finish_reason: Option<String>,
    /// A call that the upstream could not read, and names with its finish.
    pub(crate) lost: Option<LostCall>,
    /// It holds something besides words, thoughts and calls: a refusal, a sound, a vendor's own member.
    pub(crate) says_else: bool,
    /// The rest of the tokens that it might have taken.
    pub(crate) budget: Budget,
    /// The number of halves of characters that came alone: `\ud83d` without its other half. In arguments each is an escape, in a
    /// text U+FFFD.
    pub lone_surrogates: usize,
    /// The arguments of its searches for tools, as it wrote them, if not all of its tools are shown. The client does not see
    /// these calls.
    pub searches: Vec<String>,
    /// The engine's outcome.
    pub outcome: Outcome,
}

impl Choice {
    /// Returns whether the model neither said nor called anything.
    pub fn is_empty(&self) -> bool {
        self.outcome.verdicts.is_empty()
            && self.outcome.text.trim().is_empty()
            && self.foreign_calls == 0
            && !self.says_else
    }

    /// Returns whether it searches for tools and calls nothing else.
    pub(crate) fn searches_alone(&self) -> bool {
        !self.searches.is_empty() && self.outcome.verdicts.is_empty() && self.foreign_calls == 0
    }

    /// Returns whether all its calls are right as the model wrote them, for tools that reached it in this mode. None if it has no
    /// calls and lost none.
    pub(crate) fn is_right_as_written(&self, mode: Mode) -> Option<bool> {
        let is_right = |verdict: &Verdict| match verdict {
            Verdict::Accepted(call) => {
                Policy::Strict.admits(call) && !call.unsure && (mode == Mode::Prompt || verdict.is_native())
            }
            Verdict::Refused(_) => false,
        };
        let verdicts = &self.outcome.verdicts;
        let has_calls = !verdicts.is_empty() || self.lost.is_some();
        has_calls.then(|| self.lost.is_none() && verdicts.iter().all(is_right))
    }

    /// Returns whether it ended by itself without saying or calling anything. Thoughts do not count.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_empty() && ends_by_itself(self.finish_reason.as_deref())
    }
}

/// The reason for a question to an upstream.
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
    /// The upstream does not take `strict`: the same request without.
    NoStrict,
    /// The upstream does not know `stream_options`: the same request, whose tokens nobody counts.
    NoUsage,
    /// The upstream takes another member for the bound of an answer's tokens, or a lower bound: the same request with that one.
    OtherBound,
    /// The upstream knows no chat completions: the client's own request, in the client's API.
    OtherApi,
    /// The answer was empty: the same request once more.
    Repeat,
    /// A broken call was asked for again.
    Reask,
    /// A call may have been shown rather than made: the model was asked whether it means it.
    Confirm,
    /// An error went to the model as its next turn.
    Feedback,
    /// The model searched for tools that it was not shown, and was told which there are.
    Search,
    /// The model could not do it: the second one that is configured for it was asked.
    OtherModel,
}

impl AttemptReason {
    /// Returns whether it follows an answer that was not right.
    pub fn is_correction(self) -> bool {
        match self {
            AttemptReason::Repeat
            | AttemptReason::Reask
            | AttemptReason::Confirm
            | AttemptReason::Feedback
            | AttemptReason::OtherModel => true,
            AttemptReason::First
            | AttemptReason::Failover
            | AttemptReason::NoTools
            | AttemptReason::NoConstraint
            | AttemptReason::NoStrict
            | AttemptReason::NoUsage
            | AttemptReason::OtherBound
            | AttemptReason::OtherApi
            | AttemptReason::Search => false,
        }
    }

    /// Returns its name in logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            AttemptReason::First => "first",
            AttemptReason::Failover => "failover",
            AttemptReason::NoTools => "no-tools",
            AttemptReason::NoConstraint => "no-constraint",
            AttemptReason::NoStrict => "no-strict",
            AttemptReason::NoUsage => "no-usage",
            AttemptReason::OtherBound => "other-bound",
            AttemptReason::OtherApi => "other-api",
            AttemptReason::Repeat => "repeat",
            AttemptReason::Reask => "reask",
            AttemptReason::Confirm => "confirm",
            AttemptReason::Feedback => "feedback",
            AttemptReason::Search => "search",
            AttemptReason::OtherModel => "other-model",
        }
    }
}

/// The end of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TurnEnd {
    /// Passed as it came.
    Passed,
    /// Passed after calls or content were repaired.
    Repaired,
    /// Nothing was wrong after the model was asked again: its calls were right, or it answered in words.
    Retried,
    /// A call was refused, visibly.
    Refused,
    /// The content is not the JSON that was asked for with `response_format`, and says so.
    Invalid,
    /// It gave up: the same error over and over.
    GaveUp,
    /// The request itself could not be used.
    Rejected,
    /// The upstream answered with an error, or not at all.
    UpstreamError,
    /// The upstream's answer broke off.
    Cut,
    /// The client went away: without any other end, nobody waited for it.
    #[default]
    HungUp,
}

impl TurnEnd {
    /// Returns whether the client would read a refusal.
    pub(crate) fn is_refusal(self) -> bool {
        matches!(self, TurnEnd::Refused | TurnEnd::GaveUp)
    }

    /// Returns whether an answer came, of whatever quality.
    pub(crate) fn is_of_an_answer(self) -> bool {
        match self {
            TurnEnd::Passed
            | TurnEnd::Repaired
            | TurnEnd::Retried
            | TurnEnd::Refused
            | TurnEnd::Invalid
            | TurnEnd::GaveUp => true,
            TurnEnd::Rejected | TurnEnd::UpstreamError | TurnEnd::Cut | TurnEnd::HungUp => false,
        }
    }

    /// All ends.
    pub const ALL: [TurnEnd; 10] = [
        TurnEnd::Passed,
        TurnEnd::Repaired,
        TurnEnd::Retried,
        TurnEnd::Refused,
        TurnEnd::Invalid,
        TurnEnd::GaveUp,
        TurnEnd::Rejected,
        TurnEnd::UpstreamError,
        TurnEnd::Cut,
        TurnEnd::HungUp,
    ];

    /// Returns its name in logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            TurnEnd::Passed => "passed",
            TurnEnd::Repaired => "repaired",
            TurnEnd::Retried => "retried",
            TurnEnd::Refused => "refused",
            TurnEnd::Invalid => "invalid",
            TurnEnd::GaveUp => "gave-up",
            TurnEnd::Rejected => "rejected",
            TurnEnd::UpstreamError => "upstream-error",
            TurnEnd::Cut => "cut",
            TurnEnd::HungUp => "hung-up",
        }
    }
}

#[cfg(test)]
mod tests {
    use callwright::{Context, ToolSet, parse};

    use super::*;

    fn attempt(reason: AttemptReason, text: &str, usage: Usage) -> Attempt {
        let tools = r#"[{"name": "run_code", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]"#;
        let outcome = parse(&ToolSet::from_json(tools).unwrap(), text, &[], &Context::default());
        Attempt {
            api: Surface::Chat,
            kind: UpstreamKind::Chat,
            reason,
            upstream: String::new(),
            model: String::new(),
            mode: Mode::Prompt,
            strict: Strict::None,
            strict_broken: 0,
            unchecked_live: 0,
            dialect: None,
            request: Bytes::new(),
            status: Some(200),
            error: None,
            choices: vec![Choice { outcome, ..Choice::default() }],
            answer: Kept::default(),
            usage,
            duration: Duration::ZERO,
        }
    }

    #[test]
    fn what_a_record_adds_up_is_of_all_attempts_and_has_no_overflow() {
        let usage = Usage { prompt: u64::MAX, completion: 2, total: 3, ..Usage::default() };
        let renamed = r#"<tool_call>{"name": "runCode", "arguments": {"n": "1"}}</tool_call>"#;
        let surplus = r#"<tool_call>{"name": "run_code", "arguments": {"n": 1}}}</tool_call>"#;
        let fenced = "```json\n{\"name\": \"run_code\", \"arguments\": {\"n\": 1}}\n```";
        let attempts = vec![
            attempt(AttemptReason::First, renamed, usage),
            attempt(AttemptReason::Reask, surplus, usage),
            attempt(AttemptReason::Feedback, fenced, Usage::default()),
        ];
        let record = TurnRecord { attempts, ..TurnRecord::default() };
        assert_eq!(record.usage(), Usage { prompt: u64::MAX, completion: 4, total: 6, ..Usage::default() });
        assert_eq!(record.corrections().count(), 2);
        // A name and a type in the first, a bracket in the second; the fence around the third is no fault.
        let calls = record.attempts.iter().flat_map(|a| a.choices[0].outcome.calls());
        assert_eq!(calls.count(), 3);
        assert_eq!(record.n_repaired(), 3);
    }
}
