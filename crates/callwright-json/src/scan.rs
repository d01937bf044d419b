//! Finds the next interesting byte, eight at a time.

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Returns the high bit of each byte of `word` that is zero. Bits above the lowest one set may be wrong.
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(LOW) & !word & HIGH
}

/// Returns the high bit of each byte of `word` that equals `byte`.
const fn equal(word: u64, byte: u8) -> u64 {
    zeros(word ^ (LOW * byte as u64))
}

/// Returns the high bit of each byte of `word` below 0x20.
const fn controls(word: u64) -> u64 {
    word.wrapping_sub(LOW * 0x20) & !word & HIGH
}

/// Returns the high bit of the first byte of `word` at which a string body needs a look. Bits above it may be
/// wrong.
#[inline]
fn stops(word: u64, quote: u8) -> u64 {
    // Once bit 1 is flipped, 0x22 and all bytes below 0x20 lie below 0x21.
    match quote {
        b'"' => {
            let low = (word ^ (LOW * 0x02)).wrapping_sub(LOW * 0x21);
            let backslash = (word ^ (LOW * 0x5c)).wrapping_sub(LOW);
            (low | backslash) & !word & HIGH
        }
        quote => equal(word, quote) | equal(word, b'\\') | controls(word),
    }
}

/// Returns the first place at or after `from` where a string body needs a look: `quote`, a backslash or a
/// control character; the length of `bytes` if there is none.
#[inline]
pub(crate) fn string_stop(bytes: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from;
    // Most strings are keys and short words.
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let hits = stops(u64::from_le_bytes(*word), quote);
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
        if at == from + 16 && quote == b'"' {
            at = behind_plain_blocks(bytes, at);
        }
    }
    while bytes.get(at).is_some_and(|b| *b != quote && *b != b'\\' && 0x20 <= *b) {
        at += 1;
    }
    at
}

/// Returns the place behind all blocks at `from` in which a string with double quotes needs no look. Vector
/// instructions compare a block at once.
fn behind_plain_blocks(bytes: &[u8], from: usize) -> usize {
    let (blocks, _) = bytes.get(from..).unwrap_or(&[]).as_chunks::<32>();
    let has_stop = |block: &[u8; 32]| {
        block.iter().fold(false, |has_stop, b| has_stop | (*b ^ 0x02 < 0x21) | (*b == b'\\'))
    };
    from + 32 * blocks.iter().take_while(|block| !has_stop(block)).count()
}

/// Returns the first place of `byte` at or after `from`; the length of `bytes` if there is none.
#[inline]
pub(crate) fn find(bytes: &[u8], from: usize, byte: u8) -> usize {
    let mut at = from;
    let (words, _) = bytes.get(from..).unwrap_or(&[]).as_chunks();
    for word in words {
        let hits = equal(u64::from_le_bytes(*word), byte);
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|b| *b != byte) {
        at += 1;
    }
    at
}

/// Bytes that one search finds together.
pub(crate) struct ByteSet<const N: usize>(pub(crate) [u8; N]);

impl<const N: usize> ByteSet<N> {
    /// Returns the places in `bytes` of all bytes of the set.
    pub(crate) fn places<'b>(&'b self, bytes: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
        let (mut at, mut hits) = (0, 0);
        let words = core::iter::from_fn(move || {
            while hits == 0 {
                let Some(chunk) = bytes.get(at..)?.first_chunk() else {
                    at += 1;
                    return (at <= bytes.len()).then_some(at - 1);
                };
                let word = u64::from_le_bytes(*chunk);
                hits = self.0.iter().fold(0, |hits, byte| hits | equal(word, *byte));
                at += 8;
            }
            let place = at - 8 + (hits.trailing_zeros() / 8) as usize;
            hits &= hits - 1;
            Some(place)
        });
        // Only the first hit of a word is sure, and the last bytes fill no word.
        words.filter(|place| bytes.get(*place).is_some_and(|byte| self.0.contains(byte)))
    }
}

/// Returns the first place at or after `from` that is not JSON whitespace.
#[inline]
pub(crate) fn skip_space(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    // Text that programs write has little whitespace.
    if bytes.get(at).is_some_and(|b| b' ' < *b) {
        return at;
    }
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_places_are_found() {
        // A comma is one more than a plus, and a borrow from it is not a hit.
        let text = b",+,-+,,+ and , words in between ,\"+\"',";
        let set = ByteSet(*b",\"'");
        for from in 0..text.len() {
            let text = &text[from..];
            let plain: alloc::vec::Vec<usize> =
                (0..text.len()).filter(|at| matches!(text[*at], b',' | b'"' | b'\'')).collect();
            assert_eq!(set.places(text).collect::<alloc::vec::Vec<_>>(), plain);
        }
    }

    #[test]
    fn stops_where_the_plain_loop_stops() {
        let text = "plain text, é and \u{7f}\u{80} then\n\"quote\\ end, long enough for words";
        for from in 0..text.len() {
            for quote in [b'"', b'\'', b'`'] {
                let plain = text.as_bytes()[from..]
                    .iter()
                    .position(|&b| b == quote || b == b'\\' || b < 0x20)
                    .map_or(text.len(), |n| from + n);
                assert_eq!(string_stop(text.as_bytes(), from, quote), plain);
            }
        }
    }
}
