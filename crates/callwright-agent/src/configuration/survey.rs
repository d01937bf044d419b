//! Finds the obeyed files of a folder before and after a command. Walls hold the old ones; the command's new ones get
//! names that nothing obeys.
//!
//! No wall can forbid one name in a folder where all others may be made. So the check runs once no process of the
//! command lives, before anybody hears of its end. It deletes nothing: a file may be the user's under another name.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::Mode;
use serde::{Deserialize, Serialize};

use super::{At, GIT, HEAD, is_repository, may_be_obeyed, obeyed};

/// An obeyed file or folder beneath the surveyed folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The path relative to that folder; empty where the folder itself is a repository without a working tree.
    pub(crate) path: PathBuf,
    id: Id,
    /// The part that must go so that nothing obeys the place.
    key: PathBuf,
    by: &'static str,
}

/// The identity of a place under any name. A file or folder that a mount holds cannot be removed, so its number is not
/// reused; a link can be, but not without a later time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Id(u64, u64, Option<(i64, i64)>);

impl Id {
    fn of(metadata: &Metadata) -> Id {
        let time = metadata.is_symlink().then(|| (metadata.ctime(), metadata.ctime_nsec()));
        Id(metadata.dev(), metadata.ino(), time)
    }
}

/// A file or folder that was set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Aside {
    pub(crate) path: PathBuf,
    /// The new name; `None` where the system refused.
    pub(crate) to: Option<PathBuf>,
    /// The program that would have obeyed it.
    pub(crate) by: String,
}

/// Returns all obeyed places beneath `root`.
pub(crate) fn survey(root: &Path) -> Vec<Place> {
    let mut places = Vec::new();
    walk(root, false, |place| {
        places.push(place.clone());
        None
    });
    places
}

/// Returns the paths of these places that mounts must hold.
pub(crate) fn protected(root: &Path, places: &[Place]) -> Vec<PathBuf> {
    // A command in a repository without a working tree has to work in it: only the parts that make it run code are
    // held.
    let in_root = |name: &str| Some(root.join(name)).filter(|path| path.symlink_metadata().is_ok());
    let of = |place: &Place| match place.path.as_os_str().is_empty() {
        true => [HEAD, "config", "hooks", "commondir"].into_iter().filter_map(in_root).collect(),
        false => vec![root.join(&place.path)],
    };
    places.iter().flat_map(of).collect()
}

/// Sets aside the obeyed places beneath `root` that are not among `before`. Callers must ensure that no running command
/// could make them anew.
pub(crate) fn set_aside(root: &Path, before: &[Place]) -> Vec<Aside> {
    let known: HashSet<Id> = before.iter().map(|place| place.id).collect();
    let mut aside = Vec::new();
    // Another command may replace folders by links meanwhile, so the entries are renamed by descriptor.
    let Ok(dir) = Dir::open_ambient_dir(root, ambient_authority()) else { return aside };
    walk(root, true, |place| {
        if known.contains(&place.id) {
            return None;
        }
        let to = moved(&dir, &place.key).ok();
        let (path, by) = (place.key.clone(), place.by.to_owned());
        aside.push(Aside { path, to: to.clone(), by });
        // The folder's content would be obeyed there, too.
        if place.key == place.path { to } else { Some(place.path.clone()) }
    });
    aside.sort_by(|one, other| one.path.cmp(&other.path));
    aside
}

/// Renames the entry at `path` in its folder to a name that nothing obeys.
fn moved(dir: &Dir, path: &Path) -> io::Result<PathBuf> {
    let named = |end: &str| {
        let mut name = path.file_name().map(OsString::from).unwrap_or_default();
        name.push(end);
        path.with_file_name(name)
    };
    let mut to = named(".set-aside");
    if dir.symlink_metadata(&to).is_ok() {
        to = named(&format!(".set-aside-{:016x}", getrandom::u64().map_err(io::Error::other)?));
    }
    let renamed = match dir.rename(path, dir, &to) {
        // The command may have locked the folder.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = dir.open_dir(parent.unwrap_or(Path::new(".")))?;
            let mode = cap_std::fs::MetadataExt::mode(&parent.dir_metadata()?);
            rustix::fs::fchmod(&parent, Mode::from_raw_mode(mode & 0o7777 | 0o700))?;
            dir.rename(path, dir, &to)
        }
        renamed => renamed,
    };
    renamed.map(|()| to)
}

/// Calls `visit` with each place beneath `root`; a folder that it returns is searched as well. With `opens`, our
/// unreadable folders are made readable. No list of files is kept: a command can make millions.
fn walk(root: &Path, opens: bool, mut visit: impl FnMut(&Place) -> Option<PathBuf>) {
    // Each folder waits here with the fact that the one above it is a top.
    let mut open = vec![(PathBuf::new(), false)];
    while let Some((folder, is_below_top)) = open.pop() {
        let at = root.join(&folder);
        let Ok(entries) = entries(&at, opens) else { continue };
        // Names match as git and the file system see them: a link counts, and so does another case where that is the
        // same name.
        let has = |name: &str| at.join(name).symlink_metadata().is_ok();
        if is_repository(has)
            && let Ok(metadata) = fs::symlink_metadata(&at)
        {
            let key = folder.join(HEAD);
            let place = Place { path: folder.clone(), id: Id::of(&metadata), key, by: GIT };
            match visit(&place) {
                // The folder is not obeyed any more.
                Some(_) => {}
                // An obeyed folder is one place; the surveyed folder itself may hold others.
                None if folder.as_os_str().is_empty() => {}
                None => continue,
            }
        }
        let is_top = folder.as_os_str().is_empty() || has(".git");
        for entry in entries.flatten() {
            // `.cargo/config.toml` belongs to the folder that holds `.cargo`.
            let is_at_top = |name: &str| if name.contains('/') { is_below_top } else { is_top };
            let name = entry.file_name();
            let found = may_be_obeyed(&name).then(|| obeyed(&folder.join(&name))).flatten();
            if let Some((of, _)) = found.filter(|(of, name)| of.at == At::Any || is_at_top(name)) {
                let path = folder.join(&name);
                let Ok(metadata) = fs::symlink_metadata(root.join(&path)) else { continue };
                let place = Place { path: path.clone(), id: Id::of(&metadata), key: path, by: of.by };
                open.extend(visit(&place).filter(|_| metadata.is_dir()).map(|folder| (folder, is_top)));
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push((folder.join(&name), is_top));
            }
        }
    }
}

fn entries(folder: &Path, opens: bool) -> io::Result<fs::ReadDir> {
    match fs::read_dir(folder) {
        Err(error) if opens && error.kind() == io::ErrorKind::PermissionDenied => {
            let mode = fs::symlink_metadata(folder)?.mode();
            fs::set_permissions(folder, fs::Permissions::from_mode(mode & 0o7777 | 0o700))?;
            fs::read_dir(folder)
        }
        entries => entries,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, name: &str) {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), name).unwrap();
    }

    fn paths(root: &Path) -> Vec<String> {
        let mut paths: Vec<_> =
            survey(root).into_iter().map(|place| place.path.display().to_string()).collect();
        paths.sort();
        paths
    }

    #[test]
    fn what_is_obeyed_depends_on_where_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in [
            ".envrc",
            ".vscode/tasks.json",
            ".cargo/config.toml",
            ".cargo/cache",
            "package/.vscode/tasks.json",
            "package/.cargo/config.toml",
            "package/.envrc",
            "inner/.git/config",
            "inner/.npmrc",
            "inner/.cargo/config",
            "bare/HEAD",
            "bare/objects/x",
            "bare/refs/x",
            "linked/HEAD",
            "linked/commondir",
            "plain/HEAD",
            "plain/config",
            "Makefile",
        ] {
            put(root, name);
        }
        let wanted = [
            ".cargo/config.toml",
            ".envrc",
            ".vscode",
            "bare",
            "inner/.cargo/config",
            "inner/.git",
            "inner/.npmrc",
            "linked",
            "package/.envrc",
        ];
        assert_eq!(paths(root), wanted);
        assert_eq!(set_aside(root, &survey(root)), []);
    }

    #[test]
    fn what_is_new_is_set_aside_and_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        put(root, "old/.git/config");
        put(root, "config");
        let before = survey(root);
        // An old place under a new name is not a new place.
        fs::rename(root.join("old"), root.join("moved")).unwrap();
        for name in [".envrc", ".vscode/sub/.git/config", "HEAD", "objects/x", "refs/x", ".envrc.set-aside"] {
            put(root, name);
        }
        let aside = set_aside(root, &before);
        let from: Vec<_> = aside.iter().map(|aside| aside.path.display().to_string()).collect();
        assert_eq!(from, [".envrc", ".vscode", ".vscode.set-aside/sub/.git", "HEAD"]);
        assert_eq!(paths(root), ["moved/.git"]);
        for name in [".vscode.set-aside/sub/.git.set-aside/config", "HEAD.set-aside", "config"] {
            assert!(root.join(name).exists(), "{name}");
        }
        let envrc = aside.iter().find(|aside| aside.path == Path::new(".envrc")).unwrap();
        let to = root.join(envrc.to.as_ref().unwrap());
        assert_eq!(fs::read_to_string(to).unwrap(), ".envrc");
        assert_eq!(fs::read_to_string(root.join(".envrc.set-aside")).unwrap(), ".envrc.set-aside");
    }
}
