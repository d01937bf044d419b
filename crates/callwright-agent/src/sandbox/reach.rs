//! Lists what a command may read outside of the workspace; everything else is closed to it.
//!
//! World-readable does not suffice: other homes, other projects, data and servers' files are not for a command. In a
//! listed folder, files for their owner alone are left out too, as the owner is whoever runs the command.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A folder of the system.
struct System {
    path: &'static str,
    look: Look,
}

/// The parts of a folder that need a search for files that others may not read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// None: only packages write there, or the files are the system's words about itself.
    Nowhere,
    /// All: people and servers write there as well.
    Everywhere,
}

const fn packages(path: &'static str) -> System {
    System { path, look: Look::Nowhere }
}

const fn mixed(path: &'static str) -> System {
    System { path, look: Look::Everywhere }
}

/// Programs, their libraries, their settings, and the system's words about itself.
const SYSTEM: &[System] = &[
    packages("/usr"),
    packages("/bin"),
    packages("/sbin"),
    packages("/lib"),
    packages("/lib32"),
    packages("/lib64"),
    packages("/libx32"),
    packages("/nix/store"),
    packages("/gnu/store"),
    packages("/run/current-system"),
    mixed("/etc"),
    mixed("/opt"),
    // Certificates where `/etc/ssl` leads there; fonts; the lists of installed packages.
    packages("/var/lib/ca-certificates"),
    packages("/var/cache/fontconfig"),
    packages("/var/lib/dpkg"),
    // The names of hosts, where `/etc/resolv.conf` leads there.
    packages("/run/systemd/resolve"),
    packages("/run/resolvconf"),
    packages("/run/NetworkManager/resolv.conf"),
    packages("/mnt/wsl/resolv.conf"),
    // The numbers of processors and memory, which runtimes read first.
    packages("/sys/devices/system"),
    packages("/sys/fs/cgroup"),
    packages("/sys/kernel/mm"),
    packages("/proc"),
];

/// The most entries of system folders that are checked; later ones stay closed. A first command takes about a
/// millisecond for a thousand.
const MAX_LOOKED: usize = 50_000;

/// The folders beneath the home where toolchains keep shared files, unless a variable names others.
const TOOLCHAINS: [&str; 6] =
    [".cargo", ".rustup", "go/pkg", ".m2/repository", ".gradle/caches", ".gradle/wrapper"];

/// The user's own folders beneath the home, by the conventions of desktops. None is a toolchain, whatever programs lie
/// beside it.
const OWN: [&str; 4] = [".config", ".cache", ".local/share", ".local/state"];

/// Files at the top of a toolchain that hold keys, whatever their mode.
const KEYS: [&str; 9] = [
    "credentials",
    "credentials.toml",
    "settings.xml",
    "settings-security.xml",
    "gradle.properties",
    ".npmrc",
    ".pypirc",
    ".netrc",
    ".env",
];

/// Returns the home of the user with this environment; `None` where everything would lie beneath it.
pub(crate) fn home(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let home = variable(environment, "HOME").and_then(|home| PathBuf::from(home).canonicalize().ok())?;
    home.parent().is_some().then_some(home)
}

/// Returns the toolchains that an environment leads to, the repository around `workspace`, and their needs, without
/// links.
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
        let targets: BTreeSet<PathBuf> =
            links.filter_map(|link| Some(link.path().canonicalize().ok()?.parent()?.to_owned())).collect();
        found.extend(targets.iter().flat_map(|target| around(target, home)));
    }
    let named =
        environment.iter().filter(|(name, _)| !matches!(name.to_str(), Some("HOME" | "PATH" | "TMPDIR")));
    let folders = named.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute());
    let usual = home.into_iter().flat_map(|home| TOOLCHAINS.map(|name| home.join(name)));
    found.extend(
        folders.chain(usual).filter_map(|folder| folder.canonicalize().ok()).filter(|path| path.is_dir()),
    );
    // A path to the home, or above it, does not name a toolchain.
    found.retain(|path| !holds_own(path, home));
    let repository = workspace.ancestors().skip(1).find(|above| above.join(".git").exists());
    let holds_home = |path: &Path| home.is_some_and(|home| home.starts_with(path));
    found.extend(repository.filter(|path| !holds_home(path)).map(Path::to_owned));
    found.into_iter().collect()
}

fn is_of_packages(path: &Path) -> bool {
    SYSTEM.iter().any(|system| system.look == Look::Nowhere && path.starts_with(system.path))
}

/// Returns the folder that the programs of a folder need: `~/.nvm/versions/node/v20/bin` → `~/.nvm/versions/node/v20`.
fn around(programs: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    match programs.parent() {
        Some(prefix) if holds_own(prefix, home) => vec![programs.to_owned(), prefix.join("lib")],
        Some(prefix) => vec![prefix.to_owned()],
        None => Vec::new(),
    }
}

/// Returns whether the path is a home, or holds more than one installation: `/srv`, `/home/other`.
fn holds_own(path: &Path, home: Option<&Path>) -> bool {
    let is_at_the_top = path.parent().is_none_or(|parent| parent.parent().is_none());
    is_at_the_top
        || home.is_some_and(|home| {
            let is_other_home = path.parent().is_some() && path.parent() == home.parent();
            is_other_home || home.starts_with(path) || OWN.iter().any(|own| home.join(own).starts_with(path))
        })
}

fn variable<'e>(environment: &'e [(OsString, OsString)], name: &str) -> Option<&'e OsStr> {
    environment.iter().find(|(variable, _)| variable == name).map(|(_, value)| value.as_os_str())
}

/// Returns the readable paths, without links: nothing of `hidden`, and all of `toolchains` except files at the top that
/// are for their owner alone, or hold keys.
pub(crate) fn readable(toolchains: &[PathBuf], hidden: &[PathBuf]) -> Vec<PathBuf> {
    let is_kept = |entry: &PathBuf, is_private: bool| match fs::symlink_metadata(entry) {
        Ok(metadata) => metadata.is_file() && (holds_keys(entry) || is_private && !is_public(&metadata)),
        Err(_) => true,
    };
    let tops = || toolchains.iter().map(|toolchain| (toolchain, is_of_packages(toolchain)));
    let kept = tops().flat_map(|(toolchain, is_of_packages)| {
        entries(toolchain).filter(move |entry| is_kept(entry, !is_of_packages))
    });
    let hidden: Vec<PathBuf> = hidden.iter().cloned().chain(kept).collect();
    let mut looking = Looking { hidden: &hidden, left: MAX_LOOKED, paths: Vec::new() };
    // Where `/bin` is a link, `/usr` holds its files.
    for System { path, look } in SYSTEM {
        looking.add(Path::new(path), *look);
    }
    for (toolchain, _) in tops().filter(|(_, is_of_packages)| !is_of_packages) {
        entries(toolchain).for_each(|entry| looking.add_part(&entry, Look::Nowhere));
    }
    looking.paths
}

fn holds_keys(path: &Path) -> bool {
    path.file_name().is_some_and(|name| KEYS.iter().any(|keys| name.eq_ignore_ascii_case(keys)))
}

struct Looking<'h> {
    hidden: &'h [PathBuf],
    /// The number of entries that may still be checked.
    left: usize,
    paths: Vec<PathBuf>,
}

impl Looking<'_> {
    fn add(&mut self, path: &Path, look: Look) {
        if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_symlink() && is_public(&metadata)) {
            self.add_part(path, look);
        }
    }

    fn add_part(&mut self, path: &Path, look: Look) {
        let mut parts = Vec::new();
        if self.is_open(path, look, &mut parts) {
            parts = vec![path.to_owned()];
        }
        self.paths.append(&mut parts);
    }

    /// Returns whether all of the path may be read. If not, it adds the readable parts to `parts`.
    fn is_open(&mut self, path: &Path, look: Look, parts: &mut Vec<PathBuf>) -> bool {
        if self.hidden.iter().any(|hidden| hidden == path) {
            return false;
        }
        let Ok(metadata) = fs::symlink_metadata(path) else { return false };
        if look == Look::Everywhere && !is_public(&metadata) {
            return false;
        }
        let holds_hidden = self.hidden.iter().any(|hidden| hidden.starts_with(path));
        if !metadata.is_dir() || (look == Look::Nowhere && !holds_hidden) {
            return true;
        }
        let (mut own, mut is_whole) = (Vec::new(), true);
        for entry in entries(path) {
            let Some(left) = self.left.checked_sub(1) else {
                is_whole = false;
                break;
            };
            self.left = left;
            if self.is_open(&entry, look, &mut own) {
                own.push(entry);
            } else {
                is_whole = false;
            }
        }
        if !is_whole {
            parts.append(&mut own);
        }
        is_whole
    }
}

fn is_public(metadata: &Metadata) -> bool {
    let needed = if metadata.is_dir() { 0o005 } else { 0o004 };
    metadata.mode() & needed == needed
}

/// Returns the entries of a folder. It skips links, as their targets have rules of their own.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_link = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    entries.filter(move |entry| !is_link(entry)).map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Private parts stay closed at any depth.
    #[test]
    fn what_is_for_its_owner_alone_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let deep = root.join("a/b/c/d/e/f");
        fs::create_dir_all(&deep).unwrap();
        for (name, mode) in [("key", 0o600), ("open", 0o644)] {
            fs::write(deep.join(name), name).unwrap();
            fs::set_permissions(deep.join(name), Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(root.join("a/whole")).unwrap();
        let mut looking = Looking { hidden: &[], left: 100, paths: Vec::new() };
        looking.add_part(&root.join("a"), Look::Everywhere);
        looking.paths.sort();
        assert_eq!(looking.paths, [deep.join("open"), root.join("a/whole")]);
        // Unchecked entries stay closed.
        let mut looking = Looking { hidden: &[], left: 3, paths: Vec::new() };
        looking.add_part(&root.join("a"), Look::Everywhere);
        assert!(looking.paths.iter().all(|path| *path == root.join("a/whole")), "{:?}", looking.paths);
    }

    #[test]
    fn a_folder_at_the_top_and_a_home_are_no_toolchains() {
        let home = Some(Path::new("/home/me"));
        for path in ["/", "/srv", "/home", "/home/me", "/home/other", "/home/me/.config"] {
            assert!(holds_own(Path::new(path), home), "{path}");
        }
        for path in ["/srv/tools", "/home/me/.cargo", "/home/other/.linuxbrew", "/home/me/.local/share/tools"]
        {
            assert!(!holds_own(Path::new(path), home), "{path}");
        }
    }
}
