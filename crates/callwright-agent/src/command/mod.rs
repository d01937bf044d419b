//! Starts, reads, awaits and ends shell commands behind walls.

mod environment;
mod output;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::unix::pipe::Receiver as Pipe;
use tokio::process::{Child, Command};
use tokio::sync::watch;

pub(crate) use environment::is_harmless;
use output::Output;

use crate::changes::private_dir;
use crate::configuration::Aside;
use crate::sandbox::{Apart, Launcher, Report, Told, Walls, confinement, home, readable, told, toolchains};

/// The longest command, in bytes: the system takes no argument of more than 128 KiB.
const MAX_COMMAND: usize = 64 << 10;
/// The most commands that run at once.
const MAX_RUNNING: usize = 16;
/// The most processes of one command.
const PROCESSES: usize = 1024;
/// The keeper's time to end everything and to check the workspace.
const TO_END: Duration = Duration::from_secs(10);

/// The commands of a run.
#[derive(Debug)]
pub struct Commands {
    launcher: Launcher,
    folder: PathBuf,
    temporary: PathBuf,
    environment: Vec<(OsString, OsString)>,
    network: bool,
    processes: usize,
    home: Option<PathBuf>,
    hidden: Vec<PathBuf>,
    granted: Vec<PathBuf>,
    at_most: Apart,
    toolchains: Vec<PathBuf>,
    /// The readable parts of the system and of the toolchains, as first computed.
    readable: OnceLock<Vec<PathBuf>>,
    /// The parts of the system that a command has for itself, and the reason for missing ones, as first tried.
    apart: OnceLock<(Apart, Option<String>)>,
    running: Mutex<BTreeMap<u64, Arc<Running>>>,
}

impl Commands {
    /// Prepares commands in `folder`, the workspace, with a directory of their own for temporary files. They get the
    /// variables of `environment`, the user's, that are known to be harmless.
    ///
    /// # Errors
    /// Fails when `temporary` cannot be made.
    pub fn new(
        launcher: Launcher,
        folder: &Path,
        temporary: &Path,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> io::Result<Commands> {
        private_dir(temporary)?;
        let temporary = temporary.canonicalize()?;
        let mut environment: Vec<_> = environment.into_iter().filter(|(name, _)| is_harmless(name)).collect();
        environment.push(("TMPDIR".into(), temporary.clone().into()));
        environment.push(("TERM".into(), "dumb".into()));
        let folder = folder.canonicalize()?;
        // A user who works in the whole home has it as the workspace.
        let home = home(&environment).filter(|home| !home.starts_with(&folder));
        let toolchains = toolchains(&environment, home.as_deref(), &folder);
        Ok(Commands {
            launcher,
            folder,
            temporary,
            environment,
            network: false,
            processes: PROCESSES,
            hidden: home.iter().cloned().collect(),
            granted: Vec::new(),
            at_most: Apart::Processes,
            home,
            toolchains,
            readable: OnceLock::new(),
            apart: OnceLock::new(),
            running: Mutex::new(BTreeMap::new()),
        })
    }

    /// Returns these commands without access to `paths`, such as the records of other runs, wherever they lie.
    pub fn with_hidden(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Commands {
        self.hidden.extend(paths.into_iter().filter_map(|path| path.canonicalize().ok()));
        self
    }

    /// Returns these commands with read access to all beneath `paths`.
    pub fn with_readable(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Commands {
        self.granted.extend(paths.into_iter().filter_map(|path| path.canonicalize().ok()));
        self
    }

    /// Returns these commands with at most this much of the system for themselves, as on a system without namespaces.
    pub fn with_at_most(self, apart: Apart) -> Commands {
        Commands { at_most: apart, ..self }
    }

    /// Returns what this system's walls leave open, and why; `None` if they hold everything. The first call tries a
    /// command that does nothing.
    pub fn unheld(&self) -> Option<&str> {
        self.apart().1.as_deref()
    }

    fn apart(&self) -> &(Apart, Option<String>) {
        let try_out = || {
            if confinement().is_err() {
                return (Apart::Nothing, None);
            }
            let whole = self.comes_to(Apart::Processes);
            let Err(why) = whole else { return (Apart::Processes, None) };
            match self.comes_to(Apart::Files) {
                Ok(()) => (Apart::Files, Some(format!("{OF_PROCESSES}: {why}"))),
                Err(why) => {
                    let files = "commands can change modes, owners and times of your files outside of the workspace, \
                                 and .git and callwright.toml in it";
                    (Apart::Nothing, Some(format!("{files}; {OF_PROCESSES}: {why}")))
                }
            }
        };
        self.apart.get_or_init(try_out)
    }

    /// Tries the walls with a command that does nothing.
    fn comes_to(&self, apart: Apart) -> Result<(), String> {
        if self.at_most < apart {
            return Err("it is not asked for".to_owned());
        }
        let walls = Walls { apart, ..self.walls(false) };
        match tried(&self.launcher, &self.folder, &walls) {
            Ok(Told::Exited(0)) => Ok(()),
            Ok(Told::Failed(why)) => Err(why),
            Ok(told) => Err(format!("{told:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    fn walls(&self, reads_only: bool) -> Walls {
        let workspace = (!reads_only).then(|| self.folder.clone());
        let readable = self.readable.get_or_init(|| {
            let found = readable(&self.toolchains, &self.hidden);
            found.into_iter().chain(self.granted.iter().cloned()).collect()
        });
        Walls {
            writable: workspace.into_iter().chain([self.temporary.clone()]).collect(),
            workspace: Some(self.folder.clone()),
            readable: readable.clone(),
            toolchains: self.toolchains.iter().chain(&self.granted).cloned().collect(),
            home: self.home.clone(),
            apart: Apart::Nothing,
            network: self.network,
            processes: self.processes,
            confined: true,
        }
    }

    /// Returns these commands with access to the network.
    pub fn with_network(self) -> Commands {
        Commands { network: true, ..self }
    }

    /// Returns these commands with at most this many processes each at once. The default is 1,024.
    pub fn with_processes(self, processes: usize) -> Commands {
        Commands { processes, ..self }
    }

    /// Returns whether commands may reach the network.
    pub fn has_network(&self) -> bool {
        self.network
    }

    /// Starts a command in a shell.
    ///
    /// # Errors
    /// Fails when the command cannot be started, or not behind walls.
    pub async fn start(&self, launch: Launch<'_>) -> Result<Arc<Running>, CommandError> {
        let command = launch.command;
        if MAX_COMMAND < command.len() || command.contains('\0') {
            return Err(CommandError::NotACommand);
        }
        let confined = match confinement() {
            Ok(()) => true,
            Err(_) if launch.unconfined => false,
            Err(why) => return Err(CommandError::Unconfined(why)),
        };
        let walls = Walls { apart: self.apart().0, confined, ..self.walls(launch.reads_only) };
        let (ours, theirs) = StdStream::pair()?;
        let (output, writer) = io::pipe()?;
        let mut keeper = Command::new(self.launcher.program());
        keeper
            .args(self.launcher.arguments())
            .arg(command)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.folder);
        let child = keeper.spawn()?;
        // The process holds our ends of the keeper's pipes.
        drop(keeper);
        ours.set_nonblocking(true)?;
        let (heard, mut leash) = UnixStream::from_std(ours)?.into_split();
        leash.write_all(&told(&walls)?).await?;
        let (ended, end) = watch::channel(None);
        let output_kept = Arc::new(Mutex::new(Output::new(launch.max_output)));
        let running = Running {
            command: command.to_owned(),
            leash: Mutex::new(Some(leash)),
            output: output_kept.clone(),
            end,
        };
        let pipe = Pipe::from_owned_fd(OwnedFd::from(output))?;
        tokio::spawn(attend(child, BufReader::new(heard), pipe, output_kept, ended));
        Ok(Arc::new(running))
    }

    /// Keeps a running command under a number for later requests.
    ///
    /// # Errors
    /// Fails when the number of running commands is at its bound.
    pub fn keep(&self, running: Arc<Running>) -> Result<u64, CommandError> {
        let mut all = self.running();
        // An ended command is kept until its result is read, or until room is needed.
        if MAX_RUNNING <= all.len() {
            let ended = all.iter().find(|(_, running)| running.end().is_some()).map(|(id, _)| *id);
            all.remove(&ended.ok_or(CommandError::TooMany)?);
        }
        let id = all.last_key_value().map_or(1, |(id, _)| id + 1);
        all.insert(id, running);
        Ok(id)
    }

    /// Returns the command that is kept under this number.
    pub fn get(&self, id: u64) -> Option<Arc<Running>> {
        self.running().get(&id).cloned()
    }

    /// Forgets a command that has ended.
    pub fn forget(&self, id: u64) {
        self.running().remove(&id);
    }

    /// Returns the numbers of the commands that are kept.
    pub fn ids(&self) -> Vec<u64> {
        self.running().keys().copied().collect()
    }

    /// Ends all commands.
    pub async fn end_all(&self) {
        let all = std::mem::take(&mut *self.running());
        for running in all.values() {
            running.let_go();
        }
        for running in all.values() {
            running.stop().await;
        }
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Running>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sentence about processes on a system without process namespaces.
const OF_PROCESSES: &str =
    "commands see which programs run, and on kernels before 6.12 what they start can outlive them";

/// A command that is to be started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Launch<'c> {
    /// The text for the shell.
    pub command: &'c str,
    /// The most bytes of its output to keep.
    pub max_output: usize,
    /// The command may run without walls where the system has none; a person decides so.
    pub unconfined: bool,
    /// The command may not write in the workspace.
    pub reads_only: bool,
}

/// A started command. It ends, with all that it started, once its last holder drops it.
#[derive(Debug)]
pub struct Running {
    command: String,
    leash: Mutex<Option<OwnedWriteHalf>>,
    output: Arc<Mutex<Output>>,
    end: watch::Receiver<Option<(End, Vec<Aside>)>>,
}

/// The way in which a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The command exited with this code.
    Exited(i32),
    /// This signal killed the command.
    Killed(i32),
    /// The command was never started, for this reason.
    Failed(String),
}

impl Running {
    /// Returns the text of the command.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Returns the command's end, if it has ended.
    pub fn end(&self) -> Option<End> {
        self.end.borrow().as_ref().map(|(end, _)| end.clone())
    }

    /// Returns the files that it made and that programs would have obeyed; they were renamed at its end.
    pub(crate) fn aside(&self) -> Vec<Aside> {
        self.end.borrow().as_ref().map(|(_, aside)| aside.clone()).unwrap_or_default()
    }

    /// Waits for the command's end.
    pub async fn wait(&self) -> End {
        let mut end = self.end.clone();
        let ended = end.wait_for(Option::is_some).await;
        let lost = || End::Failed("its keeper was lost".to_owned());
        ended.ok().and_then(|end| Some(end.as_ref()?.0.clone())).unwrap_or_else(lost)
    }

    /// Ends the command with all that it started, and waits for that.
    pub async fn stop(&self) -> End {
        self.let_go();
        self.wait().await
    }

    /// Returns what the command wrote to both outputs since the last request.
    pub fn take_output(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn let_go(&self) {
        self.leash.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Returns the result of a command that does nothing behind these walls.
fn tried(launcher: &Launcher, folder: &Path, walls: &Walls) -> io::Result<Told> {
    let (mut ours, theirs) = StdStream::pair()?;
    let mut keeper = std::process::Command::new(launcher.program());
    keeper
        .args(launcher.arguments())
        .arg(":")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .env_clear()
        .current_dir(folder);
    let mut child = keeper.spawn()?;
    drop(keeper);
    // There is no workspace to check.
    ours.write_all(&told(&Walls { workspace: None, ..walls.clone() })?)?;
    let mut heard = String::new();
    ours.read_to_string(&mut heard)?;
    child.wait()?;
    let report: Report = serde_json::from_str(&heard)?;
    Ok(report.told)
}

/// Reads a command's output until the keeper has reported the end and is gone.
async fn attend(
    mut child: Child,
    mut told: BufReader<tokio::net::unix::OwnedReadHalf>,
    mut pipe: Pipe,
    output: Arc<Mutex<Output>>,
    ended: watch::Sender<Option<(End, Vec<Aside>)>>,
) {
    let reading = async {
        let mut piece = vec![0; 16 << 10];
        while let Ok(n @ 1..) = pipe.read(&mut piece).await {
            output.lock().unwrap_or_else(PoisonError::into_inner).push(&piece[..n]);
        }
    };
    let keeping = async {
        let mut line = String::new();
        tokio::select! {
            _ = told.read_line(&mut line) => {}
            () = async {
                ended.closed().await;
                tokio::time::sleep(TO_END).await;
            } => {}
        }
        // The keeper has nothing more to say: it ends by itself, or is killed.
        if tokio::time::timeout(TO_END, child.wait()).await.is_err() {
            let _ = child.kill().await;
        }
        line
    };
    // The keeper is gone once nothing holds the pipe.
    let (line, ()) = tokio::join!(keeping, reading);
    let lost = || End::Failed("something else ended the process that ran it".to_owned());
    let report: Option<Report> = serde_json::from_str(&line).ok();
    let end = report.map_or_else(
        || (lost(), Vec::new()),
        |report| {
            let end = match report.told {
                Told::Exited(code) => End::Exited(code),
                Told::Killed(signal) => End::Killed(signal),
                Told::Failed(why) => End::Failed(why),
            };
            (end, report.aside)
        },
    );
    // The receiver may be gone.
    let _ = ended.send(Some(end));
}

/// The reason why a command is not started.
#[derive(Debug)]
#[non_exhaustive]
pub enum CommandError {
    /// The command is too long, or holds a NUL.
    NotACommand,
    /// This system cannot confine the command, for this reason.
    Unconfined(&'static str),
    /// Too many commands are running.
    TooMany,
    /// The system refuses with this error.
    System(io::Error),
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::NotACommand => {
                write!(f, "not a usable command: it is longer than {} KiB or holds a NUL", MAX_COMMAND >> 10)
            }
            CommandError::Unconfined(why) => {
                write!(f, "this system cannot confine commands ({why}), so the user must approve each")
            }
            CommandError::TooMany => write!(f, "{MAX_RUNNING} commands run already: stop one first"),
            CommandError::System(error) => write!(f, "it cannot be started: {error}"),
        }
    }
}

impl std::error::Error for CommandError {}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> CommandError {
        CommandError::System(error)
    }
}
