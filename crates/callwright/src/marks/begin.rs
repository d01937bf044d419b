//! Finds the dialects whose marks may begin a text, whole or broken, by its first letters.

use std::sync::Arc;

use super::{HEAD_LETTERS, beginning, is_whole_at, may_begin};
use crate::dialect::{Dialects, Record, is_sign};
use crate::grammar::folded;
use crate::tools::ToolSet;

impl Dialects {
    /// Returns whether such marks may begin `text`. Its first letters are a sign, an extra letter before a sign,
    /// letters that follow the sign of a mark, or a word that is a mark.
    pub(crate) fn may_break_at(&self, text: &str) -> bool {
        let Some(first) = text.chars().next() else { return false };
        if is_sign(first) {
            return true;
        }
        let is_word = first.is_alphanumeric();
        // In front of a word, these signs begin a form that has a reader of its own.
        let is_odd = is_word || first.is_ascii_punctuation() && !matches!(first, '(' | '{' | '`' | '#');
        let begun = Begun::of(text);
        let rest = |from: usize| begun.letters.get(from..).unwrap_or(&[]);
        is_word && rest(1).first().is_some_and(|next| is_sign(*next))
            || is_odd && (self.may_follow_sign(rest(0)) || self.may_follow_sign(rest(1)))
            || self.signless_heads().iter().any(|head| begun.is_near(head))
    }

    /// Returns each dialect once whose marks in front of a call may begin `text`, whole or broken.
    pub(crate) fn broken_at(&self, text: &str, tool_set: &ToolSet) -> impl Iterator<Item = &Arc<Record>> {
        // A whole mark is not another mark that is broken.
        let letters = beginning(text, self.longest_head().max(HEAD_LETTERS));
        let whole = self.heads().iter().filter(|(head, _)| is_whole_at(head, &letters));
        let whole = whole.map(|(head, _)| head).max_by_key(|head| head.len());
        let may_be = move |head: &Vec<char>, id: u16| {
            whole.is_none_or(|whole| whole == head) || self.record(id).form().is_some()
        };
        let by_head = self.heads().iter();
        let begun = Begun::of(text);
        let by_head = by_head.filter(move |(head, id)| may_be(head, *id) && begun.is_near(head));
        let is_named = move |record: &&Arc<Record>| {
            let form = record.form().filter(|form| form.is_named());
            form.is_some_and(|form| {
                tool_set.iter().any(|tool| may_begin(&folded(&form.opener_of(tool.name())), &letters))
            })
        };
        let all = by_head.map(|(_, id)| self.record(*id)).chain(self.records().iter().filter(is_named));
        let mut known: Vec<u16> = Vec::new();
        all.filter(move |record| {
            let is_new = !known.contains(&record.id);
            known.extend(is_new.then_some(record.id));
            is_new
        })
    }
}

/// The beginning of a text, for comparison with many marks.
struct Begun {
    first: Option<char>,
    /// The first letters, folded.
    letters: Vec<char>,
}

impl Begun {
    fn of(text: &str) -> Begun {
        Begun { first: text.chars().next(), letters: beginning(text, HEAD_LETTERS) }
    }

    /// Returns whether the text may begin with `head`, even with wrong letters. A sign in front of such a mark,
    /// `> <tool_call>`, is not one of its letters.
    fn is_near(&self, head: &[char]) -> bool {
        let Some(first) = self.first else { return false };
        // One letter tells nearly all words apart.
        let begins = |at: usize| {
            self.letters.get(at).is_none_or(|letter| head.iter().take(2).any(|own| own == letter))
        };
        let may_be = match head.first() {
            Some(sign) if is_sign(*sign) => !first.is_whitespace(),
            _ => begins(0) || first.is_alphanumeric() && begins(1),
        };
        may_be && may_begin(head, &self.letters)
    }
}
