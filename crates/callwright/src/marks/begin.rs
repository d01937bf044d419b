//! Finds the dialects whose marks may begin a text, whole or broken, by its first letters.

use std::sync::Arc;

use super::edit::ONE_EDIT;
use super::edit::{self, is_within};
use crate::dialect::{Dialects, Record, is_sign};
use crate::grammar::{Form, fold, folded};
use crate::tools::{Tool, ToolSet};

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
    pub(crate) fn broken_at(&self, text: &str, tool_set: &ToolSet) -> Vec<&Arc<Record>> {
        let longest = self.heads().iter().map(|(head, _)| head.len()).max().unwrap_or(0);
        let begun = beginning(text, longest.max(HEAD_LETTERS));
        // A whole mark is not another mark that is broken.
        let is_whole = |head: &&Vec<char>| ONE_EDIT <= head.len() && begun.starts_with(head);
        let heads = self.heads().iter().map(|(head, _)| head);
        let whole = heads.filter(is_whole).max_by_key(|head| head.len());
        let may_be = |(head, id): &&(Vec<char>, u16)| {
            whole.is_none_or(|whole| whole == head) || self.record(*id).form().is_some()
        };
        let opens = |form: &Form, tool: &Tool| may_begin(&folded(&form.call.with(tool.name())), &begun);
        let is_named = |form: &&Form| form.is_named() && tool_set.iter().any(|tool| opens(form, tool));
        let by_name = self.records().iter().filter(|record| record.form().filter(is_named).is_some());
        let by_head = self.heads().iter().filter(may_be).filter(|(head, _)| is_near(&begun, head));
        let mut all: Vec<&Arc<Record>> = Vec::new();
        for record in by_head.map(|(_, id)| self.record(*id)).chain(by_name) {
            if self.admits(record) && all.iter().all(|known| known.id != record.id) {
                all.push(record);
            }
        }
        all
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
