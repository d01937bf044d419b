//! Asks somebody whether a call may run.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::approval::ApprovalRequest;

/// Approves or refuses a call after seeing all of it.
pub trait Approver: Send + Sync {
    /// Answers one question.
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> Approving<'a>;
}

/// An answer that may take a person's time.
pub type Approving<'a> = Pin<Box<dyn Future<Output = Approval> + Send + 'a>>;

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Approval {
    /// The call may run, this time.
    Once,
    /// The call may run, and so may every call in this run that is the same to the byte, in the same place.
    Always,
    /// The call may not run. The model learns that.
    No,
    /// There is nobody to ask: the run is blocked, and can be resumed.
    Nobody,
}

/// An approver that refuses everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Denying;

impl Approver for Denying {
    fn approve<'a>(&'a self, _request: &'a ApprovalRequest) -> Approving<'a> {
        Box::pin(std::future::ready(Approval::No))
    }
}

/// An approver that answers [`Approval::Nobody`], so that a run that must ask is blocked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unattended;

impl Approver for Unattended {
    fn approve<'a>(&'a self, _request: &'a ApprovalRequest) -> Approving<'a> {
        Box::pin(std::future::ready(Approval::Nobody))
    }
}

impl fmt::Debug for dyn Approver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Approver")
    }
}
