//! What it takes to read one whole answer of 4 KiB and of 100 KiB: the times that half, and 99 of 100, of all readings
//! do not exceed. `cargo bench --manifest-path benches/Cargo.toml --bench response`
//!
//! All dialects are armed and none is told. The answers are right ones, and ones that have to be repaired. S0-40: what 99 of
//! 100 readings take has a bound for each size, and the bench fails where a case exceeds it. What counts is the time that
//! the thread runs, not the clock: on a machine that others use the clock tells how long the thread had to wait.

#[path = "answers.rs"]
mod answers;
#[path = "calls.rs"]
mod calls;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use answers::{Text, tools};
use calls::{Defect, broken, valid};
use callwright::{Context, NativeCall, Outcome, ToolSet, parse};
use rustix::time::{ClockId, clock_gettime};

/// The size of an answer, how often it is read, and what 99 of 100 readings may take.
const SIZES: [(usize, usize, Duration); 2] =
    [(4 << 10, 2_000, Duration::from_millis(1)), (100 << 10, 200, Duration::from_millis(10))];

fn main() -> ExitCode {
    println!("{:<44}{:>8}{:>12}{:>12}", "", "KiB", "p50, µs", "p99, µs");
    let tools = tools();
    let mut over = 0;
    for (size, rounds, bound) in SIZES {
        for case in cases(size) {
            case.check(&tools);
            let mut times: Vec<Duration> = (0..rounds).map(|_| time(|| case.read(&tools))).collect();
            times.sort_unstable();
            let (p50, p99) = (percentile(&times, 50), percentile(&times, 99));
            let verdict = if bound <= p99 { "  OVER" } else { "" };
            over += usize::from(bound <= p99);
            println!(
                "{:<44}{:>8}{:>12.1}{:>12.1}{verdict}",
                case.name,
                case.len() >> 10,
                p50.as_secs_f64() * 1e6,
                p99.as_secs_f64() * 1e6
            );
        }
    }
    if over == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// An answer.
struct Case {
    name: String,
    text: String,
    /// The arguments of a native call.
    arguments: Option<String>,
    calls: usize,
}

/// Answers of about `size` bytes, code and all.
fn cases(size: usize) -> Vec<Case> {
    // Escapes and markup come on top of the code.
    let size = size - size / 16;
    let is_call = |text: Text| !matches!(text, Text::Prose | Text::Fence | Text::Think | Text::Brace);
    let texts = Text::ALL.map(|text| Case {
        name: format!("{text:?}"),
        text: text.of(size),
        arguments: None,
        calls: usize::from(is_call(text)),
    });
    // A fence belongs around the call, not around its arguments.
    let inner = Defect::ALL.into_iter().filter(|defect| !matches!(defect, Defect::Fence));
    let repaired = inner.map(|defect| Case {
        name: format!("<tool_call>, {}", defect.name()),
        text: in_tags(&broken(size, defect)),
        arguments: None,
        calls: 1,
    });
    let native =
        |name: String, arguments| Case { name, text: String::new(), arguments: Some(arguments), calls: 1 };
    let healed = Defect::ALL.map(|defect| native(format!("native, {}", defect.name()), broken(size, defect)));
    let right = native("native, right".into(), valid(size));
    texts.into_iter().chain(repaired).chain([right]).chain(healed).collect()
}

fn in_tags(arguments: &str) -> String {
    format!(
        "I write the file.\n<tool_call>\n{{\"name\": \"write_file\", \"arguments\": {arguments}}}\n</tool_call>"
    )
}

impl Case {
    fn len(&self) -> usize {
        self.text.len() + self.arguments.as_ref().map_or(0, String::len)
    }

    fn read(&self, tools: &ToolSet) -> Outcome {
        let native = |arguments| NativeCall { id: Some("call_1"), name: "write_file", arguments };
        let native: Vec<NativeCall<'_>> = self.arguments.as_deref().map(native).into_iter().collect();
        parse(tools, black_box(&self.text), &native, &Context::default())
    }

    /// It is measured how long it takes to be right.
    fn check(&self, tools: &ToolSet) {
        let outcome = self.read(tools);
        assert_eq!(outcome.calls().count(), self.calls, "{}: {:?}", self.name, outcome.refusals().next());
    }
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
    };
    let begin = now();
    let worked = work();
    let taken = now().saturating_sub(begin);
    drop(worked);
    taken
}

/// The time that `percent` of a hundred of these, the shortest first, do not exceed.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}
