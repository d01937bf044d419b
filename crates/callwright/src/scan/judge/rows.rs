//! Several calls as a list of `key: value` lines: `- tool: f⏎  arguments:⏎    a: x⏎- tool: g⏎  arguments: {}`.
//!
//! In goes the whole list, out comes a verdict for each of its elements.

use callwright_json::{Guide, Repair, RepairKind, Span, strict};

use super::{Case, Judged, open_end};
use crate::payload::lines;
use crate::shape;
use crate::verdict::{Reason, Verdict};

impl Case<'_, '_> {
    /// Judges the list whose first dash stands at `at`; with `is_cut`, its last element is not whole.
    pub(super) fn rows(&self, at: usize, end: usize, is_cut: bool) -> Judged {
        let guide = self.names.tools().call_guide();
        let rows = rows(self.text, at, end);
        let mut verdicts: Vec<Verdict> = Vec::new();
        for (n, &(from, to)) in rows.iter().enumerate() {
            let name =
                || self.opener.item.name().filter(|_| n == 0).map(|name| name.of(self.text).to_owned());
            let at = Span::new(from, to);
            if is_cut && n + 1 == rows.len() {
                verdicts.push(self.refuse(name(), open_end::cut(at.len()), at));
                continue;
            }
            let column = column_of(self.text, from);
            let row = self.text.get(from + 1..to).unwrap_or("");
            // The dash is as wide as the blank that it becomes.
            let row = format!("{} {row}", " ".repeat(column));
            let json = lines::json_of(&row, guide, guide.root(), Some(self.fuel));
            let Some((json, tree)) = json.and_then(|json| strict(&json).ok().map(|tree| (json, tree))) else {
                verdicts.push(self.refuse(name(), Reason::Unreadable(Vec::new()), at));
                continue;
            };
            let shaped = shape::calls_in(tree.root(&json), self.names, self.told(&[], Span::at(0)));
            if shaped.is_empty() {
                return Judged::Text(None);
            }
            for shaped in shaped {
                let repair = Repair { kind: RepairKind::SwapSyntax, at, put: json.clone().into() };
                verdicts.extend(self.verdict_of(shaped, &[repair], at));
            }
        }
        Judged::Calls(verdicts, end)
    }
}

/// Where each element of the list begins, at its dash, and ends.
fn rows(text: &str, at: usize, end: usize) -> Vec<(usize, usize)> {
    let column = column_of(text, at);
    let mut begins = vec![at];
    let mut from = at;
    while let Some(len) = text.get(from..end).and_then(|rest| rest.find('\n')) {
        from += len + 1;
        let line = text.get(from..end).unwrap_or("");
        let dash = line.len() - line.trim_start_matches(' ').len();
        if dash == column && line.get(dash..).is_some_and(|line| line.starts_with("- ")) {
            begins.push(from + dash);
        }
    }
    let ends = begins.iter().skip(1).copied().chain([end]);
    begins.iter().copied().zip(ends).collect()
}

/// How many blanks stand before `at` on its line.
fn column_of(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or("");
    before.len() - before.trim_end_matches(' ').len()
}
