//! One mark of a call is left out, doubled, or changes places with its neighbour, in every dialect: no argument of what
//! goes out is missing, and none has taken in another.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use callwright::json;
use callwright::prompt::{self, PromptDialect};
use callwright::value::Value;
use callwright::{Context, Dialects, ToolSet, parse};

/// What the calls hold. Each piece stands in the text as it is, and nowhere else.
const PIECES: [&str; 8] = ["alpha", "31337", "beta", "true", "True", "gamma", "4711", "delta"];

fn tools() -> ToolSet {
    let parameters = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "count": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}}, "deep": {"type": "boolean"}
    }});
    ToolSet::from_value(&json!([
        {"name": "find_all", "parameters": parameters},
        {"name": "list_dir", "parameters": parameters}
    ]))
    .unwrap()
}

fn made() -> Vec<(String, Value)> {
    vec![
        (
            "find_all".to_owned(),
            json!({"path": "src/alpha.rs", "count": 31337, "tags": ["beta"], "deep": true}),
        ),
        ("list_dir".to_owned(), json!({"path": "gamma", "count": 4711, "tags": ["delta"], "deep": true})),
    ]
}

/// The marks, words, strings and blanks of a text.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '.');
        let len = match first {
            '<' => rest.find('>').map(|at| at + 1).filter(|len| *len < 60),
            '"' => rest.get(1..).and_then(|rest| rest.find('"')).map(|at| at + 2),
            _ if is_word(first) => rest.find(|c| !is_word(c)),
            _ if first.is_whitespace() => rest.find(|c: char| !c.is_whitespace()),
            _ => None,
        };
        let (token, behind) = rest.split_at(len.unwrap_or(first.len_utf8()));
        tokens.push(token);
        rest = behind;
    }
    tokens
}

/// What comes of a text when one of its tokens is not as it should be, with what was done to it.
fn broken(text: &str) -> Vec<(String, String)> {
    let tokens = tokens(text);
    let mut texts = Vec::new();
    for (n, token) in tokens.iter().enumerate() {
        let (before, behind) = (tokens[..n].concat(), tokens[n + 1..].concat());
        let is_argument = PIECES.iter().any(|piece| token.contains(piece));
        let is_key = ["path", "count", "tags", "deep"].contains(&token.trim_matches(['"', '\'']));
        if !is_argument && !is_key {
            texts.push((format!("without {token:?}"), format!("{before}{behind}")));
            texts.push((format!("with {token:?} twice"), format!("{before}{token}{token}{behind}")));
        }
        if let Some(next) = tokens.get(n + 1) {
            let behind = tokens[n + 2..].concat();
            texts.push((format!("{token:?} behind {next:?}"), format!("{before}{next}{token}{behind}")));
        }
    }
    texts
}

/// What is wrong with arguments that should be `expected`.
fn fault(expected: &Value, found: &Value) -> Option<String> {
    for (key, value) in expected.as_object()? {
        let Some(own) = found.get(key) else { return Some(format!("{key} is missing")) };
        let (value, own) = (value.to_string(), own.to_string());
        let taken = PIECES.iter().find(|piece| own.contains(**piece) && !value.contains(**piece));
        if let Some(taken) = taken {
            return Some(format!("{key} holds {taken}"));
        }
        let lost = PIECES.iter().find(|piece| value.contains(**piece) && !own.contains(**piece));
        if let Some(lost) = lost {
            return Some(format!("{key} has lost {lost}"));
        }
    }
    None
}

#[test]
fn no_argument_is_lost_where_a_mark_is_broken() {
    let (tools, made) = (tools(), made());
    let mut faults = Vec::new();
    let mut n_texts = 0;
    for dialect in PromptDialect::all(&Dialects::default()) {
        for calls in [&made[..1], &made[..]] {
            let said: Vec<(String, String)> =
                calls.iter().map(|(name, arguments)| (name.clone(), arguments.to_string())).collect();
            let text = prompt::calls(&dialect, &tools, &said);
            for (what, text) in broken(&text) {
                n_texts += 1;
                let outcome = parse(&tools, &text, &[], &Context::default());
                for call in outcome.calls() {
                    let expected = calls.iter().find(|(name, _)| *name == call.name);
                    let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
                    if let Some(fault) = expected.and_then(|(_, expected)| fault(expected, &arguments)) {
                        faults.push(format!("{} {what}: {fault}\n{text}\n{arguments}", dialect.name()));
                    }
                }
            }
        }
    }
    assert!(10_000 < n_texts, "only {n_texts} texts");
    let shown = faults.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n\n");
    assert!(faults.is_empty(), "{} of {n_texts}\n{shown}", faults.len());
}
