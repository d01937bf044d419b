//! Ends a turn: adds to the conversation, decides whether the run is over, and writes the closing sentence.

use std::collections::BTreeMap;

use callwright::json;
use callwright::value::Value;
use callwright_relay::{repeat_sentence, turn_text};

use super::machine::{Machine, Phase};
use super::stop::{End, Ended, Limit};
use super::transcript::Answered;
use super::turn::{Call, ModelTurn, Part, Wrong, sum};
use super::working::{Known, Working};
use crate::tool::Effect;

pub(super) const CUT: &str = "not run: the answer was cut off before it was complete. Send the call again, with less in it, or in several parts";
pub(super) const EARLY: &str =
    "not run: another call of this answer was not valid. Send that one again first";
pub(super) const AFTER_END: &str = "not run: the run was over";
pub(super) const CANCELLED: &str = "cancelled by the user";
pub(super) const STOPPED: &str = "not run: the run was stopped";
pub(super) const UNCONFIRMED: &str = "not run: the call was not right as it was written, and nobody is there to confirm how it was read. If that is what \
                                      you mean, send exactly that as strict JSON";
pub(super) const DENIED: &str =
    "not run: the user did not allow it. Do not try again; say what you would need it for";

impl Machine {
    /// Takes an answer without calls.
    pub(super) fn said(&mut self, answer: &ModelTurn) {
        let text = answer.text.trim();
        let mut end = if text.is_empty() { End::Silent } else { End::Answered };
        let mut sentence = text.to_owned();
        if answer.is_cut {
            end = End::Limit(Limit::Answer);
            let why = self.settings.stop.sentence(Limit::Answer, self.turns);
            sentence = if text.is_empty() { why } else { format!("{text}\n\n{why}") };
        } else if text.is_empty() {
            sentence = String::from("⚠️ The model gave an empty answer.");
        }
        if !text.is_empty() {
            self.transcript.assistant(&answer.text);
        }
        if end == End::Answered && !answer.shown.is_empty() {
            if self.settings.policy.feeds_back() && !std::mem::replace(&mut self.is_asked, true) {
                return self.ask_whether_meant(&answer.shown);
            }
            if !self.has_done {
                end = End::Refused;
                let names = answer.shown.join(", ");
                sentence.push_str(&format!(
                    "\n⚠️ The answer shows a call ({names}) and makes none: nothing was done."
                ));
            }
        }
        self.phase = Phase::Done(Ended { end, sentence });
    }

    /// Asks the model whether it means the calls that its answer shows.
    fn ask_whether_meant(&mut self, shown: &[String]) {
        self.transcript.user(&format!(
            "Your answer shows a call ({}) and was taken as text: it ran nothing. If you mean it, make the call again, alone, \
             with no words around it. If not, say what came of the task.",
            shown.join(", ")
        ));
        match self.limited() {
            Some(ended) => self.phase = Phase::Done(ended),
            None => self.ask_next(),
        }
    }

    /// Returns the end that a bound sets to the run, if one is reached.
    fn limited(&self) -> Option<Ended> {
        let limit = self.settings.stop.limit(self.turns, &self.account)?;
        Some(Ended { end: End::Limit(limit), sentence: self.settings.stop.sentence(limit, self.turns) })
    }

    /// Adds a turn whose calls all have results to the conversation, and checks whether the run is over.
    pub(super) fn settle(&mut self) {
        let Phase::Calls(working) = &self.phase else { return };
        if working.open(|known| known.result.is_none()).next().is_some() {
            return;
        }
        let Working { answer, calls, breaks } = *working.clone();
        let repeats = self.breaker.came_to(came_to(&answer, &calls));
        self.write(&answer, &calls);
        let most = self.settings.stop.breaker.max(1);
        if repeats == most {
            let mut names: Vec<&str> = answer.calls().map(|call| call.name.as_str()).collect();
            names.dedup();
            self.transcript.user(&repeat_sentence(&names, most));
        }
        let tool_errors = self.breaker.turn_over();
        let result = |call: &Call| calls.get(&call.id).and_then(|known| known.result.as_ref());
        let worked = |call: &&Call| result(call).is_some_and(|done| !done.is_error);
        let ended = answer
            .calls()
            .filter(worked)
            .find(|call| call.ends_run)
            .map(|call| Ended { end: End::Finished, sentence: finish_sentence(call, &answer.text) });
        let stops = |call: &&Call| self.settings.stop.tools.contains(&call.name);
        let stopped = answer.calls().filter(worked).find(stops).map(|call| Ended {
            end: End::ToolCalled(call.name.clone()),
            sentence: match answer.text.trim() {
                "" => format!("Stopped: {} was called.", call.name),
                text => text.to_owned(),
            },
        });
        let is_unrun = answer.is_cut && answer.calls().any(|call| call.effect != Effect::Read);
        let is_refused = answer.wrongs().next().is_some() || is_unrun;
        let broken = || self.broken(&answer, &calls, breaks, tool_errors);
        let refused = || {
            let ends = is_refused && !self.settings.policy.feeds_back();
            ends.then(|| Ended { end: End::Refused, sentence: refusal_sentence(&answer) })
        };
        let going_round = || {
            let name = answer.calls().next().map(|call| call.name.as_str()).unwrap_or_default();
            let sentence = format!(
                "⚠️ Stopped: the model made the same call of {name} {repeats} times, with the same result, also after it \
                 was told so."
            );
            (most < repeats).then_some(Ended { end: End::GaveUp, sentence })
        };
        let ended = ended
            .or(stopped)
            .or_else(broken)
            .or_else(going_round)
            .or_else(refused)
            .or_else(|| self.limited());
        match ended {
            Some(ended) => self.phase = Phase::Done(ended),
            None => self.ask_next(),
        }
    }

    fn broken(
        &self,
        answer: &ModelTurn,
        calls: &BTreeMap<String, Known>,
        breaks: bool,
        tool_errors: u32,
    ) -> Option<Ended> {
        let times = self.settings.stop.breaker.max(1);
        let why = if breaks {
            refusal_sentence(answer)
        } else if times <= tool_errors {
            let failed = answer.calls().find_map(|call| {
                let done = calls.get(&call.id)?.result.as_ref().filter(|done| done.is_error)?;
                Some(format!("⚠️ {} answered: {}", call.name, done.content))
            });
            failed?
        } else {
            return None;
        };
        let sentence = format!("{why}\n⚠️ Stopped: the same error came {times} times.");
        Some(Ended { end: End::GaveUp, sentence })
    }

    /// Adds a whole turn to the conversation.
    fn write(&mut self, answer: &ModelTurn, calls: &BTreeMap<String, Known>) {
        let put: Vec<String> = answer.wrongs().map(Wrong::sendable).collect();
        let mut put = put.iter();
        let mut answered: Vec<Answered<'_>> = Vec::new();
        for part in &answer.parts {
            match part {
                Part::Call(call) => {
                    let result = calls.get(&call.id).and_then(|known| known.result.as_ref());
                    let result = result.map_or("", |done| &done.content);
                    answered.push(Answered {
                        id: &call.id,
                        name: &call.name,
                        arguments: &call.arguments,
                        result,
                    });
                }
                Part::Wrong(wrong) => {
                    let Some(arguments) = put.next() else { continue };
                    let Some(id) = wrong.id.as_deref().filter(|_| wrong.is_native()) else { continue };
                    // Servers refuse a call without a name.
                    let name = wrong.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("unknown");
                    answered.push(Answered { id, name, arguments, result: &wrong.result });
                }
            }
        }
        let markup: Vec<&str> =
            answer.wrongs().filter(|w| !w.is_native()).map(|wrong| wrong.markup.as_str()).collect();
        match (answered.is_empty(), markup.is_empty()) {
            // The model gets its whole text back, because the error speaks about it.
            (true, _) => self.transcript.assistant(if answer.raw.is_empty() { "…" } else { &answer.raw }),
            (false, true) => self.transcript.calls(&answer.text, &answered),
            (false, false) => {
                let said = [&[answer.text.as_str()][..], &markup].concat();
                let said: Vec<&str> = said.into_iter().filter(|text| !text.trim().is_empty()).collect();
                self.transcript.calls(&said.join("\n\n"), &answered);
            }
        }
        if let Some(error) = &answer.user_message {
            self.transcript.user(error);
        }
        if self.settings.notes {
            let mut notes: Vec<&str> = answer.calls().filter_map(|call| call.note.as_deref()).collect();
            notes.dedup();
            notes.iter().for_each(|note| self.transcript.system(note));
        }
    }
}

/// Returns a sum of an answer's calls and results; `None` after an error or failure, which counts as an error.
fn came_to(answer: &ModelTurn, calls: &BTreeMap<String, Known>) -> Option<u64> {
    if answer.wrongs().next().is_some() {
        return None;
    }
    let mut all = Vec::new();
    for call in answer.calls() {
        let done = calls.get(&call.id)?.result.as_ref().filter(|done| !done.is_error)?;
        all.push((call.name.as_str(), call.compared(), done.content.as_str()));
    }
    Some(sum(&turn_text(all.into_iter())))
}

impl Wrong {
    /// Returns the arguments in the form that servers accept in a history: the text of an object.
    fn sendable(&self) -> String {
        match serde_json::from_str::<callwright::value::Map>(&self.block) {
            Ok(_) => self.block.clone(),
            Err(_) => json!({"unreadable_arguments": self.block}).to_string(),
        }
    }
}

/// Returns the user's sentence about calls that were not right.
fn refusal_sentence(answer: &ModelTurn) -> String {
    let named = |name: Option<&str>| match name {
        Some(name) => format!("A call of the tool {name}"),
        None => String::from("A tool call"),
    };
    let wrongs = answer.wrongs().map(|wrong| match wrong.code.as_str() {
        "truncated" | "open-end" => {
            format!("⚠️ {} was cut off before it was complete. It was not run.", named(wrong.name.as_deref()))
        }
        _ => format!("⚠️ {} was not run: {}.", named(wrong.name.as_deref()), wrong.message),
    });
    let mut lines: Vec<String> = wrongs.collect();
    if answer.is_cut && lines.is_empty() {
        let unrun = answer.calls().filter(|call| call.effect != Effect::Read);
        lines.extend(
            unrun.map(|call| format!("⚠️ {} was not run: the answer was cut off.", named(Some(&call.name)))),
        );
    }
    if lines.is_empty() { String::from("⚠️ The run was ended.") } else { lines.join("\n") }
}

/// Returns the closing sentence of a run that the model itself ended.
fn finish_sentence(call: &Call, text: &str) -> String {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let summary = arguments["summary"].as_str().map(str::trim).filter(|summary| !summary.is_empty());
    let text = Some(text.trim()).filter(|text| !text.is_empty());
    summary.or(text).unwrap_or("Done.").to_owned()
}
