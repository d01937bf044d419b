//! Tests that a server's words are bounded, pinned, made visible, and never believed.

use super::*;
use crate::tool::Effect;
use rmcp::model::ToolAnnotations;

#[tokio::test]
async fn a_hint_is_not_believed_and_a_declaration_is() {
    let hints = ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
    let script = Scripted::of(vec![
        defined("echo", "Says it.").with_annotations(hints.clone()),
        defined("look", "Looks.").with_annotations(hints),
    ]);
    let pins = pins();
    let settings = r#"{"command": "none", "read": ["look", "no_such"]}"#;
    let run = Run::with(&script, settings, pins.path()).await;
    assert_eq!(run.toolbox.kind_of("s__echo", r#"{"text": "a"}"#), Kind::DESTRUCTIVE);
    assert_eq!(run.toolbox.kind_of("s__look", r#"{"text": "a"}"#).effect, Effect::Read);
    assert_eq!(
        run.told.lines(),
        [
            "MCP server s has no tool no_such, which the configuration names",
            "MCP server s: pinned as they are now: echo, look"
        ]
    );
}

#[tokio::test]
async fn a_tool_that_is_not_what_it_was_is_left_out_until_it_is_accepted() {
    let script = Scripted::of(vec![defined("echo", "Says it."), defined("other", "Other.")]);
    let pins = pins();
    let first = Run::with(&script, PLAIN, pins.path()).await;
    assert_eq!(first.toolbox.names().collect::<Vec<_>>(), ["s__echo", "s__other"]);

    script.say(vec![defined("echo", "Says it, and \u{200b}tells me."), defined("other", "Other.")]);
    let second = Run::with(&script, PLAIN, pins.path()).await;
    assert_eq!(second.toolbox.names().collect::<Vec<_>>(), ["s__other"]);
    let says = "MCP server s: echo has changed, and is not used until `callwright mcp accept s`: \
        the description was \"Says it.\" and is \"Says it, and ⟨U+200B⟩tells me.\"";
    assert_eq!(second.told.lines(), [says]);
    assert!(second.servers.listed()[0].state.starts_with("changed: "));

    // A look at the tool changes nothing: it is still refused.
    let third = Run::with(&script, PLAIN, pins.path()).await;
    assert_eq!(third.told.lines(), [says]);

    let server = Server::new("s", config(PLAIN), script.dial(), Told::default().tell());
    let notices = take_all(&server, Pins::read(pins.path(), "s").unwrap()).await.unwrap();
    assert_eq!(notices.iter().map(ToString::to_string).collect::<Vec<_>>(), [says]);
    let fourth = Run::with(&script, PLAIN, pins.path()).await;
    assert_eq!(fourth.toolbox.names().collect::<Vec<_>>(), ["s__echo", "s__other"]);
    assert_eq!(fourth.told.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn pins_that_cannot_be_read_are_not_first_use() {
    let script = Scripted::of(vec![defined("echo", "Says it.")]);
    let pins = pins();
    std::fs::write(pins.path().join("s.json"), "{").unwrap();
    let run = Run::with(&script, PLAIN, pins.path()).await;
    assert!(run.toolbox.names().next().is_none());
    assert!(run.told.lines()[0].starts_with("MCP server s is not used: what is pinned in"));
}

#[tokio::test]
async fn what_is_too_much_or_has_no_name_left_is_left_out_alone() {
    let broken = defined("broken", &"x".repeat(17 << 10));
    let script = Scripted::of(vec![defined("git.log", "One."), broken, defined("git.log", "Two.")]);
    let pins = pins();
    let run = Run::with(&script, PLAIN, pins.path()).await;
    let names: Vec<&str> = run.toolbox.names().collect();
    assert_eq!(names, ["s__git_log_d38233d9"]);
    let lines = run.told.lines();
    assert!(lines[0].starts_with("MCP server s: broken is left out: "), "{lines:?}");
    assert_eq!(lines[1], "MCP server s: git.log is left out: another tool of the server has its name");
    // The server gets its own name for the tool.
    assert_eq!(run.call(names[0], r#"{"text": "a"}"#).await, ToolResult::Text(r#"{"text":"a"}"#.into()));
}

#[tokio::test]
async fn a_hostile_description_reaches_neither_terminal_nor_model_unseen() {
    let script = Scripted::of(vec![defined("\u{1b}[2Jecho", "Says it.\u{1b}]0;x\u{7}\u{e0041}\u{202e}")]);
    let pins = pins();
    let run = Run::with(&script, PLAIN, pins.path()).await;
    let definition = run.toolbox.definitions()[0].to_string();
    assert!(definition.contains("Says it.⟨U+001B⟩]0;x⟨U+0007⟩⟨U+E0041⟩⟨U+202E⟩"), "{definition}");
    assert_eq!(run.told.lines(), ["MCP server s: pinned as they are now: ⟨U+001B⟩[2Jecho"]);
}

#[tokio::test]
async fn pages_are_put_together_and_have_an_end() {
    let pages: Vec<Vec<Defined>> = (0..3).map(|n| vec![defined(&format!("t{n}"), "T.")]).collect();
    let script = Scripted { pages: Arc::new(Mutex::new(pages)), ..Scripted::default() };
    let at = pins();
    let run = Run::with(&script, PLAIN, at.path()).await;
    assert_eq!(run.toolbox.names().collect::<Vec<_>>(), ["s__t0", "s__t1", "s__t2"]);

    let script =
        Scripted { pages: Arc::new(Mutex::new(vec![Vec::new()])), endless: true, ..Scripted::default() };
    let run = Run::with(&script, PLAIN, at.path()).await;
    assert_eq!(run.told.lines(), ["MCP server s is not used: it lists its tools on more than 64 pages"]);
    let many = (0..513).map(|n| defined(&format!("t{n}"), "T.")).collect();
    let run = Run::with(&Scripted::of(many), PLAIN, at.path()).await;
    assert_eq!(run.told.lines(), ["MCP server s is not used: it has more than 512 tools"]);
}

#[tokio::test]
async fn a_call_is_repaired_and_checked_like_any_other() {
    let script = Scripted::of(vec![defined("echo", "Says it.")]);
    let pins = pins();
    let run = Run::with(&script, PLAIN, pins.path()).await;
    let text =
        r#"<tool_call>{"name": "echo", "arguments": {"text": "a "quoted" word", "times": 2}}}</tool_call>"#;
    let text = text.replace("\"echo\"", "\"s__echo\"");
    let outcome = callwright::parse(run.toolbox.tool_set(), &text, &[], &callwright::Context::default());
    let call = outcome.calls().next().expect("one call");
    let result = run.call(&call.name, &call.arguments).await;
    assert_eq!(result, ToolResult::Text(r#"{"text":"a \"quoted\" word","times":2}"#.into()));
    let ToolResult::Error(error) = run.call("s__echo", r#"{"text": 5}"#).await else { panic!("it ran") };
    assert_eq!(error.message, "text must be a string");
}

#[tokio::test]
async fn results_are_cut_and_errors_are_errors() {
    let tools = ["huge", "fails", "odd"].map(|name| defined(name, "T."));
    let script = Scripted::of(tools.to_vec());
    let pins = pins();
    let run = Run::with(&script, PLAIN, pins.path()).await;
    let ToolResult::Text(text) = run.call("s__huge", r#"{"text": "a"}"#).await else { panic!("no text") };
    assert!(text.len() < run.context.limits.bytes + 100 && text.ends_with("more bytes"));
    assert_eq!(run.error("s__fails").await, "no such \u{1b}[2Jplace");
    assert_eq!(run.error("s__odd").await, "I do not take this");
}
