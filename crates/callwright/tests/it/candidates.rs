//! Candidates: what may be a call where no tools are known.

use callwright::{Context, Reason, candidates};

#[test]
fn calls_are_shown_in_all_forms_without_tools() {
    for (text, names) in [
        (
            "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>",
            vec!["get_weather"],
        ),
        (r#"{"name": "f", "arguments": {"a": 1}}"#, vec!["f"]),
        ("```json\n{\"tool\": \"f\", \"parameters\": {\"a\": 1,}}\n```", vec!["f"]),
        (r#"[TOOL_CALLS][{"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}]"#, vec!["a", "b"]),
        ("[f(a=1), g(b='x')]", vec!["f", "g"]),
        ("<function=f>{\"a\": 1}</function>", vec!["f"]),
        ("<tool_call><function=f><parameter=a>1</parameter></function></tool_call>", vec!["f"]),
        ("{'name': 'f', 'arguments': {'a': 1}}", vec!["f"]),
        ("It is warm in Paris (21 degrees).", vec![]),
        (r#"{"city": "Paris"}"#, vec![]),
        ("", vec![]),
    ] {
        let found = candidates(text, &Context::default());
        assert_eq!(found.iter().filter_map(|c| c.name.as_deref()).collect::<Vec<_>>(), names, "{text}");
        for candidate in found {
            assert!(text.get(candidate.span.range()).is_some_and(|shown| !shown.is_empty()), "{text}");
            assert!(!candidate.dialect.is_empty());
        }
    }
}

#[test]
fn what_cannot_be_read_is_shown_with_its_problem() {
    let text = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": ";
    let found = candidates(text, &Context { finish_reason: Some("length"), ..Context::default() });
    assert_eq!(found.len(), 1);
    assert!(matches!(found[0].problem, Some(Reason::Truncated(_))), "{:?}", found[0]);
}
