//! How fast an answer is read, all dialects armed and none told: whole, and in pieces of four bytes.
//! `cargo bench --manifest-path benches/Cargo.toml --bench scan`

#[path = "answers.rs"]
mod answers;
#[path = "calls.rs"]
#[allow(dead_code, reason = "only the code in the calls is wanted")]
mod calls;

use answers::{Text, tools};
use callwright::{Context, Delta, Scanner, parse};
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
