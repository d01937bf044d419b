//! Who is asked whether a call may run.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::approval::ApprovalRequest;

/// Says yes or no to a call, having seen all of it.
pub trait Approver: Send + Sync {
    /// The answer to one question.
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> Approving<'a>;
}

/// An answer that may take a person's time.
pub type Approving<'a> = Pin<Box<dyn Future<Output = Approval> + Send + 'a>>;

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Approval {
    /// It may run, this time.
    Once,
    /// It may run, and so may every call in this run that is the same to the byte, in the same place.
    Always,
    /// It may not run. The model is told.
    No,
    /// There is nobody to ask: the run is blocked, and can be resumed.
    Nobody,
}

/// Says no to everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Denying;

impl Approver for Denying {
    fn approve<'a>(&'a self, _request: &'a ApprovalRequest) -> Approving<'a> {
        Box::pin(std::future::ready(Approval::No))
    }
}

/// Nobody is there: a run that must ask is blocked.
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
