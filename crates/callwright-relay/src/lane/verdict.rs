//! The verdict of the engine on a call of an answer.

use callwright::{Acceptance, CallDelta, Reason, Refusal, Verdict};
use callwright_json::Span;

use super::asking::Lane;
use super::call::{Call, Put};
use super::wire::told::Told;
use crate::config::{Constrain, Mode};
use crate::ladder::doubts_open_ends;
use crate::reading::{ReadOptions, Reading};
use crate::record::Choice;
use crate::target::Target;
use crate::tokens::Budget;

impl Lane {
    /// Returns the options for reading answers of `target`.
    pub(super) fn read_options(&self, target: &Target) -> ReadOptions {
        ReadOptions {
            mode: Mode::Native,
            is_unread: false,
            constrain: Constrain::None,
            policy: self.policy,
            doubt_open_ends: doubts_open_ends(self.policy, &self.relay.config.ladder),
            calls_in_reasoning: target.candidate.calls_in_reasoning(),
            dialects: target.candidate.dialects.clone(),
            allowed: self.tools.allowed.clone(),
            asked: None,
            search: None,
            unsure_is_text: false,
            shown: None,
        }
    }

    /// Returns the engine's verdict on a call, in an answer that `told` this.
    pub(super) async fn verdict(&self, call: &Call, target: &Target, told: &Told) -> Verdict {
        let name = call.flat(&self.tools);
        let options = self.read_options(target);
        let mut events = Vec::new();
        let mut reading = Reading::new(&self.relay.readers, &self.tools.tool_set, &options);
        let (id, arguments) = (Some(call.head.id.as_str()), Some(call.text()));
        let piece = CallDelta { index: Some(0), id, name: Some(&name), arguments };
        reading.call(piece, &mut events).await;
        // Before the answer has ended, nobody says how it does.
        if let Some(reason) = &told.reason {
            reading.stopped(reason);
        }
        let budget = match told.reason {
            Some(_) => Budget::of(self.most_tokens(), told.usage),
            // It goes on.
            None => Budget::Unknown,
        };
        let Choice { outcome, .. } = reading.finish(budget, &mut events).await;
        let mut verdicts = outcome.verdicts;
        match verdicts.pop().filter(|_| verdicts.is_empty()) {
            // What went out is not taken back.
            Some(Verdict::Accepted(accepted)) if !accepted.arguments.starts_with(&call.sent) => {
                Verdict::Refused(unreadable(call, name))
            }
            Some(verdict) => verdict,
            // There is one place for one call: several in it are none.
            None => Verdict::Refused(unreadable(call, name)),
        }
    }

    /// Returns the replacement for a call that came to `accepted`.
    pub(super) fn put(&self, accepted: &Acceptance) -> Put {
        let entry = self.tools.table.get(&accepted.name);
        Put::Call {
            namespace: entry.and_then(|entry| entry.namespace.clone()),
            name: entry.map_or_else(|| accepted.name.clone(), |entry| entry.name.clone()),
            arguments: accepted.arguments.clone(),
        }
    }
}

fn unreadable(call: &Call, name: String) -> Refusal {
    Refusal {
        id: Some(call.head.id.clone()),
        name: Some(name),
        dialect: "native".into(),
        number: 1,
        span: Span::new(0, call.text().len()),
        block: call.text().to_owned(),
        reason: Reason::Unreadable(Vec::new()),
    }
}
