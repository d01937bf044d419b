//! Lists the processes, and finds ours among them.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

#[cfg(target_os = "linux")]
use std::collections::HashMap;
#[cfg(target_os = "linux")]
use std::fs;

#[cfg(target_os = "linux")]
use rustix::process::getpid;

/// Sends `signal` to all children of this process. None of them may be reaped meanwhile, so that each number still
/// means the same child.
pub(super) fn signal_children(child: Pid, signal: Signal) {
    for (child, group) in children(child) {
        // A group gets the signal at once, as a command that multiplies cannot outrun that. A group with a child of
        // ours is all ours, as nobody joins a group of another session.
        let _ = match group {
            Some(group) => kill_process_group(group, signal),
            None => kill_process(child, signal),
        };
    }
}

/// Returns our children, each with its process group if that is not ours.
#[cfg(target_os = "linux")]
fn children(_child: Pid) -> Vec<(Pid, Option<Pid>)> {
    let own = getpid();
    let ours = all().into_iter().filter(|(_, parent, _)| *parent == Some(own));
    ours.map(|(pid, _, group)| (pid, group.filter(|group| *group != own && !group.is_init()))).collect()
}

#[cfg(not(target_os = "linux"))]
fn children(child: Pid) -> Vec<(Pid, Option<Pid>)> {
    vec![(child, Some(child))]
}

/// A check whether a command multiplies. It reads the count of the whole system, and counts our own processes only
/// after that count has grown.
#[derive(Debug)]
pub(super) struct Count {
    most: usize,
    at_first: usize,
    round: u32,
}

impl Count {
    pub(super) fn of(most: usize) -> Count {
        Count { most, at_first: existing(), round: 0 }
    }

    /// Returns whether we have too many processes.
    pub(super) fn is_over(&mut self) -> bool {
        self.round = self.round.wrapping_add(1);
        // Other processes may have ended meanwhile, so every twentieth check counts in any case.
        let looks = self.round.is_multiple_of(20) || self.most < existing().saturating_sub(self.at_first);
        looks && self.most < descendants()
    }
}

/// Returns the number of processes and threads of the system.
#[cfg(target_os = "linux")]
fn existing() -> usize {
    // `0.20 0.18 0.12 1/80 11206`: running and existing ones.
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let counts = load.split_whitespace().nth(3).and_then(|counts| counts.split_once('/'));
    counts.and_then(|(_, existing)| existing.parse::<usize>().ok()).unwrap_or(usize::MAX)
}

#[cfg(not(target_os = "linux"))]
fn existing() -> usize {
    0
}

/// Returns the number of our descendants, without the first process behind the walls.
#[cfg(target_os = "linux")]
fn descendants() -> usize {
    let mut of: HashMap<Option<Pid>, Vec<Pid>> = HashMap::new();
    for (pid, parent, _) in all() {
        of.entry(parent).or_default().push(pid);
    }
    let (mut count, mut open) = (0_usize, vec![getpid()]);
    while let Some(pid) = open.pop() {
        // Each entry is removed, so that a reused number cannot lead in a circle.
        let children = of.remove(&Some(pid)).unwrap_or_default();
        count += children.len();
        open.extend(children);
    }
    count.saturating_sub(1)
}

#[cfg(not(target_os = "linux"))]
fn descendants() -> usize {
    0
}

/// Returns all processes, each with its parent and its group.
#[cfg(target_os = "linux")]
fn all() -> Vec<(Pid, Option<Pid>, Option<Pid>)> {
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
