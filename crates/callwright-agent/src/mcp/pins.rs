//! Records what the user accepted, one file for each server: definitions, by using or accepting them, and
//! configurations that came with a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use callwright::value::Value;
use serde::{Deserialize, Serialize};

use super::definition::Definition;

/// The longest file that is read, in bytes.
const MAX: u64 = 64 << 20;
/// The version of the file's format.
const VERSION: u32 = 1;

/// The accepted definitions and configurations of one server.
#[derive(Debug)]
pub(super) struct Pins {
    path: PathBuf,
    configs: BTreeSet<String>,
    tools: BTreeMap<String, Pinned>,
}

#[derive(Debug, Serialize, Deserialize)]
struct File {
    version: u32,
    /// Hashes of accepted configurations.
    configs: BTreeSet<String>,
    tools: BTreeMap<String, Pinned>,
}

/// The whole definition is kept, so that changes can be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pinned {
    fingerprint: String,
    description: String,
    schema: Value,
}

/// The relation of a definition to the pinned one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It equals the pinned one.
    Same,
    /// No definition is pinned.
    New,
    /// Another one is pinned, with these differences.
    Changed(Vec<String>),
}

impl Pins {
    /// Reads the record of `server`; empty where there is no file yet.
    ///
    /// # Errors
    /// Fails when the file is unreadable: then nobody knows what was accepted.
    pub(super) fn read(folder: &Path, server: &str) -> Result<Pins, String> {
        let path = folder.join(format!("{server}.json"));
        let unreadable = |why: String| format!("what is pinned in {} cannot be read: {why}", path.display());
        let (configs, tools) = match read(&path) {
            Ok(text) => {
                let file: File =
                    serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
                if file.version != VERSION {
                    return Err(unreadable(format!("it is of version {}", file.version)));
                }
                (file.configs, file.tools)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        Ok(Pins { path, configs, tools })
    }

    /// Makes an empty record, for a user who accepts all anew.
    pub(super) fn none(folder: &Path, server: &str) -> Pins {
        let path = folder.join(format!("{server}.json"));
        Pins { path, configs: BTreeSet::new(), tools: BTreeMap::new() }
    }

    /// Forgets all definitions.
    pub(super) fn unpin(&mut self) {
        self.tools.clear();
    }

    /// Returns whether the user accepted the configuration with this fingerprint.
    pub(super) fn has_config(&self, fingerprint: &str) -> bool {
        self.configs.contains(fingerprint)
    }

    /// Records that the user accepted the configuration with this fingerprint.
    pub(super) fn take_config(&mut self, fingerprint: String) {
        self.configs.insert(fingerprint);
    }

    /// Compares the definition with the pinned one.
    pub(super) fn standing(&self, definition: &Definition) -> Standing {
        let Some(pinned) = self.tools.get(&definition.name) else { return Standing::New };
        if pinned.fingerprint == definition.fingerprint() {
            return Standing::Same;
        }
        let was = Definition {
            name: definition.name.clone(),
            description: pinned.description.clone(),
            schema: pinned.schema.clone(),
        };
        Standing::Changed(definition.changes(&was))
    }

    /// Pins a definition in place of an earlier one.
    pub(super) fn pin(&mut self, definition: &Definition) {
        let pinned = Pinned {
            fingerprint: definition.fingerprint(),
            description: definition.description.clone(),
            schema: definition.schema.clone(),
        };
        self.tools.insert(definition.name.clone(), pinned);
    }

    /// Writes the whole file, or leaves the old one as it was.
    ///
    /// # Errors
    /// Fails when the file cannot be written, so that the record would be lost.
    pub(super) fn write(&self) -> Result<(), String> {
        let (configs, tools) = (self.configs.clone(), self.tools.clone());
        let file = File { version: VERSION, configs, tools };
        let write = || -> io::Result<()> {
            let folder = self.path.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            let beside = self.path.with_extension(format!("{}.new", std::process::id()));
            let mut new = fs::File::create(&beside)?;
            new.write_all(serde_json::to_string_pretty(&file)?.as_bytes())?;
            new.sync_all()?;
            fs::rename(&beside, &self.path)
        };
        write().map_err(|error| format!("{} cannot be written: {error}", self.path.display()))
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(MAX).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright::json;

    fn definition(description: &str) -> Definition {
        Definition { name: "t".into(), description: description.into(), schema: json!({"type": "object"}) }
    }

    #[test]
    fn what_is_pinned_is_known_again() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("mcp");
        let mut pins = Pins::read(&at, "s").unwrap();
        assert_eq!(pins.standing(&definition("a")), Standing::New);
        pins.pin(&definition("a"));
        pins.write().unwrap();
        let pins = Pins::read(&at, "s").unwrap();
        assert_eq!(pins.standing(&definition("a")), Standing::Same);
        let Standing::Changed(what) = pins.standing(&definition("b")) else { panic!("not changed") };
        assert_eq!(what, [r#"the description was "a" and is "b""#]);
        assert_eq!(Pins::read(&at, "other").unwrap().standing(&definition("a")), Standing::New);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_no_file() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["{", r#"{"version": 2, "configs": [], "tools": {}}"#] {
            fs::write(folder.path().join("s.json"), text).unwrap();
            let why = Pins::read(folder.path(), "s").unwrap_err();
            assert!(why.contains("cannot be read"), "{why}");
        }
        assert!(Pins::none(folder.path(), "s").write().is_ok());
        assert!(Pins::read(folder.path(), "s").is_ok());
    }
}
