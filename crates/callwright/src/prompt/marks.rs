//! Parts the marks by which models and their templates are steered, in other people's text.
//!
//! Text that nobody vouches for (a tool's result, a description) goes in; text in which no mark stands whole comes out:
//! a backslash parts each of them. Nothing is lost, [`restore`] gives the text back to the byte.

use std::borrow::Cow;

use callwright_json::quote;

use crate::syntax::marks::fit;

/// The beginnings of marks behind `<` or `</`, in lower case: tags and special tokens of all dialects and templates.
const TAGS: &[&str] = &[
    "|",
    "tool",
    "function",
    "parameter",
    "invoke",
    "arg_",
    "think",
    "thought",
    "reasoning",
    "start_of_",
    "end_of_",
    "begin_of_",
    "bos",
    "eos",
    "pad>",
    "unk>",
    "mask>",
    "sep>",
    "sop>",
    "cls>",
    "s>",
    "unused",
    "seed:",
    "minimax:",
    "mm:",
    "<sys",
    "</sys",
    "]minimax",
    "longcat_",
    "dots_",
    "iquest_",
    "ifm|",
    "atem:",
    "steptml:",
    "rfl:",
    "call ",
    "escape>",
    "start_function",
    "end_function",
    "available_tools",
    "special_",
    "channel|",
    "turn|",
    "result",
    "response",
    "observation",
    "stdout",
    "fn_call",
    "api_call",
    "execute_tool",
];
/// The beginnings of marks behind `[` or `[/`, in lower case.
const BRACKETS: &[&str] = &[
    "inst]",
    "tool_",
    "end_tool_",
    "unused",
    "available_tools]",
    "system_prompt]",
    "think]",
    "args]",
    "call_id]",
    "gmask]",
    "sys]",
    "e~[",
];
/// The beginnings of marks without a bracket in front, each with the place of its backslash.
const BARE: &[(&str, usize)] = &[
    // `functools[{…}]`
    ("functools[", 9),
    // `>>>f⏎{…}`; a prompt of Python's has a blank there
    (">>>", 2),
    // `]~b]user`, `]~!b[`
    ("]~", 1),
    ("```tool_", 3),
    // `Action: f⏎Action Input: {…}`
    ("action input:", 6),
    // `Tool name: f⏎Tool input: {…}`
    ("tool name:", 4),
    ("tool call:", 4),
    ("function name:", 8),
    // `✿FUNCTION✿: f⏎✿ARGS✿: {…}⏎✿RESULT✿: `
    ("✿function✿", 3),
    ("✿args✿", 3),
    ("✿result✿", 3),
    ("✿return✿", 3),
    // `-> tool/function_call⏎[{…}]`
    ("-> tool/function_call", 2),
];
/// The words that begin a turn in templates of plain text, at the start of a line, with a colon behind them.
const SPEAKERS: &[&str] = &[
    "user",
    "human",
    "assistant",
    "system",
    "model",
    "observation",
    "question",
    "tool",
    "function",
    "ai",
    "bot",
];
/// The headings that begin a turn behind `### `.
const HEADINGS: &[&str] =
    &["instruction", "question", "user", "human", "input", "response", "assistant", "system"];

/// Returns `text` without marks: `<|im_end|>` → `<\|im_end|>`, `[INST]` → `[\INST]`, `User:` → `User\:` at the start of
/// a line.
pub fn neutralise(text: &str) -> Cow<'_, str> {
    rewrite(Cow::Borrowed(text), mark, Backslash::Put)
}

/// Returns the text that [`neutralise`] was given.
pub fn restore(text: &str) -> Cow<'_, str> {
    restored(Cow::Borrowed(text))
}

pub(super) fn restored(text: Cow<'_, str>) -> Cow<'_, str> {
    rewrite(text, mark, Backslash::Taken)
}

/// Returns text without line breaks and control characters.
pub(super) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the name as far as it can stand in a tag or a label.
pub(super) fn tag_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')).collect()
}

/// Returns the same JSON without marks: `<` and the bracket of a mark are escaped.
pub(super) fn in_json(json: &str) -> String {
    in_python(&json.replace('<', "\\u003c"))
}

/// Returns `text` as a string of JSON in which no mark stands.
pub(super) fn quoted(text: &str) -> String {
    in_json(&quote(text))
}

/// Returns the same literal of a Python string without marks. One character of each is escaped: its bracket, or the
/// first one behind the place that parts it.
pub(super) fn in_python(literal: &str) -> String {
    escaped(literal, |at, byte| {
        let head = mark(literal, at, false)?;
        Some(if matches!(byte, b'<' | b'[') { at } else { head })
    })
}

/// Returns `literal` with an escape for the character at each place that `place` returns, once for each byte.
pub(super) fn escaped(literal: &str, mut place: impl FnMut(usize, u8) -> Option<usize>) -> String {
    let mut out = String::with_capacity(literal.len());
    let mut from = 0;
    for (at, byte) in literal.bytes().enumerate() {
        let Some(place) = place(at, byte).filter(|place| from <= *place) else { continue };
        // A backslash parts it already.
        let c = literal.get(place..).and_then(|rest| rest.chars().next()).filter(|c| *c != '\\');
        let Some(c) = c else { continue };
        out.push_str(&literal[from..place]);
        out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        from = place + c.len_utf8();
    }
    out.push_str(&literal[from..]);
    out
}

/// The change to the backslash behind the head of a mark.
#[derive(Clone, Copy)]
pub(super) enum Backslash {
    /// A backslash goes in, and parts the mark.
    Put,
    /// The backslash that went in is taken away.
    Taken,
}

/// Rewrites the text from mark to mark. `mark` gets the text, a place and whether a line begins there, and returns the
/// end of a mark's head.
pub(super) fn rewrite<'t>(
    text: Cow<'t, str>,
    mark: impl Fn(&str, usize, bool) -> Option<usize>,
    backslash: Backslash,
) -> Cow<'t, str> {
    let mut out = String::new();
    let mut from = 0;
    let mut line_start = true;
    for (at, byte) in text.bytes().enumerate() {
        if from <= at
            && let Some(head) = mark(&text, at, line_start)
        {
            out.push_str(&text[from..head]);
            from = match backslash {
                Backslash::Put => {
                    out.push('\\');
                    head
                }
                Backslash::Taken => head + usize::from(text.as_bytes().get(head) == Some(&b'\\')),
            };
        }
        line_start = matches!(byte, b'\n' | b'\r') || line_start && matches!(byte, b' ' | b'\t');
    }
    if from == 0 {
        return text;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Returns the end of the head of the mark at `at`: the place at which backslashes part it from its rest, or may.
fn mark(text: &str, at: usize, line_start: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = *bytes.get(at)?;
    let has_bracket = |starts| {
        let rest = unparted(bytes, at + 1);
        begins(rest.strip_prefix(b"/").unwrap_or(rest), starts).then_some(at + 1)
    };
    match first {
        b'<' => has_bracket(TAGS),
        b'[' => has_bracket(BRACKETS),
        b'#' if line_start => {
            let rest = bytes.get(at..)?.starts_with(b"###").then(|| unparted(bytes, at + 3))?;
            rest.strip_prefix(b" ").is_some_and(|rest| begins(rest, HEADINGS)).then_some(at + 3)
        }
        b'>' | b']' | b'`' | b'-' | 0xE2 => bare(bytes, at),
        b'A' | b'a' | b'F' | b'f' | b'T' | b't' => {
            bare(bytes, at).or_else(|| line_start.then(|| turn(bytes, at)).flatten())
        }
        b'B'..=b'Z' if line_start => turn(bytes, at),
        _ => None,
    }
}

/// Returns the bytes at `at`, or behind the backslashes there.
fn unparted(bytes: &[u8], at: usize) -> &[u8] {
    let rest = bytes.get(at..).unwrap_or(&[]);
    rest.get(rest.iter().take_while(|&&byte| byte == b'\\').count()..).unwrap_or(&[])
}

/// Returns whether `rest` begins with one of `starts`, in any case of the letters and width of the bars.
fn begins(rest: &[u8], starts: &[&str]) -> bool {
    starts.iter().any(|start| matches!(fit(rest, start), Ok(Some(_))))
}

fn bare(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let parted = |(mark, head): &(&str, usize)| {
        let (start, end) = mark.split_at_checked(*head)?;
        (begins(rest, &[start]) && begins(unparted(bytes, at + head), &[end])).then_some(at + head)
    };
    let head = BARE.iter().find_map(parted)?;
    // A name stands behind the arrows, or there is no call.
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    (!rest.starts_with(b">") || unparted(bytes, head).get(1).is_some_and(is_name)).then_some(head)
}

/// Returns the end of the word that begins a turn, or that announces calls: ``Action: ```json``.
fn turn(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let word = rest.iter().take(16).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let behind = unparted(bytes, at + word).strip_prefix(b":")?;
    let is = |known: &&str| rest.get(..word).is_some_and(|word| word.eq_ignore_ascii_case(known.as_bytes()));
    // A word in lower case is a key of YAML more often than a turn.
    let is_speaker = rest.first().is_some_and(u8::is_ascii_uppercase) && SPEAKERS.iter().any(is);
    let calls = behind.iter().find(|byte| !byte.is_ascii_whitespace());
    let is_action = is(&"action") && calls.is_some_and(|byte| matches!(byte, b'`' | b'[' | b'{'));
    (is_speaker || is_action).then_some(at + word)
}
