//! What a caller allows: which rungs of the ladder (repair, request again, send the error to the model, refuse), and calls in reasoning.

use callwright_json::{Class, RepairKind};
use callwright_schema::{Coercion, Violation};

use crate::tools::names::Names;
use crate::verdict::{Acceptance, Reason};

/// What may be done about a call that is not right as it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Repair where there is exactly one reading, send the error to the model where there is not.
    #[default]
    Auto,
    /// Repair where there is exactly one reading; refuse the rest without another turn of the model.
    Heal,
    /// Teach: a call that is not well formed always goes back to the model with a diagnosis, also where it
    /// could be repaired.
    Feedback,
    /// Only calls that are right as they were written, and checked whole; all else is refused.
    Strict,
}

impl Policy {
    /// All of them.
    pub const ALL: [Policy; 4] = [Policy::Auto, Policy::Heal, Policy::Feedback, Policy::Strict];

    /// Its name in configuration: `auto`, `heal`, `feedback`, `strict`.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Auto => "auto",
            Policy::Heal => "heal",
            Policy::Feedback => "feedback",
            Policy::Strict => "strict",
        }
    }

    /// The policy of this name.
    pub fn named(name: &str) -> Option<Policy> {
        Policy::ALL.into_iter().find(|p| p.name() == name)
    }

    /// May `call` run under this policy? If not, it is to be refused as unreadable, with its payload as the
    /// block.
    ///
    /// What stands around a payload (prose, a fence, a think block, tags) is no fault of the payload.
    pub fn admits(self, call: &Acceptance) -> bool {
        match self {
            Policy::Auto | Policy::Heal => true,
            Policy::Feedback => is_well_formed(call),
            Policy::Strict => is_well_formed(call) && !call.unchecked,
        }
    }

    /// Does a refused call go back to the model, for another turn?
    pub fn feeds_back(self) -> bool {
        match self {
            Policy::Auto | Policy::Feedback => true,
            Policy::Heal | Policy::Strict => false,
        }
    }
}

/// What becomes of a call that stands in a model's reasoning.
///
/// Only a dialect's own marks make a call there; what reads like one otherwise is a thought under any of these.
/// Reasoning that the upstream keeps apart ([`Delta::Reasoning`](crate::Delta::Reasoning)) is a block like one in the text:
/// closed if text or a native call follows, unclosed if nothing does.
///
/// ```
/// use callwright::{CallsInReasoning, Context, ToolSet, parse};
///
/// let tools = ToolSet::from_json(r#"[{"name": "ping"}]"#)?;
/// let text = "<think>So: <tool_call>{\"name\": \"ping\"}</tool_call></think>Hello";
/// let context = Context { calls_in_reasoning: CallsInReasoning::Accept, ..Context::default() };
/// assert_eq!(parse(&tools, text, &[], &Context::default()).calls().count(), 0);
/// assert_eq!(parse(&tools, text, &[], &context).calls().count(), 1);
/// # Ok::<(), callwright::ToolSetError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallsInReasoning {
    /// It is a thought.
    Ignore,
    /// It is a thought, but for one case: the block is never closed, the answer was not cut off, and the call is the
    /// last thing in it. Such a model forgot to say that it had thought enough.
    #[default]
    Unclosed,
    /// It is a call like any other.
    Accept,
}

impl CallsInReasoning {
    /// Its name in configuration: `ignore`, `unclosed`, `accept`.
    pub fn name(self) -> &'static str {
        match self {
            CallsInReasoning::Ignore => "ignore",
            CallsInReasoning::Unclosed => "unclosed",
            CallsInReasoning::Accept => "accept",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<CallsInReasoning> {
        [CallsInReasoning::Ignore, CallsInReasoning::Unclosed, CallsInReasoning::Accept]
            .into_iter()
            .find(|calls| calls.name() == name)
    }
}

/// What a scanner lets pass of the calls that it can read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    pub(crate) policy: Policy,
    /// Are calls with an open end refused?
    pub(crate) doubts_open_ends: bool,
}

impl Admission {
    /// Why `call` may not pass, if so. `names` are those of the declared tools.
    pub(crate) fn objection(self, call: &Acceptance, names: &Names<'_>) -> Option<Reason> {
        match call.open_end && self.doubts_open_ends {
            _ if !self.policy.admits(call) => Some(fault(call, names)),
            true => Some(Reason::OpenEnd(Box::new(call.clone()))),
            false => None,
        }
    }
}

/// What is wrong with a call that is not well formed. What can be read and was spelt otherwise is not unreadable.
fn fault(call: &Acceptance, names: &Names<'_>) -> Reason {
    let own = Acceptance { renamed_from: None, coercions: Vec::new(), ..call.clone() };
    match &call.renamed_from {
        _ if !is_well_formed(&own) => Reason::Unreadable(Vec::new()),
        Some(_) => {
            let declared = names.tools().iter().map(|tool| tool.name().to_owned()).collect();
            Reason::UnknownTool { nearest: vec![call.name.clone()], declared }
        }
        None if call.coercions.is_empty() => Reason::Invalid(vec![unchecked()]),
        None => Reason::Invalid(call.coercions.iter().map(Coercion::violation).collect()),
    }
}

/// What is wrong with arguments of which nobody can say that they are right.
fn unchecked() -> Violation {
    let message = "the arguments take more work to hold against the schema than is done: write simpler ones";
    Violation { pointer: String::new(), keyword: "schema", message: message.to_owned() }
}

fn is_well_formed(call: &Acceptance) -> bool {
    // f(a='x') is well formed where calls are written as expressions: what turns it into JSON is lossless.
    let is_expression = call.repairs.iter().any(|r| r.kind == RepairKind::SwapSyntax);
    let passes =
        |kind: RepairKind| is_surrounding(kind) || (is_expression && kind.class() != Class::Inferred);
    call.renamed_from.is_none() && call.coercions.is_empty() && call.repairs.iter().all(|r| passes(r.kind))
}

/// Does a repair of this kind only take away what stands around a payload?
pub(crate) fn is_surrounding(kind: RepairKind) -> bool {
    matches!(
        kind,
        RepairKind::DropProse | RepairKind::DropFence | RepairKind::DropThink | RepairKind::DropTag
    )
}
