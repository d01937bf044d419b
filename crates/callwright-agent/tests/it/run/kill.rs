//! kill -9 at random points: no effect happens twice, none is lost, and the conversation can be sent. The command line does the
//! same with the real binary, more often.
//!
//! The run is another process, which is this test again. What its tools do stands in a file that the store knows
//! nothing of.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use callwright::json;
use callwright_agent::run::{Event, Journal, Outcome, Resumed, RunnerBuilder, Watch, flaws};
use callwright_agent::{Arguments, FunctionTool, Kind, Rights, Tool, Toolbox, Workspace};
use callwright_replay::{Replay, Script};
use callwright_store::{NodeKind, Session, Store, StoreConfig};
use tempfile::TempDir;

use crate::run::bench::{NATIVE, client};

/// Tells a child where to work: folder, session, upstream.
const CHILD: &str = "CALLWRIGHT_TEST_KILLED";
const TURNS: usize = 3;
const ROUNDS: usize = 60;
const WORKERS: usize = 4;

/// Writes a line for each thing that happens.
struct Lines;

impl Watch for Lines {
    #[expect(clippy::print_stdout, reason = "whoever started it reads this")]
    fn event(&self, event: &Event) {
        if !matches!(event, Event::Raw { .. } | Event::Text { .. } | Event::Reasoning { .. }) {
            println!("\nevent");
        }
    }
}

/// A tool that adds a line to a file, and does nothing else.
fn tool(name: &'static str, kind: Kind, file: &Path) -> Arc<dyn Tool> {
    let file = file.to_owned();
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let tool = FunctionTool::new(name, "Write a line.", schema, move |arguments: Arguments, _| {
        let file = file.clone();
        async move {
            let text = arguments.string("text").unwrap_or_default();
            let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
            file.write_all(format!("{name} {text}\n").as_bytes()).unwrap();
            format!("wrote {text}")
        }
    });
    Arc::new(tool.of_kind(kind))
}

/// Is no test of its own: the one below runs it as another process.
#[test]
#[expect(clippy::print_stdout, reason = "whoever started it reads this")]
fn child() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let [folder, session, url] = told.split('|').collect::<Vec<_>>()[..] else { panic!() };
    let folder = Path::new(folder);
    let store = Store::open(StoreConfig::at(folder.join("callwright.db"))).unwrap();
    let effects = folder.join(format!("{session}.effects"));
    let toolbox = Toolbox::new(vec![
        tool("note", Kind::WRITE, &effects),
        tool("set", Kind::WRITE.idempotent(), &effects),
        tool("look", Kind::READ, &effects),
    ]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(async {
        let kept = store.session(session).await.unwrap();
        let builder = RunnerBuilder {
            model: Some(NATIVE.into()),
            rights: Rights { yes: true, ..Rights::default() },
            watch: Arc::new(Lines),
            journal: Some(Journal::open(store.clone(), session).await.unwrap()),
            ..RunnerBuilder::new(
                client(url),
                Arc::new(toolbox.unwrap()),
                Arc::new(Workspace::open(folder).unwrap()),
            )
        };
        // Before anything was said, or while it was being written down, there is nothing to resume.
        let resumed = kept.as_ref().and_then(|session| Resumed::of(session).ok());
        let mut runner = match resumed {
            Some(resumed) => builder.resume(resumed),
            None => builder.build(),
        };
        if runner.machine().messages().is_empty() {
            runner.say("Begin.").await.unwrap();
        }
        runner.run().await.unwrap()
    });
    let Outcome::Ended(ended) = outcome else { panic!("{outcome:?}") };
    println!("\nend {} {}", ended.end.name(), ended.sentence);
}

/// An upstream whose answer follows from what was said before, so that it is the same when it is asked again.
fn script() -> Script {
    let mut answers = vec![json!({
        "when": {"contains": format!("n{TURNS}a")}, "repeat": true, "text": "All done."
    })];
    for turn in (1..=TURNS).rev() {
        let call =
            |name: &str, text: String| json!({"name": name, "arguments": json!({"text": text}).to_string()});
        let calls = [
            call("note", format!("n{turn}a")),
            call("look", format!("l{turn}")),
            call("look", format!("m{turn}")),
            call("set", format!("s{turn}")),
            call("note", format!("n{turn}b")),
        ];
        let before = format!("n{}a", turn - 1);
        let when = if turn == 1 { json!({}) } else { json!({"contains": before}) };
        answers.push(json!({"when": when, "repeat": true, "tool_calls": calls}));
    }
    Script::from_json(&json!({"answers": answers}).to_string()).unwrap()
}

fn start(folder: &Path, session: &str, url: &str) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "run::kill::child", "--nocapture", "--test-threads", "1"])
        .env(CHILD, format!("{}|{session}|{url}", folder.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    (child, lines)
}

#[test]
fn no_effect_happens_twice_and_none_is_lost() {
    let killed: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|worker| scope.spawn(move || rounds(worker))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert!(ROUNDS / 2 < killed, "only {killed} of {ROUNDS} runs were killed while something was under way");
}

/// Returns how many runs were killed before their end, with something done already.
fn rounds(worker: usize) -> usize {
    let folder = TempDir::new().unwrap();
    let replay = Replay::start(script()).unwrap();
    let store = Store::open(StoreConfig::at(folder.path().join("callwright.db"))).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut random = worker as u64 + 1;
    let mut next = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut killed = 0;
    for round in 0..ROUNDS / WORKERS {
        let session = format!("k{round}");
        let url = replay.base_url();
        let (mut child, lines) = start(folder.path(), &session, &url);
        // About as many things happen in a whole run.
        let after = 1 + next(15 * TURNS as u64);
        let mut lines = lines.filter(|line| line == "event");
        let seen = lines.by_ref().take(after as usize).count();
        // Anywhere between this and what happens next.
        std::thread::sleep(Duration::from_micros(next(3_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        drop(lines);
        killed +=
            usize::from(seen as u64 == after && effects(folder.path(), &session).values().any(|n| 0 < *n));
        let (mut child, lines) = start(folder.path(), &session, &url);
        let last = lines.filter(|line| line.starts_with("end ")).last();
        assert!(child.wait().unwrap().success(), "round {round}: killed after {after}");
        assert_eq!(last.as_deref(), Some("end answered All done."), "round {round}: killed after {after}");
        let kept = runtime.block_on(store.session(&session)).unwrap().unwrap();
        holds(&kept, &effects(folder.path(), &session), round);
    }
    killed
}

/// How often each effect has happened.
fn effects(folder: &Path, session: &str) -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(folder.join(format!("{session}.effects"))).unwrap_or_default();
    let mut effects = BTreeMap::new();
    for line in text.lines() {
        *effects.entry(line.to_owned()).or_default() += 1;
    }
    effects
}

fn holds(session: &Session, effects: &BTreeMap<String, usize>, round: usize) {
    let machine = Resumed::of(session).unwrap().machine;
    assert_eq!(flaws(machine.messages()), [], "round {round}");
    let of_call = |kind: NodeKind, call: &str| {
        let is = |node: &&callwright_store::Node| node.kind == kind && node.call.as_deref() == Some(call);
        session.nodes.iter().filter(is).count()
    };
    let mut told: BTreeMap<String, &str> = BTreeMap::new();
    for node in session.nodes.iter().filter(|node| node.kind == NodeKind::ToolResult) {
        let id = node.call.as_deref().unwrap();
        assert_eq!(of_call(NodeKind::ToolResult, id), 1, "round {round}: {id} has one result");
        let intent =
            session.nodes.iter().find(|n| n.kind == NodeKind::Intent && n.call.as_deref() == Some(id));
        let arguments = intent.unwrap().payload["arguments"].as_str().unwrap();
        let arguments: callwright::value::Value = serde_json::from_str(arguments).unwrap();
        let name = node.name.as_deref().unwrap();
        told.insert(
            format!("{name} {}", arguments["text"].as_str().unwrap()),
            node.payload["text"].as_str().unwrap(),
        );
    }
    assert_eq!(told.len(), 5 * TURNS, "round {round}");
    for (effect, result) in &told {
        let times = effects.get(effect).copied().unwrap_or_default();
        let is_unknown = result.contains("\"outcome\":\"unknown\"");
        // What may run twice is never unknown: it runs again.
        assert!(!is_unknown || effect.starts_with("note"), "round {round}: {effect}");
        match (effect.starts_with("note"), is_unknown) {
            (true, true) => assert!(times <= 1, "round {round}: {effect} happened {times} times"),
            (true, false) => assert_eq!(times, 1, "round {round}: {effect}"),
            (false, _) => assert!(1 <= times, "round {round}: {effect} was lost"),
        }
    }
    // And nothing else has happened.
    assert!(effects.keys().all(|effect| told.contains_key(effect)), "round {round}");
}
