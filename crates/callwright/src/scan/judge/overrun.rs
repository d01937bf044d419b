//! Texts that were repaired, and continue over the end of their call: `"Paris"</tool_call><tool_call>{"name": …`.
//!
//! Where a quote is missing or one too many, a text may reach up to the next quote that fits, which is that of another
//! call. What nobody writes into an argument tells: marks that end a call or begin one, half of a fence, a call on a line of
//! its own.

use callwright_json::{Reading, Repair, RepairKind};

use super::Case;
use crate::scan::opener::Item;
use crate::shape::keys;
use crate::tools::names::leading_name;

impl Case<'_, '_> {
    /// Whether a repaired text of `reading` continues over the end of the call.
    pub(super) fn overruns(&self, reading: &Reading<'_>) -> bool {
        if reading.repairs.is_empty() {
            return false;
        }
        reading.repaired_strings(self.text).into_iter().any(|string| {
            let mut places = string.range().filter(|at| {
                self.text.as_bytes().get(*at).is_some_and(|byte| matches!(byte, b'<' | b'[' | b'>'))
            });
            places.any(|at| self.begins_call(at) || self.opener.is_begun_again(self.text, at))
                || self.has_odd_lines(string.of(self.text))
                || self.holds_next_call(string.of(self.text))
        }) || reading.repairs.iter().any(|repair| self.is_in_text(repair))
    }

    /// Does the text before the closer that `repair` puts end with one that nothing in it opens: `{"city": "Paris}"`? That and the
    /// quote behind it may have changed places.
    fn is_in_text(&self, repair: &Repair) -> bool {
        let is_closer = |c: char| matches!(c, '}' | ']' | ')');
        let is_put = matches!(repair.kind, RepairKind::AddCloser | RepairKind::SwapBracket);
        let before = self.text.get(..repair.at.start as usize).filter(|_| is_put).unwrap_or("");
        let string = before.trim_end_matches(|c: char| is_closer(c) || c.is_whitespace());
        let Some(quote) = string.chars().next_back().filter(|c| matches!(c, '"' | '\'')) else {
            return false;
        };
        let inside = string.strip_suffix(quote).unwrap_or("");
        let is_escaped =
            |at: usize| inside[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        let from = inside.rmatch_indices(quote).map(|(at, _)| at).find(|at| !is_escaped(*at));
        let text = &inside[from.map_or(0, |at| at + 1)..];
        if text.trim_end_matches(is_closer).is_empty() {
            return false;
        }
        // Of an argument list, a brace stands for its parenthesis.
        let is_same = |closer: char| repair.put.contains(closer) || closer == ')' && repair.put == "}";
        let Some(closer) = text.chars().next_back().filter(|c| is_closer(*c) && is_same(*c)) else {
            return false;
        };
        let opener = match closer {
            '}' => '{',
            ']' => '[',
            _ => '(',
        };
        text.matches(opener).count() < text.matches(closer).count()
    }

    /// Does a mark of any dialect, or a tool's name as a tag, begin a call at `at`? Not in quotes, where it is spoken of, nor
    /// with words behind it.
    fn begins_call(&self, at: usize) -> bool {
        let rest = self.text.get(at..).unwrap_or("");
        let Some((_, len)) = self.dialects.opener_at(self.text, at) else {
            return rest.strip_prefix('<').is_some_and(|tag| self.is_declared(tag));
        };
        let (mark, behind) = rest.split_at_checked(len).unwrap_or((rest, ""));
        let is_token = mark.contains(['|', '｜', '[']);
        let is_text = |behind: &str| behind.starts_with([' ', '"', '\'', '`', '\\']);
        let inside = behind.trim_start();
        is_token && !is_text(behind) || inside.starts_with(['{', '[', '<']) || self.is_declared(inside)
    }

    /// Does a call expression begin in `text`, a string of another one that holds its own quote, where the next one may stand:
    /// `), g(a="x`, `", g(a="x`?
    fn holds_next_call(&self, text: &str) -> bool {
        let is_triple = ["\"\"\"", "'''"].iter().any(|quotes| text.starts_with(quotes));
        let is_quote = |sign: &char| matches!(sign, '"' | '\'');
        let quote = text.chars().next().filter(is_quote);
        if is_triple || quote.is_some_and(|quote| text.matches(quote).count() <= 2) {
            return false;
        }
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        let is_next = |(paren, _): (usize, &str)| {
            let before = text[..paren].trim_end_matches(is_name);
            let name = &text[before.len()..paren];
            // What stands before a name is looked at behind the one before it: all of the text once.
            let gap = || &before[before.trim_end_matches(|c: char| !c.is_alphanumeric()).len()..];
            let is_apart = |gap: &str| gap.contains([')', '\n', ',', ';']);
            self.is_declared(name.strip_suffix(".call").unwrap_or(name)) && is_apart(gap())
        };
        matches!(self.opener.item, Item::Call { .. }) && text.match_indices('(').any(is_next)
    }

    /// Does `text` begin with the name of a tool?
    pub(super) fn is_declared(&self, text: &str) -> bool {
        self.names.resolve(leading_name(text)).is_some()
    }

    /// Has `text` a call in JSON behind a line break or a bracket, `Action: f` or `functions.f` at the beginning of a line,
    /// the mark of a fence without the other one, or the one that closes its own?
    fn has_odd_lines(&self, text: &str) -> bool {
        let mut n_fences = 0;
        let mut lines = text.split('\n').skip(1).map(str::trim_start);
        let has_label = lines.any(|line| {
            n_fences += usize::from(line.starts_with("```"));
            let label = ["Action:", "functions."].iter().find_map(|label| line.strip_prefix(label));
            label.is_some_and(|rest| self.is_declared(rest.trim_start()))
        });
        let has_call = || text.match_indices('{').any(|(at, _)| self.is_call_in_json(text, at));
        has_label || n_fences % 2 == 1 || self.opener.is_fenced() && n_fences != 0 || has_call()
    }

    /// Does a call in JSON begin at `at`, where it may stand: on a line of its own or behind another, `}}{"name": "f"`?
    fn is_call_in_json(&self, text: &str, at: usize) -> bool {
        let (before, object) = text.split_at_checked(at).unwrap_or((text, ""));
        let before = before.trim_end_matches(['[', ',', ' ', '\t']);
        let before = before.strip_suffix("functools").unwrap_or(before).trim_end_matches([' ', '\t']);
        let member = object.strip_prefix('{').unwrap_or(object).trim_start().strip_prefix('"').unwrap_or("");
        let name = keys::NAME.iter().find_map(|key| member.strip_prefix(key)?.strip_prefix('"'));
        let name = name.map(|name| name.trim_start_matches([':', ' ']).trim_start_matches('"'));
        before.ends_with(['\n', '}', ']']) && name.is_some_and(|name| self.is_declared(name))
    }
}
