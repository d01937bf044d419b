//! The keeper: walls itself in, starts one shell command, and outlives all that the command leaves behind.

#[cfg(target_os = "linux")]
use std::collections::HashMap;
use std::ffi::OsString;
#[cfg(target_os = "linux")]
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
#[cfg(target_os = "linux")]
use rustix::process::getpid;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process, kill_process_group, setsid,
    wait, waitid,
};

use super::{Told, Walls};

/// How long a command that is told to end may take to do so by itself.
const TO_END: Duration = Duration::from_millis(300);
/// How often it is looked for what is left.
const ROUND: Duration = Duration::from_millis(10);
/// How often it is looked whether a command multiplies.
#[cfg(target_os = "linux")]
const WATCH: Duration = Duration::from_millis(50);

/// Runs one command as its keeper: `arguments` are what the agent appended to those of its [`super::Launcher`].
///
/// To be called at the beginning of `main`, before there is another thread. The leash is the standard input.
pub fn keep(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Ok(leash) = io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let mut leash = UnixStream::from(leash);
    let told = begin(arguments)
        .and_then(|(shell, processes)| attend(shell, processes, &leash))
        .unwrap_or_else(Told::Failed);
    // Where nobody listens any more, nobody is there to be told.
    let said = serde_json::to_string(&told).map(|line| leash.write_all(format!("{line}\n").as_bytes()));
    if said.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Starts the shell behind the walls; also says how many processes there may be.
fn begin(arguments: impl IntoIterator<Item = OsString>) -> Result<(Pid, usize), String> {
    let mut arguments = arguments.into_iter();
    let (Some(walls), Some(command)) = (arguments.next(), arguments.next()) else {
        return Err("the keeper was started without a command".to_owned());
    };
    let walls = walls.to_str().ok_or("the walls are not UTF-8")?;
    let walls: Walls = serde_json::from_str(walls).map_err(|error| format!("no usable walls: {error}"))?;
    // Fails only where the process leads a group already; then the terminal is out of reach as well.
    let _ = setsid();
    adopt_orphans();
    if walls.confined {
        raise(&walls)?;
    }
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).process_group(0);
    let child = shell.spawn().map_err(|error| format!("the shell cannot be started: {error}"))?;
    Ok((Pid::from_child(&child), walls.processes))
}

#[cfg(target_os = "linux")]
fn raise(walls: &Walls) -> Result<(), String> {
    super::walls::raise(walls)
}

#[cfg(not(target_os = "linux"))]
fn raise(_walls: &Walls) -> Result<(), String> {
    super::confinement().map_err(str::to_owned)
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    // Without it orphans go to another parent, and only the group of the shell is ended.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

/// Waits until the shell has ended, or the leash is let go, and then until nothing is left.
fn attend(shell: Pid, processes: usize, leash: &UnixStream) -> Result<Told, String> {
    // While it is held no child is reaped, so that no number of a child can have come to mean another process.
    let reaping = Arc::new(Mutex::new(()));
    let mut held = leash.try_clone().map_err(|error| error.to_string())?;
    let guard = reaping.clone();
    thread::spawn(move || {
        // The agent says nothing: there is something to read when it is gone.
        let _ = held.read(&mut [0]);
        end_children(shell, &guard, TO_END);
    });
    let too_many = Arc::new(AtomicBool::new(false));
    watch(shell, processes, &reaping, &too_many);
    let mut told = Told::Failed("the shell was lost".to_owned());
    let mut ending = false;
    loop {
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) if too_many.load(Ordering::Relaxed) => {
                return Err(format!("it had more than {processes} processes, and was ended"));
            }
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

/// Ends all children, again and again: the children of those that ended become ours. Ends with the process.
fn end_children(shell: Pid, reaping: &Mutex<()>, grace: Duration) {
    let begin = Instant::now();
    let mut warned = false;
    loop {
        let gracious = begin.elapsed() < grace;
        if !(gracious && warned) {
            let _held = reaping.lock().unwrap_or_else(PoisonError::into_inner);
            let signal = if gracious { Signal::TERM } else { Signal::KILL };
            for (child, group) in children(shell) {
                // All of a group at once: one that multiplies cannot outrun that. A group with a child of ours in it
                // is all ours, as nobody joins a group of another session.
                let _ = match group {
                    Some(group) => kill_process_group(group, signal),
                    None => kill_process(child, signal),
                };
            }
            warned = true;
        }
        thread::sleep(ROUND);
    }
}

/// Ends everything when there are too many of us. What the whole system counts is read; where that has grown, our own
/// processes are counted.
#[cfg(target_os = "linux")]
fn watch(shell: Pid, processes: usize, reaping: &Arc<Mutex<()>>, too_many: &Arc<AtomicBool>) {
    // `0.20 0.18 0.12 1/80 11206`: running and existing.
    let existing = || {
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let counts = load.split_whitespace().nth(3).and_then(|counts| counts.split_once('/'));
        counts.and_then(|(_, existing)| existing.parse::<usize>().ok()).unwrap_or(usize::MAX)
    };
    let at_first = existing();
    let (reaping, too_many) = (reaping.clone(), too_many.clone());
    thread::spawn(move || {
        for round in 1_u32.. {
            thread::sleep(WATCH);
            // Others may have ended meanwhile: every now and then it is looked in any case.
            let looks = round % 20 == 0 || processes < existing().saturating_sub(at_first);
            if looks && processes < descendants() {
                too_many.store(true, Ordering::Relaxed);
                return end_children(shell, &reaping, Duration::ZERO);
            }
        }
    });
}

#[cfg(not(target_os = "linux"))]
fn watch(_shell: Pid, _processes: usize, _reaping: &Arc<Mutex<()>>, _too_many: &Arc<AtomicBool>) {}

/// How many processes descend from us.
#[cfg(target_os = "linux")]
fn descendants() -> usize {
    let mut of: HashMap<Option<Pid>, Vec<Pid>> = HashMap::new();
    for (pid, parent, _) in processes() {
        of.entry(parent).or_default().push(pid);
    }
    let (mut count, mut open) = (0, vec![getpid()]);
    while let Some(pid) = open.pop() {
        // Taken out, so that a number which is used anew while we read cannot lead in a circle.
        let children = of.remove(&Some(pid)).unwrap_or_default();
        count += children.len();
        open.extend(children);
    }
    count
}

/// Our children, each with its process group where that is not ours.
#[cfg(target_os = "linux")]
fn children(_shell: Pid) -> Vec<(Pid, Option<Pid>)> {
    let own = getpid();
    let ours = processes().into_iter().filter(|(_, parent, _)| *parent == Some(own));
    ours.map(|(pid, _, group)| (pid, group.filter(|group| *group != own && !group.is_init()))).collect()
}

/// All processes, each with its parent and its group.
#[cfg(target_os = "linux")]
fn processes() -> Vec<(Pid, Option<Pid>, Option<Pid>)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let mut processes = Vec::new();
    for entry in entries.flatten() {
        let number = |text: &str| text.parse().ok().and_then(Pid::from_raw);
        let Some(pid) = entry.file_name().to_str().and_then(number) else { continue };
        // `4711 (a name) S 4710 4711 …`: the name may hold anything, also brackets.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((_, fields)) = stat.rsplit_once(')') else { continue };
        let mut fields = fields.split_whitespace().skip(1).map(number);
        let parent = fields.next().flatten();
        processes.push((pid, parent, fields.next().flatten()));
    }
    processes
}

#[cfg(not(target_os = "linux"))]
fn children(shell: Pid) -> Vec<(Pid, Option<Pid>)> {
    vec![(shell, Some(shell))]
}
