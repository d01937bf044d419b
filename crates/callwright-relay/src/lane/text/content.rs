//! JSON that a request asks for, in the text of a lane's answer: it is held to its schema, and repaired if it has one reading.

use std::collections::BTreeMap;

use callwright::Policy;

use crate::followup;
use crate::lane::asking::Lane;
use crate::record::TurnEnd;
use crate::target::Target;
use crate::turn::content::Mended;

/// The outcome of a text that has to be JSON.
pub(in crate::lane) struct Content {
    pub(in crate::lane) end: TurnEnd,
    pub(in crate::lane) repairs: BTreeMap<&'static str, usize>,
    /// The replacement for the text; none if it stays.
    pub(super) put: Option<String>,
}

impl Lane {
    /// Returns whether a text of an answer of `target` has to be JSON.
    pub(super) fn wants_json(&self, target: &Target) -> bool {
        self.content.is_some() && target.candidate.heals_text()
    }

    /// Checks `text`, which ended for this `reason`. A sentence behind it says that it is wrong, unless its end says so.
    pub(super) async fn content(&self, text: &str, reason: Option<&str>) -> Option<Content> {
        let check = self.content.as_ref()?;
        Some(match check.read_by(&self.relay.readers, text, reason).await {
            Ok(None) => return None,
            Ok(Some(Mended { text, repairs })) => {
                Content { end: TurnEnd::Repaired, repairs, put: Some(text) }
            }
            Err(refusal) => {
                let says_so = reason == Some("length") || self.policy == Policy::Strict;
                let told = || format!("{text}\n\n⚠️ {}", followup::content_fault(&refusal));
                Content { end: TurnEnd::Invalid, repairs: BTreeMap::new(), put: (!says_so).then(told) }
            }
        })
    }
}
