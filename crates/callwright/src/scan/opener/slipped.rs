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
/// So many blanks and letters too many may stand before a payload, in bytes.
const ROOM: usize = 8;

impl OpenerParser<'_, '_> {
    /// What stands behind a word that is a tool's name but for one letter, at the beginning of a line or of a list: whether it is
    /// refused as a call is told by that.
    pub(super) fn slipped(&self) -> Result<Step, Incomplete> {
        let is_begun = match self.delimiters.last() {
            Some(Delimiter::Bracket | Delimiter::Fence(_) | Delimiter::Tag) => self.name().is_none(),
            Some(Delimiter::Paren | Delimiter::Quote(_) | Delimiter::Ticks(_)) => false,
            None => self.at == self.from && (self.place.line_start || self.place.follows_call),
        };
        let rest = self.text.get(self.at..).unwrap_or("");
        let is_word = rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if !is_begun || !is_word {
            return Ok(Step::Nothing);
        }
        let names = || self.place.names.tools().iter().map(|tool| tool.name());
        let longest = names().map(str::len).max().unwrap_or(0);
        let mut front = rest.bytes().take(NAMESPACE.len() + longest + ROOM);
        let is_over = self.place.end || front.len() < rest.len();
        if is_over && !front.any(|byte| matches!(byte, b'{' | b'(')) {
            return Ok(Step::Nothing);
        }
        // Nearly all words are told from a name by its first two letters.
        let may_be = |name: &str| {
            let begins = |letter: u8| name.bytes().take(2).any(|own| own == letter);
            rest.bytes().take(2).any(begins)
        };
        let alone = names().filter(|name| LEAST <= name.len() && may_be(name)).map(str::to_owned);
        let behind = names().filter(|_| may_be(NAMESPACE)).map(|name| format!("{NAMESPACE}{name}"));
        for name in alone.chain(behind) {
            let (ends, may_grow) = slips(&name, rest);
            if may_grow && !self.place.end {
                return Err(Incomplete);
            }
            for end in ends.map(|end| self.at + end) {
                let name = Span::new(self.at, end);
                let at = self.skip_space(end);
                let is_line = || self.text.get(end..at).is_some_and(|gap| gap.contains('\n'));
                let rest = self.text.get(end..).unwrap_or("");
                // `<|python_tag|>f.call(a=1)`
                let paren = end + if rest.starts_with(CALL) { CALL.len() } else { 0 };
                match self.bytes.get(at) {
                    _ if CALL.starts_with(rest) && !self.place.end => return Err(Incomplete),
                    None if !self.place.end => return Err(Incomplete),
                    _ if self.bytes.get(paren) == Some(&b'(') => {
                        return Ok(Step::Item(Item::Call { name, at: paren }));
                    }
                    Some(b'{') if is_line() => return Ok(Step::Item(Item::Named { name, at })),
                    _ => {}
                }
            }
        }
        Ok(Step::Nothing)
    }
}
