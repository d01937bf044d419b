//! Any answer over fixed tools: no panic, and the whole text, single characters and random pieces agree.
//!
//! The first byte chooses the sizes of the pieces; the rest is the answer.

use std::sync::LazyLock;

use callwright::value::Value;
use callwright::{Context, Delta, Event, Outcome, Scanner, ToolSet, Verdict, parse};

static TOOLS: LazyLock<ToolSet> = LazyLock::new(|| {
    let tools = r#"[
        {"name": "get_weather", "parameters": {"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string"}, "unit": {"enum": ["c", "f"]}, "days": {"type": "integer"}}}},
        {"name": "list_files", "parameters": {"type": "object", "properties": {}}},
        {"name": "write_file", "parameters": {"type": "object", "required": ["path", "content"],
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}},
        {"name": "run_code", "parameters": {"type": "object", "required": ["code"],
            "properties": {"code": {"type": "string"}}}},
        {"name": "maps:find", "parameters": {"type": "object", "properties": {"dc:title": {"type": "string"},
            "invoke": {"type": "string"}, "$top": {"type": "integer"}, "größe": {"type": ["string", "null"]}}}}
    ]"#;
    ToolSet::from_json(tools).expect("the definitions above are right")
});

/// Panics if a law does not hold for `data`.
pub fn check(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let finish_reason = (choice & 1 != 0).then_some("length");
    let context = Context { finish_reason, starts_in_reasoning: choice & 2 != 0, ..Context::default() };

    let whole = outline(&parse(&TOOLS, &text, &[], &context));
    assert_eq!(in_pieces(&text, &context, |_| 1), whole, "single characters differ from the whole");
    let seed = usize::from(choice >> 2);
    let sizes = |n: usize| 1 + (n * 7 + seed) * 31 % 13;
    assert_eq!(in_pieces(&text, &context, sizes), whole, "pieces differ from the whole");
}

/// Feeds `text` in pieces, of which the `n`th has `size(n)` characters.
fn in_pieces(text: &str, context: &Context<'_>, size: impl Fn(usize) -> usize) -> Vec<String> {
    let mut scanner = Scanner::new(&*TOOLS, context);
    let mut events = Vec::new();
    let mut chars = text.chars();
    for n in 0.. {
        let piece: String = chars.by_ref().take(size(n)).collect();
        if piece.is_empty() {
            break;
        }
        scanner.feed(Delta::Text(&piece), &mut events);
    }
    let (last, outcome) = scanner.finish();
    events.extend(last);
    let said: String =
        events.iter().map(|event| if let Event::Text(text) = event { text.as_str() } else { "" }).collect();
    assert_eq!(said, outcome.text, "what went out is not what came of it");
    outline(&outcome)
}

/// All that callers can see of an outcome, in lines that can be compared.
fn outline(outcome: &Outcome) -> Vec<String> {
    let mut lines = vec![format!("text {:?}", outcome.text), format!("reasoning {:?}", outcome.reasoning)];
    lines.extend(outcome.verdicts.iter().map(|verdict| match verdict {
        Verdict::Accepted(call) => {
            assert!(TOOLS.get(&call.name).is_some(), "not a declared tool: {}", call.name);
            let arguments: Value = serde_json::from_str(&call.arguments).expect("arguments are JSON");
            assert!(arguments.is_object());
            format!("{call:?}")
        }
        Verdict::Refused(refusal) => format!("{refusal:?}"),
    }));
    lines
}
