//! Settles one choice: asks about unsure calls, finds calls that the upstream could not read, and reads further answers.

use std::sync::Arc;

use callwright::json;
use callwright::{Acceptance, Outcome, Policy, Reason, Refusal, ShownBy, Verdict};
use callwright_json::{Repair, RepairKind, strict};

use super::{OpenAnswer, Resolution, Sent, Turn};
use crate::config::{Constrain, Mode};
use crate::followup::{self, CALL_TOKENS};
use crate::question::Question;
use crate::reading::{ReadOptions, read_again, read_whole};
use crate::record::{AttemptReason, Choice};
use crate::recover::LostCall;
use crate::target::Target;
use crate::tokens::Budget;
use crate::wire::{choices, usage};

impl Turn {
    /// Asks again until the calls of a choice are right, or the ladder ends; then a second model, if there is one. The client has
    /// the part `sent` of the choice.
    pub(crate) async fn resolve(&mut self, first: Choice, sent: Sent<'_>, target: &Target) -> Resolution {
        let spent = self.log.spent_again();
        let mut resolution = self.climb(first, sent, target, spent).await;
        if self.would_refuse(&resolution) && matches!(sent, Sent::Nothing | Sent::Words) {
            self.ask_second(&mut resolution).await;
        }
        if self.ask.calls.parallel == Some(false) {
            resolution.keep_first_call();
        }
        resolution
    }

    /// Finds the call that the upstream could not read: in the upstream's words about it, or by asking once more with the reason.
    pub(super) async fn find_lost(
        &mut self,
        first: &Choice,
        lost: &LostCall,
        target: &Target,
    ) -> Option<Choice> {
        let told = self.read_lost(lost, target).await;
        if told.is_some() {
            return told;
        }
        if !self.ladder.may_repeat(self.log.elapsed()) {
            return None;
        }
        let before = Question { stream: false, ..Question::first(&self.ask) };
        let question = followup::lost(&before, &first.raw, &lost.why);
        let answer = self.ask_again(target, &question, AttemptReason::Reask).await;
        answer.filter(|answer| !answer.is_empty())
    }

    /// Returns the call that the upstream could not read, if it quotes the model's text.
    async fn read_lost(&self, lost: &LostCall, target: &Target) -> Option<Choice> {
        let document = lost.answer(&self.ask.model)?;
        let options = self.read_options(target, &self.ask.calls.choice, &Arc::default());
        let answered: Vec<_> = choices(document.root()).collect();
        let told = (&document, answered.as_slice());
        let read = read_whole(&self.relay.readers, told, &self.tool_set, options, Budget::Unknown).await;
        read.into_iter().next().filter(|told| !told.outcome.verdicts.is_empty())
    }

    /// Asks once whether unsure calls are meant, and returns the answer that makes them. Without one, or with one that shows them
    /// again between words, they become text. If nobody may be asked, or nobody answers, they stay unsure calls, and in native
    /// mode text.
    pub(super) async fn confirm(&mut self, first: &mut Choice, target: &Target) -> Option<Choice> {
        let question = followup::confirm(first, self.ladder.tokens_left())?;
        let may_ask = self.may_call() && !self.is_cut_by_bound(first);
        if !may_ask || !self.ladder.may_confirm(self.log.elapsed()) {
            return None;
        }
        let answer = self.ask_again(target, &question, AttemptReason::Confirm).await?;
        let is_meant = !answer.outcome.verdicts.is_empty() && !answer.outcome.verdicts.iter().any(is_unsure);
        if is_meant {
            take_out_unsure(first);
            return Some(answer);
        }
        let options = self.read_options(target, &self.ask.calls.choice, &Arc::default());
        let options = ReadOptions { unsure_is_text: true, ..options };
        let read = read_again(&self.relay.readers, first, &self.tool_set, options).await;
        let Outcome { text, shown, .. } = read.outcome;
        let outcome = &mut first.outcome;
        outcome.verdicts.retain(|verdict| !is_unsure(verdict));
        (outcome.text, outcome.shown) = (text, shown);
        None
    }

    /// Returns the question for a call that was cut, with bounds for its texts and lists. If the server enforces them, the answer
    /// ends under the same bound that cut the first one.
    pub(super) fn bounded(
        &self,
        first: &Choice,
        refusal: &Refusal,
        target: &Target,
        tokens: u64,
    ) -> Option<Question> {
        // A long list without its end has more readings than are looked for.
        let is_cut = first.finish_reason.as_deref() == Some("length")
            && matches!(refusal.reason, Reason::Truncated(_) | Reason::Unreadable(_));
        let tokens = self.ask.max_tokens.unwrap_or(CALL_TOKENS).min(tokens);
        let next = is_cut.then(|| followup::bounded(refusal, &self.tool_set, tokens))??;
        let target = self.follow_up_target(target, next.choice(&self.ask));
        (target.mode == Mode::Prompt && target.constrain != Constrain::None).then_some(next)
    }

    /// Returns whether the client's bound cut this answer. Another one under it would be cut as well. An answer that took fewer
    /// tokens was cut by something else.
    pub(super) fn is_cut_by_bound(&self, choice: &Choice) -> bool {
        match choice.budget {
            Budget::Spent => true,
            Budget::Left => false,
            Budget::Unknown => {
                self.ask.max_tokens.is_some() && choice.finish_reason.as_deref() == Some("length")
            }
        }
    }

    /// Takes the only text of a call for the input of a tool that takes plain text, whatever member it stands in. The forms are
    /// the bare text, `"…"`, `{"patch": "…"}` and `{"command": ["apply_patch", "…"]}`. Broken JSON stays refused.
    pub(super) fn read_bare_inputs(&self, choice: &mut Choice) {
        for verdict in &mut choice.outcome.verdicts {
            let Verdict::Refused(refusal) = verdict else { continue };
            let Some(name) = refusal.name.clone().filter(|name| self.ask.calls.bare_inputs.contains(name))
            else {
                continue;
            };
            let input = match &refusal.reason {
                Reason::Unreadable(_) if !refusal.block.trim_start().starts_with(['{', '`']) => {
                    Some(refusal.block.clone())
                }
                Reason::Invalid(_) | Reason::Shape(_) => only_text(&refusal.block, &name),
                _ => None,
            };
            let Some(input) = input else { continue };
            let arguments = json!({"input": input}).to_string();
            let repair = Repair { kind: RepairKind::AddKey, at: refusal.span, put: arguments.clone().into() };
            let call = Acceptance {
                id: refusal.id.clone(),
                name,
                arguments,
                dialect: refusal.dialect.clone(),
                span: refusal.span,
                repairs: vec![repair],
                renamed_from: None,
                coercions: Vec::new(),
                beside_prose: None,
                open_end: false,
                unchecked: false,
                unsure: false,
                is_apart: false,
            };
            if self.policy.admits(&call) {
                *verdict = Verdict::Accepted(call);
            }
        }
    }

    /// Lets the caller judge calls of names that no tool has.
    pub(crate) fn read_unknown(&self, choice: &mut Choice) {
        let Some(read) = &self.read_unknown else { return };
        let judged = choice.outcome.verdicts.iter().map(|verdict| match verdict {
            Verdict::Refused(refusal) if matches!(refusal.reason, Reason::UnknownTool { .. }) => {
                read(refusal, choice)
            }
            Verdict::Refused(_) | Verdict::Accepted(_) => None,
        });
        let judged: Vec<Option<Verdict>> = judged.collect();
        for (verdict, judged) in choice.outcome.verdicts.iter_mut().zip(judged) {
            *verdict = judged.unwrap_or_else(|| verdict.clone());
        }
    }

    /// Asks the same candidate a follow-up, and reads its whole answer.
    pub(super) async fn ask_again(
        &mut self,
        target: &Target,
        question: &Question,
        reason: AttemptReason,
    ) -> Option<Choice> {
        tracing::info!(model = target.candidate.model, why = reason.name(), "[relay] asking again");
        // Few requests come here: they alone pay for the place that asking takes.
        let target = self.follow_up_target(target, question.choice(&self.ask));
        let open_answer = Box::pin(self.open_at(target, question, reason)).await.ok()?;
        self.read_again(open_answer, question).await
    }

    /// Reads the whole answer to a question that follows the first one.
    pub(super) async fn read_again(
        &mut self,
        open_answer: OpenAnswer,
        question: &Question,
    ) -> Option<Choice> {
        let document = open_answer.source.whole(&open_answer.target, &self.relay).await?;
        let allowed = question.allows(&self.ask);
        let options = self.read_options(&open_answer.target, allowed, &open_answer.shown);
        let spent = usage(document.root()).unwrap_or_default();
        let answered: Vec<_> = choices(document.root()).collect();
        let budget = Budget::of(question.most_tokens(&self.ask), spent);
        let read = read_whole(&self.relay.readers, (&document, &answered), &self.tool_set, options, budget);
        let mut read = read.await.into_iter().next();
        // The upstream could not read this one either, and may tell what the model wrote.
        if let Some(Choice { lost: Some(lost), outcome, .. }) = &read
            && outcome.verdicts.is_empty()
            && let Some(told) = self.read_lost(lost, &open_answer.target).await
        {
            read = Some(told);
        }
        if let Some(read) = &mut read {
            self.read_bare_inputs(read);
            self.read_unknown(read);
        }
        self.log.read(spent, read.iter());
        read
    }
}

/// Returns the only text in `json` besides the `name` of the tool; none if there are several, or `json` is broken.
fn only_text(json: &str, name: &str) -> Option<String> {
    let tree = strict(json).ok()?;
    let (mut open, mut found) = (vec![tree.root(json)], None);
    while let Some(value) = open.pop() {
        match value.as_str() {
            Some(text) if text == name => {}
            Some(text) if found.is_none() => found = Some(text.into_owned()),
            Some(_) => return None,
            None => open.extend(value.elements().chain(value.members().map(|(_, member)| member))),
        }
    }
    found
}

/// Returns the words of a later answer in place of a call. Words beside a call belong to its attempt, and the client has those of
/// the first one, as it has words that are repeated.
pub(super) fn said_instead(answer: &Choice, first: &Choice) -> String {
    let is_new = answer.outcome.text.trim() != first.outcome.text.trim();
    match answer.outcome.verdicts.is_empty() && is_new {
        true => answer.outcome.text.clone(),
        false => String::new(),
    }
}

/// Returns whether a call was malformed, or made in another channel than its own.
pub(super) fn is_repaired(verdicts: &[Verdict], mode: Mode) -> bool {
    let is_misplaced = |verdict: &Verdict| mode == Mode::Native && !verdict.is_native();
    verdicts.iter().any(|verdict| match verdict {
        Verdict::Accepted(call) => !Policy::Strict.admits(call) || is_misplaced(verdict),
        Verdict::Refused(_) => false,
    })
}

fn is_unsure(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Accepted(call) if call.unsure)
}

/// Takes the unsure calls out of the text: the model has made them since.
fn take_out_unsure(first: &mut Choice) {
    let Choice { raw, outcome, .. } = first;
    let unsure = outcome.shown.extract_if(.., |call| call.by == ShownBy::Unsure);
    for call in unsure {
        let written = call.span.of(raw);
        outcome.text = outcome.text.replacen(written, "", 1).trim_end().to_owned();
    }
}

/// Returns the verdicts of a later answer beyond those that `stand`. A model that is asked for one of its calls often makes all
/// of them again, and each counts once.
pub(super) fn new_verdicts<'v>(stand: impl Iterator<Item = &'v Verdict>, answer: &Choice) -> Vec<Verdict> {
    let written = |verdict: &Verdict| match verdict {
        Verdict::Accepted(call) => (true, Some(call.name.clone()), call.compact_arguments()),
        Verdict::Refused(refusal) => (false, refusal.name.clone(), refusal.block.clone()),
    };
    let mut stand: Vec<_> = stand.map(written).collect();
    let is_new = |verdict: &&Verdict| {
        let again = stand.iter().position(|other| *other == written(verdict));
        again.map(|at| stand.swap_remove(at)).is_none()
    };
    answer.outcome.verdicts.iter().filter(is_new).cloned().collect()
}

/// Puts the calls of an answer in the place of the first unsure one.
pub(super) fn replace_unsure(verdicts: &mut Vec<Verdict>, answer: &Choice) {
    let at = verdicts.iter().position(is_unsure).unwrap_or(verdicts.len());
    verdicts.retain(|verdict| !is_unsure(verdict));
    let put = new_verdicts(verdicts.iter(), answer);
    verdicts.splice(at..at, put);
}

/// Puts these in the place of the first refused call, under its id.
pub(super) fn replace_first(verdicts: &mut Vec<Verdict>, put: Vec<Verdict>) {
    let first = verdicts.iter().enumerate().find_map(|(at, verdict)| match verdict {
        Verdict::Refused(refusal) => Some((at, refusal.id.clone())),
        Verdict::Accepted(_) => None,
    });
    let Some((at, mut id)) = first else { return };
    let put = put.into_iter().map(|verdict| match verdict {
        Verdict::Accepted(call) => {
            Verdict::Accepted(Acceptance { id: id.take().or(call.id.clone()), ..call })
        }
        Verdict::Refused(refusal) => {
            Verdict::Refused(Refusal { id: id.take().or(refusal.id.clone()), ..refusal })
        }
    });
    let put: Vec<Verdict> = put.collect();
    verdicts.splice(at..=at, put);
}
