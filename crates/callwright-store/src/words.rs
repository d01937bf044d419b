//! Words, as they are found by searching: runs of letters and digits, in small letters. The database is given words,
//! not texts, so that all databases find the same.

use std::collections::BTreeSet;

/// Of one node, so many bytes are looked at.
const LOOKED_AT: usize = 32 << 10;
/// A longer word is cut: nobody types it.
const LONGEST: usize = 48;
/// Of a question, so many words count.
const ASKED: usize = 8;
/// From so many letters on, the last word of a question stands for all that begin with it.
const PREFIX: usize = 3;

/// The words of these texts, each once, with spaces between them.
pub(crate) fn words<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut left = LOOKED_AT;
    for text in texts {
        let text = text.get(..text.floor_char_boundary(left.min(text.len()))).unwrap_or_default();
        left -= text.len();
        found.extend(split(text));
    }
    let words: Vec<String> = found.into_iter().collect();
    words.join(" ")
}

/// What is asked for: all of these words; `is_prefix` says that the last one may go on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) words: Vec<String>,
    pub(crate) is_prefix: bool,
}

impl Question {
    /// None where there is no word in it.
    pub(crate) fn of(text: &str) -> Option<Question> {
        let words: Vec<String> = split(text).take(ASKED).collect();
        let last = words.last()?;
        let is_prefix = PREFIX <= last.chars().count() && text.ends_with(char::is_alphanumeric);
        Some(Question { words, is_prefix })
    }

    /// For SQLite's FTS5: `"run" "cod"*`.
    pub(crate) fn fts5(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| format!("\"{word}\"")).collect();
        words.join(" ") + if self.is_prefix { "*" } else { "" }
    }

    /// For Postgres, as a `tsquery`: `'run' & 'cod':*`.
    pub(crate) fn tsquery(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| format!("'{word}'")).collect();
        words.join(" & ") + if self.is_prefix { ":*" } else { "" }
    }
}

fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(|word| {
        let word = word.get(..word.floor_char_boundary(LONGEST)).unwrap_or(word);
        word.to_lowercase()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_same_in_texts_and_questions() {
        assert_eq!(words(["Run_Code(\"x\")", "run é É 10"].into_iter()), "10 code run x é");
        assert_eq!(words([""].into_iter()), "");
        let long = "a".repeat(LOOKED_AT + 9);
        assert_eq!(words([long.as_str(), "b"].into_iter()).len(), LONGEST);
        let question = Question::of("run_Cod").unwrap();
        assert_eq!(question.fts5(), "\"run\" \"cod\"*");
        assert_eq!(question.tsquery(), "'run' & 'cod':*");
        assert_eq!(Question::of("go").unwrap().fts5(), "\"go\"");
        assert_eq!(Question::of("code ").unwrap().fts5(), "\"code\"");
        assert_eq!(Question::of("\"' :*"), None);
    }
}
