//! The first gear: one scan that recognises strict JSON (RFC 8259) and notes where its values stand.

use alloc::vec::Vec;

use crate::scan::{skip_space, string_stop};
use crate::tree::{Kind, Node, Tree, hex4};
use crate::{MAX_DEPTH, Span};

/// Reads `text` as strict JSON: one value with nothing but whitespace around it.
///
/// # Errors
/// The byte offset at which `text` stops being strict JSON, or at which it is nested deeper than
/// [`MAX_DEPTH`] or longer than 4 GiB.
///
/// ```
/// let text = r#"{"n": 1e400}"#;
/// let tree = callwright_json::strict(text).unwrap();
/// assert_eq!(tree.root(text).get("n").unwrap().raw(), "1e400");
/// assert_eq!(callwright_json::strict("[1,]"), Err(3));
/// ```
pub fn strict(text: &str) -> Result<Tree, usize> {
    let bytes = text.as_bytes();
    let (tree, end) = strict_prefix(bytes, 0)?;
    let end = skip_space(bytes, end);
    if end == bytes.len() { Ok(tree) } else { Err(end) }
}

/// Reads the strict JSON value at `from`; also returns where it ends.
pub(crate) fn strict_prefix(bytes: &[u8], from: usize) -> Result<(Tree, usize), usize> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(u32::MAX as usize);
    }
    // The containers that are open at this point, as indices into `nodes`.
    let mut open: Vec<u32> = Vec::new();
    // What chunks, requests and answers have on average; a text that is one string takes no more than that.
    let mut nodes: Vec<Node> =
        Vec::with_capacity(((bytes.len() - from.min(bytes.len())) / 10).clamp(8, 4096));
    let mut at = skip_space(bytes, from);
    'value: loop {
        let start = at;
        match bytes.get(at) {
            Some(&bracket @ (b'{' | b'[')) => {
                if open.len() == MAX_DEPTH {
                    return Err(at);
                }
                let kind = if bracket == b'{' { Kind::Object } else { Kind::Array };
                open.push(nodes.len() as u32);
                nodes.push(Node { kind, span: Span::new(start, start), next: 0 });
                at = skip_space(bytes, at + 1);
                match (bracket, bytes.get(at)) {
                    (b'{', Some(b'}')) | (b'[', Some(b']')) => {}
                    (b'{', _) => {
                        at = key(bytes, at, &mut nodes)?;
                        continue 'value;
                    }
                    _ => continue 'value,
                }
            }
            Some(b'"') => {
                at = string(bytes, at)?;
                leaf(&mut nodes, Kind::String, start, at);
            }
            Some(b't') => at = word(bytes, at, b"true", Kind::Bool, &mut nodes)?,
            Some(b'f') => at = word(bytes, at, b"false", Kind::Bool, &mut nodes)?,
            Some(b'n') => at = word(bytes, at, b"null", Kind::Null, &mut nodes)?,
            _ => {
                at = number(bytes, at)?;
                leaf(&mut nodes, Kind::Number, start, at);
            }
        }
        // A value is complete, or an empty container stands before its closing bracket.
        loop {
            let Some(&container) = open.last() else { return Ok((Tree { nodes }, at)) };
            at = skip_space(bytes, at);
            let count = nodes.len() as u32;
            let node = &mut nodes[container as usize];
            let object = node.kind == Kind::Object;
            match bytes.get(at) {
                Some(b',') if count != container + 1 => {
                    at = skip_space(bytes, at + 1);
                    if object {
                        at = key(bytes, at, &mut nodes)?;
                    }
                    continue 'value;
                }
                Some(b'}') if object => {}
                Some(b']') if !object => {}
                _ => return Err(at),
            }
            at += 1;
            node.span.end = at as u32;
            node.next = count;
            open.pop();
        }
    }
}

/// Reads a key and its colon; returns where the value begins.
fn key(bytes: &[u8], at: usize, nodes: &mut Vec<Node>) -> Result<usize, usize> {
    if bytes.get(at) != Some(&b'"') {
        return Err(at);
    }
    let end = string(bytes, at)?;
    leaf(nodes, Kind::String, at, end);
    let colon = skip_space(bytes, end);
    if bytes.get(colon) == Some(&b':') { Ok(skip_space(bytes, colon + 1)) } else { Err(colon) }
}

fn leaf(nodes: &mut Vec<Node>, kind: Kind, start: usize, end: usize) {
    let next = nodes.len() as u32 + 1;
    nodes.push(Node { kind, span: Span::new(start, end), next });
}

fn word(bytes: &[u8], at: usize, word: &[u8], kind: Kind, nodes: &mut Vec<Node>) -> Result<usize, usize> {
    let end = at + word.len();
    if bytes.get(at..end) != Some(word) {
        return Err(at);
    }
    leaf(nodes, kind, at, end);
    Ok(end)
}

/// Reads the string that opens at `at`; returns the place behind its closing quote.
fn string(bytes: &[u8], at: usize) -> Result<usize, usize> {
    let mut at = at + 1;
    loop {
        at = string_stop(bytes, at, b'"');
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += escape_len(bytes, at).ok_or(at)?,
            _ => return Err(at),
        }
    }
}

/// The length of the valid JSON escape at `at`, if there is one.
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
