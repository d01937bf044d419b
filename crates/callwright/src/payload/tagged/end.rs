//! Behind what closes a call: is it the end, or was it a value's?

use super::{Ending, State, Step, Walk, behind_space, is_open_space};
use crate::syntax::tag::{Lexed, Role, Tag};

impl Walk {
    /// Steps over the closing tags and tokens that follow. What stands on their line behind them shows whether they were meant.
    pub(super) fn behind(&mut self, text: &str, closed: usize, end: bool) -> Step {
        let at = behind_space(text, self.at);
        match self.lexer.tag_at(text, at) {
            Lexed::Tag(tag) if tag.closing && matches!(tag.role, Role::Call | Role::Group) => {
                self.at = tag.at.end as usize;
                return Step::On;
            }
            Lexed::Tag(tag) if is_last(text, &tag) => {
                self.at = tag.at.end as usize;
                return Step::On;
            }
            Lexed::Grows if !end => return Step::Wait,
            Lexed::No if !end && (at == text.len() || is_open_space(text, at)) => return Step::Wait,
            Lexed::Tag(_) | Lexed::Grows | Lexed::No => {}
        }
        let line = text.get(self.at..).unwrap_or("").trim_start_matches([' ', '\t']);
        match line.chars().next() {
            Some(c) if c.is_alphanumeric() => {
                self.state = State::Suspect(closed);
                Step::On
            }
            _ => Step::Ended(closed, Ending::Closed),
        }
    }

    /// Is there one more closing tag of an argument before anything is opened? Then the value may end there as well.
    pub(super) fn suspect(&mut self, text: &str, closed: usize, end: bool) -> Step {
        while let Some(at) = self.lexer.next(text, self.at) {
            match self.lexer.tag_at(text, at) {
                Lexed::Grows if !end => {
                    self.at = at;
                    return Step::Wait;
                }
                Lexed::Tag(tag) => match tag.role {
                    Role::Param | Role::Value if tag.closing => {
                        self.doubtful = true;
                        return Step::Ended(tag.at.end as usize, Ending::Closed);
                    }
                    Role::Param | Role::Key | Role::Call | Role::Group if !tag.closing => {
                        return Step::Ended(closed, Ending::Closed);
                    }
                    _ => {}
                },
                Lexed::Grows | Lexed::No => {}
            }
            self.at = at + 1;
        }
        self.at = text.len();
        if end { Step::Ended(closed, Ending::Closed) } else { Step::Wait }
    }
}

/// Is `tag` a token that begins nothing: `<|im_end|>`, and not `<|im_start|>`?
fn is_last(text: &str, tag: &Tag) -> bool {
    let word = tag.word.of(text);
    let begins = ["start", "begin", "open"].iter().any(|part| word.contains(part));
    tag.role == Role::Token && !begins
}
