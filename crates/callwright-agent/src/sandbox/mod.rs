//! The walls around a command, and the processes that hold them.
//!
//! A command is not started by the agent but by a *keeper*: our own binary, started anew. The keeper stays outside of the
//! walls. It starts the *first process* behind them, our binary once more, which raises them around itself and starts the
//! shell. The agent holds the keeper on a leash, a socket: when that closes, also because the agent was killed, everything
//! ends. So it does when the first process ends, however it does: in a process namespace the kernel ends all others with
//! it; where there is none, what is left becomes the keeper's own child, which it ends.
//!
//! Walls are for a thread and its children, and there is no way back. A process of its own, which has one thread when
//! it begins, also gets a session without a terminal, so that a command can neither draw on the user's nor read it.

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

/// What a command may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// The directories in which it may write.
    pub writable: Vec<PathBuf>,
    /// The directory in which it works: it reads all of it. What programs obey there, it neither changes nor makes.
    pub workspace: Option<PathBuf>,
    /// What it may read besides.
    pub readable: Vec<PathBuf>,
    /// What of `home` it finds in its place.
    pub toolchains: Vec<PathBuf>,
    /// The home of the user, of which it sees the writable and the toolchains alone; none where it lies in the workspace.
    pub home: Option<PathBuf>,
    /// What of the system is its own.
    pub apart: Apart,
    /// May it open network sockets?
    pub network: bool,
    /// How many processes it may have at once. With more, everything is ended.
    pub processes: usize,
    /// Are there walls at all? Only a person decides that there are none.
    pub confined: bool,
}

/// What of the system a command has for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Apart {
    /// Nothing. What is said of files holds for opening them alone: modes, owners, times and attributes are not held.
    #[default]
    Nothing,
    /// File systems, in which nothing but the writable can be changed in any way.
    Files,
    /// Also the processes: it sees its own alone, and none of them outlives the first.
    Processes,
}

/// What the first process is told by the keeper.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Within {
    walls: Walls,
    /// What in the writable it may not change all the same. Held by mounts alone.
    protected: Vec<PathBuf>,
    /// The capabilities that there were before there was a user namespace.
    capabilities: u64,
}

/// What became of the shell.
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

/// What the keeper tells the agent: nothing that the command started is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) told: Told,
    /// What the command made that programs would have obeyed.
    pub(crate) aside: Vec<Aside>,
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

    pub(crate) fn arguments(&self) -> impl Iterator<Item = OsString> {
        self.arguments.iter().cloned().chain([OsString::from(KEEPER)])
    }
}

const KEEPER: &str = "keeper";
const FIRST: &str = "first";
/// The longest line that the processes tell each other, in bytes. Walls name a path of at most 4 KiB for each place.
const LINE: u64 = 64 << 20;

/// Runs one command as its keeper, or as the first process behind its walls: `arguments` are what follows those of the
/// [`Launcher`].
///
/// To be called at the beginning of `main`, before there is another thread. The leash is the standard input.
pub fn keep(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Ok(leash) = io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let leash = UnixStream::from(leash);
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let done = match arguments.as_slice() {
        [role, command] if role == KEEPER => keeper::run(leash, command, arguments.len()),
        [role, command] if role == FIRST => first::run(leash, command),
        _ => return ExitCode::FAILURE,
    };
    // Where nobody listens any more, nobody is there to be told.
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One line of what the other side says.
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

/// The walls as a keeper is told them.
pub(crate) fn told(walls: &Walls) -> io::Result<Vec<u8>> {
    line(walls)
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
    let within = Within { walls, ..Within::default() };
    let thread = std::thread::Builder::new().spawn(move || walls::raise(&within));
    let thread = thread.map_err(|error| error.to_string())?;
    thread.join().unwrap_or_else(|_| Err("the sandbox could not be tested".to_owned()))
}

#[cfg(not(target_os = "linux"))]
fn probe() -> Result<(), String> {
    Err("only Linux has Landlock".to_owned())
}
