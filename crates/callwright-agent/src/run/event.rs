//! Reports the events of a run as they happen.

use serde::Serialize;

use super::stop::{Account, Ended};
use crate::rights::Why;

/// A watcher of all events of a run, in order. The run's own task calls it, so long work belongs elsewhere.
pub trait Watch: Send + Sync {
    /// Receives one event.
    fn event(&self, event: &Event);
}

/// A watcher that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Watch for Nobody {
    fn event(&self, _event: &Event) {}
}

/// An event of a run. As JSON it is an object with its name under `event`.
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
        /// An earlier run goes on.
        is_resumed: bool,
    },
    /// The model is asked.
    Asking {
        /// The turn, from 1.
        turn: u32,
    },
    /// Older parts of the conversation were left out.
    Compacted,
    /// The upstream failed, or did not give the model its tools, and is asked again: the answer so far does not count.
    Retried {
        /// The reason.
        why: String,
    },
    /// A piece of the model's output, with the markup of calls.
    Raw {
        /// The piece.
        text: String,
    },
    /// A piece of the model's words, without its calls.
    Text {
        /// The piece.
        text: String,
    },
    /// A piece of the model's reasoning.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// The model has answered.
    Answered {
        /// The turn.
        turn: u32,
        /// The model's words.
        text: String,
        /// The number of right calls.
        calls: usize,
        /// The number of right calls in its text.
        prompt_based: usize,
    },
    /// A call was repaired before it ran.
    Repaired {
        /// The call's id.
        id: String,
        /// The tool.
        tool: String,
        /// The name that the model wrote, if that was another one.
        renamed_from: Option<String>,
        /// The repairs, by the kinds' names.
        repairs: Vec<String>,
        /// The class of the worst repair: `R1`, `R2`.
        class: String,
    },
    /// A call was not right, and does not run.
    Invalid {
        /// The turn.
        turn: u32,
        /// The call's id, if the call is native.
        id: Option<String>,
        /// The tool that it names.
        tool: Option<String>,
        /// The stable name of the error.
        code: String,
        /// The error, in several lines.
        error: String,
        /// The model gets the error.
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
        /// The reason for the question.
        why: Why,
    },
    /// The user has said yes or no.
    Approved {
        /// The call's id.
        id: String,
        /// The user said yes.
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
        /// The result as the model reads it.
        result: String,
        /// The result is an error.
        is_error: bool,
        /// The seconds that the call took.
        seconds: f64,
    },
    /// A call had begun when the run was killed, so its outcome is unknown. It does not run again.
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
    /// The run cannot go on until somebody acts. It can be resumed.
    Blocked {
        /// The reason.
        sentence: String,
    },
    /// The run is over.
    Ended {
        /// The end of the run.
        #[serde(flatten)]
        ended: Ended,
        /// The costs of the run.
        spent: Account,
    },
}

/// A turn that is over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Its number, from 1.
    pub turn: u32,
    /// The model said something besides its calls.
    pub has_text: bool,
    /// The reason why the model stopped.
    pub finish_reason: Option<String>,
    /// The costs of the turn.
    pub spent: Account,
    /// Its calls, right or not.
    pub calls: Vec<StepCall>,
}

/// A call of a turn that is over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepCall {
    /// Its id, where it has one.
    pub id: Option<String>,
    /// The tool, as far as it can be read.
    pub tool: Option<String>,
    /// The call was not right, and did not run.
    pub invalid: bool,
}
