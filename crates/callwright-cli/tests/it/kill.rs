//! `kill -9` of the real binary at random points of a run, over and over until it ends: no effect happens twice, none is
//! lost, what was told as done stands in the store, and after each kill the conversation is one that every server takes.
//!
//! What the tools do stands in files that the store knows nothing of.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use callwright::json;
use callwright::value::Value;
use callwright_agent::run::{Resumed, flaws};
use callwright_replay::{Replay, Script};
use callwright_store::{NodeKind, Session, Store, StoreConfig};

use crate::binary::callwright;

/// So many kills there are, of all workers together.
const KILLS: usize = 200;
const WORKERS: usize = 2;
const TURNS: usize = 3;
/// So many things happen in a run that nobody kills, about.
const EVENTS: u64 = 12 * TURNS as u64 + 4;
/// A run that goes on ends where it was killed so often: what is killed before it begins comes to nothing.
const KILLS_OF_A_RUN: usize = 8;

/// A program that adds a line to a file, twice: once it may not run twice, once it may. The built-in tool changes a file of
/// its own.
const FILE: &str = r#"
task = "Begin."
tools = ["note", "set", "fsAppend", "fsRead"]
[[tool]]
name = "note"
description = "Writes a line."
command = ["sh", "-c", "printf 'note %s\n' \"$1\" >> effects", "sh", "{text}"]
kind = "write"
[tool.parameters]
type = "object"
properties.text = { type = "string" }
required = ["text"]
[[tool]]
name = "set"
description = "Writes a line."
command = ["sh", "-c", "printf 'set %s\n' \"$1\" >> effects", "sh", "{text}"]
kind = "write"
idempotent = true
[tool.parameters]
type = "object"
properties.text = { type = "string" }
required = ["text"]
"#;

const CONFIG: &str = "[capability]\nprobe = false\n[[models]]\npattern = \"native\"\nmode = \"native\"\n";

/// An upstream whose answer follows from what was said before, so that it is the same when it is asked again.
fn script() -> Script {
    let done = format!("done {TURNS}");
    let mut answers = vec![json!({"when": {"contains": done}, "repeat": true, "text": "All done."})];
    for turn in (1..=TURNS).rev() {
        let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments.to_string()});
        let calls = [
            call("note", json!({"text": turn.to_string()})),
            call("fsRead", json!({"path": "read"})),
            call("fsRead", json!({"path": "effects"})),
            call("set", json!({"text": turn.to_string()})),
            call("fsAppend", json!({"path": "appended", "content": format!("append {turn}\n")})),
        ];
        let when = match turn {
            1 => json!({}),
            _ => json!({"contains": format!("done {}", turn - 1)}),
        };
        let text = format!("done {turn}");
        answers.push(json!({"when": when, "repeat": true, "text": text, "tool_calls": calls}));
    }
    Script::from_json(&json!({"answers": answers}).to_string()).unwrap()
}

#[test]
fn a_killed_run_goes_on_and_nothing_is_done_twice() {
    let (killed, whole) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|worker| scope.spawn(move || work(worker))).collect();
        let done = workers.into_iter().map(|worker| worker.join().unwrap());
        done.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    });
    assert!(KILLS <= killed, "{killed} runs were killed");
    assert!(KILLS / 2 < whole, "only {whole} of {killed} were killed in the middle");
}

/// Returns how often a run was killed, and how often of these something had begun and not all was done.
fn work(worker: usize) -> (usize, usize) {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kill-{}-{worker}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("run.toml"), FILE).unwrap();
    fs::write(folder.join("callwright.toml"), CONFIG).unwrap();
    let replay = Replay::start(script()).unwrap();
    let url = replay.base_url();
    let mut random = worker as u64 + 1;
    let mut next = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let (mut killed, mut middle) = (0, 0);
    for number in 0.. {
        if KILLS / WORKERS <= killed {
            break;
        }
        let run = Run { folder: &folder, url: &url, session: format!("k{number}") };
        fs::create_dir_all(run.workspace()).unwrap();
        fs::write(run.workspace().join("read"), "read me\n").unwrap();
        for _ in 0..KILLS_OF_A_RUN {
            let (told, is_over) = run.until(Some((1 + next(EVENTS), Duration::from_micros(next(4_000)))));
            if is_over {
                break;
            }
            killed += 1;
            middle += usize::from(told.iter().any(|event| event["event"] == "call_started"));
            run.holds(&told);
        }
        let (told, is_over) = run.until(None);
        assert!(is_over, "{}: {told:?}", run.session);
        let last = told.last().unwrap();
        assert_eq!(
            (&last["event"], &last["sentence"]),
            (&json!("ended"), &json!("All done.")),
            "{}",
            run.session
        );
        run.is_done(&run.holds(&told).unwrap());
    }
    (killed, middle)
}

/// One session in a folder of its own.
struct Run<'r> {
    folder: &'r Path,
    url: &'r str,
    session: String,
}

impl Run<'_> {
    fn workspace(&self) -> PathBuf {
        self.folder.join(&self.session)
    }

    /// What is kept of it. The store is opened anew, as another program would.
    fn kept(&self) -> Option<Session> {
        let store = Store::open(StoreConfig::at(self.folder.join("callwright.db"))).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let session = runtime.block_on(store.session(&self.session)).unwrap();
        store.close();
        session
    }

    /// Runs it, or lets it go on, until so many things have happened and some time has passed; or to its end. Returns what
    /// it told, and whether it came to its end.
    fn until(&self, kill: Option<(u64, Duration)>) -> (Vec<Value>, bool) {
        let [store, config, file] =
            ["callwright.db", "callwright.toml", "run.toml"].map(|name| self.folder.join(name));
        let [store, config, file] = [&store, &config, &file].map(|path| path.to_str().unwrap());
        let workspace = self.workspace();
        // What was killed before it had written anything is not there to go on with.
        let begins = match self.kept() {
            None => vec!["run", file, "--session", &self.session],
            Some(_) => vec!["run", "--resume", &self.session],
        };
        let more = ["--upstream", self.url, "--model", "native", "--yes", "--output", "json"];
        let places = ["--store", store, "--config", config, "--workspace", workspace.to_str().unwrap()];
        let mut command = callwright(&[&begins[..], &more, &places].concat());
        command.env("XDG_STATE_HOME", self.folder.join("state")).env_remove("CALLWRIGHT_STORE_AT");
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut told = Vec::new();
        if let Some((events, more)) = kill {
            told.extend(lines.by_ref().take(events as usize));
            // Anywhere between this and what happens next.
            std::thread::sleep(more);
            child.kill().unwrap();
        }
        told.extend(lines);
        let status = child.wait().unwrap();
        // The last line may have been cut.
        let told: Vec<Value> = told.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let is_over = told.last().is_some_and(|event| event["event"] == "ended");
        assert!(kill.is_some() || status.success(), "{}: {status} {told:?}", self.session);
        (told, is_over)
    }

    /// The conversation can be sent, and all that was told stands in the store. Returns what is kept; nothing may be, where
    /// nothing was told.
    fn holds(&self, told: &[Value]) -> Option<Session> {
        let Some(session) = self.kept() else {
            assert!(told.is_empty(), "{}: {told:?}", self.session);
            return None;
        };
        let machine = Resumed::of(&session).unwrap().machine;
        assert_eq!(flaws(machine.messages()), [], "{}", self.session);
        assert!(machine.messages().iter().any(|message| message["content"] == "Begin."), "{}", self.session);
        let has = |kind: NodeKind, event: &Value| {
            session.nodes.iter().any(|node| node.kind == kind && node.call.as_deref() == event["id"].as_str())
        };
        for event in told {
            match event["event"].as_str().unwrap() {
                "call_started" => assert!(has(NodeKind::Intent, event), "{}: {event}", self.session),
                "call_finished" => {
                    let result = session.nodes.iter().find(|node| {
                        node.kind == NodeKind::ToolResult && node.call.as_deref() == event["id"].as_str()
                    });
                    let result = result.map(|node| &node.payload["text"]);
                    assert_eq!(result, Some(&event["result"]), "{}", self.session);
                }
                "answered" => {
                    let turn = event["turn"].as_u64().unwrap() as usize;
                    assert!(turn <= session.turns.len(), "{}: {event}", self.session);
                }
                _ => {}
            }
        }
        Some(session)
    }

    /// Each effect happened once, or what the model was told says that nobody knows.
    fn is_done(&self, session: &Session) {
        let mut effects: BTreeMap<String, usize> = BTreeMap::new();
        for file in ["effects", "appended"] {
            let text = fs::read_to_string(self.workspace().join(file)).unwrap_or_default();
            text.lines().for_each(|line| *effects.entry(line.to_owned()).or_default() += 1);
        }
        let mut expected = 0;
        for node in session.nodes.iter().filter(|node| node.kind == NodeKind::ToolResult) {
            let of_call = |kind: NodeKind| {
                let mut found = session.nodes.iter().filter(|n| n.kind == kind && n.call == node.call);
                (found.next().unwrap(), found.next().is_none())
            };
            assert!(of_call(NodeKind::ToolResult).1, "{}: two results of {:?}", self.session, node.call);
            let arguments = of_call(NodeKind::Intent).0.payload["arguments"].as_str().unwrap();
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            let (name, text) = (node.name.as_deref().unwrap(), node.payload["text"].as_str().unwrap());
            let effect = match name {
                "note" | "set" => format!("{name} {}", arguments["text"].as_str().unwrap()),
                "fsAppend" => arguments["content"].as_str().unwrap().trim_end().to_owned(),
                _ => continue,
            };
            expected += 1;
            let times = effects.remove(&effect).unwrap_or_default();
            let is_unknown = text.contains("\"outcome\":\"unknown\"");
            assert_eq!(
                of_call(NodeKind::Effect).0.payload["outcome"] == "unknown",
                is_unknown,
                "{}",
                self.session
            );
            match (name, is_unknown) {
                ("set", true) => panic!("{}: what may run twice is never unknown", self.session),
                ("set", false) => assert!(1 <= times, "{}: {effect} was lost", self.session),
                (_, true) => assert!(times <= 1, "{}: {effect} happened {times} times", self.session),
                (_, false) => assert_eq!(times, 1, "{}: {effect}", self.session),
            }
        }
        assert_eq!(expected, 3 * TURNS, "{}", self.session);
        assert!(effects.is_empty(), "{}: nobody asked for {effects:?}", self.session);
    }
}
