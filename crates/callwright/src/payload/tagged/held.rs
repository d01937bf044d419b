//! Marks of its own dialect that a value holds.

use super::{Param, Style, View, Walk};
use crate::syntax::Incomplete;
use crate::syntax::tag::{MINIMAX, Role, Tag};

/// What a value may be taken for if a mark of it is broken.
struct Doubt<'w> {
    view: View<'w>,
    /// The keys that have a value.
    given: Vec<&'w str>,
    /// Nothing of its own closes one of the values.
    is_loose: bool,
}

impl Walk {
    /// Could a value, or the call, end at another place as well? Where a value holds marks of its dialect that do not open
    /// and close each other, as those of a whole call in it do. A closing tag alone is what it speaks of,
    /// `print("</parameter>")`, unless what stands behind it may be another argument's, whose opening tag is missing.
    pub(crate) fn is_doubtful(&self, view: View<'_>) -> bool {
        let text = view.text;
        let given = self.params.iter().map(|param| param.key.of(text)).collect();
        let is_loose = self.params.iter().any(|param| !param.is_closed);
        let doubt = Doubt { view, given, is_loose };
        // What stands for an object or a list is read by its elements.
        let is_read = |param: &Param| {
            let is_marked = self.style == Style::Elements { marked: true };
            param.is_json || is_marked && view.takes_brackets(param.key.of(text))
        };
        let is_torn = |param: &Param| !is_read(param) && !self.is_balanced(param, &doubt);
        self.doubtful || self.params.iter().any(is_torn)
    }

    fn is_balanced(&self, param: &Param, doubt: &Doubt<'_>) -> bool {
        let text = doubt.view.text;
        let (value, key) = (param.value, param.key.of(text));
        let mut open: Vec<(Role, bool)> = Vec::new();
        let (mut next, mut holds_arguments) = (value.start as usize, false);
        while let Some(at) = self.lexer.next(text, next).filter(|at| *at < value.end as usize) {
            next = self.past(text, at);
            let tag = match self.lexer.tag_at(text, at) {
                Ok(Some(tag)) => tag,
                // `<|open|><|sep|>argument`
                _ if param.is_of_tokens && is_token_at(text, at) => return false,
                // `x]<]minimax[>[/a>`
                _ if text[at..].starts_with(MINIMAX) => return false,
                Err(Incomplete) | Ok(None) => continue,
            };
            let Some(role) = self.role_in(doubt.view, &tag, key) else { continue };
            let is_argument = !matches!(role, Role::Call | Role::Group);
            holds_arguments |= is_argument;
            match tag.closing {
                false => {
                    let own = tag.key.unwrap_or(tag.word).of(text);
                    let is_free = is_argument && doubt.view.declares(own) && !doubt.given.contains(&own);
                    // In no call, it may be the argument that it looks like.
                    if is_free && open.is_empty() {
                        return false;
                    }
                    let is_own = match role {
                        Role::Call | Role::Group => tag.by_tokens,
                        Role::Param => is_free || own == key,
                        _ => true,
                    };
                    open.push((role, is_own));
                }
                true => match open.pop() {
                    Some((begun, _)) if begun == role => {}
                    Some(_) => return false,
                    // A key and its value changed places: `<arg_key>a<arg_value></arg_key>x</arg_value>`.
                    None if matches!(role, Role::Key | Role::Other) => return false,
                    None if doubt.may_end(value.start as usize, at, tag.at.end as usize) => return false,
                    None => {}
                },
            }
        }
        // `]<]minimax[>[<a>x][</a>`
        let ends_unmarked = self.style == Style::Elements { marked: true }
            && value
                .of(text)
                .trim_end()
                .strip_suffix('>')
                .is_some_and(|value| value.strip_suffix(key).is_some_and(|value| value.ends_with("</")));
        let is_spoken_of = |(role, is_own): &(Role, bool)| match role {
            Role::Call | Role::Group => !is_own && !holds_arguments,
            _ => !is_own,
        };
        !ends_unmarked && open.iter().all(is_spoken_of)
    }

    /// What `tag` would be to the call, if it were one of its marks; another one where it is made of tokens, which no text
    /// spells by chance.
    fn role_in(&self, view: View<'_>, tag: &Tag, key: &str) -> Option<Role> {
        let word = tag.word.of(view.text);
        match (self.style, tag.role) {
            (Style::Elements { marked }, _) if tag.marked != marked => None,
            (Style::Elements { .. }, _) if word == key => Some(Role::Param),
            (Style::Elements { .. }, _) if view.is_name(word) => Some(Role::Call),
            (_, Role::Call | Role::Group) => Some(tag.role),
            (Style::Elements { marked: true }, _) => Some(Role::Other),
            (Style::Words, Role::Param | Role::Key | Role::Value) => Some(tag.role),
            (Style::Words, Role::Other) if tag.by_tokens => Some(Role::Other),
            _ => None,
        }
    }
}

impl Doubt<'_> {
    /// May the value from `from` on end at the closing tag from `at` to `behind`, and another argument follow it?
    fn may_end(&self, from: usize, at: usize, behind: usize) -> bool {
        let declares_others = || self.view.declares_others(|key| self.given.contains(&key));
        let value = self.view.text.get(from..at).unwrap_or("");
        let looks_whole = match value.starts_with(['\r', '\n']) {
            true => value.trim_end_matches([' ', '\t']).ends_with('\n'),
            false => !value.ends_with(char::is_whitespace),
        };
        let next = self.view.text.get(behind..).and_then(|rest| rest.chars().next());
        let is_placed = looks_whole && next.is_none_or(|c| c == '\n' || c.is_alphanumeric());
        self.is_loose || is_placed && declares_others()
    }
}

/// Does a token stand at `at` with which tags begin, and not between two quotes: `"<|open|>call"`?
fn is_token_at(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or("");
    let Some(behind) = ["<|open|>", "<|close|>"].iter().find_map(|token| rest.strip_prefix(token)) else {
        return false;
    };
    let quote = text.get(..at).and_then(|before| before.chars().next_back());
    let behind = behind.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    !quote.is_some_and(|quote| matches!(quote, '"' | '\'' | '`') && behind.starts_with(quote))
}
