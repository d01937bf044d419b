//! Cuts a text into the pieces in which a stream could bring it.

use std::num::NonZeroUsize;
use std::str::FromStr;

/// The length of the pieces. No piece ends inside a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chunks {
    /// This many bytes, and as many more as the last character needs.
    Bytes(NonZeroUsize),
    /// 1 to 16 bytes, drawn from this seed.
    Random(u64),
}

impl FromStr for Chunks {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Chunks, Self::Err> {
        let parsed = match text.strip_prefix("random:") {
            Some(seed) => seed.parse().ok().map(Chunks::Random),
            None => text.parse().ok().map(Chunks::Bytes),
        };
        parsed.ok_or("a number of bytes, or `random:` and a seed")
    }
}

impl Chunks {
    /// The text as one piece.
    pub(crate) const WHOLE: Chunks = Chunks::Bytes(NonZeroUsize::MAX);

    /// The pieces of `text`, in order.
    pub(crate) fn of(self, text: &str) -> impl Iterator<Item = &str> {
        let mut rest = text;
        let mut state = match self {
            Chunks::Bytes(_) => 0,
            Chunks::Random(seed) => seed,
        };
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let len = match self {
                Chunks::Bytes(n) => n.get(),
                Chunks::Random(_) => 1 + (splitmix(&mut state) % 16) as usize,
            };
            let end = (len..rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
            let (piece, after) = rest.split_at(end);
            rest = after;
            Some(piece)
        })
    }
}

/// SplitMix64: the next number, from a state that any seed may start.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_are_the_text() {
        let text = "aé → {\"b\": \"日本\"} and some more of it";
        for chunks in ["1", "2", "3", "1000", "random:0", "random:7"] {
            let chunks: Chunks = chunks.parse().unwrap();
            assert_eq!(chunks.of(text).collect::<String>(), text);
            assert!(chunks.of(text).all(|piece| !piece.is_empty()));
        }
        assert_eq!(Chunks::from_str("3").unwrap().of("aé→b").collect::<Vec<_>>(), ["aé", "→", "b"]);
    }

    #[test]
    fn what_is_no_length_is_refused() {
        for text in ["0", "-1", "x", "random:", "random:x"] {
            assert!(Chunks::from_str(text).is_err(), "{text}");
        }
    }
}
