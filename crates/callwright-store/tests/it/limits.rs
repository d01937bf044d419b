//! At the edges: many at once, too much, too long, clocks that go back, secrets everywhere.

use std::fs;
use std::path::Path;
use std::thread;

use callwright_store::{
    Answer, Became, Call, Fault, Filter, Masking, NewNode, NodeKind, Retention, Secrets, Store, StoreConfig,
    now,
};
use callwright_value::json;

use crate::places::{configs, each, folder, run, turn};

#[test]
fn several_gateways_open_a_new_store_at_the_same_time() {
    for config in (0..3).flat_map(|_| configs()) {
        let opened: Vec<_> = (0..6)
            .map(|n| {
                let config = config.clone();
                thread::spawn(move || {
                    let store = Store::open(config)?;
                    run(store.write(turn("s", &format!("from {n}"), Became::Passed)))
                })
            })
            .collect();
        for opened in opened {
            let written = opened.join().unwrap();
            assert!(written.is_ok(), "{written:?}");
        }
        let store = Store::open(config).unwrap();
        assert_eq!(run(store.session("s")).unwrap().unwrap().turns.len(), 6);
    }
}

fn size(file: &Path) -> u64 {
    let len = |file: &Path| fs::metadata(file).map_or(0, |file| file.len());
    len(file) + len(&file.with_file_name("callwright.db-wal"))
}

#[test]
fn a_file_gets_smaller_when_there_is_less_in_it() {
    let file = folder().join("callwright.db");
    let config = StoreConfig { retention: Retention { days: 0, bytes: 0 }, ..StoreConfig::at(&file) };
    let store = Store::open(config).unwrap();
    run(async {
        for number in 0..150 {
            let says: String =
                (0..900).map(|n| format!("w{} ", (n * 7919 + number * 104_729) % 90_001)).collect();
            let mut turn = turn(&format!("s{number}"), &says, Became::Repaired);
            turn.turn.at = now() + number;
            store.write(turn).await.unwrap();
        }
        let before = size(&file);
        let deleted = store.sweep(Retention { days: 0, bytes: 60_000 }).await.unwrap();
        assert!(140 < deleted, "{deleted}");
        let after = size(&file);
        assert!(after < before / 4, "{before} bytes became {after}");
        let left = store.sessions(Filter::default(), None, 50).await.unwrap().sessions;
        assert_eq!(left.len() as u64, 150 - deleted);
    });
}

#[test]
fn names_of_any_length_are_kept() {
    each(async |store| {
        // Nothing that a database could make shorter.
        let mut seed = 1_u64;
        let mut long = || -> String {
            (0..9000)
                .map(|_| {
                    seed =
                        seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    char::from(b'a' + (seed >> 33) as u8 % 26)
                })
                .collect()
        };
        let mut turn = turn(&long(), "x", Became::Repaired);
        (turn.turn.model, turn.turn.outcome, turn.turn.dialect) = (long(), long(), long());
        let call = Call { tool: long(), dialect: long(), became: Became::Repaired };
        let fault = Fault { kind: long(), tool: long(), place: long() };
        (turn.calls, turn.faults) = (vec![call.clone()], vec![fault.clone()]);
        let model = turn.turn.model.clone();
        let written = store.write(turn).await.unwrap();
        let there = store.session(&written.session).await.unwrap().unwrap();
        assert_eq!(there.turns[0].model, model[..200]);
        let filter = Filter { model: Some(model), error: Some(fault.kind), ..Filter::default() };
        assert_eq!(store.sessions(filter, None, 5).await.unwrap().sessions.len(), 1);
        assert_eq!(store.statistics(Default::default()).await.unwrap().by_tool[0].name, call.tool[..200]);
    });
}

#[test]
fn a_clock_that_goes_back_loses_nothing() {
    each(async |store| {
        for (number, at) in [now(), now() - 400 * 86_400_000, i64::MIN, i64::MAX, 1].into_iter().enumerate() {
            let mut turn = turn(&format!("s{}", number % 2), "tick", Became::Passed);
            turn.turn.at = at;
            store.write(turn).await.unwrap();
        }
        let session = store.session("s0").await.unwrap().unwrap();
        assert_eq!(session.turns.iter().map(|turn| turn.number).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(store.sessions(Filter::default(), None, 5).await.unwrap().sessions.len(), 2);
        let filter = Filter { outcome: Some("passed".into()), ..Filter::default() };
        assert_eq!(store.sessions(filter, None, 5).await.unwrap().sessions.len(), 2);
        let range = callwright_store::Range { since: Some(i64::MIN), until: Some(i64::MAX) };
        assert_eq!(store.statistics(range).await.unwrap().calls.passed, 5);
    });
}

/// All that lies in a folder.
fn contents(folder: &Path) -> Vec<u8> {
    fs::read_dir(folder).unwrap().flat_map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect()
}

#[test]
fn a_secret_is_in_no_table() {
    let folder = folder();
    let secrets = Secrets::default();
    let secret = "hunterzwozwoundmehr";
    secrets.keep(secret);
    let masking = Masking { secrets, patterns: Vec::new() };
    let store =
        Store::open(StoreConfig { masking, ..StoreConfig::at(folder.join("callwright.db")) }).unwrap();
    run(async {
        let mut turn = turn(secret, &format!("say {secret} please"), Became::Repaired);
        for text in
            [&mut turn.turn.model, &mut turn.turn.outcome, &mut turn.turn.dialect, &mut turn.turn.policy]
        {
            *text = format!("x-{secret}");
        }
        turn.calls[0].tool = secret.into();
        turn.faults[0] = Fault { kind: secret.into(), tool: secret.into(), place: secret.into() };
        turn.nodes[1].name = Some(secret.into());
        turn.nodes[1].call = Some(secret.into());
        let event =
            |text: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
        let (first, second) = secret.split_at(9);
        turn.nodes[1].answer = Some(Answer { text: event(secret), is_whole: true });
        // Half of it in each of two events, and half of it where the answer was cut off.
        let mut spread = NewNode::new(NodeKind::ModelTurn, json!({}));
        spread.answer = Some(Answer { text: event(first) + &event(second), is_whole: true });
        let mut cut = NewNode::new(NodeKind::ModelTurn, json!({}));
        cut.answer = Some(Answer { text: event(&"x".repeat(900)) + first, is_whole: false });
        turn.nodes.extend([spread, cut]);
        let written = store.write(turn).await.unwrap();
        let session = store.session(&written.session).await.unwrap().unwrap();
        let answers: Vec<_> = session.nodes.iter().filter_map(|node| node.answer.as_deref()).collect();
        assert_eq!(answers.len(), 2, "one is whole, one is cut; the one that is spread is left out");
        assert!(answers[0].contains("*******************"), "{}", answers[0]);
        assert!(answers[1].contains("xxxxx") && !answers[1].contains(first), "{}", answers[1]);
        let dump = store.dump(&written.session).await.unwrap().unwrap();
        assert!(!dump.to_json().contains(first));
        let words = Filter { text: Some(secret.into()), ..Filter::default() };
        assert_eq!(store.sessions(words, None, 5).await.unwrap().sessions, []);
        let statistics = serde_json::to_string(&store.statistics(Default::default()).await.unwrap()).unwrap();
        assert!(!statistics.contains(secret) && statistics.contains("*******"), "{statistics}");
    });
    let seen = contents(&folder);
    assert!(seen.windows(6).any(|window| window == b"please"));
    assert!(!seen.windows(secret.len()).any(|window| window == secret.as_bytes()));
}
