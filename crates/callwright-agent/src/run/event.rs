//! What happens in a run, told as it happens.

use serde::Serialize;

use super::stop::{Account, Ended};
use crate::rights::Why;

/// Is told of everything that happens in a run, in order. It is called on the run's own task: what takes long belongs
/// elsewhere.
pub trait Watch: Send + Sync {
    /// Something has happened.
    fn event(&self, event: &Event);
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Watch for Nobody {
    fn event(&self, _event: &Event) {}
}

/// Something that has happened. As JSON it is an object with its name under `event`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A run begins, or goes on.
    Began {
        /// The session that keeps it, if one does.
        session: Option<String>,
        /// The model that is asked.
        model: Option<String>,
        /// Does an earlier run go on?
        is_resumed: bool,
    },
    /// The model is asked.
    Asking {
        /// The turn, from 1.
        turn: u32,
    },
    /// Older parts of the conversation were left out.
    Compacted,
    /// The upstream failed, or did not give the model its tools, and is asked once more: what came of the answer so far
    /// counts no more.
    Retried {
        /// Why.
        why: String,
    },
    /// A piece of what the model writes, markup of calls included.
    Raw {
        /// The piece.
        text: String,
    },
    /// A piece of what it says, without its calls.
    Text {
        /// The piece.
        text: String,
    },
    /// A piece of what it thinks.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// The model has answered.
    Answered {
        /// The turn.
        turn: u32,
        /// What it said.
        text: String,
        /// How many right calls it made, and how many of them in its text.
        calls: usize,
        /// How many of the calls stood in its text.
        prompt_based: usize,
    },
    /// A call was repaired before it ran.
    Repaired {
        /// The call's id.
        id: String,
        /// The tool.
        tool: String,
        /// The name that the model wrote, where that was another one.
        renamed_from: Option<String>,
        /// What was done, by the kinds' names.
        repairs: Vec<String>,
        /// The class of the worst of it: `R1`, `R2`.
        class: String,
    },
    /// A call was not right, and does not run.
    Invalid {
        /// The turn.
        turn: u32,
        /// The call's id, where it was made natively.
        id: Option<String>,
        /// The tool that it names.
        tool: Option<String>,
        /// The stable name of what is wrong.
        code: String,
        /// What is wrong, in several lines.
        error: String,
        /// Does the model get to see it?
        is_fed_back: bool,
    },
    /// The user is asked about a call.
    ApprovalAsked {
        /// The call's id.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments as they would run.
        arguments: String,
        /// Why it is asked.
        why: Why,
    },
    /// The user has said yes or no.
    Approved {
        /// The call's id.
        id: String,
        /// Which.
        yes: bool,
    },
    /// A call begins.
    CallStarted {
        /// Its id.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments.
        arguments: String,
    },
    /// A call has its result.
    CallFinished {
        /// Its id.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments.
        arguments: String,
        /// What the model reads.
        result: String,
        /// Is that an error?
        is_error: bool,
        /// How long it took.
        seconds: f64,
    },
    /// A call had begun when the run was killed: whether it was done is not known. It is not run again.
    OutcomeUnknown {
        /// Its id.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments.
        arguments: String,
    },
    /// A turn is over: all its calls have results.
    StepFinished(Step),
    /// The run cannot go on until somebody does something. It can be resumed.
    Blocked {
        /// Why.
        sentence: String,
    },
    /// The run is over.
    Ended {
        /// How.
        #[serde(flatten)]
        ended: Ended,
        /// What it took.
        spent: Account,
    },
}

/// A turn that is over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Its number, from 1.
    pub turn: u32,
    /// Did the model say anything besides its calls?
    pub has_text: bool,
    /// Why it stopped.
    pub finish_reason: Option<String>,
    /// What the turn took.
    pub spent: Account,
    /// Its calls, right or not.
    pub calls: Vec<StepCall>,
}

/// A call of a turn that is over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepCall {
    /// Its id, where it has one.
    pub id: Option<String>,
    /// The tool, as far as that can be read.
    pub tool: Option<String>,
    /// Was it no right call? Then it was not run.
    pub invalid: bool,
}
