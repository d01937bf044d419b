//! Names with a slip, in front of arguments and without marks: `raed_lines⏎{…}`, `functions.read_|ines({…})`.

use callwright_json::Span;

use super::{Delimiter, Item, OpenerParser, Step};
use crate::marks::edit::slips;
use crate::syntax::Incomplete;

/// Of a shorter name, one letter is too much of it.
const LEAST: usize = 4;
/// What models put before names.
const NAMESPACE: &str = "functions.";
/// What Llama's models put behind them.
const CALL: &str = ".call";

impl OpenerParser<'_, '_> {
    /// What stands behind a word that is a tool's name but for one letter, at the beginning of a line or of a list: whether it is
    /// refused as a call is told by that.
    pub(super) fn slipped(&self) -> Result<Step, Incomplete> {
        let is_begun = match self.delimiters.last() {
            Some(Delimiter::Bracket | Delimiter::Fence(_) | Delimiter::Tag) => self.name().is_none(),
            Some(Delimiter::Paren | Delimiter::Quote(_) | Delimiter::Ticks(_)) => false,
            None => {
                let may_begin = self.place.line_start || self.place.follows_call;
                self.at == self.from && may_begin && !self.place.in_fence
            }
        };
        let rest = self.text.get(self.at..).unwrap_or("");
        let is_word = rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if !is_begun || !is_word {
            return Ok(Step::Nothing);
        }
        let front = rest.as_bytes().get(..self.place.names.longest());
        let is_over = self.place.end || front.is_some();
        if is_over && memchr::memchr2(b'{', b'(', front.unwrap_or(rest.as_bytes())).is_none() {
            return Ok(Step::Nothing);
        }
        let names = || self.place.names.tools().iter().map(|tool| tool.name());
        // The slip is in the name, or in what stands before it.
        let behind = rest.strip_prefix(NAMESPACE).unwrap_or(rest);
        for name in names().filter(|name| LEAST <= name.len() && may_begin(name, behind)) {
            if let step @ (Err(_) | Ok(Step::Item(_))) = self.behind_slips(name, rest.len() - behind.len()) {
                return step;
            }
        }
        if behind.len() == rest.len() && may_begin(NAMESPACE, rest) {
            let (ends, may_grow) = slips(NAMESPACE, rest);
            if may_grow && !self.place.end {
                return Err(Incomplete);
            }
            for (end, name) in ends.flat_map(|end| names().map(move |name| (end, name))) {
                let behind = rest.get(end..).unwrap_or("");
                if behind.starts_with(name) {
                    return self.arguments_after(self.at + end + name.len());
                }
                if name.starts_with(behind) && !self.place.end {
                    return Err(Incomplete);
                }
            }
        }
        Ok(Step::Nothing)
    }

    /// What stands behind `name` with a slip, which begins behind so many bytes of what stands before it.
    fn behind_slips(&self, name: &str, before: usize) -> Result<Step, Incomplete> {
        let from = self.at + before;
        let (ends, may_grow) = slips(name, self.text.get(from..).unwrap_or(""));
        if may_grow && !self.place.end {
            return Err(Incomplete);
        }
        for end in ends {
            if let step @ (Err(_) | Ok(Step::Item(_))) = self.arguments_after(from + end) {
                return step;
            }
        }
        Ok(Step::Nothing)
    }

    /// What stands behind a name that ends at `end`: arguments in parentheses, or on the next line.
    fn arguments_after(&self, end: usize) -> Result<Step, Incomplete> {
        let name = Span::new(self.at, end);
        let at = self.skip_space(end);
        let rest = self.text.get(end..).unwrap_or("");
        let is_line = || self.text.get(end..at).is_some_and(|gap| gap.contains('\n'));
        // `<|python_tag|>f.call(a=1)`
        let paren = end + if rest.starts_with(CALL) { CALL.len() } else { 0 };
        match self.bytes.get(at) {
            _ if CALL.starts_with(rest) && !self.place.end => Err(Incomplete),
            None if !self.place.end => Err(Incomplete),
            _ if self.bytes.get(paren) == Some(&b'(') => Ok(Step::Item(Item::Call { name, at: paren })),
            Some(b'{') if is_line() => Ok(Step::Item(Item::Named { name, at })),
            _ => Ok(Step::Nothing),
        }
    }
}

/// May `text` begin with `name` but for one letter? Nearly all words are told from it by the first three.
fn may_begin(name: &str, text: &str) -> bool {
    let ([a, b, c, ..], [x, y, z, ..]) = (name.as_bytes(), text.as_bytes()) else { return true };
    // The slip is behind the first letter, or it is that one: changed, added, left out, or exchanged with the second.
    a == x && (b == y || c == z || b == z || c == y)
        || b == y && c == z
        || a == y && (b == z || b == x)
        || b == x && c == y
}
