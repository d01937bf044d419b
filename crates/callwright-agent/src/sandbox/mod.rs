//! Builds the walls around a command, and runs the processes that hold them.
//!
//! The agent starts a command through a *keeper*: our own binary, started anew, which stays outside of the walls. The
//! keeper starts the *first process* behind them, our binary once more, which raises the walls around itself and starts
//! the shell. The agent holds the keeper on a leash, a socket: when it closes, also because the agent was killed,
//! everything ends. Everything also ends with the first process: in a process namespace the kernel ends all others with
//! it; elsewhere the remaining processes become the keeper's own children, which it ends.
//!
//! Walls hold for a thread and its children, and cannot be lowered. A separate process has one thread when it begins.
//! It also gets a session without a terminal, so that a command can neither draw on the user's terminal nor read it.

mod first;
mod keeper;
#[cfg(target_os = "linux")]
mod mounts;
mod processes;
mod reach;
#[cfg(target_os = "linux")]
mod walls;

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::configuration::Aside;

pub(crate) use reach::{home, readable, toolchains};

/// The rights of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// The directories that the command may write.
    pub writable: Vec<PathBuf>,
    /// The command's directory, which it may read in full. It may neither change nor make files there that programs
    /// obey.
    pub workspace: Option<PathBuf>,
    /// Other paths that the command may read.
    pub readable: Vec<PathBuf>,
    /// The parts of `home` that the command sees in their place.
    pub toolchains: Vec<PathBuf>,
    /// The user's home. The command sees only its writable parts and toolchains; `None` where it lies in the workspace.
    pub home: Option<PathBuf>,
    /// The parts of the system that are the command's own.
    pub apart: Apart,
    /// The command may open network sockets.
    pub network: bool,
    /// The most processes at once. Beyond that, everything is ended.
    pub processes: usize,
    /// There are walls. Only a person decides that there are none.
    pub confined: bool,
}

/// The parts of the system that a command has for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Apart {
    /// None. The walls control only the opening of files: not modes, owners, times and attributes.
    #[default]
    Nothing,
    /// File systems, in which only the writable parts can be changed in any way.
    Files,
    /// Also the processes: the command sees its own alone, and none of them outlives the first.
    Processes,
}

/// The keeper's message to the first process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Within {
    walls: Walls,
    /// The parts of the writable directories that the command may not change. Only mounts hold them.
    protected: Vec<PathBuf>,
    /// The capabilities from before the user namespace.
    capabilities: u64,
}

/// The end of the shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Told {
    /// The command was not started, and why.
    Failed(String),
    /// The command ended with this code.
    Exited(i32),
    /// The command was ended by this signal.
    Killed(i32),
}

/// The keeper's report to the agent: no process of the command is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) told: Told,
    /// The files that the command made and that programs would have obeyed.
    pub(crate) aside: Vec<Aside>,
}

/// The way in which the agent starts a keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Launcher {
    /// Creates a launcher of `program`: its call with `arguments` must pass the arguments behind those to [`keep`].
    pub fn new(program: impl Into<PathBuf>, arguments: &[&str]) -> Launcher {
        Launcher { program: program.into(), arguments: arguments.iter().map(OsString::from).collect() }
    }

    pub(crate) fn program(&self) -> &PathBuf {
        &self.program
    }

    pub(crate) fn arguments(&self) -> impl Iterator<Item = OsString> {
        self.arguments.iter().cloned().chain([OsString::from(KEEPER)])
    }
}

const KEEPER: &str = "keeper";
const FIRST: &str = "first";
/// The longest line between the processes, in bytes. Walls name a path of at most 4 KiB for each place.
const LINE: u64 = 64 << 20;

/// Runs one command as its keeper, or as the first process behind its walls. `arguments` are those behind the
/// [`Launcher`]'s.
///
/// Call it at the beginning of `main`, before there is another thread. The leash is the standard input.
pub fn keep(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Ok(leash) = io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let leash = UnixStream::from(leash);
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let done = match arguments.as_slice() {
        [role, command] if role == KEEPER => keeper::run(leash, command, arguments.len()),
        [role, command] if role == FIRST => first::run(leash, command),
        _ => return ExitCode::FAILURE,
    };
    // If nobody listens any more, nobody can be informed.
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reads one line of the other side.
fn heard<T: DeserializeOwned>(leash: &UnixStream) -> Result<T, String> {
    let mut line = String::new();
    let mut reader = BufReader::new(leash.take(LINE));
    reader.read_line(&mut line).map_err(|error| error.to_string())?;
    serde_json::from_str(&line).map_err(|error| format!("no usable walls: {error}"))
}

fn line(of: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(of)?;
    line.push(b'\n');
    Ok(line)
}

/// Returns the walls in the form for a keeper.
pub(crate) fn told(walls: &Walls) -> io::Result<Vec<u8>> {
    line(walls)
}

/// Returns whether this system can hold the walls; the error is the reason.
///
/// The first call asks a thread that walls itself in and ends.
pub fn confinement() -> Result<(), &'static str> {
    static ANSWER: OnceLock<Result<(), String>> = OnceLock::new();
    ANSWER.get_or_init(probe).as_ref().copied().map_err(String::as_str)
}

#[cfg(target_os = "linux")]
fn probe() -> Result<(), String> {
    let walls = Walls { processes: usize::MAX, confined: true, ..Walls::default() };
    let within = Within { walls, ..Within::default() };
    let thread = std::thread::Builder::new().spawn(move || walls::raise(&within));
    let thread = thread.map_err(|error| error.to_string())?;
    thread.join().unwrap_or_else(|_| Err("the sandbox could not be tested".to_owned()))
}

#[cfg(not(target_os = "linux"))]
fn probe() -> Result<(), String> {
    Err("only Linux has Landlock".to_owned())
}
