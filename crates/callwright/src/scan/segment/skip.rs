//! Passes at once over prose in which nothing can begin.
//!
//! Anything that is more than prose has one of a few bytes in it: a bracket, the angle of a tag, a quote, a backtick. A
//! place goes in, and the next stretch in which something may begin comes out: such a byte, with the word in front of
//! it; the beginning of a line, where a word may begin a call; and the end of the text so far, where a word may be the
//! name of one.

use super::line::{behind_blanks, ends_in_word, is_line_start};
use crate::dialect::{self, First, TURNS, agrees};
use crate::syntax;
use crate::tools::names::{MAX_NAME, is_name_byte};

/// Longest whitespace between a name and its brace, or a recipient and its token, in bytes.
const MAX_SPACE: usize = 64;
/// The first byte of marks outside ASCII.
pub(super) const FOREIGN: u8 = dialect::FOREIGN.as_bytes()[0];

/// A stretch of places at which something may begin, the last one included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Returns the first stretch at or behind `at` in which something may begin. Without a sign, that is the word at the
/// end of the text, or the end itself. The words are those of the dialects, `first`.
pub(super) fn next_candidate(text: &str, at: usize, first: &First) -> Candidate {
    let bytes = text.as_bytes();
    if at.checked_sub(1).is_none_or(|before| bytes.get(before) == Some(&b'\n')) {
        let line = behind_blanks(text, at);
        // A search that stops at a line and one that goes beyond it skip the same sentences.
        if at == 0 || !is_sentence(bytes, line) {
            return Candidate { from: at, to: line };
        }
    }
    let word_before = |sign, space| word_before(text, sign, space, at, first);
    for sign in Signs::new(bytes, at) {
        let Some(&byte) = bytes.get(sign) else { break };
        let is_mark = match byte {
            b'"' | b'\'' => may_quote_name(text, sign),
            b'(' => may_hold_arguments(bytes, sign),
            FOREIGN => agrees(&bytes[sign..], dialect::FOREIGN),
            b']' => bytes.get(sign + 1).is_none_or(|next| *next == b'<'),
            b'>' => bytes.get(sign + 1).is_none_or(|next| *next == b'>'),
            b':' => first.ends_in_label(&bytes[..sign]),
            b'#' | b'&' | b'*' | 0x08 => false,
            b'\n' => {
                let line = behind_blanks(text, sign + 1);
                match bytes.get(line) {
                    // `get_weather⏎{"city": "Paris"}` is found from the brace, or from the end.
                    None => return Candidate { from: word_before(bytes.len(), MAX_SPACE), to: line },
                    Some(b'{' | b'`' | b';' | b'&') => {
                        return Candidate { from: word_before(line, MAX_SPACE), to: line };
                    }
                    Some(&byte) if begins_word_or_label(bytes, line, byte, first) => {
                        return Candidate { from: line, to: line };
                    }
                    Some(_) => false,
                }
            }
            _ => true,
        };
        if is_mark {
            let space = if matches!(byte, b'{' | b'<') { MAX_SPACE } else { 0 };
            return Candidate { from: word_before(sign, space), to: sign };
        }
    }
    Candidate { from: word_before(bytes.len(), MAX_SPACE), to: bytes.len() }
}

/// Returns whether the line at `at`, which begins with `byte`, may begin with the word of a call, a label, or another's
/// turn: `**Action:** f`, `### User:`, but no sentence and no other heading.
fn begins_word_or_label(bytes: &[u8], at: usize, byte: u8, first: &First) -> bool {
    match byte {
        b'#' if TURNS.iter().any(|turn| agrees(&bytes[at..], turn)) => true,
        b'*' | b'#' => may_be_label(bytes, at, first),
        _ => is_name_byte(byte) && !is_sentence(bytes, at),
    }
}

/// Returns whether a name in quotes, `"f", {`, or a call in quotes, `'f(a=1)'`, may begin at `at`. Neither begins in
/// `it's`, `"a quotation"` and `a "word" of it`.
fn may_quote_name(text: &str, at: usize) -> bool {
    if text.get(..at).is_none_or(ends_in_word) {
        return false;
    }
    let bytes = text.as_bytes();
    // At the start of a line, a turn may begin that is not the model's: `"""`.
    let Some(behind) = behind_name(bytes, at + 1).filter(|_| !is_line_start(text, at)) else { return true };
    match behind {
        [b'(', ..] => true,
        [quote, behind @ ..] if *quote == bytes[at] => match behind {
            [] | [_] | [b'(', ..] => true,
            _ => match without_space(behind) {
                [b',', behind @ ..] => matches!(without_space(behind), [] | [b'{' | b'"' | b'\'', ..]),
                rest => rest.is_empty(),
            },
        },
        rest => rest.is_empty(),
    }
}

/// Returns the bytes behind the name that begins at `from`; `None` if it is longer than names are.
fn behind_name(bytes: &[u8], from: usize) -> Option<&[u8]> {
    let rest = bytes.get(from..).unwrap_or(&[]);
    let name = rest.iter().take(MAX_NAME + 1).take_while(|byte| is_name_byte(**byte)).count();
    rest.get(name..).filter(|_| name <= MAX_NAME)
}

/// Returns `bytes` behind the blanks and line breaks that may stand between a name and its arguments.
fn without_space(bytes: &[u8]) -> &[u8] {
    let space = bytes.iter().take(MAX_SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
    bytes.get(space..).unwrap_or(&[])
}

/// Returns whether the arguments of a call, `f(`, `"f"(`, or a call that is a pair, `('f', {…})`, may begin at `at`.
/// `(note)` is neither.
fn may_hold_arguments(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|n| bytes.get(n));
    let is_behind_name = before.is_none_or(|b| is_name_byte(*b) || matches!(b, b'"' | b'\'' | b']' | b'`'));
    let is_pair = || {
        let inside = bytes.get(at + 1..).unwrap_or(&[]);
        inside.iter().find(|b| !b.is_ascii_whitespace()).is_none_or(|b| matches!(b, b'"' | b'\''))
    };
    is_behind_name || is_pair()
}

/// Most markup in front of a label, in bytes: `### **`.
const MAX_MARKUP: usize = 8;

/// Returns the length of the Markdown at the beginning of `bytes`: `**`, `### `.
pub(in crate::scan) fn markup_len(bytes: &[u8]) -> usize {
    bytes.iter().take(MAX_MARKUP).take_while(|byte| matches!(byte, b'*' | b'_' | b'#' | b' ')).count()
}

/// Returns whether the line at `at`, which begins with markup, may be one like `**Action:** f`.
pub(super) fn may_be_label(bytes: &[u8], at: usize, first: &First) -> bool {
    let line = bytes.get(at..).unwrap_or(&[]);
    first.may_be_label(line.get(markup_len(line)..).unwrap_or(&[]))
}

/// Returns whether a sentence begins at `at`, the start of a line: two words with one blank behind each, unless another
/// turn begins with them.
pub(super) fn is_sentence(bytes: &[u8], at: usize) -> bool {
    let line = bytes.get(at..).unwrap_or(&[]);
    let behind_word = |from: usize| {
        let word = line.get(from..)?.iter().take_while(|byte| is_name_byte(**byte) || **byte == b',').count();
        (word != 0 && line.get(from + word) == Some(&b' ')).then_some(from + word + 1)
    };
    let first = line.first().map(u8::to_ascii_lowercase);
    let begins = |mark: &&str| mark.bytes().next() == first && syntax::starts_with_any_case(line, mark);
    behind_word(0).and_then(behind_word).is_some() && !TURNS.iter().any(begins)
}

/// The places of the bytes that are rare in prose.
struct Signs<'b> {
    bytes: &'b [u8],
    /// The beginning of the current block.
    block: usize,
    /// A bit for each sign of the block that is still to come, the first one lowest.
    signs: u32,
}

/// Number of bytes that are compared at once.
const BLOCK: usize = u32::BITS as usize;

impl<'b> Signs<'b> {
    /// Returns the signs at and behind `from`.
    fn new(bytes: &'b [u8], from: usize) -> Signs<'b> {
        let mut signs = Signs { bytes, block: from, signs: 0 };
        signs.seek();
        signs
    }

    /// Goes to the first block from here on that has signs; to the end if none has any.
    fn seek(&mut self) {
        let (blocks, tail) = self.bytes.get(self.block..).unwrap_or(&[]).as_chunks::<BLOCK>();
        for block in blocks {
            let signs = signs_of(block);
            if signs != [0; BLOCK] {
                self.signs = gathered(&signs);
                return;
            }
            self.block += BLOCK;
        }
        self.signs = tail.iter().rev().fold(0, |signs, &byte| signs << 1 | u32::from(sign(byte)));
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

/// Returns the [`sign`] of each byte.
#[inline(always)]
fn signs_of(block: &[u8; BLOCK]) -> [u8; BLOCK] {
    let mut signs = *block;
    for byte in &mut signs {
        *byte = sign(*byte);
    }
    signs
}

/// Returns a bit for each of `signs`, the first one lowest.
fn gathered(signs: &[u8; BLOCK]) -> u32 {
    /// Brings the lowest bits of eight bytes together in the highest one.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let eights = signs.as_chunks().0.iter().map(|eight| u64::from_le_bytes(*eight));
    eights.rev().fold(0, |bits, eight| bits << 8 | (eight.wrapping_mul(GATHER) >> 56) as u32)
}

/// Returns 1 for a byte that is rare in prose, 0 for all others. It has no branches, so that many bytes are compared at
/// once; a comparison that takes in a rare neighbour, too, saves one.
#[inline(always)]
fn sign(byte: u8) -> u8 {
    let brackets = u8::from(byte | 0x20 == b'{') | u8::from(byte == b']');
    let angles = u8::from(byte | 0x02 == b'>');
    // `"`, `#`, `&`, `'`
    let quotes = u8::from(byte | 0x05 == b'\'') | u8::from(byte == b'`');
    // `(`, `*`, a line break, a backspace
    let breaks = u8::from(byte & !0x22 == b'\n' & !0x22);
    brackets | angles | quotes | breaks | u8::from(byte == b':') | u8::from(byte == FOREIGN)
}

/// Returns the beginning of the word in front of `sign` that may belong to it, with at most `space` bytes of whitespace
/// between them. Without such a word, that is `sign` itself. It is never before `least`.
fn word_before(text: &str, sign: usize, space: usize, least: usize, first: &First) -> usize {
    let before = text.get(least..sign).unwrap_or("");
    let space = before.bytes().rev().take(space).take_while(u8::is_ascii_whitespace).count();
    let before = &before[..before.len() - space];
    let word = name_before(before);
    let (front, last) = before.split_at(word);
    let is_behind_blank = front.ends_with(' ');
    // `call:f json{`
    let mut start =
        if is_behind_blank && first.is_of_header(last) { name_before(&front[..word - 1]) } else { word };
    // `to=f<|channel|>`, `call:f:0{`
    while before.len() - start <= MAX_NAME && before[..start].ends_with(['=', ':']) {
        start = name_before(&before[..start - 1]);
    }
    if start < word {
        return least + start;
    }
    // `function call<|role_sep|>`
    let words = if is_behind_blank { first.words_before(before.as_bytes()) } else { None };
    match words {
        Some(len) => least + before.len() - len,
        None if last.is_empty() => sign,
        None => least + word,
    }
}

/// Returns the beginning of the name at the end of `text`.
fn name_before(text: &str) -> usize {
    let is_of_name = |c: &char| !c.is_ascii() || is_name_byte(*c as u8);
    let name = text.chars().rev().take(MAX_NAME + 1).take_while(is_of_name);
    text.len() - name.map(char::len_utf8).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::dialect::{Dialects, marks_of_all};
    use crate::engine::parse;
    use crate::scan::Scanner;
    use crate::syntax::Text;
    use crate::tools::ToolSet;

    /// Pieces of the texts, with `¦` between: calls, text that is nearly a call, and other text.
    const PIECES: &str = "get_weather¦f¦f(a=1)¦print(f())¦ ¦  ¦\n¦\n\n  ¦to=f¦to=¦function call¦function¦ call¦<|role_sep|>¦\
        <|channel|>¦{¦{\"name\": \"f\"}¦[¦functools[¦[ARGS]¦[TOOL_CALLS]¦Action: f\nAction Input: x¦Action:¦\
        `¦```¦```json\n¦\"¦'¦it's ¦don't¦\"f\": {¦\"f\" is¦\"f\", {¦\"f\"(a=1)¦\"f\", ¦'f', \"arguments\": {¦\
        `f` is¦`f`. ¦`f`(a=1)¦`f`\n¦`f` json{¦``¦<¦<f>¦</f>¦<tool_call>¦<think>¦>>>f\n{¦>¦]<]minimax[>[¦]¦:¦\
        # a¦\n# ¦\n## User¦\n### User¦\n  \"\"\"\n¦\nUser: x¦x = f(¦return f(¦commentary to=f {¦call:f{¦\
        call:f json{¦f:0{¦f json{¦f<arg_key>¦f\\n<arg_key>¦user: x¦word¦\nThe next ¦\nf word ¦\nf json{¦\
        \nf code¦\nf, and ¦\n- **f**: ¦\n- f: ¦\nf **¦\nf can¦`f`, json¦\nassert x¦\ndef test_f¦\
        \nanalysis to=f¦\nawait f(¦a longer sentence, with a comma. ¦é¦北京¦(¦)¦;¦=¦.¦,";

    /// A stretch covers each mark and each label of the records, behind words and at the beginning of a line.
    #[test]
    fn each_mark_of_each_record_is_found() {
        let dialects = Dialects::default();
        let labels = dialects.iter().flat_map(|dialect| &dialect.labels);
        let labels = labels.map(|[label, _]| Text::from(format!("{label}: f")));
        let turns = TURNS.iter().map(|turn| Text::from(*turn));
        for (mark, is_in_line) in marks_of_all()
            .into_iter()
            .map(|mark| (mark.clone(), !mark.starts_with('-')))
            .chain(labels.chain(turns).map(|words| (words, false)))
        {
            for front in ["Two words, ", "Two words.\n"].iter().skip(usize::from(!is_in_line)) {
                let text = format!("{front}{}", mark.trim_start());
                let (mut at, mut is_found) = (2, false);
                while at < text.len() {
                    let candidate = next_candidate(&text, at, dialects.first());
                    is_found |= (candidate.from..=candidate.to).contains(&front.len());
                    at = (candidate.to + 1..)
                        .find(|at| *at > text.len() || text.is_char_boundary(*at))
                        .unwrap();
                }
                assert!(is_found, "{text:?}");
            }
        }
    }

    /// Stretches cover each place where anything but prose begins, or may have begun when more text has come.
    #[test]
    fn nothing_begins_outside_of_a_stretch() {
        let tool_set = ToolSet::from_json(r#"[{"name": "f"}, {"name": "get_weather"}]"#).unwrap();
        let pieces: Vec<&str> = PIECES.split('¦').collect();
        let mut state = 5_u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let dialects = Dialects::default();
        let made =
            parse(&tool_set, "<tool_call>{\"name\": \"f\"}</tool_call>", &[], &Context::default()).verdicts;
        for _ in 0..20_000 {
            let text: String = (0..1 + below(9)).map(|_| pieces[below(pieces.len())]).collect();
            let mut is_near = vec![false; text.len() + 1];
            let mut at = 0;
            while at < text.len() {
                let candidate = next_candidate(&text, at, dialects.first());
                assert!(
                    at <= candidate.from && candidate.from <= candidate.to,
                    "{text:?} {at} {candidate:?}"
                );
                is_near[candidate.from..=candidate.to.min(text.len())].fill(true);
                at = (candidate.to + 1..).find(|at| *at > text.len() || text.is_char_boundary(*at)).unwrap();
            }
            let mut scanner = Scanner::new(&tool_set, &Context::default());
            scanner.text = text.clone().into();
            // Behind a call a turn may begin that is not the model's.
            scanner.outcome.verdicts.extend(made.iter().filter(|_| below(2) == 0).cloned());
            for (at, c) in text.char_indices().filter(|(at, _)| !is_near[*at]) {
                let in_word = at != 0 && is_name_byte(text.as_bytes()[at - 1]);
                let line_start = scanner.is_line_start(at);
                let begins = "[({`<".contains(c)
                    || line_start && c == '#'
                    || !in_word && (is_name_byte(text.as_bytes()[at]) || "\"'".contains(c));
                if begins {
                    let found = scanner.at_mark(at, line_start, false);
                    assert!(matches!(found, Ok(None)), "{at} of {text:?}");
                }
            }
        }
    }
}
