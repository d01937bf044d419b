//! Regular expressions of ECMA 262, for `pattern` and `patternProperties`. The memory of a pattern is known before it
//! is compiled, and each step of a search costs fuel.
//!
//! A pattern is compiled at its first search, into a program whose steps are characters and not bytes:
//! `[\p{L}\p{N}]{1,100}` is two hundred steps, and the tables of Unicode are there once. A search without look-around
//! takes time that grows with the steps and the text; look-ahead and look-behind remember the places that they tried. A
//! reference back (`\1`) is tried in all ways, as far as the fuel goes.
//!
//! Besides ECMA 262, some forms of other languages are known, because programs in them write schemas: `(?i)`, `(?s)`
//! and `(?m)` for the rest of a group, `(?P<name>…)`, `\pL`, `\A` and `\z`. `\d`, `\w`, `\s` and `\b` are those of ECMA
//! 262 everywhere.

mod class;
mod program;
mod search;
mod syntax;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::program::{Program, Size};
use super::fuel::Fuel;

/// Most steps of one program: 128 KiB.
const MAX_SIZE: usize = 1 << 14;
/// Most steps of the compiled patterns of one schema that are kept, besides [`KEPT_FOR_EACH_BYTE`]: 8 KiB.
const KEPT: usize = 1 << 10;
/// Number of steps that are kept for each byte of a pattern: real ones have fewer.
const KEPT_FOR_EACH_BYTE: usize = 16;

/// Patterns of one schema, each compiled at its first search.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    all: Vec<Pattern>,
    /// The steps that may still be kept: memory grows with the schema's text, with any `{1000}` in it. A pattern
    /// without room is compiled for each search, which pays for it.
    room: AtomicUsize,
}

#[derive(Debug)]
struct Pattern {
    source: Box<str>,
    /// The steps of its program.
    size: usize,
    program: OnceLock<Program>,
}

impl Patterns {
    /// Adds `source`, and returns its number; `None` if it is not a pattern, or too large a one.
    pub(super) fn add(&mut self, source: &str) -> Option<u32> {
        let Size(size) = syntax::parse::<Size>(source)?.code;
        let room = self.room.get_mut();
        if self.all.is_empty() {
            *room = KEPT;
        }
        *room = room.saturating_add(KEPT_FOR_EACH_BYTE.saturating_mul(source.len()));
        self.all.push(Pattern { source: source.into(), size, program: OnceLock::new() });
        u32::try_from(self.all.len() - 1).ok()
    }

    /// Returns the text of a pattern.
    pub(super) fn source(&self, pattern: u32) -> &str {
        self.all.get(pattern as usize).map_or("", |pattern| &pattern.source)
    }

    /// Returns whether a pattern occurs in `text`; `None` if the fuel does not suffice.
    pub(super) fn occurs(&self, pattern: u32, text: &str, fuel: &mut Fuel) -> Option<bool> {
        let pattern = self.all.get(pattern as usize)?;
        if let Some(program) = pattern.program.get() {
            return program.occurs(text, fuel);
        }
        // The compiler reads the pattern character by character, and most steps are copies of others.
        fuel.take(8 * pattern.source.len() + pattern.size / 2)?;
        let program = Program::new(&pattern.source)?;
        let has_room = self
            .room
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(pattern.size));
        match has_room {
            Ok(_) => pattern.program.get_or_init(|| program).occurs(text, fuel),
            Err(_) => program.occurs(text, fuel),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fuel, Patterns};

    /// Each pattern with what it occurs in and what it does not.
    const CASES: &[(&str, &[&str], &[&str])] = &[
        ("", &["", "a"], &[]),
        ("a|b|", &["", "c"], &[]),
        ("^(?:a|bc)$", &["a", "bc"], &["", "ab", "abc"]),
        ("^a{2,3}$", &["aa", "aaa"], &["a", "aaaa"]),
        ("^a{2,}$", &["aa", "aaaaa"], &["a", ""]),
        ("^(ab?){0}$", &[""], &["a"]),
        ("^a*?b+?c??$", &["b", "aabbc"], &["a", "c"]),
        (r"^\d+$", &["09"], &["", "٣", "1a"]),
        (r"^\W\D\S$", &["é!x"], &["a!x", "é1x", "é! "]),
        (r"^[^\W_]+$", &["a1"], &["_", "é"]),
        (r"^[\s\S]$", &["\u{feff}", "x"], &["", "xy"]),
        (r"^\p{L}\P{L}\p{Lu}\p{Script=Greek}$", &["é1Éα"], &["11Éα", "é1éα"]),
        (r"^[\p{L}\p{N}_.-]{1,3}$", &["é-٣"], &["", "a b", "abcd"]),
        (r"^\cA\x41\u0042\0\t$", &["\u{1}AB\0\t"], &["AAB\0\t"]),
        (r"^[a\-z]$", &["a", "-", "z"], &["b"]),
        (r"^[a-c-e]$", &["b", "-", "e"], &["d"]),
        (r"^[\w--z]$", &["-", "z"], &["!"]),
        (r"^[[&&~~]$", &["[", "&", "~"], &["]"]),
        (r"^[^a-c]$", &["d", "\n", "é"], &["a", ""]),
        (r"^.$", &["a", "é", "😀"], &["\n", "ab"]),
        (r"\bfoo\b", &["a foo.", "foo"], &["food", "afoo"]),
        (r"^\Bx", &[], &["x"]),
        (r"a{,2}", &["a{,2}"], &["aa"]),
        (r"x{y}]", &["x{y}]"], &["xy"]),
        (r"^\/\.\-$", &["/.-"], &["/x-"]),
        (r"(?i)^straße[a-c]$", &["STRAßEB", "straßec"], &["strasseb"]),
        (r"^(?i:a)b$", &["Ab"], &["AB"]),
        (r"^(?s).$", &["\n"], &[]),
        (r"(?m)^b$", &["a\nb\nc"], &["ab"]),
        (r"\Aa\z", &["a"], &["ab", "a\n"]),
        (r"^(?=.*\d)(?=.*[a-z]).{4,}$", &["a1xx", "xx1a"], &["aaaa", "1111", "a1"]),
        (r"^(?!admin$)[a-z]+$", &["adminx", "user"], &["admin"]),
        (r"(?<=\$)\d+(?<!0)$", &["$15"], &["15", "$10"]),
        (r"(?<=a(b|cd))x", &["acdx", "abx"], &["adx", "cdx"]),
        (r"^(a|b)\1$", &["aa", "bb"], &["ab"]),
        (r"^(?<q>['\u0022])x\k<q>$", &["'x'", "\"x\""], &["'x\""]),
        (r"^(?:(a)|b)\1$", &["aa", "b"], &["ba"]),
        (r"^((a*)*)*$", &["aaaa", ""], &["aab"]),
        (r"^(?:(?=(a+)+$)a)+!$", &[], &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"]),
    ];

    #[test]
    fn what_occurs_is_found() {
        for (pattern, inside, outside) in CASES {
            let mut patterns = Patterns::default();
            let number = patterns.add(pattern).expect(pattern);
            let occurs = |text: &str| patterns.occurs(number, text, &mut Fuel::of(1 << 10));
            for text in *inside {
                assert_eq!(occurs(text), Some(true), "{pattern} {text:?}");
            }
            for text in *outside {
                assert_eq!(occurs(text), Some(false), "{pattern} {text:?}");
            }
        }
    }

    #[test]
    fn what_is_no_pattern_is_none() {
        let deep = format!("{}a{}", "(".repeat(300), ")".repeat(300));
        for pattern in [
            "(",
            ")",
            "a)",
            "[",
            "[a",
            "[]",
            "[^]",
            "[b-a]",
            "*",
            "a**",
            "(?<a",
            "(?>a)",
            "(?#a)",
            "a\\",
            "\\Z",
            "\\q",
            "\\p{Nothing}",
            "\\p{",
            "\\1",
            "(a)\\2",
            "\\k<a>",
            "\\u12",
            "\\xg0",
            "\\c1",
            "((a{1000}){1000}){1000}",
            "a{3,2}",
            &deep,
        ] {
            assert_eq!(Patterns::default().add(pattern), None, "{pattern}");
        }
    }

    /// The work of a search grows with the text, and a search that is too dear ends.
    #[test]
    fn a_search_ends() {
        let spent = |pattern: &str, text: &str| {
            let mut patterns = Patterns::default();
            let number = patterns.add(pattern).expect(pattern);
            let mut fuel = Fuel::of(1 << 16);
            let before = fuel.left();
            let found = patterns.occurs(number, text, &mut fuel);
            (found, before - fuel.left())
        };
        for pattern in ["(x+x+)+y", "^(a|aa)+$", "(x*)*$", r"(?=(a+)+$)b", r"[\p{L}]{1,100}!"] {
            let (found, small) = spent(pattern, &"x".repeat(400));
            let (_, large) = spent(pattern, &"x".repeat(1_600));
            assert!(found.is_some() && large <= 5 * small.max(1_000), "{pattern}: {small} and {large}");
        }
        assert_eq!(spent(r"^(a+)+\1$", &format!("{}!", "a".repeat(40))).0, None);
    }

    /// Compiled patterns are kept as far as their texts are long.
    #[test]
    fn what_is_kept_grows_with_the_text() {
        let mut patterns = Patterns::default();
        for n in 0..100 {
            patterns.add(&format!("a{{9{n}}}"));
        }
        let mut fuel = Fuel::of(1 << 20);
        assert!((0..100).all(|n| patterns.occurs(n, "a", &mut fuel).is_some()));
        let kept: usize = patterns
            .all
            .iter()
            .filter(|pattern| pattern.program.get().is_some())
            .map(|pattern| pattern.size)
            .sum();
        assert!(0 < kept && kept <= super::KEPT + super::KEPT_FOR_EACH_BYTE * 600, "{kept}");
    }
}
