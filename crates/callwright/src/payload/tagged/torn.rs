//! Marks that a value holds and should not: what is left of a tag that is broken.

use super::{Param, Style, Walk, behind_space, near, value};
use crate::syntax::marks::{Fit, fit};
use crate::syntax::tag::{Lexed, Role};

impl Walk {
    /// Does the value of `param`, `key`, which is written as `raw` and reads `json`, hold marks that only tags of this
    /// style have? Then one of them is broken.
    pub(crate) fn holds_marks(&self, param: &Param, raw: &str, key: &str, json: &str) -> bool {
        // `]<]minimax[>[<a>x][</a>`
        let ends_with_tag = || {
            let before = raw.trim_end().strip_suffix('>').and_then(|raw| raw.strip_suffix(key));
            before
                .and_then(|raw| raw.strip_suffix("</"))
                .is_some_and(|raw| !raw.contains(&format!("<{key}>")))
        };
        match self.style {
            _ if param.is_json => false,
            Style::Elements { marked: true } => {
                let text = if json.starts_with('"') { raw } else { json };
                text.contains("]minimax[") && self.is_torn(text) || ends_with_tag()
            }
            _ if self.by_tokens && self.is_torn(raw) => true,
            Style::Words => param.holds_closers && self.holds_torn_opener(raw),
            Style::Elements { marked: false } | Style::Over => false,
        }
    }

    /// Does what is left of an argument's opening tag stand in `raw` behind a closing one: `x</parameter>⏎<parameter=b`?
    fn holds_torn_opener(&self, raw: &str) -> bool {
        let mut next = 0;
        while let Some(at) = self.lexer.next(raw, next) {
            next = at + 1;
            let Lexed::Tag(tag) = self.lexer.tag_at(raw, at) else { continue };
            if tag.closing && matches!(tag.role, Role::Param | Role::Value) {
                let from = behind_space(raw, tag.at.end as usize);
                if matches!(self.lexer.tag_at(raw, from), Lexed::Tag(tag) if tag.role != Role::Other) {
                    continue;
                }
                if value::names_an_argument(near(raw, from)) {
                    return true;
                }
            }
        }
        false
    }

    /// Does `raw` hold the marks of a tag that is not whole, or that opens what `raw` does not close? The closing tag of a
    /// call may be text, `]<]minimax[>[</invoke>`, and one of an argument where all are alike: `<|close|>argument<|sep|>`.
    fn is_torn(&self, raw: &str) -> bool {
        let count = |mark: &str| {
            let places = memchr::memchr_iter(mark.as_bytes()[0], raw.as_bytes());
            let is_bare = |at: &usize| match fit(&raw.as_bytes()[*at..], mark) {
                Fit::Is(len) => !is_quoted(raw, *at, at + len),
                Fit::Grows | Fit::No => false,
            };
            places.filter(is_bare).count()
        };
        let mut open: Vec<&str> = Vec::new();
        let mut n_tags = 0;
        let mut next = 0;
        while let Some(at) = self.lexer.next(raw, next) {
            next = self.past(raw, at);
            let Lexed::Tag(tag) = self.lexer.tag_at(raw, at) else { continue };
            if tag.by_tokens || tag.marked {
                n_tags += 1;
                let word = tag.word.of(raw);
                let may_be_text = match tag.role {
                    Role::Call | Role::Group => true,
                    // `<|close|>argumentcall<|sep|>`
                    Role::Other => self.by_tokens && !value::names_an_argument(word),
                    _ => self.by_tokens,
                };
                match tag.closing {
                    true if open.last() == Some(&word) => drop(open.pop()),
                    true if may_be_text => {}
                    true => return true,
                    false if tag.marked && matches!(tag.role, Role::Call | Role::Group) => {}
                    false => open.push(word),
                }
            }
        }
        let counts = match self.by_tokens {
            true => [count("<|open|>") + count("<|close|>"), count("<|sep|>")],
            false => [count("]minimax["); 2],
        };
        !open.is_empty() || counts != [n_tags; 2]
    }
}

/// Does what stands from `start` to `end` stand between two quotes, with a word more at most: `"<|open|>call"`?
fn is_quoted(text: &str, start: usize, end: usize) -> bool {
    let quote = text.get(..start).and_then(|before| before.chars().next_back());
    let behind = text.get(end..).unwrap_or("").trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    quote.is_some_and(|quote| matches!(quote, '"' | '\'' | '`') && behind.starts_with(quote))
}
