//! Texts composed at random of all that a scanner looks at: marks of every dialect, brackets, quotes, fences, names, JSON, and
//! words. Nobody would write them; what holds for them holds for what anybody writes.

use std::collections::BTreeSet;

use callwright::{
    CallsInReasoning, Context, Delta, Dialects, Event, Outcome, Scanner, ToolSet, Verdict, parse,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::common::{Outline, is_recorded, rounds};

/// What stands around values and calls.
const SIGNS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "\"",
    "'",
    "`",
    "```",
    "````",
    "~~~",
    "\n",
    "\n\n",
    " ",
    "\t",
    "    ",
    "\\",
    "/",
    ",",
    ":",
    "=",
    "|",
    "> ",
    "- ",
    "+",
    "$ ",
    "// ",
    "# ",
    "「",
    "」",
    "«",
    "»",
    "“",
    "”",
    "&lt;",
    "\u{feff}",
    "\u{200b}",
    "\r\n",
    "*",
    "**",
    "_",
    "@",
    ";",
    "。",
    "…",
    "null",
    "true",
    "3",
    "-1.5e3",
    "<think>",
    "</think>",
    "<|im_end|>",
    "<b>",
    "</b>",
    "<!--",
    "-->",
    "print(",
    "return ",
    "x = ",
    "Action: ",
    "Action Input: ",
    "to=",
    "functions.",
    "json\n",
    "```json\n",
    "```python\n",
];
/// The tools, and what is written of them.
const NAMES: &[&str] = &[
    "weigh",
    "cast_net",
    "weigh(",
    "cast_net()",
    "weigh(fish='cod')",
    "\"weigh\"",
    "\"name\": \"weigh\"",
    "\"arguments\": ",
    "{\"fish\": \"cod\"}",
    "{\"fish\": \"cod\", \"grams\": 3}",
    "\"fish\": \"cod\"",
    "fish=",
    "<fish>",
    "</fish>",
    "{\"name\": \"weigh\", \"arguments\": {\"fish\": \"cod\"}}",
    "{\"name\": \"cast_net\", \"arguments\": {}}",
    "<parameter=fish>",
    "</parameter>",
    "<arg_key>fish</arg_key>",
    "<arg_value>cod</arg_value>",
    "<invoke name=\"weigh\">",
];

pub(crate) const TOOLS: &str = r#"[
    {"name": "weigh", "parameters": {"type": "object", "required": ["fish"],
        "properties": {"fish": {"type": "string"}, "grams": {"type": "integer"}}}},
    {"name": "cast_net", "parameters": {"type": "object", "properties": {}}}
]"#;

fn tool_set() -> ToolSet {
    ToolSet::from_json(TOOLS).unwrap()
}

/// The marks of the dialects whose name `is_one`, and the example of each in whole lines.
fn marks(is_one: fn(&str) -> bool) -> Vec<String> {
    let mut marks = BTreeSet::new();
    for dialect in Dialects::default().iter().filter(|dialect| is_one(&dialect.name)) {
        let groups = [&dialect.section.open, &dialect.section.close, &dialect.call.open, &dialect.call.close];
        marks.extend(groups.into_iter().flatten().map(|mark| mark.to_string()));
        let example = dialect.example();
        marks.insert(
            example.replace("f(", "weigh(").replace("\"f\"", "\"weigh\"").replace("\"a\"", "\"fish\""),
        );
    }
    marks.into_iter().collect()
}

/// Some pieces, most of them short. Each word is another one, `word0`, `word1`, so that it can be found again.
fn composed(is_one: fn(&str) -> bool) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(SIGNS).prop_map(str::to_owned),
        3 => proptest::sample::select(NAMES).prop_map(str::to_owned),
        3 => proptest::sample::select(marks(is_one)),
        3 => Just(WORD.to_owned()),
        1 => "\\PC{0,4}",
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| {
        let pieces = pieces.iter().enumerate();
        pieces.map(|(n, piece)| if piece == WORD { format!(" word{n} ") } else { piece.clone() }).collect()
    })
}

/// Stands for a word that has no number yet.
const WORD: &str = "word";

/// What a caller may know of an answer.
fn context() -> impl Strategy<Value = Context<'static>> {
    let reason = proptest::sample::select(vec![None, Some("stop"), Some("length"), Some("tool_calls")]);
    let calls = proptest::sample::select(vec![
        CallsInReasoning::Ignore,
        CallsInReasoning::Unclosed,
        CallsInReasoning::Accept,
    ]);
    (reason, calls, any::<[bool; 4]>()).prop_map(
        |(finish_reason, calls_in_reasoning, [native, live, starts_in_reasoning, doubt_open_ends])| Context {
            finish_reason,
            calls_in_reasoning,
            native,
            live,
            starts_in_reasoning,
            doubt_open_ends,
            ..Context::default()
        },
    )
}

/// The words of `text` that are in no call.
fn words_outside(text: &str, outcome: &Outcome) -> Vec<String> {
    let spans = outcome.verdicts.iter().map(|verdict| match verdict {
        Verdict::Accepted(call) => call.span,
        Verdict::Refused(refusal) => refusal.span,
    });
    let spans: Vec<_> = spans.map(|span| span.start as usize..span.end as usize).collect();
    let words = text.match_indices("word").filter(|(at, _)| spans.iter().all(|span| !span.contains(at)));
    words.map(|(at, _)| text[at..].chars().take_while(char::is_ascii_alphanumeric).collect()).collect()
}

fn times(cases: usize) -> Config {
    Config {
        cases: rounds(cases) as u32,
        rng_seed: RngSeed::Fixed(23),
        failure_persistence: None,
        ..Config::default()
    }
}

/// The same texts in every run, as many as `n`, of the numbers of `seed`.
pub(crate) fn texts(seed: u64, n: usize) -> impl Iterator<Item = String> {
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(seed), ..Config::default() });
    let composed = composed(is_recorded);
    (0..n).map(move |_| composed.new_tree(&mut runner).unwrap().current())
}

proptest! {
    #![proptest_config(times(400))]

    /// Whatever is known of an answer, it comes out the same whole and in pieces, and what went out adds up to it.
    #[test]
    fn any_text_is_the_same_in_pieces(text in composed(|_| true), cuts in prop::collection::vec(1..9usize, 1..6), context in context()) {
        let tool_set = tool_set();
        let whole = Outline::of(&parse(&tool_set, &text, &[], &context));
        let (mut events, mut scanner) = (Vec::<Event>::new(), Scanner::new(&tool_set, &context));
        let mut rest = text.as_str();
        for cut in cuts.iter().cycle() {
            let (piece, more) = rest.split_at(rest.char_indices().nth(*cut).map_or(rest.len(), |(at, _)| at));
            scanner.feed(Delta::Text(piece), &mut events);
            rest = more;
            if rest.is_empty() {
                break;
            }
        }
        let (last, outcome) = scanner.finish();
        events.extend(last);
        let pieces = Outline::of(&outcome);
        prop_assert_eq!(&pieces, &whole);
        prop_assert_eq!(&Outline::of_events(&events), &whole);
    }

    /// Where no call is found, there is none in what the model said either. Ends of thoughts and turns part what stands around
    /// them, and are no part of what was said.
    // FIXME: marks of calls are left out too where no call was found, and once in some 20,000 texts what is left is one.
    #[test]
    fn what_was_said_holds_no_call(text in composed(|_| true), native: bool) {
        let tool_set = tool_set();
        let context = Context { native, ..Context::default() };
        let first = parse(&tool_set, &text, &[], &context);
        // What shows one call tells of others too, and may be a mark that is taken out.
        let is_shown = !first.shown.is_empty();
        let is_parted = is_shown || text.contains("think>") || text.contains("<|im_end|>");
        if first.verdicts.is_empty() && !is_parted {
            let again = parse(&tool_set, &first.text, &[], &context);
            prop_assert_eq!(again.calls().count(), 0, "{:?}", Outline::of(&again));
        }
    }

    /// Where there is no call, each word is in the text or in the thoughts, once and in its order.
    #[test]
    fn no_word_is_lost(text in composed(|_| true), context in context()) {
        let outcome = parse(&tool_set(), &text, &[], &context);
        if outcome.verdicts.is_empty() {
            let mut said = words_outside(&outcome.text, &Outcome::default());
            said.extend(words_outside(&outcome.reasoning, &Outcome::default()));
            said.sort();
            let mut written = words_outside(&text, &outcome);
            written.sort();
            prop_assert_eq!(said, written);
        }
    }
}
