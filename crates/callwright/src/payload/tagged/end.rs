//! Behind what closes a call.

use super::{End, Ending, Next, View, Walk, ends};
use crate::syntax::Seen;
use crate::syntax::tag::{Role, Tag};

impl Walk {
    /// Steps over the closing tags and tokens that follow. Words behind them on their line leave open whether they were a value's:
    /// `</parameter></function> is how it ends.</parameter></function>`.
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
        self.goes_on = line.starts_with(char::is_alphanumeric);
        ends(closed, Ending::Closed)
    }
}

/// Returns whether `tag` is a token that begins nothing: `<|im_end|>`, and not `<|im_start|>`.
fn is_last(text: &str, tag: &Tag) -> bool {
    let word = tag.word.of(text);
    let begins = ["start", "begin", "open"].iter().any(|part| word.contains(part));
    tag.role == Role::Token && !begins
}
