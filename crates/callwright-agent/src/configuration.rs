//! Places from which code runs later: files that programs of the user obey without being asked.
//!
//! What is written there acts when nobody thinks of the agent any more: at the next `git status`, when the folder is opened
//! in an editor, at the next start of an agent. Such files have a name of their own by an old convention: it begins with a
//! dot. So whatever is hidden, at any depth, is taken for configuration: `.git`, `.envrc`, `.vscode`, `.github`, `.mcp.json`.
//! What is not hidden and configures all the same is the repository that has no working tree, and our own file.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::fs::Dir;

/// Our own configuration: no agent writes it.
const OWN: &str = "callwright.toml";

/// Is the file at `path`, without links and beneath `root`, one that programs obey, or in a folder of such?
pub(crate) fn holds(root: &Dir, path: &Path) -> bool {
    let is_hidden = |component: Component<'_>| match component {
        Component::Normal(name) => name.as_encoded_bytes().starts_with(b"."),
        _ => false,
    };
    path.components().any(is_hidden)
        || path.file_name().is_some_and(is_own)
        || path.ancestors().skip(1).any(|folder| is_repository(|name| root.exists(folder.join(name))))
}

/// The repositories and our own files beneath `folder`: what a command may not change.
///
/// Not all that is hidden: caches and environments of toolchains are, too, and commands are there to write them.
pub(crate) fn beneath(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        // What cannot be read by us cannot be read by a command.
        let Ok(entries) = fs::read_dir(&folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>())
        else {
            continue;
        };
        for entry in entries {
            let path = entry.path();
            if entry.file_name() == ".git" || is_own(&entry.file_name()) {
                found.push(path);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if is_repository(|name| path.join(name).exists()) {
                    found.push(path);
                } else {
                    open.push(path);
                }
            }
        }
    }
    found
}

fn is_own(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(OWN)
}

/// Git takes every folder that has these for a repository, and obeys its `config`.
fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    ["HEAD", "objects", "refs"].into_iter().all(has)
}
