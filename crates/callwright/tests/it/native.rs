//! Native calls: pieces that find their call, and arguments in other clothes.

use callwright::value::Value;
use callwright::{CallDelta, Context, Delta, Scanner, ToolSet, Verdict, json};

const TOOLS: &str = r#"[{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"},
    "n": {"type": "integer"}}, "required": ["a"]}}]"#;

fn verdicts(deltas: &[(Option<usize>, &str, &str, &str)]) -> Vec<String> {
    let tool_set = ToolSet::from_json(TOOLS).unwrap();
    let mut scanner = Scanner::new(&tool_set, &Context::default());
    for (index, id, name, arguments) in deltas {
        let delta = CallDelta { index: *index, id: Some(id), name: Some(name), arguments: Some(arguments) };
        scanner.feed(Delta::ToolCall(delta), &mut Vec::new());
    }
    let line = |verdict: &Verdict| match verdict {
        Verdict::Accepted(call) => format!("{} {}", call.id.as_deref().unwrap_or_default(), call.arguments),
        Verdict::Refused(refusal) => {
            format!("{} ! {}", refusal.id.as_deref().unwrap_or_default(), refusal.reason.code())
        }
    };
    scanner.finish().1.verdicts.iter().map(line).collect()
}

#[test]
fn an_id_that_says_null_is_none() {
    let named = [(Some(0), "c1", "f", "{\"a\": "), (Some(0), "null", "", "\"x\"}")];
    assert_eq!(verdicts(&named), ["c1 {\"a\": \"x\"}"]);
    let never = [(Some(0), "null", "f", "{\"a\": "), (Some(0), "null", "", "\"x\"}")];
    assert_eq!(verdicts(&never), [" {\"a\": \"x\"}"]);
}

#[test]
fn pieces_find_their_call() {
    let expected = ["c1 {\"a\": \"x\"}", "c2 {\"a\": \"y\"}"];
    // By index, with the pieces of two calls mixed.
    let mixed = [
        (Some(0), "c1", "f", "{\"a\": "),
        (Some(1), "c2", "f", "{\"a\""),
        (Some(0), "", "", "\"x\"}"),
        (Some(1), "", "", ": \"y\"}"),
    ];
    assert_eq!(verdicts(&mixed), expected);
    // Every index is 0.
    let constant = [(Some(0), "c1", "f", "{\"a\": \"x\"}"), (Some(0), "c2", "f", "{\"a\": \"y\"}")];
    assert_eq!(verdicts(&constant), expected);
    // No index; id and name with every piece.
    let repeated =
        [(None, "c1", "f", "{\"a\": "), (None, "c1", "f", "\"x\"}"), (None, "c2", "f", "{\"a\": \"y\"}")];
    assert_eq!(verdicts(&repeated), expected);
    // No id either.
    let bare = [(None, "", "f", "{\"a\": \"x\"}"), (None, "", "f", "{\"a\": \"y\"}")];
    assert_eq!(verdicts(&bare), [" {\"a\": \"x\"}", " {\"a\": \"y\"}"]);
}

#[test]
fn arguments_in_other_clothes_are_read() {
    for (arguments, expected) in [
        (r#"{"a":"x"}"#, r#"{"a":"x"}"#),
        (r#""{\"a\": \"x\"}""#, r#"{"a": "x"}"#),
        (r#"{"arguments": {"a": "x"}}"#, r#"{"a": "x"}"#),
        (r#"{"a": "x", "n": "5"}"#, r#"{"a": "x", "n": 5}"#),
    ] {
        assert_eq!(verdicts(&[(None, "", "f", arguments)]), [format!(" {expected}")], "{arguments}");
    }
    let python = verdicts(&[(None, "", "f", "f(a='x')")]);
    let value: Value = serde_json::from_str(&python[0]).unwrap();
    assert_eq!(value, json!({"a": "x"}));
}

#[test]
fn what_cannot_be_read_is_never_an_empty_object() {
    for (name, arguments, code) in [
        ("f", "The user wants me to call f", "unreadable"),
        ("f", r#"{"a": "x"#, "truncated"),
        ("f", r#"{"a": "x","#, "truncated"),
        ("f", "", "invalid"),
        ("f", "[1]", "shape"),
        ("g", "{}", "unknown-tool"),
    ] {
        let found = verdicts(&[(None, "", name, arguments)]);
        assert!(found[0].starts_with(" ! "), "{arguments}: {found:?}");
        if code != "unreadable" {
            assert_eq!(found, [format!(" ! {code}")], "{arguments}");
        }
    }
    assert_eq!(verdicts(&[(None, "", "f<|channel|>commentary", r#"{"a":"x"}"#)]), [r#" {"a":"x"}"#]);
}

/// No object is words around another one, and no call is.
#[test]
fn several_arguments_are_refused() {
    for arguments in [
        r#"{"a": "x"}, {"a": "y"}"#,
        r#"{"a": "x"}{"a": "y"#,
        r#"{"a": "x"}, {"a": "y""#,
        "{\"a\": \"x\"}\n{\"a\": ",
        r#"{"a": "x"} // {"n": 2}"#,
        r#"{"a": "x"} {"a": 5}"#,
        r#"[{"a": "x"}, {"a": "y"#,
        r#"{"a": "x"}, "n": 2"#,
        r#""{\"a\": \"x\"} {\"a\": \"y\"}""#,
        "f(a=\"x\"), f(a=\"y\")",
        "f(a=\"x\") f(a=\"y",
    ] {
        let verdicts = verdicts(&[(Some(0), "c1", "f", arguments)]);
        assert!(matches!(verdicts.as_slice(), [one] if one.starts_with("c1 !")), "{arguments}: {verdicts:?}");
    }
}
