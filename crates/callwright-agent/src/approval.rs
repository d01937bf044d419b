//! Asks the user about one call; the answer is for that call alone.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::rights::Why;
use crate::shown::shown;

/// A question to the user about one call.
///
/// ```
/// use callwright_agent::{ApprovalRequest, Approvals, Why};
///
/// let ask = |arguments: &str| ApprovalRequest::new("runCommand", arguments, "/home/me/site".as_ref(), Why::Destroys);
/// let mut approvals = Approvals::default();
/// approvals.grant(&ask(r#"{"command": "make"}"#));
/// assert!(approvals.covers(&ask(r#"{"command": "make"}"#)));
/// assert!(!approvals.covers(&ask(r#"{"command": "make clean"}"#)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRequest {
    tool: String,
    arguments: String,
    place: PathBuf,
    why: Why,
}

impl ApprovalRequest {
    /// Creates a question about a call of `tool` with exactly these bytes as arguments, in the workspace at `place`.
    pub fn new(tool: &str, arguments: &str, place: &Path, why: Why) -> ApprovalRequest {
        ApprovalRequest {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            place: place.to_owned(),
            why,
        }
    }

    /// Returns the reason for the question.
    pub fn why(&self) -> Why {
        self.why
    }

    /// Returns the tool's name.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the arguments as they would run.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// Returns the fingerprint that the answer is for: a hash of tool, arguments and place.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        for part in
            [self.tool.as_bytes(), self.arguments.as_bytes(), self.place.as_os_str().as_encoded_bytes()]
        {
            // Each part is hashed with its length, so that no part can end in the next one.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Fingerprint(hash.finalize().into())
    }
}

impl fmt::Display for ApprovalRequest {
    /// Writes all that would run, with each character visible.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.to_string_lossy();
        write!(f, "{} {}\nin {}: {}", shown(&self.tool), shown(&self.arguments), shown(&place), self.why)
    }
}

/// The hash of one call in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The approvals that the user gave in this run.
#[derive(Clone, Debug, Default)]
pub struct Approvals(BTreeSet<Fingerprint>);

impl Approvals {
    /// Records that the user approved exactly this call.
    pub fn grant(&mut self, request: &ApprovalRequest) {
        self.0.insert(request.fingerprint());
    }

    /// Returns whether the user approved exactly this call.
    pub fn covers(&self, request: &ApprovalRequest) -> bool {
        self.0.contains(&request.fingerprint())
    }

    /// Takes back an approval that was for one time only. Returns whether there was one.
    pub fn spend(&mut self, request: &ApprovalRequest) -> bool {
        self.0.remove(&request.fingerprint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(tool: &str, arguments: &str, place: &str) -> ApprovalRequest {
        ApprovalRequest::new(tool, arguments, Path::new(place), Why::Destroys)
    }

    #[test]
    fn an_approval_is_for_these_bytes_in_this_place() {
        let approved = ask("deleteFile", r#"{"path":"a"}"#, "/w");
        let mut approvals = Approvals::default();
        approvals.grant(&approved);
        for other in [
            ask("deleteFile", r#"{"path":"b"}"#, "/w"),
            ask("deleteFile", r#"{"path": "a"}"#, "/w"),
            ask("deleteFile", r#"{"path":"a"}"#, "/w2"),
            ask("deleteFil", r#"e{"path":"a"}"#, "/w"),
        ] {
            assert!(!approvals.covers(&other), "{other}");
        }
        assert!(approvals.spend(&approved) && !approvals.covers(&approved));
    }

    #[test]
    fn all_of_it_is_shown_and_nothing_acts_on_the_terminal() {
        let long = "echo x\n".repeat(10_000);
        let text = ask("runCommand", &format!("{long}\u{1b}[8mrm -rf .\u{202e}"), "/w").to_string();
        assert_eq!(text.matches("echo x").count(), 10_000);
        assert!(
            text.contains("⟨U+001B⟩[8mrm -rf .⟨U+202E⟩") && text.ends_with("in /w: it can change anything")
        );
    }
}
