//! Golden transcripts: scripted answers go in; what was told, what ran, and the conversation come out as written down.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use callwright::Policy;
use callwright::value::Value;
use callwright_agent::Rights;
use callwright_agent::run::{Approval, Event, Machine, Outcome, Resumed, Settings, Stop, flaws};
use callwright_replay::Script;
use serde::Deserialize;

use crate::run::bench::{Bench, NATIVE, PROMPT, Wishes};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    from: String,
    /// What of the contract it shows.
    #[serde(default)]
    rows: Vec<String>,
    #[serde(default)]
    prompt_mode: bool,
    /// Its server refuses tools, so that from the second request on they are said in words.
    #[serde(default)]
    refuses_tools: bool,
    policy: Option<String>,
    system: Option<String>,
    #[serde(default)]
    notes: bool,
    stop: Option<Stop>,
    context_tokens: Option<usize>,
    #[serde(default)]
    no_yes: bool,
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    deny: Vec<String>,
    approves: Option<String>,
    #[serde(default)]
    tools: Vec<String>,
    says: String,
    /// What the upstream does.
    answer: Vec<Value>,
    /// What ran of the tools of the test; this and what follows is not looked at where it is not said.
    ran: Option<Vec<String>>,
    /// What was told.
    events: Option<Vec<String>>,
    /// What was told among other things.
    #[serde(default)]
    told: Vec<String>,
    transcript: Option<Vec<String>>,
    /// The kinds of the session's nodes.
    nodes: Option<Vec<String>>,
    requests: Option<usize>,
    end: String,
    sentence: Option<String>,
    #[serde(default)]
    sentence_has: Vec<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

#[tokio::test]
async fn every_case_comes_to_what_is_written() {
    let mut count = 0;
    let mut wrong = String::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let file: File = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in file.case {
            count += 1;
            if let Err(why) = check(&case).await {
                let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let _ = writeln!(wrong, "{file} {} ({}, {:?}):\n{why}", case.name, case.from, case.rows);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(40 <= count, "only {count} cases");
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/agent");
    let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

async fn check(case: &Case) -> Result<(), String> {
    let script = callwright::json!({"answers": case.answer});
    let bench = Bench::of(Script::from_json(&script.to_string()).map_err(|error| error.to_string())?);
    let policy = case.policy.as_deref().map_or(Policy::Auto, |name| Policy::named(name).unwrap());
    let wishes = Wishes {
        model: if case.prompt_mode { PROMPT } else { NATIVE }.into(),
        settings: Settings {
            system: case.system.clone(),
            policy,
            notes: case.notes,
            stop: case.stop.clone().unwrap_or_default(),
            context_tokens: case.context_tokens,
        },
        rights: Rights {
            yes: !case.no_yes,
            allow: case.allow.iter().cloned().collect(),
            deny: case.deny.iter().cloned().collect(),
            ..Rights::default()
        },
        approval: match case.approves.as_deref() {
            Some("once") => Approval::Once,
            Some("always") => Approval::Always,
            Some("no") => Approval::No,
            _ => Approval::Nobody,
        },
        tools: case.tools.clone(),
    };
    let (runner, outcome) = bench.run(wishes, &case.says).await;
    laws(&bench, runner.machine(), &outcome, case).await?;
    let end = match &outcome {
        Outcome::Ended(ended) => ended.end.name(),
        Outcome::Blocked(_) => "blocked",
    };
    let mut wrong = String::new();
    let mut same = |what: &str, got: &[String], wanted: &[String]| {
        if got != wanted {
            let _ = writeln!(
                wrong,
                "  {what}:\n    {}\n  instead of:\n    {}",
                got.join("\n    "),
                wanted.join("\n    ")
            );
        }
    };
    same("end", &[end.into()], std::slice::from_ref(&case.end));
    if let Some(ran) = &case.ran {
        same("ran", &bench.ran(), ran);
    }
    let events: Vec<String> = bench.seen.events().iter().filter_map(told).collect();
    if let Some(wanted) = &case.events {
        same("events", &events, wanted);
    }
    for line in &case.told {
        let found: Vec<String> = events.iter().filter(|event| *event == line).take(1).cloned().collect();
        same("told", &found, std::slice::from_ref(line));
    }
    if let Some(transcript) = &case.transcript {
        let got: Vec<String> = runner.machine().messages().iter().map(message).collect();
        same("transcript", &got, transcript);
    }
    if let Some(nodes) = &case.nodes {
        let session = bench.store.session("s").await.unwrap().unwrap();
        let got: Vec<String> = session.nodes.iter().map(|node| node.kind.name().to_owned()).collect();
        same("nodes", &got, nodes);
    }
    if let Some(requests) = case.requests {
        same("requests", &[bench.asked().len().to_string()], &[requests.to_string()]);
    }
    if let Some(sentence) = &case.sentence {
        same("sentence", &[outcome.sentence().into()], std::slice::from_ref(sentence));
    }
    for part in &case.sentence_has {
        if !outcome.sentence().contains(part) {
            let _ = writeln!(wrong, "  `{}` does not say `{part}`", outcome.sentence());
        }
    }
    for (path, text) in &case.files {
        let got = std::fs::read_to_string(bench.folder.path().join("w").join(path)).unwrap_or_default();
        if got != *text {
            let _ = writeln!(wrong, "  {path} holds {got:?}");
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// What holds for every run.
async fn laws(bench: &Bench, machine: &Machine, outcome: &Outcome, case: &Case) -> Result<(), String> {
    let found = flaws(machine.messages());
    if !found.is_empty() {
        return Err(format!("  no server takes the conversation: {found:?}"));
    }
    if outcome.sentence().trim().is_empty() {
        return Err("  it ends without a word".into());
    }
    let mut before: Vec<Value> = Vec::new();
    for request in bench.asked() {
        let messages = request["messages"].as_array().cloned().unwrap_or_default();
        let found = flaws(&messages);
        let is_native = !case.prompt_mode && !case.refuses_tools;
        if !found.is_empty() && is_native {
            return Err(format!("  no server takes the question: {found:?} {request}"));
        }
        // S0-23: each question holds all that the one before it held; what is asked again stands behind it.
        let is_told_on = messages.len() < before.len() || messages[..before.len()] == before[..];
        if is_native && case.context_tokens.is_none() && !is_told_on {
            return Err(format!("  the conversation was changed: {before:?} {messages:?}"));
        }
        if machine.messages().starts_with(&messages) {
            before = messages;
        }
    }
    let copy: Machine = serde_json::from_str(&serde_json::to_string(machine).unwrap()).unwrap();
    if copy != *machine {
        return Err("  a copy by way of JSON is another machine".into());
    }
    let session = bench.store.session("s").await.unwrap().unwrap();
    let resumed = Resumed::of(&session).map_err(|error| error.to_string())?;
    match outcome {
        Outcome::Ended(_) if resumed.machine != *machine => {
            Err(format!("  the journal tells of another machine: {:?}\n{machine:?}", resumed.machine))
        }
        _ if resumed.machine.messages() != machine.messages() => {
            Err("  the journal tells something else".into())
        }
        _ => Ok(()),
    }
}

/// An event in one line; pieces of text are left out.
fn told(event: &Event) -> Option<String> {
    Some(match event {
        Event::Asking { turn } => format!("turn {turn}"),
        Event::Compacted => "compacted".into(),
        Event::Retried { .. } => "retried".into(),
        Event::Repaired { tool, renamed_from, repairs, class, .. } => {
            let from = renamed_from.as_ref().map_or(String::new(), |from| format!(" was {from}"));
            format!("repaired {tool}{from} [{}] {class}", repairs.join(" "))
        }
        Event::Invalid { tool, code, .. } => format!("invalid {code} {}", tool.as_deref().unwrap_or("?")),
        Event::ApprovalAsked { tool, arguments, .. } => format!("may {tool} {arguments}"),
        Event::Approved { yes, .. } => format!("approved {yes}"),
        Event::CallStarted { tool, arguments, .. } => format!("call {tool} {arguments}"),
        Event::CallFinished { tool, result, is_error, .. } => {
            format!("{} {tool} -> {result}", if *is_error { "failed" } else { "done" })
        }
        Event::OutcomeUnknown { tool, .. } => format!("unknown {tool}"),
        Event::StepFinished(step) => format!("step {}", step.turn),
        Event::Blocked { .. } => "blocked".into(),
        Event::Ended { ended, .. } => format!("end {}", ended.end.name()),
        _ => return None,
    })
}

/// A message in one line: `assistant: text | f {"a": 1} #call_1`, `tool #call_1: 2`.
fn message(message: &Value) -> String {
    let mut line = message["role"].as_str().unwrap_or_default().to_owned();
    if let Some(id) = message["tool_call_id"].as_str() {
        let _ = write!(line, " #{}", id_of(id));
    }
    let _ = write!(line, ": {}", message["content"].as_str().unwrap_or("∅"));
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (name, arguments) = (text(&call["function"]["name"]), text(&call["function"]["arguments"]));
        let _ = write!(line, " | {name} {arguments} #{}", id_of(&text(&call["id"])));
    }
    line
}

/// An id that the upstream did not give is another one each time.
fn id_of(id: &str) -> &str {
    let is_made = id.strip_prefix("call_").is_some_and(|rest| rest.len() == 24);
    if is_made { "ID" } else { id }
}
