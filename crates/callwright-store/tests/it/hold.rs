//! One process at a time holds a session, and a process that ends lets go of it, however it ends.
#![expect(clippy::print_stdout, reason = "a child says what it holds")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use callwright_store::{Location, Store, StoreConfig, StoreError};

use crate::places::{configs, each, run};

/// Names the store for a child that holds the session `s`.
const STORE: &str = "CALLWRIGHT_TEST_HOLDER";

/// Is no test of its own: the one below runs it as another process.
#[test]
fn child() {
    let Ok(at) = std::env::var(STORE) else { return };
    let store = Store::open(StoreConfig::of(at.parse().unwrap())).unwrap();
    let _hold = run(store.hold("s")).unwrap();
    println!("\nheld");
    // Until it is killed.
    loop {
        std::thread::park();
    }
}

/// A process that holds the session by now.
fn holding(location: &Location) -> Child {
    let at = match location {
        Location::File(path) => path.display().to_string(),
        Location::Postgres(url) => url.clone(),
    };
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hold::child", "--nocapture", "--test-threads", "1"])
        .env(STORE, at)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "held"));
    child
}

#[test]
fn a_killed_process_lets_go_and_a_living_one_is_named() {
    for config in configs() {
        let store = Store::open(config).unwrap();
        let mut child = holding(store.location());
        run(async {
            let Err(StoreError::Held(session, holder)) = store.hold("s").await else {
                panic!("it is not held")
            };
            let process = holder.process.clone().unwrap();
            assert_eq!(
                (session.as_str(), process.split_once('@').unwrap().0),
                ("s", child.id().to_string().as_str())
            );
            assert!(holder.since.is_some());
            let sentence = StoreError::Held(session, holder).to_string();
            assert!(
                sentence.starts_with(&format!("the session s is under way: the process {} on ", child.id())),
                "{sentence}"
            );
            // Another session is nobody's.
            store.hold("t").await.unwrap();
        });
        child.kill().unwrap();
        child.wait().unwrap();
        run(async {
            // A server notices a moment later.
            while matches!(store.hold("s").await, Err(StoreError::Held(..))) {}
            let hold = store.hold("s").await.unwrap();
            hold.check().await.unwrap();
        });
    }
}

#[test]
fn what_is_let_go_can_be_held_again() {
    each(async |store| {
        for _ in 0..3 {
            let hold = store.hold("a/../b \u{1f}").await.unwrap();
            assert!(matches!(store.hold("a/../b \u{1f}").await, Err(StoreError::Held(..))));
            drop(hold);
            while matches!(store.hold("a/../b \u{1f}").await, Err(StoreError::Held(..))) {}
        }
        if let Location::File(path) = store.location() {
            let left = std::fs::read_dir(format!("{}-runs", path.display())).unwrap().count();
            assert_eq!(left, 0, "a run that is over leaves nothing");
        }
    });
}

/// Whoever takes the file away while another opens it must not let both in.
#[test]
fn of_many_who_want_it_one_has_it() {
    let store = Store::open(configs().swap_remove(0)).unwrap();
    let inside = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut n_held = 0;
                while n_held < 200 {
                    let Ok(_hold) = run(store.hold("s")) else { continue };
                    n_held += 1;
                    assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                    inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                }
            });
        }
    });
}
