//! The loop: a model is asked, its calls are run, their results are the next question, until there is an end.
//!
//! ```text
//! Machine:  next → CallModel │ Ask │ CallTools │ Done      decides; knows no clock, no file, no socket
//! Runner:   asks the model, asks the user, runs the tools; writes down what happened before and after
//! ```
//!
//! The [`Machine`] is fed with what happened, and says what is to happen next. The [`Runner`] does it, keeps a journal in
//! a session of the store, and tells whoever [`Watch`]es. As the journal holds all that the machine was fed with, a run
//! that was killed is the same machine fed once more: see [`Resumed`].
//!
//! The modules stand in reading order.

mod turn;
mod stop;
mod transcript;
mod compaction;
mod breaker;
mod machine;
mod working;
mod settle;
mod event;
mod approver;
mod cancel;
mod journal;
mod resume;
mod builder;
mod driver;
mod tell;

pub use approver::{Approval, Approver, Approving, Denying, Unattended};
pub use breaker::Breaker;
pub use builder::{Outcome, Predicate, RunError, RunnerBuilder};
pub use cancel::Cancel;
pub use compaction::Compaction;
pub use driver::Runner;
pub use event::{Event, Nobody, Step, StepCall, Watch};
pub use journal::Journal;
pub use machine::{Machine, Next, Question, Settings};
pub use resume::{ResumeError, Resumed};
pub use stop::{Account, Budget, End, Ended, Limit, Stop};
pub use transcript::{Flaw, Transcript, flaws};
pub use turn::{Call, ModelTurn, Part, Wrong};
