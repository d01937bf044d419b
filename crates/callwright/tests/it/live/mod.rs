//! What goes out of a native call before its verdict: never anything that would have to be taken back.

mod spelt;

use callwright::{CallDelta, Context, Delta, Event, LiveCall, Outcome, Scanner, ToolSet, Verdict};

use crate::common::{Random, pieces};

const TOOLS: &str = r#"[
    {"name": "write_file", "parameters": {"type": "object", "required": ["path", "content"], "properties": {
        "path": {"type": "string"}, "content": {"type": "string"}, "mode": {"type": "string", "enum": ["w", "a"]},
        "lines": {"type": "array", "items": {"type": "integer"}}, "dry": {"type": "boolean"}}}},
    {"name": "search", "parameters": {"type": "object", "additionalProperties": false, "properties": {
        "query": {"type": "string"}, "input": {"type": "string"}, "limit": {"type": "integer"}}}}
]"#;

/// What long strings are made of.
const WORDS: &[&str] = &[
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
            (Event::CallStarted { call: LiveCall::Native(0), id, name: started }, None) => {
                assert_eq!((id.as_deref(), &*started), (Some("c1"), name));
                sent = Some(String::new());
            }
            (Event::CallArguments { call: LiveCall::Native(0), piece }, Some(sent)) => {
                assert!(!piece.is_empty());
                sent.push_str(&piece);
            }
            (event, _) => panic!("{event:?} out of turn"),
        }
    }
    (sent, outcome)
}

/// What goes out of `text` in pieces, and what it comes to with and without live calls: as one piece the same goes out,
/// and where nothing does, it comes to the same.
fn live_and_quiet(
    tools: &ToolSet,
    random: &mut Random,
    text: &str,
) -> (Vec<(usize, String, String)>, Outcome, Outcome) {
    let pieces = pieces(random, text);
    let (sent, outcome) = run_text(tools, &pieces, true);
    assert_eq!(run_text(tools, &[text], true).0, sent, "as one piece: {text}");
    let (none, quiet) = run_text(tools, &pieces, false);
    assert!(none.is_empty(), "{text}");
    if sent.is_empty() {
        assert_eq!(format!("{outcome:?}"), format!("{quiet:?}"), "{text}");
    }
    (sent, outcome, quiet)
}

/// How many calls of `write_file` began to go out, and what they came to.
#[derive(Debug, Default)]
struct Seen {
    begun: usize,
    long: usize,
    refused: usize,
    given_up: usize,
}

impl Seen {
    /// Holds a text to the law: what went out is the beginning of what is accepted.
    fn take(&mut self, tools: &ToolSet, random: &mut Random, text: &str) {
        let (sent, outcome, quiet) = live_and_quiet(tools, random, text);
        for (n, name, sent) in &sent {
            self.begun += 1;
            assert_eq!(name, "write_file");
            assert!(callwright_json::strict(sent).is_err(), "a call that could be run: {sent}");
            match (&outcome.verdicts[*n], quiet.verdicts.get(*n)) {
                (Verdict::Accepted(call), _) => {
                    assert!(call.arguments.starts_with(sent), "{text} → {} ≠ {sent}", call.arguments);
                    self.long += usize::from(100 < sent.len());
                }
                (Verdict::Refused(_), Some(Verdict::Refused(_))) => self.refused += 1,
                (Verdict::Refused(_), _) => self.given_up += 1,
            }
        }
    }
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

/// Markers that only calls have, what stands between them and the arguments, and what closes them.
const FRAMES: &[(&str, &str)] = &[
    ("<tool_call>\n{\"name\": \"NAME\", \"arguments\": ", "}\n</tool_call>"),
    ("<tool_call>{\"id\": \"c1\", \"name\":\"NAME\",\"parameters\":", "}</tool_call>"),
    ("[TOOL_CALLS]NAME[ARGS]", ""),
    ("[TOOL_CALLS] [{\"name\": \"NAME\", \"arguments\": ", "}]"),
    ("<function=NAME>", "</function>"),
    ("<|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>", "<|tool_call_end|>"),
    (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>",
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    ("<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>", "<|call|>"),
];

/// What came of a text: the name and the pieces of each call that went out early, and the outcome.
fn run_text(tools: &ToolSet, pieces: &[&str], live: bool) -> (Vec<(usize, String, String)>, Outcome) {
    let mut events = Vec::new();
    let mut scanner = Scanner::new(tools, &Context { live, ..Context::default() });
    for piece in pieces {
        scanner.feed(Delta::Text(piece), &mut events);
    }
    let (last, outcome) = scanner.finish();
    events.extend(last);
    let mut sent: Vec<(usize, String, String)> = Vec::new();
    let mut n_judged = 0;
    for event in events {
        match event {
            Event::CallStarted { call: LiveCall::Text(n), id: None, name } => {
                assert_eq!(n, n_judged, "the verdict of the call before has come");
                sent.push((n, name, String::new()));
            }
            Event::CallArguments { call: LiveCall::Text(n), piece } => {
                assert!(!piece.is_empty() && n == n_judged);
                let (started, _, text) = sent.last_mut().unwrap();
                assert_eq!(n, *started);
                text.push_str(&piece);
            }
            Event::Call(_) => n_judged += 1,
            Event::Text(_) | Event::Reasoning(_) => {}
            event => panic!("{event:?}"),
        }
    }
    assert_eq!(n_judged, outcome.verdicts.len());
    (sent, outcome)
}

#[test]
fn calls_in_the_text_go_out_like_native_ones() {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    let mut random = Random(23);
    let (mut n_begun, mut n_refused, mut n_given_up, mut n_alone) = (0, 0, 0, 0);
    for n in 0..1_000 {
        let mut text = String::from(*random.pick(&["", "I look.\n", "<think>Well.</think>"]));
        for _ in 0..1 + random.below(2) {
            let breaks = if n % 3 == 0 { 0 } else { random.below(3) };
            let (name, arguments) = call(&mut random, breaks);
            let (open, close) = random.pick(FRAMES);
            text.extend([open.replace("NAME", name).as_str(), &arguments, close, "\n"]);
        }
        let (sent, outcome, quiet) = live_and_quiet(&tools, &mut random, &text);
        for (n, name, sent) in &sent {
            n_begun += 1;
            n_alone += usize::from(sent.is_empty());
            assert!(callwright_json::strict(sent).is_err(), "a call that could be run: {sent}");
            match &outcome.verdicts[*n] {
                Verdict::Accepted(call) => {
                    assert_eq!(call.name, *name);
                    assert!(call.arguments.starts_with(sent), "{text} → {} ≠ {sent}", call.arguments);
                }
                Verdict::Refused(_) => {
                    n_refused += 1;
                    let was_right = |v: &Verdict| matches!(v, Verdict::Accepted(call) if call.arguments.starts_with(sent));
                    let is_other = quiet.verdicts.len() != outcome.verdicts.len();
                    n_given_up += usize::from(is_other || was_right(&quiet.verdicts[*n]));
                }
            }
        }
    }
    assert!(500 < n_begun && 50 < n_refused, "{n_begun} {n_refused}");
    assert!(n_given_up * 50 < n_begun && n_alone * 2 < n_begun, "{n_given_up}, {n_alone} of {n_begun}");
}

#[test]
fn a_name_goes_out_before_its_long_argument() {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    for (open, close) in FRAMES {
        let open = open.replace("NAME", "write_file");
        let head = r#"{"path": "a.py", "content": "print('hello')\nprint('world')"#;
        let (sent, _) = run_text(&tools, &[&format!("{open}{{\"path\": \"a.py\",")], true);
        assert_eq!(sent, [(0, "write_file".to_owned(), r#"{"path": "a.py"#.to_owned())], "{open}");
        let (sent, outcome) = run_text(&tools, &[&format!("{open}{head}\"}}{close}")], true);
        assert_eq!(sent, [(0, "write_file".to_owned(), head.to_owned())], "{open}");
        assert_eq!(outcome.calls().next().unwrap().arguments, format!("{head}\"}}"), "{open}");
        assert_eq!(outcome.text, "", "{open}");
        let (_, outcome) = run_text(&tools, &[&format!("{open}{head}")], true);
        assert_eq!(outcome.refusals().count(), 1, "cut: {open}");
    }
    // Without a marker of its own, or as an example, a call waits for its verdict.
    for text in
        ["{\"name\": \"write_file\", \"arguments\": ", "```json\n{\"name\": \"write_file\", \"arguments\": "]
    {
        let text = format!("{text}{{\"path\": \"a.py\", \"content\": \"print('hello')");
        assert!(run_text(&tools, &[&text], true).0.is_empty(), "{text}");
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
            Event::CallStarted { call: LiveCall::Native(n), name, .. } => format!("{n} {name}"),
            Event::CallArguments { call: LiveCall::Native(n), piece } => format!("{n} +{}", piece.len()),
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

/// How dialects write a call with arguments in tags: what opens it, one argument, what closes it.
const TAGS: &[(&str, &str, &str)] = &[
    ("<tool_call>\n<function=NAME>\n", "<parameter=KEY>\nVALUE\n</parameter>\n", "</function>\n</tool_call>"),
    ("<tool_call>NAME\n", "<arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n", "</tool_call>"),
    (
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"NAME\">\n",
        "<｜DSML｜parameter name=\"KEY\" string=\"true\">VALUE</｜DSML｜parameter>\n",
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    ),
    (
        "<minimax:tool_call>\n<invoke name=\"NAME\">\n",
        "<parameter name=\"KEY\">VALUE</parameter>\n",
        "</invoke>\n</minimax:tool_call>",
    ),
];
/// What texts in tags are made of beside [`WORDS`].
const MARKUP: &[&str] = &[
    "\n",
    "  ",
    "<parameter=a>",
    "</parameter>",
    "</arg_value>",
    "<arg_key>",
    "</function>",
    "<tool_call>",
    "</tool_call>",
    "<![CDATA[",
    "]]>",
    "<",
    "</",
    "</para",
    "<｜",
    "your_content",
    "<div>",
];

/// A call in tags: its tool, the values, and the text.
fn tagged(random: &mut Random, frame: usize, is_wild: bool) -> String {
    let mut value = |most: usize| -> String {
        let words = 1 + random.below(most);
        let one = |random: &mut Random| match random.below(if is_wild { 5 } else { 1 }) {
            4 => *random.pick(MARKUP),
            _ => *random.pick(WORDS),
        };
        (0..words).map(|_| one(random)).collect()
    };
    let mut arguments = vec![("path", value(3)), ("content", value(30))];
    match random.below(4) {
        0 => arguments.insert(0, ("mode", "w".to_owned())),
        1 => arguments.insert(random.below(3), ("mode", "x".to_owned())),
        2 => arguments.swap(0, 1),
        _ => {}
    }
    let (open, argument, close) = TAGS[frame];
    let arguments: String =
        arguments.iter().map(|(key, value)| argument.replace("KEY", key).replace("VALUE", value)).collect();
    let text = format!("{}{arguments}{close}", open.replace("NAME", "write_file"));
    match random.below(if is_wild { 4 } else { 1 }) {
        3 => text.chars().take(random.below(text.len())).collect(),
        _ => text,
    }
}

#[test]
fn arguments_in_tags_go_out_while_they_grow() {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    let mut random = Random(29);
    let mut n = Seen::default();
    for number in 0..2_000 {
        let text = tagged(&mut random, number % TAGS.len(), number % 3 != 0);
        n.take(&tools, &mut random, &text);
    }
    assert!(750 < n.begun && 250 < n.long && 50 < n.refused, "{n:?}");
    assert!(n.given_up * 50 < n.begun, "{n:?}");
}

#[test]
fn of_a_long_text_in_tags_nothing_waits_but_the_end() {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    let content = "fn main() {\n    println!(\"<b>\");\n}";
    for (open, argument, close) in TAGS {
        let argument = |key: &str, value: &str| argument.replace("KEY", key).replace("VALUE", value);
        let head = format!("{}{}", open.replace("NAME", "write_file"), argument("path", "a.rs"));
        let (sent, _) = run_text(&tools, &[&head], true);
        assert_eq!(sent, [(0, "write_file".to_owned(), String::new())], "{head}");
        let whole = format!("{head}{}{close}", argument("content", content));
        let cut = whole.find("\n}").unwrap();
        let expected = |content: &str| {
            let quoted = callwright::value::Value::from(content).to_string();
            format!("{{\"path\": \"a.rs\", \"content\": {}", quoted.trim_end_matches('"'))
        };
        let (sent, outcome) = run_text(&tools, &[&whole[..cut]], true);
        assert_eq!(sent[0].2, expected("fn main() {\n    println!(\"<b>\");"), "{whole}");
        assert_eq!(outcome.refusals().count(), 1, "cut: {whole}");
        let (sent, outcome) = run_text(&tools, &[&whole], true);
        assert_eq!(sent[0].2, expected(content), "{whole}");
        assert_eq!(outcome.calls().count(), 1, "{whole}");
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
