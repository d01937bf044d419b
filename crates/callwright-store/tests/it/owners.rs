//! What a client's key sees of a store that others write to as well: its own sessions, in whatever it asks.

use callwright_store::{Became, Column, Filter, NewTurn, Order, Owner, SessionRef, Statistics, Store};

use crate::places::{each, turn};

fn alice() -> Owner {
    Owner::of_key([1; 32])
}

fn bob() -> Owner {
    Owner::of_key([2; 32])
}

fn of(owner: Owner, session: &str, says: &str, became: Became) -> NewTurn {
    NewTurn { owner: Some(owner), ..turn(session, says, became) }
}

/// Alice's sessions, Bob's, and one of nobody's key.
async fn written(store: &Store) {
    for n in 0..3 {
        let became = if n == 0 { Became::Repaired } else { Became::Passed };
        store.write(of(alice(), &format!("job-{n}"), &format!("alpha needle {n}"), became)).await.unwrap();
    }
    store.write(of(bob(), "job-0", "beta needle", Became::Repaired)).await.unwrap();
    store.write(turn("job-0", "gamma needle", Became::Repaired)).await.unwrap();
}

async fn titles(store: &Store, filter: Filter) -> Vec<String> {
    let page = store.sessions(filter, None, 50).await.unwrap();
    page.sessions.into_iter().map(|session| session.title).collect()
}

fn asked(text: &str) -> Filter {
    Filter { text: Some(text.into()), ..Filter::default() }
}

#[test]
fn a_key_lists_searches_and_adds_up_its_own_sessions() {
    each(async |store| {
        written(&store).await;
        let (own, all) = (store.seen_by(alice(), false), store.seen_by(alice(), true));
        let healed = || Filter { outcome: Some("repaired".into()), ..Filter::default() };
        let faulty = || Filter { error: Some("drop-comma".into()), model: Some("qwen".into()), ..healed() };
        for (filter, of_alice, of_all) in [
            (Filter::default(), 3, 5),
            (healed(), 1, 3),
            (faulty(), 1, 3),
            (asked("needle"), 3, 5),
            (Filter { outcome: Some("repaired".into()), ..asked("needle") }, 1, 3),
            (asked("beta"), 0, 1),
        ] {
            assert_eq!(titles(&own, filter.clone()).await.len(), of_alice, "{filter:?}");
            assert_eq!(titles(&all, filter.clone()).await.len(), of_all, "{filter:?}");
            assert_eq!(own.totals(filter.clone()).await.unwrap().sessions as usize, of_alice, "{filter:?}");
            assert_eq!(all.totals(filter.clone()).await.unwrap().sessions as usize, of_all, "{filter:?}");
            for column in Column::ALL {
                let mut found = Vec::new();
                let mut after: Option<String> = None;
                loop {
                    let order = Order { column, is_descending: false };
                    let page = own.sorted(filter.clone(), order, after.as_deref(), 2).await.unwrap();
                    found.extend(page.sessions);
                    after = page.next;
                    if after.is_none() {
                        break;
                    }
                }
                assert_eq!(found.len(), of_alice, "{column:?} {filter:?}");
                assert!(found.iter().all(|session| session.title.starts_with("alpha")), "{found:?}");
            }
        }
        assert_eq!(titles(&store, Filter::default()).await.len(), 5);
        assert_eq!(titles(&store.seen_by(Owner::of_key([3; 32]), false), asked("needle")).await, [""; 0]);
    });
}

#[test]
fn a_name_is_that_of_whoever_gave_it() {
    each(async |store| {
        written(&store).await;
        let (of_alice, of_bob) = (store.seen_by(alice(), false), store.seen_by(bob(), false));
        let title = async |store: &Store, id: &str| store.session(id).await.unwrap().map(|s| s.summary.title);
        assert_eq!(title(&of_alice, "job-0").await.unwrap(), "alpha needle 0");
        assert_eq!(title(&of_bob, "job-0").await.unwrap(), "beta needle");
        assert_eq!(title(&store, "job-0").await.unwrap(), "gamma needle");
        assert_eq!(title(&of_bob, "job-1").await, None);

        // What the store calls it is seen by its owner, and by whoever sees all.
        let theirs = of_alice.session("job-1").await.unwrap().unwrap().summary.id;
        assert_eq!(title(&of_alice, &theirs).await, title(&store, &theirs).await);
        assert_eq!(title(&of_bob, &theirs).await, None);
        for id in [theirs.as_str(), "job-1"] {
            assert!(of_bob.outline(id, None, 50).await.unwrap().is_none());
            assert!(of_bob.node(id, 1).await.unwrap().is_none());
            assert!(of_bob.dump(id).await.unwrap().is_none());
            assert!(!of_bob.delete(id).await.unwrap());
        }

        // Whatever name Bob writes to, it is no session of hers.
        for name in [theirs.as_str(), "job-1"] {
            let written = store.write(of(bob(), name, "delta", Became::Passed)).await.unwrap();
            assert_ne!(written.session, theirs);
            // And once more it is the same one.
            let again = store.write(of(bob(), name, "delta", Became::Passed)).await.unwrap();
            assert_eq!(again.session, written.session);
            let by_its_id = store.write(of(bob(), &written.session, "delta", Became::Passed)).await.unwrap();
            assert_eq!(by_its_id.session, written.session);
        }
        assert_eq!(of_alice.session("job-1").await.unwrap().unwrap().turns.len(), 1);

        assert!(of_alice.delete("job-1").await.unwrap());
        assert!(store.session(&theirs).await.unwrap().is_none());
        // Who sees all deletes all, but by a name its own comes first.
        assert!(store.seen_by(bob(), true).delete("job-0").await.unwrap());
        assert_eq!(title(&store, "job-0").await, None);
        assert!(title(&of_bob, "job-0").await.is_some());
    });
}

#[test]
fn conversations_that_begin_alike_are_those_of_their_owners() {
    each(async |store| {
        let said = |owner: Option<Owner>, begins, name: &str| NewTurn {
            session: SessionRef::Conversation { fingerprint: "f".into(), begins, name: name.into() },
            owner,
            ..turn("", "Hi.", Became::Passed)
        };
        let session = async |turn| store.write(turn).await.unwrap().session;
        assert_eq!(session(said(Some(alice()), true, "r1")).await, "r1");
        assert_eq!(session(said(Some(bob()), true, "r2")).await, "r2");
        assert_eq!(session(said(None, true, "r3")).await, "r3");
        assert_eq!(session(said(Some(alice()), false, "r4")).await, "r1");
        assert_eq!(session(said(Some(bob()), false, "r5")).await, "r2");
        assert_eq!(session(said(None, false, "r6")).await, "r3");
        // By the name that it was given it is the same one, for its owner.
        assert_eq!(store.write(of(alice(), "r1", "Go on.", Became::Passed)).await.unwrap().session, "r1");
        assert_ne!(store.write(of(bob(), "r1", "Go on.", Became::Passed)).await.unwrap().session, "r1");
    });
}

#[test]
fn statistics_are_those_of_the_key_also_after_something_is_deleted() {
    each(async |store| {
        let day = 86_400_000;
        for (n, owner) in [Some(alice()), Some(alice()), Some(bob()), None].into_iter().enumerate() {
            for at in [3 * day, 3 * day + 5, 40 * day] {
                let mut turn = turn(&format!("s{n}-{at}"), "x", Became::Repaired);
                (turn.owner, turn.turn.at) = (owner.clone(), at);
                store.write(turn).await.unwrap();
            }
        }
        // Whole days and hours, and what is left of one.
        let ranges =
            [(None, None, 3), (Some(0), Some(3 * day + 5), 1), (Some(3 * day + 5), Some(3 * day + 6), 1)];
        let counts = |statistics: &Statistics| {
            let latency = statistics.latency.iter().map(|latency| latency.requests).sum::<i64>();
            let errors = statistics.errors.iter().map(|(_, count)| count).sum::<i64>();
            (statistics.calls.repaired, statistics.spent.turns, errors, latency)
        };
        let counted = async |store: &Store, since, until| {
            counts(&store.statistics(callwright_store::Range { since, until }).await.unwrap())
        };
        for (since, until, n) in ranges {
            for (owner, sessions) in [(alice(), 2), (bob(), 1), (Owner::of_key([3; 32]), 0)] {
                let expected = (n * sessions, n * sessions, n * sessions, n * sessions);
                assert_eq!(counted(&store.seen_by(owner, false), since, until).await, expected, "{since:?}");
            }
            assert_eq!(counted(&store, since, until).await.0, 4 * n);
        }
        let own = store.seen_by(alice(), false);
        assert!(own.delete(&format!("s0-{}", 40 * day)).await.unwrap());
        assert_eq!((counted(&own, None, None).await.0, counted(&store, None, None).await.0), (5, 11));
        let mut fed = of(alice(), "fed", "x", Became::Retried);
        fed.turn.repair_turns = 1;
        store.write(fed).await.unwrap();
        let fixed = async |store: &Store| store.statistics(Default::default()).await.unwrap().fixed.len();
        assert_eq!((fixed(&own).await, fixed(&store.seen_by(bob(), false)).await), (1, 0));
    });
}

#[test]
fn whoever_listens_hears_of_its_own_sessions() {
    each(async |store| {
        let mut own = store.seen_by(bob(), false).changes();
        let mut all = store.changes();
        written(&store).await;
        let bobs = own.recv().await.unwrap();
        assert!(bobs.session.starts_with("job-0@"), "{bobs:?}");
        store.delete(&bobs.session).await.unwrap();
        let deleted = own.recv().await.unwrap();
        assert_eq!((deleted.session, deleted.what), (bobs.session, "deleted"));
        for _ in 0..6 {
            all.recv().await.unwrap();
        }
    });
}
