//! The costs of readings: a price for each kind of repair, and for signs that a reading is unlikely.

use crate::RepairKind;

/// Whole units in the high half; the low half counts almost free repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Cost(pub(crate) u64);

impl Cost {
    pub(crate) const fn units(n: u32) -> Cost {
        Cost((n as u64) << 32)
    }

    /// The price of a habit from its second use on.
    pub(super) const TRIFLE: Cost = Cost(1);

    pub(crate) fn plus(self, other: Cost) -> Cost {
        Cost(self.0.saturating_add(other.0))
    }
}

/// Returns the price of a first repair of `kind`, in units, and whether further ones are trifles.
///
/// The order matters more than the numbers. Habits of a model (other quotes, other literals, comments) are
/// cheap; accidents (a lost comma, bracket or quote) are dear. Taking a quote for text is dearer than taking
/// it for the end of its string.
pub(super) fn price(kind: RepairKind) -> (u32, bool) {
    use RepairKind::*;
    match kind {
        SwapQuote | DropComment | DropComma | SwapLiteral | EscapeControl | DropBackslash | SwapEscape => {
            (1, true)
        }
        QuoteKey | SwapPunctuation | EscapeBackslash | DropUndefined | DropEscape | SwapSyntax | AddKey => {
            (2, true)
        }
        JoinStrings => (3, true),
        AddComma | AddColon | DropNoise => (4, true),
        // A repeated key costs less than reading its second use as text, so that the conflict is reported.
        DropRepeat => (5, true),
        EscapeQuote => (6, true),
        QuoteValue => (5, true),
        AddCloser | DropCloser => (3, false),
        DropOpener => (4, false),
        AddQuote | SwapBracket => (5, false),
        AddOpener => (6, false),
        // This reader makes no repairs of marks.
        DropProse | DropFence | DropThink | DropTag | Unwrap | MendMark | AddEnd => (0, false),
    }
}

/// A closing bracket that is missing or surplus in the middle costs more than one at the end.
pub(super) const MIDDLE: Cost = Cost::units(3);
/// A quote that is written twice on one side, where it may be an apostrophe.
pub(super) const APOSTROPHE: Cost = Cost::units(1);
/// A quote that is written twice behind a number, where it may as well stand for inches: `5""`.
pub(super) const INCHES: Cost = Cost::units(2);
/// A quote that is taken for text in front of a comma and a declared key that is still to come.
pub(super) const SWALLOW: Cost = Cost::units(8);
/// A key that a schema with declared members allows, but does not declare.
pub(super) const UNDECLARED: Cost = Cost::units(4);
/// The price of a lost closing quote before a declared key. It is certain enough to be cheaper than bare
/// quotes.
pub(super) const BEFORE_DECLARED: Cost = Cost::units(4);
/// A lost closing quote in front of the next element of a list, or of a key that nobody declared.
pub(super) const BEFORE_OTHER: Cost = Cost::units(5);
/// A bracket that closes a container further out, so that the ones inside are closed as well.
pub(super) const FOREIGN_CLOSER: Cost = Cost::units(2);
/// A comma that belongs to a text without quotes: `Paris, France`.
pub(super) const COMMA_IN_TEXT: Cost = Cost::units(1);
/// Text behind the value, or another value.
pub(super) const TAIL: Cost = Cost::units(1);
