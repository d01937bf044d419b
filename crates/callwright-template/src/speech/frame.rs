//! The marks of turns: what stands around words that are about no tools.

use callwright::json;

use crate::probe::{ASKED, Probe, RULED, SAID};
use crate::template::{BOS, EOS};
use crate::token::tokens;

/// The marks that begin and end turns.
pub(super) struct Frame {
    marks: Vec<String>,
}

impl Frame {
    /// Those of the template.
    pub(super) fn of(probe: &Probe<'_>) -> Frame {
        let [system, user, assistant] = [("system", RULED), ("user", ASKED), ("assistant", SAID)]
            .map(|(role, content)| json!({"role": role, "content": content}));
        let conversations =
            [vec![user.clone(), assistant.clone(), user.clone()], vec![system, user, assistant]];
        let mut marks = vec![BOS.to_owned(), EOS.to_owned()];
        for messages in conversations {
            let prompt = probe.render(&messages, &[], messages.len() == 3).unwrap_or_default();
            marks.extend(tokens(&prompt).into_iter().filter(|token| is_mark(token)).map(str::to_owned));
        }
        marks.sort();
        marks.dedup();
        Frame { marks }
    }

    /// Returns whether `token` is one of them.
    pub(super) fn has(&self, token: &str) -> bool {
        self.marks.iter().any(|mark| mark == token)
    }

    /// Returns whether `text` holds any of them.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.marks.iter().any(|mark| text.contains(mark.as_str()))
    }

    /// `text` without the marks of turns, and the words for roles between them, at its ends: `<|im_start|>tools⏎… <|im_end|>`.
    /// `None` where more of them stand inside.
    pub(super) fn inside(&self, text: &str) -> Option<String> {
        let all = tokens(text);
        let mut rest: &[&str] = &all;
        let mut in_head = false;
        while let Some((first, more)) = rest.split_first() {
            let is_role = in_head
                && first.chars().all(char::is_alphanumeric)
                && more.first().is_some_and(|next| next.starts_with('\n') || self.has(next));
            if !self.has(first) && !first.trim().is_empty() && !is_role {
                break;
            }
            in_head |= self.has(first);
            rest = more;
        }
        while let Some((last, before)) = rest.split_last() {
            if !self.has(last) && !last.trim().is_empty() {
                break;
            }
            rest = before;
        }
        let inside = rest.concat();
        (!self.is_in(&inside)).then_some(inside)
    }
}

/// `<|im_end|>`, `[INST]`; a single sign does not count.
fn is_mark(token: &str) -> bool {
    1 < token.chars().count() && !token.chars().all(|c| c.is_alphanumeric() || c == '_' || c.is_whitespace())
}
