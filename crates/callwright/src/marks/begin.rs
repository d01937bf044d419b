//! Finds the dialects whose marks may begin a text, whole or broken, by its first letters.

use std::sync::Arc;

use super::edit::ONE_EDIT;
use super::edit::{self, is_within};
use crate::dialect::{Dialects, Record, is_sign};
use crate::grammar::{fold, folded};
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
        let begun = beginning(text, HEAD_LETTERS);
        let rest = |from: usize| begun.get(from..).unwrap_or(&[]);
        is_word && rest(1).first().is_some_and(|next| is_sign(*next))
            || is_odd && (self.may_follow_sign(rest(0)) || self.may_follow_sign(rest(1)))
            || self.signless_heads().iter().any(|head| is_near(&begun, head))
    }

    /// Returns each dialect once whose marks in front of a call may begin `text`, whole or broken.
    pub(crate) fn broken_at(&self, text: &str, tool_set: &ToolSet) -> impl Iterator<Item = &Arc<Record>> {
        // A whole mark is not another mark that is broken.
        let letters = beginning(text, self.longest_head().max(HEAD_LETTERS));
        let is_whole = |(head, _): &&(Vec<char>, u16)| ONE_EDIT <= head.len() && letters.starts_with(head);
        let whole = self.heads().iter().filter(is_whole);
        let whole = whole.map(|(head, _)| head).max_by_key(|head| head.len());
        let may_be = move |head: &Vec<char>, id: u16| {
            whole.is_none_or(|whole| whole == head) || self.record(id).form().is_some()
        };
        let by_head = self.heads().iter();
        let begun = beginning(text, HEAD_LETTERS);
        let by_head = by_head.filter(move |(head, id)| may_be(head, *id) && is_near(&begun, head));
        let is_named = move |record: &&Arc<Record>| {
            let form = record.form().filter(|form| form.is_named());
            form.is_some_and(|form| {
                tool_set.iter().any(|tool| may_begin(&folded(&form.call.with(tool.name())), &letters))
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

/// Returns whether a text with these letters at its [`beginning`] may begin with `head`, even with wrong letters. A sign
/// in front of such a mark, `> <tool_call>`, is not one of its letters.
fn is_near(letters: &[char], head: &[char]) -> bool {
    let Some(first) = letters.first() else { return false };
    // One letter tells nearly all words apart.
    let begins =
        |at: usize| letters.get(at).is_none_or(|letter| head.iter().take(2).any(|own| own == letter));
    let may_be = match head.first() {
        Some(sign) if is_sign(*sign) => !first.is_whitespace(),
        _ => begins(0) || first.is_alphanumeric() && begins(1),
    };
    may_be && may_begin(head, letters)
}

/// Returns whether a text with these letters at its [`beginning`] may begin with `head`, even with wrong letters. A
/// short head allows no wrong letter, as it would fit every word.
fn may_begin(head: &[char], text: &[char]) -> bool {
    let head = &head[..head.len().min(HEAD)];
    let most = match head.len() {
        HEAD.. => edit::MOST,
        ONE_EDIT.. => 1,
        _ => usize::from(!head.iter().any(|letter| letter.is_alphanumeric())),
    };
    let text = text.get(..HEAD_LETTERS).unwrap_or(text);
    // With extra letters in it, all of a longer text may be the beginning of the head.
    is_within(head, text, most) || text.len() < HEAD + most && is_within(text, head, most)
}

/// Returns the first `most` letters of `text`, folded.
fn beginning(text: &str, most: usize) -> Vec<char> {
    fold::folded_letters(text).take(most).collect()
}

/// Number of letters of a mark that are compared first.
const HEAD: usize = 8;
/// Number of letters of a text that are compared first.
const HEAD_LETTERS: usize = HEAD + edit::MOST;
