//! The cases of `corpus/gateway`, played over HTTP, plain and streamed, to a strict client.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod bridge;
mod case;
mod client;
mod cut;
mod expect;
mod framing;
mod gemini;
mod hang_up;
mod interleaved;
mod messages;
mod ollama;
mod recorded;
mod responses;
mod served;
mod strict;
mod surfaces;

use std::collections::{BTreeMap, BTreeSet};

use callwright::value::Value;
use callwright::{CallDelta, Context, Delta, Scanner, ToolSet};
use callwright_replay::Replay;

use crate::corpus::case::{Case, Way, tools};

/// How many kinds of each sort there are.
const KINDS: [(&str, usize); 4] =
    [("healable.toml", 30), ("wrong.toml", 6), ("pass.toml", 11), ("history.toml", 1)];

/// What is wrong with a case when its client talks to the upstream itself.
async fn direct(case: &Case, way: Way) -> Vec<String> {
    let replay = Replay::start(case.script(way)).unwrap();
    let request = case.request(way);
    let got = client::ask(&replay.base_url(), &case.headers, &request).await;
    let mut wrong = expect::seen(case, &got, &got, &request);
    wrong.extend(expect::asked(case, &replay.requests()));
    wrong
}

/// What is wrong with a case when its client talks to a gateway before the upstream.
async fn through_a_gateway(case: &Case, way: Way) -> Vec<String> {
    let request = case.request(way);
    let alone = Replay::start(case.script(way)).unwrap();
    let direct = client::ask(&alone.base_url(), &case.headers, &request).await;
    let stage = case.stage(way, None);
    let got = client::ask(&stage.gateway.base_url, &case.headers, &request).await;
    let mut wrong = expect::seen(case, &got, &direct, &request);
    wrong.extend(stage.wrong(case.asked.as_ref()));
    wrong
}

#[test]
fn there_are_as_many_kinds_as_are_claimed() {
    for (file, number) in KINDS {
        let cases = Case::read(file);
        let kinds: BTreeSet<&str> = cases.iter().map(|case| case.kind.as_str()).collect();
        assert_eq!(kinds.len(), number, "{file}: {kinds:?}");
        let names: BTreeSet<_> = cases.iter().map(|case| (&case.kind, &case.name)).collect();
        assert_eq!(names.len(), cases.len(), "{file}: a name twice");
    }
}

/// The rules must not be stricter than a good upstream is.
#[tokio::test]
async fn a_good_answer_pleases_the_strict_client() {
    for case in Case::read("pass.toml") {
        for way in case.ways() {
            let wrong = direct(&case, way).await;
            assert!(wrong.is_empty(), "{}/{} {way:?}: {wrong:#?}", case.kind, case.name);
        }
    }
}

/// Nor must they be so lax that there is nothing to heal.
#[tokio::test]
async fn without_a_gateway_the_others_do_not() {
    for file in ["healable.toml", "wrong.toml", "history.toml"] {
        for case in Case::read(file) {
            let mut failed = false;
            for way in case.ways() {
                failed |= !direct(&case, way).await.is_empty();
            }
            assert!(failed, "{}/{} needs no gateway", case.kind, case.name);
        }
    }
}

/// What the engine makes of an answer is what the gateway is to send: where they differ, it is the gateway.
#[test]
fn the_engine_agrees() {
    for case in Case::read("healable.toml").into_iter().filter(|case| case.sees.json.is_none()) {
        let script = case.script(Way::Plain);
        let said = &script.answers[0].choice;
        let tool_set = ToolSet::from_value(&tools()).unwrap();
        let context = Context { native: true, finish_reason: Some("stop"), ..Context::default() };
        let mut scanner = Scanner::new(&tool_set, &context);
        let mut events = Vec::new();
        if let Some(reasoning) = &said.reasoning {
            scanner.feed(Delta::Reasoning(reasoning), &mut events);
        }
        scanner.feed(Delta::Text(said.text.as_deref().unwrap_or("")), &mut events);
        for (index, call) in said.tool_calls.iter().enumerate() {
            let arguments = call.arguments.text();
            let delta = CallDelta {
                index: Some(index),
                id: None,
                name: Some(&call.name),
                arguments: Some(&arguments),
            };
            scanner.feed(Delta::ToolCall(delta), &mut events);
        }
        let outcome = scanner.finish().1;
        let found: Vec<(&str, Value)> =
            outcome.calls().map(|c| (&*c.name, serde_json::from_str(&c.arguments).unwrap())).collect();
        let expected: Vec<(&str, Value)> = case.sees.calls.iter().map(|c| (&*c.name, c.value())).collect();
        assert_eq!(found, expected, "{}/{}: {outcome:#?}", case.kind, case.name);
        assert_eq!(outcome.refusals().count(), 0, "{}/{}", case.kind, case.name);
        assert_eq!(
            outcome.text.trim(),
            case.sees.text.as_deref().unwrap_or(""),
            "{}/{}",
            case.kind,
            case.name
        );
    }
}

/// All that is wrong with the cases of `file` through a gateway, by case.
async fn wrong_cases(file: &str) -> BTreeMap<(String, String), Vec<String>> {
    let mut wrong: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for case in Case::read(file) {
        for way in case.ways() {
            for what in through_a_gateway(&case, way).await {
                let name = format!("{}/{}", case.kind, case.name);
                wrong.entry((file.to_owned(), name)).or_default().push(format!("{way:?}: {what}"));
            }
        }
    }
    wrong
}

#[tokio::test]
async fn through_a_gateway_all_are_right() {
    let mut wrong = BTreeMap::new();
    for file in case::files() {
        wrong.append(&mut wrong_cases(&file).await);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
