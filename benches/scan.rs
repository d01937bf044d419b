//! How fast an answer is read, all dialects armed and none told: whole, and in pieces of four bytes.
//! `cargo bench --manifest-path benches/Cargo.toml --bench scan`

#[path = "answers.rs"]
mod answers;
#[path = "calls.rs"]
#[allow(dead_code, reason = "only the code in the calls is wanted")]
mod calls;

use answers::{Text, tools};
use callwright::{Context, Delta, Scanner, ToolSet, parse};
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// From a short answer to a very long one: the cost of a piece should not grow.
const SIZES: [usize; 3] = [1_000, 32_000, 1_000_000];

fn cases() -> impl Iterator<Item = Case> {
    Text::ALL.into_iter().flat_map(|text| SIZES.map(|size| Case { text, size }))
}

#[divan::bench(args = cases(), sample_count = 20)]
fn whole(bencher: Bencher<'_, '_>, case: &Case) {
    let (tools, text) = (tools(), case.text.of(case.size));
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| parse(&tools, black_box(&text), &[], &Context::default()).verdicts.len());
}

/// An item is a piece.
#[divan::bench(args = cases(), sample_count = 20)]
fn pieces(bencher: Bencher<'_, '_>, case: &Case) {
    let (tools, text) = (tools(), case.text.of(case.size));
    let pieces = fours(&text);
    bencher.counter(ItemsCount::new(pieces.len())).bench(|| streamed(&tools, &pieces));
}

fn fours(text: &str) -> Vec<&str> {
    text.as_bytes().chunks(4).map(|piece| std::str::from_utf8(piece).unwrap_or("")).collect()
}

/// How many verdicts come of the `pieces` of an answer.
fn streamed(tools: &ToolSet, pieces: &[&str]) -> usize {
    let mut events = Vec::new();
    let mut scanner = Scanner::new(tools, &Context::default());
    for piece in pieces {
        scanner.feed(Delta::Text(black_box(piece)), &mut events);
        events.clear();
    }
    scanner.finish().1.verdicts.len()
}

/// Texts that are made to cost more: what they begin is never ended. A byte should cost the same in all sizes.
#[divan::bench(args = endless_cases(), sample_count = 3)]
fn endless(bencher: Bencher<'_, '_>, case: &EndlessCase) {
    let tools = tools();
    let Endless { head, unit, .. } = case.text;
    let text = format!("{head}{}", unit.repeat(case.size / unit.len()));
    let pieces = fours(&text);
    bencher.counter(BytesCount::of_str(&text)).bench(|| streamed(&tools, &pieces));
}

/// A beginning, and what follows it over and over.
struct Endless {
    name: &'static str,
    head: &'static str,
    unit: &'static str,
}

const ENDLESS: [Endless; 7] = [
    Endless { name: "key", head: "<tool_call>write_file\n<arg_key>", unit: "a" },
    Endless {
        name: "value",
        head: "<invoke name=\"write_file\"><parameter name=\"path\">a</parameter><parameter name=\"content\"><",
        unit: "a,",
    },
    Endless { name: "values", head: "", unit: "<tool_call>write_file<arg_key>path</arg_key><arg_value>x" },
    Endless { name: "one text", head: "Action: write_file\nAction Input: a", unit: "\n" },
    Endless { name: "bare text", head: "{\"name\": \"write_file\", \"arguments\": {\"path\": ", unit: "a\n" },
    Endless { name: "quotes", head: "{\"name\": \"write_file\", \"arguments\": {\"path\": \"", unit: "\"//" },
    Endless {
        name: "blanks",
        head: "<tool_call>{\"name\": \"write_file\", \"arguments\": {\"path\": \"a\"}}\n",
        unit: " ",
    },
];

fn endless_cases() -> impl Iterator<Item = EndlessCase> {
    ENDLESS.iter().flat_map(|text| SIZES.map(|size| EndlessCase { text, size }))
}

/// One of [`ENDLESS`], of a size.
struct EndlessCase {
    text: &'static Endless,
    size: usize,
}

impl std::fmt::Display for EndlessCase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.text.name, self.size)
    }
}

/// A text of a size.
struct Case {
    text: Text,
    size: usize,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}", self.text, self.size)
    }
}
