//! Tests servers that end, change, or are slow.

use super::*;

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_started_once_more() {
    let script = Scripted::of(vec![defined("dies", "Dies."), defined("echo", "Says it.")]);
    let pins = pins();
    let run = Run::with(&script, PLAIN, pins.path()).await;
    let died = "MCP server s: it ended during the call, and whether that was done is not known: it closed the connection";
    assert_eq!(run.error("s__dies").await, died);
    assert_eq!(run.call("s__echo", r#"{"text": "a"}"#).await, ToolResult::Text(r#"{"text":"a"}"#.into()));
    assert_eq!(*script.starts.lock().unwrap(), 2);
    assert_eq!(run.error("s__dies").await, died);
    assert_eq!(run.error("s__echo").await, "MCP server s: it is gone: it closed the connection");
    assert_eq!(*script.starts.lock().unwrap(), 2, "once, and no more");
    let ended = "MCP server s is gone: it closed the connection";
    assert_eq!(run.told.lines()[1..], [ended, "MCP server s was started again", ended]);
}

#[tokio::test]
async fn a_call_to_a_server_that_was_dead_before_runs_once() {
    let script = Scripted::of(vec![defined("echo", "Says it.")]);
    let pins = pins();
    let run = Run::with(&script, PLAIN, pins.path()).await;
    script.kill();
    run.closed().await;
    assert_eq!(run.call("s__echo", r#"{"text": "a"}"#).await, ToolResult::Text(r#"{"text":"a"}"#.into()));
}

#[tokio::test]
async fn a_tool_that_turns_while_it_is_used_does_not_run_any_more() {
    let refused = "MCP server s: the definition of the tool has changed, and the user has not accepted it";
    for how in ["it says so", "it comes back as another one"] {
        let script = Scripted::of(vec![defined("turns", "Turns."), defined("echo", "Says it.")]);
        let pins = pins();
        let run = Run::with(&script, PLAIN, pins.path()).await;
        script.say(vec![defined("turns", "Turns."), defined("echo", "Says it to all.")]);
        if how == "it says so" {
            assert_eq!(run.call("s__turns", r#"{"text": "a"}"#).await, ToolResult::Text("turned".into()));
        } else {
            script.kill();
            run.closed().await;
        }
        assert_eq!(run.error("s__echo").await, refused, "{how}");
        assert_eq!(run.error("s__echo").await, refused, "{how}");
        let changed = run.told.lines().into_iter().filter(|line| line.contains("echo has changed")).count();
        assert_eq!(changed, 1, "{how}: {:?}", run.told.lines());
        assert!(!run.call("s__turns", r#"{"text": "a"}"#).await.is_error(), "the other one goes on");
    }
}

#[tokio::test]
async fn who_stops_waiting_says_so() {
    let script = Scripted::of(vec![defined("waits", "Waits.")]);
    let pins = pins();
    let run = Run::with(&script, PLAIN, pins.path()).await;
    let call = run.call("s__waits", r#"{"text": "a"}"#);
    let stop = async {
        tokio::task::yield_now().await;
        run.context.cancellation.cancel();
    };
    let (result, ()) = tokio::join!(call, stop);
    assert!(result.is_error(), "{result:?}");
    script.abandoned.cancelled().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_is_told_and_the_others_go_on() {
    let told = Told::default();
    let script = Scripted::of(vec![defined("echo", "Says it.")]);
    let silent: Dial = Arc::new(|| {
        Box::pin(async {
            let (ours, _theirs) = tokio::io::duplex(64);
            // The other end stays open, and nobody reads it.
            let begun = Connection::begin(ours).await;
            drop(_theirs);
            begun
        })
    });
    let settings = config(r#"{"command": "none", "start_seconds": 3}"#);
    let servers = vec![
        Server::new("silent", settings.clone(), silent, told.tell()),
        Server::new("s", settings, script.dial(), told.tell()),
    ];
    let pins = pins();
    let servers = Servers::open(servers, pins.path(), &told.tell(), Pinning::AtFirstUse).await;
    assert_eq!(servers.tools().len(), 1);
    assert_eq!(
        told.lines(),
        [
            "MCP server silent is not used: it did not answer within 3 s",
            "MCP server s: pinned as they are now: echo"
        ]
    );
}
