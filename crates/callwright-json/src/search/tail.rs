//! Checks the end of the whole value: the text behind it tells whether the value can end there.

use super::cost::{Cost, TAIL};
use super::{Found, Search, State, Step};
use crate::ambiguity::open_brackets;
use crate::spelling::skip_blank;
use crate::{Problem, RepairKind, Span, Start};

/// The repairs of brackets and quotes that may be the only reason why a text comes out even.
const EVENING: [RepairKind; 6] = {
    use RepairKind::*;
    [AddCloser, AddQuote, DropNoise, DropOpener, EscapeQuote, SwapBracket]
};

impl Search<'_, '_> {
    /// Prices the end of a complete value, and notes the reading.
    pub(super) fn tail(&mut self, s: State) -> Option<State> {
        if self.apart {
            return Some(State { step: Step::Done, ..s });
        }
        let at = s.at as usize;
        let next = skip_blank(self.bytes, at);
        let rest = &self.bytes[next..];
        let arguments = self.begin.start.is_arguments();
        if self.begin.start == Start::ArgumentsAlone && !rest.is_empty() {
            return self.fail(Problem::Unreadable, Span::at(next));
        }
        if arguments && self.is_in_string(at) {
            return self.fail(Problem::Unreadable, Span::at(at));
        }
        if !arguments && self.options.listed && self.ends_element(next) {
            return Some(State { step: Step::Done, ..s });
        }
        if !arguments && let Some((b'}' | b']' | b')', len)) = self.sign_at(next) {
            let s = State { at: next as u32, ..s };
            return Some(self.replace(s, RepairKind::DropCloser, next + len, ""));
        }
        let newline = self.bytes[at..next].contains(&b'\n');
        // A text that was cut, or that goes on, comes out even by accident.
        let goes_on = self.options.cut || !arguments && matches!(rest.first(), Some(b',' | b':' | b'"'));
        if goes_on && EVENING.iter().any(|kind| s.has_paid(*kind)) && self.marker_at(next).is_none() {
            return self.fail(Problem::Truncated, Span::at(at));
        }
        // The fuel pays for the count of its brackets below.
        self.fuel -= s.bare.len() as i64;
        let goes_on = self.last_at > at && matches!(self.last, b'}' | b']' | b'"' | b'\'');
        let cost = match rest {
            [] | [b'{' | b'[', ..] => Cost::default(),
            _ if arguments || self.marker_at(next) == Some(true) => Cost::default(),
            // `x = '{a: 1}'`, `r#"{a: 1}"#;`: quotes enclose the whole value.
            [b'"' | b'\'' | b'`', behind, ..]
                if at == next && (behind.is_ascii_whitespace() || matches!(behind, b';' | b')' | b'#')) =>
            {
                TAIL
            }
            // A string with bare quotes and prose behind it looks like a cut text.
            _ if !s.bare.is_empty() && open_brackets(&self.bytes[s.bare.range()]) != Some(0) => {
                return self.fail(Problem::Truncated, Span::new(s.bare.start as usize, self.bytes.len()));
            }
            // More text on the same line: the value goes on, so this was not its end.
            _ if goes_on && !newline => return self.fail(Problem::Unreadable, Span::at(next)),
            [b'<' | b'`', ..] => Cost::default(),
            _ => TAIL,
        };
        Some(State { step: Step::Done, cost: s.cost.plus(cost), ..s })
    }

    /// Returns whether the `)` before `at` belongs to a string that goes on: a quote, or a dot and a name,
    /// follow it, `f(a="g("x")")`, `f(a="g("x").h()")`. In a list it may own several parentheses:
    /// `[f(a="g((1, "x"))")]`.
    fn is_in_string(&self, at: usize) -> bool {
        const MOST: usize = 8;
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        let parens = if self.options.listed {
            rest.iter().take(MOST).take_while(|byte| **byte == b')').count()
        } else {
            0
        };
        match &rest[parens..] {
            [b'"' | b'\'', ..] => !self.options.quoted,
            [b'.', next, ..] if !self.strict_quotes => {
                next.is_ascii_alphabetic() || matches!(next, b'_' | 0x80..)
            }
            _ => false,
        }
    }

    /// Returns whether the list around the value goes on or ends at `at`: `, {`, `]`.
    fn ends_element(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            Some(b',') => self.bytes.get(skip_blank(self.bytes, at + 1)) == Some(&b'{'),
            byte => byte == Some(&b']'),
        }
    }

    /// Notes a complete reading, unless a cheaper one exists: its last steps may make it dearer than one that
    /// was its equal before.
    pub(super) fn done(&mut self, s: State) {
        let is_beaten = self.found.first().is_some_and(|best| best.cost < s.cost);
        if !is_beaten && self.found.len() < super::MOST_READINGS {
            let span = Span::new(self.begin.at, s.at as usize);
            let repairs = self.repairs(&s);
            let quote = repairs.iter().find(|repair| repair.kind == RepairKind::AddQuote);
            let suspect = quote.map_or(span, |repair| repair.at);
            let doubt = (s.habits & super::DOUBTFUL != 0).then_some(suspect);
            self.found.push(Found { cost: s.cost, span, repairs, doubt });
        }
    }
}
