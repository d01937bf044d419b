//! Byte accounting of a stream: each byte of an answer is text, reasoning, markup, or in the span of a call; none is
//! lost, and none comes twice. No marker of a call is ever said, and nothing of a call comes before its verdict.

use std::fs;
use std::path::Path;

use callwright::{Context, Delta, Event, Outcome, Scanner, ToolSet, Verdict};
use callwright_json::Span;

use crate::common::{Random, pieces, tool_set};

/// Words that stand between the tokens of a header.
const HEADER: &[&str] = &[
    "assistant",
    "final",
    "commentary",
    "analysis",
    "response",
    "think",
    "message",
    "all",
    "to=self",
    "to=user",
    "to=commentary",
];
/// One call of `f` with `a` as `x`.
const CALLS: &[&str] = &[
    "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}\n</tool_call>",
    "<TOOLCALL>[{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}]</TOOLCALL>",
    "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}]",
    "[TOOL_CALLS]f[ARGS]{\"a\": \"x\"}",
    "<|python_tag|>{\"name\": \"f\", \"parameters\": {\"a\": \"x\"}}",
    "<|action_start|><|plugin|>\n{\"name\": \"f\", \"parameters\": {\"a\": \"x\"}}<|action_end|>",
    "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": \"f\", \"parameters\": {\"a\": \"x\"}}]<|END_ACTION|>",
    "<|tools_prefix|>[{\"f\": {\"a\": \"x\"}}]<|tools_suffix|>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": \"x\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\": \"x\"}<|tool_call_end|><|tool_calls_section_end|>",
    "<function=f>{\"a\": \"x\"}</function>",
    "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\": \"x\"}<|call|>",
    "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>",
    "<minimax:tool_call>\n<invoke name=\"f\">\n<parameter name=\"a\">x</parameter>\n</invoke>\n</minimax:tool_call>",
    "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"f\">\n<｜DSML｜parameter name=\"a\" string=\"true\">x</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n</tool_call>",
    "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"f\">]<]minimax[>[<a>x]<]minimax[>[</a>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
    "<|tool_call_start|>[f(a='x')]<|tool_call_end|>",
    "<|tool_call>call:f{a:<|\"|>x<|\"|>}<tool_call|>",
    "<start_function_call>call:f{a:<escape>x<escape>}<end_function_call>",
    "<|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|><|open|>argument key=\"a\" type=\"string\"<|sep|>x<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
];
/// How a turn begins that the model makes up behind its calls; with it the answer ends.
const TURNS: &[&str] = &[
    "user:",
    "observation:",
    "<tool_response>",
    "```tool_output",
    "<|im_start|>",
    "[inst]",
    "✿result✿",
    "def ",
    "\"\"\"",
];

#[test]
fn every_byte_is_accounted_for() {
    let tool_set = tool_set();
    let mut random = Random(31);
    let (mut n_calls, mut n_texts) = (0, 0);
    for text in corpus() {
        let (events, outcome) = run(&tool_set, &pieces(&mut random, &text));
        // A call that is said again is left out, and has no verdict.
        if let Err(why) = account(&text, &events) {
            let (whole, _) = run(&tool_set, &[&text]);
            panic!("{why}\n{text:?}\n{events:?}\nas one piece: {whole:?}");
        }
        n_calls += outcome.verdicts.len();
        n_texts += 1;
    }
    assert!(100 < n_texts && 200 < n_calls, "{n_calls} calls in {n_texts} texts");
}

#[test]
fn no_marker_is_said() {
    let tool_set = ToolSet::from_json(
        r#"[{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]"#,
    )
    .unwrap();
    let mut random = Random(37);
    for call in CALLS {
        let text = format!("It is so.\n{call}\n");
        let mut cuts = vec![vec![text.as_str()]];
        cuts.extend((0..40).map(|_| pieces(&mut random, &text)));
        for pieces in cuts {
            let (events, outcome) = run(&tool_set, &pieces);
            assert_eq!(outcome.text, "It is so.", "{pieces:?} {events:?}");
            assert_eq!(outcome.calls().count(), 1, "{pieces:?}");
        }
    }
}

/// What comes of an answer in pieces. Also where native calls go out as they grow, none in the text comes before its verdict.
fn run(tool_set: &ToolSet, pieces: &[&str]) -> (Vec<Event>, Outcome) {
    let mut events = Vec::new();
    let mut scanner = Scanner::new(tool_set, &Context { live: true, ..Context::default() });
    for piece in pieces {
        scanner.feed(Delta::Text(piece), &mut events);
    }
    let (last, outcome) = scanner.finish();
    events.extend(last);
    let is_early = |event: &&Event| matches!(event, Event::CallStarted { .. } | Event::CallArguments { .. });
    assert!(events.iter().find(is_early).is_none(), "{pieces:?} {events:?}");
    (events, outcome)
}

/// The texts of all cases whose calls are said once.
fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut texts = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ext| ext != "toml") {
            continue;
        }
        let table: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        if table.get("dialect").is_some() {
            continue;
        }
        let cases = table["case"].as_array().unwrap().iter();
        texts.extend(
            cases
                .filter(|case| case.get("account").is_none())
                .map(|case| case["text"].as_str().unwrap().to_owned()),
        );
    }
    texts.sort();
    texts
}

/// Goes over `text` with the events at hand: what stands between two of them has to be blank or markup.
fn account(text: &str, events: &[Event]) -> Result<(), String> {
    // A byte order mark before the answer is no part of it.
    let mut at = text.len() - text.trim_start_matches('\u{feff}').len();
    for event in events {
        match event {
            Event::Text(said) | Event::Reasoning(said) => {
                let said = said.trim();
                while !text[at..].starts_with(said) {
                    at += skipped(&text[at..]).ok_or_else(|| format!("{said:?} does not stand at {at}"))?;
                }
                at += said.len();
            }
            Event::Call(verdict) => {
                let span: Span = match verdict {
                    Verdict::Accepted(call) => call.span,
                    Verdict::Refused(refusal) => refusal.span,
                };
                let (start, end) = (span.start as usize, span.end as usize);
                // Several calls of one payload share its bytes.
                if end == at && start < at {
                    continue;
                }
                while at < start {
                    at += skipped(&text[at..]).ok_or_else(|| format!("no text, and no call, at {at}"))?;
                }
                if at != start {
                    return Err(format!("a call begins at {start}, before {at}"));
                }
                at = end;
            }
            _ => {}
        }
    }
    while at < text.len() {
        let rest = text[at..].to_lowercase();
        if TURNS.iter().any(|turn| rest.starts_with(turn)) {
            return Ok(());
        }
        at += skipped(&text[at..]).ok_or_else(|| format!("lost from {at} on"))?;
    }
    Ok(())
}

/// The length of the blank or the piece of markup at the beginning of `rest`.
fn skipped(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    if let Some(word) = HEADER.iter().find(|word| rest.starts_with(**word)) {
        return Some(word.len());
    }
    if let Some(label) = rest.strip_prefix("```") {
        return Some(3 + label.bytes().take_while(u8::is_ascii_alphanumeric).count());
    }
    match first {
        '<' => rest.find('>').map(|end| end + 1).or(Some(rest.len())),
        '◁' => rest.find('▷').map(|end| end + '▷'.len_utf8()),
        '[' if rest[1..].starts_with(|c: char| c == '/' || c.is_ascii_alphabetic()) => {
            rest.find(']').map(|end| end + 1)
        }
        _ if first.is_whitespace() || "[](){}<>,;.'\"`".contains(first) => Some(first.len_utf8()),
        _ => None,
    }
}
