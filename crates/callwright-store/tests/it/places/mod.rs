//! Places for stores: a folder for each test, and a database where the variable `CALLWRIGHT_TEST_POSTGRES` names a
//! server.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use callwright_store::{
    Became, Before, Call, Fault, Location, NewNode, NewTurn, NodeKind, SessionRef, Store, StoreConfig, Turn,
};
use callwright_value::json;
use sqlx::{AssertSqlSafe, Connection, Executor};

/// A new folder.
pub(crate) fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("store-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a test in a new store of each kind that there is.
pub(crate) fn each(test: impl AsyncFn(Store)) {
    for config in configs() {
        let store = Store::open(config).unwrap();
        run(test(store.clone()));
        store.close();
    }
}

/// New stores, one of each kind that there is.
pub(crate) fn configs() -> Vec<StoreConfig> {
    let mut configs = vec![StoreConfig::at(folder().join("callwright.db"))];
    configs.extend(postgres().map(StoreConfig::of));
    configs
}

/// A new database of the server, where there is one.
fn postgres() -> Option<Location> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let server = std::env::var("CALLWRIGHT_TEST_POSTGRES").ok()?;
    let (base, query) = server.split_once('?').map_or((server.as_str(), ""), |(base, query)| (base, query));
    let name = format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    sqlx::any::install_default_drivers();
    run(async {
        let mut connection = sqlx::AnyConnection::connect(&server).await.unwrap();
        connection.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name}"))).await.unwrap();
        connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    });
    let (host, _) = base.rsplit_once('/').unwrap();
    Some(Location::Postgres(format!("{host}/{name}?{query}")))
}

/// Runs to the end.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// A turn of this session with one call.
pub(crate) fn turn(session: &str, says: &str, became: Became) -> NewTurn {
    let outcome = match became {
        Became::Passed => "passed",
        other => other.name(),
    };
    let mut answer = NewNode::new(NodeKind::ModelTurn, json!({"raw": "<tool_call>{…}</tool_call>"}));
    answer.body = Some(format!(
        r#"{{"model":"m","messages":[{{"role":"system","content":"{}"}},{{"role":"user","content":"{says}"}}]}}"#,
        "Be brief. ".repeat(30)
    ));
    NewTurn {
        session: SessionRef::Named(session.into()),
        owner: None,
        origin: "gateway",
        title: says.into(),
        turn: Turn {
            request: "cw-1".into(),
            outcome: outcome.into(),
            model: "qwen".into(),
            upstream: "local".into(),
            mode: "prompt".into(),
            dialect: "hermes".into(),
            policy: "auto".into(),
            status: 200,
            attempts: 1,
            prompt_tokens: 10,
            completion_tokens: 5,
            repairs: i64::from(became == Became::Repaired),
            ..Turn::default()
        },
        before: Before::made_by(|| vec![NewNode::new(NodeKind::System, json!({"text": "Be brief."}))]),
        nodes: vec![NewNode::new(NodeKind::User, json!({"text": says})), answer],
        calls: vec![Call { tool: "run_code".into(), dialect: "hermes".into(), became }],
        faults: match became {
            Became::Passed => Vec::new(),
            _ => vec![Fault { kind: "drop-comma".into(), tool: "run_code".into(), place: String::new() }],
        },
        feeds_back: false,
    }
}

/// The database of a store, past the store.
pub(crate) async fn database(store: &Store) -> sqlx::AnyConnection {
    let url = match store.location() {
        Location::File(path) => format!("sqlite://{}", path.display()),
        Location::Postgres(url) => url.clone(),
    };
    sqlx::AnyConnection::connect(&url).await.unwrap()
}

/// SQLite rolls a transaction back by itself where the disk is full; this trigger has it do the same.
pub(crate) async fn fails_for_bad(store: &Store) {
    let trigger = "CREATE TRIGGER full BEFORE INSERT ON turns WHEN new.model = 'bad' \
                   BEGIN SELECT RAISE(ROLLBACK, 'the disk is full'); END";
    database(store).await.execute(trigger).await.unwrap();
}

/// A turn that such a store cannot write.
pub(crate) fn bad() -> NewTurn {
    let mut bad = turn("s", "lost", Became::Passed);
    bad.turn.model = "bad".into();
    bad
}
