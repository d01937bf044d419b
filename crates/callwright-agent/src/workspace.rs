//! Reaches files beneath one directory, by descriptor, or not at all.
//!
//! A path of a model goes in; an open file comes out, or a [`Place`] to write to. No path is ever joined to the root
//! and passed to the system: each step is resolved from an open directory. So `..`, absolute paths, symbolic links and
//! a link that is swapped meanwhile end at the same wall.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, MetadataExt, OpenOptions, OpenOptionsExt, Permissions};
use rustix::fs::OFlags;

/// The longest accepted path, in bytes, as on Linux.
const MAX_PATH: usize = 4096;
/// The largest file that is read, kept or rewritten as a whole, in bytes.
pub const MAX_FILE: u64 = 64 << 20;

/// One directory, with all beneath it.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// use callwright_agent::{FileError, Workspace};
///
/// let workspace = Workspace::open(folder.path())?;
/// workspace.place("notes/today.txt", true)?.replace(b"rain", None)?;
/// assert_eq!(workspace.read("notes/today.txt")?, b"rain");
/// assert_eq!(workspace.read("../secret").unwrap_err(), FileError::Outside);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    dir: Dir,
}

impl Workspace {
    /// Opens the directory at `root`.
    ///
    /// # Errors
    /// Fails when there is no directory that may be read.
    pub fn open(root: &Path) -> io::Result<Workspace> {
        let root = root.canonicalize()?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority())?;
        Ok(Workspace { root, dir })
    }

    /// Returns the root's path, for people and for commands. The workspace does not use it to reach files.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Opens the regular file at `path` for reading. It never waits for the other end of a pipe.
    ///
    /// # Errors
    /// Fails when there is no such file, or it may not be reached.
    pub fn open_file(&self, path: &str) -> Result<File, FileError> {
        open_regular(&self.dir, &self.relative(path)?)
    }

    /// Returns the bytes of the file at `path`, at most [`MAX_FILE`].
    ///
    /// # Errors
    /// Fails like [`Workspace::open_file`]; also when the file is too large.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        read_whole(self.open_file(path)?)
    }

    /// Returns the target of `path` without links, as far as it exists; the missing rest stays as written.
    pub(crate) fn resolved(&self, path: &str) -> Result<PathBuf, FileError> {
        let relative = self.relative(path)?;
        let mut missing = Vec::new();
        let mut known = relative.as_path();
        let mut resolved = loop {
            let Some(last) = known.components().next_back() else { break PathBuf::new() };
            if let Ok(found) = self.dir.canonicalize(known) {
                break plain(&found);
            }
            missing.push(last);
            known = known.parent().unwrap_or(Path::new(""));
        };
        for component in missing.into_iter().rev() {
            match component {
                Component::ParentDir => drop(resolved.pop()),
                component => resolved.push(component),
            }
        }
        Ok(resolved)
    }

    /// Opens the directory at `path`.
    ///
    /// # Errors
    /// Fails when there is no such directory, or it may not be reached.
    pub fn open_dir(&self, path: &str) -> Result<Dir, FileError> {
        let relative = self.relative(path)?;
        match self.dir.open_dir(&relative) {
            Err(error) if self.dir.metadata(&relative).is_ok_and(|found| !found.is_dir()) => {
                let _ = error;
                Err(FileError::NotADirectory)
            }
            opened => opened.map_err(FileError::from),
        }
    }

    /// Returns the place of the file at `path`, existing or not. It follows symbolic links beneath the root. With
    /// `make_folders`, it makes missing directories.
    ///
    /// # Errors
    /// Fails when `path` does not name a place for a file, or the place may not be reached.
    pub fn place(&self, path: &str, make_folders: bool) -> Result<Place, FileError> {
        let relative = self.relative(path)?;
        if path.ends_with(['/', '\\']) && path.ends_with(std::path::is_separator) {
            return Err(FileError::NotAPath("it ends like a directory"));
        }
        let mut made = Vec::new();
        let path = match self.dir.canonicalize(&relative) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let name = match relative.components().next_back() {
                    Some(Component::Normal(name)) => name.to_owned(),
                    _ => return Err(FileError::Missing),
                };
                if self.dir.symlink_metadata(&relative).is_ok() {
                    return Err(FileError::NotAFile("a symbolic link that leads nowhere"));
                }
                let parent = relative.parent().filter(|parent| !parent.as_os_str().is_empty());
                let parent = parent.unwrap_or(Path::new("."));
                if make_folders {
                    made = self.make_folders(parent)?;
                }
                self.dir.canonicalize(parent)?.join(name)
            }
            Err(error) => return Err(error.into()),
        };
        let path = plain(&path);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(FileError::NotAFile("a directory"));
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        Ok(Place { parent: self.dir.open_dir(parent)?, name: name.to_owned(), path, made })
    }

    /// Returns the place of the entry at `path` itself, even of a symbolic link.
    ///
    /// # Errors
    /// Fails like [`Workspace::place`].
    pub(crate) fn entry(&self, path: &str) -> Result<Place, FileError> {
        let relative = self.relative(path)?;
        let Some(Component::Normal(name)) = relative.components().next_back() else {
            return Err(FileError::NotAFile("a directory"));
        };
        let parent = relative.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = self.dir.canonicalize(parent.unwrap_or(Path::new(".")))?;
        let path = plain(&parent.join(name));
        let parent = if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent };
        Ok(Place { parent: self.dir.open_dir(parent)?, name: name.to_owned(), path, made: Vec::new() })
    }

    /// Returns `path` relative to the root, without a look at files.
    ///
    /// Models like to write the whole path, so a path that begins with the root is accepted.
    pub(crate) fn relative(&self, path: &str) -> Result<PathBuf, FileError> {
        if path.is_empty() {
            return Err(FileError::NotAPath("it is empty"));
        }
        if MAX_PATH < path.len() {
            return Err(FileError::NotAPath("it is too long"));
        }
        if path.contains('\0') {
            return Err(FileError::NotAPath("it holds a NUL"));
        }
        let path = Path::new(path);
        let path = match path.strip_prefix(&self.root) {
            Ok(inside) if inside.as_os_str().is_empty() => Path::new("."),
            Ok(inside) => inside,
            Err(_) if path.is_absolute() => return Err(FileError::Outside),
            Err(_) => path,
        };
        Ok(path.to_owned())
    }

    /// Makes `folder` and its missing parents; returns the new ones, outermost first.
    fn make_folders(&self, folder: &Path) -> Result<Vec<PathBuf>, FileError> {
        let mut made = Vec::new();
        let mut so_far = PathBuf::new();
        for component in folder.components() {
            so_far.push(component);
            if !matches!(component, Component::Normal(_)) {
                continue;
            }
            match self.dir.create_dir(&so_far) {
                Ok(()) => made.push(so_far.clone()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(made)
    }
}

/// The place of one file, existing or not: its name in an open directory.
#[derive(Debug)]
pub struct Place {
    parent: Dir,
    name: OsString,
    path: PathBuf,
    made: Vec<PathBuf>,
}

impl Place {
    /// Returns the path beneath the root, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directories that were made for it, outermost first.
    pub(crate) fn made(&self) -> &[PathBuf] {
        &self.made
    }

    /// Returns the entry that stands there.
    ///
    /// # Errors
    /// Fails when the entry is neither missing, a symbolic link, nor a regular file of at most [`MAX_FILE`].
    pub(crate) fn found(&self) -> Result<Found, FileError> {
        let metadata = match self.parent.symlink_metadata(&self.name) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(error.into()),
        };
        if metadata.is_symlink() {
            return Ok(Found::Link(self.parent.read_link_contents(&self.name)?));
        }
        regular(&metadata)?;
        let bytes = read_whole(open_regular(&self.parent, Path::new(&self.name))?)?;
        Ok(Found::File { bytes, permissions: metadata.permissions(), names: metadata.nlink() })
    }

    /// Writes `bytes` there as a whole: another reader sees the old file or the new one. The new file has
    /// `permissions`, else those of the replaced file, else the default ones.
    ///
    /// # Errors
    /// Fails when the file cannot be written.
    pub fn replace(&self, bytes: &[u8], permissions: Option<Permissions>) -> Result<(), FileError> {
        let permissions = match (permissions, self.parent.symlink_metadata(&self.name)) {
            (Some(permissions), _) => Some(permissions),
            (None, Ok(metadata)) => {
                regular(&metadata)?;
                Some(metadata.permissions())
            }
            (None, Err(_)) => None,
        };
        let temporary = format!(".callwright-{:016x}.tmp", getrandom::u64().map_err(io::Error::other)?);
        let written = self.fill(&temporary, bytes, permissions);
        let renamed = written.and_then(|()| Ok(self.parent.rename(&temporary, &self.parent, &self.name)?));
        if renamed.is_err() {
            // The temporary file may not exist.
            let _ = self.parent.remove_file(&temporary);
        }
        renamed
    }

    fn fill(&self, name: &str, bytes: &[u8], permissions: Option<Permissions>) -> Result<(), FileError> {
        let mut file = self.parent.open_with(name, OpenOptions::new().write(true).create_new(true))?;
        file.write_all(bytes)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        // The name must not outlive the bytes after a power failure.
        Ok(file.sync_data()?)
    }

    /// Makes a symbolic link there to `target`, wherever that leads: a tool that follows the link meets the same wall.
    pub(crate) fn link(&self, target: &Path) -> Result<(), FileError> {
        Ok(self.parent.symlink_contents(target, &self.name)?)
    }

    /// Removes the file or link.
    pub(crate) fn remove(&self) -> Result<(), FileError> {
        Ok(self.parent.remove_file(&self.name)?)
    }
}

/// The entry at a place.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    File {
        bytes: Vec<u8>,
        permissions: Permissions,
        /// The number of its names, here or elsewhere.
        names: u64,
    },
    Link(PathBuf),
}

/// The reason why a file cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileError {
    /// The text is not a path, for this reason.
    NotAPath(&'static str),
    /// The path lies outside of the workspace, or leads there.
    Outside,
    /// Nothing has this name.
    Missing,
    /// The entry is not a regular file, but this.
    NotAFile(&'static str),
    /// The entry is not a directory.
    NotADirectory,
    /// The file has more than [`MAX_FILE`] bytes.
    TooLarge,
    /// The file has several names, some perhaps outside, and nobody approved that.
    Linked,
    /// The system refuses with this text.
    System(String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::NotAPath(why) => write!(f, "not a usable path: {why}"),
            FileError::Outside => {
                f.write_str("outside of the workspace: only files beneath it can be reached")
            }
            FileError::Missing => f.write_str("no such file or directory"),
            FileError::NotAFile(what) => write!(f, "not a regular file, but {what}"),
            FileError::NotADirectory => f.write_str("not a directory"),
            FileError::TooLarge => write!(f, "larger than {} MiB", MAX_FILE >> 20),
            FileError::Linked => f.write_str(
                "it has several names (hard links), some of which may stand outside of the workspace: only the user can allow it",
            ),
            FileError::System(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for FileError {}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> FileError {
        match error.kind() {
            io::ErrorKind::NotFound => FileError::Missing,
            io::ErrorKind::NotADirectory => FileError::NotADirectory,
            io::ErrorKind::IsADirectory => FileError::NotAFile("a directory"),
            // An error of the wall has no number of the system.
            io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => FileError::Outside,
            io::ErrorKind::PermissionDenied => FileError::System("permission denied".to_owned()),
            // `Invalid argument (os error 22)` → `Invalid argument`
            _ => {
                let text = error.to_string();
                let said = text.split(" (os error").next().unwrap_or_default();
                FileError::System(said.to_owned())
            }
        }
    }
}

/// Drops needless parts of a path, so that one file has one name: `./src/a` → `src/a`.
pub(crate) fn plain(path: &Path) -> PathBuf {
    path.components().filter(|component| *component != Component::CurDir).collect()
}

pub(crate) fn open_regular(dir: &Dir, path: &Path) -> Result<File, FileError> {
    let mut options = OpenOptions::new();
    // A pipe without a writer would block us for ever, and a terminal would become ours.
    options.read(true).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    let file = match dir.open_with(path, &options) {
        Ok(file) => file,
        // A socket, or a device without a driver, cannot be opened, but its sort can be named for the model.
        Err(error) => match dir.metadata(path) {
            Ok(metadata) => {
                regular(&metadata)?;
                return Err(error.into());
            }
            Err(_) => return Err(error.into()),
        },
    };
    regular(&file.metadata()?)?;
    Ok(file.into_std())
}

/// Returns whether the file has other names, which may lie anywhere.
pub(crate) fn has_other_names(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| 1 < std::os::unix::fs::MetadataExt::nlink(&metadata))
}

fn regular(metadata: &Metadata) -> Result<(), FileError> {
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(FileError::NotAFile("a directory"))
    } else if metadata.is_symlink() {
        Err(FileError::NotAFile("a symbolic link"))
    } else {
        Err(FileError::NotAFile("a device, pipe or socket"))
    }
}

fn read_whole(file: File) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if MAX_FILE < bytes.len() as u64 { Err(FileError::TooLarge) } else { Ok(bytes) }
}
