//! What goes out of a native call before its verdict: never anything that would have to be taken back.

use callwright::{CallDelta, Context, Delta, Event, Outcome, Scanner, ToolSet, Verdict};

use crate::common::{Random, pieces};

const TOOLS: &str = r#"[
    {"name": "write_file", "parameters": {"type": "object", "required": ["path", "content"], "properties": {
        "path": {"type": "string"}, "content": {"type": "string"}, "mode": {"type": "string", "enum": ["w", "a"]},
        "lines": {"type": "array", "items": {"type": "integer"}}, "dry": {"type": "boolean"}}}},
    {"name": "search", "parameters": {"type": "object", "additionalProperties": false, "properties": {
        "query": {"type": "string"}, "input": {"type": "string"}, "limit": {"type": "integer"}}}}
]"#;

/// What long strings are made of.
pub(crate) const WORDS: &[&str] = &[
    "print(",
    "\"hi\"",
    " = {",
    "}",
    "]",
    ", ",
    ": ",
    "\n",
    "\t",
    "\\",
    "C:\\new\\",
    "naïve ",
    "日本",
    "😀",
    "<b class=\"x\">",
    "</b>",
    "// no\n",
    "{\"a\": [1, \"b\"]}",
    "return 0;",
    "'",
    "\u{1}",
    "word ",
    "\", \"mode\": \"",
];
/// What breaks a text when it is put in.
const PIECES: &[&str] = &[
    "\"",
    "\"",
    "\\",
    "\\\"",
    "}",
    "{",
    "]",
    ",",
    ":",
    "\n",
    "'",
    "\\u",
    "\\ud83d",
    "x",
    " ",
    "\"}",
    "\", \"mode\": \"w\"",
];

/// A call: its tool and the text of its arguments, right or broken.
fn call(random: &mut Random, breaks: usize) -> (&'static str, String) {
    let mut string = |most: usize| {
        let words: String = (0..random.below(most)).map(|_| *random.pick(WORDS)).collect();
        callwright::value::Value::from(words).to_string()
    };
    let (path, content, input) = (string(3), string(30), string(8));
    let mut members = match random.below(3) {
        0 => vec![format!("\"query\": {content}"), format!("\"limit\":{}", random.below(100))],
        1 => vec![format!("\"input\" : {input}"), format!("\"query\":{content}")],
        _ => vec![format!("\"path\":{path}"), format!("\"content\": {content}")],
    };
    let name = if members[0].contains("path") { "write_file" } else { "search" };
    if name == "write_file" {
        let optional = [
            "\"mode\": \"w\"",
            "\"lines\": [1, 2]",
            "\"dry\": \"true\"",
            "\"lines\": null",
            "\"mode\": \"x\"",
        ];
        for _ in 0..random.below(3) {
            let at = random.below(members.len() + 1);
            members.insert(at, (*random.pick(&optional)).to_owned());
        }
    }
    let mut chars: Vec<char> = format!("{{{}}}", members.join(", ")).chars().collect();
    for _ in 0..breaks {
        let at = random.below(chars.len() + 1);
        match random.below(5) {
            0 => chars.truncate(at),
            1 | 2 if at < chars.len() => drop(chars.remove(at)),
            _ => drop(chars.splice(at..at, random.pick(PIECES).chars())),
        }
    }
    (name, chars.into_iter().collect())
}

/// What came of one call: the pieces that went out, in one, and the outcome.
fn run(tools: &ToolSet, name: &str, pieces: &[&str], live: bool) -> (Option<String>, Outcome) {
    run_from(tools, name, pieces, live, usize::MAX)
}

/// The same where the call is let out only when so many pieces of it have come.
fn run_from(
    tools: &ToolSet,
    name: &str,
    pieces: &[&str],
    live: bool,
    let_out: usize,
) -> (Option<String>, Outcome) {
    let mut events = Vec::new();
    let mut scanner = Scanner::new(tools, &Context { live, ..Context::default() });
    let delta = CallDelta { index: Some(0), id: Some("c1"), name: Some(name), arguments: None };
    scanner.feed(Delta::ToolCall(delta), &mut events);
    for (n, piece) in pieces.iter().enumerate() {
        if n == let_out {
            assert!(events.is_empty(), "nothing goes out before it is let out");
            scanner.stream_native_call(0, &mut events);
        }
        let delta = CallDelta { index: Some(0), id: None, name: None, arguments: Some(piece) };
        scanner.feed(Delta::ToolCall(delta), &mut events);
    }
    let (last, outcome) = scanner.finish();
    events.extend(last);
    let mut sent: Option<String> = None;
    let last = events.pop();
    assert!(matches!(last, Some(Event::Call(_))), "the verdict comes last: {last:?}");
    for event in events {
        match (event, &mut sent) {
            (Event::CallStarted { call: 0, id, name: started }, None) => {
                assert_eq!((id.as_deref(), &*started), (Some("c1"), name));
                sent = Some(String::new());
            }
            (Event::CallArguments { call: 0, piece }, Some(sent)) => {
                assert!(!piece.is_empty());
                sent.push_str(&piece);
            }
            (event, _) => panic!("{event:?} out of turn"),
        }
    }
    (sent, outcome)
}

#[test]
fn what_went_out_is_the_beginning_of_what_is_accepted() {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    let mut random = Random(11);
    let (mut n_begun, mut n_begun_repaired, mut n_begun_refused, mut n_given_up) = (0, 0, 0, 0);
    for n in 0..20_000 {
        let breaks = if n % 4 == 0 { 0 } else { 1 + random.below(3) };
        let (name, text) = call(&mut random, breaks);
        let pieces = pieces(&mut random, &text);
        let (sent, outcome) = run(&tools, name, &pieces, true);
        assert_eq!(run(&tools, name, &[&text], true).0, sent, "as one piece: {text}");
        let late = run_from(&tools, name, &pieces, false, random.below(pieces.len().max(1)));
        assert_eq!(late.0, sent, "let out late: {text}");
        assert_eq!(format!("{:?}", late.1), format!("{outcome:?}"), "let out late: {text}");
        let (none, quiet) = run(&tools, name, &pieces, false);
        assert_eq!(none, None, "{text}");
        let Some(sent) = sent else {
            assert_eq!(format!("{outcome:?}"), format!("{quiet:?}"), "{text}");
            continue;
        };
        n_begun += 1;
        assert!(callwright_json::strict(&sent).is_err(), "a call that could be run: {sent}");
        assert!(text.trim_start().starts_with(&sent), "{text} ≠ {sent}");
        match (&outcome.verdicts[..], &quiet.verdicts[..]) {
            ([Verdict::Accepted(call)], [Verdict::Accepted(other)]) => {
                assert!(call.arguments.starts_with(&sent), "{text} → {} ≠ {sent}", call.arguments);
                assert_eq!(call.arguments, other.arguments);
                n_begun_repaired += usize::from(!call.repairs.is_empty());
            }
            ([Verdict::Refused(_)], [Verdict::Accepted(other)]) => {
                assert!(!other.arguments.starts_with(&sent), "refused for nothing: {text}");
                n_given_up += 1;
            }
            ([Verdict::Refused(_)], [Verdict::Refused(_)]) => n_begun_refused += 1,
            (live, quiet) => panic!("{text}: {live:?}, {quiet:?}"),
        }
    }
    assert!(
        5_000 < n_begun && 500 < n_begun_repaired && 500 < n_begun_refused,
        "{n_begun} {n_begun_repaired} {n_begun_refused}"
    );
    // Repairing something that went out before is the rare case that costs a call.
    assert!(n_given_up * 50 < n_begun_repaired, "{n_given_up} of {n_begun_repaired}");
}

#[test]
fn right_calls_go_out_up_to_the_end_of_their_long_string() {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    let head = r#"{"path": "a.py", "content": "print('hello')\nprint('world')"#;
    for (rest, accepted) in
        [("\"}", true), ("\", \"mode\": \"w\"}", true), ("\", \"mode\": \"x\"}", false), ("", false)]
    {
        let text = format!("{head}{rest}");
        let (sent, outcome) = run(&tools, "write_file", &[&text], true);
        assert_eq!(sent.as_deref(), Some(head));
        assert_eq!(outcome.calls().next().map(|call| &call.arguments), accepted.then_some(&text));
    }
}

/// Two calls at once, and what upstreams do to names.
#[test]
fn calls_keep_their_index_and_their_name() {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    let text = r#"{"query": "a text of some length"#;
    let feed = |deltas: &[(usize, &str, &str)]| {
        let mut events = Vec::new();
        let mut scanner = Scanner::new(&tools, &Context { live: true, ..Context::default() });
        for (index, name, arguments) in deltas {
            let delta =
                CallDelta { index: Some(*index), id: None, name: Some(name), arguments: Some(arguments) };
            scanner.feed(Delta::ToolCall(delta), &mut events);
        }
        events.extend(scanner.finish().0);
        let line = |event: &Event| match event {
            Event::CallStarted { call: n, name, .. } => format!("{n} {name}"),
            Event::CallArguments { call: n, piece } => format!("{n} +{}", piece.len()),
            Event::Call(Verdict::Accepted(call)) => call.name.clone(),
            Event::Call(Verdict::Refused(refusal)) => format!("! {}", refusal.reason.code()),
            Event::Text(_) | Event::Reasoning(_) => "text".to_owned(),
            _ => "text call".to_owned(),
        };
        events.iter().map(line).collect::<Vec<_>>()
    };
    let mixed = feed(&[(0, "search", text), (1, "search", text), (0, "", " 0\"}"), (1, "", " 1\"}")]);
    assert_eq!(mixed, ["0 search", "0 +32", "1 search", "1 +32", "0 +2", "1 +2", "search", "search"]);
    // A name in pieces is whole when the arguments begin; a name that changes later is nobody's.
    assert_eq!(feed(&[(0, "sea", ""), (0, "rch", text), (0, "", "\"}")]), ["0 search", "0 +32", "search"]);
    assert_eq!(feed(&[(0, "search", text), (0, "_all", "\"}")]), ["0 search", "0 +32", "! unknown-tool"]);
    assert_eq!(
        feed(&[(0, "Search", text), (0, "", "\"}")]),
        ["search"],
        "a name that is not the declared one waits"
    );
}

/// A `finish_reason` that is known only at the end counts like one that was known before.
#[test]
fn a_cut_is_told_at_the_end() {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    let text = r#"{"path": "a.py", "content": "print('hello')\nprint('world')""#;
    for (finish_reason, is_accepted) in [("stop", true), ("length", false)] {
        let mut events = Vec::new();
        let mut scanner = Scanner::new(&tools, &Context { live: true, ..Context::default() });
        let delta = CallDelta { name: Some("write_file"), arguments: Some(text), ..CallDelta::default() };
        scanner.feed(Delta::ToolCall(delta), &mut events);
        scanner.finish_reason(finish_reason);
        let outcome = scanner.finish().1;
        assert_eq!(outcome.calls().count() == 1, is_accepted, "{finish_reason}");
        assert!(outcome.verdicts.iter().all(Verdict::is_native));
    }
}

const CHECKED: &str = r#"[
    {"name": "write", "parameters": {"type": "object", "required": ["path", "content"], "properties": {
        "path": {"type": "string"}, "content": {"type": "string"}, "mode": {"enum": ["w", "a"]},
        "lines": {"type": "array", "items": {"type": "integer"}}, "note": {"type": "string", "maxLength": 99}}}},
    {"name": "one", "parameters": {"properties": {"a": {}, "b": {}}, "maxProperties": 1}},
    {"name": "pair", "parameters": {"properties": {"a": {"type": "string"}}, "not": {"required": ["z"]}}}]"#;

/// What goes out of the arguments `text`, whole and character by character.
fn sent(tool: &str, text: &str) -> String {
    let tools = ToolSet::from_json(CHECKED).unwrap();
    let (whole, _) = run(&tools, tool, &[text], true);
    let characters: Vec<String> = text.chars().map(String::from).collect();
    let (pieces, _) = run(&tools, tool, &characters.iter().map(String::as_str).collect::<Vec<_>>(), true);
    assert_eq!(pieces, whole, "{text}");
    whole.unwrap_or_default()
}

#[test]
fn a_string_goes_out_while_it_grows() {
    let text = r#" {"path": "a.txt", "lines": [1, 2], "mode":"w", "content": "A text of some length"#;
    assert_eq!(sent("write", text), text.trim_start());
    let ended = format!(r#"{text}", "mode": "w"}}"#);
    assert_eq!(sent("write", &ended), text.trim_start(), "nothing from the bare quote on");
    let html = r#"{"path": "a.html", "content": "<!DOCTYPE html>\n<html lang="#;
    assert_eq!(sent("write", html), html);
    let any = r#"{"path": "a.txt", "content": "caf\u00e9 \ud83d\ude00 \\ \/ \" and so on"#;
    assert_eq!(sent("write", any), any);
}

#[test]
fn what_is_undecided_waits() {
    let head = r#"{"path": "a.txt", "content": "A text of some length"#;
    for tail in [
        "\\",
        "\\u",
        "\\u00e",
        "\\ud83d",
        "\\ud83d\\",
        "\\ud83d\\ude0",
        "\\\"",
        "\\\"}",
        "\\\"}\\n}",
        "}",
        "], ",
        "}",
        ", ",
        "\\\", ",
    ] {
        assert_eq!(sent("write", &format!("{head}{tail}")), head, "{tail}");
    }
    // What cannot be strict JSON, or stands for no character.
    for tail in ["\n", "\\x41", "\\ude00", "\\ud83dx", "\\ud83d\\u0041", "\\u00g0", "\\\", \"mode\": \"w\"}"]
    {
        assert_eq!(sent("write", &format!("{head}{tail} and then more text")), head, "{tail}");
    }
}

#[test]
fn nothing_goes_out_behind_a_member_that_may_be_wrong() {
    let content = r#""content": "A text of some length"#;
    let path = r#"{"path": "a.txt"#;
    for (head, certain) in [
        (r#"{"path": "a.txt" "#, path),
        (r#"{"path": 5, "#, ""),
        (r#"{"path": "a" b.txt", "#, r#"{"path": "a"#),
        (r#"{"path": "a.txt, "#, path),
        (r#"{'path': "a.txt", "#, ""),
        (r#"{"path": "a.txt", "mode": "r", "#, path),
        (r#"{"path": "a.txt", "lines": ["1"], "#, path),
        (r#"{"path": "a.txt", "lines": [1}, "#, path),
        (r#"{"path": "a.txt", "path": "a.txt", "#, path),
        (r#"{"p\u0061th": "a.txt", "#, ""),
        (r#"{"path": "a.txt", "colour": "red", "#, path),
        (r#"{"arguments": {"path": "a.txt", "#, ""),
        (r#"[{"path": "a.txt", "#, ""),
        (r#"write({"path": "a.txt", "#, ""),
    ] {
        assert_eq!(sent("write", &format!("{head}{content}")), certain, "{head}");
    }
}

#[test]
fn members_go_out_in_any_order() {
    let late = r#"{"content": "A text of some length", "mode": "w", "path": "a path of some length"#;
    assert_eq!(sent("write", late), late);
    let ended = format!(r#"{late}"}}"#);
    assert_eq!(sent("write", &ended), late, "a whole call waits for its verdict");
}

#[test]
fn nothing_goes_out_where_the_text_or_the_rest_could_still_be_wrong() {
    let head = r#"{"path": "a.txt", "content": "#;
    assert_eq!(sent("write", &format!("{head}[\"A text")), r#"{"path": "a.txt"#, "it must be a string");
    let note = r#"{"path": "a.txt", "content": "b", "note": "A text of some length"#;
    assert_eq!(sent("write", note), r#"{"path": "a.txt", "content": "b"#, "a note may be too long");
    assert_eq!(sent("one", r#"{"a": "A text of some length"#), "", "the number of members counts");
    assert_eq!(sent("pair", r#"{"a": "A text of some length"#), "", "the tables do not say all");
}
