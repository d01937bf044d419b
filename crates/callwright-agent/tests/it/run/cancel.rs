//! Cancelling: once writes the turn down, twice stops at once.

use std::sync::Arc;
use std::time::Duration;

use callwright::json;
use callwright_agent::run::{
    Cancel, End, Event, Outcome, Resumed, RunError, Runner, RunnerBuilder, Watch, flaws,
};
use callwright_agent::{Arguments, CallContext, FunctionTool, Kind, ToolResult, Toolbox};

use crate::run::bench::{Bench, Wishes};

const TWO_CALLS: &str = r#"
[[answer]]
tool_calls = [{ id = "1", name = "wait", arguments = "{}" }, { id = "2", name = "wait", arguments = "{}" }]
[[answer]]
text = "Never."
"#;

/// Presses when something begins.
struct Presses {
    cancel: std::sync::Mutex<Option<Cancel>>,
    times: usize,
    on: fn(&Event) -> bool,
}

impl Watch for Presses {
    fn event(&self, event: &Event) {
        if (self.on)(event)
            && let Some(cancel) = &*self.cancel.lock().unwrap()
        {
            (0..self.times).for_each(|_| cancel.press());
        }
    }
}

/// A run that is cancelled when `on` happens.
async fn runner(bench: &Bench, times: usize, on: fn(&Event) -> bool) -> Runner {
    let schema = json!({"type": "object", "properties": {}});
    let wait = FunctionTool::new(
        "wait",
        "Wait for ever.",
        schema,
        |_: Arguments, context: CallContext| async move {
            context.cancellation.cancelled().await;
            ToolResult::Text("I was told to end".into())
        },
    );
    let presses = Arc::new(Presses { cancel: std::sync::Mutex::default(), times, on });
    let toolbox = Toolbox::new(vec![Arc::new(wait.of_kind(Kind::WRITE).within(None))]).unwrap();
    let runner = RunnerBuilder {
        toolbox: Arc::new(toolbox),
        watch: presses.clone(),
        ..bench.builder(Wishes::default()).await
    }
    .build();
    *presses.cancel.lock().unwrap() = Some(runner.cancel());
    runner
}

async fn run(runner: &mut Runner) -> Result<Outcome, RunError> {
    tokio::time::timeout(Duration::from_secs(60), runner.run()).await.unwrap()
}

#[tokio::test]
async fn once_ends_the_tools_and_leaves_a_conversation_that_every_server_takes() {
    let bench = Bench::new(TWO_CALLS);
    let mut runner = runner(&bench, 1, |event| matches!(event, Event::CallStarted { .. })).await;
    runner.say("Wait.").await.unwrap();
    let Outcome::Ended(ended) = run(&mut runner).await.unwrap() else { panic!() };
    assert_eq!((ended.end, ended.sentence.as_str()), (End::Cancelled, "⚠️ Cancelled."));
    let messages = runner.machine().messages();
    assert_eq!(flaws(messages), []);
    let results: Vec<&str> =
        messages.iter().filter(|m| m["role"] == "tool").filter_map(|m| m["content"].as_str()).collect();
    // What ran was told to end, and what had not begun never does.
    assert_eq!(results.len(), 2);
    assert_eq!(results[0], "I was told to end");
    assert!(results[1].contains("cancelled by the user"), "{results:?}");
    let session = bench.store.session("s").await.unwrap().unwrap();
    assert_eq!(Resumed::of(&session).unwrap().machine, *runner.machine());
    assert!(session.unfinished().is_empty());
    // It can go on.
    runner.say("Again.").await.unwrap();
    let Outcome::Ended(ended) = run(&mut runner).await.unwrap() else { panic!() };
    assert_eq!(ended.sentence, "Never.");
}

#[tokio::test]
async fn while_the_model_is_asked_nothing_is_left_open() {
    let bench = Bench::new("[[answer]]\nfault = { silent = true }\ntext = \"Never.\"");
    let mut runner = runner(&bench, 1, |event| matches!(event, Event::Asking { .. })).await;
    runner.say("Hello.").await.unwrap();
    let Outcome::Ended(ended) = run(&mut runner).await.unwrap() else { panic!() };
    assert_eq!(ended.end, End::Cancelled);
    assert_eq!(flaws(runner.machine().messages()), []);
}

#[tokio::test]
async fn twice_stops_at_once_and_what_ran_is_unknown() {
    let bench = Bench::new(TWO_CALLS);
    let mut runner = runner(&bench, 2, |event| matches!(event, Event::CallStarted { .. })).await;
    runner.say("Wait.").await.unwrap();
    assert!(matches!(run(&mut runner).await, Err(RunError::Stopped)));
    assert_eq!(flaws(runner.machine().messages()), []);
    drop(runner);
    let session = bench.store.session("s").await.unwrap().unwrap();
    let resumed = Resumed::of(&session).unwrap();
    assert_eq!(resumed.begun.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["1"]);
}
