//! JSON that a request asks for with `response_format`: held to its schema like arguments, repaired, asked for again.
//!
//! An answer's words go in; their JSON goes out, or the reason for which they have none. Wrong content is never called right.

use std::collections::BTreeMap;
use std::sync::Arc;

use callwright::value::Value;
use callwright::{Policy, Reason, Refusal, Schema, heal};
use callwright_json::{Span, strict, tally};

use super::outcome::append;
use super::{Resolution, Turn};
use crate::followup;
use crate::ladder::Step;
use crate::question::Question;
use crate::readers::{Readers, SHORT, Wanted};
use crate::record::{AttemptReason, Choice, TurnEnd};
use crate::target::Target;
use crate::wire::ContentForm;

impl Turn {
    /// Holds a choice to the form that the request asks for, and asks again if it does not fit.
    pub(crate) async fn settle_content(&mut self, resolution: &mut Resolution, target: &Target) {
        // Calls, and words about refused ones, stand in the place of the content.
        if !resolution.verdicts.is_empty() {
            return;
        }
        let readers = Arc::clone(&self.relay.readers);
        let form = self.ask.content_form();
        let Some(check) = ContentCheck::of(form, &self.ask.model, self.policy, &readers).await else {
            return;
        };
        let mut text = resolution.first.outcome.text.clone();
        append(&mut text, &resolution.more_text);
        let says_else = resolution.first.says_else || 0 < resolution.first.foreign_calls;
        if says_else && text.trim().is_empty() {
            return;
        }
        if text.trim().is_empty()
            && let Some(mended) = check.in_thought(&readers, &resolution.first).await
        {
            resolution.take_content(mended, TurnEnd::Repaired);
            return;
        }
        let mut asking = ContentAsking {
            text,
            question: Question::first(&self.ask),
            target: resolution.by.as_ref().unwrap_or(target).clone(),
            spent: self.log.usage().completion,
            is_first: true,
        };
        loop {
            let finish_reason = resolution.finish_reason.as_deref();
            let is_cut = finish_reason == Some("length");
            let refusal = match check.read_by(&readers, &asking.text, finish_reason).await {
                Ok(None) if asking.is_first => return,
                Ok(mended) => {
                    let end = if asking.is_first { TurnEnd::Repaired } else { TurnEnd::Retried };
                    let as_it_came = || Mended { text: asking.text, repairs: BTreeMap::new() };
                    resolution.take_content(mended.unwrap_or_else(as_it_came), end);
                    return;
                }
                Err(refusal) => refusal,
            };
            match self.content_again(&mut asking, &refusal, is_cut).await {
                Some(answer) => {
                    asking.text = answer.outcome.text;
                    resolution.finish_reason = answer.finish_reason;
                    asking.is_first = false;
                }
                None => return self.leave_content(resolution, asking.text, &refusal, is_cut),
            }
        }
    }

    /// Asks for the content again; the last time, a second model.
    async fn content_again(
        &mut self,
        asking: &mut ContentAsking,
        refusal: &Refusal,
        is_cut: bool,
    ) -> Option<Choice> {
        // The client's bound would cut another answer as well.
        let is_bounded = is_cut && self.ask.max_tokens.is_some();
        let reason = match self.ladder.next(&[refusal], asking.spent, self.log.elapsed()) {
            _ if is_bounded => None,
            Step::Reask => Some(AttemptReason::Reask),
            Step::Feedback => Some(AttemptReason::Feedback),
            Step::Deliver | Step::Refuse(_) => None,
        };
        let before = self.log.usage().completion;
        let says = |answer: &Choice| answer.outcome.verdicts.is_empty() && !answer.is_empty();
        let mut answer = None;
        if let Some(reason) = reason {
            let tokens = self.ladder.tokens_left().max(1);
            let next = followup::content(&asking.question, &asking.text, refusal, tokens);
            if reason == AttemptReason::Feedback {
                asking.question = next.clone();
            }
            answer = self.ask_again(&asking.target, &next, reason).await.filter(says);
        }
        if answer.is_none()
            && !is_bounded
            && let Some((model, second, by)) = self.second_answer().await
            && says(&second)
        {
            self.log.escalated(&model);
            (asking.question, asking.target) = (Question::first(&self.ask), by);
            answer = Some(second);
        }
        asking.spent = self.log.usage().completion.saturating_sub(before);
        answer
    }

    /// Leaves wrong content as it is, and says the reason.
    fn leave_content(
        &mut self,
        resolution: &mut Resolution,
        mut text: String,
        refusal: &Refusal,
        is_cut: bool,
    ) {
        let fault = followup::content_fault(refusal);
        // What was cut says so by its finish.
        if self.policy != Policy::Strict && !is_cut {
            append(&mut text, &format!("⚠️ {fault}"));
        }
        self.log.fault(&fault);
        resolution.content = Some(text);
        resolution.fault = Some(fault);
        resolution.end = super::outcome::worse(resolution.end, TurnEnd::Invalid);
    }
}

/// Content that is asked for until it fits.
struct ContentAsking {
    /// The words of the last answer.
    text: String,
    /// The question that feedback follows.
    question: Question,
    target: Target,
    /// The tokens of the last answer.
    spent: u64,
    is_first: bool,
}

impl Resolution {
    fn take_content(&mut self, mended: Mended, end: TurnEnd) {
        self.content = Some(mended.text);
        self.content_repairs = mended.repairs;
        self.end = super::outcome::worse(self.end, end);
    }
}

/// A text, repaired to the JSON that it has to be.
pub(crate) struct Mended {
    pub(crate) text: String,
    /// The number of repairs of each kind.
    pub(crate) repairs: BTreeMap<&'static str, usize>,
}

/// The form that the content of an answer has to have.
pub(crate) struct ContentCheck {
    /// None if any JSON will do.
    schema: Option<Schema>,
    policy: Policy,
}

impl ContentCheck {
    /// Compiles the form; none if the request asks for no JSON.
    pub(crate) async fn of(
        form: Option<ContentForm<'_>>,
        model: &str,
        policy: Policy,
        readers: &Readers,
    ) -> Option<Arc<ContentCheck>> {
        let form = form?;
        let text = match form {
            ContentForm::Object => Some(r#"{"type": "object"}"#),
            ContentForm::Schema(text) => text,
        };
        let text = text.map(str::to_owned).unwrap_or_default();
        let compile = move |_: &Wanted| Some(Schema::compile(&text.parse::<Value>().ok()?));
        let schema = readers.run(form.len() <= SHORT, compile).await.and_then(|compiled| match compiled {
            Ok(schema) => Some(schema),
            Err(error) => {
                tracing::warn!(model, %error, "[chat] response_format: its schema is not checked");
                None
            }
        });
        Some(Arc::new(ContentCheck { schema, policy }))
    }

    /// As [`ContentCheck::read`], but long texts are read elsewhere.
    pub(crate) async fn read_by(
        self: &Arc<ContentCheck>,
        readers: &Readers,
        text: &str,
        finish_reason: Option<&str>,
    ) -> Result<Option<Mended>, Box<Refusal>> {
        if text.len() <= SHORT {
            return self.read(text, finish_reason);
        }
        let (check, text) = (Arc::clone(self), text.to_owned());
        let finish_reason = finish_reason.map(str::to_owned);
        readers.elsewhere(move |_| check.read(&text, finish_reason.as_deref())).await
    }

    /// Returns the JSON at the end of the thought of a choice without words: some servers take the whole answer for a thought.
    async fn in_thought(self: &Arc<ContentCheck>, readers: &Readers, choice: &Choice) -> Option<Mended> {
        let mut thought = choice.reasoning.clone();
        append(&mut thought, &choice.outcome.reasoning);
        // What stands before other thoughts is a draft.
        if self.policy == Policy::Strict || !thought.trim_end().ends_with(['}', ']', '`']) {
            return None;
        }
        let mended = self.read_by(readers, &thought, choice.finish_reason.as_deref()).await.ok()?;
        let mut mended = mended.unwrap_or_else(|| Mended { text: thought, repairs: BTreeMap::new() });
        mended.repairs.insert("from-reasoning", 1);
        Some(mended)
    }

    /// Returns the repaired text; none if `text` is right as it stands.
    fn read(&self, text: &str, finish_reason: Option<&str>) -> Result<Option<Mended>, Box<Refusal>> {
        let reason = match heal(text, self.schema.as_ref(), finish_reason) {
            Ok(healed) if healed.repairs.is_empty() && healed.coercions.is_empty() => return Ok(None),
            Ok(healed) if self.policy != Policy::Strict => {
                let mut repairs: BTreeMap<_, _> =
                    tally(&healed.repairs).into_iter().map(|(kind, n)| (kind.code(), n)).collect();
                if !healed.coercions.is_empty() {
                    repairs.insert("coerce", healed.coercions.len());
                }
                return Ok(Some(Mended { text: healed.text, repairs }));
            }
            Ok(_) => self.objection(text),
            Err(reason) => reason,
        };
        Err(Box::new(Refusal {
            id: None,
            name: None,
            dialect: "response_format".into(),
            number: 1,
            span: Span::new(0, text.len()),
            block: text.to_owned(),
            reason,
        }))
    }

    /// Returns the fault of a text that could be repaired.
    fn objection(&self, text: &str) -> Reason {
        match (strict(text), &self.schema) {
            (Ok(tree), Some(schema)) => Reason::Invalid(schema.check(tree.root(text))),
            _ => Reason::Unreadable(Vec::new()),
        }
    }
}
