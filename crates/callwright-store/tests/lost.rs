//! What a store says of turns that it could not write: a program of its own, since it listens to the log of its process.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "it/places/mod.rs"]
#[allow(dead_code, reason = "one test needs a part of it")]
mod places;

use std::sync::Mutex;

use callwright_store::{Became, NewTurn, Record, Store, StoreConfig};
use places::{bad, fails_for_bad, folder, run, turn};

struct Bad;

impl Record for Bad {
    fn size(&self) -> usize {
        1
    }

    fn into_turn(self: Box<Self>) -> Option<NewTurn> {
        Some(bad())
    }
}

/// Keeps the lines of the log that say that turns were lost.
struct Lines;

static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl tracing::Subscriber for Lines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        struct Text(String);
        impl tracing::field::Visit for Text {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.push_str(&format!("{field}={value:?} "));
            }
        }
        let mut text = Text(String::new());
        event.record(&mut text);
        if text.0.contains("were not written") {
            SAID.lock().unwrap().push(text.0);
        }
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn what_is_lost_is_counted_in_a_line_and_not_told_one_by_one() {
    tracing::subscriber::set_global_default(Lines).unwrap();
    let store = Store::open(StoreConfig::at(folder().join("callwright.db"))).unwrap();
    run(async {
        store.write(turn("s", "first", Became::Passed)).await.unwrap();
        fails_for_bad(&store).await;
        for _ in 0..40 {
            store.record(Box::new(Bad));
            store.flush().await.unwrap();
        }
        assert_eq!(store.dropped(), 40);
    });
    store.close();
    let said = SAID.lock().unwrap().clone();
    assert_eq!(said.len(), 2, "at once, and at the end: {said:?}");
    assert!(said[0].contains("turns=1 ") && said[0].contains("the disk is full"), "{said:?}");
    assert!(said[1].contains("turns=39 "), "{said:?}");
}
