//! The outcome of a choice.

use std::collections::BTreeMap;

use callwright::{Acceptance, Refusal, Verdict};

use super::Begun;
use crate::record::{Choice, TurnEnd};
use crate::target::Target;
use crate::wire::Foreign;

/// The outcome of one choice when the ladder had ended.
pub(crate) struct Resolution {
    /// The first answer.
    pub(crate) first: Choice,
    /// The answers that were asked for after it.
    pub(crate) again: Vec<Choice>,
    /// The calls, and those that stay refused, in order.
    pub(crate) verdicts: Vec<Verdict>,
    /// The words of a later answer without calls.
    pub(crate) more_text: String,
    /// The reason for which the model stopped.
    pub(crate) finish_reason: Option<String>,
    /// The end of the choice.
    pub(crate) end: TurnEnd,
    /// The client's content, if JSON was asked for and the answer's own words differ from it.
    pub(crate) content: Option<String>,
    /// The number of repairs of each kind in it.
    pub(crate) content_repairs: BTreeMap<&'static str, usize>,
    /// The target of the answer that stands, if that is a second model.
    pub(crate) by: Option<Target>,
    /// A call of it went out as it was written, although it does not fit its schema.
    pub(crate) is_unchecked_live: bool,
    /// The reason for which the content is not the JSON that was asked for, in a sentence.
    pub(crate) fault: Option<String>,
}

/// The part of a choice that the client has before it is resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sent<'b> {
    /// The client has nothing: all of it may still change.
    Nothing,
    /// The client has the words before the last call, and nothing takes them back.
    Words,
    /// The client has calls, too.
    Calls,
    /// The client has a part of a refused call, too: its replacement goes on with that.
    Part(&'b Begun),
}

impl Resolution {
    /// Makes the resolution of a choice for which nothing is asked again.
    pub(crate) fn unasked(choice: Choice) -> Resolution {
        Resolution {
            verdicts: choice.outcome.verdicts.clone(),
            more_text: String::new(),
            finish_reason: choice.finish_reason.clone(),
            end: TurnEnd::Passed,
            content: None,
            content_repairs: BTreeMap::new(),
            by: None,
            is_unchecked_live: false,
            fault: None,
            first: choice,
            again: Vec::new(),
        }
    }

    /// Returns the members of the native call `call` that are not ours.
    pub(crate) fn foreign_of(&self, call: &Acceptance) -> Foreign {
        let is_its = |verdict: &Verdict| match verdict {
            Verdict::Accepted(made) => made.id == call.id,
            Verdict::Refused(refusal) => refusal.id == call.id,
        };
        let first = || natives(&self.first).find(|(verdict, _)| call.id.is_some() && is_its(verdict));
        let again = self.foreign_again(call);
        again.or_else(|| first().map(|(_, foreign)| foreign)).cloned().unwrap_or_default()
    }

    /// Returns the members that are not ours in a call of a further answer.
    fn foreign_again(&self, call: &Acceptance) -> Option<&Foreign> {
        let is_it = |verdict: &Verdict| match verdict {
            Verdict::Accepted(made) => made.name == call.name && made.arguments == call.arguments,
            Verdict::Refused(_) => false,
        };
        let found = self.again.iter().rev().find_map(|answer| natives(answer).find(|(made, _)| is_it(made)));
        found.map(|(_, foreign)| foreign)
    }

    /// Returns the text that the repairs of `verdict` edit: a native call's arguments, or the model's words.
    pub(crate) fn source_of(&self, verdict: &Verdict) -> &str {
        let Verdict::Accepted(call) = verdict else { return &self.first.raw };
        let is_it = |other: &Verdict| match other {
            Verdict::Accepted(made) => {
                (&made.name, &made.arguments, made.span, &made.repairs)
                    == (&call.name, &call.arguments, call.span, &call.repairs)
            }
            Verdict::Refused(_) => false,
        };
        let answers = self.again.iter().rev().chain([&self.first]);
        let found = answers.filter_map(|answer| {
            let at = answer.outcome.verdicts.iter().position(is_it)?;
            let natives = answer.outcome.verdicts.iter().take(at).filter(|other| other.is_native()).count();
            match verdict.is_native() {
                true => answer.native.get(natives).map(|(_, arguments)| arguments.as_str()),
                false => Some(answer.raw.as_str()),
            }
        });
        found.into_iter().next().unwrap_or_default()
    }

    /// Keeps only the first call, for a client that takes one at a time.
    pub(super) fn keep_first_call(&mut self) {
        let mut n_calls = 0;
        self.verdicts.retain(|verdict| match verdict {
            Verdict::Refused(_) => true,
            Verdict::Accepted(_) => {
                n_calls += 1;
                n_calls == 1
            }
        });
    }
}

/// Returns the verdicts of an answer's native calls, with their members that are not ours.
fn natives(choice: &Choice) -> impl Iterator<Item = (&Verdict, &Foreign)> {
    choice.outcome.verdicts.iter().filter(|verdict| verdict.is_native()).zip(&choice.foreign)
}

/// Returns the refused calls.
pub(crate) fn refusals(verdicts: &[Verdict]) -> impl Iterator<Item = &Refusal> {
    verdicts.iter().filter_map(|verdict| match verdict {
        Verdict::Refused(refusal) => Some(refusal),
        Verdict::Accepted(_) => None,
    })
}
