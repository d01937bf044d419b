//! Doubts about a repaired reading: what nobody writes into an argument, or leaves behind one.
//!
//! If a quote is missing or one too many, a text may reach up to the next quote that fits, in another call:
//! `"Paris"</tool_call><tool_call>{"name": …`. If a bracket is, the value may end before the call does: `f(a=[1]], b=2)`.

use callwright_json::{Reading, Repair, RepairKind, Span};

use super::Case;
use crate::payload::Payload;
use crate::scan::opener::{Delimiter, Sort};
use crate::tools::names::leading_name;

impl Case<'_, '_> {
    /// Returns the payload without its readings if one of them is in doubt.
    pub(super) fn undoubted<'t>(&self, mut payload: Payload<'t>) -> Payload<'t> {
        let is_doubtful = |reading: &Reading<'_>| {
            // Nothing of a right payload goes on where it should not.
            let texts =
                if reading.repairs.is_empty() { Vec::new() } else { reading.repaired_strings(self.text) };
            self.is_encoded_badly(reading)
                || self.leaves_out(reading)
                || texts.iter().any(|text| self.holds_mark(*text) || self.calls(text.of(self.text)))
                || reading.repairs.iter().any(|repair| self.is_in_text(repair))
        };
        if payload.parse.readings.iter().any(is_doubtful) {
            payload.parse.readings.clear();
        }
        payload
    }

    /// Returns whether the call stands in a string that is not right: some of its backslashes may be the call's own.
    fn is_encoded_badly(&self, reading: &Reading<'_>) -> bool {
        let is_encoded = matches!(self.opener.delimiters.last(), Some(Delimiter::Quote(_)));
        let is_unwrapped = reading.repairs.iter().any(|repair| repair.kind == RepairKind::Unwrap);
        is_encoded && self.opener.item.sort == Sort::Value && !is_unwrapped
    }

    /// Returns whether more text of the call stands behind `reading`. On the next line, only the rest of an object
    /// counts, `}⏎], "b": 2}`. The same text once more adds nothing, `{"a": 1}{"a": 1}`.
    fn leaves_out(&self, reading: &Reading<'_>) -> bool {
        if !matches!(self.opener.item.sort, Sort::Call | Sort::Named) {
            return false;
        }
        let end = reading.span.end as usize;
        let rest = self.ends.left.and_then(|to| self.text.get(end..to.min(self.text.len()))).unwrap_or("");
        let next = rest.trim_start();
        let is_next_line = rest[..rest.len() - next.len()].contains('\n');
        let is_parted = is_next_line && !next.starts_with([',', ':', ']', '}']);
        let is_again = reading.span.of(self.text) == next.trim_end();
        let words = next.split('<').next().unwrap_or("");
        !is_parted && !is_again && words.contains(char::is_alphanumeric)
    }

    /// Returns whether a repaired text holds marks that begin a call.
    fn holds_mark(&self, text: Span) -> bool {
        let is_sign = |at: &usize| matches!(self.text.as_bytes().get(*at), Some(b'<' | b'[' | b'>'));
        let mut places = text.range().filter(is_sign);
        places.any(|at| self.begins_call(at) || self.opener.is_begun_again(self.text, at))
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
    fn calls(&self, text: &str) -> bool {
        let lines = text.split('\n').skip(1);
        let n_fences = lines.filter(|line| line.trim_start().starts_with("```")).count();
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        let is_call = |(end, _): (usize, &str)| {
            let before = text[..end].trim_end_matches(is_name);
            let name = &text[before.len()..end];
            self.is_declared(name.strip_suffix(".call").unwrap_or(name))
                && before
                    .trim_end_matches([' ', '"', '\''])
                    .ends_with(['\n', ':', ',', ';', ')', '}', ']', '{'])
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
