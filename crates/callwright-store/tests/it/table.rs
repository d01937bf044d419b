//! A list is in the order that is asked for, page by page, and its totals are the sums of its rows.

use callwright_store::{Became, Column, Filter, Order, Store, Summary};

use crate::places::{each, turn};

/// Sessions that differ in all that a list is ordered by, some of them equal.
async fn filled(store: &Store) {
    let outcomes = [Became::Repaired, Became::Passed, Became::Refused];
    for number in 0..9_i64 {
        for n in 0..=number % 4 {
            let became = outcomes[(number + n) as usize % outcomes.len()];
            let mut turn = turn(&format!("s{number}"), &format!("Say {number}"), became);
            turn.turn.at = 1_000 + 10 * number + n;
            turn.turn.model = ["b", "a", "c"][number as usize % 3].into();
            turn.turn.total_us = 7 * (number * 5 % 9) + n;
            turn.turn.prompt_tokens = 100 * (number * 7 % 5);
            store.write(turn).await.unwrap();
        }
    }
}

async fn walked(store: &Store, filter: &Filter, order: Order, most: usize) -> Vec<Summary> {
    let (mut found, mut after): (Vec<Summary>, Option<String>) = (Vec::new(), None);
    loop {
        let page = store.sorted(filter.clone(), order, after.as_deref(), most).await.unwrap();
        assert!(page.sessions.len() <= most);
        found.extend(page.sessions);
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

#[test]
fn a_list_is_in_the_order_that_is_asked_for() {
    each(async |store| {
        filled(&store).await;
        let filters = [Filter::default(), Filter { outcome: Some("repaired".into()), ..Filter::default() }];
        for filter in filters {
            let all = store.sessions(filter.clone(), None, 200).await.unwrap().sessions;
            assert!(3 < all.len());
            for column in Column::ALL {
                let value = |summary: &Summary| match column {
                    Column::Updated => (summary.updated, String::new()),
                    Column::Model => (0, summary.model.clone()),
                    Column::Outcome => (0, summary.outcome.clone()),
                    Column::Turns => (summary.turns, String::new()),
                    Column::Repairs => (summary.repairs, String::new()),
                    Column::Refusals => (summary.refusals, String::new()),
                    Column::Slowest => (summary.slowest_us, String::new()),
                    Column::Tokens => (summary.tokens, String::new()),
                };
                for is_descending in [false, true] {
                    let mut expected: Vec<_> = all.iter().map(value).collect();
                    expected.sort();
                    if is_descending {
                        expected.reverse();
                    }
                    for most in [1, 2, 50] {
                        let found = walked(&store, &filter, Order { column, is_descending }, most).await;
                        let values: Vec<_> = found.iter().map(value).collect();
                        assert_eq!(values, expected, "{column:?}, {most} at a time");
                        let mut names: Vec<_> = found.iter().map(|summary| &summary.id).collect();
                        names.sort();
                        names.dedup();
                        assert_eq!(names.len(), all.len(), "{column:?}: each session once");
                    }
                }
            }
        }
        // A place that nobody gave out is the beginning.
        let order = Order { column: Column::Tokens, is_descending: true };
        for odd in ["nonsense", "v1", "v1.x", "vx.1", "o-3"] {
            assert_eq!(store.sorted(Filter::default(), order, Some(odd), 2).await.unwrap().sessions.len(), 2);
        }
    });
}

#[test]
fn totals_are_the_sums_of_the_rows() {
    each(async |store| {
        assert_eq!(store.totals(Filter::default()).await.unwrap().sessions, 0);
        filled(&store).await;
        let filters = [
            Filter::default(),
            Filter { outcome: Some("repaired".into()), ..Filter::default() },
            Filter { model: Some("a".into()), ..Filter::default() },
            Filter { outcome: Some("refused".into()), text: Some("say".into()), ..Filter::default() },
            Filter { text: Some("nowhere".into()), ..Filter::default() },
        ];
        for filter in filters {
            let rows = store.sessions(filter.clone(), None, 200).await.unwrap().sessions;
            let totals = store.totals(filter.clone()).await.unwrap();
            let sum = |of: fn(&Summary) -> i64| rows.iter().map(of).sum::<i64>();
            let found = (totals.sessions, totals.turns, totals.repairs, totals.refusals, totals.tokens);
            let expected =
                (sum(|_| 1), sum(|s| s.turns), sum(|s| s.repairs), sum(|s| s.refusals), sum(|s| s.tokens));
            assert_eq!(found, expected, "{filter:?}");
            assert!(totals.is_all && totals.outcomes_are_all);
            // What is told of an outcome is what choosing it finds.
            for (outcome, n) in totals.outcomes {
                let chosen = Filter { outcome: Some(outcome), ..filter.clone() };
                let found = store.sessions(chosen.clone(), None, 200).await.unwrap().sessions;
                assert_eq!(found.len() as i64, n, "{chosen:?}");
            }
        }
    });
}

#[test]
fn the_time_of_requests_is_told_by_model() {
    each(async |store| {
        for number in 1..=20 {
            let mut turn = turn("s", "x", Became::Passed);
            turn.turn.at = 1_795_305_600_000 + number;
            (turn.turn.total_us, turn.turn.first_byte_us) = (1_000 * number, 10 * number);
            turn.turn.model = if number == 20 { "slow".into() } else { "quick".into() };
            store.write(turn).await.unwrap();
        }
        let latency = store.statistics(Default::default()).await.unwrap().latency;
        let told = latency
            .iter()
            .map(|of| (of.model.as_str(), of.requests, of.p50_us, of.p95_us, of.first_byte_p95_us));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [("quick", 19, 10_000, 19_000, 190), ("slow", 1, 20_000, 20_000, 200)]
        );
        let summary = store.session("s").await.unwrap().unwrap().summary;
        assert_eq!(summary.slowest_us, 20_000);
    });
}
