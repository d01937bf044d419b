//! Finds repaired texts that continue over the end of their call: `"Paris"</tool_call><tool_call>{"name": …`.
//!
//! If a quote is missing or one too many, a text may reach up to the next quote that fits, in another call. Text that
//! nobody writes into an argument shows it: marks that end a call or begin one, half of a fence, a call on a line of
//! its own.

use callwright_json::{Reading, Repair, RepairKind};

use super::Case;
use crate::tools::names::leading_name;

impl Case<'_, '_> {
    /// Returns whether a repaired text of `reading` continues over the end of the call.
    pub(super) fn overruns(&self, reading: &Reading<'_>) -> bool {
        if reading.repairs.is_empty() {
            return false;
        }
        reading.repaired_strings(self.text).into_iter().any(|string| {
            let mut places = string.range().filter(|at| {
                self.text.as_bytes().get(*at).is_some_and(|byte| matches!(byte, b'<' | b'[' | b'>'))
            });
            places.any(|at| self.begins_call(at) || self.opener.is_begun_again(self.text, at))
                || self.holds_call(string.of(self.text))
        }) || reading.repairs.iter().any(|repair| self.is_in_text(repair))
    }

    /// Returns whether the text before the closer that `repair` puts ends with a closer that nothing in it opens:
    /// `{"city": "Paris}"`. That closer and the quote behind it may have changed places.
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
        // In an argument list, a brace stands for the parenthesis.
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

    /// Returns whether a mark of any dialect, or a tool's name as a tag, begins a call at `at`. In quotes, or with
    /// words behind it, it is only a mention.
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

    /// Returns whether `text` calls a declared tool at a place for a call, `), g(`, `}, {"name": "g"`, `⏎Action: g`, or
    /// holds a fence that nothing closes. Any fence counts if it may close the call's own.
    fn holds_call(&self, text: &str) -> bool {
        let lines = text.split('\n').skip(1);
        let n_fences = lines.filter(|line| line.trim_start().starts_with("```")).count();
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        let is_call = |(end, _): (usize, &str)| {
            let before = text[..end].trim_end_matches(is_name);
            let name = &text[before.len()..end];
            self.is_declared(name.strip_suffix(".call").unwrap_or(name))
                && before.trim_end_matches([' ', '"', '\'']).ends_with(['\n', ':', ',', ';', ')', '}', ']'])
        };
        let is_triple = ["\"\"\"", "'''"].iter().any(|quotes| text.starts_with(quotes));
        n_fences % 2 == 1
            || self.opener.is_fenced() && n_fences != 0
            || !is_triple && text.match_indices(['(', '"', '\'', '\n']).any(is_call)
    }

    /// Returns whether `text` begins with the name of a tool.
    pub(super) fn is_declared(&self, text: &str) -> bool {
        self.names.resolve(leading_name(text)).is_some()
    }
}
