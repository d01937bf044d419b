//! JSON that a request asks for with `response_format`: held to its schema like arguments, repaired, asked for again.
//!
//! An answer's words go in; the JSON that they come to goes out, or the reason why they come to none. What stays wrong is
//! never called right.

use std::sync::Arc;

use callwright::value::Value;
use callwright::{Policy, Reason, Refusal, Schema, heal};
use callwright_json::{Span, strict};

use super::outcome::append;
use super::{Resolution, Target, Turn};
use crate::followup;
use crate::ladder::Step;
use crate::question::Question;
use crate::readers::{Readers, SHORT, Wanted};
use crate::record::{AttemptReason, TurnEnd};
use crate::wire::{Ask, ContentForm};

impl Turn {
    /// Holds what a choice says to the form that the request asks for, and asks again where it does not fit.
    /// `says_else` tells that the choice holds something besides words, such as a refusal of the upstream's own.
    pub(crate) async fn settle_content(
        &mut self,
        resolution: &mut Resolution,
        target: &Target,
        says_else: bool,
    ) {
        // Calls, and words about refused ones, stand in the place of the content.
        if !resolution.verdicts.is_empty() {
            return;
        }
        let readers = Arc::clone(&self.relay.readers);
        let Some(check) = ContentCheck::of(&self.ask, self.policy, &readers).await else { return };
        let mut text = resolution.first.outcome.text.clone();
        append(&mut text, &resolution.more_text);
        if says_else && text.trim().is_empty() {
            return;
        }
        let mut spent = self.log.usage().completion;
        let mut question = Question::first(&self.ask);
        let mut is_first = true;
        loop {
            let refusal = match check.read_by(&readers, &text, resolution.finish_reason.as_deref()).await {
                Ok(healed) => {
                    let end = match (is_first, &healed) {
                        (false, _) => TurnEnd::Retried,
                        (true, Some(_)) => TurnEnd::Repaired,
                        (true, None) => return,
                    };
                    resolution.content = Some(healed.unwrap_or(text));
                    resolution.end = super::outcome::worse(resolution.end, end);
                    return;
                }
                Err(refusal) => refusal,
            };
            let is_cut = resolution.finish_reason.as_deref() == Some("length");
            let reason = match self.ladder.next(&[&refusal], spent, self.log.elapsed()) {
                // The client's bound would cut another answer as well.
                _ if is_cut && self.ask.max_tokens.is_some() => None,
                Step::Reask => Some(AttemptReason::Reask),
                Step::Feedback => Some(AttemptReason::Feedback),
                Step::Deliver | Step::Refuse(_) => None,
            };
            let before = self.log.usage().completion;
            let answer = match reason {
                Some(reason) => {
                    let tokens = self.ladder.tokens_left().max(1);
                    let next = followup::content(&question, &text, &refusal, tokens);
                    if reason == AttemptReason::Feedback {
                        question = next.clone();
                    }
                    self.ask_again(target, &next, reason).await
                }
                None => None,
            };
            spent = self.log.usage().completion.saturating_sub(before);
            match answer.filter(|answer| answer.outcome.verdicts.is_empty() && !answer.is_empty()) {
                Some(answer) => {
                    text = answer.outcome.text;
                    resolution.finish_reason = answer.finish_reason;
                    is_first = false;
                }
                None => {
                    let fault = followup::content_fault(&refusal);
                    // What was cut says so by its finish.
                    if self.policy != Policy::Strict && !is_cut {
                        append(&mut text, &format!("⚠️ {fault}"));
                    }
                    self.log.fault(&fault);
                    resolution.content = Some(text);
                    resolution.fault = Some(fault);
                    resolution.end = super::outcome::worse(resolution.end, TurnEnd::Invalid);
                    return;
                }
            }
        }
    }
}

/// What the content of an answer has to be.
struct ContentCheck {
    /// None where any JSON will do.
    schema: Option<Schema>,
    policy: Policy,
}

impl ContentCheck {
    /// None where the request asks for no JSON.
    async fn of(ask: &Ask, policy: Policy, readers: &Readers) -> Option<Arc<ContentCheck>> {
        let text = match ask.content_form()? {
            ContentForm::Object => Some(r#"{"type": "object"}"#),
            ContentForm::Schema(text) => text,
        };
        let text = text.map(str::to_owned).unwrap_or_default();
        let compile = move |_: &Wanted| Some(Schema::compile(&text.parse::<Value>().ok()?));
        let is_short = ask.content_form().is_some_and(|form| form.len() <= SHORT);
        let schema = readers.run(is_short, compile).await.and_then(|compiled| match compiled {
            Ok(schema) => Some(schema),
            Err(error) => {
                tracing::warn!(model = ask.model, %error, "[chat] response_format: its schema is not checked");
                None
            }
        });
        Some(Arc::new(ContentCheck { schema, policy }))
    }

    /// As [`ContentCheck::read`], where that may take long elsewhere.
    async fn read_by(
        self: &Arc<ContentCheck>,
        readers: &Readers,
        text: &str,
        finish_reason: Option<&str>,
    ) -> Result<Option<String>, Box<Refusal>> {
        if text.len() <= SHORT {
            return self.read(text, finish_reason);
        }
        let (check, text) = (Arc::clone(self), text.to_owned());
        let finish_reason = finish_reason.map(str::to_owned);
        readers.elsewhere(move |_| check.read(&text, finish_reason.as_deref())).await
    }

    /// The repaired text; none where `text` is right as it stands.
    fn read(&self, text: &str, finish_reason: Option<&str>) -> Result<Option<String>, Box<Refusal>> {
        let reason = match heal(text, self.schema.as_ref(), finish_reason) {
            Ok(healed) if healed.repairs.is_empty() && healed.coercions.is_empty() => return Ok(None),
            Ok(healed) if self.policy != Policy::Strict => return Ok(Some(healed.text)),
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

    /// What is wrong with a text that could be repaired.
    fn objection(&self, text: &str) -> Reason {
        match (strict(text), &self.schema) {
            (Ok(tree), Some(schema)) => Reason::Invalid(schema.check(tree.root(text))),
            _ => Reason::Unreadable(Vec::new()),
        }
    }
}
