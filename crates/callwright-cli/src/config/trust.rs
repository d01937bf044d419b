//! The configuration files that may be read though nobody named them: those that the user has accepted, as they were then.
//!
//! A `callwright.toml` in the current folder may be anybody's: it comes with a repository that was cloned, or was written
//! by a program. It says where keys are sent, what is listened on and what is started, so it is not read until it was
//! accepted. What is accepted is one file with one content; a copy elsewhere, where its relative paths mean something
//! else, and each later version are other ones. The list stands in the user's state folder, which no file chooses.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::origin::Env;
use crate::failure::Failure;

/// The list of what is accepted: a line `HASH PATH` for each file.
const LIST: &str = "trusted";

/// The files that the user has accepted.
pub(crate) struct Trusted {
    /// The place of the list; `None` where the user has no folder.
    at: Option<PathBuf>,
}

impl Trusted {
    /// Those of the user whose environment this is.
    pub(crate) fn of(env: Env<'_>) -> Trusted {
        Trusted { at: super::own_folder(env).map(|folder| folder.join(LIST)) }
    }

    /// Returns whether this file was accepted with this content.
    pub(crate) fn has(&self, file: &Path, text: &str) -> bool {
        let line = entry(file, text);
        self.lines().contains(&line)
    }

    /// Accepts a file with this content, in the place of what was accepted of it before.
    ///
    /// # Errors
    /// There is no place to write it down, or it cannot be written.
    pub(crate) fn accept(&self, file: &Path, text: &str) -> Result<(), Failure> {
        let mut lines = self.without(file);
        lines.push(entry(file, text));
        self.write(&lines)
    }

    /// Takes back what was accepted of a file. Says whether there was anything.
    ///
    /// # Errors
    /// As [`Trusted::accept`].
    pub(crate) fn forget(&self, file: &Path) -> Result<bool, Failure> {
        let lines = self.without(file);
        let had = lines.len() < self.lines().len();
        if had {
            self.write(&lines)?;
        }
        Ok(had)
    }

    fn without(&self, file: &Path) -> Vec<String> {
        let path = place(file);
        let is_other = |line: &String| line.split_once(' ').is_none_or(|(_, of)| of != path);
        self.lines().into_iter().filter(is_other).collect()
    }

    fn lines(&self) -> Vec<String> {
        // A list that is not there, or cannot be read, accepts nothing.
        let text = self.at.as_ref().and_then(|at| fs::read_to_string(at).ok()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn write(&self, lines: &[String]) -> Result<(), Failure> {
        let nowhere = || {
            let why = "there is no folder to write it down in: set HOME or XDG_STATE_HOME, or name the file with --config";
            Failure::Config(String::from(why))
        };
        let at = self.at.as_ref().ok_or_else(nowhere)?;
        let failed = |error: io::Error| Failure::Record(at.clone(), error);
        let folder = at.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        // Whoever is ended in between leaves the old list.
        let new = at.with_extension("new");
        let mut file = fs::File::create(&new).map_err(failed)?;
        for line in lines {
            writeln!(file, "{line}").map_err(failed)?;
        }
        file.sync_all().map_err(failed)?;
        fs::rename(&new, at).map_err(failed)
    }
}

fn entry(file: &Path, text: &str) -> String {
    let hash = Sha256::digest(text);
    let hash = hash.iter().fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    format!("{hash} {}", place(file))
}

/// The file's one path, on one line.
fn place(file: &Path) -> String {
    let path = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    // Distinct paths stay distinct: escapes are reversible.
    path.to_string_lossy().escape_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted_is_one_file_with_one_content() {
        let folder = std::env::temp_dir().join(format!("callwright-trust-{}", std::process::id()));
        let (here, there) = (folder.join("a b"), folder.join("c"));
        for place in [&here, &there] {
            fs::create_dir_all(place).unwrap();
            fs::write(place.join("callwright.toml"), "policy = 'heal'").unwrap();
        }
        let (here, there) = (here.join("callwright.toml"), there.join("callwright.toml"));
        let home = folder.join("state").to_string_lossy().into_owned();
        let env = |name: &str| (name == "XDG_STATE_HOME").then(|| home.clone());
        let trusted = Trusted::of(&env);
        assert!(!trusted.has(&here, "policy = 'heal'"));
        trusted.accept(&here, "policy = 'heal'").unwrap();
        assert!(trusted.has(&here, "policy = 'heal'"));
        assert!(!trusted.has(&here, "policy = 'heal' "), "another content");
        assert!(!trusted.has(&there, "policy = 'heal'"), "another folder");
        trusted.accept(&here, "policy = 'strict'").unwrap();
        assert!(!trusted.has(&here, "policy = 'heal'"), "an earlier version");
        assert!(trusted.forget(&here).unwrap() && !trusted.forget(&here).unwrap());
        assert!(!trusted.has(&here, "policy = 'strict'"));
        assert!(Trusted::of(&|_| None).accept(&here, "").is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
