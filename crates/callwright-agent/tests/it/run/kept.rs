//! What is kept of a run: turns, calls, errors, and how often the same error came again.

use callwright::Policy;
use callwright_agent::run::{Settings, flaws};
use callwright_store::{NodeKind, Session};

use crate::run::bench::{Bench, PROMPT, Wishes};

/// A model that writes a comma too many until somebody tells it, in three tasks of one run.
const LEARNS: &str = r#"
[[answer]]
when = { last_contains = "hello world" }
repeat = true
text = "Done."

[[answer]]
when = { last_contains = "Tool Call JSON Error" }
repeat = true
text = '{"tool": "run_code", "arguments": {"code": "print(1) # hello"}}'

[[answer]]
when = { contains = "Tool Call JSON Error", last_role = "user" }
repeat = true
text = '{"tool": "run_code", "arguments": {"code": "print(2) # hello"}}'

[[answer]]
repeat = true
text = '{"tool": "run_code", "arguments": {"code": "print(0) # hello",}}'
"#;

async fn three_tasks(policy: Policy) -> (Bench, Session) {
    let bench = Bench::new(LEARNS);
    let settings = Settings { policy, ..Settings::default() };
    let wishes =
        Wishes { model: PROMPT.into(), settings, tools: vec!["run_code".into()], ..Wishes::default() };
    let mut runner = bench.runner(wishes).await;
    for task in ["One.", "Two.", "Three."] {
        runner.say(task).await.unwrap();
        runner.run().await.unwrap();
    }
    assert_eq!(flaws(runner.machine().messages()), []);
    let account = *runner.machine().account();
    assert_eq!(account.feedback_turns, u64::from(policy == Policy::Feedback), "S4-43");
    let session = bench.store.session("s").await.unwrap().unwrap();
    (bench, session)
}

/// S4-21, S4-22, S4-43: a model that is taught makes its error once; one that is repaired in silence, again and again.
#[tokio::test]
async fn a_model_that_is_taught_repeats_its_errors_less() {
    let (healed, kept) = three_tasks(Policy::Heal).await;
    assert_eq!(healed.ran().len(), 3);
    assert_eq!((kept.summary.faults, kept.summary.repeated), (3, 2));
    let (taught, kept_too) = three_tasks(Policy::Feedback).await;
    assert_eq!(taught.ran().len(), 3);
    assert_eq!((kept_too.summary.faults, kept_too.summary.repeated), (1, 0));
    assert!(kept_too.summary.repeat_error_rate() < kept.summary.repeat_error_rate());
    // What it cost: one turn.
    assert_eq!(taught.asked().len(), healed.asked().len() + 1);
}

/// S2-24, S4-16, S4-37, S4-39: the session tells of the error, of what the model was told, and of the repaired calls.
#[tokio::test]
async fn the_session_tells_what_happened() {
    let (_, session) = three_tasks(Policy::Feedback).await;
    assert_eq!((session.summary.origin.as_str(), session.summary.title.as_str()), ("agent", "One."));
    let error = session.nodes.iter().find(|node| node.kind == NodeKind::ValidationError).unwrap();
    assert!(error.payload["text"].as_str().unwrap().starts_with("⚠️ Tool Call JSON Error:\n"));
    assert_eq!(error.name.as_deref(), Some("run_code"));
    assert_eq!(session.turns.len(), 7);
    assert!(session.turns.iter().all(|turn| turn.mode == "prompt" && turn.policy == "feedback"));
    let (_, session) = three_tasks(Policy::Heal).await;
    let repaired = session.nodes.iter().filter(|node| node.kind == NodeKind::Repaired).count();
    assert_eq!((repaired, session.summary.repairs), (3, 3));
    let body = session.nodes.iter().find(|node| node.kind == NodeKind::ModelTurn).unwrap();
    assert!(session.body(body).unwrap().contains("One."));
}
