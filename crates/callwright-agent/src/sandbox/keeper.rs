//! Runs the keeper: it stays outside of the walls, starts the first process behind them, and outlives all processes of
//! the command.
//!
//! The command cannot reach the keeper. In a process namespace it has no number for it; elsewhere Landlock keeps its
//! signals within the walls, and nobody may look into the keeper.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
#[cfg(target_os = "linux")]
use rustix::process::getpid;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, setsid, wait, waitid, waitpid,
};

use super::first::TO_END;
use super::processes::{Count, signal_children};
use super::{FIRST, Report, Told, Walls, Within, heard, line};
use crate::configuration::{Place, protected, set_aside, survey};

/// The interval of checks on the first process and on the number of processes.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// The time before remaining processes are ended again.
const ROUND: Duration = Duration::from_millis(10);
/// The time that the first process has to end everything, beyond the command's own.
const BEYOND: Duration = Duration::from_secs(1);
/// The longest report of the first process, in bytes: one short line.
const MAX_TOLD: usize = 64 << 10;

/// Runs `command` and reports its end to the agent at the other end of `leash`. The last `own` of this process's
/// arguments are the keeper's; the arguments before them start the binary again.
///
/// # Errors
/// Fails when the agent is gone.
pub(super) fn run(mut leash: UnixStream, command: &OsStr, own: usize) -> io::Result<()> {
    let report = kept(&leash, command, own);
    let report = report.unwrap_or_else(|why| Report { told: Told::Failed(why), aside: Vec::new() });
    leash.write_all(&line(&report)?)
}

fn kept(leash: &UnixStream, command: &OsStr, own: usize) -> Result<Report, String> {
    let walls: Walls = heard(leash)?;
    // This fails only where the process already leads a group; then the terminal is out of reach as well.
    let _ = setsid();
    adopt_orphans();
    let may_make = |workspace: &PathBuf| walls.confined && walls.writable.contains(workspace);
    let workspace = walls.workspace.clone().filter(may_make);
    let before = workspace.map(|workspace| (survey(&workspace), workspace));
    let told = attended(leash, command, own, walls, before.as_ref());
    // No process of the command lives.
    let aside = before.map(|(before, workspace)| set_aside(&workspace, &before)).unwrap_or_default();
    Ok(Report { told: told?, aside })
}

/// Returns the command's end. By then none of its processes is left.
fn attended(
    leash: &UnixStream,
    command: &OsStr,
    own: usize,
    walls: Walls,
    before: Option<&(Vec<Place>, PathBuf)>,
) -> Result<Told, String> {
    let mut count = Count::of(walls.processes);
    let most = walls.processes;
    let protected = before.map(|(places, workspace)| protected(workspace, places)).unwrap_or_default();
    let capabilities = apart(&walls).map_err(|error| format!("it gets no namespaces of its own: {error}"))?;
    let mut first = First::start(command, own).map_err(|error| format!("it cannot be started: {error}"))?;
    let within = Within { walls, protected, capabilities };
    let told = first.attend(leash, &within, &mut count);
    first.end();
    told.map(|()| first.told()).map_err(|end| match end {
        Broken::TooMany => format!("it had more than {most} processes, and was ended"),
        Broken::Lost(error) => format!("its keeper lost it: {error}"),
    })
}

enum Broken {
    TooMany,
    Lost(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Broken {
        Broken::Lost(error)
    }
}

/// The first process behind the walls.
struct First {
    pid: Pid,
    socket: UnixStream,
    said: Vec<u8>,
}

impl First {
    fn start(command: &OsStr, own: usize) -> io::Result<First> {
        let (socket, theirs) = UnixStream::pair()?;
        let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        let before = arguments.len().saturating_sub(own);
        // This works even if the file was replaced since.
        let program = match cfg!(target_os = "linux") {
            true => PathBuf::from("/proc/self/exe"),
            false => std::env::current_exe()?,
        };
        let mut first = Command::new(program);
        first.args(arguments.into_iter().take(before)).arg(FIRST).arg(command);
        let child = first.stdin(Stdio::from(OwnedFd::from(theirs))).spawn()?;
        Ok(First { pid: Pid::from_child(&child), socket, said: Vec::new() })
    }

    /// Sends it the walls, and waits until it is gone, or has to go.
    fn attend(&mut self, leash: &UnixStream, within: &Within, count: &mut Count) -> Result<(), Broken> {
        // It has arranged to end with us.
        self.socket.read_exact(&mut [0])?;
        close_to_others()?;
        self.socket.write_all(&line(within)?)?;
        let mut ends = None;
        loop {
            let mut to_read = vec![PollFd::new(&self.socket, PollFlags::IN)];
            // A closed leash can always be read.
            if ends.is_none() {
                to_read.push(PollFd::new(leash, PollFlags::IN));
            }
            match poll(&mut to_read, Some(&TICK)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
            let mut ready = to_read.iter().map(|socket| !socket.revents().is_empty());
            let (has_said, is_let_go) = (ready.next() == Some(true), ready.next() == Some(true));
            if is_let_go {
                ends = Some(Instant::now() + TO_END + BEYOND);
                // It may already be gone.
                let _ = self.socket.shutdown(std::net::Shutdown::Write);
            }
            if has_said && self.hear()? {
                return Ok(());
            }
            let is_late = ends.is_some_and(|ends| ends <= Instant::now());
            if is_late || self.is_stuck()? {
                return Ok(());
            }
            if count.is_over() {
                return Err(Broken::TooMany);
            }
        }
    }

    /// Reads its words; returns true when it has said the last.
    fn hear(&mut self) -> io::Result<bool> {
        let mut piece = [0; 4096];
        let n = match self.socket.read(&mut piece) {
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(false),
            // It was killed before it had read everything.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => 0,
            Err(error) => return Err(error),
        };
        self.said.extend(piece.get(..n).unwrap_or_default());
        Ok(n == 0 || MAX_TOLD < self.said.len())
    }

    /// Returns whether it has ended or was stopped, as only the command would do.
    fn is_stuck(&self) -> io::Result<bool> {
        let states =
            WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.pid), states) {
            Ok(state) => Ok(state.is_some()),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends it and all its descendants, and waits for that.
    fn end(&self) {
        // It may have ended; nobody has reaped it, so its number is still its own.
        let _ = kill_process(self.pid, Signal::KILL);
        while let Err(Errno::INTR) = waitpid(Some(self.pid), WaitOptions::empty()) {}
        // In a process namespace it was the last to go. Elsewhere its children are ours.
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => {
                    signal_children(self.pid, Signal::KILL);
                    std::thread::sleep(ROUND);
                }
                Err(_) => return,
            }
        }
    }

    /// Returns its report from before its end.
    fn told(mut self) -> Told {
        let _ = self.socket.set_nonblocking(true);
        while let Ok(false) = self.hear() {}
        let lost = || Told::Failed("something else ended the process that ran it".to_owned());
        serde_json::from_slice(&self.said).unwrap_or_else(|_| lost())
    }
}

/// Makes this process the new parent of descendants whose parents end. Otherwise orphans go to another parent, and only
/// the shell's group is ended.
#[cfg(target_os = "linux")]
pub(super) fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

#[cfg(not(target_os = "linux"))]
pub(super) fn adopt_orphans() {}

/// Prepares the walls' namespaces for the next child, without entering them. Returns the capabilities from before.
#[cfg(target_os = "linux")]
fn apart(walls: &Walls) -> io::Result<u64> {
    super::mounts::apart(walls.apart)
}

#[cfg(not(target_os = "linux"))]
fn apart(_walls: &Walls) -> io::Result<u64> {
    Ok(0)
}

/// Closes this process to debuggers and to thieves of its open files.
#[cfg(target_os = "linux")]
fn close_to_others() -> io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?)
}

#[cfg(not(target_os = "linux"))]
fn close_to_others() -> io::Result<()> {
    Ok(())
}
