//! Bodies of requests, masked and packed: once for each of their pieces, as most of what a request holds stood in one
//! before it.
//!
//! A body goes in, its pieces come out as they are kept. Pieces that are not known are masked together with what stands
//! around them, so that a secret is found wherever the cuts are; where one lies across a cut, the body is cut anew after it
//! was masked, and nothing of it is remembered. What is remembered is bounded by bytes, and forgotten when a new secret
//! becomes known.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::body::{Cut, cut};
use crate::database::Kind;
use crate::mask::{Mask, filled};
use crate::owner::Seal;
use crate::pack::pack;
use crate::rows::Value;

/// So many bytes of pieces are remembered at most: those of some dozens of long conversations.
const MOST: usize = 4 << 20;
/// The size of an entry beside its piece.
const ENTRY: usize = 160;
/// So much of the neighbours of new pieces is searched with them: what names a secret stands closer to it.
const AROUND: usize = 1024;
/// The one shape of a secret that has no end to be sure of: it may hold whole pieces.
const UNBOUNDED: &str = "PRIVATE KEY-----";

/// A piece of a body as it is kept.
#[derive(Debug)]
pub(crate) enum Kept {
    /// In place.
    Text(String),
    /// Once for its session.
    Part {
        /// The hash of equal parts.
        hash: String,
        text: Value,
    },
}

/// A body as it is kept, piece by piece.
pub(crate) type KeptBody = Arc<[Arc<Kept>]>;

/// The beginning of a digest.
type Key = [u8; 16];

/// Masks, and remembers what came of it.
pub(crate) struct Known {
    pub(crate) mask: Mask,
    pub(crate) seal: Seal,
    kind: Kind,
    /// Those used lately; where they are half of what may be remembered, they become the `old` ones.
    young: HashMap<Key, Arc<Kept>>,
    old: HashMap<Key, Arc<Kept>>,
    young_bytes: usize,
    /// The body before this one: mostly what was sent on is what came.
    last: Option<(String, KeptBody)>,
}

impl Known {
    pub(crate) fn new(mask: Mask, seal: Seal, kind: Kind) -> Known {
        let (young, old) = (HashMap::new(), HashMap::new());
        Known { mask, seal, kind, young, old, young_bytes: 0, last: None }
    }

    /// Learns the secrets that have become known in the meantime.
    pub(crate) fn learn(&mut self) {
        if self.mask.learn() {
            (self.young, self.old, self.young_bytes) = Default::default();
        }
    }

    /// A text as it is kept.
    pub(crate) fn pack(&self, text: String) -> Value {
        pack(self.kind, text)
    }

    /// Those of one turn are done: the next one has other bodies.
    pub(crate) fn end_turn(&mut self) {
        self.last = None;
    }

    /// A body as it is kept.
    pub(crate) fn body(&mut self, text: String) -> KeptBody {
        if let Some((last, kept)) = &self.last
            && *last == text
        {
            return Arc::clone(kept);
        }
        let kept = self.pieces(&text);
        self.last = Some((text, Arc::clone(&kept)));
        kept
    }

    fn pieces(&mut self, text: &str) -> KeptBody {
        let cuts = cut(text);
        let keys = keys(&cuts);
        let found: Vec<Option<Arc<Kept>>> = keys.iter().map(|key| self.find(key)).collect();
        let is_new = |kept: &Option<Arc<Kept>>| kept.is_none();
        let (Some(first), Some(last)) = (found.iter().position(is_new), found.iter().rposition(is_new))
        else {
            return found.into_iter().flatten().collect();
        };
        let places = places(&cuts);
        let place = |n: usize| places.get(n).cloned().unwrap_or_default();
        let ranges = self.ranges(text, place(first).start..place(last).end);
        let of = |at: usize| places.partition_point(|place| place.end <= at);
        if ranges.iter().any(|range| of(range.start) != of(range.end.saturating_sub(1))) {
            return self.cut_anew(text);
        }
        let mut pieces = Vec::with_capacity(cuts.len());
        for ((n, cut), (key, found)) in cuts.iter().enumerate().zip(keys.into_iter().zip(found)) {
            pieces.push(match found {
                Some(kept) => kept,
                None => {
                    let own = place(n);
                    let within =
                        ranges.iter().filter(|range| own.start <= range.start && range.end <= own.end);
                    let own: Vec<Range<usize>> =
                        within.map(|range| range.start - own.start..range.end - own.start).collect();
                    let hash = (cut.is_part && own.is_empty()).then_some(key);
                    let kept = Arc::new(self.kept(filled(cut.text, &own), cut.is_part, hash));
                    self.remember(key, &kept);
                    kept
                }
            });
        }
        pieces.into()
    }

    /// The places of secrets in or around a stretch of a text.
    fn ranges(&self, text: &str, stretch: Range<usize>) -> Vec<Range<usize>> {
        let around = AROUND.max(self.mask.longest());
        let start = text.floor_char_boundary(stretch.start.saturating_sub(around));
        let end = text.ceil_char_boundary((stretch.end + around).min(text.len()));
        let near = text.get(start..end).unwrap_or(text);
        if near.contains(UNBOUNDED) {
            return self.mask.ranges(text);
        }
        let ranges = self.mask.ranges(near).into_iter();
        ranges.map(|range| range.start + start..range.end + start).collect()
    }

    fn cut_anew(&self, text: &str) -> KeptBody {
        let masked = filled(text, &self.mask.ranges(text));
        cut(&masked).iter().map(|cut| Arc::new(self.kept(cut.text.to_owned(), cut.is_part, None))).collect()
    }

    fn kept(&self, mut text: String, is_part: bool, hash: Option<Key>) -> Kept {
        if !is_part {
            // No database takes it, and no JSON has it.
            if text.contains('\0') {
                text = text.replace('\0', "\u{1a}");
            }
            return Kept::Text(text);
        }
        let hash = hash.unwrap_or_else(|| digest([text.as_bytes()]));
        let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Kept::Part { hash, text: pack(self.kind, text) }
    }

    fn find(&mut self, key: &Key) -> Option<Arc<Kept>> {
        if let Some(kept) = self.young.get(key) {
            return Some(Arc::clone(kept));
        }
        let kept = self.old.remove(key)?;
        self.remember(*key, &kept);
        Some(kept)
    }

    fn remember(&mut self, key: Key, kept: &Arc<Kept>) {
        let bytes = ENTRY
            + match &**kept {
                Kept::Text(text) => text.len(),
                Kept::Part { text, .. } => text.len(),
            };
        if MOST / 4 < bytes {
            return;
        }
        if MOST / 2 < self.young_bytes + bytes {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += bytes;
        self.young.insert(key, Arc::clone(kept));
    }
}

/// The keys of pieces: a part has its text, a piece that stays in place its neighbours too, with which it could make a secret.
fn keys(cuts: &[Cut<'_>]) -> Vec<Key> {
    let own: Vec<Key> = cuts
        .iter()
        .map(|cut| if cut.is_part { digest([cut.text.as_bytes()]) } else { Key::default() })
        .collect();
    let of = |n: Option<usize>| n.and_then(|n| own.get(n)).copied().unwrap_or_default();
    let key = |(n, cut): (usize, &Cut<'_>)| match cut.is_part {
        true => of(Some(n)),
        // No part begins with a zero.
        false => {
            let (before, after) = (of(n.checked_sub(1)), of(Some(n + 1)));
            digest([b"\0".as_slice(), &before, &after, cut.text.as_bytes()])
        }
    };
    cuts.iter().enumerate().map(key).collect()
}

fn places(cuts: &[Cut<'_>]) -> Vec<Range<usize>> {
    let mut end = 0;
    let place = |cut: &Cut<'_>| {
        let start = end;
        end += cut.text.len();
        start..end
    };
    cuts.iter().map(place).collect()
}

fn digest<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> Key {
    let mut digest = Sha256::new();
    texts.into_iter().for_each(|text| digest.update(text));
    let whole: [u8; 32] = digest.finalize().into();
    let mut key = Key::default();
    key.iter_mut().zip(whole).for_each(|(to, byte)| *to = byte);
    key
}
