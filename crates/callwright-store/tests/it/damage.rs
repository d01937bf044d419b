//! What a store does when its file is damaged, its writes fail, others could read it, or it has too much.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use callwright_store::{Became, NewNode, NewTurn, NodeKind, Owner, Retention, Store, StoreConfig};
use callwright_value::json;
use sqlx::Row;

use crate::places::{bad, database, fails_for_bad, folder, run, turn};

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn with(file: &Path, more: &str) -> PathBuf {
    PathBuf::from(format!("{}{more}", file.display()))
}

/// A closed store of so many sessions, `s0` and so on, each of some pages.
fn written(file: &Path, sessions: usize) {
    let store = Store::open(StoreConfig::at(file)).unwrap();
    run(async {
        for number in 0..sessions {
            let says: String = (0..900).map(|n| format!("w{} ", (n * 7919 + number) % 90_001)).collect();
            store.write(turn(&format!("s{number}"), &says, Became::Repaired)).await.unwrap();
        }
    });
    store.close();
}

/// What stands beside a store under a name that says so.
fn aside(file: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let mut aside: Vec<_> = entries.filter(|path| path.display().to_string().contains(".damaged-")).collect();
    aside.sort();
    aside
}

#[test]
fn a_store_is_for_its_owner_alone() {
    let file = folder().join("a/b/x.db");
    let store = Store::open(StoreConfig::at(&file)).unwrap();
    run(store.write(turn("s", "hello", Became::Passed))).unwrap();
    for more in ["", "-wal", "-shm"] {
        assert_eq!(mode(with(&file, more)), 0o600, "{more}");
    }
    let b = file.parent().unwrap();
    assert_eq!((mode(b), mode(b.parent().unwrap())), (0o700, 0o700));
    assert_eq!(store.notices(), [] as [&str; 0]);
    store.close();
    // What others were let to read on purpose stays so, but is told.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let store = Store::open(StoreConfig::at(&file)).unwrap();
    assert_eq!(mode(&file), 0o644);
    assert!(store.notices()[0].contains("can be read by others (mode 644)"), "{:?}", store.notices());
}

#[test]
fn a_file_that_is_taken_away_comes_back_for_its_owner_alone() {
    let file = folder().join("x.db");
    let store = Store::open(StoreConfig::at(&file)).unwrap();
    run(store.write(turn("old", "hello", Became::Passed))).unwrap();
    for more in ["", "-wal", "-shm"] {
        fs::remove_file(with(&file, more)).unwrap();
    }
    // Whoever asks makes none.
    assert!(run(store.session("old")).is_err());
    assert!(!file.exists());
    // What is acknowledged is in a file that is there.
    run(store.write(turn("new", "hello", Became::Passed))).unwrap();
    for more in ["", "-wal", "-shm"] {
        assert_eq!(mode(with(&file, more)), 0o600, "{more}");
    }
    store.close();
    let again = Store::open(StoreConfig::at(&file)).unwrap();
    assert!(run(again.session("new")).unwrap().is_some());
}

#[test]
fn a_failed_transaction_costs_no_other_record() {
    let store = Store::open(StoreConfig::at(folder().join("callwright.db"))).unwrap();
    run(async {
        store.write(turn("s", "first", Became::Passed)).await.unwrap();
        fails_for_bad(&store).await;
        for round in 0..3 {
            store.write(bad()).await.unwrap_err();
            let good = store.write(turn("s", "kept", Became::Passed)).await;
            assert!(good.is_ok(), "round {round}: {good:?}");
        }
        assert_eq!(store.session("s").await.unwrap().unwrap().turns.len(), 4);
    });
}

#[test]
fn what_is_read_of_a_damaged_file_is_still_its_owners() {
    let file = folder().join("callwright.db");
    let owner = || Owner::of_key([7; 32]);
    let store = Store::open(StoreConfig::at(&file)).unwrap();
    let of_owner = NewTurn { owner: Some(owner()), ..turn("mine", "hello", Became::Repaired) };
    run(store.write(of_owner)).unwrap();
    run(store.write(turn("other", "hello", Became::Repaired))).unwrap();
    store.close();
    fs::write(with(&file, "-damaged"), "").unwrap();
    let store = Store::open(StoreConfig::at(&file)).unwrap();
    assert!(store.notices()[0].contains("2 of its sessions could be read"), "{:?}", store.notices());
    let (own, other) = (store.seen_by(owner(), false), store.seen_by(Owner::of_key([8; 32]), false));
    run(async {
        assert!(own.session("mine").await.unwrap().is_some());
        let healed = async |store: &Store| store.statistics(Default::default()).await.unwrap().calls.repaired;
        assert_eq!((healed(&own).await, healed(&other).await, healed(&store).await), (1, 0, 2));
    });
}

#[test]
fn a_damaged_file_is_set_aside_and_what_can_be_read_goes_on() {
    let file = folder().join("callwright.db");
    written(&file, 30);
    let whole = fs::read(&file).unwrap();
    let pages = whole.len() / 4096;
    let mut kept = Vec::new();
    for damage in ["middle", "schema", "header", "truncated"] {
        fs::write(&file, &whole).unwrap();
        let mut bytes = whole.clone();
        match damage {
            // Marked by a process that came upon it.
            "middle" => {
                bytes[pages / 2 * 4096..(pages / 2 + 8) * 4096].fill(0xa5);
                fs::write(with(&file, "-damaged"), "").unwrap();
            }
            // A page that every start reads.
            "schema" => bytes[100..3000].fill(0xa5),
            "header" => bytes[..100].fill(0xa5),
            _ => {
                bytes.truncate(whole.len() * 2 / 3);
                fs::write(with(&file, "-damaged"), "").unwrap();
            }
        }
        fs::write(&file, &bytes).unwrap();
        let before = aside(&file).len();
        let store = Store::open(StoreConfig::at(&file)).unwrap();
        let notice = store.notices()[0].clone();
        assert!(notice.contains(" was damaged ("), "{damage}: {notice}");
        let aside = aside(&file);
        assert_eq!(aside.len(), before + 1, "{damage}: {aside:?}");
        assert_eq!(mode(&file), 0o600);
        // What is there can be read, searched, counted and added to.
        run(async {
            let list = store.sessions(Default::default(), None, 50).await.unwrap().sessions;
            kept.push(list.len());
            assert!(notice.contains(&format!("; {} of its sessions", list.len())), "{damage}: {notice}");
            for summary in &list {
                let session = store.session(&summary.id).await.unwrap().unwrap();
                assert_eq!(session.nodes.len() as i64, summary.nodes, "{damage}");
                assert!(session.nodes.iter().all(|node| !node.payload.is_null()));
            }
            let statistics = store.statistics(Default::default()).await.unwrap();
            assert_eq!(statistics.by_tool.iter().map(|of| of.repaired).sum::<i64>(), list.len() as i64);
            let note = NewNode::new(NodeKind::Note, json!({}));
            store.append("s29", vec![note]).await.unwrap();
        });
        store.close();
        assert!(!with(&file, "-damaged").exists());
        // Once is enough.
        let again = Store::open(StoreConfig::at(&file)).unwrap();
        assert_eq!(again.notices(), [] as [&str; 0], "{damage}");
        again.close();
        for more in ["-wal", "-shm"] {
            let _ = fs::remove_file(with(&file, more));
        }
    }
    assert!(0 < kept[0] && kept[0] < 30, "{kept:?}");
    assert_eq!(kept[1..3], [0, 0], "{kept:?}: nothing says what is in it");
    assert!(0 < kept[3], "{kept:?}");
}

#[test]
fn what_is_no_store_is_left_alone_and_what_is_empty_is_told() {
    let folder = folder();
    let notes = folder.join("notes.txt");
    fs::write(&notes, "My notes. ".repeat(1000)).unwrap();
    Store::open(StoreConfig::at(&notes)).unwrap_err();
    assert_eq!(fs::read_to_string(&notes).unwrap(), "My notes. ".repeat(1000));
    assert_eq!(aside(&notes), [] as [PathBuf; 0]);

    let empty = folder.join("empty.db");
    fs::write(&empty, "").unwrap();
    fs::set_permissions(&empty, fs::Permissions::from_mode(0o600)).unwrap();
    let store = Store::open(StoreConfig::at(&empty)).unwrap();
    assert!(store.notices()[0].ends_with("is empty: a new store begins in it"), "{:?}", store.notices());

    let logged = folder.join("logged.db");
    written(&logged, 2);
    fs::write(with(&logged, "-wal"), [0xa5; 5000]).unwrap();
    let store = Store::open(StoreConfig::at(&logged)).unwrap();
    assert!(store.notices()[0].starts_with("the log of "), "{:?}", store.notices());
    assert!(run(store.session("s1")).unwrap().is_some());
    assert_eq!(fs::read(&aside(&logged)[0]).unwrap(), [0xa5; 5000]);
}

/// It is looked for what is too much while it is written, not some time later.
#[test]
fn there_is_never_much_more_than_may_be_kept() {
    const MOST: u64 = 200_000;
    let retention = Retention { days: 0, bytes: MOST };
    let config = StoreConfig { retention, ..StoreConfig::at(folder().join("callwright.db")) };
    let store = Store::open(config).unwrap();
    run(async {
        let mut most: i64 = 0;
        for number in 0..150_u64 {
            // Nothing that packs well.
            let says: String = (0..700_u64)
                .map(|n| format!("{:x} ", (n + number).wrapping_mul(n << 40 | 0x9e37_79b9)))
                .collect();
            store.write(turn(&format!("s{number}"), &says, Became::Passed)).await.unwrap();
            store.flush().await.unwrap();
            let sum = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM sessions";
            let row = sqlx::query(sum).fetch_one(&mut database(&store).await).await.unwrap();
            most = most.max(row.get(0));
        }
        assert!((MOST as i64 / 2..MOST as i64 * 5 / 4).contains(&most), "{most}");
    });
}
