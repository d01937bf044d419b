//! What a store costs: `cargo xtask bench store` builds and runs it. By itself it takes a folder, or the URL of an empty
//! Postgres database, and the number of nodes:
//! `cargo run --profile dist --package callwright-store --example measure postgres://localhost/measure 1000000`
//!
//! A store of as many nodes as asked for is made, as conversations of ten turns; then lists, filters and sessions are
//! asked for, and the middle of the times is told. And what handing over a record costs the one who hands it over.
#![expect(clippy::print_stdout, reason = "it talks to its user")]

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use callwright_store::{
    Became, Before, Call, Fault, Filter, Location, NewNode, NewTurn, NodeKind, Range, Record, Retention,
    SessionRef, Store, StoreConfig, StoreError, Turn,
};
use callwright_value::json;

/// As many words as people use for most of what they say.
const WORDS: u64 = 5000;

fn main() -> Result<(), StoreError> {
    let mut args = std::env::args().skip(1);
    let place = args.next();
    let n_nodes: u64 = args.next().and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let location = match place {
        Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            Location::Postgres(url)
        }
        folder => Location::File(folder.map_or_else(std::env::temp_dir, PathBuf::from).join("measure.db")),
    };
    let config =
        StoreConfig { retention: Retention { days: 0, bytes: 0 }, ..StoreConfig::of(location.clone()) };
    let store = Store::open(config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|_| StoreError::Closed)?;
    hand_over(&store);
    runtime.block_on(async {
        store.flush().await?;
        let begun = Instant::now();
        fill(&store, n_nodes).await?;
        println!("fill: {n_nodes} nodes in {:.1} s", begun.elapsed().as_secs_f64());
        if let Location::File(file) = &location
            && let Ok(file) = std::fs::metadata(file)
        {
            println!("fill: {} bytes in the file for each node", file.len() / n_nodes.max(1));
        }
        ask(&store).await
    })
}

/// A record that has been put together already: what is measured is handing it over.
struct Ready(NewTurn);

impl Record for Ready {
    fn size(&self) -> usize {
        1000
    }

    fn into_turn(self: Box<Self>) -> Option<NewTurn> {
        Some(self.0)
    }
}

fn hand_over(store: &Store) {
    let mut times = Vec::new();
    for round in 0..2000 {
        let record = Box::new(Ready(turn(round, 0)));
        let begun = Instant::now();
        store.record(black_box(record));
        times.push(begun.elapsed());
        if round % 100 == 99 {
            // The queue is never full, and the writer sleeps again before the next ones.
            std::thread::sleep(std::time::Duration::from_millis(60));
        }
    }
    times.sort();
    let us = |at: usize| times[at].as_secs_f64() * 1e6;
    println!(
        "write: {:.2} µs at the median, {:.2} µs at p99",
        us(times.len() / 2),
        us(times.len() * 99 / 100)
    );
}

async fn fill(store: &Store, n_nodes: u64) -> Result<(), StoreError> {
    // Each turn has five nodes.
    let mut left = n_nodes / 5;
    let mut session = 1_000_000;
    while 0 < left {
        let turns = (0..50_u64).map(|n| store.write(turn(session + n / 10, n % 10)));
        for written in join(turns.collect()).await {
            written?;
        }
        session += 5;
        left = left.saturating_sub(50);
    }
    Ok(())
}

/// Waits for all of these: they share a transaction, as each has asked before the first is answered.
async fn join<T>(mut all: Vec<impl Future<Output = T>>) -> Vec<T> {
    let mut all: Vec<_> = all.drain(..).map(|one| (Some(Box::pin(one)), None)).collect();
    std::future::poll_fn(|context| {
        let mut is_done = true;
        for (work, done) in &mut all {
            if let Some(running) = work {
                match running.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => (*work, *done) = (None, Some(value)),
                    std::task::Poll::Pending => is_done = false,
                }
            }
        }
        if is_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    all.into_iter().filter_map(|(_, done)| done).collect()
}

async fn ask(store: &Store) -> Result<(), StoreError> {
    let filter = |set: fn(&mut Filter)| {
        let mut filter = Filter::default();
        set(&mut filter);
        filter
    };
    let lists = [
        ("list", Filter::default()),
        ("filter by outcome", filter(|f| f.outcome = Some("healed".into()))),
        ("filter by rare outcome", filter(|f| f.outcome = Some("refused".into()))),
        ("filter by model", filter(|f| f.model = Some("model-3".into()))),
        ("filter by mode", filter(|f| f.mode = Some("prompt".into()))),
        ("filter by dialect", filter(|f| f.dialect = Some("hermes".into()))),
        ("filter by error", filter(|f| f.error = Some("drop-comma".into()))),
        ("filter by rare error", filter(|f| f.error = Some("ambiguous".into()))),
        (
            "filter: outcome, model and dialect",
            filter(|f| {
                f.outcome = Some("refused".into());
                f.model = Some("model-3".into());
                f.dialect = Some("hermes".into());
            }),
        ),
        (
            "filter: model and error",
            filter(|f| {
                f.model = Some("model-3".into());
                f.error = Some("drop-comma".into());
            }),
        ),
        (
            "filter: nothing fits",
            filter(|f| {
                f.model = Some("model-1".into());
                f.outcome = Some("breaker".into());
            }),
        ),
        ("filter by common word", filter(|f| f.text = Some("word1 ".into()))),
        ("filter by rare word", filter(|f| f.text = Some("word4987 ".into()))),
        ("filter by two words", filter(|f| f.text = Some("word17 word23 ".into()))),
        ("filter by beginning of all words", filter(|f| f.text = Some("wor".into()))),
        ("filter by beginning of a word", filter(|f| f.text = Some("word49".into()))),
        ("filter by no such word", filter(|f| f.text = Some("nowhere".into()))),
        (
            "filter: common word, rare error",
            filter(|f| {
                f.text = Some("word1 ".into());
                f.error = Some("ambiguous".into());
            }),
        ),
        (
            "filter: beginning, outcome, model",
            filter(|f| {
                f.text = Some("word1".into());
                f.outcome = Some("refused".into());
                f.model = Some("model-3".into());
            }),
        ),
        (
            "filter: common word, nothing fits",
            filter(|f| {
                f.text = Some("word1 ".into());
                f.outcome = Some("breaker".into());
            }),
        ),
    ];
    for (name, filter) in lists {
        let mut times = Vec::new();
        let mut found = 0;
        for _ in 0..15 {
            let begun = Instant::now();
            found = store.sessions(filter.clone(), None, 50).await?.sessions.len();
            times.push(begun.elapsed());
        }
        show(name, &mut times, found);
    }
    for (name, filter) in [
        ("tenth page", Filter::default()),
        ("tenth page by outcome", filter(|f| f.outcome = Some("healed".into()))),
        ("tenth page by word", filter(|f| f.text = Some("word1 ".into()))),
    ] {
        let (mut times, mut after, mut found) = (Vec::new(), None, 0);
        for _ in 0..10 {
            let begun = Instant::now();
            let page = store.sessions(filter.clone(), after.as_deref(), 50).await?;
            times.push(begun.elapsed());
            (after, found) = (page.next, page.sessions.len());
        }
        show(name, &mut times[9..], found);
    }
    let page = store.sessions(filter(|f| f.outcome = Some("healed".into())), None, 50).await?;
    let mut times = Vec::new();
    for summary in &page.sessions {
        let begun = Instant::now();
        black_box(store.outline(&summary.id, None, 200).await?);
        times.push(begun.elapsed());
    }
    show("open", &mut times, 1);
    let last = store.sessions(Filter::default(), None, 1).await?.sessions.first().map_or(0, |s| s.updated);
    for (name, since) in [("statistics, of all", None), ("statistics, of a day", Some(last - 86_400_000))] {
        let mut times = Vec::new();
        for _ in 0..15 {
            let begun = Instant::now();
            black_box(store.statistics(Range { since, until: Some(last + 1) }).await?);
            times.push(begun.elapsed());
        }
        show(name, &mut times, 1);
    }
    Ok(())
}

fn show(name: &str, times: &mut [std::time::Duration], found: usize) {
    times.sort();
    println!("{name}: {:.2} ms, {found} found", times[times.len() / 2].as_secs_f64() * 1e3);
}

fn turn(session: u64, number: u64) -> NewTurn {
    let mut seed = session * 31 + number + 1;
    let mut next = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Small numbers come often, as some words do.
        let n = (seed >> 33) % below;
        n * ((seed >> 20) % below) / below
    };
    let mut text = |n: u64| (0..n).map(|_| format!("word{}", next(WORDS))).collect::<Vec<_>>().join(" ");
    let became = match (session + number) % 20 {
        0..14 => Became::Right,
        14..18 => Became::Healed,
        18 => Became::Corrected,
        _ if session % 50 == 7 => Became::Refused,
        _ => Became::Right,
    };
    let outcome = if became == Became::Right { "passed" } else { became.name() };
    let kind = if session % 5000 == 11 { "ambiguous" } else { "drop-comma" };
    let dialect = if session.is_multiple_of(3) {
        ["hermes", "json", "pythonic"][session as usize / 3 % 3]
    } else {
        "native"
    };
    let fault = Fault { kind: kind.into(), tool: "run_code".into(), place: String::new() };
    NewTurn {
        session: SessionRef::Named(format!("s{session}")),
        owner: None,
        origin: "gateway",
        title: text(8),
        turn: Turn {
            at: 1_790_000_000_000 + (session * 10 + number) as i64 * 1000,
            outcome: outcome.into(),
            model: format!("model-{}", session % 7),
            mode: if session.is_multiple_of(3) { "prompt".into() } else { "native".into() },
            dialect: dialect.into(),
            policy: "auto".into(),
            status: 200,
            prompt_tokens: 900,
            completion_tokens: 90,
            ..Turn::default()
        },
        before: Before::default(),
        nodes: [
            NodeKind::User,
            NodeKind::ModelTurn,
            NodeKind::Reasoning,
            NodeKind::ToolCall,
            NodeKind::ToolResult,
        ]
        .map(|kind| NewNode::new(kind, json!({"text": text(30)})))
        .into(),
        calls: vec![Call { tool: format!("tool-{}", session % 9), dialect: dialect.into(), became }],
        faults: if became == Became::Right { Vec::new() } else { vec![fault] },
        feeds_back: false,
    }
}
