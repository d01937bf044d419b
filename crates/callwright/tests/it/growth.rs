//! What hostile answers cost: in proportion to their length, whatever they are made of.

use allocation_counter::{AllocationInfo, measure};
use callwright::{Context, Delta, Scanner, ToolSet, parse};

const TOOLS: &str = r#"[{"name": "f", "parameters": {"type": "object", "required": ["a"],
    "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}}]"#;

/// What is said over and over.
const FAMILIES: &[&str] = &[
    "<tool_call>",
    "<tool_call>\n",
    "<function=f>",
    "<function=",
    "<parameter=",
    "<function=f><parameter=a>",
    "</parameter>",
    "</parameter ",
    "</function>",
    "</tool_call>",
    "<invoke name=\"f\">",
    "<tool_call>f<arg_key>",
    "<f>",
    "<f><a>",
    "[TOOL_CALLS]",
    "[TOOL_CALLS]f[ARGS]",
    "[TOOL_CALLS] [{",
    "<|python_tag|>",
    "<|tool_call_begin|>functions.f:0",
    "<｜tool▁calls▁begin｜>",
    "<｜DSML｜invoke name=\"f\">",
    "<|channel|>commentary to=functions.f",
    "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}</tool_call>",
    "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"x\"y\"}</tool_call>",
    "[TOOL_CALLS]f[ARGS]{\"a\": \"x\"",
    "]<]minimax[>[<invoke name=\"f\">",
    "<|tool_call>call:f{",
    "<|tool_call>call:f{a:<|\"|>x<|\"|>,",
    "<|tool_call_start|>[f(a='x', ",
    "<|python_start|>[f(b=1, a=\"\"\"x",
    "```yaml\n- f:\n    a: x\n",
    "<use_mcp_tool><server_name>s</server_name>",
    "<|open|>call tool=\"f\"<|sep|>",
    "Action: f\nAction Input: ",
    ">>>f\n",
    "functools[",
    "to=f ",
    "<think>",
    "</think>",
    "<",
    "{",
    "{ ",
    "[",
    "(",
    "`",
    "```\n",
    "```json\n{",
    "f(",
    "f(a=",
    "f\n",
    "\"",
    "'",
    "\"f\", ",
    "{\"name\": \"f\", \"arguments\": ",
    "{\"a\": \"",
    "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"",
    "<tool_call>{\"name\": \"f\"}",
    "f(a='x') ",
    "[f(a='x')]\n",
    "x = ",
    "word ",
    "yaml<functioncall>",
    "tool_call_id<dots_function_call>",
    "</functions>{\"a\": \"x\"",
    "<|channel|>commentary to=functions.f <|message|>",
    "\": {\"tags\": [\"x\"], \"deep\"",
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n</tool_ca",
    "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"x\n</tool_call>\n",
    "\n</｜DSML｜tool_calls>\\u0022",
    "<|tool_call_start|>name",
    "</paramete\n",
];

/// Four times the text may take this much more, blocks that double in size included.
const LINEAR: f64 = 4.8;
/// What does not depend on the length.
const FREE: u64 = 1 << 16;

#[test]
fn hostile_answers_take_memory_in_proportion() {
    const LEN: usize = 2_000;
    let tools = ToolSet::from_json(TOOLS).unwrap();
    let mut wrong = Vec::new();
    for unit in FAMILIES {
        let whole = |len: usize| {
            measure(|| drop(parse(&tools, &unit.repeat(len / unit.len()), &[], &Context::default())))
        };
        let streamed = |len: usize| measure(|| feed(&tools, &unit.repeat(len / unit.len())));
        for (door, small, large) in
            [("whole", whole(LEN), whole(4 * LEN)), ("streamed", streamed(LEN), streamed(4 * LEN))]
        {
            wrong.extend(grown(&small, &large).map(|why| format!("{unit:?} {door}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A member that the schema does not declare makes the right reading dear, and the others are gone through to their ends.
#[test]
fn bare_quotes_are_repaired_in_a_text_of_any_length() {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    for lines in [1, 100, 10_000] {
        let code = r#"say("skipped", "group");\n"#.repeat(lines);
        let text = format!(
            r#"<tool_call>{{"name": "f", "arguments": {{"b": 1, "a": "{code}", "overwrite": true}}}}</tool_call>"#
        );
        let outcome = parse(&tools, &text, &[], &Context::default());
        assert_eq!(
            outcome.calls().count(),
            1,
            "{lines} lines: {:?}",
            outcome.refusals().next().map(|r| &r.reason)
        );
    }
}

/// S0-40: what an answer costs is bound to its length, however it has to be repaired; `benches/response.rs` says how long that is.
#[test]
fn answers_with_code_in_them_take_memory_in_proportion() {
    const LINES: usize = 64;
    let tools = ToolSet::from_json(TOOLS).unwrap();
    let code = |lines: usize, quote: &str, newline: &str| {
        let line = |n| {
            format!(
                "if total[{n}] < {n}.5 {{{newline}    say({quote}group {n} of them{quote});{newline}}}{newline}"
            )
        };
        (0..lines).map(line).collect::<String>()
    };
    let json = |lines| format!(r#"{{"a": "{}", "b": 1}}"#, code(lines, "\\\"", "\\n"));
    let bare = |lines| format!(r#"{{"a": "{}", "b": 1}}"#, code(lines, "\"", "\\n"));
    let tagged =
        |arguments: String| format!(r#"<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>"#);
    type Text<'t> = &'t dyn Fn(usize) -> String;
    let cases: [(&str, Text<'_>, bool); 8] = [
        ("prose", &|lines| code(lines, "'", "\n"), false),
        ("a fence", &|lines| format!("```rust\n{}```\n", code(lines, "\"", "\n")), false),
        ("JSON", &|lines| tagged(json(lines)), true),
        ("an expression", &|lines| format!("[f(a=\"{}\", b=1)]", code(lines, "\\\"", "\\n")), true),
        (
            "tags",
            &|lines| {
                let code = code(lines, "\"", "\n");
                format!(
                    "<tool_call>\n<function=f>\n<parameter=a>\n{code}\n</parameter>\n</function>\n</tool_call>"
                )
            },
            true,
        ),
        ("raw newlines", &|lines| tagged(json(lines).replace("\\n", "\n")), true),
        ("bare quotes", &|lines| tagged(bare(lines)), true),
        ("no last bracket", &|lines| tagged(json(lines).trim_end_matches('}').into()), true),
    ];
    let mut wrong = Vec::new();
    for (name, text, is_call) in cases {
        assert_eq!(
            parse(&tools, &text(LINES), &[], &Context::default()).calls().count(),
            usize::from(is_call),
            "{name}"
        );
        let read = |lines: usize| {
            let text = text(lines);
            measure(|| drop(parse(&tools, &text, &[], &Context::default())))
        };
        wrong.extend(grown(&read(LINES), &read(4 * LINES)).map(|why| format!("{name}: {why}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What grew more than the text did.
fn grown(small: &AllocationInfo, large: &AllocationInfo) -> Option<String> {
    let grows = |was: u64, is: u64, free: u64| LINEAR * (was.max(free) as f64) < is as f64;
    if grows(small.bytes_total, large.bytes_total, FREE) {
        return Some(format!("{} bytes become {}", small.bytes_total, large.bytes_total));
    }
    grows(small.count_total, large.count_total, 400)
        .then(|| format!("{} blocks become {}", small.count_total, large.count_total))
}

fn feed(tools: &ToolSet, text: &str) {
    let mut events = Vec::new();
    let mut scanner = Scanner::new(tools, &Context::default());
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.char_indices().nth(4).map_or(rest.len(), |(at, _)| at));
        scanner.feed(Delta::Text(piece), &mut events);
        events.clear();
        rest = behind;
    }
    scanner.finish();
}

/// An argument that grows takes no block for each piece of it.
#[test]
fn what_is_held_takes_no_block_for_each_piece() {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    for open in [
        "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"",
        "<tool_call><function=f><parameter=a>",
        "f(a='",
    ] {
        let mut scanner = Scanner::new(&tools, &Context::default());
        let mut events = Vec::new();
        scanner.feed(Delta::Text(open), &mut events);
        let taken = measure(|| {
            for _ in 0..10_000 {
                scanner.feed(Delta::Text("a < b"), &mut events);
            }
        });
        assert!(taken.count_total < 40, "{open}: {} blocks", taken.count_total);
    }
}

#[test]
fn a_long_call_behind_many_open_ones_is_read() {
    let tools =
        ToolSet::from_json(r#"[{"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}]"#)
            .unwrap();
    let open = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"x}}</tool_call>\n".repeat(4_000);
    let long = "a </tool_call>\\n <tool_call> of it. ".repeat(100);
    let call = format!("<tool_call>{{\"name\": \"f\", \"arguments\": {{\"a\": \"{long}\"}}}}</tool_call>");
    let outcome = parse(&tools, &format!("{open}{call}"), &[], &Context::default());
    let last = outcome.calls().last().map(|call| call.arguments.len());
    assert!(last.is_some_and(|len| long.len() < len), "{last:?}");
}
