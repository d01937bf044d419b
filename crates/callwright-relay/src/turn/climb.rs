//! The ladder of one choice, rung by rung.

use callwright::{Refusal, Verdict};

use super::outcome::append;
use super::settle::{is_repaired, new_verdicts, replace_first, replace_unsure, said_instead};
use super::{Begun, Resolution, Sent, Turn, begin_with, refusals};
use crate::config::Mode;
use crate::followup;
use crate::ladder::{self, Step};
use crate::question::Question;
use crate::record::{AttemptReason, Choice, TurnEnd};
use crate::target::Target;

/// The outcome of a choice so far.
struct Climb<'b> {
    first: Choice,
    /// The refused call that the client has a part of: only its continuation may take its place.
    begun: Option<&'b Begun>,
    /// The answers that were asked for after it.
    again: Vec<Choice>,
    verdicts: Vec<Verdict>,
    /// The words of a later answer without calls.
    more_text: String,
    /// The question that feedback follows.
    question: Question,
    /// The number of answers that followed a search for tools: a search does not count as a fault.
    n_searched: usize,
    /// The tokens of the last answer.
    spent: u64,
    /// The calls that were told of so far.
    told: Vec<Told>,
    /// Nobody had to be asked: the upstream quotes the model's text of a call that it could not read.
    is_told: bool,
    is_lost: bool,
    owes_a_call: bool,
}

/// The calls that a question tells of, its offer, and whether it ends in a result. A native call with a result is told of in
/// another way than in words.
type Told = (Vec<(Option<String>, String)>, callwright::ToolChoice, bool);

/// The next question, and its reason.
type Next = (Question, AttemptReason);

impl<'b> Climb<'b> {
    fn new(first: Choice, begun: Option<&'b Begun>, question: Question, spent: u64) -> Climb<'b> {
        Climb {
            begun,
            verdicts: first.outcome.verdicts.clone(),
            first,
            again: Vec::new(),
            more_text: String::new(),
            question,
            n_searched: 0,
            spent,
            told: Vec::new(),
            is_told: false,
            is_lost: false,
            owes_a_call: false,
        }
    }

    /// Takes an answer in the place of everything before.
    fn take(&mut self, answer: Choice) {
        self.verdicts.clone_from(&answer.outcome.verdicts);
        self.more_text.clone_from(&answer.outcome.text);
        self.again.push(answer);
    }

    /// Takes the parts of the answer to `next` that change something.
    fn take_answer(&mut self, answer: Choice, (next, reason): Next) {
        if let Some(begun) = self.begun {
            return self.take_rest(begun, answer, reason);
        }
        let is_answered = answer.outcome.verdicts.is_empty();
        let is_empty = is_answered && answer.outcome.text.trim().is_empty();
        let asked = self.verdicts.iter().position(|verdict| matches!(verdict, Verdict::Refused(_)));
        let stays = |(at, verdict): &(usize, &Verdict)| match (reason, verdict) {
            (AttemptReason::Reask, _) => Some(*at) != asked,
            (_, Verdict::Accepted(_)) => true,
            (_, Verdict::Refused(_)) => false,
        };
        let stand = self.verdicts.iter().enumerate().filter(stays).map(|(_, verdict)| verdict);
        let new = new_verdicts(stand, &answer);
        match reason {
            // Nothing came that could take the place of what was wrong.
            _ if is_empty || !is_answered && new.is_empty() => {}
            // It was told of this one alone. It makes it again, or thought better of it and says so.
            AttemptReason::Reask => {
                replace_first(&mut self.verdicts, new);
                self.more_text = said_instead(&answer, &self.first);
            }
            _ => {
                self.verdicts.retain(|verdict| matches!(verdict, Verdict::Accepted(_)));
                self.verdicts.extend(new);
                self.more_text = said_instead(&answer, &self.first);
            }
        }
        if reason != AttemptReason::Reask {
            self.question = next;
        }
        self.again.push(answer);
    }

    /// Takes the answer that should go on with a half-sent call. The same request brings everything behind that call again; any
    /// other one brings this call alone.
    fn take_rest(&mut self, begun: &Begun, answer: Choice, reason: AttemptReason) {
        let n_kept = if reason == AttemptReason::Repeat { begun.at } else { self.verdicts.len() };
        let stand = self.verdicts.iter().take(n_kept).enumerate();
        let stand = stand.filter(|(at, _)| *at != begun.at).map(|(_, verdict)| verdict);
        let new = new_verdicts(stand, &answer);
        self.verdicts.truncate(n_kept.max(begun.at + 1));
        replace_first(&mut self.verdicts, new);
        if let Some(Verdict::Accepted(call)) = self.verdicts.get_mut(begun.at) {
            begin_with(call, &begun.sent);
        }
        self.again.push(answer);
    }

    /// Adds to the question the beginning of the half-sent call.
    fn beginning_so(&self, question: Question) -> Question {
        match self.begun {
            Some(begun) => followup::beginning_so(question, &begun.sent),
            None => question,
        }
    }

    /// Returns whether the last answer left the half-sent call: it made another one, or none. Then that call stays refused.
    fn has_left_begun(&mut self) -> bool {
        let Some(begun) = self.begun else { return false };
        let is_refused = matches!(self.verdicts.get(begun.at), Some(Verdict::Refused(_)));
        let has_left = !is_refused && begun.whole_in(&self.verdicts).is_none();
        if has_left {
            self.verdicts.clone_from(&self.first.outcome.verdicts);
        }
        has_left
    }

    /// Returns the end of a choice whose calls are all right.
    fn delivered(&self, mode: Mode) -> TurnEnd {
        let n_again = self.again.len();
        if self.is_told && n_again == 1 {
            return TurnEnd::Repaired;
        }
        match n_again == self.n_searched {
            true if is_repaired(&self.verdicts, mode) => TurnEnd::Repaired,
            true => TurnEnd::Passed,
            false => TurnEnd::Retried,
        }
    }

    fn ended(mut self, end: TurnEnd) -> Resolution {
        // What cut the first answer did not cut the one that took its place.
        let finish_reason = match (end, self.again.last()) {
            (TurnEnd::Retried, Some(last)) => last.finish_reason.clone(),
            (_, Some(last)) if 0 < self.n_searched => last.finish_reason.clone(),
            _ => self.first.finish_reason.clone(),
        };
        let is_empty = self.verdicts.is_empty();
        let end = match self.first.lost.as_ref().filter(|_| self.is_lost && is_empty) {
            Some(lost) => {
                append(&mut self.more_text, &followup::lost_sentence(&lost.why));
                TurnEnd::Refused
            }
            None if self.owes_a_call && is_empty && !self.first.says_else => {
                append(&mut self.more_text, followup::UNMET);
                TurnEnd::Refused
            }
            None => end,
        };
        let Climb { first, again, verdicts, more_text, .. } = self;
        Resolution { again, verdicts, more_text, finish_reason, end, ..Resolution::unasked(first) }
    }
}

impl Turn {
    /// Asks again until the calls of a choice are right, or the ladder ends. The choice took `spent` tokens.
    pub(super) async fn climb(
        &mut self,
        mut first: Choice,
        sent: Sent<'_>,
        target: &Target,
        spent: u64,
    ) -> Resolution {
        let begun = match sent {
            Sent::Part(begun) => Some(begun),
            Sent::Nothing | Sent::Words | Sent::Calls => None,
        };
        if begun.is_none() {
            self.read_bare_inputs(&mut first);
        }
        let confirmed = match sent {
            Sent::Nothing => self.confirm(&mut first, target).await,
            Sent::Words | Sent::Calls | Sent::Part(_) => None,
        };
        let mut climb = Climb::new(first, begun, Question::first(&self.ask), spent);
        if let Some(answer) = confirmed {
            replace_unsure(&mut climb.verdicts, &answer);
            climb.again.push(answer);
        }
        if climb.first.searches_alone()
            && climb.verdicts.is_empty()
            && let Some(found) = self.find_tools(&climb.first, target).await
        {
            climb.n_searched = 1;
            climb.take(found);
        }
        self.recover(&mut climb, target).await;
        self.demand(&mut climb, target).await;
        let end = loop {
            let (next, reason) = match self.next(&climb, target) {
                Ok(next) => next,
                Err(end) => break end,
            };
            let Some(next) = self.new_question(&mut climb, next, reason) else { break TurnEnd::GaveUp };
            let before = self.log.usage().completion;
            let answer = self.ask_again(target, &next, reason).await;
            climb.spent = self.log.usage().completion.saturating_sub(before);
            match answer {
                Some(answer) => climb.take_answer(answer, (next, reason)),
                None => break TurnEnd::Refused,
            }
            if climb.has_left_begun() {
                break TurnEnd::Refused;
            }
        };
        climb.ended(end)
    }

    /// Finds the call that the upstream could not read, if there is one.
    async fn recover(&mut self, climb: &mut Climb<'_>, target: &Target) {
        let lost = climb.first.lost.clone();
        let n_asked = self.log.attempts();
        if let Some(lost) = lost.as_ref().filter(|_| climb.verdicts.is_empty() && self.may_call()) {
            match self.find_lost(&climb.first, lost, target).await {
                Some(answer) => climb.take(answer),
                None => climb.is_lost = true,
            }
        }
        climb.is_told = lost.is_some() && !climb.again.is_empty() && n_asked == self.log.attempts();
    }

    /// Asks for a demanded call that did not come, or for an answer if none came at all.
    async fn demand(&mut self, climb: &mut Climb<'_>, target: &Target) {
        let Climb { first, verdicts, .. } = &*climb;
        let owes_a_call = self.ask.calls.choice.is_required()
            && verdicts.is_empty()
            && first.foreign_calls == 0
            && self.has_tools();
        let owes_an_answer = self.owes_an_answer(first) && verdicts.is_empty() && self.may_call();
        climb.owes_a_call = owes_a_call;
        if !(owes_a_call || owes_an_answer) || !self.ladder.may_demand(self.log.elapsed()) {
            return;
        }
        let tokens = self.ladder.tokens_left();
        let demand = match owes_a_call {
            true => {
                let is_spent = climb.first.finish_reason.as_deref() == Some("length");
                let in_words = target.mode == Mode::Native && is_spent;
                followup::demand(&climb.first, self.offer(), &self.ask.calls.choice, in_words, tokens)
            }
            false => followup::silence(tokens),
        };
        let answer = self.ask_again(target, &demand, AttemptReason::Reask).await;
        let is_owed = |answer: &Choice| match owes_a_call {
            true => !answer.outcome.verdicts.is_empty(),
            false => !answer.is_empty(),
        };
        if let Some(answer) = answer.filter(is_owed) {
            let text = std::mem::take(&mut climb.more_text);
            climb.take(answer);
            if !owes_an_answer {
                climb.more_text = text;
            }
        }
    }

    /// Returns the next question.
    ///
    /// # Errors
    /// The ladder ends so, without another question.
    fn next(&mut self, climb: &Climb<'_>, target: &Target) -> Result<Next, TurnEnd> {
        let refusals: Vec<&Refusal> = refusals(&climb.verdicts).collect();
        let step = self.ladder.next(&refusals, climb.spent, self.log.elapsed());
        let tokens = self.ladder.tokens_left().max(1);
        match step {
            Step::Deliver => return Err(climb.delivered(target.mode)),
            Step::Refuse(end) => return Err(end),
            // It was told to call nothing, and has said all that it says beside that.
            Step::Reask | Step::Feedback if !self.may_call() => return Err(TurnEnd::Refused),
            Step::Reask | Step::Feedback => {}
        }
        let is_first = climb.again.is_empty();
        if let [refusal] = refusals.as_slice()
            && is_first
            && climb.begun.is_none()
            && let Some(bounded) = self.bounded(&climb.first, refusal, target, tokens)
        {
            return Ok((bounded, AttemptReason::Reask));
        }
        if refusals.iter().any(|refusal| ladder::may_be_cut(refusal)) && self.is_cut_by_bound(&climb.first) {
            // Under the same bound the same would be cut again.
            let shorter = || followup::shorter(&climb.first.outcome.text, &refusals, tokens);
            return match is_first {
                true => Ok((climb.beginning_so(shorter()), AttemptReason::Feedback)),
                false => Err(TurnEnd::Refused),
            };
        }
        if step == Step::Feedback {
            let answers = climb.again.iter().rev().chain([&climb.first]);
            let told = followup::feedback(&climb.question, answers, &refusals, target.mode, tokens);
            return Ok((climb.beginning_so(told), AttemptReason::Feedback));
        }
        if climb.begun.is_some() {
            // The same request is the likeliest to be answered by the same words.
            return Ok((Question { stream: false, ..Question::first(&self.ask) }, AttemptReason::Repeat));
        }
        let refusal = refusals.first().copied().ok_or(TurnEnd::Passed)?;
        let safe = &self.relay.config.ladder.safe_tools;
        let offer = self.offer_with(refusal.name.as_deref());
        Ok((followup::reask(refusal, offer, &self.ask.calls.choice, safe, tokens), AttemptReason::Reask))
    }

    /// Returns `next`, or else a plainer question, if the same was not asked before. A model that repeats its calls after hearing
    /// of them, with the same offer, makes them a third time.
    fn new_question(&self, climb: &mut Climb<'_>, next: Question, reason: AttemptReason) -> Option<Question> {
        let refusals: Vec<&Refusal> = refusals(&climb.verdicts).collect();
        let told = |next: &Question| -> Told {
            let n = if reason == AttemptReason::Reask { 1 } else { refusals.len() };
            let about = refusals.iter().take(n).map(|refusal| (refusal.name.clone(), refusal.block.clone()));
            (about.collect(), next.choice(&self.ask).clone(), next.ends_in_result())
        };
        let is_new = |next: &Question| next.more.is_empty() || !climb.told.contains(&told(next));
        let next = match is_new(&next) {
            true => next,
            false => {
                let tokens = self.ladder.tokens_left().max(1);
                let refusal = refusals.first()?;
                followup::pointed(refusal, self.offer(), &self.ask.calls.choice, tokens).filter(is_new)?
            }
        };
        if climb.begun.is_none() || !next.more.is_empty() {
            let told = told(&next);
            climb.told.push(told);
        }
        Some(next)
    }
}
