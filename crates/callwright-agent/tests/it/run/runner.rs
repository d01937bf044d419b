//! The runner: hooks, predicates, approvals that last, another word from the user, and runs that go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use callwright::json;
use callwright_agent::run::{Approval, End, Event, Outcome, Resumed, RunnerBuilder, Settings, flaws};
use callwright_agent::{Arguments, FunctionTool, Kind, Rights, Toolbox};
use tokio::sync::Barrier;

use crate::run::bench::{Bench, Wishes, allowed};

const ECHO_THEN_TEXT: &str = r#"
[[answer]]
tool_calls = [{ id = "e", name = "echo", arguments = '{"text": "ping"}' }]
usage = { prompt_tokens = 1000, completion_tokens = 100, total_tokens = 1100 }
[[answer]]
text = "ping"
usage = { prompt_tokens = 2000, completion_tokens = 200, total_tokens = 2200 }
"#;

fn ended(outcome: Outcome) -> (End, String) {
    match outcome {
        Outcome::Ended(ended) => (ended.end, ended.sentence),
        Outcome::Blocked(why) => panic!("blocked: {why}"),
    }
}

/// S2-09, S2-22, S2-23, S2-31: each turn is told with its calls, its finish and what it took.
#[tokio::test]
async fn each_turn_is_told_when_it_is_over() {
    let bench = Bench::new(ECHO_THEN_TEXT);
    let (runner, _) = bench.run(Wishes::default(), "Use a tool.").await;
    let steps = bench.seen.steps();
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0].calls[0].tool.as_deref(), Some("echo"));
    assert_eq!((steps[0].calls[0].id.as_deref(), steps[0].calls[0].invalid), (Some("e"), false));
    assert_eq!((steps[0].has_text, steps[0].finish_reason.as_deref()), (false, Some("tool_calls")));
    assert!(steps[1].has_text && steps[1].calls.is_empty());
    let account = runner.machine().account();
    assert_eq!((account.prompt_tokens, account.completion_tokens, account.requests), (3000, 300, 2));
    assert_eq!(account.calls, 1);
}

#[tokio::test]
async fn money_is_counted_and_ends_a_run() {
    let bench = Bench::new(ECHO_THEN_TEXT);
    let mut builder = bench.builder(Wishes::default()).await;
    builder.prices = Some((1.0, 10.0));
    builder.settings.stop.budget.money = Some(0.001);
    let mut runner = builder.build();
    runner.say("Use a tool.").await.unwrap();
    let (end, sentence) = ended(runner.run().await.unwrap());
    assert_eq!(end.name(), "money");
    assert_eq!(sentence, "⚠️ Stopped: the budget of 0.001 is spent.");
    assert!((runner.machine().account().money - 0.002).abs() < 1e-9);
}

/// S2-08
#[tokio::test]
async fn a_predicate_of_ones_own_ends_a_run() {
    let bench = Bench::new(ECHO_THEN_TEXT);
    let mut builder = bench.builder(Wishes::default()).await;
    builder.stop_when = Some(Arc::new(|_, step| (1 <= step.turn).then(|| "That was enough.".into())));
    let mut runner = builder.build();
    runner.say("Use a tool.").await.unwrap();
    assert_eq!(ended(runner.run().await.unwrap()), (End::Predicate, "That was enough.".into()));
    assert_eq!(flaws(runner.machine().messages()), []);
    assert_eq!(bench.ran().len(), 1);
}

/// Read-only calls of a turn run at the same time: each waits for the others.
#[tokio::test]
async fn what_only_reads_runs_together_and_what_writes_alone() {
    let bench = Bench::new(
        r#"
        [[answer]]
        tool_calls = [{ name = "meet", arguments = "{}" }, { name = "meet", arguments = "{}" }, { name = "meet", arguments = "{}" },
                      { name = "alone", arguments = "{}" }, { name = "alone", arguments = "{}" }]
        [[answer]]
        text = "Done."
        "#,
    );
    let (barrier, running) = (Arc::new(Barrier::new(3)), Arc::new(AtomicUsize::new(0)));
    let schema = json!({"type": "object", "properties": {}});
    let meet = FunctionTool::new("meet", "Wait for two others.", schema.clone(), move |_: Arguments, _| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            "met"
        }
    });
    let alone = FunctionTool::new("alone", "Be alone.", schema, move |_: Arguments, _| {
        let running = running.clone();
        async move {
            let others = running.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            running.fetch_sub(1, Ordering::SeqCst);
            others.to_string()
        }
    });
    let tools: Vec<Arc<dyn callwright_agent::Tool>> =
        vec![Arc::new(meet.of_kind(Kind::READ)), Arc::new(alone.of_kind(Kind::WRITE))];
    let mut runner = RunnerBuilder {
        toolbox: Arc::new(Toolbox::new(tools).unwrap()),
        ..bench.builder(Wishes::default()).await
    }
    .build();
    runner.say("Meet.").await.unwrap();
    let outcome = tokio::time::timeout(Duration::from_secs(60), runner.run()).await.unwrap().unwrap();
    assert_eq!(ended(outcome).0, End::Answered);
    let results: Vec<&str> = runner
        .machine()
        .messages()
        .iter()
        .filter(|m| m["role"] == "tool")
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    assert_eq!(results, ["met", "met", "met", "0", "0"]);
}

#[tokio::test]
async fn an_approval_that_lasts_is_for_the_same_bytes() {
    let wipe = |what: &str| format!(r#"{{ name = "wipe", arguments = '{{"what": "{what}"}}' }}"#);
    let script = format!(
        "[[answer]]\ntool_calls = [{}, {}, {}]\n[[answer]]\ntext = \"Done.\"",
        wipe("a"),
        wipe("a"),
        wipe("b")
    );
    let bench = Bench::new(&script);
    bench.run(Wishes { approval: Approval::Always, ..Wishes::default() }, "Wipe.").await;
    let asked = bench.seen.events().iter().filter(|e| matches!(e, Event::ApprovalAsked { .. })).count();
    assert_eq!((asked, bench.ran().len()), (2, 3));
}

/// A run that was blocked goes on when it is resumed with other rights, and nothing is asked of the model again.
#[tokio::test]
async fn a_blocked_run_goes_on_where_it_stood() {
    let bench = Bench::new(
        r#"
        [[answer]]
        tool_calls = [{ id = "1", name = "echo", arguments = '{"text": "x"}' }, { id = "2", name = "wipe", arguments = '{"what": "all"}' }]
        [[answer]]
        text = "Gone."
        "#,
    );
    let (runner, outcome) = bench.run(Wishes::default(), "Wipe it.").await;
    assert!(matches!(outcome, Outcome::Blocked(_)));
    assert_eq!(flaws(runner.machine().messages()), []);
    drop(runner);
    let session = bench.store.session("s").await.unwrap().unwrap();
    let resumed = Resumed::of(&session).unwrap();
    assert!(resumed.begun.is_empty());
    let wishes = Wishes { rights: allowed(&["wipe"]), ..Wishes::default() };
    let mut runner = bench.builder(wishes).await.resume(resumed);
    assert!(!runner.say("Hurry.").await.unwrap());
    assert_eq!(ended(runner.run().await.unwrap()), (End::Answered, "Gone.".into()));
    assert_eq!(bench.ran(), [r#"echo {"text": "x"}"#, r#"wipe {"what": "all"}"#]);
    assert_eq!(bench.asked().len(), 2);
}

/// A chat: what was said before is still there, and a limit counts anew.
#[tokio::test]
async fn more_can_be_said_after_an_end() {
    let bench = Bench::new(
        r#"
        [[answer]]
        text = "One."
        [[answer]]
        when = { contains = "One." }
        text = "Two."
        "#,
    );
    let mut settings = Settings::default();
    settings.stop.max_turns = Some(1);
    let (mut runner, _) = bench.run(Wishes { settings, ..Wishes::default() }, "Count.").await;
    runner.set(|settings| settings.policy = callwright::Policy::Strict).await.unwrap();
    runner.say("Go on.").await.unwrap();
    assert_eq!(ended(runner.run().await.unwrap()), (End::Answered, "Two.".into()));
    let resumed = Resumed::of(&bench.store.session("s").await.unwrap().unwrap()).unwrap();
    assert_eq!(resumed.machine, *runner.machine());
    assert_eq!(resumed.title, "Count.");
}

/// S2-12, S0-14, S0-15, S0-49: the definitions go with each request, and a tool's own failure is no reason to repair.
#[tokio::test]
async fn the_tools_go_with_each_request_in_their_order() {
    let bench = Bench::new(
        r#"
        [[answer]]
        tool_calls = [{ name = "fail", arguments = '{"text": "x"}' }]
        [[answer]]
        text = "It failed."
        "#,
    );
    let (runner, _) = bench.run(Wishes { rights: Rights::default(), ..Wishes::default() }, "Try.").await;
    let asked = bench.asked();
    assert_eq!(asked.len(), 2);
    for request in asked {
        assert_eq!(request["tools"].as_array().unwrap(), runner.with().toolbox.definitions());
        assert!(request.get("tool_choice").is_none());
    }
}

/// What is kept has its secrets masked: a call that lacks one is not run with stars in its place.
#[tokio::test]
async fn a_call_whose_secret_was_not_kept_does_not_run() {
    let bench = Bench::new(
        r#"
        [[answer]]
        tool_calls = [{ id = "1", name = "wipe", arguments = '{"what": "sk-proj-Zx81kQpWn2Lr7VtYb3Md9FhJ5sAe"}' }]
        [[answer]]
        when = { last_contains = "lacks a secret" }
        text = "Then not."
        "#,
    );
    let (runner, outcome) = bench.run(Wishes::default(), "Wipe it.").await;
    drop(runner);
    assert!(matches!(outcome, Outcome::Blocked(_)));
    let session = bench.store.session("s").await.unwrap().unwrap();
    let resumed = Resumed::of(&session).unwrap();
    assert_eq!(resumed.masked, ["1"]);
    // And nothing is kept beside the stars by which somebody could try out what stood there: a number of a hash.
    let payloads: Vec<String> = session.nodes.iter().map(|node| node.payload.to_string()).collect();
    let longest = |text: &String| text.split(|c: char| !c.is_ascii_digit()).map(str::len).max();
    assert!(payloads.iter().filter_map(longest).max() < Some(15), "{payloads:?}");
    let wishes = Wishes { rights: allowed(&["wipe"]), ..Wishes::default() };
    let mut runner = bench.builder(wishes).await.resume(resumed);
    assert_eq!(ended(runner.run().await.unwrap()), (End::Answered, "Then not.".into()));
    assert!(bench.ran().is_empty());
}
