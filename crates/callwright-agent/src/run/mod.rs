//! The loop: the model is asked, its calls run, and their results are the next question, until there is an end.
//!
//! ```text
//! Machine:  next → CallModel │ Ask │ CallTools │ Done      decides; knows no clock, no file, no socket
//! Runner:   asks the model, asks the user, runs the tools; writes down what happened before and after
//! ```
//!
//! The [`Machine`] takes events and returns the next request. The [`Runner`] carries it out, keeps a journal in a
//! session of the store, and informs a [`Watch`]. The journal holds all inputs of the machine, so that it can rebuild
//! the machine of a killed run: see [`Resumed`].
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
