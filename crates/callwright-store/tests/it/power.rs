//! The power fails at any moment: what was acknowledged is there, and the store opens.
//!
//! A disk keeps what was synced, and of what was written since then any sectors. SQLite syncs its log before it
//! acknowledges, and before it writes from the log into the file. So between one acknowledgement and the next the disk
//! may hold the old file with any mixture of the old and the new log, and after that the new log with any mixture of
//! the old and the new file.

use std::fs;
use std::path::{Path, PathBuf};

use callwright_store::{Became, NewNode, NodeKind, Retention, Store, StoreConfig};
use callwright_value::json;

use crate::places::{folder, run, turn};

/// What a disk writes as a whole.
const SECTOR: usize = 512;

/// File and log at a moment at which nobody writes.
#[derive(Clone, Default)]
struct Disk {
    file: Vec<u8>,
    log: Vec<u8>,
}

impl Disk {
    fn now(file: &Path) -> Disk {
        let read = |path: PathBuf| fs::read(path).unwrap_or_default();
        Disk { file: read(file.to_owned()), log: read(log_of(file)) }
    }

    fn put(&self, file: &Path) {
        let _ = fs::remove_file(file.with_file_name("power.db-shm"));
        fs::write(file, &self.file).unwrap();
        fs::write(log_of(file), &self.log).unwrap();
    }
}

fn log_of(file: &Path) -> PathBuf {
    file.with_file_name(format!("{}-wal", file.file_name().unwrap().to_str().unwrap()))
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }

    /// The old content with some sectors of the new one, which ends anywhere between the ends of both.
    fn mixed(&mut self, old: &[u8], new: &[u8]) -> Vec<u8> {
        let mut mixed = old.to_vec();
        mixed.resize(old.len().max(new.len()), 0);
        // Sectors are written up to a point, or any of them, or up to a point within one.
        let (kind, until) = (self.below(3), self.below(new.len() + 1));
        for (n, (to, from)) in mixed.chunks_mut(SECTOR).zip(new.chunks(SECTOR)).enumerate() {
            let len = match kind {
                0 if (n + 1) * SECTOR <= until => from.len(),
                1 if self.below(2) == 0 => from.len(),
                2 => until.saturating_sub(n * SECTOR).min(from.len()),
                _ => 0,
            };
            to[..len].copy_from_slice(&from[..len]);
        }
        mixed.truncate(old.len() + self.below(mixed.len() - old.len() + 1));
        mixed
    }
}

/// What was acknowledged: the sessions' names and the number of their nodes.
type Acknowledged = Vec<(String, usize)>;

fn holds(disk: &Disk, at: &Path, acknowledged: &Acknowledged, when: &str) {
    disk.put(at);
    let store = Store::open(StoreConfig::at(at)).unwrap_or_else(|error| panic!("{when}: {error}"));
    run(async {
        for (session, n_nodes) in acknowledged {
            let session =
                store.session(session).await.unwrap().unwrap_or_else(|| panic!("{when}: {session}"));
            assert!(*n_nodes <= session.nodes.len(), "{when}: {} of {n_nodes}", session.nodes.len());
            let numbers = session.nodes.iter().map(|node| node.number);
            assert!(numbers.eq(1..=session.nodes.len() as i64), "{when}");
        }
        // It goes on.
        store.append("after", vec![NewNode::new(NodeKind::Note, json!({}))]).await.unwrap();
    });
    store.close();
}

#[test]
fn nothing_acknowledged_is_lost_with_the_power() {
    let dir = folder();
    let (file, failed) = (dir.join("callwright.db"), dir.join("power.db"));
    let config = StoreConfig { retention: Retention { days: 0, bytes: 0 }, ..StoreConfig::at(&file) };
    let mut store = Store::open(config.clone()).unwrap();
    let (mut random, mut acknowledged) = (Random(7), Acknowledged::new());
    let (mut before, mut n_failures, mut n_checkpoints) = (Disk::now(&file), 0, 0);
    for step in 0..80 {
        let session = format!("s{}", step % 9);
        match step % 40 {
            // A clean end writes the log into the file, and a sweep gives pages back.
            39 => {
                store.close();
                store = Store::open(config.clone()).unwrap();
            }
            20 => {
                run(store.sweep(Retention { days: 0, bytes: 60_000 })).unwrap();
                let left = run(store.sessions(Default::default(), None, 100)).unwrap().sessions;
                acknowledged.retain(|(name, _)| left.iter().any(|summary| summary.id == *name));
            }
            n if n % 3 == 0 => {
                run(store.write(turn(&session, &"much ".repeat(random.below(4000)), Became::Repaired)))
                    .unwrap();
            }
            _ => {
                let nodes = (0..=random.below(4)).map(|n| {
                    NewNode::new(NodeKind::Intent, json!({"n": n, "fill": "x".repeat(random.below(3000))}))
                });
                run(store.append(&session, nodes.collect())).unwrap();
            }
        }
        let after = Disk::now(&file);
        n_checkpoints += usize::from(before.file != after.file);
        // Not each step: opening a store takes its time.
        if step % 8 == 0 || before.file != after.file {
            let mut failures = Vec::new();
            for _ in 0..3 {
                // A log gets shorter when all of it is in the file for good.
                if before.log.len() <= after.log.len() {
                    let log = random.mixed(&before.log, &after.log);
                    failures.push((Disk { file: before.file.clone(), log }, "the log"));
                }
                let log = match step % 40 {
                    // Nothing but the log was written into the file.
                    39 => Some(&before.log),
                    _ => Some(&after.log).filter(|log| before.log.len() <= log.len()),
                };
                if let Some(log) = log
                    && before.file.len() <= after.file.len()
                {
                    let file = random.mixed(&before.file, &after.file);
                    failures.push((Disk { file, log: log.clone() }, "the file"));
                }
            }
            failures.push((after.clone(), "neither"));
            for (disk, what) in failures {
                // What a sweep deletes may be there or not, but what it leaves is.
                holds(&disk, &failed, &acknowledged, &format!("step {step}, {what}"));
                n_failures += 1;
            }
        }
        let there = run(store.session(&session)).unwrap();
        if let Some(there) = there {
            acknowledged.retain(|(name, _)| *name != session);
            acknowledged.push((session, there.nodes.len()));
        }
        before = after;
    }
    assert!(60 < n_failures && 1 < n_checkpoints, "{n_failures} failures, {n_checkpoints} checkpoints");
}
