//! The calls that stand in texts.

use callwright::Verdict;

use super::form::Made;
use crate::api::Surface;
use crate::calls::new_id;
use crate::lane::asking::Lane;
use crate::lane::call::Put;

/// The calls that stand in texts, and the texts as the model wrote them.
#[derive(Debug, Default)]
pub(in crate::lane) struct Found {
    pub(super) calls: Vec<(String, Verdict)>,
    pub(in crate::lane) raw: String,
}

impl Found {
    /// Returns the verdict on the call of this id, if it stands in a text.
    pub(in crate::lane) fn verdict(&self, id: &str) -> Option<&Verdict> {
        self.calls.iter().find(|(own, _)| own == id).map(|(_, verdict)| verdict)
    }

    pub(in crate::lane) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes a call, and returns the form in which it is written.
    pub(super) fn take(&mut self, lane: &Lane, verdict: Verdict) -> Made {
        let id = match lane.surface {
            Surface::Responses => new_id("call_"),
            Surface::Messages | Surface::Chat | Surface::Ollama | Surface::Gemini => new_id("toolu_"),
        };
        let made = match &verdict {
            Verdict::Accepted(accepted) => {
                let (namespace, name, arguments) = match lane.put(accepted) {
                    Put::Call { namespace, name, arguments } => (namespace, name, arguments),
                    Put::Words(_) => (None, accepted.name.clone(), accepted.arguments.clone()),
                };
                Made { id: id.clone(), namespace, name, arguments: Some(arguments) }
            }
            Verdict::Refused(refusal) => {
                let name = refusal.name.clone().unwrap_or_default();
                Made { id: id.clone(), namespace: None, name, arguments: None }
            }
        };
        self.calls.push((id, verdict));
        made
    }
}
