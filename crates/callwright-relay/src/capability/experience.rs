//! The experience with a model at an upstream, good and bad. It outweighs every announcement, for as long as it holds.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::strict::StrictShown;

/// An observation from an answer. Times are in seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Experience {
    /// The observation.
    pub evidence: Evidence,
    /// The upstream's words, or the figures that show it; empty if the evidence says all.
    pub words: Arc<str>,
    /// The time at which it was made.
    pub since: u64,
    /// The time until which it counts.
    pub until: u64,
}

/// An observation about the tools of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// A native call came.
    Called,
    /// By the tokens of its prompt, the tools were in it.
    Present,
    /// The upstream refused what it was sent.
    Refused,
    /// A request of our own demanded a call, and none came. A client's request shows nothing yet: its words may have forbidden
    /// the call.
    Ignored,
    /// By the tokens of its prompt, the tools were not in it.
    Dropped,
}

impl Evidence {
    /// Returns whether it shows that the model takes tools.
    pub fn takes_tools(self) -> bool {
        match self {
            Evidence::Called | Evidence::Present => true,
            Evidence::Refused | Evidence::Ignored | Evidence::Dropped => false,
        }
    }

    /// Returns whether it counts more than `later`. A native call outweighs counts and single answers without a call, but no
    /// refusal.
    pub(super) fn outweighs(self, later: Evidence) -> bool {
        self == Evidence::Called && !matches!(later, Evidence::Called | Evidence::Refused)
    }
}

/// Tells whether native calls keep to their schemas if the tool is `strict`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StrictHeld {
    /// Too few have come to tell.
    #[default]
    Unknown,
    /// Many have, and all of them did.
    Yes,
    /// One did not: the server takes the word and ignores it.
    Ignored,
}

impl StrictHeld {
    /// Returns its name: `unknown`, `yes`, `ignored`.
    pub fn name(self) -> &'static str {
        match self {
            StrictHeld::Unknown => "unknown",
            StrictHeld::Yes => "yes",
            StrictHeld::Ignored => "ignored",
        }
    }
}

/// The calls of tools for which `strict` was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct StrictSeen {
    /// The number of calls that kept to their schemas.
    kept: u32,
    /// The number of calls that did not.
    broken: u32,
    /// The time until which it counts, in seconds since 1970.
    pub(super) until: u64,
}

/// The number of answers with calls as text and none natively.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct CallsInText {
    n: u32,
    /// The time until which it counts, in seconds since 1970.
    pub(super) until: u64,
}

/// This many answers with calls as text show that the server reads none of the model's calls.
const HABIT: u32 = 3;

impl CallsInText {
    /// Returns whether enough of them came.
    pub(super) fn is_habit(self, now: u64) -> bool {
        HABIT <= self.n && now < self.until
    }

    /// Returns whether one more changes nothing.
    pub(super) fn is_known(self, now: u64, ttl: u64) -> bool {
        self.is_habit(now) && now + ttl / 2 < self.until
    }

    /// Adds one answer.
    pub(super) fn with_one(self, now: u64, ttl: u64) -> CallsInText {
        let n = if now < self.until { self.n } else { 0 };
        CallsInText { n: n.saturating_add(1), until: now + ttl }
    }
}

/// This many calls that keep to their schemas show that the server enforces them.
const ENOUGH: u32 = 20;

impl StrictSeen {
    /// Returns the conclusion at this time.
    pub(super) fn held(self, now: u64) -> StrictHeld {
        match self {
            _ if self.until <= now => StrictHeld::Unknown,
            StrictSeen { broken: 1.., .. } => StrictHeld::Ignored,
            StrictSeen { kept: ENOUGH.., .. } => StrictHeld::Yes,
            StrictSeen { .. } => StrictHeld::Unknown,
        }
    }

    /// Returns whether an answer that shows this changes nothing: well-known facts are not written again.
    pub(super) fn has(self, shown: StrictShown, now: u64, ttl: u64) -> bool {
        let is_fresh = now + ttl / 2 < self.until;
        shown.broken == 0 && (shown.kept == 0 || is_fresh && self.held(now) != StrictHeld::Unknown)
    }

    /// Adds the calls of an answer.
    pub(super) fn with(self, shown: StrictShown, now: u64, ttl: u64) -> StrictSeen {
        let before = if self.until <= now { StrictSeen::default() } else { self };
        // One that once ignored it is not to be believed for as long as that counts.
        let until = if before.broken == 0 || 0 < shown.broken { now + ttl } else { before.until };
        StrictSeen {
            kept: before.kept.saturating_add(shown.kept),
            broken: before.broken.saturating_add(shown.broken),
            until,
        }
    }
}

impl fmt::Display for Experience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Experience { evidence, words, .. } = self;
        match evidence {
            Evidence::Called => write!(f, "it made a native call"),
            Evidence::Present => write!(f, "the tools are in its prompt: {words}"),
            Evidence::Refused => write!(f, "the upstream refused: {words}"),
            Evidence::Ignored if words.is_empty() => write!(f, "a call was required, and none came"),
            Evidence::Ignored => write!(f, "a call was required, and none came: {words}"),
            Evidence::Dropped => write!(f, "the upstream dropped the tools: {words}"),
        }
    }
}
