//! Calls behind a quotation mark: `He wrote "run <tool_call>…</tool_call>" there.` A mark that nothing closes quotes nothing.

use super::judge::Judged;
use super::opener::Lead;
use super::{Event, Flow, Mode, Scanner};
use crate::dialect::Anchor;
use crate::guard;
use crate::syntax::tag::{Lexed, Role, tag_at};
use crate::verdict::Verdict;

/// How far behind a call, in bytes, its quotation may be closed.
const MAX_LINE: usize = 512;

impl Scanner<'_> {
    /// Is a quotation open where the call of `lead` begins? Where it is closed shows behind the call.
    pub(super) fn may_be_cited(&self, lead: &Lead) -> bool {
        let before = self.text.get(self.anew..lead.start).unwrap_or("");
        lead.record.anchor != Anchor::Weak && guard::is_in_quotation(before)
    }

    /// Behind a call that ends `at`: it is text if its quotation is closed there.
    pub(super) fn cited(
        &mut self,
        lead: Lead,
        verdicts: Vec<Verdict>,
        at: usize,
        end: bool,
        out: &mut Vec<Event>,
    ) -> Flow {
        let judged = match closes_quotation(self.text.get(at..).unwrap_or(""), end) {
            None => {
                self.mode = Mode::Cited(lead, verdicts, at);
                return Flow::Wait;
            }
            Some(true) => {
                self.shown = Some(at);
                Judged::Text(Some(at))
            }
            Some(false) => Judged::Calls(verdicts, at),
        };
        self.conclude(lead, judged, out);
        Flow::On
    }
}

/// Is a quotation closed by `behind`, on the line on which words go on? `None` where more text must tell.
fn closes_quotation(behind: &str, end: bool) -> Option<bool> {
    let mut has_words = false;
    let mut at = 0;
    while at < MAX_LINE {
        let Some(c) = behind.get(at..).and_then(|rest| rest.chars().next()) else {
            return end.then_some(false);
        };
        at += match c {
            '"' | '”' | '»' => return Some(true),
            '\n' if has_words => return Some(false),
            '<' | ']' => match tag_at(behind, at) {
                Lexed::Tag(tag) if tag.closing || !is_of_call(tag.role) => tag.at.of(behind).len(),
                // The next call begins, whose tags may have quotes in them.
                Lexed::Tag(_) => return Some(false),
                Lexed::Grows if !end => return None,
                Lexed::Grows | Lexed::No => 1,
            },
            c => {
                has_words |= !c.is_whitespace();
                c.len_utf8()
            }
        };
    }
    Some(false)
}

fn is_of_call(role: Role) -> bool {
    matches!(role, Role::Call | Role::Group | Role::Param | Role::Key)
}

#[cfg(test)]
mod tests {
    use super::closes_quotation;

    #[test]
    fn a_quotation_is_closed_on_the_line_behind_the_call() {
        for (behind, closed) in [
            ("</tool_call>\" he wrote", Some(true)),
            ("\n</tool_call>\n\" he wrote", Some(true)),
            (" and so on”", Some(true)),
            (" and so on\n\"x\"", Some(false)),
            ("<invoke name=\"g\">", Some(false)),
            ("", Some(false)),
        ] {
            assert_eq!(closes_quotation(behind, true), closed, "{behind}");
            for (cut, _) in behind.char_indices() {
                let early = closes_quotation(&behind[..cut], false);
                assert!(early.is_none() || early == closed, "{behind} up to {cut}: {early:?}");
            }
        }
        assert_eq!(closes_quotation(&" ".repeat(600), false), Some(false));
    }
}
