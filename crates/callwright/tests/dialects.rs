//! Each built-in dialect says by an example how it is written. The example is read.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use callwright::{Context, Delta, Dialects, Outcome, Scanner, ToolSet, Verdict, parse};

fn tool_set() -> ToolSet {
    let tools = r#"[{"name": "f", "parameters": {"type": "object", "required": ["a"],
        "properties": {"a": {"type": "string"}}}}]"#;
    ToolSet::from_json(tools).unwrap()
}

/// What came of an answer, in short: `f {"a":"x"} hermes |text`.
fn show(outcome: &Outcome) -> String {
    let verdicts = outcome.verdicts.iter().map(|verdict| match verdict {
        Verdict::Accepted(call) => format!("{} {} {}", call.name, call.compact_arguments(), call.dialect),
        Verdict::Refused(refusal) => format!("! {} {}", refusal.reason.code(), refusal.dialect),
    });
    format!("{} |{}", verdicts.collect::<Vec<_>>().join(", "), outcome.text)
}

#[test]
fn every_example_is_one_call_in_its_dialect() {
    let tool_set = tool_set();
    let all = Dialects::default();
    let mut wrong = Vec::new();
    for dialect in all.iter() {
        let expected = format!("f {{\"a\":\"x\"}} {} |", dialect.name);
        let pinned = all.only(&dialect.name).unwrap();
        for (which, dialects) in [("all", &all), ("pinned", &pinned)] {
            let context = Context { dialects: dialects.clone(), ..Context::default() };
            let found = show(&parse(&tool_set, &dialect.example, &[], &context));
            if found != expected {
                wrong.push(format!("{which}: {found} instead of {expected}"));
            }
            for (cut, _) in dialect.example.char_indices().skip(1) {
                let (head, tail) = dialect.example.split_at(cut);
                let found = show(&in_pieces(&tool_set, &[head, tail], &context));
                if found != expected {
                    wrong.push(format!("{which}, cut at {cut}: {found} instead of {expected}"));
                }
            }
            let bytes: Vec<&str> = dialect.example.split_inclusive(|_: char| true).collect();
            let found = show(&in_pieces(&tool_set, &bytes, &context));
            if found != expected {
                wrong.push(format!("{which}, one by one: {found} instead of {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn in_pieces(tool_set: &ToolSet, pieces: &[&str], context: &Context<'_>) -> Outcome {
    let mut events = Vec::new();
    let mut scanner = Scanner::new(tool_set, context);
    for piece in pieces {
        scanner.feed(Delta::Text(piece), &mut events);
    }
    scanner.finish(&mut events)
}

/// Where only one dialect counts, the others' markers are text, and so is what has no markers, unless it is that one.
#[test]
fn a_pinned_dialect_is_the_only_one() {
    let tool_set = tool_set();
    let all = Dialects::default();
    let mut wrong = Vec::new();
    for pin in ["hermes", "json_bare", "glm45", "deepseek_v31", "pythonic", "harmony"] {
        let dialects = all.only(pin).unwrap();
        let kin = |name: &str| {
            let dialect = all.get(name).unwrap();
            dialect.kin.clone().unwrap_or_else(|| dialect.name.clone())
        };
        let context = Context { dialects, ..Context::default() };
        for dialect in all.iter().filter(|dialect| kin(&dialect.name) != kin(pin)) {
            let outcome = parse(&tool_set, &dialect.example, &[], &context);
            let others = outcome.calls().filter(|call| kin(&call.dialect) != kin(pin));
            let foreign: Vec<_> = others.map(|call| call.dialect.clone()).collect();
            if !foreign.is_empty() || pin == "hermes" && outcome.calls().next().is_some() {
                wrong.push(format!("{pin}: {} gave {}", dialect.name, show(&outcome)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all.only("morse").is_none());
    assert_eq!(all.get("firefunction").map(|dialect| &*dialect.name), Some("phi4mini"));
}
