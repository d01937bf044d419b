//! What is written is there, in order, in SQLite and Postgres alike.

use callwright_store::{
    Answer, Became, Dump, Filter, Location, NewNode, NewTurn, NodeKind, Record, Retention, SessionRef, Store,
    StoreConfig, StoreError, Turn, now,
};
use callwright_value::json;
use sqlx::{Connection, Executor, Row};

use crate::places;
use crate::places::{database, each, folder, run, turn};

#[test]
fn a_turn_is_there_whole() {
    each(async |store| {
        let written = store.write(turn("a", "Print hello.", Became::Repaired)).await.unwrap();
        assert_eq!((written.session.as_str(), &written.numbers), ("a", &vec![1, 2, 3]));
        store.write(turn("a", "Print bye.", Became::Passed)).await.unwrap();
        let session = store.session("a").await.unwrap().unwrap();
        let summary = &session.summary;
        assert_eq!((summary.title.as_str(), summary.turns, summary.nodes), ("Print hello.", 2, 5));
        assert_eq!((summary.repairs, summary.tokens, summary.outcome.as_str()), (1, 30, "passed"));
        assert_eq!(session.turns.iter().map(|turn| turn.number).collect::<Vec<_>>(), [1, 2]);
        // What was said before stands in it once.
        let kinds: Vec<&str> = session.nodes.iter().map(|node| node.kind.name()).collect();
        assert_eq!(kinds, ["system", "user", "model_turn", "user", "model_turn"]);
        assert!(session.nodes.iter().map(|node| node.number).eq(1..=5));
        // Bodies are whole, and what they have in common is kept once.
        let body = session.body(&session.nodes[4]).unwrap();
        assert_eq!(body, turn("a", "Print bye.", Became::Passed).nodes[1].body.clone().unwrap());
        assert_eq!(session.parts.len(), 3);
        let (node, body_of_one) = store.node("a", 5).await.unwrap().unwrap();
        assert_eq!((node.kind, body_of_one), (NodeKind::ModelTurn, Some(body)));
        let outline = store.outline("a", Some(3), 1).await.unwrap().unwrap();
        assert_eq!((outline.nodes.len(), outline.nodes[0].number, outline.parts.len()), (1, 4, 0));
        // A part of it has the turns of its nodes, the last one where nothing is said.
        for (after, most, nodes, turns) in [
            (Some(0), 2, vec![1, 2], vec![1]),
            (Some(2), 2, vec![3, 4], vec![1, 2]),
            (None, 1, vec![5], vec![2]),
            (None, 9, vec![1, 2, 3, 4, 5], vec![1, 2]),
            (Some(5), 9, vec![], vec![]),
        ] {
            let part = store.outline("a", after, most).await.unwrap().unwrap();
            assert_eq!(part.nodes.iter().map(|node| node.number).collect::<Vec<_>>(), nodes);
            assert_eq!(part.turns.iter().map(|turn| turn.number).collect::<Vec<_>>(), turns);
        }
        assert!(store.session("b").await.unwrap().is_none());
        assert!(store.node("a", 6).await.unwrap().is_none());
    });
}

#[test]
fn a_journal_is_replayed_in_order_and_tells_what_is_unfinished() {
    each(async |store| {
        let effect = |kind, call: &str| {
            let mut node = NewNode::new(kind, json!({"path": "a.txt"}));
            node.call = Some(call.into());
            node.name = Some("fsWrite".into());
            node
        };
        for call in ["call_1", "call_2"] {
            store.append("job", vec![effect(NodeKind::Intent, call)]).await.unwrap();
        }
        store.append("job", vec![effect(NodeKind::Effect, "call_1")]).await.unwrap();
        let session = store.session("job").await.unwrap().unwrap();
        assert_eq!(session.summary.origin, "agent");
        let open: Vec<_> = session.unfinished().iter().map(|node| node.call.clone().unwrap()).collect();
        assert_eq!(open, ["call_2"]);
        // Whatever a later version writes is kept.
        store
            .append(
                "job",
                vec![NewNode::new(
                    NodeKind::named("later"),
                    serde_json::from_str("[123456789012345678901234567890]").unwrap(),
                )],
            )
            .await
            .unwrap();
        let session = store.session("job").await.unwrap().unwrap();
        assert_eq!(
            (session.nodes[3].kind.name(), session.nodes[3].payload.to_string()),
            ("later", "[123456789012345678901234567890]".into())
        );
    });
}

#[test]
fn odd_texts_come_back_as_they_were() {
    each(async |store| {
        for (number, text) in
            (0..).zip(["", "\0", "é\u{10ffff}\u{202e}", "'; DROP TABLE nodes; --", "\\u0000 % _ ?"])
        {
            let id = format!("odd-{number}-{text}");
            store.append(&id, vec![NewNode::new(NodeKind::User, json!({"text": text}))]).await.unwrap();
            let id = id.replace('\0', "\u{1a}");
            let session = store.session(&id).await.unwrap().unwrap();
            assert_eq!(session.nodes[0].payload["text"], text);
        }
    });
}

#[test]
fn turns_of_one_conversation_fall_together() {
    each(async |store| {
        let of = |fingerprint: &str, begins, name: &str| {
            let session =
                SessionRef::Conversation { fingerprint: fingerprint.into(), begins, name: name.into() };
            NewTurn { session, ..turn("", "Hi.", Became::Passed) }
        };
        let name = async |turn: NewTurn| store.write(turn).await.unwrap().session;
        assert_eq!(name(of("f", true, "r1")).await, "r1");
        assert_eq!(name(of("f", false, "r2")).await, "r1");
        // Another conversation that begins alike is another one, and what goes on is the youngest.
        assert_eq!(name(of("f", true, "r3")).await, "r3");
        assert_eq!(name(of("f", false, "r4")).await, "r3");
        assert_eq!(name(of("g", false, "r5")).await, "r5");
        // The conversation so far is kept with the first turn only.
        let nodes = async |id| store.session(id).await.unwrap().unwrap().nodes.len();
        assert_eq!((nodes("r1").await, nodes("r5").await), (5, 3));
    });
}

#[test]
fn lists_are_filtered_and_paged() {
    each(async |store| {
        for number in 0..7 {
            let became = if number % 2 == 0 { Became::Repaired } else { Became::Passed };
            let mut turn = turn(&format!("s{number}"), &format!("Find the_answer {number}"), became);
            turn.turn.at = 1_000 + number;
            turn.turn.model = if number < 3 { "small".into() } else { "large".into() };
            store.write(turn).await.unwrap();
        }
        // One more turn, of a session that is listed for its youngest turn that fits.
        let mut more = turn("s0", "And more.", Became::Refused);
        more.turn.at = 2_000;
        store.write(more).await.unwrap();

        let filters = [
            (Filter::default(), "s0 s6 s5 s4 s3 s2 s1"),
            (Filter { outcome: Some("repaired".into()), ..Filter::default() }, "s6 s4 s2 s0"),
            (Filter { outcome: Some("refused".into()), ..Filter::default() }, "s0"),
            (Filter { model: Some("small".into()), ..Filter::default() }, "s2 s1 s0"),
            (Filter { error: Some("drop-comma".into()), ..Filter::default() }, "s0 s6 s4 s2"),
            (
                Filter { error: Some("drop-comma".into()), model: Some("small".into()), ..Filter::default() },
                "s2 s0",
            ),
            (Filter { text: Some("find the answ".into()), ..Filter::default() }, "s6 s5 s4 s3 s2 s1 s0"),
            (Filter { text: Some("answer 5".into()), ..Filter::default() }, "s5"),
            (
                Filter { text: Some("Find".into()), outcome: Some("repaired".into()), ..Filter::default() },
                "s6 s4 s2 s0",
            ),
            (
                Filter { text: Some("more".into()), error: Some("drop-comma".into()), ..Filter::default() },
                "s0",
            ),
            (Filter { text: Some("nowhere".into()), ..Filter::default() }, ""),
            (Filter { text: Some("\" OR *".into()), ..Filter::default() }, ""),
            (Filter { text: Some("?!".into()), ..Filter::default() }, ""),
            (Filter { mode: Some("native".into()), ..Filter::default() }, ""),
            (
                Filter {
                    mode: Some("prompt".into()),
                    dialect: Some("hermes".into()),
                    text: Some(" ".into()),
                    ..Filter::default()
                },
                "s0 s6 s5 s4 s3 s2 s1",
            ),
        ];
        for (filter, expected) in filters {
            for most in [1, 2, 50] {
                let (mut found, mut after) = (Vec::new(), None);
                loop {
                    let page = store.sessions(filter.clone(), after.as_deref(), most).await.unwrap();
                    assert!(page.sessions.len() <= most);
                    found.extend(page.sessions.into_iter().map(|summary| summary.id));
                    after = page.next;
                    if after.is_none() {
                        break;
                    }
                }
                assert_eq!(found.join(" "), expected, "{filter:?}, {most} at a time");
            }
        }
        // A place that nobody gave out is the beginning.
        let page = store.sessions(Filter::default(), Some("nonsense"), 2).await.unwrap();
        assert_eq!(page.sessions.len(), 2);
    });
}

#[test]
fn statistics_agree_with_counts_made_by_hand() {
    each(async |store| {
        let hour = 3_600_000;
        let day = 1_795_305_600_000;
        for (number, became) in
            (0..).zip([Became::Passed, Became::Repaired, Became::Repaired, Became::Retried, Became::Refused])
        {
            let mut turn = turn("s", "x", became);
            turn.turn.at = day + number * hour;
            turn.turn.repair_turns = i64::from(became == Became::Retried);
            turn.turn.repair_tokens = 7 * turn.turn.repair_turns;
            store.write(turn).await.unwrap();
        }
        let mut native = turn("t", "x", Became::Passed);
        native.turn.at = day + 9 * hour;
        native.turn.mode = "native".into();
        store.write(native).await.unwrap();

        let all = store.statistics(Default::default()).await.unwrap();
        let of = |counts: &callwright_store::Counts| {
            (counts.passed, counts.repaired, counts.retried, counts.refused)
        };
        assert_eq!(of(&all.calls), (2, 2, 1, 1));
        assert_eq!(all.by_tool.iter().map(of).collect::<Vec<_>>(), [(2, 2, 1, 1)]);
        let modes: Vec<_> = all.by_mode.iter().map(|counts| (counts.name.as_str(), counts.total())).collect();
        assert_eq!(modes, [("prompt", 5), ("native", 1)]);
        assert_eq!(
            all.outcomes.iter().map(|(name, n)| format!("{name}={n}")).collect::<Vec<_>>().join(" "),
            "passed=2 refused=1 repaired=2 retried=1"
        );
        assert_eq!(all.errors, [("drop-comma".to_owned(), 4)]);
        assert_eq!(
            (all.spent.turns, all.spent.repair_turns, all.spent.tokens, all.spent.repair_tokens),
            (6, 1, 90, 7)
        );
        // S4-21: of four equal errors of one session, three repeat the first.
        assert_eq!(all.repeated.len(), 1);
        assert_eq!(
            (all.repeated[0].policy.as_str(), all.repeated[0].errors, all.repeated[0].repeated),
            ("auto", 4, 3)
        );
        assert_eq!(all.repeated[0].repeat_error_rate, 0.75);
        let summary = store.session("s").await.unwrap().unwrap().summary;
        assert_eq!(summary.repeat_error_rate(), Some(0.75));
        assert_eq!(store.session("t").await.unwrap().unwrap().summary.repeat_error_rate(), None);

        let range = callwright_store::Range { since: Some(day), until: Some(day + 2 * hour) };
        let two = store.statistics(range).await.unwrap();
        assert_eq!(of(&two.calls), (1, 1, 0, 0));
        assert_eq!(two.step, 300_000);
        let times: Vec<_> = two.over_time.iter().map(|counts| counts.name.parse::<i64>().unwrap()).collect();
        assert_eq!(times, [day, day + hour]);
    });
}

/// S4-50: how many of the errors that models were told of they fixed, and after how many questions.
#[test]
fn errors_that_were_put_right_agree_with_counts_made_by_hand() {
    each(async |store| {
        let day = 1_795_305_600_000;
        // What an agent feeds back is fixed in a later turn, or not: none stands for words without a call.
        let (right, healed, refused) = (Some(Became::Passed), Some(Became::Repaired), Some(Became::Refused));
        let agent = [right, refused, right, refused, refused, healed, refused, None, right, refused];
        for (number, became) in (0..).zip(agent) {
            let mut turn = turn("a", "x", became.unwrap_or(Became::Passed));
            (turn.origin, turn.feeds_back, turn.turn.at) = ("agent", true, day + number);
            turn.turn.policy = "feedback".into();
            if became.is_none() {
                turn.calls.clear();
            }
            store.write(turn).await.unwrap();
        }
        // The last one stays: the user has gone on. The one behind it may still be fixed.
        store
            .append("a", vec![NewNode::new(NodeKind::User, json!({"text": "Something else."}))])
            .await
            .unwrap();
        for became in [Became::Passed, Became::Refused] {
            let mut turn = turn("a", "x", became);
            (turn.origin, turn.feeds_back, turn.turn.at) = ("agent", true, day + 100);
            turn.turn.policy = "feedback".into();
            store.write(turn).await.unwrap();
        }
        // What a gateway asks again is one turn. Of what it refused at once no model was told.
        for (became, questions) in
            [(Became::Retried, 1), (Became::Retried, 3), (Became::Refused, 2), (Became::Refused, 0)]
        {
            let mut turn = turn("g", "x", became);
            (turn.turn.at, turn.turn.repair_turns) = (day + 5, questions);
            store.write(turn).await.unwrap();
        }
        let told = async |range| {
            let fixed = store.statistics(range).await.unwrap().fixed;
            let told = fixed
                .iter()
                .map(|rate| (format!("{} {}", rate.model, rate.policy), rate.errors, rate.fixed_within));
            told.collect::<Vec<_>>()
        };
        let gateway = (String::from("qwen auto"), 3, [1, 1, 2, 2, 2]);
        let all = vec![(String::from("qwen feedback"), 5, [1, 2, 2, 2, 2]), gateway.clone()];
        assert_eq!(told(Default::default()).await, all);
        let one = callwright_store::Range { since: Some(day), until: Some(day + 3) };
        assert_eq!(told(one).await, [(String::from("qwen feedback"), 1, [1, 1, 1, 1, 1])]);
        let fixed = store.statistics(Default::default()).await.unwrap().fixed;
        assert_eq!((fixed[0].share(1), fixed[0].share(5)), (Some(0.2), Some(0.4)));
        assert_eq!((fixed[0].share(0), fixed[0].share(6)), (None, None));
        assert!(store.delete("a").await.unwrap());
        assert_eq!(told(Default::default()).await, [gateway]);
    });
}

#[test]
fn what_is_too_old_or_too_much_goes_the_oldest_first() {
    each(async |store| {
        let days = |n: i64| now() - n * 86_400_000;
        for (id, at) in [("old", days(40)), ("middle", days(10)), ("new", days(0))] {
            let mut turn = turn(id, "needle", Became::Repaired);
            turn.turn.at = at;
            store.write(turn).await.unwrap();
        }
        let list = async || {
            let page = store.sessions(Filter::default(), None, 50).await.unwrap();
            page.sessions.into_iter().map(|summary| summary.id).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(store.sweep(Retention { days: 30, bytes: 0 }).await.unwrap(), 1);
        assert_eq!(list().await, "new middle");
        let sum = "SELECT CAST(SUM(bytes) AS BIGINT) FROM sessions";
        let row = sqlx::query(sum).fetch_one(&mut database(&store).await).await.unwrap();
        let bytes: i64 = row.get(0);
        assert_eq!(store.sweep(Retention { days: 0, bytes: bytes as u64 - 1 }).await.unwrap(), 1);
        assert_eq!(list().await, "new");
        assert_eq!(store.sweep(Retention { days: 30, bytes: 1_000_000 }).await.unwrap(), 0);
        // Nothing of it is left, not even in what is searched.
        assert!(store.delete("new").await.unwrap());
        assert!(!store.delete("new").await.unwrap());
        let filter = Filter { text: Some("needle".into()), ..Filter::default() };
        assert_eq!(store.sessions(filter, None, 50).await.unwrap().sessions, []);
        assert_eq!(store.statistics(Default::default()).await.unwrap().calls.total(), 0);
        store.append("new", vec![NewNode::new(NodeKind::User, json!({"text": "again"}))]).await.unwrap();
        assert_eq!(store.session("new").await.unwrap().unwrap().nodes[0].number, 1);
    });
}

#[test]
fn whoever_listens_hears_of_each_turn_once_it_is_there() {
    each(async |store| {
        let mut changes = store.changes();
        store.write(turn("a", "x", Became::Passed)).await.unwrap();
        let change = changes.recv().await.unwrap();
        assert_eq!((change.session.as_str(), change.what, change.nodes), ("a", "added", 3));
        assert!(change.turn.is_some());
        store.delete("a").await.unwrap();
        assert_eq!(changes.recv().await.unwrap().what, "deleted");
    });
}

/// A record that is only a text.
struct Said(&'static str, usize);

impl Record for Said {
    fn size(&self) -> usize {
        self.1
    }

    fn into_turn(self: Box<Self>) -> Option<NewTurn> {
        (!self.0.is_empty()).then(|| turn("said", self.0, Became::Passed))
    }
}

#[test]
fn records_are_written_together_or_dropped_and_counted() {
    for config in places::configs() {
        let store = Store::open(StoreConfig { queue: 8, queue_bytes: 20_000, ..config }).unwrap();
        for says in ["a", "", "b"] {
            store.record(Box::new(Said(says, 10)));
        }
        run(async {
            store.flush().await.unwrap();
            assert_eq!(store.session("said").await.unwrap().unwrap().turns.len(), 2);
        });
        assert_eq!(store.dropped(), 0);
        // Too many, or too large together: nobody waits, and it is counted.
        let before = std::time::Instant::now();
        for _ in 0..100 {
            store.record(Box::new(Said("c", 400)));
        }
        assert!(0 < store.dropped(), "in {:?}", before.elapsed());
        run(store.flush()).unwrap();
        let kept = run(store.session("said")).unwrap().unwrap().turns.len() as u64;
        assert_eq!(kept - 2 + store.dropped(), 100);
        // A single one that is larger than all may be has its turn when there is nothing else.
        store.record(Box::new(Said("d", 30_000)));
        // What waits is written before the end, and nothing afterwards.
        let (clone, config) = (store.clone(), StoreConfig::of(store.location().clone()));
        store.close();
        assert!(matches!(run(clone.flush()), Err(StoreError::Closed)));
        drop((store, clone));
        let again = Store::open(config).unwrap();
        assert_eq!(run(again.session("said")).unwrap().unwrap().turns.len() as u64, kept + 1);
    }
}

#[test]
fn one_that_cannot_be_written_costs_the_others_nothing_and_leaves_nothing() {
    each(async |store| {
        // A database that refuses one turn, as one does whose disk is full.
        let url = match store.location() {
            Location::File(path) => format!("sqlite://{}", path.display()),
            Location::Postgres(url) => url.clone(),
        };
        let mut other = sqlx::AnyConnection::connect(&url).await.unwrap();
        let refuse = match store.location() {
            Location::File(_) => {
                "CREATE TRIGGER refuse BEFORE INSERT ON nodes WHEN new.kind = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END"
            }
            Location::Postgres(_) => "ALTER TABLE nodes ADD CHECK (kind <> 'bad')",
        };
        other.execute(refuse).await.unwrap();
        let node = |kind| NewNode::new(NodeKind::named(kind), json!({}));
        let (first, bad, second) = tokio::join!(
            store.append("a", vec![node("user")]),
            store.append("b", vec![node("user"), node("bad")]),
            store.append("c", vec![node("user")]),
        );
        assert!(first.is_ok() && second.is_ok());
        assert!(matches!(bad, Err(StoreError::Database(_))), "{bad:?}");
        // Half of it would be worse than nothing.
        assert!(store.session("b").await.unwrap().is_none());
        // Hostile counts do not run over.
        for _ in 0..3 {
            let mut turn = turn("a", "x", Became::Passed);
            (turn.turn.prompt_tokens, turn.turn.completion_tokens) = (i64::MAX, i64::MAX);
            store.write(turn).await.unwrap();
        }
        assert!(0 < store.session("a").await.unwrap().unwrap().summary.tokens);
        assert!(0 < store.statistics(Default::default()).await.unwrap().spent.tokens);
    });
}

#[test]
fn a_dump_is_read_again_elsewhere() {
    each(async |store| {
        store.write(turn("../a b", "Print hello.", Became::Repaired)).await.unwrap();
        let dump = store.dump("../a b").await.unwrap().unwrap();
        let dir = folder();
        let path = dump.write(&dir).unwrap();
        assert_eq!(path.parent().unwrap(), dir);
        assert_ne!(dump.write(&dir).unwrap(), path);
        let text = std::fs::read_to_string(&path).unwrap();
        // S4-45
        let value: callwright_value::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["session_id"], &value["entry_count"]), (&json!("../a b"), &json!(3)));
        assert_eq!(value["entries"].as_array().unwrap().len(), 3);
        assert!(value["dumped_at"].as_str().unwrap().starts_with("20"));
        let session = Dump::from_json(&text).unwrap().into_session();
        let body = session.body(&session.nodes[2]).unwrap();
        assert!(body.contains("Print hello."), "{body}");
        let later = text.replacen("\"callwright_dump\": 1", "\"callwright_dump\": 2", 1);
        assert!(Dump::from_json(&later).unwrap_err().to_string().contains("version 2"));
        assert!(Dump::from_json("{}").is_err());
        assert!(store.dump("nobody").await.unwrap().is_none());
    });
}

/// A dump as programs elsewhere read it: a member that goes or is called otherwise makes a new version.
#[test]
fn a_dump_has_the_form_that_it_has_had() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/dump/session-1.json");
    // Short messages stood in their bodies once.
    let earlier = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/dump/session-1-first.json");
    each(async |store| {
        let mut first = turn("golden", "Print hello.", Became::Retried);
        first.turn.at = 1_795_336_496_123;
        (first.turn.repair_turns, first.turn.feedback_turns, first.turn.repair_tokens) = (1, 1, 7);
        let mut call = NewNode::new(NodeKind::ToolCall, json!({"arguments": {"code": "print('hello')"}}));
        (call.name, call.call) = (Some("run_code".into()), Some("call_1".into()));
        first.nodes.push(call);
        first.nodes[1].answer = Some(Answer { text: "{\"choices\": []}".into(), is_whole: true });
        store.write(first).await.unwrap();
        let mut last = NewNode::new(NodeKind::named("of_a_later_version"), json!({"text": "…"}));
        last.at = Some(1_795_336_497_000);
        store.append("golden", vec![last]).await.unwrap();
        let mut dump = store.dump("golden").await.unwrap().unwrap();
        dump.dumped_at = "2026-11-22T08:35:00.000Z".into();
        // Nodes alone are of the moment of writing.
        dump.session.updated = 1_795_336_497_000;
        let kept = std::fs::read_to_string(golden).unwrap_or_default();
        assert_eq!(dump.to_json() + "\n", kept);
        // S4-45: the first version is read for ever.
        let earlier = std::fs::read_to_string(earlier).unwrap();
        for (text, n_parts) in [(&kept, 2), (&earlier, 1)] {
            let session = Dump::from_json(text).unwrap().into_session();
            assert_eq!((session.turns.len(), session.nodes.len(), session.parts.len()), (1, 5, n_parts));
            assert_eq!((&*session.turns[0].outcome, &*session.summary.outcome), ("retried", "retried"));
            assert!(session.body(&session.nodes[2]).unwrap().contains("Print hello."));
        }
    });
}

#[test]
fn a_store_that_cannot_be_is_said_to_be_none() {
    let dir = folder();
    std::fs::write(
        dir.join("text"),
        "This is no database, but a text that is long enough to be seen as one.",
    )
    .unwrap();
    for place in [dir.join("text"), dir.join("text/below.db"), dir.clone()] {
        let error = Store::open(StoreConfig::at(&place)).unwrap_err().to_string();
        assert!(error.contains(place.to_str().unwrap()), "{error}");
    }
    let nobody = "postgres://me:hunter22@127.0.0.1:1/x".parse().unwrap();
    let error = Store::open(StoreConfig::of(nobody)).unwrap_err().to_string();
    assert!(error.contains("127.0.0.1:1/x") && !error.contains("hunter22"), "{error}");
}

#[test]
fn two_processes_may_share_a_file() {
    let config = || StoreConfig::at(folder().join("callwright.db"));
    let first = config();
    let (a, b) = (Store::open(first.clone()).unwrap(), Store::open(first).unwrap());
    run(async {
        for _ in 0..20 {
            let (one, two) = tokio::join!(
                a.write(turn("s", "a", Became::Passed)),
                b.write(turn("s", "b", Became::Passed))
            );
            assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
        }
        let session = a.session("s").await.unwrap().unwrap();
        assert_eq!(
            session.turns.iter().map(|turn: &Turn| turn.number).collect::<Vec<_>>(),
            (1..=40).collect::<Vec<_>>()
        );
    });
}
