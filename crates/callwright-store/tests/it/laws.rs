//! Whatever is written and deleted, in whatever order: sums are what counting anew gives, and lists are what looking at
//! everything gives.

use callwright_store::{
    Became, Call, Fault, Filter, Location, NewNode, NewTurn, NodeKind, Range, Retention, Store, StoreConfig,
    now,
};
use callwright_value::json;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sqlx::{AssertSqlSafe, Executor, Row};

use crate::places::{configs, database, run, turn};

const HOUR: i64 = 3_600_000;
const OUTCOMES: [(&str, Became); 4] = [
    ("passed", Became::Passed),
    ("repaired", Became::Repaired),
    ("retried", Became::Retried),
    ("refused", Became::Refused),
];
const TEXTS: [&str; 4] = ["alpha beta", "alphabet", "beta Gamma-9", "delta"];
const SURFACES: [&str; 3] = ["chat", "messages", ""];
const FAULTS: [&str; 3] = ["", "drop-comma", "truncated"];

/// Something that happens to a store.
#[derive(Clone, Debug)]
enum Event {
    Turn(Said),
    /// So many numbers are left out, as deleted sessions and rolled back transactions leave them.
    Gap(i64),
    Delete(u8),
    Sweep(u64),
}

/// A turn, by what it is told apart by.
#[derive(Clone, Copy, Debug)]
struct Said {
    session: u8,
    outcome: usize,
    model: u8,
    is_native: bool,
    surface: usize,
    fault: usize,
    text: usize,
    at: i64,
}

fn event() -> impl Strategy<Value = Event> {
    let like = (0..4_usize, 0..3_u8, any::<bool>(), 0..3_usize);
    let turn = (0..6_u8, like, 0..3_usize, 0..4_usize, 0..60_i64).prop_map(
        |(session, (outcome, model, is_native, surface), fault, text, at)| {
            Event::Turn(Said { session, outcome, model, is_native, surface, fault, text, at: at * HOUR / 2 })
        },
    );
    prop_oneof![
        12 => turn,
        1 => (1..9000_i64).prop_map(Event::Gap),
        1 => (0..6_u8).prop_map(Event::Delete),
        1 => (200..3000_u64).prop_map(Event::Sweep),
    ]
}

async fn happen(store: &Store, event: &Event) {
    match *event {
        Event::Turn(Said { session, outcome, model, is_native, surface, fault, text, at }) => {
            let (name, became) = OUTCOMES[outcome];
            let mut new: NewTurn = turn(&format!("s{session}"), TEXTS[text], became);
            let base = (now() / HOUR - 40) * HOUR;
            (new.turn.at, new.turn.outcome) = (base + at, name.into());
            new.turn.model = format!("m{model}");
            new.turn.mode = if is_native { "native".into() } else { "prompt".into() };
            new.turn.surface = SURFACES[surface].into();
            new.turn.repair_turns = outcome as i64;
            new.turn.repair_tokens = 3;
            new.calls.push(Call { tool: "other".into(), dialect: "json".into(), became: Became::Passed });
            new.faults.clear();
            if !FAULTS[fault].is_empty() {
                let fault =
                    Fault { kind: FAULTS[fault].into(), tool: "run_code".into(), place: String::new() };
                new.faults = vec![fault.clone(), fault];
            }
            store.write(new).await.unwrap();
        }
        Event::Gap(numbers) => {
            let mut connection = database(store).await;
            for table in ["turns", "nodes"] {
                let sql = match store.location() {
                    // The number of a row that is deleted again would be given once more: so it stays, alone.
                    Location::File(_) => match table {
                        "turns" => String::from("SELECT 1"),
                        _ => format!(
                            "INSERT INTO nodes (id, session, number, kind, at, version, payload) \
                             SELECT MAX(id) + {numbers}, session, -MAX(id), 'note', 0, 1, '{{}}' FROM nodes"
                        ),
                    },
                    Location::Postgres(_) => format!(
                        "SELECT setval(pg_get_serial_sequence('{table}', 'id'), \
                         (SELECT COALESCE(MAX(id), 1) + {numbers} FROM {table}))"
                    ),
                };
                // Without a session there is none that the row could belong to.
                let _ = connection.execute(AssertSqlSafe(sql)).await;
            }
        }
        Event::Delete(session) => {
            store.delete(&format!("s{session}")).await.unwrap();
        }
        Event::Sweep(bytes) => {
            store.sweep(Retention { days: 0, bytes }).await.unwrap();
        }
    }
}

/// With a fixed seed: a failure is one for everyone.
fn law(cases: u32, check: impl Fn(Vec<Event>)) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, rng);
    let events = proptest::collection::vec(event(), 1..60);
    runner
        .run(&events, |events| {
            check(events);
            Ok(())
        })
        .unwrap();
}

/// Each sum, and what counting anew gives.
const RECOUNTED: [(&str, &str); 3] = [
    (
        "SELECT span, at, model, mode, dialect, tool, became, calls FROM call_sums",
        "SELECT s.span, c.at - c.at % s.span, c.model, c.mode, c.dialect, c.tool, c.became, COUNT(*) FROM calls c \
         CROSS JOIN (SELECT 3600000 AS span UNION ALL SELECT 86400000) s GROUP BY 1, 2, 3, 4, 5, 6, 7",
    ),
    (
        "SELECT span, at, outcome, turns, repair_turns, tokens, repair_tokens FROM turn_sums",
        "SELECT s.span, t.at - t.at % s.span, t.outcome, COUNT(*), SUM(t.repair_turns), \
         SUM(t.prompt_tokens + t.completion_tokens), SUM(t.repair_tokens) FROM turns t \
         CROSS JOIN (SELECT 3600000 AS span UNION ALL SELECT 86400000) s GROUP BY 1, 2, 3",
    ),
    (
        "SELECT span, at, kind, policy, mode, faults, repeated FROM fault_sums",
        "SELECT s.span, f.at - f.at % s.span, f.kind, f.policy, f.mode, COUNT(*), SUM(f.repeated) FROM faults f \
         CROSS JOIN (SELECT 3600000 AS span UNION ALL SELECT 86400000) s GROUP BY 1, 2, 3, 4, 5",
    ),
];

#[test]
fn sums_are_what_counting_anew_gives() {
    law(16, |events| {
        for config in configs() {
            let store =
                Store::open(StoreConfig { retention: Retention { days: 0, bytes: 0 }, ..config }).unwrap();
            run(async {
                for event in &events {
                    happen(&store, event).await;
                }
                let mut connection = database(&store).await;
                for (kept, counted) in RECOUNTED {
                    for (one, other) in [(kept, counted), (counted, kept)] {
                        let sql = format!("SELECT COUNT(*) FROM (SELECT * FROM ({one}) a EXCEPT {other}) x");
                        let row = connection.fetch_one(AssertSqlSafe(sql)).await.unwrap();
                        assert_eq!(row.get::<i64, _>(0), 0, "{one} but not {other}");
                    }
                }
                // However the time is cut, the parts add up to the whole.
                let all = store.statistics(Range { since: Some(0), until: Some(i64::MAX) }).await.unwrap();
                let cut = (now() / HOUR - 20) * HOUR + 7;
                let before = store.statistics(Range { since: Some(cut - 15 * HOUR), until: Some(cut) });
                let (before, oldest) = (
                    before.await.unwrap(),
                    store.statistics(Range { since: Some(0), until: Some(cut - 15 * HOUR) }).await.unwrap(),
                );
                let after =
                    store.statistics(Range { since: Some(cut), until: Some(i64::MAX) }).await.unwrap();
                let parts = [&oldest, &before, &after];
                let sum = |of: fn(&callwright_store::Statistics) -> i64| parts.map(of).iter().sum::<i64>();
                assert_eq!(all.calls.total(), sum(|s| s.calls.total()));
                assert_eq!(all.spent.tokens, sum(|s| s.spent.tokens));
                assert_eq!(all.spent.repair_turns, sum(|s| s.spent.repair_turns));
                let errors = |s: &callwright_store::Statistics| s.errors.iter().map(|(_, n)| n).sum::<i64>();
                assert_eq!(errors(&all), sum(errors));
                for s in [&all, &before] {
                    assert_eq!(s.over_time.iter().map(|c| c.total()).sum::<i64>(), s.calls.total());
                }
            });
            store.close();
        }
    });
}

/// Does a turn fit?
type Fits = fn(&Said) -> bool;

/// What is asked for, and what fits by looking.
fn questions() -> Vec<(Filter, Fits)> {
    let all = Filter::default;
    let some = |text: &str| Some(text.to_owned());
    vec![
        (Filter { outcome: some("repaired"), ..all() }, |said| said.outcome == 1),
        (Filter { model: some("m1"), mode: some("native"), ..all() }, |said| {
            said.model == 1 && said.is_native
        }),
        (Filter { error: some("truncated"), ..all() }, |said| said.fault == 2),
        (Filter { error: some("drop-comma"), outcome: some("refused"), ..all() }, |said| {
            said.fault == 1 && said.outcome == 3
        }),
        (Filter { surface: some("messages"), ..all() }, |said| said.surface == 1),
        (
            Filter { surface: some("chat"), outcome: some("repaired"), error: some("drop-comma"), ..all() },
            |said| said.surface == 0 && said.outcome == 1 && said.fault == 1,
        ),
        (Filter { text: some("alpha"), ..all() }, |said| said.text < 2),
        (Filter { text: some("alpha "), ..all() }, |said| said.text == 0),
        (Filter { text: some("9 gam"), ..all() }, |said| said.text == 2),
        (Filter { text: some("gam 9"), ..all() }, |_| false),
        (Filter { text: some("gamma 9"), ..all() }, |said| said.text == 2),
        (Filter { text: some("beta"), model: some("m0"), mode: some("prompt"), ..all() }, |said| {
            matches!(said.text, 0 | 2) && said.model == 0 && !said.is_native
        }),
        (Filter { text: some("beta"), error: some("truncated"), outcome: some("passed"), ..all() }, |said| {
            matches!(said.text, 0 | 2) && said.fault == 2 && said.outcome == 0
        }),
        (Filter { text: some("beta"), surface: some("messages"), ..all() }, |said| {
            matches!(said.text, 0 | 2) && said.surface == 1
        }),
        (Filter { text: some("hermes"), ..all() }, |_| false),
    ]
}

#[test]
fn lists_are_what_looking_at_everything_gives() {
    law(16, |events| {
        let events: Vec<Event> =
            events.into_iter().filter(|event| !matches!(event, Event::Sweep(_))).collect();
        for config in configs() {
            let store = Store::open(config).unwrap();
            run(async {
                // What is there, in the order in which it was written.
                let mut there: Vec<Said> = Vec::new();
                for event in &events {
                    happen(&store, event).await;
                    match event {
                        Event::Turn(said) => there.push(*said),
                        Event::Delete(session) => there.retain(|said| said.session != *session),
                        Event::Gap(_) | Event::Sweep(_) => {}
                    }
                }
                for (filter, fits) in questions() {
                    let mut expected: Vec<String> = Vec::new();
                    for said in there.iter().rev() {
                        let name = format!("s{}", said.session);
                        if fits(said) && !expected.contains(&name) {
                            expected.push(name);
                        }
                    }
                    for most in [1, 2, 40] {
                        let (mut found, mut after) = (Vec::new(), None);
                        loop {
                            let page = store.sessions(filter.clone(), after.as_deref(), most).await.unwrap();
                            found.extend(page.sessions.into_iter().map(|summary| summary.id));
                            after = page.next;
                            if after.is_none() {
                                break;
                            }
                        }
                        assert_eq!(found, expected, "{filter:?}, {most} at a time");
                    }
                }
            });
            store.close();
        }
    });
}

#[test]
fn every_script_is_searched_and_no_question_is_an_error() {
    for config in configs() {
        let store = Store::open(config).unwrap();
        run(async {
            let said =
                ["कामना", "İstanbul", "ΑΣΟΣ", "ẞtraße", "日本語", "a\u{301}b", "नमस्ते", "x_y-z", "٣٤", "Ⅷ"];
            for (number, text) in (0..).zip(said) {
                let node = NewNode::new(NodeKind::User, json!({"text": text}));
                store.append(&format!("s{number}"), vec![node]).await.unwrap();
                let filter = Filter { text: Some(text.into()), ..Filter::default() };
                let page = store.sessions(filter, None, 10).await.unwrap();
                assert!(page.sessions.iter().any(|s| s.id == format!("s{number}")), "{text}");
            }
            for text in [
                "\"",
                "*",
                "a*",
                "NEAR(a b)",
                "words:a",
                "a AND",
                "OR",
                "NOT a",
                "^a",
                "-a",
                "a + b",
                "(((",
                "=o71f18ea0",
                "'",
                "a' & 'b",
                "\\",
                "a:*",
                "<->",
                "\0",
                "\u{202e}a",
                "{a b}: c",
                "00000000कामना",
                &"a ".repeat(5000),
                &"é".repeat(9000),
            ] {
                for outcome in [None, Some(String::from("'; DROP TABLE nodes"))] {
                    let filter = Filter { text: Some(text.into()), outcome, ..Filter::default() };
                    let page = store.sessions(filter, None, 10).await;
                    assert!(page.is_ok(), "{text:.40}: {page:?}");
                }
            }
        });
    }
}
