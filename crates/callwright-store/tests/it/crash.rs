//! What was acknowledged is there after the process was killed, or its disk was full.
#![expect(clippy::print_stdout, reason = "a child says what it has written")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use callwright_store::{NewNode, NodeKind, Store, StoreConfig};
use callwright_value::Value;
use callwright_value::json;

use crate::places::{folder, run};

/// Names the store that a child writes to, and the session.
const STORE: &str = "CALLWRIGHT_TEST_CHILD";

/// Is no test of its own: the tests below run it as another process.
#[test]
fn child() {
    let Ok(at) = std::env::var(STORE) else { return };
    let (file, session) = at.rsplit_once('|').unwrap();
    let store = Store::open(StoreConfig::at(file)).unwrap();
    run(async {
        let write = async |name: String| {
            for number in 1.. {
                let nodes =
                    vec![NewNode::new(NodeKind::Intent, json!({"n": number, "fill": "x".repeat(700)}))];
                // Only what came back is told.
                match store.append(&name, nodes).await {
                    Ok(written) => println!("\nack {name} {}", written.numbers[0]),
                    Err(error) => return println!("\nerror {error}"),
                }
            }
        };
        tokio::join!(
            write(format!("{session}a")),
            write(format!("{session}b")),
            write(format!("{session}c"))
        );
    });
}

fn start(shell: &str, file: &Path, session: &str) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = Command::new("sh")
        .args(["-c", shell, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--nocapture", "--test-threads", "1"])
        .env(STORE, format!("{}|{session}", file.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    (child, lines)
}

/// Each acknowledged node is there, in order, once.
fn holds(store: &Store, acks: &[String]) -> usize {
    let names: std::collections::BTreeSet<&str> =
        acks.iter().map(|ack| ack.split(' ').nth(1).unwrap()).collect();
    for name in names {
        let of_session = acks.iter().filter_map(|ack| ack.strip_prefix(&format!("ack {name} ")));
        let last = of_session.map(|number| number.parse::<i64>().unwrap()).max().unwrap();
        let session = run(store.session(name)).unwrap().unwrap();
        assert!(last <= session.nodes.len() as i64, "{name}: {last} of {}", session.nodes.len());
        for (number, node) in (1..).zip(&session.nodes) {
            assert_eq!((node.number, &node.payload["n"]), (number, &Value::from(number)), "{name}");
        }
    }
    acks.len()
}

#[test]
fn nothing_acknowledged_is_lost_by_a_kill() {
    let file = folder().join("callwright.db");
    let mut random = 1_u64;
    let mut n_acks = 0;
    for round in 0..100 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let kill_after = 1 + (random >> 33) % 40;
        let (mut child, lines) = start("exec \"$@\"", &file, &format!("r{round}"));
        let mut acks: Vec<String> = Vec::new();
        let mut lines = lines.filter(|line| line.starts_with("ack "));
        acks.extend(lines.by_ref().take(kill_after as usize));
        // It is writing on while it is killed.
        child.kill().unwrap();
        acks.extend(lines);
        child.wait().unwrap();
        assert!(!acks.is_empty(), "round {round}: a kill before the first write shows nothing");
        let store = Store::open(StoreConfig::at(&file)).unwrap();
        n_acks += holds(&store, &acks);
    }
    println!("{n_acks} acknowledged writes, 100 kills");
}

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    for blocks in [1500, 2000, 3000] {
        let file = folder().join("callwright.db");
        // Files may not grow further: writing fails as it does where there is no room.
        let shell = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        let (mut child, lines) = start(&shell, &file, "full");
        let lines: Vec<String> = lines.filter(|l| l.starts_with("ack ") || l.starts_with("error ")).collect();
        child.wait().unwrap();
        let (acks, errors): (Vec<String>, Vec<String>) =
            lines.into_iter().partition(|l| l.starts_with("ack "));
        assert!(!acks.is_empty() && errors.len() == 3, "{} acks, {errors:?}", acks.len());
        let store = Store::open(StoreConfig::at(&file)).unwrap();
        holds(&store, &acks);
        // It goes on where there is room again.
        run(store.append("fulla", vec![NewNode::new(NodeKind::Note, json!({}))])).unwrap();
    }
}

#[test]
fn a_damaged_file_is_noticed_and_no_panic() {
    let file = folder().join("callwright.db");
    let store = Store::open(StoreConfig::at(&file)).unwrap();
    for number in 0..40 {
        let node = NewNode::new(NodeKind::User, json!({"text": format!("{number} {}", "word ".repeat(80))}));
        run(store.append(&format!("s{}", number % 4), vec![node])).unwrap();
    }
    store.close();
    drop(store);
    let whole = std::fs::read(&file).unwrap();
    let mut n_noticed = 0;
    for step in 1..60 {
        let damaged = file.with_file_name("damaged.db");
        let mut bytes = whole.clone();
        match step % 3 {
            // Cut off, overwritten, or one bit turned.
            0 => bytes.truncate(whole.len() * step / 60),
            1 => bytes[whole.len() * step / 60..].iter_mut().take(3000).for_each(|byte| *byte = 0xa5),
            _ => bytes[whole.len() * step / 60] ^= 1,
        }
        std::fs::write(&damaged, &bytes).unwrap();
        for more in ["damaged.db-wal", "damaged.db-shm", "damaged.db-damaged"] {
            let _ = std::fs::remove_file(file.with_file_name(more));
        }
        let Ok(store) = Store::open(StoreConfig::at(&damaged)) else {
            n_noticed += 1;
            continue;
        };
        run(async {
            let list = store.sessions(Default::default(), None, 10).await;
            let mut is_noticed = list.is_err() || !store.notices().is_empty();
            for id in ["s0", "s1", "s2", "s3"] {
                is_noticed |= store.session(id).await.is_err();
            }
            is_noticed |= store.append("s0", vec![NewNode::new(NodeKind::Note, json!({}))]).await.is_err();
            n_noticed += usize::from(is_noticed);
        });
    }
    assert!(10 < n_noticed, "{n_noticed} were noticed");
}
