//! Records the changes of a run in the workspace, and undoes them.
//!
//! Before a tool writes or deletes a file, its old content is kept outside of the workspace under its hash. A line
//! about the change is written as well. So a change can be undone even after the program was killed.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_std::fs::{Permissions, PermissionsExt};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::configuration;
use crate::rights::Why;
use crate::tool::CallContext;
use crate::workspace::{FileError, Found, Place, Workspace, has_other_names};

/// The default bound on the bytes that are kept.
const KEPT: u64 = 256 << 20;
/// The longest record of changes that is read back, in bytes.
const MAX_RECORD: u64 = 64 << 20;

/// Makes a folder and its missing parents, for their owner alone.
pub(crate) fn private_dir(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The changes of one run, with the old contents.
///
/// ```
/// # let (folder, kept) = (tempfile::tempdir()?, tempfile::tempdir()?);
/// use std::sync::Arc;
/// use callwright_agent::{Changes, Workspace};
///
/// let workspace = Arc::new(Workspace::open(folder.path())?);
/// let changes = Changes::open(kept.path(), workspace.clone())?;
/// changes.write("call_1", "a.txt", b"one")?;
/// changes.write("call_2", "a.txt", b"two")?;
/// changes.undo("call_3", None)?;
/// assert_eq!(workspace.read("a.txt")?, b"one");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Changes {
    workspace: Arc<Workspace>,
    folder: PathBuf,
    max_kept: u64,
    log: Mutex<Log>,
}

#[derive(Debug)]
struct Log {
    record: File,
    changes: Vec<Change>,
    kept: u64,
}

/// One change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The change's number, counted from 1.
    pub number: u64,
    /// The id of the call that made the change.
    pub call: String,
    /// The path beneath the workspace, without links.
    pub path: PathBuf,
    /// The state before the change.
    pub before: State,
    /// The state after the change.
    pub after: State,
    /// The directories that the change made, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<PathBuf>,
    /// The number of the change that this one undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
}

/// The state of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing exists there.
    Nothing,
    /// A file.
    File {
        /// SHA-256 of its bytes, in hexadecimal.
        hash: String,
        /// The number of bytes.
        bytes: u64,
        /// Its Unix permissions.
        mode: u32,
    },
    /// A symbolic link to this target.
    Link(PathBuf),
}

impl State {
    fn of(found: &Found) -> State {
        match found {
            Found::Nothing => State::Nothing,
            Found::Link(target) => State::Link(target.clone()),
            Found::File { bytes, permissions, .. } => State::file(bytes, permissions.mode()),
        }
    }

    fn file(bytes: &[u8], mode: u32) -> State {
        State::File { hash: hash(bytes), bytes: bytes.len() as u64, mode: mode & 0o7777 }
    }

    /// Returns whether both states are the same to a reader. Permissions do not count: a system may give a new file
    /// others than requested.
    fn reads_like(&self, other: &State) -> bool {
        match (self, other) {
            (State::File { hash, .. }, State::File { hash: other, .. }) => hash == other,
            _ => self == other,
        }
    }
}

/// The call on whose behalf a change is made.
#[derive(Clone, Copy, Debug)]
pub struct By<'c> {
    /// The id of the call.
    pub call: &'c str,
    /// Somebody approved this very call, so it may change files that programs obey.
    pub approved: bool,
}

impl<'c> From<&'c str> for By<'c> {
    /// Makes the origin of a change by a call that nobody approved.
    fn from(call: &'c str) -> By<'c> {
        By { call, approved: false }
    }
}

impl<'c> From<&'c CallContext> for By<'c> {
    fn from(context: &'c CallContext) -> By<'c> {
        By { call: &context.call_id, approved: context.approved }
    }
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The change's number, which undoes it.
    pub number: u64,
    /// The file's size after the change, in bytes.
    pub bytes: u64,
    /// The change can be undone; not so if the bound on kept bytes is exceeded.
    pub can_be_undone: bool,
}

impl Changes {
    /// Opens the record in `folder`, and makes the folder where it is missing.
    ///
    /// # Errors
    /// Fails when the folder cannot be used, or lies in the workspace, where a tool could reach it.
    pub fn open(folder: &Path, workspace: Arc<Workspace>) -> io::Result<Changes> {
        private_dir(&folder.join("objects"))?;
        let folder = folder.canonicalize()?;
        if folder.starts_with(workspace.root()) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{} lies in the workspace: what is kept must stand outside", folder.display()),
            ));
        }
        let path = folder.join("changes.jsonl");
        let mut record = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
        let mut text = String::new();
        (&mut record).take(MAX_RECORD).read_to_string(&mut text)?;
        // A line that a crash cut belongs to a change that was not made.
        let changes = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if !text.is_empty() && !text.ends_with('\n') {
            record.write_all(b"\n")?;
        }
        let mut kept = 0;
        for entry in fs::read_dir(folder.join("objects"))? {
            kept += entry?.metadata()?.len();
        }
        Ok(Changes { workspace, folder, max_kept: KEPT, log: Mutex::new(Log { record, changes, kept }) })
    }

    /// Returns these changes with this bound on the kept bytes.
    pub fn keeping(self, bytes: u64) -> Changes {
        Changes { max_kept: bytes, ..self }
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// Returns all changes so far, oldest first.
    pub fn list(&self) -> Vec<Change> {
        self.log().changes.clone()
    }

    /// Returns the reason why a person must approve any change of the file at `path`. `reads` says that its old content
    /// goes into the new one.
    pub(crate) fn needs_approval(&self, path: &str, reads: bool) -> Option<Why> {
        let resolved = self.workspace.resolved(path).ok()?;
        if configuration::holds(self.workspace.dir(), &resolved) {
            return Some(Why::Configures);
        }
        let file = reads.then(|| self.workspace.open_file(path).ok())??;
        has_other_names(&file).then_some(Why::Linked)
    }

    /// Returns the same reason as [`Changes::needs_approval`], for the file that undoing change `number` restores.
    pub(crate) fn undoing_needs_approval(&self, number: Option<u64>) -> Option<Why> {
        let change = to_undo(&self.log().changes, number).ok()?;
        configuration::holds(self.workspace.dir(), &change.path).then_some(Why::Configures)
    }

    /// Writes `bytes` as the content of the file at `path`, and makes the directories above it.
    ///
    /// # Errors
    /// Fails, and changes nothing, when the file cannot be written, or only with an approval.
    pub fn write<'c>(&self, by: impl Into<By<'c>>, path: &str, bytes: &[u8]) -> Result<Changed, ChangeError> {
        self.put(by.into(), path, true, false, |_| Ok::<_, ChangeError>(bytes.to_vec()))
    }

    /// Replaces the content of the file at `path` by the result of `edit`, which receives the present content, or
    /// `None` for a missing file. No other change of this run comes between.
    ///
    /// # Errors
    /// Fails, and changes nothing, when the file cannot be read or written, or only with an approval; also when `edit`
    /// fails.
    pub fn edit<'c, E: From<ChangeError>>(
        &self,
        by: impl Into<By<'c>>,
        path: &str,
        make_folders: bool,
        edit: impl FnOnce(Option<&[u8]>) -> Result<Vec<u8>, E>,
    ) -> Result<Changed, E> {
        self.put(by.into(), path, make_folders, true, edit)
    }

    fn put<E: From<ChangeError>>(
        &self,
        by: By<'_>,
        path: &str,
        make_folders: bool,
        reads: bool,
        edit: impl FnOnce(Option<&[u8]>) -> Result<Vec<u8>, E>,
    ) -> Result<Changed, E> {
        let mut log = self.log();
        let resolved = self.workspace.resolved(path).map_err(ChangeError::from)?;
        self.admit(by, &resolved)?;
        let place = self.workspace.place(path, make_folders).map_err(ChangeError::from)?;
        // A link may have changed its target since.
        self.admit(by, place.path())?;
        let found = place.found().map_err(ChangeError::from)?;
        let (bytes, mode) = match &found {
            Found::Nothing => (edit(None)?, 0o666),
            Found::File { names: 2.., .. } if reads && !by.approved => {
                return Err(ChangeError::from(FileError::Linked).into());
            }
            Found::File { bytes, permissions, .. } => (edit(Some(bytes))?, permissions.mode()),
            Found::Link(_) => return Err(ChangeError::from(FileError::NotAFile("a symbolic link")).into()),
        };
        let after = State::file(&bytes, mode);
        let (number, can_be_undone) = self.begin(&mut log, by.call, &place, &found, after, None)?;
        place.replace(&bytes, None).map_err(ChangeError::from)?;
        Ok(Changed { number, bytes: bytes.len() as u64, can_be_undone })
    }

    /// Deletes the file or symbolic link at `path`.
    ///
    /// # Errors
    /// Fails, and changes nothing, when there is no such file, or only with an approval.
    pub fn delete<'c>(&self, by: impl Into<By<'c>>, path: &str) -> Result<Changed, ChangeError> {
        let by = by.into();
        let mut log = self.log();
        let place = self.workspace.entry(path)?;
        self.admit(by, place.path())?;
        let found = place.found()?;
        if matches!(found, Found::Nothing) {
            return Err(FileError::Missing.into());
        }
        let (number, can_be_undone) = self.begin(&mut log, by.call, &place, &found, State::Nothing, None)?;
        place.remove()?;
        Ok(Changed { number, bytes: 0, can_be_undone })
    }

    fn admit(&self, by: By<'_>, path: &Path) -> Result<(), ChangeError> {
        let is_admitted = by.approved || !configuration::holds(self.workspace.dir(), path);
        if is_admitted { Ok(()) } else { Err(ChangeError::Configuration) }
    }

    /// Restores the state before change `number`, or before the last change that still stands. It also undoes later
    /// changes of the same file. It returns the change whose `before` is restored.
    ///
    /// Fails when nothing can be undone, or the old content was not kept. It also fails when somebody else changed the
    /// file since, or when an approval is needed.
    pub fn undo<'c>(&self, by: impl Into<By<'c>>, number: Option<u64>) -> Result<Change, ChangeError> {
        let by = by.into();
        let mut log = self.log();
        let change = to_undo(&log.changes, number)?;
        self.admit(by, &change.path)?;
        let place = self.workspace.entry(&change.path.to_string_lossy())?;
        let found = place.found()?;
        let last = log.changes.iter().rfind(|other| other.path == change.path).unwrap_or(&change);
        let now = State::of(&found);
        if now.reads_like(&change.before) {
            // The program was killed between record and change, or somebody has undone the change already.
        } else if !now.reads_like(&last.after) {
            return Err(ChangeError::Elsewhere(change.path));
        }
        let content = match &change.before {
            State::File { hash, .. } => {
                Some(fs::read(self.object(hash)).map_err(|_| ChangeError::NotKept(change.number))?)
            }
            State::Nothing | State::Link(_) => None,
        };
        self.begin(&mut log, by.call, &place, &found, change.before.clone(), Some(change.number))?;
        match (&change.before, content) {
            (State::File { mode, .. }, Some(bytes)) => {
                place.replace(&bytes, Some(Permissions::from_mode(*mode)))?;
            }
            (State::Link(target), _) => {
                if !matches!(found, Found::Nothing) {
                    place.remove()?;
                }
                place.link(target)?;
            }
            (State::Nothing | State::File { .. }, _) => {
                if !matches!(found, Found::Nothing) {
                    place.remove()?;
                }
                for made in change.made.iter().rev() {
                    // Somebody may have put something into the directory.
                    let _ = self.workspace.dir().remove_dir(made);
                }
            }
        }
        Ok(change)
    }

    /// Keeps the old content and records the coming change. Returns the change's number, and whether it can be undone.
    fn begin(
        &self,
        log: &mut Log,
        call: &str,
        place: &Place,
        found: &Found,
        after: State,
        undoes: Option<u64>,
    ) -> Result<(u64, bool), ChangeError> {
        let before = State::of(found);
        let is_kept = match (found, &before) {
            (Found::File { bytes, .. }, State::File { hash, .. }) => self.keep(log, hash, bytes)?,
            _ => true,
        };
        let change = Change {
            number: log.changes.last().map_or(0, |change| change.number) + 1,
            call: call.to_owned(),
            path: place.path().to_owned(),
            before,
            after,
            made: place.made().to_vec(),
            undoes,
        };
        let mut line = serde_json::to_string(&change).map_err(io::Error::from)?;
        line.push('\n');
        log.record.write_all(line.as_bytes())?;
        log.record.sync_data()?;
        let number = change.number;
        log.changes.push(change);
        Ok((number, is_kept))
    }

    /// Keeps `bytes` under their hash; returns false where that would exceed the bound.
    fn keep(&self, log: &mut Log, hash: &str, bytes: &[u8]) -> io::Result<bool> {
        let object = self.object(hash);
        if object.exists() {
            return Ok(true);
        }
        let kept = log.kept + bytes.len() as u64;
        if self.max_kept < kept {
            return Ok(false);
        }
        let temporary = object.with_extension("tmp");
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        fs::rename(temporary, object)?;
        log.kept = kept;
        Ok(true)
    }

    fn object(&self, hash: &str) -> PathBuf {
        self.folder.join("objects").join(hash)
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // A panic leaves the log whole, as one step appends to it.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the change `number`, or the last one, if it still stands.
fn to_undo(changes: &[Change], number: Option<u64>) -> Result<Change, ChangeError> {
    let standing = standing(changes);
    let change = match number {
        Some(number) => {
            let known = changes.iter().any(|change| change.number == number);
            let found = standing.iter().find(|change| change.number == number);
            found.ok_or(if known { ChangeError::Undone(number) } else { ChangeError::Unknown(number) })?
        }
        None => standing.last().ok_or(ChangeError::Nothing)?,
    };
    Ok(Change::clone(change))
}

/// Returns the changes that nobody undid and that undo none, in order.
fn standing(changes: &[Change]) -> Vec<&Change> {
    let mut by_path: HashMap<&Path, Vec<&Change>> = HashMap::new();
    for change in changes {
        let of_file = by_path.entry(&change.path).or_default();
        match change.undoes {
            None => of_file.push(change),
            Some(number) => of_file.retain(|earlier| earlier.number < number),
        }
    }
    let mut standing: Vec<&Change> = by_path.into_values().flatten().collect();
    standing.sort_by_key(|change| change.number);
    standing
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The reason why a file is not changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ChangeError {
    /// The file cannot be reached.
    File(FileError),
    /// Programs obey the file, and nobody approved a change of it.
    Configuration,
    /// The old content cannot be kept.
    Keeping(io::Error),
    /// There is no change, or every change is undone.
    Nothing,
    /// No change has this number.
    Unknown(u64),
    /// The change of this number is undone already.
    Undone(u64),
    /// The content before this change was not kept.
    NotKept(u64),
    /// Somebody else changed this file since.
    Elsewhere(PathBuf),
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeError::File(error) => error.fmt(f),
            ChangeError::Configuration => {
                write!(f, "not changed: {}; only the user can allow it", Why::Configures)
            }
            ChangeError::Keeping(error) => write!(f, "what stood there before cannot be kept: {error}"),
            ChangeError::Nothing => f.write_str("there is no change that could be undone"),
            ChangeError::Unknown(number) => write!(f, "there is no change {number}"),
            ChangeError::Undone(number) => write!(f, "change {number} is undone already"),
            ChangeError::NotKept(number) => {
                write!(f, "what stood there before change {number} was not kept: it was too large")
            }
            ChangeError::Elsewhere(path) => {
                write!(f, "{} was changed by somebody else since: read it first", path.display())
            }
        }
    }
}

impl std::error::Error for ChangeError {}

impl From<FileError> for ChangeError {
    fn from(error: FileError) -> ChangeError {
        ChangeError::File(error)
    }
}

impl From<io::Error> for ChangeError {
    fn from(error: io::Error) -> ChangeError {
        ChangeError::Keeping(error)
    }
}
