//! How fast an answer is read, all dialects armed and none told: whole, and in pieces of four bytes.
//! `cargo bench --manifest-path benches/Cargo.toml --bench scan`

#[path = "calls.rs"]
#[allow(dead_code, reason = "only the code in the calls is wanted")]
mod calls;

use callwright::{Context, Delta, Scanner, ToolSet, parse};
use calls::code;
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

const TOOLS: &str = r#"[{"name": "write_file", "parameters": {"type": "object", "required": ["path", "content"],
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}}]"#;

/// From a short answer to a very long one: the cost of a piece should not grow.
const SIZES: [usize; 3] = [1_000, 32_000, 1_000_000];

/// What an answer is made of.
#[derive(Clone, Copy, Debug)]
enum Text {
    Prose,
    Fence,
    Think,
    Json,
    BareJson,
    Pythonic,
    Tags,
    Brace,
}

impl Text {
    const ALL: [Text; 8] = [
        Text::Prose,
        Text::Fence,
        Text::Think,
        Text::Json,
        Text::BareJson,
        Text::Pythonic,
        Text::Tags,
        Text::Brace,
    ];

    fn of(self, size: usize) -> String {
        let escaped = || code(size).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let call = || format!(r#"{{"name": "write_file", "arguments": {{"path": "a.rs", "content": "{}"}}}}"#, escaped());
        match self {
            Text::Prose => prose(size),
            Text::Fence => format!("Here:\n```rust\n{}```\n", code(size)),
            Text::Think => format!("<think>{}</think>Done.", prose(size)),
            Text::Json => format!("<tool_call>\n{}\n</tool_call>", call()),
            Text::BareJson => call(),
            Text::Pythonic => format!("[write_file(path=\"a.rs\", content=\"{}\")]", escaped()),
            Text::Tags => format!(
                "<tool_call>\n<function=write_file>\n<parameter=path>\na.rs\n</parameter>\n<parameter=content>\n{}\n\
                 </parameter>\n</function>\n</tool_call>",
                code(size)
            ),
            Text::Brace => format!("So {{ it is. {}", prose(size)),
        }
    }
}

fn prose(size: usize) -> String {
    let line = "The weather in Paris stays mild for the rest of the week, with a light wind from the west.\n";
    line.repeat(size / line.len() + 1)
}

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
    let pieces: Vec<&str> =
        text.as_bytes().chunks(4).map(|piece| std::str::from_utf8(piece).unwrap_or("")).collect();
    bencher.counter(ItemsCount::new(pieces.len())).bench(|| {
        let mut events = Vec::new();
        let mut scanner = Scanner::new(&tools, &Context::default());
        for piece in &pieces {
            scanner.feed(Delta::Text(black_box(piece)), &mut events);
            events.clear();
        }
        scanner.finish(&mut events).verdicts.len()
    });
}

fn tools() -> ToolSet {
    ToolSet::from_json(TOOLS).unwrap_or_else(|error| panic!("{error}"))
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
