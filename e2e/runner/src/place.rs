//! A folder with a home and a place of work, of one client alone.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

/// Where a program runs. It goes when it is dropped.
pub(crate) struct Place {
    folder: PathBuf,
}

impl Place {
    /// A new one, with these files to work on.
    pub(crate) fn new(files: &BTreeMap<String, String>) -> Result<Place> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("callwright-place-{}-{number}", std::process::id()));
        let place = Place { folder };
        fs::create_dir_all(place.home())?;
        fs::create_dir_all(place.work())?;
        for (name, text) in files {
            fs::write(place.work().join(name), text)?;
        }
        Ok(place)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// A file that neither home nor work holds.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// What runs a program here for so many seconds at most: with these folders before its path and these variables, and
    /// without the surroundings' own. The program is still to be added.
    pub(crate) fn command(&self, bins: &[PathBuf], variables: &[String], patience: &str) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let bins: String = bins.iter().map(|bin| format!("{}:", bin.display())).collect();
        let mut command = Command::new("env");
        command.arg("-i").arg(format!("PATH={bins}{path}"));
        command.arg(format!("HOME={}", self.home().display())).args(["LANG=C.UTF-8", "TERM=dumb"]);
        // Where the network is everybody's: nobody listens at port 9.
        for name in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"] {
            command.arg(format!("{name}=http://127.0.0.1:9"));
        }
        command.args(variables.iter().map(OsStr::new));
        command.arg("NO_PROXY=127.0.0.1,localhost").args(["timeout", "--kill-after=5", patience]);
        command.current_dir(self.work());
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What is left lies where all temporary files lie.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
