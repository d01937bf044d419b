//! The marks by which models and their templates are steered, taken apart where other people's text holds them.
//!
//! In goes text that nobody vouches for (a tool's result, a description); out comes text in which no mark stands
//! whole: a backslash parts each of them. Nothing is lost, [`restore`] gives the text back to the byte.

use std::borrow::Cow;

/// What begins a mark behind `<` or `</`, in lower case: tags and special tokens of all dialects and templates.
const TAGS: &[&str] = &[
    "|",
    "｜",
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
    "<sys",
    "</sys",
];
/// What begins a mark behind `[` or `[/`, in lower case.
const BRACKETS: &[&str] = &[
    "inst]",
    "tool_",
    "available_tools]",
    "system_prompt]",
    "think]",
    "args]",
    "call_id]",
    "gmask]",
    "sys]",
];
/// The words that begin a turn in templates of plain text: at the start of a line, with a colon behind them.
const SPEAKERS: &[&str] =
    &["user", "human", "assistant", "system", "model", "observation", "question", "tool", "ai", "bot"];
/// The headings that do so behind `### `.
const HEADINGS: &[&str] =
    &["instruction", "question", "user", "human", "input", "response", "assistant", "system"];

/// `text` without marks: `<|im_end|>` → `<\|im_end|>`, `[INST]` → `[\INST]`, `User:` → `User\:` at the start of a line.
pub fn neutralise(text: &str) -> Cow<'_, str> {
    rewrite(text, |head, _| (head, Some('\\')))
}

/// The text that [`neutralise`] was given.
pub fn restore(text: &str) -> Cow<'_, str> {
    rewrite(text, |head, parted| if parted { (head + 1, None) } else { (head, None) })
}

/// Text without line breaks and control characters.
pub(super) fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The name as far as it can stand in a tag or a label.
pub(super) fn tag_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')).collect()
}

/// JSON without marks: `<` and the bracket of a mark are escaped. It says the same.
pub(super) fn in_json(json: &str) -> String {
    escape(&json.replace('<', "\\u003c"))
}

/// The literal of a Python string without marks. It says the same.
pub(super) fn in_python(literal: &str) -> String {
    let mut out = String::with_capacity(literal.len());
    let mut from = 0;
    for (at, _) in literal.match_indices('<').filter(|(at, _)| mark(literal, *at, false).is_some()) {
        out.push_str(&literal[from..at]);
        out.push_str("\\u003c");
        from = at + 1;
    }
    out.push_str(&literal[from..]);
    escape(&out)
}

/// Escapes the bracket of each mark in `text`, which can only stand in a string.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in text.match_indices('[').filter(|(at, _)| mark(text, *at, false).is_some()) {
        out.push_str(&text[from..at]);
        out.push_str("\\u005b");
        from = at + 1;
    }
    out.push_str(&text[from..]);
    out
}

/// Goes from mark to mark. `edit` is told where a mark's head ends, and whether a backslash follows it; it says
/// what to put there, and from where on to copy.
fn rewrite(text: &str, edit: impl Fn(usize, bool) -> (usize, Option<char>)) -> Cow<'_, str> {
    let mut out = String::new();
    let mut from = 0;
    let mut line_start = true;
    for (at, byte) in text.bytes().enumerate() {
        let may_begin = matches!(byte, b'<' | b'[') || line_start;
        if may_begin && let Some(head) = mark(text, at, line_start) {
            out.push_str(&text[from..head]);
            let parted = text.as_bytes().get(head) == Some(&b'\\');
            let (next, put) = edit(head, parted);
            out.extend(put);
            from = next;
        }
        line_start = matches!(byte, b'\n' | b'\r');
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// The end of the head of the mark at `at`: where backslashes part it from its rest, or may.
fn mark(text: &str, at: usize, line_start: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = *bytes.get(at)?;
    let behind = |head: usize| {
        let rest = bytes.get(head..).unwrap_or(&[]);
        rest.get(rest.iter().take_while(|&&b| b == b'\\').count()..).unwrap_or(&[])
    };
    let begins = |rest: &[u8], starts: &[&str]| {
        starts.iter().any(|s| rest.get(..s.len()).is_some_and(|r| r.eq_ignore_ascii_case(s.as_bytes())))
    };
    match first {
        b'<' | b'[' => {
            let rest = behind(at + 1);
            let starts = if first == b'<' { TAGS } else { BRACKETS };
            let is_mark = begins(rest, starts) || rest.strip_prefix(b"/").is_some_and(|r| begins(r, starts));
            is_mark.then_some(at + 1)
        }
        b'#' if line_start => {
            let rest = bytes.get(at..)?.starts_with(b"###").then(|| behind(at + 3))?;
            rest.strip_prefix(b" ").is_some_and(|r| begins(r, HEADINGS)).then_some(at + 3)
        }
        // In lower case it is a key of YAML more often than a turn.
        b'A'..=b'Z' if line_start => {
            let rest = bytes.get(at..)?;
            let word = rest.iter().take(16).take_while(|b| b.is_ascii_alphabetic()).count();
            let is_speaker = SPEAKERS.iter().any(|s| s.len() == word) && begins(rest, SPEAKERS);
            let known = || SPEAKERS.iter().any(|s| rest[..word].eq_ignore_ascii_case(s.as_bytes()));
            (is_speaker && known() && behind(at + word).starts_with(b":")).then_some(at + word)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MARKS: &[&str] = &[
        "<|im_start|>",
        "<|im_end|>",
        "<tool_call>",
        "</tool_call>",
        "<tool_response>",
        "</function_result>",
        "<function=f>",
        "[TOOL_CALLS]",
        "[/INST]",
        "<<SYS>>",
        "<</SYS>>",
        "<start_of_turn>",
        "<end_of_turn>",
        "<｜tool▁calls▁begin｜>",
        "<think>",
        "</s>",
        "User:",
        "ASSISTANT:",
        "### Instruction",
    ];

    /// P12: no mark of a dialect or template survives in a text from outside.
    #[test]
    fn marks_are_parted_and_nothing_else_is_touched() {
        for mark in MARKS {
            let parted = neutralise(mark);
            assert!(!parted.contains(mark), "{parted}");
            assert_eq!(parted.len(), mark.len() + 1, "{parted}");
            assert_eq!(restore(&parted), *mark);
            let json = in_json(&serde_json::Value::from(format!("\n{mark}")).to_string());
            let is_tag = mark.starts_with(['<', '[']);
            assert!(!is_tag || !json.contains(mark), "{json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), format!("\n{mark}"));
        }
        for plain in
            ["a < b", "<div class=\"x\">", "[1, 2]", "user: bob", "The User: bob", "# Input", "a\\b", ""]
        {
            assert!(matches!(neutralise(plain), Cow::Borrowed(text) if text == plain), "{plain}");
            assert!(matches!(restore(plain), Cow::Borrowed(text) if text == plain), "{plain}");
        }
        assert_eq!(in_python("\"<tool_call> <b> [INST]\""), "\"\\u003ctool_call> <b> \\u005bINST]\"");
    }

    proptest! {
        /// P12: what was parted can be joined again, whatever the text held before.
        #[test]
        fn parting_loses_nothing(
            pieces in proptest::collection::vec(
                prop_oneof![
                    proptest::sample::select(MARKS).prop_map(str::to_owned),
                    proptest::sample::select(&["<", "[", "\\", "/", "|", "\n", "\r", "User", ":", "###", " ", "<sys>"][..])
                        .prop_map(str::to_owned),
                    ".{0,3}",
                ],
                0..12,
            )
        ) {
            let text = pieces.concat();
            let parted = neutralise(&text).into_owned();
            for mark in MARKS.iter().filter(|mark| mark.starts_with(['<', '['])) {
                prop_assert!(!parted.contains(mark), "{parted:?}");
            }
            prop_assert_eq!(restore(&parted), text.as_str());
            // Parted twice, it is joined by joining twice.
            let twice = neutralise(&parted);
            prop_assert_eq!(restore(&twice), parted.as_str());
        }
    }
}
