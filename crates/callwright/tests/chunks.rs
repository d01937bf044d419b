//! Law 5: however an answer is cut into pieces, the events and the outcome are the same, and nothing that
//! went out is taken back.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use callwright::{Context, Delta, Event, Scanner, ToolSet};
use common::{Outline, Random, tool_set};

/// Texts with everything in them that the scanner has to hold back.
const TEXTS: &[&str] = &[
    "",
    "  \n ",
    "Just prose, with `code`, a < b, [1], {x} and f(y).\n\nAnd more.  ",
    "I look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>\nDone. ",
    "<think>Maybe <tool_call>{\"name\": \"list_files\"}</tool_call>, no.</think>Hello <b>you</b>",
    "<think>I call <tool_call>{\"name\": \"list_files\"}</tool_call>",
    "<get_weather>{\"city\": \"</function> }\"}</function> then <FUNCTION>{\"name\": \"list_files\"}<function>",
    "```tool_code\nprint(default_api.get_weather(city='Paris'))\n# next\nlist_files()\n```\nafter",
    "[get_weather(city='a]'), list_files()]\n\nUser: more\n[list_files()]",
    "get\\_weather(city=\"x\")[list_files()]; return list_files().",
    "get_weather\n{\"city\": \"Oslo\"}\nlist_files\n{}",
    "Sure: {\"tool_calls\": [{\"name\": \"list_files\", \"arguments\": \"{}\"}]} ok?",
    "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Par",
    "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"say \"hi\" now\"}}}} tail {\"a\": [",
    "[\"get_weather(city=\\\"x\\\")\", 'list_files()'] and ['list_files', {}] or ('list_files', {})",
    "<tool_call><tool_call>{\"name\": \"list_files\"}</tool_call></tool_call> é 北京 😀 «list_files()»",
    "```json\n{\"a\": 1}\n```\ntext ```x``` ``` \n```\nlist_files()\n```",
];

#[test]
fn every_cut_gives_the_same() {
    let tool_set = tool_set();
    for text in TEXTS {
        let whole = feed(&tool_set, &[text]);
        let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for &cut in &cuts {
            assert_eq!(feed(&tool_set, &[&text[..cut], &text[cut..]]), whole, "cut at {cut}: {text}");
        }
        let pieces: Vec<&str> = text.split_inclusive(|_: char| true).collect();
        assert_eq!(feed(&tool_set, &pieces), whole, "one by one: {text}");
    }
}

#[test]
fn random_cuts_of_mixed_texts_give_the_same() {
    let tool_set = tool_set();
    let mut random = Random(7);
    for _ in 0..3000 {
        let text: String = (0..1 + random.below(4)).map(|_| *random.pick(TEXTS)).collect();
        // Also torn texts: a random piece is left out.
        let chars: Vec<char> = text.chars().collect();
        let from = random.below(chars.len() + 1);
        let to = (from + random.below(12)).min(chars.len());
        let text: String = chars[..from].iter().chain(&chars[to..]).collect();
        let whole = feed(&tool_set, &[&text]);
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        while let Some((at, _)) = rest.char_indices().nth(1 + random.below(9)) {
            let (piece, tail) = rest.split_at(at);
            pieces.push(piece);
            rest = tail;
        }
        pieces.push(rest);
        assert_eq!(feed(&tool_set, &pieces), whole, "{text:?} as {pieces:?}");
    }
}

/// Feeds `pieces`, and checks that the events add up to the outcome.
fn feed(tool_set: &ToolSet, pieces: &[&str]) -> Outline {
    let mut events = Vec::new();
    let mut scanner = Scanner::new(tool_set, &Context::default());
    for piece in pieces {
        scanner.feed(Delta::Text(piece), &mut events);
    }
    let outcome = scanner.finish(&mut events);
    let outline = Outline::of(&outcome);
    assert_eq!(Outline::of_events(&events), outline, "{pieces:?}");
    let order: Vec<&str> = events
        .iter()
        .map(|event| match event {
            Event::Text(_) => "text",
            Event::Reasoning(_) => "reasoning",
            Event::Call(_) => "call",
        })
        .collect();
    assert_eq!(order.iter().filter(|kind| **kind == "call").count(), outcome.verdicts.len());
    outline
}
