//! The fate of an answer's calls: they pass, are repaired, are asked for again, or are told of in words.

use callwright::{Acceptance, Outcome, Policy, Refusal, Verdict, json};

use super::asking::Lane;
use super::call::{Call, CallHead, Put};
use super::text::{Found, Whole};
use super::wire;
use super::wire::told::{Settled, Told};
use crate::followup;
use crate::ladder::{self, Step};
use crate::record::{AttemptReason, Choice, TurnEnd};
use crate::target::Target;
use crate::tokens::{Budget, Usage};
use crate::turn::{Begun, Resolution, begin_with, refusals};
use crate::wire::Document;

/// The end of an answer's calls.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) end: TurnEnd,
    /// The tokens of further answers.
    pub(super) more: Usage,
}

impl Lane {
    /// Makes a call of this head, if the calls of its tool are read.
    pub(super) fn begun(&self, at: u64, head: CallHead, found: &Found) -> Option<Call> {
        let verdict = found.verdict(&head.id).cloned();
        let call = Call { is_found: verdict.is_some(), verdict, ..Call::new(at, head) };
        (call.is_found || self.tools.reads(&call.flat(&self.tools))).then_some(call)
    }

    /// Decides about the calls of an answer that has ended, and puts the replacement into each.
    pub(super) async fn settle(&mut self, calls: &mut [Call], told: &Told, target: &Target) -> End {
        for call in calls.iter_mut().filter(|call| !call.is_found && !call.is_right(&self.tools)) {
            call.verdict = Some(self.verdict(call, target, told).await);
        }
        self.note(calls, told, target);
        let mut more = Usage::default();
        let (mut spent, mut is_shorter) = (0, false);
        let mut asked = false;
        let end = loop {
            let verdicts: Vec<Verdict> = calls.iter().filter_map(|call| call.verdict.clone()).collect();
            let refused: Vec<&Refusal> = refusals(&verdicts).collect();
            let Some(first) = refused.first() else {
                break self.delivered(&verdicts, asked);
            };
            let begun = begun_of(calls);
            let is_cut_short =
                self.is_cut_by_bound(told) && refused.iter().any(|refusal| ladder::may_be_cut(refusal));
            let reason = match self.ladder.next(&refused, spent, self.log.elapsed()) {
                Step::Deliver => break self.delivered(&verdicts, asked),
                Step::Refuse(end) => break end,
                // Under the same bound the same would be cut again.
                Step::Reask | Step::Feedback if is_cut_short && is_shorter => break TurnEnd::Refused,
                Step::Reask | Step::Feedback if is_cut_short => AttemptReason::Feedback,
                // The same request is the likeliest to be answered by the same words.
                Step::Reask if begun.is_some() => AttemptReason::Repeat,
                Step::Reask => AttemptReason::Reask,
                Step::Feedback => AttemptReason::Feedback,
            };
            (asked, is_shorter) = (true, is_cut_short);
            let mut words = match is_cut_short {
                true => followup::shorter_words(&refused),
                false => first.feedback().user_message(),
            };
            if let Some(Begun { sent, .. }) = &begun {
                words = format!("{words}\n\n{}", followup::beginning_words(sent));
            }
            let said = if is_cut_short { told.text.as_str() } else { &first.block };
            let answered = match reason {
                AttemptReason::Repeat => self.calls_of_answer(&[], target, reason).await,
                reason => self.ask_again(first, (said, &words), target, reason).await,
            };
            let Some((made, usage)) = answered else { break TurnEnd::Refused };
            (more, spent) = ([more, usage].into_iter().sum(), usage.completion);
            if !replaced(calls, made) {
                break TurnEnd::Refused;
            }
            if let Some(begun) = begun
                && let Some(call) = calls.get_mut(begun.at)
                && let Some(Verdict::Accepted(made)) = &mut call.verdict
            {
                begin_with(made, &begun.sent);
                if !begun.goes_on_in(made) {
                    call.verdict = Some(Verdict::Refused(begun.refusal));
                    break TurnEnd::Refused;
                }
            }
        };
        self.put_all(calls);
        End { end, more }
    }

    /// Puts into each call its replacement.
    fn put_all(&self, calls: &mut [Call]) {
        for call in calls.iter_mut() {
            call.put = match &call.verdict {
                Some(Verdict::Accepted(_)) if call.is_right(&self.tools) => None,
                Some(Verdict::Accepted(accepted)) => Some(self.put(accepted)),
                Some(Verdict::Refused(refusal)) => {
                    Some(Put::Words(followup::sentence(std::iter::once(refusal))))
                }
                None => None,
            };
        }
    }

    /// Notes an answer that has ended, and the evidence of its calls about their model.
    pub(super) fn note(&mut self, calls: &[Call], told: &Told, target: &Target) {
        let choice = choice(calls, told);
        self.log.read(told.usage, std::iter::once(&choice));
        self.log.strict_broken(self.relay.count_calls(target, &choice, &self.tools.tool_set));
    }

    fn delivered(&self, verdicts: &[Verdict], asked: bool) -> TurnEnd {
        let is_repaired = |verdict: &Verdict| match verdict {
            Verdict::Accepted(call) => !verdict.is_native() || !Policy::Strict.admits(call),
            Verdict::Refused(_) => false,
        };
        match asked {
            true => TurnEnd::Retried,
            false if verdicts.iter().any(is_repaired) => TurnEnd::Repaired,
            false => TurnEnd::Passed,
        }
    }

    /// Tells the model in its own API about the fault, and reads the calls of its answer.
    async fn ask_again(
        &mut self,
        refusal: &Refusal,
        (said, words): (&str, &str),
        target: &Target,
        reason: AttemptReason,
    ) -> Option<(Vec<Verdict>, Usage)> {
        tracing::info!(model = target.candidate.model, why = reason.name(), "[relay] asking again");
        // In words: an old call has to be well formed, and this one is not.
        let said = match said.trim().is_empty() {
            true => refusal.name.as_deref().unwrap_or("…"),
            false => said,
        };
        let more = [
            json!({"role": "assistant", "content": said}).to_string(),
            json!({"role": "user", "content": words}).to_string(),
        ];
        self.bound = followup::telling_bound(refusal, self.ladder.tokens_left());
        let answered = self.calls_of_answer(&more, target, reason).await;
        self.bound = None;
        answered
    }

    /// Returns whether the client's bound cut this answer. An answer with fewer tokens was cut by something else.
    pub(super) fn is_cut_by_bound(&self, told: &Told) -> bool {
        match Budget::of(self.most_tokens(), told.usage) {
            Budget::Spent => true,
            Budget::Left => false,
            Budget::Unknown => self.most_tokens.is_some() && told.reason.as_deref() == Some("length"),
        }
    }

    /// Returns the calls of the answer to the request with `more` behind its conversation, and its tokens.
    async fn calls_of_answer(
        &mut self,
        more: &[String],
        target: &Target,
        reason: AttemptReason,
    ) -> Option<(Vec<Verdict>, Usage)> {
        let document = self.asked(target, more, reason).await?;
        let Whole { document, found, .. } = self.read_texts(document, target).await;
        let mut told = Told::default();
        let heads = wire::of(self.surface).calls(document.root(), &mut told);
        let begun = heads.into_iter().filter_map(|(at, head)| self.begun(at, head, &found));
        let mut calls: Vec<Call> = begun.collect();
        if !found.is_empty() {
            told.raw = found.raw;
        }
        for call in calls.iter_mut().filter(|call| !call.is_found) {
            call.verdict = Some(self.verdict(call, target, &told).await);
        }
        self.log.read(told.usage, std::iter::once(&choice(&calls, &told)));
        Some((calls.into_iter().filter_map(|call| call.verdict).collect(), told.usage))
    }
}

/// Returns the first refused call, if the client has a part of it.
fn begun_of(calls: &[Call]) -> Option<Begun> {
    let refused = calls.iter().enumerate().find_map(|(at, call)| match &call.verdict {
        Some(Verdict::Refused(refusal)) => Some((at, call, refusal)),
        _ => None,
    });
    let (at, call, refusal) = refused.filter(|(_, call, _)| !call.sent.is_empty())?;
    Some(Begun { at, sent: call.sent.clone(), refusal: refusal.clone() })
}

/// An answer that was asked for in the place of an empty one.
pub(super) struct Again {
    pub(super) document: Document,
    pub(super) found: Found,
    pub(super) usage: Usage,
}

impl Lane {
    /// Asks the same once more, after an answer that stops for calls and has none. None if that brings nothing.
    pub(super) async fn once_more(&mut self, target: &Target, told: &Told) -> Option<Again> {
        self.log.read(told.usage, std::iter::once(&choice(&[], told)));
        let document = match self.ladder.may_repeat(self.log.elapsed()) {
            true => {
                tracing::info!(
                    model = target.candidate.model,
                    "[relay] an answer stops for calls and has none: asking again"
                );
                self.asked(target, &[], AttemptReason::Repeat).await
            }
            false => None,
        };
        let is_none = |it: &Document| wire::is_failed(it.root()) || self.is_phantom(it.root());
        let Whole { document, found, .. } = match document.filter(|document| !is_none(document)) {
            Some(document) => self.read_texts(document, target).await,
            None => {
                let second = self.second(told, false).await?;
                let document = Document::of_answer(second.body, None).ok()?;
                self.log.escalated(&second.model);
                Whole::as_it_came(document)
            }
        };
        let mut told = Told::default();
        wire::of(self.surface).calls(document.root(), &mut told);
        Some(Again { document, found, usage: told.usage })
    }

    /// Returns the whole answer to the request with `more` behind its conversation; none if no readable one comes.
    async fn asked(&mut self, target: &Target, more: &[String], reason: AttemptReason) -> Option<Document> {
        let open = self.ask(target.clone(), more, false, reason).await.ok()?;
        let body = open.answer.body.whole(self.relay.config.limits.answer).await.ok()?;
        let document = Document::of_answer(target.candidate.upstream.without_secrets(body), None).ok()?;
        self.fault(document.root()).is_none().then_some(document)
    }
}

/// Puts new calls in the place of refused ones, one for one. A model that is asked for one of its calls often makes all of them
/// again: standing ones are not made twice. Returns false if nothing new came.
fn replaced(calls: &mut [Call], made: Vec<Verdict>) -> bool {
    let told = |call: &Acceptance| (call.name.clone(), call.compact_arguments());
    let standing: Vec<_> = calls
        .iter()
        .filter_map(|call| match &call.verdict {
            Some(Verdict::Accepted(accepted)) => Some(told(accepted)),
            _ => None,
        })
        .collect();
    let is_new = |verdict: &Verdict| match verdict {
        Verdict::Accepted(accepted) => !standing.contains(&told(accepted)),
        Verdict::Refused(_) => true,
    };
    let mut made = made.into_iter().filter(is_new).peekable();
    let any = made.peek().is_some();
    for call in calls.iter_mut() {
        if let Some(Verdict::Refused(_)) = call.verdict
            && let Some(verdict) = made.next()
        {
            call.verdict = Some(verdict);
        }
    }
    any
}

/// Returns the engine's verdict on a call, whatever went out.
fn judged(call: &Call) -> Option<Verdict> {
    call.unchecked.clone().map(Verdict::Refused).or_else(|| call.verdict.clone())
}

/// Makes the record of an answer.
pub(super) fn choice(calls: &[Call], told: &Told) -> Choice {
    let outcome = Outcome {
        text: told.text.clone(),
        reasoning: told.thought.clone(),
        verdicts: calls.iter().filter_map(judged).collect(),
        ..Outcome::default()
    };
    let native = calls.iter().filter(|call| !call.is_found);
    Choice {
        raw: if told.raw.is_empty() { told.text.clone() } else { told.raw.clone() },
        native: native.map(|call| (call.head.name.clone(), call.text().to_owned())).collect(),
        reasoning: told.thought.clone(),
        finish_reason: told.reason.clone(),
        outcome,
        ..Choice::default()
    }
}

/// Returns the outcome of an answer, for the headers.
pub(super) fn resolution(calls: &[Call], told: &Told, end: TurnEnd) -> Resolution {
    Resolution { end, ..Resolution::unasked(choice(calls, told)) }
}

/// Returns the settled calls. They tell whether the client gets any call, unread ones among them.
pub(super) fn settled<'c>(calls: &'c [Call], n_unread: usize, End { end, more }: &End) -> Settled<'c> {
    let is_made = |call: &Call| !matches!(call.put, Some(Put::Words(_)));
    let is_mended = *end == TurnEnd::Retried && calls.iter().any(|call| call.put.is_some());
    Settled { calls, has_calls: 0 < n_unread || calls.iter().any(is_made), is_mended, more: *more }
}
