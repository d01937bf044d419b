//! How a marker is found in a text: whatever the case of its letters, with the bars and blanks of any tokenizer, and
//! without trying every marker at every place.

use std::sync::LazyLock;

use super::{ALL, REASONING, Record, SPEECH};

/// How the beginning of a text compares with a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is there, so many bytes long.
    Is(usize),
    /// All of the text is the beginning of it.
    Grows,
    No,
}

/// Does `bytes` begin with `marker`, in any case, with `｜` for `|` and `▁` for `_`?
pub(crate) fn fit(bytes: &[u8], marker: &str) -> Fit {
    let mut at = 0;
    for want in marker.bytes() {
        let rest = bytes.get(at..).unwrap_or(&[]);
        let Some(&byte) = rest.first() else { return Fit::Grows };
        let wide: &[u8] = match want {
            b'|' => "｜".as_bytes(),
            b'_' => "▁".as_bytes(),
            _ => b"",
        };
        if byte.eq_ignore_ascii_case(&want) {
            at += 1;
        } else if !wide.is_empty() && rest.starts_with(wide) {
            at += wide.len();
        } else {
            return Fit::No;
        }
    }
    Fit::Is(at)
}

/// The length of the bar that `bytes` begin with: `|` or `｜`.
pub(crate) fn bar(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'|', ..] => Some(1),
        [0xEF, 0xBD, 0x9C, ..] => Some(3),
        _ => None,
    }
}

/// All openers of calls.
static OPENERS: LazyLock<Table<&'static Record>> = LazyLock::new(|| {
    let openers = |record: &'static Record| record.open.iter().map(move |open| (*open, record));
    Table::new(ALL.iter().flat_map(openers))
});

/// All openers of blocks that are no calls, with what they open and what closes it.
static BLOCKS: LazyLock<Table<(Block, &'static str)>> = LazyLock::new(|| {
    let thoughts = REASONING.iter().map(|(open, close)| (*open, (Block::Thought, *close)));
    let speech = SPEECH.iter().map(|(open, close)| (*open, (Block::Speech, *close)));
    Table::new(thoughts.chain(speech))
});

/// What a block holds that is no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// What the model thinks.
    Thought,
    /// What it says.
    Speech,
}

/// Markers by their first two bytes without case; `｜` counts as `|`.
struct Table<T> {
    slots: Vec<Vec<(&'static str, T)>>,
}

impl<T: Copy> Table<T> {
    fn new(marks: impl Iterator<Item = (&'static str, T)>) -> Table<T> {
        let mut slots: Vec<Vec<(&'static str, T)>> = (0..SLOTS).map(|_| Vec::new()).collect();
        for (mark, meaning) in marks {
            if let Some(slot) = slots.get_mut(slot(mark.as_bytes())) {
                slot.push((mark, meaning));
            }
        }
        Table { slots }
    }

    /// The longest marker at the beginning of `bytes`: its length and its meaning.
    fn longest(&self, bytes: &[u8]) -> Option<(usize, T)> {
        let fitting = self.candidates(bytes).iter().filter_map(|(mark, meaning)| match fit(bytes, mark) {
            Fit::Is(len) => Some((len, *meaning)),
            Fit::Grows | Fit::No => None,
        });
        fitting.max_by_key(|(len, _)| *len)
    }

    fn may_grow(&self, bytes: &[u8]) -> bool {
        bytes == b"<" || self.candidates(bytes).iter().any(|(mark, _)| fit(bytes, mark) == Fit::Grows)
    }

    fn candidates(&self, bytes: &[u8]) -> &[(&'static str, T)] {
        self.slots.get(slot(bytes)).map_or(&[], Vec::as_slice)
    }
}

const SLOTS: usize = 512;

/// Markers that begin with `<` are told apart by what follows it, the others by how they begin.
fn slot(bytes: &[u8]) -> usize {
    let letter = |byte: Option<&u8>| match byte {
        Some(0xEF) => usize::from(b'|'),
        Some(byte) => usize::from(byte.to_ascii_lowercase()),
        None => 0,
    };
    match bytes.first() {
        Some(b'<') => 256 + letter(bytes.get(1)),
        first => letter(first),
    }
}

/// The longest opener at the beginning of `bytes`: its record, and its length without the name that may follow.
pub(crate) fn opener(bytes: &[u8]) -> Option<(&'static Record, usize)> {
    OPENERS.longest(bytes).map(|(len, record)| (record, len))
}

/// Could `bytes`, all that is there so far, still grow into an opener, or into a longer one than it is?
pub(crate) fn may_grow(bytes: &[u8]) -> bool {
    OPENERS.may_grow(bytes)
}

/// The block that begins with `bytes`: the length of its opener, what it holds, what closes it.
pub(crate) fn block(bytes: &[u8]) -> Option<(usize, Block, &'static str)> {
    BLOCKS.longest(bytes).map(|(len, (block, close))| (len, block, close))
}

/// Could `bytes`, all that is there so far, still grow into the opener of a block?
pub(crate) fn may_grow_into_block(bytes: &[u8]) -> bool {
    BLOCKS.may_grow(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_blanks_and_case_are_those_of_any_tokenizer() {
        for text in ["<|tool_calls_begin|>", "<｜tool▁calls▁begin｜>", "<｜TOOL_calls▁begin|>"] {
            assert_eq!(fit(text.as_bytes(), "<|tool_calls_begin|>"), Fit::Is(text.len()), "{text}");
        }
        assert_eq!(fit("<｜tool▁calls".as_bytes(), "<|tool_calls_begin|>"), Fit::Grows);
        assert_eq!(fit("<｜tool calls".as_bytes(), "<|tool_calls_begin|>"), Fit::No);
    }

    #[test]
    fn every_opener_is_found_and_may_be_waited_for() {
        for record in ALL {
            for open in record.open {
                let found = opener(open.as_bytes()).map(|(_, len)| len);
                assert_eq!(found, Some(open.len()), "{open}");
                for cut in 1..open.len() {
                    assert!(may_grow(&open.as_bytes()[..cut]), "{}", &open[..cut]);
                }
            }
        }
        assert!(opener(b"<div>").is_none() && !may_grow(b"<div") && !may_grow(b"<p"));
    }
}
