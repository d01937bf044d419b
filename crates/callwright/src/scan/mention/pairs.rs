//! Signs that stand in pairs, of any script: quotes, brackets, ticks, emphasis.

/// An open pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// The opening sign, and those that may close the pair; one sign alone does both.
    signs: &'static str,
    /// The number of signs in a row: two in ` `` `.
    len: usize,
}

impl Pair {
    /// Returns the pair that `sign` opens.
    pub(super) fn of(sign: char, len: usize) -> Option<Pair> {
        pairs(sign).iter().find(|signs| signs.starts_with(sign)).map(|signs| Pair { signs, len })
    }

    /// Returns whether the pair holds code, in which nothing but its own end counts.
    pub(super) fn is_code(self) -> bool {
        self.signs == "`"
    }

    pub(super) fn is_closed_by(self, sign: char, len: usize) -> bool {
        let opens = self.signs.starts_with(sign) && !self.is_symmetric();
        self.len == len && self.signs.contains(sign) && !opens
    }

    /// Returns whether the same sign opens and closes the pair.
    fn is_symmetric(self) -> bool {
        self.signs.chars().nth(1).is_none()
    }
}

/// The signs of all pairs in ASCII.
const ASCII: [&str; 11] = ["\"", "'", "`", "*", "_", "|", "=", "~", "()", "[]", "{}"];
/// The signs of all pairs beyond ASCII. `»` opens in German, `”` in Swedish.
#[rustfmt::skip]
const OTHERS: [&str; 27] = [
    "“”", "„“", "‟”", "‘’", "‚‘’", "«»", "»«", "‹›", "›‹", "「」", "『』", "｢｣", "《》", "〈〉", "【】", "〔〕", "〖〗",
    "〝〞〟", "⟨⟩", "⟪⟫", "（）", "［］", "｛｝", "＂", "＇", "”", "’",
];

/// Returns the signs of the pairs that `sign` may belong to.
fn pairs(sign: char) -> &'static [&'static str] {
    if sign.is_ascii() { &ASCII } else { &OTHERS }
}

/// Quotes that may stand at both ends.
const QUOTES: &str = "\"'＂＇”’";
/// Signs that count only in a row of two: `~~x~~`, `||x||`, `==x==`.
const DOUBLED: &str = "~|=";

/// The effect of a sign in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flank {
    Opens(Pair),
    Closes,
    Nothing,
}

/// Returns whether `sign` could open or close a pair.
pub(super) fn is_sign(sign: char) -> bool {
    pairs(sign).iter().any(|signs| signs.contains(sign))
}

/// Signs of AsciiDoc's rules: a line of at least four of them stands above and below a text that is shown.
const RULES: [&str; 6] = ["-", "=", ".", "+", "*", "_"];
const SHORTEST_RULE: usize = 4;

/// Returns the pair of `line` and another one like it: `----`.
pub(super) fn rule(line: &str) -> Option<Pair> {
    let signs = RULES.into_iter().find(|sign| line.starts_with(sign))?;
    (SHORTEST_RULE <= line.len() && line.bytes().all(|byte| signs.as_bytes() == [byte]))
        .then_some(Pair { signs, len: line.len() })
}

/// Returns whether `sign` counts by its number in a row.
pub(super) fn is_run(sign: char) -> bool {
    matches!(sign, '`' | '*' | '_' | '~' | '|' | '=')
}

/// Returns the effect of `len` of `sign` in a row between `before` and `behind`, `None` for the edge of a line.
/// `is_open` says whether a pair is open that they could close.
pub(super) fn flank(
    sign: char,
    len: usize,
    before: Option<char>,
    behind: Option<char>,
    is_open: bool,
) -> Flank {
    let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let own = Pair::of(sign, len);
    let is_symmetric = own.is_some_and(Pair::is_symmetric);
    let closes = match sign {
        '`' => is_open,
        _ if DOUBLED.contains(sign) && len != 2 => return Flank::Nothing,
        // `it's`, `a_name`, `2*3`
        _ if is_symmetric && is_word(before) && is_word(behind) => return Flank::Nothing,
        // `a "b" c`: a quote behind a blank and before a word begins a quotation, whatever is open.
        _ => is_open && !(is_blank(before) && is_word(behind)),
    };
    // `say " x " now`; a quotation may also begin on the next line.
    let is_apart = is_blank(before) && QUOTES.contains(sign);
    let may_open = match is_symmetric {
        true => sign == '`' || is_apart || !is_blank(behind) && !is_word(before),
        false => !is_open,
    };
    match own {
        _ if closes => Flank::Closes,
        Some(pair) if may_open => Flank::Opens(pair),
        Some(_) | None => Flank::Nothing,
    }
}

/// Returns whether `sign` is a comma of any script.
pub(super) fn is_comma(sign: char) -> bool {
    matches!(sign, ',' | '，' | '、' | '،' | '､' | '﹐' | '﹑' | '︐' | '߸' | '᠂' | '᠈' | '꓾' | '꘍' | '՝')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_opens_before_a_word_and_closes_behind_one() {
        let of = |sign, before, behind, is_open| flank(sign, 1, before, behind, is_open);
        assert!(matches!(of('"', Some(' '), Some('<'), false), Flank::Opens(_)));
        assert_eq!(of('"', Some('>'), Some(' '), true), Flank::Closes);
        assert_eq!(of('"', Some(' '), Some('.'), true), Flank::Closes);
        assert!(matches!(of('"', Some(' '), Some('t'), true), Flank::Opens(_)));
        assert_eq!(of('\'', Some('n'), Some('t'), false), Flank::Nothing);
        assert_eq!(of('\'', Some('s'), Some(' '), false), Flank::Nothing);
        assert_eq!(of('_', Some('a'), Some('b'), true), Flank::Nothing);
        assert_eq!(of('*', None, Some(' '), false), Flank::Nothing);
        assert!(matches!(of('»', Some(' '), Some('<'), false), Flank::Opens(_)));
        assert_eq!(of('»', Some('>'), Some(' '), true), Flank::Closes);
    }
}
