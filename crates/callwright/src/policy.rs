//! The caller's rules: the rungs of the ladder (repair, request again, send the error to the model, refuse), and calls
//! in reasoning.

use callwright_json::{Class, RepairKind};
use callwright_schema::{Coercion, Violation};

use crate::tools::names::Names;
use crate::verdict::{Acceptance, Reason};

/// The rule for a call that is not right as it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Repairs a call with exactly one reading; sends the error to the model otherwise.
    #[default]
    Auto,
    /// Repairs a call with exactly one reading; refuses the rest without another turn of the model.
    Heal,
    /// Teaches: a call that is not well formed always goes back to the model with a diagnosis, even if it could be
    /// repaired.
    Feedback,
    /// Accepts only calls that are right as they were written, and checked whole; refuses all else.
    Strict,
}

impl Policy {
    /// All policies.
    pub const ALL: [Policy; 4] = [Policy::Auto, Policy::Heal, Policy::Feedback, Policy::Strict];

    /// Returns its name in configuration: `auto`, `heal`, `feedback`, `strict`.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Auto => "auto",
            Policy::Heal => "heal",
            Policy::Feedback => "feedback",
            Policy::Strict => "strict",
        }
    }

    /// Returns the policy of this name.
    pub fn named(name: &str) -> Option<Policy> {
        Policy::ALL.into_iter().find(|p| p.name() == name)
    }

    /// Returns whether `call` may run under this policy. If not, the caller refuses it as unreadable, with its payload
    /// as the block.
    ///
    /// The surroundings of a payload (prose, a fence, a think block, tags) are not a fault of the payload.
    pub fn admits(self, call: &Acceptance) -> bool {
        match self {
            Policy::Auto | Policy::Heal => true,
            Policy::Feedback => is_well_formed(call),
            Policy::Strict => is_well_formed(call) && !call.unchecked,
        }
    }

    /// Returns whether a refused call goes back to the model, for another turn.
    pub fn feeds_back(self) -> bool {
        match self {
            Policy::Auto | Policy::Feedback => true,
            Policy::Heal | Policy::Strict => false,
        }
    }
}

/// The treatment of a call in a model's reasoning.
///
/// Only a dialect's own marks make a call there; any other text is a thought under each of these. Reasoning that the
/// upstream keeps apart ([`Delta::Reasoning`](crate::Delta::Reasoning)) is a block like one in the text: closed if text
/// or a native call follows, unclosed otherwise.
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
    /// The call is a thought.
    Ignore,
    /// The call is a thought, unless the block is never closed, the answer was not cut off, and the call ends the
    /// block. Such a model forgot to end its thought.
    #[default]
    Unclosed,
    /// The call is like any other.
    Accept,
}

impl CallsInReasoning {
    /// Returns its name in configuration: `ignore`, `unclosed`, `accept`.
    pub fn name(self) -> &'static str {
        match self {
            CallsInReasoning::Ignore => "ignore",
            CallsInReasoning::Unclosed => "unclosed",
            CallsInReasoning::Accept => "accept",
        }
    }

    /// Returns the treatment of this name.
    pub fn named(name: &str) -> Option<CallsInReasoning> {
        [CallsInReasoning::Ignore, CallsInReasoning::Unclosed, CallsInReasoning::Accept]
            .into_iter()
            .find(|calls| calls.name() == name)
    }
}

/// The rules by which a scanner accepts the calls that it can read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    pub(crate) policy: Policy,
    /// Calls with an open end are refused.
    pub(crate) doubts_open_ends: bool,
}

impl Admission {
    /// Returns the reason for which `call` may not pass, if there is one. `names` are those of the declared tools.
    pub(crate) fn objection(self, call: &Acceptance, names: &Names<'_>) -> Option<Reason> {
        match call.open_end && self.doubts_open_ends {
            _ if !self.policy.admits(call) => Some(fault(call, names)),
            true => Some(Reason::OpenEnd(Box::new(call.clone()))),
            false => None,
        }
    }
}

/// Returns the fault of a call that is not well formed. A readable call with another spelling is not unreadable.
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

/// Returns the fault of arguments that the check could not cover.
fn unchecked() -> Violation {
    let message = "the arguments take more work to hold against the schema than is done: write simpler ones";
    Violation { pointer: String::new(), keyword: "schema", message: message.to_owned() }
}

fn is_well_formed(call: &Acceptance) -> bool {
    // `f(a='x')` is well formed where calls are expressions: its conversion into JSON is lossless.
    let is_expression = call.repairs.iter().any(|r| r.kind == RepairKind::SwapSyntax);
    let passes =
        |kind: RepairKind| is_surrounding(kind) || (is_expression && kind.class() != Class::Inferred);
    call.renamed_from.is_none() && call.coercions.is_empty() && call.repairs.iter().all(|r| passes(r.kind))
}

/// Returns whether a repair of this kind only removes the surroundings of a payload.
pub(crate) fn is_surrounding(kind: RepairKind) -> bool {
    matches!(
        kind,
        RepairKind::DropProse | RepairKind::DropFence | RepairKind::DropThink | RepairKind::DropTag
    )
}
