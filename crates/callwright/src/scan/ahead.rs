//! Prose in which nothing can begin, passed over at once.
//!
//! Whatever is more than prose has one of a few bytes in it: a bracket, the angle of a tag, a quote, a backtick. In
//! goes a place, out comes the next stretch in which something may begin: where such a byte stands, with the word in
//! front of it; at the beginning of a line, where a word may begin a call; and at the end of the text so far, where a
//! word may be the name of one.

use super::lead::is_name_byte;
use crate::dialect;
use crate::name::MAX_NAME;

/// How much white space may stand between a name and its brace, or a recipient and its token.
const MAX_SPACE: usize = 64;
/// A marker with a blank between two words, as far as no byte of interest stands in it.
const TWO_WORDS: (&str, &str) = ("function", "call");
/// Words at the beginning of a line that something may begin with though a blank and a letter follow.
const BEGINNINGS: &[&str] = &[
    "function",
    "tool",
    "commentary",
    "analysis",
    "assistant",
    "assistantcommentary",
    "assistantanalysis",
    "return",
    "await",
    "let",
    "const",
    "var",
    "assert",
    "def",
];

/// A stretch to look at closely: every place of it, the last one included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The first stretch at or after `at` in which something may begin. Its start is the length of the text where there
/// is none.
pub(super) fn ahead(text: &str, at: usize) -> Stretch {
    let bytes = text.as_bytes();
    if at.checked_sub(1).is_none_or(|before| bytes.get(before) == Some(&b'\n')) {
        return Stretch { from: at, to: behind_blanks(bytes, at) };
    }
    for sign in Signs::new(bytes, at) {
        let Some(&byte) = bytes.get(sign) else { break };
        let is_mark = match byte {
            b'"' | b'\'' => may_quote_name(bytes, sign),
            b'(' => may_hold_arguments(bytes, sign),
            b']' => bytes.get(sign + 1).is_none_or(|next| *next == b'<'),
            b'>' => bytes.get(sign + 1).is_none_or(|next| *next == b'>'),
            b':' => ends_with(bytes, sign, "action"),
            b'\n' => {
                let line = behind_blanks(bytes, sign + 1);
                match bytes.get(line) {
                    // `get_weather⏎{"city": "Paris"}`: seen from the brace, or from the end.
                    None => {
                        return Stretch { from: word_before(bytes, bytes.len(), MAX_SPACE, at), to: line };
                    }
                    Some(b'{') => return Stretch { from: word_before(bytes, line, MAX_SPACE, at), to: line },
                    Some(_) if is_mere_word(bytes, line) => false,
                    Some(&first) if is_name_byte(first) || first == b'#' => {
                        return Stretch { from: line, to: line };
                    }
                    Some(_) => false,
                }
            }
            _ => true,
        };
        if is_mark {
            let space = if matches!(byte, b'{' | b'<') { MAX_SPACE } else { 0 };
            return Stretch { from: word_before(bytes, sign, space, at), to: sign };
        }
    }
    Stretch { from: word_before(bytes, bytes.len(), MAX_SPACE, at), to: bytes.len() }
}

/// May a name in quotes begin at `at`, `"f": {`, or a call, `'f(a=1)'`? Neither does in `it's` and `"a quotation"`.
fn may_quote_name(bytes: &[u8], at: usize) -> bool {
    let is_behind_name = at.checked_sub(1).and_then(|n| bytes.get(n)).is_some_and(|b| is_name_byte(*b));
    let rest = bytes.get(at + 1..).unwrap_or(&[]);
    let name = rest.iter().take(MAX_NAME + 1).take_while(|byte| is_name_byte(**byte)).count();
    !is_behind_name && rest.get(name).is_none_or(|byte| *byte == b'(' || *byte == bytes[at])
}

/// May the arguments of a call begin at `at`, `f(`, `"f"(`, or a call as a pair, `('f', {…})`? No `(note)` is one.
fn may_hold_arguments(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|n| bytes.get(n));
    let is_behind_name = before.is_none_or(|b| is_name_byte(*b) || matches!(b, b'"' | b'\'' | b']' | b'`'));
    let is_pair = || {
        let inside = bytes.get(at + 1..).unwrap_or(&[]);
        inside.iter().find(|b| !b.is_ascii_whitespace()).is_none_or(|b| matches!(b, b'"' | b'\''))
    };
    is_behind_name || is_pair()
}

/// Does a sentence go on at `at`, where a line begins: a word, one blank, and another word? A call's name has a bracket
/// behind it, a colon, a tag, or a word that names what follows: `f json{`, `f code`.
fn is_mere_word(bytes: &[u8], at: usize) -> bool {
    /// Longer words are looked at closely.
    const MAX_WORD: usize = 32;
    let line = bytes.get(at..).unwrap_or(&[]);
    let len = line.iter().take(MAX_WORD).take_while(|byte| is_name_byte(**byte)).count();
    let (word, behind) = line.split_at(len);
    let goes_on =
        matches!(behind, [b' ', next, ..] if next.is_ascii_alphabetic() && !matches!(next, b'j' | b'c'));
    let begins_like =
        |first: &u8| matches!(first | 0x20, b'a' | b'c' | b'd' | b'f' | b'l' | b'r' | b't' | b'v');
    let begins = || BEGINNINGS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    goes_on && word.first().is_some_and(|first| !begins_like(first) || !begins())
}

/// The place of the first byte that is not a blank, at `from` or behind it.
pub(super) fn behind_blanks(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or(&[]);
    from + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count()
}

/// The places of the bytes that prose has seldom.
struct Signs<'b> {
    bytes: &'b [u8],
    /// Where the block begins that is gone over.
    block: usize,
    /// A bit for each of its signs that are to come, the first one lowest.
    signs: u32,
}

/// As many bytes as are compared at once.
const BLOCK: usize = u32::BITS as usize;

impl<'b> Signs<'b> {
    /// Those at and behind `from`.
    fn new(bytes: &'b [u8], from: usize) -> Signs<'b> {
        let mut signs = Signs { bytes, block: from, signs: 0 };
        signs.seek();
        signs
    }

    /// Goes to the first block from here on that has signs; to the end where none has.
    fn seek(&mut self) {
        let (blocks, tail) = self.bytes.get(self.block..).unwrap_or(&[]).as_chunks::<BLOCK>();
        let is_quiet = |block: &&[u8; BLOCK]| block.iter().fold(0, |any, &byte| any | sign(byte)) == 0;
        let quiet = blocks.iter().take_while(is_quiet).count();
        self.block += BLOCK * quiet;
        self.signs = match blocks.get(quiet) {
            Some(block) => signs_of(block),
            None => tail.iter().rev().fold(0, |signs, &byte| signs << 1 | u32::from(sign(byte))),
        };
    }
}

impl Iterator for Signs<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.signs == 0 {
            self.block += BLOCK;
            self.seek();
        }
        let first = self.signs.trailing_zeros() as usize;
        self.signs &= self.signs.wrapping_sub(1);
        (first < BLOCK).then_some(self.block + first)
    }
}

/// A bit for each byte of the block that prose has seldom, the first one lowest.
fn signs_of(block: &[u8; BLOCK]) -> u32 {
    /// Brings the lowest bits of eight bytes together in the highest one.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut signs = [0; BLOCK];
    for (sign_of, byte) in signs.iter_mut().zip(block) {
        *sign_of = sign(*byte);
    }
    let (words, _) = signs.as_chunks();
    words.iter().rev().fold(0, |bits, word| {
        let gathered = u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56;
        bits << 8 | gathered as u32
    })
}

/// 1 for a byte that prose has seldom, 0 for all others. Without branches, so that many are compared at once.
#[inline(always)]
fn sign(byte: u8) -> u8 {
    let brackets = u8::from(byte | 0x20 == b'{') | u8::from(byte == b'(') | u8::from(byte == b']');
    let angles = u8::from(byte | 0x02 == b'>');
    let quotes = u8::from(byte == b'"') | u8::from(byte == b'\'') | u8::from(byte == b'`');
    brackets | angles | quotes | u8::from(byte == b':') | u8::from(byte == b'\n')
}

/// Where the word begins that stands in front of `sign`, with at most so much `space` between them, and may belong to
/// it; `sign` where there is none, and never before `least`.
fn word_before(bytes: &[u8], sign: usize, space: usize, least: usize) -> usize {
    let before = bytes.get(least..sign).unwrap_or(&[]);
    let space = before.iter().rev().take(space).take_while(|byte| byte.is_ascii_whitespace()).count();
    let end = before.len() - space;
    let len = |end: usize| {
        before
            .get(..end)
            .unwrap_or(&[])
            .iter()
            .rev()
            .take(MAX_NAME + 1)
            .take_while(|byte| is_name_byte(**byte))
            .count()
    };
    let word = len(end);
    let start = end - word;
    // `to=f<|channel|>`, `call:f{`
    if start != 0 && matches!(before.get(start - 1), Some(b'=' | b':')) {
        return least + start - 1 - len(start - 1);
    }
    // `function call<|role_sep|>`
    let (first, second) = TWO_WORDS;
    if word <= second.len()
        && dialect::starts_with_any_case(second.as_bytes(), before.get(start..end).unwrap_or(&[]))
        && start != 0
        && ends_with(before, start - 1, first)
    {
        return least + start - 1 - first.len();
    }
    if word == 0 { sign } else { least + start }
}

/// Does `word` end before `end`, whatever its case?
fn ends_with(bytes: &[u8], end: usize, word: &str) -> bool {
    end.checked_sub(word.len())
        .and_then(|from| bytes.get(from..end))
        .is_some_and(|b| b.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::Scanner;
    use super::super::prose::Found;
    use super::*;
    use crate::engine::Context;
    use crate::tools::ToolSet;

    /// What texts are made of: calls, what is nearly one, and what is none.
    const PIECES: &[&str] = &[
        "get_weather",
        "f",
        "f(a=1)",
        "print(f())",
        " ",
        "  ",
        "\n",
        "\n\n  ",
        "to=f",
        "to=",
        "function call",
        "function",
        " call",
        "<|role_sep|>",
        "<|channel|>",
        "{",
        "{\"name\": \"f\"}",
        "[",
        "functools[",
        "[ARGS]",
        "[TOOL_CALLS]",
        "Action: f\nAction Input: x",
        "Action:",
        "`",
        "```",
        "```json\n",
        "\"",
        "'",
        "it's ",
        "don't",
        "\"f\": {",
        "<",
        "<f>",
        "</f>",
        "<tool_call>",
        "<think>",
        ">>>f\n{",
        ">",
        "]<]minimax[>[",
        "]",
        ":",
        "# a",
        "x = f(",
        "return f(",
        "commentary to=f {",
        "call:f{",
        "f:0{",
        "f json{",
        "f<arg_key>",
        "f\\n<arg_key>",
        "user: x",
        "word",
        "\nThe next ",
        "\nf word ",
        "\nf json{",
        "\nf code",
        "\nassert x",
        "\ndef test_f",
        "\nanalysis to=f",
        "\nawait f(",
        "a longer sentence, with a comma. ",
        "é",
        "北京",
        "(",
        ")",
        ";",
        "=",
        ".",
        ",",
    ];

    /// Where a call or anything else but prose may begin, or may have begun when more has come, it is looked closely.
    #[test]
    fn nothing_begins_outside_of_a_stretch() {
        let tool_set = ToolSet::from_json(r#"[{"name": "f"}, {"name": "get_weather"}]"#).unwrap();
        let mut state = 5_u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        for _ in 0..3_000 {
            let text: String = (0..1 + below(9)).map(|_| PIECES[below(PIECES.len())]).collect();
            let mut is_near = vec![false; text.len() + 1];
            let mut at = 0;
            while at < text.len() {
                let stretch = ahead(&text, at);
                assert!(at <= stretch.from && stretch.from <= stretch.to, "{text:?} {at} {stretch:?}");
                is_near[stretch.from..=stretch.to.min(text.len())].fill(true);
                at = stretch.to + 1;
            }
            let mut scanner = Scanner::new(&tool_set, &Context::default());
            scanner.text = text.clone().into();
            for (at, c) in text.char_indices().filter(|(at, _)| !is_near[*at]) {
                let in_word = at != 0 && is_name_byte(text.as_bytes()[at - 1]);
                let begins = "[({`<".contains(c)
                    || !in_word && (is_name_byte(text.as_bytes()[at]) || "\"'".contains(c));
                let line_start = scanner.is_line_start(at);
                if begins {
                    let found = scanner.at_mark(at, line_start, false);
                    assert!(matches!(found, Found::Nothing), "{at} of {text:?}");
                }
            }
        }
    }
}
