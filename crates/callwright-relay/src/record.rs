//! What became of a request, told once it has ended: for logs, metrics, traces and sessions.

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
    /// Whose it is, where a key was asked for.
    pub owner: Owner,
    /// The session that the client put the request in: its `x-callwright-session` header.
    pub session: Option<String>,
    /// The request's body, with the default model where the client named none; where it is of another API, the chat request
    /// that it comes to. Empty where it cannot be used.
    pub request: Bytes,
    /// The API that the client speaks.
    pub surface: Surface,
    /// The model that the client named.
    pub model: String,
    /// The second model whose answer stands in the place of its own, by its name in the configuration.
    pub escalated: Option<String>,
    /// In so many turns the model made the same calls with the same results, which it was told; 0 where it was not.
    pub looped: u32,
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
    /// Why the client does not get what it asked for, in one line, where that is not the fault of one attempt alone.
    pub error: Option<String>,
    /// From the request to the first byte of the answer.
    pub first_byte: Duration,
    /// From the request to the end of the answer.
    pub total: Duration,
    /// The time in it that was spent waiting for upstreams.
    pub upstream: Duration,
    /// The most bytes of the answer that were held back at a time.
    pub held: usize,
}

impl TurnRecord {
    /// The tokens of all that was asked and answered.
    pub fn usage(&self) -> Usage {
        self.attempts.iter().map(|attempt| attempt.usage).sum()
    }

    /// The attempts that were made because an answer was not right.
    pub fn corrections(&self) -> impl Iterator<Item = &Attempt> + Clone {
        self.attempts.iter().filter(|attempt| attempt.reason.is_correction())
    }

    /// How much was repaired in the accepted calls of all answers: repairs, coercions and renamings.
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
    /// Why it was asked.
    pub reason: AttemptReason,
    /// The upstream's name.
    pub upstream: String,
    /// The model's name there.
    pub model: String,
    /// How the tools reached it.
    pub mode: Mode,
    /// Of which tools `strict: true` was said beside what the client says.
    pub strict: Strict,
    /// How many calls of its answer broke the schemas of those tools, as they were written.
    pub strict_broken: u32,
    /// How many calls of its answer went out as they were written, although they do not fit their schemas: they had begun to.
    pub unchecked_live: u32,
    /// The dialect of prompt mode.
    pub dialect: Option<Cow<'static, str>>,
    /// What it was asked.
    pub request: Bytes,
    /// The API that `request` is one of: the client's own, or that of chats, from which a question is translated where the
    /// upstream speaks another one.
    pub api: Surface,
    /// The API that the upstream was asked in.
    pub kind: UpstreamKind,
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
    /// What stands in each of them and is not ours, as far as any of them has such a thing.
    pub(crate) foreign: Vec<Foreign>,
    /// How many calls it made of custom tools, or of tools that the upstream runs: they pass as they come.
    pub foreign_calls: usize,
    /// What it thought, where the upstream said so in a member of its own: `reasoning_content` or `reasoning`.
    pub reasoning: String,
    /// The upstream's `finish_reason`.
    pub finish_reason: Option<String>,
    /// A call that the upstream could not read, and tells of with its finish.
    pub(crate) lost: Option<LostCall>,
    /// Does it say something besides words, thoughts and calls: a refusal, a sound, a vendor's own?
    pub(crate) says_else: bool,
    /// What was left of the tokens that it might have taken.
    pub(crate) budget: Budget,
    /// How many halves of characters came alone: `\ud83d` without its other half. In arguments each is an escape, in a
    /// text U+FFFD.
    pub lone_surrogates: usize,
    /// What it asked the tool that finds others, where not all of its tools are shown: the arguments as it wrote them. That is none of
    /// the client's calls.
    pub searches: Vec<String>,
    /// What the engine made of it.
    pub outcome: Outcome,
}

impl Choice {
    /// Did the model neither say nor call anything?
    pub fn is_empty(&self) -> bool {
        self.outcome.verdicts.is_empty()
            && self.outcome.text.trim().is_empty()
            && self.foreign_calls == 0
            && !self.says_else
    }

    /// Does it search for tools and call nothing else?
    pub(crate) fn searches_alone(&self) -> bool {
        !self.searches.is_empty() && self.outcome.verdicts.is_empty() && self.foreign_calls == 0
    }

    /// Are all its calls right as the model wrote them, where the tools reached it in this way? None where it has none, nor lost
    /// one.
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

    /// Did it end by itself without saying or calling anything? What it thought is for nobody.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_empty() && ends_by_itself(self.finish_reason.as_deref())
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
    /// Was there an answer already, which was not right?
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

    /// Its name in logs and metrics.
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

/// How a request ended.
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
    /// The client went away: unless somebody says how it ended, nobody waited for that.
    #[default]
    HungUp,
}

impl TurnEnd {
    /// Would the client read that the answer is none?
    pub(crate) fn is_refusal(self) -> bool {
        matches!(self, TurnEnd::Refused | TurnEnd::GaveUp)
    }

    /// Did an answer come, whatever became of it?
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

    /// All of them.
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

    /// Its name in logs and metrics.
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
