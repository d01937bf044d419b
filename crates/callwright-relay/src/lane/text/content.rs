//! JSON that a request asks for, in the text of a lane's answer: it is held to its schema, and repaired where it has one reading.

use std::collections::BTreeMap;

use callwright::Policy;

use crate::followup;
use crate::lane::asking::Lane;
use crate::record::TurnEnd;
use crate::target::Target;
use crate::turn::content::Mended;

/// What a text that has to be JSON comes to.
pub(in crate::lane) struct Content {
    pub(in crate::lane) end: TurnEnd,
    pub(in crate::lane) repairs: BTreeMap<&'static str, usize>,
    /// What stands in its place; none where it stays.
    pub(super) put: Option<String>,
}

impl Lane {
    /// Does a text of an answer of `target` have to be JSON?
    pub(super) fn wants_json(&self, target: &Target) -> bool {
        self.content.is_some() && target.candidate.heals_text()
    }

    /// What `text` comes to, which ended for this reason. What stays wrong is said to be, behind it, unless its end says so.
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
