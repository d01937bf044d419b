//! The walls around a command, and the process that holds them.
//!
//! A command is not started by the agent but by a *keeper*: our own binary, started anew. It walls itself in, starts
//! the shell, and stays: whatever the command leaves behind becomes its child, and ends with it. The agent holds it on
//! a leash, a socket: when that closes, also because the agent was killed, everything ends.
//!
//! Walls are for a thread and its children, and there is no way back. A process of its own, which has one thread when
//! it begins, also gets a session without a terminal, so that a command can neither draw on the user's nor read it.

mod keeper;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has walls"))]
mod reach;
#[cfg(target_os = "linux")]
mod walls;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

pub use keeper::keep;
pub(crate) use reach::{home, toolchains};

/// What a command may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// The directories in which it may write.
    pub writable: Vec<PathBuf>,
    /// What in them it may not change all the same. Held by mounts alone.
    pub protected: Vec<PathBuf>,
    /// What it may read besides what anybody may read: toolchains.
    pub readable: Vec<PathBuf>,
    /// What it may not read, though anybody may.
    pub hidden: Vec<PathBuf>,
    /// The home of the user, of which it sees the writable and the readable alone; none where it lies in the workspace.
    pub home: Option<PathBuf>,
    /// Does it get file systems of its own, in which nothing but the writable can be changed in any way? Where the system
    /// admits none, what is said of files holds for opening them alone: modes, owners, times and attributes are not held.
    pub mounted: bool,
    /// May it open network sockets?
    pub network: bool,
    /// How many processes it may have at once. With more, everything is ended.
    pub processes: usize,
    /// Are there walls at all? Only a person decides that there are none.
    pub confined: bool,
}

/// What the keeper tells the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Told {
    /// The command was not started, and why.
    Failed(String),
    /// The command ended with this code, and nothing that it started is left.
    Exited(i32),
    /// The command was ended by this signal, and nothing that it started is left.
    Killed(i32),
}

/// How the agent starts a keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Launcher {
    /// `program`, called with `arguments`, calls [`keep`] with what follows them.
    pub fn new(program: impl Into<PathBuf>, arguments: &[&str]) -> Launcher {
        Launcher { program: program.into(), arguments: arguments.iter().map(OsString::from).collect() }
    }

    pub(crate) fn program(&self) -> &PathBuf {
        &self.program
    }

    pub(crate) fn arguments(&self) -> &[OsString] {
        &self.arguments
    }
}

/// Can this system hold the walls? If not, why.
///
/// Asked once, by a thread that walls itself in and ends.
pub fn confinement() -> Result<(), &'static str> {
    static ANSWER: OnceLock<Result<(), String>> = OnceLock::new();
    ANSWER.get_or_init(probe).as_ref().copied().map_err(String::as_str)
}

#[cfg(target_os = "linux")]
fn probe() -> Result<(), String> {
    let walls = Walls { processes: usize::MAX, confined: true, ..Walls::default() };
    let thread = std::thread::Builder::new().spawn(move || walls::raise(&walls));
    let thread = thread.map_err(|error| error.to_string())?;
    thread.join().unwrap_or_else(|_| Err("the sandbox could not be tested".to_owned()))
}

#[cfg(not(target_os = "linux"))]
fn probe() -> Result<(), String> {
    Err("only Linux has Landlock".to_owned())
}
