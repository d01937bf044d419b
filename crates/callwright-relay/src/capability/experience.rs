//! What answers have shown of a model at an upstream, good and bad. It counts more than anything that is announced,
//! and no longer than it holds.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Something that an answer has shown. Times are in seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Experience {
    /// What was seen.
    pub evidence: Evidence,
    /// The upstream's words, or the figures that show it; empty where the evidence says all.
    pub words: Arc<str>,
    /// When it was seen.
    pub since: u64,
    /// Until when it counts.
    pub until: u64,
}

/// What was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// A native call came.
    Called,
    /// By the tokens of its prompt, the tools were in it.
    Present,
    /// The upstream refused what it was sent.
    Refused,
    /// A request of our own demanded a call, and none came. A client's shows nothing yet: it may have said in words that it
    /// wants none.
    Ignored,
    /// By the tokens of its prompt, the tools were not in it.
    Dropped,
}

impl Evidence {
    /// Does it show that the model takes tools?
    pub fn takes_tools(self) -> bool {
        match self {
            Evidence::Called | Evidence::Present => true,
            Evidence::Refused | Evidence::Ignored | Evidence::Dropped => false,
        }
    }

    /// Does it stand against `later`, while it counts? No count and no single answer without a call outweighs a native
    /// call; a refusal does.
    pub(super) fn outweighs(self, later: Evidence) -> bool {
        self == Evidence::Called && !matches!(later, Evidence::Called | Evidence::Refused)
    }
}

impl fmt::Display for Experience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Experience { evidence, words, .. } = self;
        match evidence {
            Evidence::Called => write!(f, "it made a native call"),
            Evidence::Present => write!(f, "the tools are in its prompt: {words}"),
            Evidence::Refused => write!(f, "the upstream refused: {words}"),
            Evidence::Ignored => write!(f, "a call was required, and none came"),
            Evidence::Dropped => write!(f, "the upstream dropped the tools: {words}"),
        }
    }
}
