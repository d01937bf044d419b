//! Holds one answer of a model in the machine's form: its words, its calls, and the errors of faulty calls.

use callwright::{Acceptance, Outcome, Refusal, Verdict, calls_or_error};
use callwright_relay::{Answer, compared_arguments};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::stop::Account;
use crate::arguments::Arguments;
use crate::rights::{Beside, Repaired};
use crate::tool::{Effect, Kind};
use crate::toolbox::Toolbox;

/// One answer of a model. Serialisable, so that a journal can hold it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelTurn {
    /// The model's words, without its calls.
    pub text: String,
    /// The model's output, with markup.
    pub raw: String,
    /// The right and the faulty calls, in order.
    pub parts: Vec<Part>,
    /// The tools whose calls the text shows without making them.
    pub shown: Vec<String>,
    /// The answer ended before the model had said all.
    pub is_cut: bool,
    /// The errors of the calls of each answer that this turn took, in the form in which equal errors are counted.
    pub errors: Vec<Vec<String>>,
    /// The error that goes to the model as a message of the user: about calls in its text.
    pub user_message: Option<String>,
    /// The reason why the model stopped, by the upstream.
    pub finish_reason: Option<String>,
    /// The costs of the answer.
    pub spent: Account,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A right call.
    Call(Call),
    /// A faulty call.
    Wrong(Wrong),
}

/// A right call: a declared tool, and arguments that fit its schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The call's id, which no other call of the run has.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The JSON text of an object.
    pub arguments: String,
    /// The form in which calls are compared: [`callwright_relay::compared_arguments`]; empty in the records of an
    /// earlier version.
    #[serde(default)]
    pub compared: String,
    /// The repairs before it could be read.
    pub repaired: Repaired,
    /// Its place beside the model's words.
    #[serde(default)]
    pub beside: Beside,
    /// The most that it may change.
    pub effect: Effect,
    /// A second equal call changes nothing more.
    pub idempotent: bool,
    /// The run ends with this call.
    pub ends_run: bool,
    /// The call stood in the text, and was not native.
    pub is_text: bool,
    /// One line for the model about what was repaired.
    pub note: Option<String>,
    /// The name that the model wrote, if that was another one.
    pub renamed_from: Option<String>,
    /// The repairs, by the kinds' names.
    pub repairs: Vec<String>,
}

/// A faulty call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wrong {
    /// The call's id, if it was native.
    pub id: Option<String>,
    /// The tool that it names, as far as that can be read.
    pub name: Option<String>,
    /// The payload as the model wrote it.
    pub block: String,
    /// The call in the text, with markup; empty for a native call.
    pub markup: String,
    /// The stable name of the error: `unreadable`, `truncated`, `unknown-tool`, ….
    pub code: String,
    /// The error for a person and for the log: several lines, without a frame.
    pub error: String,
    /// The error in one line.
    pub message: String,
    /// The content of the message that answers its id.
    pub result: String,
}

impl ModelTurn {
    /// Returns the right calls.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            Part::Wrong(_) => None,
        })
    }

    /// Returns the faulty calls.
    pub fn wrongs(&self) -> impl Iterator<Item = &Wrong> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(_) => None,
            Part::Wrong(wrong) => Some(wrong),
        })
    }

    /// Makes a turn of an answer, with the toolbox's knowledge of the tools.
    pub fn of(answer: &Answer, toolbox: &Toolbox) -> ModelTurn {
        let parts = answer.verdicts.iter().map(|verdict| match verdict {
            Verdict::Accepted(call) => Part::Call(Call::of(call, toolbox)),
            Verdict::Refused(refusal) => Part::Wrong(Wrong::of(refusal, &answer.raw)),
        });
        let is_in_text = |verdict: &&Verdict| match verdict {
            Verdict::Accepted(_) => true,
            Verdict::Refused(refusal) => !is_native(refusal),
        };
        let in_text = Outcome {
            verdicts: answer.verdicts.iter().filter(is_in_text).cloned().collect(),
            ..Outcome::default()
        };
        let usage = answer.usage();
        ModelTurn {
            text: answer.text.clone(),
            raw: answer.raw.clone(),
            parts: parts.collect(),
            shown: answer.shown.clone(),
            is_cut: answer.is_cut(),
            errors: answer.errors.clone(),
            user_message: calls_or_error(in_text).1.map(|error| error.user_message()),
            finish_reason: answer.finish_reason.clone(),
            spent: Account {
                prompt_tokens: usage.prompt,
                completion_tokens: usage.completion,
                requests: answer.record.attempts.len() as u64,
                ..Account::default()
            },
        }
    }
}

impl Call {
    /// Returns the arguments in the form in which calls are compared.
    pub(super) fn compared(&self) -> &str {
        if self.compared.is_empty() { &self.arguments } else { &self.compared }
    }

    /// Returns whether anything in it was repaired, wrapping aside.
    pub fn is_repaired(&self) -> bool {
        self.note.is_some()
    }

    fn of(call: &Acceptance, toolbox: &Toolbox) -> Call {
        let tool = toolbox.get(&call.name);
        let kind = match (tool, Arguments::read(&call.arguments)) {
            (Some(tool), Ok(arguments)) => tool.kind_of(&arguments),
            _ => Kind::DESTRUCTIVE,
        };
        let known_as = tool.map(|tool| tool.known_as()).unwrap_or_default();
        // A known name of the tool counts as its own.
        let inferred = Acceptance {
            renamed_from: call.renamed_from.clone().filter(|name| !known_as.has(name)),
            coercions: call.coercions.iter().filter(|c| !known_as.renames(c)).cloned().collect(),
            ..call.clone()
        };
        let repairs = call.repairs.iter().map(|repair| repair.kind.code().to_owned());
        let coercions = call.coercions.iter().map(|coercion| format!("coerce {}", coercion.pointer));
        Call {
            id: call.id.clone().unwrap_or_default(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            compared: compared_arguments(
                &call.arguments,
                toolbox.tool_set().get(&call.name).map(|tool| tool.schema()),
            ),
            repaired: Repaired::from(&inferred),
            beside: Beside::from(call),
            effect: kind.effect,
            idempotent: kind.idempotent,
            ends_run: tool.is_some_and(|tool| tool.ends_run()),
            is_text: call.dialect != NATIVE,
            note: call.note(),
            renamed_from: call.renamed_from.clone(),
            repairs: repairs.chain(coercions).collect(),
        }
    }
}

impl Wrong {
    fn of(refusal: &Refusal, raw: &str) -> Wrong {
        let feedback = refusal.feedback();
        let is_native = is_native(refusal);
        // A call that was asked for again has its place in another text.
        let written = raw.get(refusal.span.range()).filter(|text| text.contains(&refusal.block));
        let markup = if is_native { "" } else { written.unwrap_or(&refusal.block) };
        Wrong {
            id: refusal.id.clone().filter(|_| is_native),
            name: refusal.name.clone(),
            block: refusal.block.clone(),
            markup: markup.to_owned(),
            code: feedback.code.to_owned(),
            error: feedback.error(),
            message: feedback.message.clone(),
            result: feedback.tool_result(),
        }
    }

    /// Returns whether the call was native: then its answer goes under its id.
    pub fn is_native(&self) -> bool {
        self.markup.is_empty()
    }
}

/// Returns the first bytes of a hash.
pub(super) fn sum(text: &str) -> u64 {
    let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    hash.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

const NATIVE: &str = "native";

fn is_native(refusal: &Refusal) -> bool {
    refusal.dialect == NATIVE
}
