//! A call of an answer, as far as it has come.

use callwright::{Refusal, Verdict};

use super::tools::Tools;

/// A call, as far as it has come.
#[derive(Debug)]
pub(crate) struct Call {
    /// Where it stands in the answer: the number of its block, or of its item.
    pub(super) at: u64,
    pub(super) head: CallHead,
    /// Its arguments, as the model wrote them.
    pub(super) arguments: String,
    pub(super) is_whole: bool,
    /// It stood in a text, and has its verdict.
    pub(super) is_found: bool,
    /// What of them went out before its verdict.
    pub(super) sent: String,
    /// What it came to; none as long as it is not whole.
    pub(super) verdict: Option<Verdict>,
    /// Why it would be refused, had it not begun to go out: it passes as the model wrote it.
    pub(super) unchecked: Option<Refusal>,
    /// What stands in its place; none where it passes.
    pub(super) put: Option<Put>,
}

/// What begins a call.
#[derive(Clone, Debug)]
pub(crate) struct CallHead {
    pub(crate) id: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    /// Arguments that came at once with it.
    pub(crate) arguments: String,
    /// They are a text where the API has an object, or an object where it has a text.
    pub(crate) is_misspelt: bool,
}

/// What stands in the place of a call that does not pass.
#[derive(Clone, Debug)]
pub(crate) enum Put {
    /// The same call, repaired.
    Call { namespace: Option<String>, name: String, arguments: String },
    /// Why it is none.
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

    /// The name that the engine knows it by.
    pub(super) fn flat(&self, tools: &Tools) -> String {
        let CallHead { namespace, name, .. } = &self.head;
        match (tools.table.declared(namespace.as_deref(), name), namespace) {
            (Some(declared), _) => declared.to_owned(),
            // What it stands for is for the engine to say.
            (None, Some(namespace)) => format!("{namespace}.{name}"),
            (None, None) => name.clone(),
        }
    }

    /// Its arguments: those that came piece by piece, else those that came with its name.
    pub(super) fn text(&self) -> &str {
        if self.arguments.is_empty() { &self.head.arguments } else { &self.arguments }
    }

    /// Does it pass as it came?
    pub(super) fn is_right(&self, tools: &Tools) -> bool {
        let Some(Verdict::Accepted(accepted)) = &self.verdict else { return false };
        !self.head.is_misspelt && accepted.name == self.flat(tools) && accepted.arguments == self.text()
    }
}
