//! What a model sees of the built-in tools.

use callwright::ToolSet;
use callwright::json;
use callwright::lint::{Severity, lint};
use callwright::value::Value;
use callwright_agent::tools::definitions;

use crate::tools::bench::Bench;

/// S0-14: this object exactly.
#[test]
fn fs_write_is_defined_as_published() {
    let wanted = r#"{"type":"function","function":{"name":"fsWrite","description":"Create or overwrite a file","parameters":{"type":"object","properties":{"path":{"type":"string","description":"Path to write"},"content":{"type":"string","description":"Content to write"}},"required":["path","content"]}}}"#;
    assert_eq!(definitions()[0].to_string(), wanted);
}

/// S0-49: one list, which is the same for whoever asks and for whoever is asked.
#[test]
fn the_list_is_the_one_that_the_tools_give() {
    let bench = Bench::new();
    assert_eq!(definitions(), bench.toolbox.definitions());
    let names: Vec<&str> = bench.toolbox.names().collect();
    let wanted = "fsWrite fsAppend fsRead strReplace listDirectory fileSearch grepSearch runCommand deleteFile undo \
                  askUser finish";
    assert_eq!(names.join(" "), wanted);
    let ending: Vec<&str> =
        names.into_iter().filter(|name| bench.toolbox.get(name).unwrap().ends_run()).collect();
    assert_eq!(ending, ["finish"]);
}

/// S0-57: each says when to use it and gives an example, and all are short. The published wording of `fsWrite` does
/// neither: its two hints stay.
#[test]
fn the_definitions_pass_our_own_judge() {
    let tools = ToolSet::from_value(&Value::Array(definitions())).unwrap();
    let findings = lint(&tools);
    assert!(findings.iter().all(|finding| finding.severity == Severity::Hint), "{findings:?}");
    let found: Vec<_> = findings.iter().map(|finding| (&*finding.tool, finding.rule)).collect();
    assert_eq!(found, [("fsWrite", "no-use-when"), ("fsWrite", "no-example")]);
    let bytes = Value::Array(definitions()).to_string().len();
    assert!(bytes < 6 * 1024, "{bytes} bytes go with every request");
}

/// S0-58: arguments of another type are an error that names them, and nothing runs.
#[tokio::test]
async fn arguments_are_checked_before_a_tool_runs() {
    let bench = Bench::new();
    let write = async |arguments| bench.call("fsWrite", arguments).await;
    assert_eq!(write(json!({"path": 5, "content": "x"})).await, json!({"error": "path must be a string"}));
    assert_eq!(
        write(json!({"path": "a", "content": []})).await,
        json!({"error": "content must be a string"})
    );
    assert_eq!(
        write(json!({"path": 5, "content": []})).await,
        json!({"error": "path must be a string", "also": ["content must be a string"]})
    );
    assert!(bench.changes.list().is_empty());
    let broken = bench.toolbox.call("fsWrite", r#"{"path": "a""#, &bench.context).await.content();
    assert!(broken.starts_with(r#"{"error":"Invalid JSON: "#), "{broken}");
    let unknown = bench.call("fsWipe", json!({})).await;
    assert_eq!(unknown, json!({"error": "there is no tool `fsWipe`"}));
}

/// S0-61: the model can ask, and say that it is done; both go to whoever runs it.
#[tokio::test]
async fn questions_and_the_end_go_to_the_host() {
    use crate::tools::bench::User;
    let folder = || tempfile::TempDir::new().unwrap();
    let user = User { says: Some("blue"), ..User::default() };
    let bench = Bench::with(folder(), user, |changes| changes, |commands| commands);
    let question = json!({"question": "Which colour?", "options": ["red", "blue"]});
    assert_eq!(bench.call("askUser", question.clone()).await, json!({"answer": "blue"}));
    assert_eq!(bench.call("finish", json!({"summary": "All is blue."})).await, json!({"finished": true}));
    let heard = bench.user.heard.lock().unwrap().clone();
    assert_eq!(heard, [r#"Which colour? ["red", "blue"]"#, "All is blue."]);
    let alone = Bench::new().call("askUser", question).await;
    assert_eq!(alone, json!({"error": "there is nobody to ask: decide, and say what you decided"}));
}
