//! A call of an answer, as far as it has come.

use callwright::{Refusal, Verdict};

use super::tools::Tools;

/// A call, as far as it has come.
#[derive(Debug)]
pub(crate) struct Call {
    /// The call's place in the answer: the number of its block, or of its item.
    pub(super) at: u64,
    pub(super) head: CallHead,
    /// Its arguments, as the model wrote them.
    pub(super) arguments: String,
    pub(super) is_whole: bool,
    /// The call stood in a text, and has its verdict.
    pub(super) is_found: bool,
    /// The part of its arguments that went out before its verdict.
    pub(super) sent: String,
    /// The verdict; none until the call is whole.
    pub(super) verdict: Option<Verdict>,
    /// The refusal that it would get, had it not begun to go out: it passes as the model wrote it.
    pub(super) unchecked: Option<Refusal>,
    /// The replacement for it; none if it passes.
    pub(super) put: Option<Put>,
}

/// The beginning of a call.
#[derive(Clone, Debug)]
pub(crate) struct CallHead {
    pub(crate) id: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    /// Arguments that came at once with its name.
    pub(crate) arguments: String,
    /// The arguments are a text in an API with objects, or an object in an API with texts.
    pub(crate) is_misspelt: bool,
}

/// The replacement for a call that does not pass.
#[derive(Clone, Debug)]
pub(crate) enum Put {
    /// The same call, repaired.
    Call { namespace: Option<String>, name: String, arguments: String },
    /// The reason for its refusal.
    Words(String),
}

impl Call {
    pub(super) fn new(at: u64, head: CallHead) -> Call {
        Call {
            at,
            head,
            arguments: String::new(),
            is_whole: false,
            is_found: false,
            sent: String::new(),
            verdict: None,
            unchecked: None,
            put: None,
        }
    }

    /// Returns the name that the engine knows it by.
    pub(super) fn flat(&self, tools: &Tools) -> String {
        let CallHead { namespace, name, .. } = &self.head;
        match (tools.table.declared(namespace.as_deref(), name), namespace) {
            (Some(declared), _) => declared.to_owned(),
            // What it stands for is for the engine to say.
            (None, Some(namespace)) => format!("{namespace}.{name}"),
            (None, None) => name.clone(),
        }
    }

    /// Returns its arguments: those that came piece by piece, else those that came with its name.
    pub(super) fn text(&self) -> &str {
        if self.arguments.is_empty() { &self.head.arguments } else { &self.arguments }
    }

    /// Returns whether it passes as it came.
    pub(super) fn is_right(&self, tools: &Tools) -> bool {
        let Some(Verdict::Accepted(accepted)) = &self.verdict else { return false };
        !self.head.is_misspelt && accepted.name == self.flat(tools) && accepted.arguments == self.text()
    }
}
