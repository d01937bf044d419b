//! Finds markers in a text: in any case of their letters, with the bars and blanks of any tokenizer, and without trying
//! every marker at every place.

use super::{Incomplete, Seen};

/// Returns the length of `marker` at the start of `bytes`, in any case, with `｜` for `|` and `▁` for `_`.
#[inline]
pub(crate) fn fit(bytes: &[u8], marker: &str) -> Seen<usize> {
    let differs = |at: usize| match (bytes.get(at), marker.as_bytes().get(at)) {
        (Some(own), Some(want)) => own.is_ascii() && want.is_ascii() && !own.eq_ignore_ascii_case(want),
        _ => false,
    };
    // Most markers differ in their first two bytes.
    let is_plain =
        bytes.first().is_some_and(u8::is_ascii) && marker.bytes().next().is_some_and(|byte| byte.is_ascii());
    match differs(0) || is_plain && differs(1) {
        true => Ok(None),
        false => spelt(bytes, marker),
    }
}

/// Compares all of `marker`.
fn spelt(bytes: &[u8], marker: &str) -> Seen<usize> {
    let (mut at, mut rest) = (0, marker.as_bytes());
    while let Some((want, len)) = plain(rest) {
        rest = &rest[len..];
        let (own, len) = plain(bytes.get(at..).unwrap_or(&[])).ok_or(Incomplete)?;
        if own != want {
            return Ok(None);
        }
        at += len;
    }
    Ok(Some(at))
}

/// Returns the length of the first of `markers` at the start of `bytes`, compared as in [`fit`].
pub(crate) fn fit_any<'m>(bytes: &[u8], markers: impl Iterator<Item = &'m str>) -> Seen<usize> {
    first_of(markers.map(|marker| fit(bytes, marker)))
}

/// Returns the first of the `seen` that is there; it is incomplete if none is, and one may yet come.
pub(crate) fn first_of<T>(seen: impl Iterator<Item = Seen<T>>) -> Seen<T> {
    let mut rest = Ok(None);
    for seen in seen {
        match seen {
            Ok(None) => {}
            Ok(found) => return Ok(found),
            Err(Incomplete) => rest = Err(Incomplete),
        }
    }
    rest
}

/// Returns the other spelling of a byte of a marker.
pub(crate) fn wide(byte: u8) -> &'static [u8] {
    match byte {
        b'|' => "｜".as_bytes(),
        b'_' => "▁".as_bytes(),
        _ => b"",
    }
}

/// Returns the bytes that may stand in a text for a byte of a marker, or begin what stands for it.
fn spellings(byte: u8) -> [u8; 3] {
    let wide = wide(byte).first().copied().unwrap_or(byte);
    [byte.to_ascii_lowercase(), byte.to_ascii_uppercase(), wide]
}

/// Returns the places in `bytes` at which `marker` may begin, by its first byte.
pub(crate) fn beginnings(bytes: &[u8], marker: &str) -> impl Iterator<Item = usize> {
    let [lower, upper, wide] = spellings(marker.bytes().next().unwrap_or(0));
    memchr::memchr3_iter(lower, upper, wide, bytes)
}

/// Returns the first place of any of `markers` in `text`, compared as in [`fit`]. Markers that begin with the same byte
/// are searched together, and their second byte tells most places apart.
pub(crate) fn find<'m>(text: &str, markers: impl Iterator<Item = &'m str> + Clone) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut searched = [false; 256];
    let mut nearest = None;
    for marker in markers.clone() {
        let Some(first) = marker.bytes().next() else { continue };
        if std::mem::replace(&mut searched[usize::from(first)], true) {
            continue;
        }
        let alike = markers.clone().filter(|other| other.bytes().next() == Some(first));
        let mut second = [false; 256];
        for marker in alike.clone() {
            match marker.as_bytes().get(1) {
                Some(byte) => spellings(*byte).iter().for_each(|byte| second[usize::from(*byte)] = true),
                None => second.fill(true),
            }
        }
        // The second byte of a wide letter says nothing.
        let may_be = |at: &usize| {
            !bytes[*at].is_ascii() || bytes.get(at + 1).is_none_or(|byte| second[usize::from(*byte)])
        };
        let fits = |at: &usize| alike.clone().any(|marker| matches!(fit(&bytes[*at..], marker), Ok(Some(_))));
        // Only a place in front of the nearest one counts.
        let begins = bytes.get(..nearest.unwrap_or(bytes.len())).unwrap_or(&[]);
        nearest = beginnings(begins, marker).filter(may_be).find(fits).or(nearest);
    }
    nearest
}

/// Returns the length of the bar at the start of `bytes`: `|`, `｜`, or two of them.
pub(crate) fn bar(bytes: &[u8]) -> Option<usize> {
    let one = |bytes: &[u8]| match bytes {
        [b'|', ..] => 1,
        [0xEF, 0xBD, 0x9C, ..] => 3,
        _ => 0,
    };
    let first = one(bytes);
    (first != 0).then(|| first + one(&bytes[first..]))
}

/// The kind of text in a block without calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// The model's thoughts.
    Thought,
    /// The model's words to its user.
    Speech,
}

/// A tree of the bytes of markers, which goes along the text once: without case, with `|` for `｜` and `_` for `▁`.
#[derive(Debug)]
pub(crate) struct Table<T> {
    /// All nodes, the root first.
    nodes: Vec<Branch<T>>,
}

#[derive(Debug)]
struct Branch<T> {
    /// The byte that leads to this node.
    byte: u8,
    /// The first node that may follow, and the next one that may stand here; 0 for none.
    first: usize,
    sibling: usize,
    /// The meaning of the marker that ends here.
    meaning: Option<T>,
}

impl<T: Copy> Table<T> {
    pub(crate) fn new<'m>(marks: impl Iterator<Item = (&'m str, T)>) -> Table<T> {
        let mut table = Table { nodes: Vec::new() };
        table.nodes.push(Branch { byte: 0, first: 0, sibling: 0, meaning: None });
        for (mark, meaning) in marks {
            let (mut node, mut rest) = (0, mark.as_bytes());
            while let Some((byte, len)) = plain(rest) {
                rest = &rest[len..];
                node = match table.behind(node, byte) {
                    Some(next) => next,
                    None => {
                        let next = table.nodes.len();
                        let sibling = std::mem::replace(&mut table.nodes[node].first, next);
                        table.nodes.push(Branch { byte, first: 0, sibling, meaning: None });
                        next
                    }
                };
            }
            // If dialects share a marker, it belongs to the first one.
            table.nodes[node].meaning.get_or_insert(meaning);
        }
        table
    }

    /// Returns the longest marker at the beginning of `bytes`: its length and its meaning.
    pub(crate) fn longest(&self, bytes: &[u8]) -> Option<(usize, T)> {
        self.along(bytes).0
    }

    /// Returns whether more text could make `bytes` a marker, or a longer one.
    pub(crate) fn may_grow(&self, bytes: &[u8]) -> bool {
        self.along(bytes).1
    }

    /// Goes along `bytes` as far as a marker does. Returns the longest one that ends on the way, and whether one goes
    /// on behind all.
    fn along(&self, bytes: &[u8]) -> (Option<(usize, T)>, bool) {
        let (mut node, mut at, mut found) = (0, 0, None);
        while let Some((byte, len)) = plain(&bytes[at..]) {
            let Some(next) = self.behind(node, byte) else { return (found, false) };
            (node, at) = (next, at + len);
            found = self.nodes[node].meaning.map(|meaning| (at, meaning)).or(found);
        }
        (found, self.nodes[node].first != 0)
    }

    fn behind(&self, node: usize, byte: u8) -> Option<usize> {
        let mut next = self.nodes[node].first;
        while next != 0 && self.nodes[next].byte != byte {
            next = self.nodes[next].sibling;
        }
        (next != 0).then_some(next)
    }
}

/// Returns the first byte of `bytes` as markers are compared, and the number of bytes in its spelling. Some models write
/// each bar twice, `<｜｜DSML｜｜invoke`, or a blank behind it, `<| tool_call|>`; a line may end in two bytes.
#[inline(always)]
fn plain(bytes: &[u8]) -> Option<(u8, usize)> {
    match bytes.first()? {
        b'|' | b'\r' | 0xE2 | 0xEF => spelling(bytes),
        byte => Some((byte.to_ascii_lowercase(), 1)),
    }
}

/// Returns the byte that the first ones stand for, and the number of them.
fn spelling(bytes: &[u8]) -> Option<(u8, usize)> {
    Some(match bytes {
        [b'|' | 0xEF, ..] if let Some(len) = bar(bytes) => match bytes.get(len) {
            Some(b' ') => match bytes.get(len + 1) {
                // The text behind the blank tells.
                None => return None,
                Some(next) => (b'|', len + usize::from(next.is_ascii_alphanumeric())),
            },
            _ => (b'|', len),
        },
        [0xE2, 0x96, 0x81, ..] => (b'_', 3),
        [b'\r', b'\n', ..] => (b'\n', 2),
        [byte, ..] => (byte.to_ascii_lowercase(), 1),
        [] => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_blanks_and_case_are_those_of_any_tokenizer() {
        for text in ["<|tool_calls_begin|>", "<｜tool▁calls▁begin｜>", "<｜TOOL_calls▁begin|>"] {
            assert_eq!(fit(text.as_bytes(), "<|tool_calls_begin|>"), Ok(Some(text.len())), "{text}");
        }
        assert_eq!(fit("<｜tool▁calls".as_bytes(), "<|tool_calls_begin|>"), Err(Incomplete));
        assert_eq!(fit("<｜tool calls".as_bytes(), "<|tool_calls_begin|>"), Ok(None));
    }
}
