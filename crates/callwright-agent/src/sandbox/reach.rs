//! What a command may read outside of the workspace: what anybody may read, and the toolchains, but nothing else of the home.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How deep it is looked for what others may not read: `/etc/ssh/ssh_host_key` is the third step.
const DEPTH: usize = 3;

/// What toolchains keep for all projects where no variable says where, beneath the home.
const TOOLCHAINS: [&str; 6] =
    [".cargo", ".rustup", "go/pkg", ".m2/repository", ".gradle/caches", ".gradle/wrapper"];

/// What is the user's own, beneath the home, by the conventions of desktops. No toolchain, whatever has programs beside it.
const OWN: [&str; 4] = [".config", ".cache", ".local/share", ".local/state"];

/// The home of whoever has this environment; none where everything would lie beneath it.
pub(crate) fn home(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let home = variable(environment, "HOME").and_then(|home| PathBuf::from(home).canonicalize().ok())?;
    home.parent().is_some().then_some(home)
}

/// The toolchains that an environment leads to, the repository in which `workspace` lies, and what they need, without links.
pub(crate) fn toolchains(
    environment: &[(OsString, OsString)],
    home: Option<&Path>,
    workspace: &Path,
) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    let path = variable(environment, "PATH").unwrap_or_default();
    for folder in std::env::split_paths(path).filter_map(|folder| folder.canonicalize().ok()) {
        found.extend(around(&folder, home));
        // `~/.local/bin/tool` → `../share/tools/tool/bin/tool`
        let links = fs::read_dir(&folder).into_iter().flatten().flatten();
        let links = links.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        let targets: BTreeSet<PathBuf> = links
            .filter_map(|link| Some(link.path().canonicalize().ok()?.parent()?.to_owned()))
            .filter(|target| home.is_some_and(|home| target.starts_with(home)))
            .collect();
        found.extend(targets.iter().flat_map(|target| around(target, home)));
    }
    let named =
        environment.iter().filter(|(name, _)| !matches!(name.to_str(), Some("HOME" | "PATH" | "TMPDIR")));
    let folders = named.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute());
    let usual = home.into_iter().flat_map(|home| TOOLCHAINS.map(|name| home.join(name)));
    found.extend(
        folders.chain(usual).filter_map(|folder| folder.canonicalize().ok()).filter(|path| path.is_dir()),
    );
    found.extend(workspace.ancestors().skip(1).find(|above| above.join(".git").exists()).map(Path::to_owned));
    // Whoever names the home, or what lies above it, means no toolchain.
    found.retain(|path| !holds_own(path, home));
    found.into_iter().collect()
}

/// What has to be there for the programs of a folder: `~/.nvm/versions/node/v20/bin` → `~/.nvm/versions/node/v20`.
fn around(programs: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    match programs.parent() {
        Some(prefix) if holds_own(prefix, home) => vec![programs.to_owned(), prefix.join("lib")],
        Some(prefix) => vec![prefix.to_owned()],
        None => Vec::new(),
    }
}

fn holds_own(path: &Path, home: Option<&Path>) -> bool {
    path.parent().is_none()
        || home.is_some_and(|home| {
            home.starts_with(path) || OWN.iter().any(|own| home.join(own).starts_with(path))
        })
}

fn variable<'e>(environment: &'e [(OsString, OsString)], name: &str) -> Option<&'e OsStr> {
    environment.iter().find(|(variable, _)| variable == name).map(|(_, value)| value.as_os_str())
}

/// All that stands at the top and that anybody may read, without devices: among them is the terminal at which the user
/// types. Of what is `hidden` nothing, and of `toolchains` all but the files that are for their owner alone.
pub(super) fn readable(hidden: &[PathBuf], toolchains: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in entries(Path::new("/")) {
        match entry.to_str() {
            Some("/dev") => {}
            // Not files, but what the system says of itself.
            Some("/proc" | "/sys") => paths.push(entry),
            _ => {
                if is_open(&entry, DEPTH, hidden, &mut paths) {
                    paths.push(entry);
                }
            }
        }
    }
    for toolchain in toolchains {
        paths.extend(entries(toolchain).filter(|entry| match fs::symlink_metadata(entry) {
            Ok(metadata) => metadata.is_dir() || (metadata.is_file() && is_public(&metadata)),
            Err(_) => false,
        }));
    }
    paths
}

/// May all of it be read? If not, the parts that may are added to `paths`.
fn is_open(path: &Path, depth: usize, hidden: &[PathBuf], paths: &mut Vec<PathBuf>) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    if !is_public(&metadata) || hidden.iter().any(|hidden| hidden == path) {
        return false;
    }
    let holds_hidden = hidden.iter().any(|hidden| hidden.starts_with(path));
    if !metadata.is_dir() || (depth == 0 && !holds_hidden) {
        return true;
    }
    let mut parts = Vec::new();
    let mut is_whole = true;
    for entry in entries(path) {
        if is_open(&entry, depth.saturating_sub(1), hidden, &mut parts) {
            parts.push(entry);
        } else {
            is_whole = false;
        }
    }
    if !is_whole {
        paths.extend(parts);
    }
    is_whole
}

fn is_public(metadata: &Metadata) -> bool {
    let needed = if metadata.is_dir() { 0o005 } else { 0o004 };
    metadata.mode() & needed == needed
}

/// What stands in a folder. A link gives nothing: what it leads to has rules of its own.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_link = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    entries.filter(move |entry| !is_link(entry)).map(|entry| entry.path())
}
