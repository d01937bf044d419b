//! How fast calls are read beside three other parsers of tool calls, each on the dialects that it knows.
//! `cargo bench --manifest-path benches/peers/Cargo.toml`
//!
//! The others are told which dialect it is; ours has all of them armed and is told none. An answer is one call that
//! writes a file of code. Before anything is measured, each parser reads each answer once, and what it does not give back
//! as it was said is listed and left out.

#[path = "../calls.rs"]
#[allow(dead_code, reason = "only the code in the calls is wanted")]
mod calls;

use calls::code;
use callwright::prompt::{self, PromptDialect};
use callwright::{Context, Delta, Dialects, Scanner, ToolSet, parse};
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use dynamo_parsers::{ToolDefinition, try_tool_call_parse_aggregate_finalize};
use dynamo_parsers_v2::create_tool_parser_for_family;
use futures_executor::block_on;
use serde_json::{Value, json};
use std::fmt;
use std::sync::LazyLock;
use tool_parser::ParserFactory;

fn main() {
    for case in SIZES.into_iter().flat_map(all) {
        let Case { dialect, .. } = case;
        for (peer, read) in PEERS {
            if peer.knows(dialect) && !read(&case) {
                println!("{} does not read {case} as it was said, and is not measured on it", peer.name());
            }
        }
    }
    divan::main();
}

const SIZES: [usize; 2] = [1_000, 32_000];
/// Bytes of a piece of a stream.
const PIECE: usize = 4;

/// A dialect by its name here, and by those that the peers give it; empty where one does not know it.
struct Dialect {
    name: &'static str,
    tool_parser: &'static str,
    dynamo: &'static str,
    dynamo_v2: &'static str,
}

const DIALECTS: [Dialect; 10] = [
    Dialect { name: "hermes", tool_parser: "qwen", dynamo: "hermes", dynamo_v2: "" },
    Dialect { name: "mistral_json", tool_parser: "mistral", dynamo: "mistral", dynamo_v2: "" },
    Dialect { name: "llama3_json", tool_parser: "llama", dynamo: "llama3_json", dynamo_v2: "" },
    Dialect { name: "kimi_k2", tool_parser: "kimik2", dynamo: "kimi_k2", dynamo_v2: "kimi_k2" },
    Dialect {
        name: "qwen3_coder",
        tool_parser: "qwen_coder",
        dynamo: "qwen3_coder",
        dynamo_v2: "qwen3_coder",
    },
    Dialect { name: "glm47", tool_parser: "glm47_moe", dynamo: "glm47", dynamo_v2: "glm47" },
    Dialect { name: "minimax_m2", tool_parser: "minimax_m2", dynamo: "minimax_m2", dynamo_v2: "minimax_m2" },
    Dialect {
        name: "deepseek_v4",
        tool_parser: "deepseek_v4",
        dynamo: "deepseek_v4",
        dynamo_v2: "deepseek_v4",
    },
    Dialect { name: "gemma4", tool_parser: "gemma4", dynamo: "gemma4", dynamo_v2: "gemma4" },
    Dialect { name: "pythonic", tool_parser: "pythonic", dynamo: "pythonic", dynamo_v2: "" },
];

/// One of the others.
#[derive(Clone, Copy)]
enum Peer {
    ToolParser,
    Dynamo,
    DynamoV2,
}

/// Each with what tells whether it reads an answer as it was said.
const PEERS: [(Peer, fn(&Case) -> bool); 3] = [
    (Peer::ToolParser, |case| case.is_said(tool_parser_reads(case))),
    (Peer::Dynamo, |case| case.is_said(dynamo_reads(case))),
    (Peer::DynamoV2, |case| case.is_said(dynamo_v2_reads(case))),
];

impl Peer {
    fn name(self) -> &'static str {
        match self {
            Peer::ToolParser => "tool-parser",
            Peer::Dynamo => "dynamo-parsers",
            Peer::DynamoV2 => "dynamo-parsers-v2",
        }
    }

    fn knows(self, dialect: &Dialect) -> bool {
        let name = match self {
            Peer::ToolParser => dialect.tool_parser,
            Peer::Dynamo => dialect.dynamo,
            Peer::DynamoV2 => dialect.dynamo_v2,
        };
        !name.is_empty()
    }
}

/// An answer.
struct Case {
    dialect: &'static Dialect,
    size: usize,
    code: String,
    text: String,
}

impl Case {
    fn of(dialect: &'static Dialect, size: usize) -> Case {
        let code = code(size);
        let arguments = json!({"path": "a.rs", "content": code}).to_string();
        let spoken = PromptDialect::named(&Dialects::default(), dialect.name);
        let spoken = spoken.unwrap_or_else(|| panic!("there is no {}", dialect.name));
        let text = prompt::call(&spoken, &OURS, "write_file", &arguments);
        Case { dialect, size, code, text }
    }

    /// Are these the arguments of the call that was said?
    fn is_said(&self, arguments: Option<String>) -> bool {
        let read = arguments.and_then(|arguments| serde_json::from_str::<Value>(&arguments).ok());
        read.is_some_and(|read| read == json!({"path": "a.rs", "content": self.code}))
    }

    fn pieces(&self) -> Vec<&str> {
        let mut pieces = Vec::new();
        let mut rest = &*self.text;
        while !rest.is_empty() {
            let end = (PIECE..rest.len()).find(|&at| rest.is_char_boundary(at)).unwrap_or(rest.len());
            let (piece, behind) = rest.split_at(end);
            pieces.push(piece);
            rest = behind;
        }
        pieces
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dialect.name, self.size)
    }
}

fn all(size: usize) -> impl Iterator<Item = Case> {
    DIALECTS.iter().map(move |dialect| Case::of(dialect, size))
}

fn cases() -> impl Iterator<Item = Case> {
    SIZES.into_iter().flat_map(all)
}

/// The answers that a peer reads as they were said.
fn read_by(peer: Peer) -> impl Iterator<Item = Case> {
    let reads = PEERS.into_iter().nth(peer as usize).map(|(_, reads)| reads);
    cases().filter(move |case| peer.knows(case.dialect) && reads.is_some_and(|reads| reads(case)))
}

static DECLARED: LazyLock<Value> = LazyLock::new(|| {
    json!({"type": "object", "required": ["path", "content"],
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}}})
});

static OURS: LazyLock<ToolSet> = LazyLock::new(|| {
    let tools = json!([{"name": "write_file", "parameters": *DECLARED}]).to_string();
    ToolSet::from_json(&tools).unwrap_or_else(|error| panic!("{error}"))
});

static TOOL_PARSERS: LazyLock<(ParserFactory, Vec<openai_protocol::common::Tool>)> = LazyLock::new(|| {
    let tool = json!({"type": "function", "function": {"name": "write_file", "parameters": *DECLARED}});
    let tool = serde_json::from_value(tool).unwrap_or_else(|error| panic!("{error}"));
    (ParserFactory::new(), vec![tool])
});

static DYNAMOS: LazyLock<[ToolDefinition; 1]> = LazyLock::new(|| {
    [ToolDefinition { name: "write_file".into(), parameters: Some(DECLARED.clone()), strict: None }]
});

static DYNAMOS_V2: LazyLock<[dynamo_parsers_v2::Tool; 1]> = LazyLock::new(|| {
    [dynamo_parsers_v2::Tool {
        name: "write_file".into(),
        description: None,
        parameters: DECLARED.clone(),
        strict: None,
    }]
});

fn tool_parser(case: &Case) -> Option<Box<dyn tool_parser::ToolParser>> {
    TOOL_PARSERS.0.registry().create_parser(case.dialect.tool_parser)
}

fn tool_parser_reads(case: &Case) -> Option<String> {
    let parser = tool_parser(case)?;
    let read = block_on(parser.parse_complete_with_tools(black_box(&case.text), &TOOL_PARSERS.1));
    Some(read.ok()?.1.into_iter().next()?.function.arguments)
}

fn dynamo_reads(case: &Case) -> Option<String> {
    let dialect = Some(case.dialect.dynamo);
    let read = try_tool_call_parse_aggregate_finalize(black_box(&case.text), dialect, Some(&*DYNAMOS));
    Some(block_on(read).ok()?.0.into_iter().next()?.function.arguments)
}

fn dynamo_v2(case: &Case) -> Option<Box<dyn dynamo_parsers_v2::ToolParser>> {
    create_tool_parser_for_family(case.dialect.dynamo_v2, &*DYNAMOS_V2).ok()
}

fn dynamo_v2_reads(case: &Case) -> Option<String> {
    let read = dynamo_v2(case)?.parse_complete(black_box(&case.text));
    Some(read.ok()?.calls.into_iter().next()?.arguments)
}

#[divan::bench_group(sample_count = 20, max_time = 4)]
mod whole {
    use super::*;

    #[divan::bench(args = cases())]
    fn callwright(bencher: Bencher<'_, '_>, case: &Case) {
        measure(bencher, case, |case| {
            parse(&OURS, black_box(&case.text), &[], &Context::default()).verdicts.len()
        });
    }

    #[divan::bench(args = read_by(Peer::ToolParser))]
    fn tool_parser(bencher: Bencher<'_, '_>, case: &Case) {
        measure(bencher, case, tool_parser_reads);
    }

    #[divan::bench(args = read_by(Peer::Dynamo))]
    fn dynamo_parsers(bencher: Bencher<'_, '_>, case: &Case) {
        measure(bencher, case, dynamo_reads);
    }

    #[divan::bench(args = read_by(Peer::DynamoV2))]
    fn dynamo_parsers_v2(bencher: Bencher<'_, '_>, case: &Case) {
        measure(bencher, case, dynamo_v2_reads);
    }

    fn measure<T>(bencher: Bencher<'_, '_>, case: &Case, read: impl Fn(&Case) -> T + Sync) {
        bencher.counter(BytesCount::of_str(&case.text)).bench(|| read(case));
    }
}

/// An item is a piece. `dynamo-parsers` reads no pieces.
#[divan::bench_group(sample_count = 20, max_time = 4)]
mod pieces {
    use super::*;

    #[divan::bench(args = cases())]
    fn callwright(bencher: Bencher<'_, '_>, case: &Case) {
        let pieces = case.pieces();
        bencher.counter(ItemsCount::new(pieces.len())).bench(|| {
            let mut events = Vec::new();
            let mut scanner = Scanner::new(&OURS, &Context::default());
            for piece in &pieces {
                scanner.feed(Delta::Text(black_box(piece)), &mut events);
                events.clear();
            }
            scanner.finish().1.verdicts.len()
        });
    }

    #[divan::bench(args = read_by(Peer::ToolParser))]
    fn tool_parser(bencher: Bencher<'_, '_>, case: &Case) {
        let pieces = case.pieces();
        bencher.counter(ItemsCount::new(pieces.len())).bench(|| {
            let mut parser = super::tool_parser(case)?;
            let mut n_calls = 0;
            for piece in &pieces {
                let read = block_on(parser.parse_incremental(black_box(piece), &TOOL_PARSERS.1));
                n_calls += read.ok()?.calls.len();
            }
            Some(n_calls)
        });
    }

    #[divan::bench(args = read_by(Peer::DynamoV2))]
    fn dynamo_parsers_v2(bencher: Bencher<'_, '_>, case: &Case) {
        let pieces = case.pieces();
        bencher.counter(ItemsCount::new(pieces.len())).bench(|| {
            let mut parser = dynamo_v2(case)?;
            let mut n_calls = 0;
            for piece in &pieces {
                n_calls += parser.push(black_box(piece)).ok()?.calls.len();
            }
            Some(n_calls + parser.finish().ok()?.calls.len())
        });
    }
}
