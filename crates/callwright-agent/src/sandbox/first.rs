//! Runs the first process behind the walls: it raises them around itself, starts the shell, and reports its end.
//!
//! This process is as much behind the walls as the command. In a process namespace no signal of the command reaches it;
//! elsewhere the command may end or stop it, and the keeper then ends the rest.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, setsid, wait, waitid};

use super::keeper::adopt_orphans;
use super::processes::signal_children;
use super::{Told, Within, heard, line};

/// The time that a command has to end by itself once it is told to.
pub(super) const TO_END: Duration = Duration::from_millis(300);
/// The interval of the search for remaining processes.
const ROUND: Duration = Duration::from_millis(10);

/// Runs `command` and reports its end to the keeper at the other end of `leash`.
///
/// # Errors
/// Fails when the keeper is gone.
pub(super) fn run(mut leash: UnixStream, command: &OsStr) -> io::Result<()> {
    // This precedes the first word to the keeper, so that it cannot end unnoticed.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    leash.write_all(b"\n")?;
    let told = begin(&leash, command).and_then(|shell| attend(shell, &leash));
    leash.write_all(&line(&told.unwrap_or_else(Told::Failed))?)
}

/// Starts the shell behind the walls.
fn begin(leash: &UnixStream, command: &OsStr) -> Result<Pid, String> {
    let within: Within = heard(leash)?;
    // This fails only where the process already leads a group; then the terminal is out of reach as well.
    let _ = setsid();
    adopt_orphans();
    if within.walls.confined {
        raise(&within)?;
    }
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).process_group(0);
    let child = shell.spawn().map_err(|error| format!("the shell cannot be started: {error}"))?;
    Ok(Pid::from_child(&child))
}

#[cfg(target_os = "linux")]
fn raise(within: &Within) -> Result<(), String> {
    // When memory runs out, the system ends the command and not the user's programs. A limit of our own would count
    // addresses, of which Go, Java and Node reserve many times their use, or would count each process alone.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    super::walls::raise(within)?;
    // The command may have our number, but can neither look into us nor take our end of the leash.
    let no_looking = rustix::process::DumpableBehavior::NotDumpable;
    rustix::process::set_dumpable_behavior(no_looking).map_err(|error| error.to_string())
}

#[cfg(not(target_os = "linux"))]
fn raise(_within: &Within) -> Result<(), String> {
    super::confinement().map_err(str::to_owned)
}

/// Waits until the shell has ended, or the leash closes, and then until no process is left.
fn attend(shell: Pid, leash: &UnixStream) -> Result<Told, String> {
    // No child is reaped while this lock is held.
    let reaping = Arc::new(Mutex::new(()));
    let mut held = leash.try_clone().map_err(|error| error.to_string())?;
    let guard = reaping.clone();
    thread::spawn(move || {
        // The keeper says nothing more: the leash becomes readable when everything is to end.
        let _ = held.read(&mut [0]);
        end_children(shell, &guard, TO_END);
    });
    let mut told = Told::Failed("the shell was lost".to_owned());
    let mut ending = false;
    loop {
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return Ok(told),
        }
        let _held = reaping.lock().unwrap_or_else(PoisonError::into_inner);
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid != shell {
                continue;
            }
            told = of(status);
            if !ending {
                ending = true;
                let guard = reaping.clone();
                thread::spawn(move || end_children(shell, &guard, Duration::ZERO));
            }
        }
    }
}

fn of(status: WaitStatus) -> Told {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Told::Exited(code),
        (None, signal) => Told::Killed(signal.unwrap_or_default()),
    }
}

/// Ends all children, again and again: children of ended ones become ours. The loop ends with the process.
fn end_children(shell: Pid, reaping: &Mutex<()>, grace: Duration) {
    let begin = Instant::now();
    let mut warned = false;
    loop {
        let gracious = begin.elapsed() < grace;
        if !(gracious && warned) {
            let _held = reaping.lock().unwrap_or_else(PoisonError::into_inner);
            signal_children(shell, if gracious { Signal::TERM } else { Signal::KILL });
            warned = true;
        }
        thread::sleep(ROUND);
    }
}
