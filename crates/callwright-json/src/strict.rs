//! Recognises strict JSON (RFC 8259) in one scan, and notes the places of its values.

use alloc::vec::Vec;
use core::mem;

use crate::scan::{find, skip_space, string_stop};
use crate::tree::{Kind, Node, Tree, hex4};
use crate::{MAX_DEPTH, Span};

/// Reads `text` as strict JSON: one value with nothing but whitespace around it.
///
/// # Errors
/// Returns the byte offset at which `text` stops being strict JSON, is nested deeper than [`MAX_DEPTH`], or
/// passes 4 GiB.
///
/// ```
/// let text = r#"{"n": 1e400}"#;
/// let tree = callwright_json::strict(text).unwrap();
/// assert_eq!(tree.root(text).get("n").unwrap().raw(), "1e400");
/// assert_eq!(callwright_json::strict("[1,]"), Err(3));
/// ```
pub fn strict(text: &str) -> Result<Tree, usize> {
    let bytes = text.as_bytes();
    // The average number of values in chunks, requests and answers; a text of one string needs no more
    // memory.
    let (tree, end) = strict_prefix(bytes, 0, bytes.len() / 10)?;
    let end = skip_space(bytes, end);
    if end == bytes.len() { Ok(tree) } else { Err(end) }
}

/// Returns whether `text` is one strict JSON object, with only whitespace around it. It allocates no memory.
///
/// ```
/// assert!(callwright_json::is_object(r#"{"a": [1]}"#));
/// assert!(!callwright_json::is_object("[1]") && !callwright_json::is_object("{'a': 1}"));
/// ```
pub fn is_object(text: &str) -> bool {
    is_only_object::<false>(text.as_bytes())
}

/// Returns whether `bytes` is one strict JSON object. With `QUOTED`, `bytes` is the inside of a JSON string,
/// in which quotes and line breaks are escaped, `{\"a\": \"b\\n\"}`. Then `false` is a guess: it does not
/// read escapes that an object does not need, such as `\u007b`.
pub(crate) fn is_only_object<const QUOTED: bool>(bytes: &[u8]) -> bool {
    bytes.get(skip_blanks::<QUOTED>(bytes, 0)) == Some(&b'{')
        && value::<QUOTED, _>(bytes, 0, &mut ())
            .is_ok_and(|end| skip_blanks::<QUOTED>(bytes, end) == bytes.len())
}

/// Returns the end of the strict JSON value that begins at byte `from` of `text`, or behind white space
/// there. It allocates no memory.
///
/// # Errors
/// Returns the byte offset at which the text stops being strict JSON, like [`strict`].
///
/// ```
/// assert_eq!(callwright_json::strict_end("f[1, 2] and", 1), Ok(7));
/// assert_eq!(callwright_json::strict_end("[1</f>", 0), Err(2));
/// ```
pub fn strict_end(text: &str, from: usize) -> Result<usize, usize> {
    value::<false, _>(text.as_bytes(), from, &mut ())
}

/// Reads the strict JSON value at `from`, with room for `count` values in it; also returns its end.
pub(crate) fn strict_prefix(bytes: &[u8], from: usize, count: usize) -> Result<(Tree, usize), usize> {
    let mut notes = Notes { nodes: Vec::with_capacity(count.clamp(8, 4096)), innermost: 0 };
    let end = value::<false, _>(bytes, from, &mut notes)?;
    Ok((Tree { nodes: notes.nodes }, end))
}

/// Records the values that the scan meets.
trait Sink {
    fn leaf(&mut self, kind: Kind, span: Span, escaped: bool);
    fn open(&mut self, kind: Kind, start: usize);
    fn close(&mut self, end: usize);
}

impl Sink for () {
    fn leaf(&mut self, _: Kind, _: Span, _: bool) {}
    fn open(&mut self, _: Kind, _: usize) {}
    fn close(&mut self, _: usize) {}
}

struct Notes {
    nodes: Vec<Node>,
    /// The index of the innermost open container. The `next` of an open container is the container around it.
    innermost: u32,
}

impl Sink for Notes {
    #[inline]
    fn leaf(&mut self, kind: Kind, span: Span, escaped: bool) {
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { kind, escaped, span, next });
    }

    fn open(&mut self, kind: Kind, start: usize) {
        let at = self.nodes.len() as u32;
        self.nodes.push(Node { kind, escaped: false, span: Span::at(start), next: self.innermost });
        self.innermost = at;
    }

    fn close(&mut self, end: usize) {
        let count = self.nodes.len() as u32;
        if let Some(node) = self.nodes.get_mut(self.innermost as usize) {
            node.span.end = end as u32;
            self.innermost = mem::replace(&mut node.next, count);
        }
    }
}

/// Reads the value at `from`; returns its end.
fn value<const QUOTED: bool, S: Sink>(bytes: &[u8], from: usize, sink: &mut S) -> Result<usize, usize> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(u32::MAX as usize);
    }
    // The open containers: one bit each, the innermost lowest, set for an object.
    let (mut objects, mut depth) = (0_u128, 0);
    const { assert!(MAX_DEPTH <= 128) };
    let (mut at, mut has_key) = (skip_blanks::<QUOTED>(bytes, from), false);
    'value: loop {
        if has_key {
            at = key::<QUOTED, _>(bytes, at, sink)?;
        }
        let start = at;
        match bytes.get(at) {
            Some(b'"' | b'\\') => at = string::<QUOTED, _>(bytes, at, sink)?,
            Some(&bracket @ (b'{' | b'[')) => {
                if depth == MAX_DEPTH {
                    return Err(at);
                }
                let is_object = bracket == b'{';
                sink.open(if is_object { Kind::Object } else { Kind::Array }, start);
                at = skip_blanks::<QUOTED>(bytes, at + 1);
                if bytes.get(at) == Some(&if is_object { b'}' } else { b']' }) {
                    at += 1;
                    sink.close(at);
                } else {
                    objects = objects << 1 | u128::from(is_object);
                    depth += 1;
                    has_key = is_object;
                    continue 'value;
                }
            }
            Some(b't') => at = word(bytes, at, b"true", Kind::Bool, sink)?,
            Some(b'f') => at = word(bytes, at, b"false", Kind::Bool, sink)?,
            Some(b'n') => at = word(bytes, at, b"null", Kind::Null, sink)?,
            _ => {
                at = number(bytes, at)?;
                sink.leaf(Kind::Number, Span::new(start, at), false);
            }
        }
        // The value is complete.
        loop {
            if depth == 0 {
                return Ok(at);
            }
            at = skip_blanks::<QUOTED>(bytes, at);
            let in_object = objects & 1 == 1;
            match bytes.get(at) {
                Some(b',') => {
                    at = skip_blanks::<QUOTED>(bytes, at + 1);
                    has_key = in_object;
                    continue 'value;
                }
                Some(b'}') if in_object => {}
                Some(b']') if !in_object => {}
                _ => return Err(at),
            }
            at += 1;
            objects >>= 1;
            depth -= 1;
            sink.close(at);
        }
    }
}

/// Reads the key that begins at `at`, and its colon; returns the place of its value.
#[inline(always)]
fn key<const QUOTED: bool, S: Sink>(bytes: &[u8], at: usize, sink: &mut S) -> Result<usize, usize> {
    let colon = skip_blanks::<QUOTED>(bytes, string::<QUOTED, _>(bytes, at, sink)?);
    if bytes.get(colon) != Some(&b':') {
        return Err(colon);
    }
    Ok(skip_blanks::<QUOTED>(bytes, colon + 1))
}

/// Reads the word `word` at `at`; returns the place behind it.
fn word<S: Sink>(bytes: &[u8], at: usize, word: &[u8], kind: Kind, sink: &mut S) -> Result<usize, usize> {
    let end = at + word.len();
    if bytes.get(at..end) != Some(word) {
        return Err(at);
    }
    sink.leaf(kind, Span::new(at, end), false);
    Ok(end)
}

/// Returns the place behind the blanks at `from`.
#[inline(always)]
fn skip_blanks<const QUOTED: bool>(bytes: &[u8], from: usize) -> usize {
    let mut at = skip_space(bytes, from);
    while QUOTED && bytes.get(at) == Some(&b'\\') && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't')) {
        at = skip_space(bytes, at + 2);
    }
    at
}

/// Reads the string that begins at `start`; returns the place behind its closing quote.
#[inline(always)]
fn string<const QUOTED: bool, S: Sink>(bytes: &[u8], start: usize, sink: &mut S) -> Result<usize, usize> {
    if QUOTED {
        return quoted_end(bytes, start);
    }
    if bytes.get(start) != Some(&b'"') {
        return Err(start);
    }
    let stop = string_stop(bytes, start + 1, b'"');
    let escaped = bytes.get(stop) != Some(&b'"');
    let end = if escaped { escaped_end(bytes, stop)? } else { stop + 1 };
    // A text is never longer than a `u32` counts.
    sink.leaf(Kind::String, Span { start: start as u32, end: end as u32 }, escaped);
    Ok(end)
}

/// Returns the place behind the string that begins at `start` inside another string: `\"a\\n\"`. It records
/// nothing.
fn quoted_end(bytes: &[u8], start: usize) -> Result<usize, usize> {
    if bytes.get(start..start + 2) != Some(b"\\\"") {
        return Err(start);
    }
    let mut at = find(bytes, start + 2, b'\\');
    loop {
        let len = match bytes.get(at + 1..).unwrap_or(&[]) {
            [b'"', ..] => return Ok(at + 2),
            [b'\\', b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 3,
            [b'\\', b'\\', b'"' | b'\\', ..] => 4,
            [b'\\', b'u', digits @ ..] if hex4(Some(digits)).is_some() => 7,
            _ => return Err(at),
        };
        at = find(bytes, at + len, b'\\');
    }
}

/// Returns the place behind the closing quote of a string that may have an escape at `at`.
fn escaped_end(bytes: &[u8], at: usize) -> Result<usize, usize> {
    let mut at = at;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += escape_len(bytes, at).ok_or(at)?,
            _ => return Err(at),
        }
        at = string_stop(bytes, at, b'"');
    }
}

/// Returns the length of the valid JSON escape at `at`, if there is one.
#[inline]
pub(crate) fn escape_len(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => hex4(bytes.get(at + 2..)).map(|_| 6),
        _ => None,
    }
}

/// Reads the number at `at`; returns the place behind it.
pub(crate) fn number(bytes: &[u8], at: usize) -> Result<usize, usize> {
    let digits = |from: usize| {
        let n = bytes.get(from..).unwrap_or(&[]).iter().take_while(|b| b.is_ascii_digit()).count();
        if n == 0 { Err(from) } else { Ok(from + n) }
    };
    let start = at + usize::from(bytes.get(at) == Some(&b'-'));
    let mut end = digits(start)?;
    if bytes[start] == b'0' && end > start + 1 {
        return Err(start + 1);
    }
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = digits(end + 1 + sign)?;
    }
    Ok(end)
}
