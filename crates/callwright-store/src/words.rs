//! Words, as they are found by searching: runs of letters and digits, in small letters. The database is given words,
//! not texts, so that all databases find the same.
//!
//! Each word stands there with the slice of nodes that it was said in, `0000001f` for the nodes from 253,952 on: what is
//! asked of the youngest nodes is answered from their words alone, however often a word, or the beginning of one, was
//! said before. Beside its words a node has marks for what its turn was like, so that both are asked for at once.

use std::collections::BTreeSet;
use std::ops::Range;

use sha2::{Digest, Sha256};

/// Of one node, so many bytes are looked at.
const LOOKED_AT: usize = 32 << 10;
/// A longer word is cut: nobody types it.
const LONGEST: usize = 48;
/// Of a question, so many words count.
const ASKED: usize = 8;
/// From so many letters on, the last word of a question stands for all that begin with it.
const PREFIX: usize = 3;

/// So many nodes are a slice. The beginning of a word may be that of nearly all words: they are put together for each
/// slice that is asked.
pub(crate) const SLICE: i64 = 8192;

/// The words of these texts and the marks, each once, with spaces between them. Where there are no words nothing can be
/// asked for: then there are no marks either.
pub(crate) fn words<'t>(texts: impl Iterator<Item = &'t str>, marks: &[String]) -> String {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut left = LOOKED_AT;
    for text in texts {
        let text = text.get(..text.floor_char_boundary(left.min(text.len()))).unwrap_or_default();
        left -= text.len();
        found.extend(split(text));
    }
    if !found.is_empty() {
        found.extend(marks.iter().cloned());
    }
    let words: Vec<String> = found.into_iter().collect();
    words.join(" ")
}

/// Something that is known of a turn, as a word that no text has: `=` and a letter for what it is, then its hash.
pub(crate) fn mark(what: Mark, value: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(value.as_bytes()).into();
    let hash: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let what = match what {
        Mark::Outcome => 'o',
        Mark::Model => 'm',
        Mark::Mode => 'w',
        Mark::Dialect => 'd',
        Mark::Surface => 's',
        Mark::Fault => 'f',
        Mark::Owner => 'k',
    };
    format!("={what}{hash}")
}

/// The known facts of a turn; an owner by its id.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    Outcome,
    Model,
    Mode,
    Dialect,
    Surface,
    Fault,
    Owner,
}

/// The words of a node, each behind the slice of its node.
pub(crate) fn sliced(words: &str, node: i64) -> String {
    let slice = prefix(slice_of(node));
    let words: Vec<String> = words.split(' ').map(|word| format!("{slice}{word}")).collect();
    words.join(" ")
}

/// The slice that a node stands in.
pub(crate) fn slice_of(node: i64) -> i64 {
    node.div_euclid(SLICE)
}

/// All of one length, or the words of one slice would begin like those of another one.
fn prefix(slice: i64) -> String {
    format!("{slice:08x}")
}

/// The wanted words: all of these; `is_prefix` says that the last one may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    words: Vec<String>,
    is_prefix: bool,
    marks: Vec<String>,
}

impl Question {
    /// None where there is no word in it.
    pub(crate) fn of(text: &str, marks: Vec<String>) -> Option<Question> {
        let words: Vec<String> = split(text).take(ASKED).collect();
        let last = words.last()?;
        let is_prefix = PREFIX <= last.chars().count() && text.ends_with(char::is_alphanumeric);
        Some(Question { words, is_prefix, marks })
    }

    /// For SQLite's FTS5, asked of these slices: `("0000001frun" AND "0000001fcod"*) OR (…)`.
    pub(crate) fn fts5(&self, slices: Range<i64>) -> String {
        self.asked(slices, " AND ", " OR ", |slice, word, more| {
            format!("\"{slice}{word}\"{}", if more { "*" } else { "" })
        })
    }

    /// For Postgres, as a `tsquery`: `('0000001frun' & '0000001fcod':*) | (…)`.
    pub(crate) fn tsquery(&self, slices: Range<i64>) -> String {
        self.asked(slices, " & ", " | ", |slice, word, more| {
            format!("'{slice}{word}'{}", if more { ":*" } else { "" })
        })
    }

    fn asked(
        &self,
        slices: Range<i64>,
        and: &str,
        or: &str,
        term: impl Fn(&str, &str, bool) -> String,
    ) -> String {
        let of_slice = |slice| {
            let slice = prefix(slice);
            let last = self.words.len().saturating_sub(1);
            let words = self.words.iter().enumerate();
            let mut terms: Vec<String> =
                words.map(|(n, word)| term(&slice, word, self.is_prefix && n == last)).collect();
            terms.extend(self.marks.iter().map(|mark| term(&slice, mark, false)));
            format!("({})", terms.join(and))
        };
        slices.map(of_slice).collect::<Vec<_>>().join(or)
    }
}

fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(|word| {
        let word = word.get(..word.floor_char_boundary(LONGEST)).unwrap_or(word);
        // What a letter becomes may hold what is none: `İ` is `i` and a dot.
        word.to_lowercase()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_same_in_texts_and_questions() {
        assert_eq!(words(["Run_Code(\"x\")", "run é É 10"].into_iter(), &[]), "10 code run x é");
        assert_eq!(words(["a"].into_iter(), &["=o1".into()]), "=o1 a");
        assert_eq!(words(["", "?"].into_iter(), &["=o1".into()]), "");
        let long = "a".repeat(LOOKED_AT + 9);
        assert_eq!(words([long.as_str(), "b"].into_iter(), &[]).len(), LONGEST);
        assert_eq!(sliced("a b", SLICE + 1), "00000001a 00000001b");
        let question = Question::of("run_Cod", Vec::new()).unwrap();
        assert_eq!(question.fts5(31..32), "(\"0000001frun\" AND \"0000001fcod\"*)");
        assert_eq!(
            question.tsquery(0..2),
            "('00000000run' & '00000000cod':*) | ('00000001run' & '00000001cod':*)"
        );
        let marked = Question::of("go", vec![mark(Mark::Outcome, "repaired")]).unwrap();
        assert_eq!(marked.fts5(0..1), "(\"00000000go\" AND \"00000000=o3baf75ce884746c4\")");
        assert_eq!(Question::of("code ", Vec::new()).unwrap().fts5(0..1), "(\"00000000code\")");
        assert_eq!(Question::of("\"' :*=", Vec::new()), None);
    }
}
