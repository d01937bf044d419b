//! Visits all files beneath a directory, by descriptor, except those that `.gitignore` names.
//!
//! Common walkers use paths: while they walk, a directory can be replaced by a link to another place. Here each
//! directory is opened from the one above it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::workspace::{FileError, Workspace, open_regular, plain};

/// The deepest nesting of directories.
const MAX_DEPTH: usize = 64;
/// The most files of a walk.
const MAX_FILES: usize = 500_000;
/// The longest file of patterns, in bytes.
const MAX_IGNORE: u64 = 1 << 20;

/// A file of the walk.
pub(super) struct Found<'w> {
    /// The open directory that holds the file.
    pub(super) dir: &'w Dir,
    /// The file's path beneath the workspace.
    pub(super) path: &'w Path,
    /// The file's path beneath the directory where the walk began.
    pub(super) inside: &'w Path,
}

/// The visitor's wish.
#[derive(PartialEq, Eq)]
pub(super) enum Next {
    GoOn,
    Stop,
}

/// Shows `visit` each file beneath `from`, by name, directories after files. It skips links and special files. It
/// returns false if it stopped at too many files.
///
/// # Errors
/// Fails when `from` is not a directory that may be reached.
pub(super) fn walk(
    workspace: &Workspace,
    from: &str,
    mut visit: impl FnMut(Found<'_>) -> Next,
) -> Result<bool, FileError> {
    let top = workspace.open_dir(from)?;
    let start = plain(&workspace.dir().canonicalize(workspace.relative(from)?)?);
    // The patterns of the directories above count, too.
    let mut ignores: Vec<Option<Gitignore>> = Vec::new();
    let mut above = PathBuf::new();
    for component in std::iter::once(None).chain(start.components().map(Some)) {
        if let Some(component) = component {
            above.push(component);
        }
        let here = if above.as_os_str().is_empty() { Path::new(".") } else { &above };
        let dir = workspace.dir().open_dir(here)?;
        ignores.push(patterns(&dir, &above));
    }
    ignores.pop();
    let depth_above = ignores.len();
    let mut n_files = 0;
    // An explicit stack is needed, as the input decides the depth.
    let mut open = vec![(top, start.clone(), 0)];
    while let Some((dir, path, depth)) = open.pop() {
        ignores.truncate(depth_above + depth);
        ignores.push(patterns(&dir, &path));
        // An unreadable directory is skipped, as if it did not exist.
        let Ok(entries) = dir.entries() else { continue };
        let mut files = Vec::new();
        let mut folders = BTreeMap::new();
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            let path = path.join(&name);
            let is_dir = kind.is_dir();
            if is_dir && name == ".git" || is_ignored(&ignores, &path, is_dir) {
                continue;
            }
            if is_dir && depth < MAX_DEPTH {
                folders.insert(name, path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
        files.sort();
        for path in &files {
            n_files += 1;
            if MAX_FILES < n_files {
                return Ok(false);
            }
            let inside = path.strip_prefix(&start).unwrap_or(path);
            if visit(Found { dir: &dir, path, inside }) == Next::Stop {
                return Ok(true);
            }
        }
        // The stack returns the last entry first.
        for (name, path) in folders.into_iter().rev() {
            if let Ok(folder) = dir.open_dir(&name) {
                open.push((folder, path, depth + 1));
            }
        }
    }
    Ok(true)
}

/// Returns the patterns of one directory's `.gitignore` and `.ignore`.
fn patterns(dir: &Dir, path: &Path) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(Path::new("/").join(path));
    let mut any = false;
    for name in [".gitignore", ".ignore"] {
        let Ok(file) = open_regular(dir, Path::new(name)) else { continue };
        let mut bytes = Vec::new();
        if file.take(MAX_IGNORE).read_to_end(&mut bytes).is_err() {
            continue;
        }
        for line in String::from_utf8_lossy(&bytes).lines() {
            // A malformed line adds no pattern.
            any |= builder.add_line(None, line).is_ok();
        }
    }
    if any { builder.build().ok() } else { None }
}

/// Returns whether the file is ignored; the innermost directory with a matching pattern decides.
fn is_ignored(ignores: &[Option<Gitignore>], path: &Path, is_dir: bool) -> bool {
    let path = Path::new("/").join(path);
    for ignore in ignores.iter().rev().flatten() {
        match ignore.matched(&path, is_dir) {
            Match::None => {}
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
        }
    }
    false
}
