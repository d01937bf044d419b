//! The cost of one call in each form, right and repaired, with few tools and many, with code in its value and with prose; and of
//! answers that say one piece of a call over and over, at two lengths.
//!
//! Prints a line for each case and reads that case's text once within `measured`, between whose start and end callgrind
//! counts: `cargo xtask cost` runs this program under it and compares the cases.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the house's own commands")]

use std::hint::black_box;

use callwright::value::Value;
use callwright::{Context, NativeCall, ToolSet, parse};

/// A value that is full of the signs that marks are made of.
const CODE: &str = "fn f<T: Ord>(v: &Vec<T>) -> Option<&T> {\n    if a < b && c > d { return None; }\n    \
    let x = v.iter().filter(|e| e.n <= 4).max();\n    x // &x <b>x</b> <a href=\"/y\">\n}";
/// A value as long without any.
const PROSE: &str = "The quick brown fox jumps over the lazy dog and then goes on to the next\n field, where it \
    rests for a while before it runs home in the late evening, as it does\n on all days but one of the seven.";

const NAME: &str = "tool_0";
/// What stands around a value, and the same with one slip.
type Form = (&'static str, fn(&str) -> String, (&'static str, &'static str));

const FORMS: [Form; 6] = [
    (
        "hermes",
        |value| {
            let value = Value::from(value);
            format!(
                "<tool_call>\n{{\"name\": \"{NAME}\", \"arguments\": {{\"content\": {value}}}}}\n</tool_call>"
            )
        },
        ("}}\n", ",}}\n"),
    ),
    (
        "qwen3_coder",
        |value| {
            format!(
                "<tool_call>\n<function={NAME}>\n<parameter=content>\n{value}\n</parameter>\n</function>\n</tool_call>"
            )
        },
        ("</function>", "</functin>"),
    ),
    (
        "glm45",
        |value| {
            format!(
                "<tool_call>{NAME}\n<arg_key>content</arg_key>\n<arg_value>{value}</arg_value>\n</tool_call>"
            )
        },
        ("</arg_key>", "</arg_kye>"),
    ),
    (
        "anthropic",
        |value| {
            format!(
                "<function_calls>\n<invoke name=\"{NAME}\">\n<parameter name=\"content\">{value}</parameter>\n\
                 </invoke>\n</function_calls>"
            )
        },
        ("</invoke>", "</invok>"),
    ),
    (
        "dsml",
        |value| {
            format!(
                "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"{NAME}\">\n<｜DSML｜parameter name=\"content\" \
                 string=\"true\">{value}</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"
            )
        },
        ("</｜DSML｜invoke>", "</｜DSML｜invok>"),
    ),
    ("native", |value| format!("{{\"content\": {}}}", Value::from(value)), ("\"}", "\",}")),
];

/// What is said first, and then over and over: those that take longest, of some thousand that were tried.
const HOSTILE: [(&str, &str, &str); 10] = [
    ("channel", "", "<|channel|>commentary to=functions.tool_0 <|message|>"),
    ("torn_in_value", "<tool_call>\n<function=tool_0>\n<parameter=content>\n", "</paramete\n"),
    (
        "open_string",
        "",
        "<tool_call>\n{\"name\": \"tool_0\", \"arguments\": {\"content\": \"a\n</tool_call>\n",
    ),
    ("open_key", "", "{\"content\": \""),
    ("half_objects", "", "\": {\"tags\": [\"x\"], \"deep\""),
    ("torn_closer", "", "<tool_call>tool_0\n<arg_key>content</arg_key>\n<arg_value>a</arg_value>\n</tool_ca"),
    ("words_in_marks", "", "yaml<functioncall>"),
    ("calls", "", "tool_0(content='x') "),
    ("names", "", "tool_0\n"),
    ("fences", "", "```\n"),
];

fn main() {
    let sets = [1, 10, 100].map(|count| (count, tools(count)));
    for (form, write, (right, slip)) in FORMS {
        for (content, value) in [("code", CODE), ("prose", PROSE)] {
            for (state, text) in
                [("right", write(value)), ("repaired", write(value).replacen(right, slip, 1))]
            {
                for (count, tools) in &sets {
                    let text = text.as_str();
                    let read = || read(tools, text, form == "native");
                    assert_eq!(read(), 1, "{form} {content} {state} {count}: {text}");
                    println!("{form} {content} {state} {count} {}", text.len());
                    measured(&|| {
                        black_box(read());
                    });
                }
            }
        }
    }
    let [_, (_, tools), _] = &sets;
    for (name, head, unit) in HOSTILE {
        for len in [1 << 15, 1 << 19] {
            let text = format!("{head}{}", unit.repeat(len / unit.len()));
            println!("hostile {name} {}", text.len());
            measured(&|| {
                black_box(read(tools, &text, false));
            });
        }
    }
}

/// Callgrind counts what happens in here.
#[inline(never)]
fn measured(read: &dyn Fn()) {
    read();
}

/// Returns how many calls of `text` are accepted.
fn read(tools: &ToolSet, text: &str, is_native: bool) -> usize {
    let native = [NativeCall { id: Some("call_0"), name: NAME, arguments: text }];
    let (text, native) = if is_native { ("", &native[..]) } else { (text, &[][..]) };
    let context = Context { finish_reason: Some("stop"), native: is_native, ..Context::default() };
    parse(tools, text, native, &context).calls().count()
}

/// Tools of ten keys each, whose names and keys differ by a letter or two.
fn tools(count: usize) -> ToolSet {
    let tool = |n: usize| {
        let keys = (0..9).map(|key| format!("\"key_{n}_{key}\": {{\"type\": \"string\"}}, "));
        let keys: String = keys.collect();
        format!(
            "{{\"name\": \"tool_{n}\", \"parameters\": {{\"type\": \"object\", \"required\": [\"content\"], \
             \"properties\": {{{keys}\"content\": {{\"type\": \"string\"}}}}}}}}"
        )
    };
    let tools: Vec<String> = (0..count).map(tool).collect();
    ToolSet::from_json(&format!("[{}]", tools.join(", "))).unwrap()
}
