//! A session as one JSON file, to be opened on another machine.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use callwright_value::Value;
use serde::{Deserialize, Serialize};

use crate::clock::{now, rfc3339};
use crate::error::StoreError;
use crate::node::Node;
use crate::session::{Session, Summary};
use crate::store::Store;
use crate::turn::Turn;

/// The version of the form. A later version reads all earlier ones.
pub const DUMP_VERSION: u32 = 1;

/// A session as it stands in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dump {
    /// [`DUMP_VERSION`].
    pub callwright_dump: u32,
    /// The session's name.
    pub session_id: String,
    /// When it was written: `2026-11-22T08:34:56.123Z`.
    pub dumped_at: String,
    /// The number of entries.
    pub entry_count: usize,
    /// The session's line in a list.
    pub session: Summary,
    /// Its turns, in order.
    pub turns: Vec<Turn>,
    /// Its nodes, in order.
    pub entries: Vec<Node>,
    /// Texts that stand in several bodies, by number.
    #[serde(default)]
    pub parts: BTreeMap<i64, String>,
}

/// A text that is not a dump.
#[derive(Debug)]
pub enum DumpError {
    /// It is not JSON, or not of this form.
    Form(serde_json::Error),
    /// It was written by a later version.
    Version(u32),
}

impl Dump {
    /// Of this session, now.
    pub fn of(session: Session) -> Dump {
        let Session { summary, turns, mut nodes, parts } = session;
        // Whoever reads the form knows parts one by one.
        for node in &mut nodes {
            without_sums(&mut node.payload);
            node.body = node.body.as_ref().map(|body| body.unrolled(&parts));
        }
        Dump {
            callwright_dump: DUMP_VERSION,
            session_id: summary.id.clone(),
            dumped_at: rfc3339(now()),
            entry_count: nodes.len(),
            session: summary,
            turns,
            entries: nodes,
            parts,
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// A text that is not a dump, or one of a later version.
    pub fn from_json(text: &str) -> Result<Dump, DumpError> {
        #[derive(Deserialize)]
        struct Version {
            callwright_dump: u32,
        }
        let Version { callwright_dump } = serde_json::from_str(text).map_err(DumpError::Form)?;
        if DUMP_VERSION < callwright_dump {
            return Err(DumpError::Version(callwright_dump));
        }
        serde_json::from_str(text).map_err(DumpError::Form)
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        // All keys are texts, which is all that could fail.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The session.
    pub fn into_session(self) -> Session {
        Session { summary: self.session, turns: self.turns, nodes: self.entries, parts: self.parts }
    }

    /// Writes it into a new file in `dir`, which is made where it is not there; only its owner may read it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, dir: &Path) -> io::Result<PathBuf> {
        std::fs::create_dir_all(dir)?;
        // The session's name is the client's: nothing in it may lead elsewhere.
        let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
        let name: String = self.session_id.chars().take(80).map(safe).collect();
        let at: String = self.dumped_at.chars().filter(char::is_ascii_alphanumeric).collect();
        let mut number = 0;
        loop {
            let more = if number == 0 { String::new() } else { format!("-{number}") };
            let path = dir.join(format!("session-{name}-{at}{more}.json"));
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&path) {
                Ok(mut file) => {
                    file.write_all(self.to_json().as_bytes())?;
                    return Ok(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// Takes out what an earlier version of the agent kept beside the arguments of a call, whose secrets were masked: a hash that
/// anybody can make, and so try out what stood there.
fn without_sums(payload: &mut Value) {
    let parts = payload.pointer_mut("/run/answered/parts").and_then(Value::as_array_mut);
    let members = parts.into_iter().flatten().filter_map(Value::as_object_mut);
    for call in members.flat_map(|part| part.values_mut()).filter_map(Value::as_object_mut) {
        call.remove("sum");
    }
}

impl Store {
    /// A session as it stands in a file; none where there is none of this name.
    ///
    /// # Errors
    /// The database refuses, or holds what cannot be read.
    pub async fn dump(&self, id: &str) -> Result<Option<Dump>, StoreError> {
        Ok(self.session(id).await?.map(Dump::of))
    }
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DumpError::Form(error) => write!(f, "no dump of a session: {error}"),
            DumpError::Version(version) => {
                write!(f, "a dump of version {version}; this program reads up to {DUMP_VERSION}")
            }
        }
    }
}

impl std::error::Error for DumpError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_has_no_hash_of_what_was_masked() {
        let mut payload = callwright_value::json!({"sum": 1, "run": {"answered": {"parts": [
            {"call": {"name": "run", "arguments": "{\"password\":\"********\"}", "sum": 7}},
            {"wrong": {"name": "run"}},
        ]}}});
        without_sums(&mut payload);
        let expected = callwright_value::json!({"sum": 1, "run": {"answered": {"parts": [
            {"call": {"name": "run", "arguments": "{\"password\":\"********\"}"}},
            {"wrong": {"name": "run"}},
        ]}}});
        assert_eq!(payload, expected);
    }
}
