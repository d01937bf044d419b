//! Tests the holding of text: prose waits no longer than the longest marker does to be told from text.
//!
//! The scanner's state, not the text, says what the scanner reads. On its way to a verdict, more may be held longer: a
//! payload, a body, the lead of a call behind its first marker, the markup behind a call.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::Deserialize;

use super::opener::{Lead, MAX_OPENER};
use super::{Block, Delta, Scanner, State};
use crate::context::Context;
use crate::dialect;
use crate::policy::CallsInReasoning;
use crate::syntax::tag::{MAX_TAG, tag_at};
use crate::tools::ToolSet;
use crate::tools::names::Names;

const TOOLS: &str = r#"[
    {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
    {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}},
    {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
]"#;

/// The pieces of generated texts.
#[derive(Deserialize)]
struct Pieces {
    prose: Vec<String>,
    code: Vec<String>,
    unicode: Vec<String>,
}

/// Returns the length of the longest marker, in the widest spelling.
fn longest_marker() -> usize {
    let wide = |mark: &str| mark.len() + 2 * mark.matches(['|', '_']).count();
    let marks = dialect::marks_of_all();
    let ends = dialect::TURNS.iter().chain(dialect::FRAMES).map(|mark| wide(mark));
    marks.iter().map(|mark| wide(mark)).chain(ends).max().unwrap()
}

/// Returns the length of the longest word that may hold a name. Such a word is held to its end, as its beginning
/// decides whether a call may begin.
fn longest_word(tool_set: &ToolSet) -> usize {
    let names = Names::new(tool_set);
    (1..).take_while(|len| names.may_hold(&"x".repeat(*len))).count()
}

/// Returns the held text that may yet turn out to be plain text; `None` once a call, a block or its markup was begun.
fn held<'s>(scanner: &'s Scanner<'_>) -> Option<&'s str> {
    let is_begun = match &scanner.state {
        State::Call(_) | State::Over => true,
        State::Block(Block::Thought(thinking)) => {
            thinking.marked.is_some() || has_attributes(&scanner.text, thinking.searched)
        }
        State::Block(Block::Quote(_)) => false,
        // Marks that a call opened are closed behind it.
        State::After(_) | State::Prose if !scanner.markup.delimiters.is_empty() => true,
        State::After(_) => false,
        State::Prose => is_lead_begun(scanner),
    };
    (!is_begun).then(|| &scanner.text[scanner.at..])
}

/// Returns whether a marker was passed in front of what may become a call, or one with attributes begins:
/// `<invoke name="`.
fn is_lead_begun(scanner: &Scanner<'_>) -> bool {
    let (text, at) = (&*scanner.text, scanner.at);
    let mut leading = Lead::new(text, at, scanner.place(scanner.begins_line(at), false));
    let waits = leading.look().is_err();
    let has_opener = scanner.rules.dialects.opener_at(text, at).is_some();
    waits && (leading.is_begun() || has_opener || has_attributes(text, at))
}

/// Returns whether a tag with more than a word begins at `at`.
fn has_attributes(text: &str, at: usize) -> bool {
    tag_at(text, at) != Ok(None) && text[at..].contains([' ', '\n', '='])
}

/// Returns the length in letters, as marks are compared. White space of any length counts as one, as it goes out with
/// the text behind it.
fn len_of(text: &str) -> usize {
    let words: usize = text.split_ascii_whitespace().map(|word| word.chars().count()).sum();
    words + text.split_ascii_whitespace().count()
}

/// Generates the beginnings of all markers, which never become whole, and whole markers.
fn near_markers() -> impl Strategy<Value = String> {
    let marks = dialect::marks_of_all();
    let wide = any::<bool>();
    (0..marks.len(), any::<prop::sample::Index>(), wide, 0..4_usize).prop_map(
        move |(mark, cut, wide, tail)| {
            let mark = match wide {
                true => marks[mark].replace('|', "｜").replace('_', "▁"),
                false => marks[mark].to_string(),
            };
            let chars: Vec<char> = mark.chars().collect();
            let mut text: String = chars[..cut.index(chars.len() + 1)].iter().collect();
            text.push_str(["", " ", "x", "\n"][tail]);
            text
        },
    )
}

fn texts() -> impl Strategy<Value = String> {
    let pieces: Pieces = toml::from_str(include_str!("../../tests/held.toml")).unwrap();
    let piece = prop_oneof![
        3 => prop::sample::select(pieces.prose),
        3 => near_markers(),
        2 => prop::sample::select(pieces.code),
        2 => prop::sample::select(pieces.unicode),
        1 => "[ -~é北\n]{0,12}",
    ];
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

#[test]
fn text_that_is_no_marker_is_held_no_longer_than_the_longest_marker() {
    let tool_set = ToolSet::from_json(TOOLS).unwrap();
    let most = longest_marker() + longest_word(&tool_set);
    let config = Config { cases: 1_500, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let found = runner.run(&(texts(), any::<bool>(), any::<bool>()), |(text, native, accept)| {
        let calls_in_reasoning = if accept { CallsInReasoning::Accept } else { CallsInReasoning::Unclosed };
        let context = Context { native, calls_in_reasoning, ..Context::default() };
        let mut scanner = Scanner::new(&tool_set, &context);
        let mut events = Vec::new();
        for c in text.chars() {
            scanner.feed(Delta::Text(c.encode_utf8(&mut [0; 4])), &mut events);
            if let Some(held) = held(&scanner) {
                let len = len_of(held);
                prop_assert!(len <= most, "{} letters, {} may be: {:?}", len, most, held);
            } else if let (State::Prose, true) = (&scanner.state, scanner.markup.delimiters.is_empty()) {
                let len = len_of(&scanner.text[scanner.at..]);
                prop_assert!(len <= MAX_OPENER + MAX_TAG, "{} letters in front of a call", len);
            }
        }
        Ok(())
    });
    found.unwrap_or_else(|why| panic!("{why}"));
}
