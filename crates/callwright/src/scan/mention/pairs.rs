//! Signs that stand in pairs, of any script: quotes, brackets, ticks, emphasis.

/// An open pair: what may close it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    closers: &'static str,
    /// How often the closer stands in a row: of ` `` `, twice.
    len: usize,
}

impl Pair {
    /// The pair that `quote` opens, in front of a call.
    pub(super) fn of(quote: char, len: usize) -> Option<Pair> {
        let closers = SYMMETRIC
            .iter()
            .find_map(|own| own.starts_with(quote).then_some(*own))
            .or_else(|| OPENERS.iter().find_map(|(open, closers)| (*open == quote).then_some(*closers)))?;
        Some(Pair { closers, len })
    }

    /// Is it code, in which nothing but its own end counts?
    pub(super) fn is_code(self) -> bool {
        self.closers == "`"
    }

    pub(super) fn is_closed_by(self, sign: char, len: usize) -> bool {
        self.len == len && self.closers.contains(sign)
    }
}

/// What opens a pair, and what may close it. `»` opens in German, `”` in Swedish.
const OPENERS: &[(char, &str)] = &[
    ('“', "”"),
    ('„', "“”"),
    ('‟', "”"),
    ('‘', "’"),
    ('‚', "‘’"),
    ('«', "»"),
    ('»', "«"),
    ('‹', "›"),
    ('›', "‹"),
    ('「', "」"),
    ('『', "』"),
    ('｢', "｣"),
    ('《', "》"),
    ('〈', "〉"),
    ('【', "】"),
    ('〔', "〕"),
    ('〖', "〗"),
    ('〝', "〞〟"),
    ('⟨', "⟩"),
    ('⟪', "⟫"),
    ('(', ")"),
    ('[', "]"),
    ('{', "}"),
    ('（', "）"),
    ('［', "］"),
    ('｛', "｝"),
];
/// What opens and closes; each by itself.
const SYMMETRIC: &[&str] = &["\"", "'", "`", "*", "_", "~", "＂", "＇", "”", "’", "|", "="];
/// Those of the symmetric ones that count only in a row: `~~x~~`, `||x||`, `==x==`.
const DOUBLED: &str = "~|=";

/// What a sign does where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flank {
    Opens(Pair),
    Closes,
    Nothing,
}

/// Could `sign` open or close a pair?
pub(super) fn is_sign(sign: char) -> bool {
    !sign.is_alphanumeric()
        && (OPENERS
            .iter()
            .any(|(open, closers)| *open == sign || closers.chars().any(|closer| closer == sign))
            || is_symmetric(sign))
}

/// The signs of which a line of at least four stands on both sides of a text that is shown, as AsciiDoc has it.
const RULES: [&str; 6] = ["-", "=", ".", "+", "*", "_"];
const SHORTEST_RULE: usize = 4;

/// `line` as a pair with another one like it: `----`.
pub(super) fn rule(line: &str) -> Option<Pair> {
    let closers = RULES.into_iter().find(|sign| line.starts_with(sign))?;
    (SHORTEST_RULE <= line.len() && line.bytes().all(|byte| closers.as_bytes() == [byte]))
        .then_some(Pair { closers, len: line.len() })
}

/// Whether it is the same sign that opens and closes.
fn is_symmetric(sign: char) -> bool {
    SYMMETRIC.iter().any(|own| own.starts_with(sign))
}

/// Does it count by how often it stands in a row?
pub(super) fn is_run(sign: char) -> bool {
    matches!(sign, '`' | '*' | '_' | '~' | '|' | '=')
}

/// What `len` of `sign` in a row do between `before` and `behind`, `None` for the edge of a line; `is_open` says whether a
/// pair is open that they could close.
pub(super) fn flank(
    sign: char,
    len: usize,
    before: Option<char>,
    behind: Option<char>,
    is_open: bool,
) -> Flank {
    let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    if sign == '`' {
        return if is_open { Flank::Closes } else { opens(sign, len) };
    }
    if !is_open && OPENERS.iter().any(|(open, _)| *open == sign) {
        return opens(sign, len);
    }
    if DOUBLED.contains(sign) && len != 2 {
        return Flank::Nothing;
    }
    // `it's`, `a_name`, `2*3`
    if is_word(before) && is_word(behind) && is_symmetric(sign) {
        return Flank::Nothing;
    }
    // `a "b" c`: a quote behind a blank and before a word begins one, whatever is open.
    let begins = is_blank(before) && !is_blank(behind);
    if is_open && !(begins && is_word(behind)) {
        return Flank::Closes;
    }
    if is_symmetric(sign) && !is_blank(behind) && !is_word(before) {
        opens(sign, len)
    } else {
        Flank::Nothing
    }
}

fn opens(sign: char, len: usize) -> Flank {
    Pair::of(sign, len).map_or(Flank::Nothing, Flank::Opens)
}

/// A comma of any script.
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
