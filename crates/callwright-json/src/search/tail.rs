//! Checks the end of the whole value: the text behind it tells whether the value can end there.

use super::cost::{Cost, TAIL};
use super::{Found, Search, State, Step};
use crate::ambiguity::open_brackets;
use crate::spelling::skip_blank;
use crate::{Problem, RepairKind, Span};

/// The repairs of brackets and quotes that may be the only reason why a text comes out even.
const EVENING: [RepairKind; 6] = {
    use RepairKind::*;
    [AddCloser, AddQuote, DropNoise, DropOpener, EscapeQuote, SwapBracket]
};

/// The owner of the text behind a value.
enum Owner {
    /// A string that seemed to end in the value: `f(a="g("x")")`, `f(a="g("x").h()")`.
    String,
    /// The list around the value: `, {`, `]`.
    List,
    /// The value itself, to which a surplus closer of this many bytes belongs.
    Value(usize),
    Other,
}

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
        match self.owner_of(at, next) {
            Owner::String => return self.fail(Problem::Unreadable, Span::at(at)),
            Owner::List => return Some(State { step: Step::Done, ..s }),
            Owner::Value(len) => {
                let s = State { at: next as u32, ..s };
                return Some(self.replace(s, RepairKind::DropCloser, next + len, ""));
            }
            Owner::Other => {}
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

    /// Returns the owner of the text behind a value that ends at `at`. Behind the blanks, it goes on at `next`.
    fn owner_of(&self, at: usize, next: usize) -> Owner {
        const MOST: usize = 8;
        let behind = self.bytes.get(next..).unwrap_or(&[]);
        if !self.begin.start.is_arguments() {
            let begins_next = || self.bytes.get(skip_blank(self.bytes, next + 1)) == Some(&b'{');
            return match (behind.first(), self.sign_at(next)) {
                (Some(b']'), _) if self.options.listed => Owner::List,
                (Some(b','), _) if self.options.listed && begins_next() => Owner::List,
                (_, Some((b'}' | b']' | b')', len))) => Owner::Value(len),
                _ => Owner::Other,
            };
        }
        // In a list, more parentheses may belong to the string: `[f(a="g((1, "x"))")]`.
        let most = if self.options.listed { MOST } else { 0 };
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        let parens = rest.iter().take(most).take_while(|byte| **byte == b')').count();
        match &rest[parens..] {
            [b'"' | b'\'', ..] if !self.options.quoted => Owner::String,
            [b'.', b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.., ..] if !self.strict_quotes => Owner::String,
            _ => Owner::Other,
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
