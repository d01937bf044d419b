//! How a marker is found in a text: whatever the case of its letters, with the bars and blanks of any tokenizer, and
//! without trying every marker at every place.

use super::Text;

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

/// What a block holds that is no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// What the model thinks.
    Thought,
    /// What it says to its user.
    Speech,
}

/// Markers by their first two bytes without case; `｜` counts as `|`.
#[derive(Debug)]
pub(crate) struct Table<T> {
    slots: Vec<Vec<(Text, T)>>,
}

impl<T: Copy> Table<T> {
    pub(super) fn new(marks: impl Iterator<Item = (Text, T)>) -> Table<T> {
        let mut slots: Vec<Vec<(Text, T)>> = (0..SLOTS).map(|_| Vec::new()).collect();
        for (mark, meaning) in marks {
            if let Some(slot) = slots.get_mut(slot(mark.as_bytes())) {
                slot.push((mark, meaning));
            }
        }
        Table { slots }
    }

    /// The longest marker at the beginning of `bytes`: its length and its meaning.
    pub(super) fn longest(&self, bytes: &[u8]) -> Option<(usize, T)> {
        let fitting = self.candidates(bytes).iter().filter_map(|(mark, meaning)| match fit(bytes, mark) {
            Fit::Is(len) => Some((len, *meaning)),
            Fit::Grows | Fit::No => None,
        });
        // Of dialects that share a marker, the first one has it.
        fitting.reduce(|best, found| if best.0 < found.0 { found } else { best })
    }

    /// Could `bytes`, all that is there so far, still grow into a marker, or into a longer one than it is?
    pub(super) fn may_grow(&self, bytes: &[u8]) -> bool {
        bytes == b"<" || self.candidates(bytes).iter().any(|(mark, _)| fit(bytes, mark) == Fit::Grows)
    }

    fn candidates(&self, bytes: &[u8]) -> &[(Text, T)] {
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
}
