//! The memory of `setup` for each run, so that it can be undone: the former text of each file, and the text that it wrote.
//!
//! It stands in the user's state folder, `setup/AGENT/NUMBER`, readable for the user alone: files of agents may hold
//! keys. A run that changes what the last one wrote, and nobody else touched, takes its place.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::{Env, own_folder};
use crate::failure::Failure;
use crate::input;

/// The name of the record in the folder of a run.
const RECORD: &str = "record.json";

/// One run of `setup`.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Run {
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) files: Vec<Written>,
}

/// A file that was written.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Written {
    pub(crate) path: PathBuf,
    /// The former text; `None` where there was no file.
    pub(crate) before: Option<String>,
    pub(crate) after: String,
    /// The folders that were made for it, the outermost first.
    made: Vec<PathBuf>,
}

/// The runs for one agent that can be taken back.
pub(crate) struct Runs {
    folder: PathBuf,
}

impl Runs {
    /// Those for the agent of this name.
    ///
    /// # Errors
    /// The user has no folder to remember anything in.
    pub(crate) fn of(agent: &str, env: Env<'_>) -> Result<Runs, Failure> {
        let nowhere = || {
            Failure::Config(String::from(
                "there is no folder for what is changed: set HOME or XDG_STATE_HOME",
            ))
        };
        Ok(Runs { folder: own_folder(env).ok_or_else(nowhere)?.join("setup").join(agent) })
    }

    /// The last one, and its number.
    ///
    /// # Errors
    /// What was remembered cannot be read.
    pub(crate) fn last(&self) -> Result<Option<(u32, Run)>, Failure> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let Some(number) = numbers.max() else { return Ok(None) };
        let path = self.folder(number).join(RECORD);
        let text = input::text(&path)?;
        let run =
            serde_json::from_str(&text).map_err(|error| Failure::Definitions(path, error.to_string()))?;
        Ok(Some((number, run)))
    }

    /// Returns the folder in which the files of a run are kept as they were.
    pub(crate) fn folder(&self, number: u32) -> PathBuf {
        self.folder.join(number.to_string())
    }

    /// Remembers a run, and then writes its files. What was there is read again just before: nobody else's change is lost.
    ///
    /// # Errors
    /// Something cannot be written, or has changed since it was read.
    pub(crate) fn write(&self, url: &str, model: &str, changes: Vec<Change>) -> Result<u32, Failure> {
        let last = self.last()?;
        let mut number = last.as_ref().map_or(1, |(number, _)| number + 1);
        let mut run = Run { url: url.to_owned(), model: model.to_owned(), files: Vec::new() };
        let goes_on = |run: &Run| {
            changes.iter().all(|change| {
                let same = run.files.iter().find(|written| written.path == change.path);
                same.is_none_or(|written| Some(&written.after) == change.before.as_ref())
            })
        };
        // Taking back two runs of our own at once is what the user means.
        if let Some((of, before)) = last.filter(|(_, run)| goes_on(run)) {
            number = of;
            run.files = before.files;
        }
        for Change { path, before, after } in changes {
            match run.files.iter_mut().find(|written| written.path == path) {
                Some(written) => written.after = after,
                None => {
                    let made = missing_folders(&path);
                    run.files.push(Written { path, before, after, made });
                }
            }
        }
        self.remember(number, &run)?;
        for written in &run.files {
            put(&written.path, &written.after)?;
        }
        Ok(number)
    }

    fn remember(&self, number: u32, run: &Run) -> Result<(), Failure> {
        let folder = self.folder(number);
        let failed = |error| Failure::Record(folder.clone(), error);
        private_folder(&folder).map_err(failed)?;
        for (n, written) in run.files.iter().enumerate() {
            if let Some(before) = &written.before {
                put(&folder.join(format!("{n}.before")), before)?;
            }
        }
        let record = serde_json::to_string_pretty(run).map_err(|error| failed(error.into()))?;
        put(&folder.join(RECORD), &(record + "\n"))
    }

    /// Takes a run back: every file is as it was, and what was made for it is gone.
    ///
    /// # Errors
    /// Something cannot be written.
    pub(crate) fn undo(&self, number: u32, run: &Run) -> Result<(), Failure> {
        for written in &run.files {
            match &written.before {
                Some(before) => put(&written.path, before)?,
                None => match fs::remove_file(&written.path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(Failure::Record(written.path.clone(), error));
                    }
                    Ok(()) | Err(_) => {}
                },
            }
            // Only what is empty goes.
            for folder in written.made.iter().rev() {
                let _ = fs::remove_dir(folder);
            }
        }
        let folder = self.folder(number);
        fs::remove_dir_all(&folder).map_err(|error| Failure::Record(folder, error))?;
        for folder in self.folder.ancestors().take(2) {
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }
}

/// A file that is to be written.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) before: Option<String>,
    pub(crate) after: String,
}

/// Reads a file; `None` where there is none. Every byte counts.
///
/// # Errors
/// It cannot be read, or is not text.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::Read(path.to_owned(), error)),
        Ok(_) => input::answer(path, "a file").map(Some),
    }
}

/// The folders that have to be made for a file.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let folders =
        path.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let mut folders: Vec<PathBuf> = folders.map(Path::to_owned).collect();
    folders.reverse();
    folders
}

/// Writes a text to a file, whole or not at all. A link stays one, and rights stay; a new file is the user's alone, for it
/// may hold a key.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), Failure> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let failed = |error| Failure::Record(path.clone(), error);
    let folder = path.parent().unwrap_or(Path::new("."));
    if !folder.as_os_str().is_empty() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = private_file(&new).and_then(|mut file| {
        if let Ok(there) = fs::metadata(&path) {
            file.set_permissions(there.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &path)
    });
    written.map_err(|error| {
        let _ = fs::remove_file(&new);
        failed(error)
    })
}

fn private_file(path: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
