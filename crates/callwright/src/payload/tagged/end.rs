//! Behind what closes a call: is it the end, or was it a value's?

use super::{End, Ending, Next, State, View, Walk, ends};
use crate::syntax::tag::{Role, Tag};
use crate::syntax::{Incomplete, Seen};

impl Walk {
    /// Steps over the closing tags and tokens that follow. What stands on their line behind them shows whether they were meant.
    pub(super) fn behind(&mut self, view: View<'_>, closed: usize) -> Seen<End> {
        let text = view.text;
        let closes = |tag: &Tag| tag.closing && matches!(tag.role, Role::Call | Role::Group);
        if let (_, Next::Tag(tag)) = self.next(view, self.at)?
            && (closes(&tag) || is_last(text, &tag))
        {
            self.at = tag.at.end as usize;
            return Ok(None);
        }
        let line = text.get(self.at..).unwrap_or("").trim_start_matches([' ', '\t']);
        match line.chars().next() {
            Some(c) if c.is_alphanumeric() => {
                self.state = State::Suspect(closed);
                Ok(None)
            }
            _ => ends(closed, Ending::Closed),
        }
    }

    /// Is there one more closing tag of an argument before anything is opened? Then the value may end there as well.
    pub(super) fn suspect(&mut self, View { text, end, .. }: View<'_>, closed: usize) -> Seen<End> {
        while let Some(at) = self.lexer.next(text, self.at) {
            match self.lexer.tag_at(text, at) {
                Err(Incomplete) if !end => {
                    self.at = at;
                    return Err(Incomplete);
                }
                Ok(Some(tag)) => match tag.role {
                    Role::Param | Role::Value if tag.closing => {
                        self.is_doubtful = true;
                        return ends(tag.at.end as usize, Ending::Closed);
                    }
                    Role::Param | Role::Key | Role::Call | Role::Group if !tag.closing => {
                        return ends(closed, Ending::Closed);
                    }
                    _ => {}
                },
                Err(Incomplete) | Ok(None) => {}
            }
            self.at = at + 1;
        }
        self.at = text.len();
        if end { ends(closed, Ending::Closed) } else { Err(Incomplete) }
    }
}

/// Is `tag` a token that begins nothing: `<|im_end|>`, and not `<|im_start|>`?
fn is_last(text: &str, tag: &Tag) -> bool {
    let word = tag.word.of(text);
    let begins = ["start", "begin", "open"].iter().any(|part| word.contains(part));
    tag.role == Role::Token && !begins
}
