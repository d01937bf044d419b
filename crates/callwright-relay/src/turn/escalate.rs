//! Climbs the ladder for one choice: asks whether what may be shown is meant, then again until its calls are right, or
//! nothing more may be asked.

use std::sync::Arc;

use callwright::json;
use callwright::{Acceptance, Outcome, Policy, Reason, Refusal, ShownBy, Verdict};
use callwright_json::{Repair, RepairKind, strict};

use super::outcome::append;
use super::{OpenAnswer, Resolution, Sent, Target, Turn, refusals};
use crate::config::{Constrain, Mode};
use crate::followup::{self, CALL_TOKENS};
use crate::ladder::{self, Step};
use crate::question::Question;
use crate::reading::{Budget, ReadOptions, read_again, read_whole};
use crate::record::{AttemptReason, Choice, TurnEnd};
use crate::recover::LostCall;
use crate::wire::{choices, usage};

impl Turn {
    /// Asks again until the calls of a choice are right, or the ladder ends; then a second model, where there is one. `sent` is
    /// what the client has of the choice.
    pub(crate) async fn resolve(&mut self, first: Choice, sent: Sent, target: &Target) -> Resolution {
        let spent = self.log.spent_again();
        let mut resolution = self.climb(first, sent, target, spent).await;
        if self.would_refuse(&resolution) && sent != Sent::Calls {
            self.ask_second(&mut resolution).await;
        }
        if self.ask.parallel == Some(false) {
            resolution.keep_first_call();
        }
        resolution
    }

    /// Asks again until the calls of a choice, which took the tokens that are `spent`, are right, or the ladder ends.
    pub(super) async fn climb(
        &mut self,
        first: Choice,
        sent: Sent,
        target: &Target,
        mut spent: u64,
    ) -> Resolution {
        let mut first = first;
        self.read_bare_inputs(&mut first);
        let confirmed = match sent {
            Sent::Nothing => self.confirm(&mut first, target).await,
            Sent::Words | Sent::Calls => None,
        };
        let mut again: Vec<Choice> = confirmed.into_iter().collect();
        let mut verdicts = first.outcome.verdicts.clone();
        if let Some(answer) = again.last() {
            replace_unsure(&mut verdicts, answer);
        }
        let mut more_text = String::new();
        let found = match first.searches_alone() && verdicts.is_empty() {
            true => self.find_tools(&first, target).await,
            false => None,
        };
        // What a model finds out about its tools is no sign that it did anything wrong.
        let n_searched = usize::from(found.is_some());
        if let Some(found) = found {
            verdicts = found.outcome.verdicts.clone();
            more_text.clone_from(&found.outcome.text);
            again.push(found);
        }
        let mut question = Question::first(&self.ask);
        let n_asked = self.log.attempts();
        let is_lost = match first.lost.clone() {
            Some(lost) if verdicts.is_empty() && self.may_call() => {
                match self.find_lost(&first, &lost, target).await {
                    Some(answer) => {
                        verdicts = answer.outcome.verdicts.clone();
                        more_text = answer.outcome.text.clone();
                        again.push(answer);
                        false
                    }
                    None => true,
                }
            }
            _ => false,
        };
        // Nobody had to be asked: what the upstream tells of it is what the model wrote.
        let is_told = !again.is_empty() && first.lost.is_some() && n_asked == self.log.attempts();
        let owes_a_call = self.ask.choice.is_required()
            && verdicts.is_empty()
            && first.foreign_calls == 0
            && self.has_tools();
        let owes_an_answer = self.owes_an_answer(&first) && verdicts.is_empty() && self.may_call();
        if (owes_a_call || owes_an_answer) && self.ladder.may_demand(self.log.elapsed()) {
            let tokens = self.ladder.tokens_left();
            let demand = match owes_a_call {
                true => {
                    let is_spent = first.finish_reason.as_deref() == Some("length");
                    let in_words = target.mode == Mode::Native && is_spent;
                    followup::demand(&first, self.offer(), &self.ask.choice, in_words, tokens)
                }
                false => followup::silence(tokens),
            };
            let answer = self.ask_again(target, &demand, AttemptReason::Reask).await;
            let is_owed = |answer: &Choice| match owes_a_call {
                true => !answer.outcome.verdicts.is_empty(),
                false => !answer.is_empty(),
            };
            if let Some(answer) = answer.filter(is_owed) {
                verdicts = answer.outcome.verdicts.clone();
                if owes_an_answer {
                    more_text.clone_from(&answer.outcome.text);
                }
                again.push(answer);
            }
        }
        let mut asked_before = Vec::new();
        let end = loop {
            let refusals: Vec<&Refusal> = refusals(&verdicts).collect();
            let step = self.ladder.next(&refusals, spent, self.log.elapsed());
            let tokens = self.ladder.tokens_left().max(1);
            let step = match step {
                // It was told to call nothing, and has said all that it says beside that.
                Step::Reask | Step::Feedback if !self.may_call() => Step::Refuse(TurnEnd::Refused),
                step => step,
            };
            let asks = matches!(step, Step::Reask | Step::Feedback);
            let bounded = match refusals.as_slice() {
                [refusal] if asks && again.is_empty() => self.bounded(&first, refusal, target, tokens),
                _ => None,
            };
            let is_cut_short =
                refusals.iter().any(|refusal| ladder::may_be_cut(refusal)) && self.is_cut_by_bound(&first);
            let (next, reason) = match (step, bounded) {
                // Under the same bound the same would be cut again.
                (Step::Reask | Step::Feedback, None) if is_cut_short && !again.is_empty() => {
                    break TurnEnd::Refused;
                }
                (Step::Reask | Step::Feedback, None) if is_cut_short => {
                    (followup::shorter(&first.outcome.text, &refusals, tokens), AttemptReason::Feedback)
                }
                (Step::Deliver, _) if is_told && again.len() == 1 => break TurnEnd::Repaired,
                (Step::Deliver, _) if again.len() == n_searched && is_repaired(&verdicts, target.mode) => {
                    break TurnEnd::Repaired;
                }
                (Step::Deliver, _) if again.len() == n_searched => break TurnEnd::Passed,
                (Step::Deliver, _) => break TurnEnd::Retried,
                (Step::Refuse(end), _) => break end,
                (Step::Reask | Step::Feedback, Some(bounded)) => (bounded, AttemptReason::Reask),
                (Step::Reask, None) => {
                    let safe = &self.relay.config.ladder.safe_tools;
                    let refusal = refusals.first().copied();
                    let Some(refusal) = refusal else { break TurnEnd::Passed };
                    let offer = self.offer_with(refusal.name.as_deref());
                    let again = followup::reask(refusal, offer, &self.ask.choice, safe, tokens);
                    (again, AttemptReason::Reask)
                }
                (Step::Feedback, None) => {
                    let answers = again.iter().rev().chain([&first]);
                    (
                        followup::feedback(&question, answers, &refusals, target.mode, tokens),
                        AttemptReason::Feedback,
                    )
                }
            };
            // A model that makes the same calls again, told of them and offered the same, makes them a third time.
            let told = |next: &Question| {
                let n = if reason == AttemptReason::Reask { 1 } else { refusals.len() };
                let about =
                    refusals.iter().take(n).map(|refusal| (refusal.name.clone(), refusal.block.clone()));
                // A native call that is answered by a result is told in another way than in words.
                (about.collect::<Vec<_>>(), next.choice(&self.ask).clone(), next.ends_in_result())
            };
            let is_new = |next: &Question| next.more.is_empty() || !asked_before.contains(&told(next));
            let next = match is_new(&next) {
                true => Some(next),
                false => refusals.first().and_then(|refusal| {
                    followup::pointed(refusal, self.offer(), &self.ask.choice, tokens).filter(is_new)
                }),
            };
            let Some(next) = next else { break TurnEnd::GaveUp };
            asked_before.push(told(&next));
            let before = self.log.usage().completion;
            let answer = self.ask_again(target, &next, reason).await;
            spent = self.log.usage().completion.saturating_sub(before);
            let Some(answer) = answer else { break TurnEnd::Refused };
            let is_answered = answer.outcome.verdicts.is_empty();
            let is_empty = is_answered && answer.outcome.text.trim().is_empty();
            let asked = verdicts.iter().position(|verdict| matches!(verdict, Verdict::Refused(_)));
            let stays = |(at, verdict): &(usize, &Verdict)| match (reason, verdict) {
                (AttemptReason::Reask, _) => Some(*at) != asked,
                (_, Verdict::Accepted(_)) => true,
                (_, Verdict::Refused(_)) => false,
            };
            let stand = verdicts.iter().enumerate().filter(stays).map(|(_, verdict)| verdict);
            let new = new_verdicts(stand, &answer);
            match reason {
                // Nothing came that could take the place of what was wrong.
                _ if is_empty || !is_answered && new.is_empty() => {}
                // It was told of this one alone. It makes it again, or thought better of it and says so.
                AttemptReason::Reask => {
                    replace_first(&mut verdicts, new);
                    more_text = said_instead(&answer, &first);
                }
                _ => {
                    verdicts.retain(|verdict| matches!(verdict, Verdict::Accepted(_)));
                    verdicts.extend(new);
                    more_text = said_instead(&answer, &first);
                }
            }
            if reason != AttemptReason::Reask {
                question = next;
            }
            again.push(answer);
        };
        // What cut the first answer did not cut the one that took its place.
        let finish_reason = match (end, again.last()) {
            (TurnEnd::Retried, Some(last)) => last.finish_reason.clone(),
            (_, Some(last)) if 0 < n_searched => last.finish_reason.clone(),
            _ => first.finish_reason.clone(),
        };
        let end = match first.lost.as_ref().filter(|_| is_lost && verdicts.is_empty()) {
            Some(lost) => {
                append(&mut more_text, &followup::lost_sentence(&lost.why));
                TurnEnd::Refused
            }
            None if owes_a_call && verdicts.is_empty() && !first.says_else => {
                append(&mut more_text, followup::UNMET);
                TurnEnd::Refused
            }
            None => end,
        };
        Resolution { again, verdicts, more_text, finish_reason, end, ..Resolution::unasked(first) }
    }

    /// Finds the call that the upstream could not read: in what it tells of it, or by asking once more with the reason.
    async fn find_lost(&mut self, first: &Choice, lost: &LostCall, target: &Target) -> Option<Choice> {
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

    /// The call that the upstream could not read, where it tells what the model wrote.
    async fn read_lost(&self, lost: &LostCall, target: &Target) -> Option<Choice> {
        let document = lost.answer(&self.ask.model)?;
        let options = self.read_options(target, &self.ask.choice, &Arc::default());
        let answered: Vec<_> = choices(document.root()).collect();
        let told = (&document, answered.as_slice());
        let read = read_whole(&self.relay.readers, told, &self.tool_set, options, Budget::Unknown).await;
        read.into_iter().next().filter(|told| !told.outcome.verdicts.is_empty())
    }

    /// Asks once whether calls that may be shown as well as made are meant, and returns the answer that makes them. Where
    /// it makes none, or again between words, they become the text that they are. Where nobody may be asked, or nobody
    /// answers, they stay what they were read as: unsure calls, and in native mode text.
    async fn confirm(&mut self, first: &mut Choice, target: &Target) -> Option<Choice> {
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
        let options = self.read_options(target, &self.ask.choice, &Arc::default());
        let options = ReadOptions { unsure_is_text: true, ..options };
        let read = read_again(&self.relay.readers, first, &self.tool_set, options).await;
        let Outcome { text, shown, .. } = read.outcome;
        let outcome = &mut first.outcome;
        outcome.verdicts.retain(|verdict| !is_unsure(verdict));
        (outcome.text, outcome.shown) = (text, shown);
        None
    }

    /// The question for a call that was cut, with bounds for its texts and lists: where the server can hold the model to them,
    /// the answer ends under the same bound that cut the first one.
    fn bounded(&self, first: &Choice, refusal: &Refusal, target: &Target, tokens: u64) -> Option<Question> {
        // A long list without its end has more readings than are looked for.
        let is_cut = first.finish_reason.as_deref() == Some("length")
            && matches!(refusal.reason, Reason::Truncated(_) | Reason::Unreadable(_));
        let tokens = self.ask.max_tokens.unwrap_or(CALL_TOKENS).min(tokens);
        let next = is_cut.then(|| followup::bounded(refusal, &self.tool_set, tokens))??;
        let target = self.follow_up_target(target, next.choice(&self.ask));
        (target.mode == Mode::Prompt && target.constrain != Constrain::None).then_some(next)
    }

    /// Did the client's bound cut this answer? Another one under it would be cut as well. An answer that took fewer tokens was
    /// cut by something else.
    pub(super) fn is_cut_by_bound(&self, choice: &Choice) -> bool {
        match choice.budget {
            Budget::Spent => true,
            Budget::Left => false,
            Budget::Unknown => {
                self.ask.max_tokens.is_some() && choice.finish_reason.as_deref() == Some("length")
            }
        }
    }

    /// Takes the only text of a call for the input of a tool that takes plain text, where that is not the member it should be:
    /// the bare text, `"…"`, `{"patch": "…"}`, `{"command": ["apply_patch", "…"]}`. What looks like JSON and is none stays refused.
    fn read_bare_inputs(&self, choice: &mut Choice) {
        for verdict in &mut choice.outcome.verdicts {
            let Verdict::Refused(refusal) = verdict else { continue };
            let Some(name) = refusal.name.clone().filter(|name| self.ask.bare_inputs.contains(name)) else {
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

    /// Has whoever asks judge calls of names that no tool has.
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

/// The only text in `json` besides the `name` of the tool; none where there are several, or `json` is none.
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

/// What a later answer says instead of a call. What stands beside a call belongs to its attempt, and the client has
/// read that of the first one, as it has read words that are said again.
fn said_instead(answer: &Choice, first: &Choice) -> String {
    let is_new = answer.outcome.text.trim() != first.outcome.text.trim();
    match answer.outcome.verdicts.is_empty() && is_new {
        true => answer.outcome.text.clone(),
        false => String::new(),
    }
}

/// Was a call not well formed, or not made in the channel that was meant for it?
fn is_repaired(verdicts: &[Verdict], mode: Mode) -> bool {
    let is_misplaced = |verdict: &Verdict| mode == Mode::Native && !verdict.is_native();
    verdicts.iter().any(|verdict| match verdict {
        Verdict::Accepted(call) => !Policy::Strict.admits(call) || is_misplaced(verdict),
        Verdict::Refused(_) => false,
    })
}

fn is_unsure(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Accepted(call) if call.unsure)
}

/// Takes the calls that stayed in the text for being unsure out of it: the model has made them since.
fn take_out_unsure(first: &mut Choice) {
    let Choice { raw, outcome, .. } = first;
    let unsure = outcome.shown.extract_if(.., |call| call.by == ShownBy::Unsure);
    for call in unsure {
        let written = call.span.of(raw);
        outcome.text = outcome.text.replacen(written, "", 1).trim_end().to_owned();
    }
}

/// What a later answer says beyond the verdicts that `stand`: a model that is asked for one of its calls often makes all of
/// them again, and each counts once.
fn new_verdicts<'v>(stand: impl Iterator<Item = &'v Verdict>, answer: &Choice) -> Vec<Verdict> {
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

/// Puts the calls of an answer where the first unsure one stands.
fn replace_unsure(verdicts: &mut Vec<Verdict>, answer: &Choice) {
    let at = verdicts.iter().position(is_unsure).unwrap_or(verdicts.len());
    verdicts.retain(|verdict| !is_unsure(verdict));
    let put = new_verdicts(verdicts.iter(), answer);
    verdicts.splice(at..at, put);
}

/// Puts these where the first refused call stands, under its id.
fn replace_first(verdicts: &mut Vec<Verdict>, put: Vec<Verdict>) {
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
