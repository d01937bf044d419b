//! The end of the whole value: what follows it tells whether it can have ended there.

use super::cost::{Cost, GOES_ON, LATER_LINE, NOISE, SAME_LINE};
use super::{Found, Search, State, Step};
use crate::spelling::skip_blank;
use crate::{Problem, RepairKind, Span};

impl Search<'_, '_> {
    /// The value is complete: takes note of it, with what its end costs.
    pub(super) fn tail(&mut self, s: State) -> Option<State> {
        let at = s.at as usize;
        let next = skip_blank(self.bytes, at);
        let rest = &self.bytes[next..];
        let arguments = self.arguments;
        if self.is_alone && !rest.is_empty() {
            self.fail(Problem::Unreadable, Span::at(next));
            return None;
        }
        if !arguments && let Some((b'}' | b']' | b')', len)) = self.sign_at(next) {
            let s = self.edit(s, RepairKind::DropCloser, Span::new(next, next + len), "");
            let too_many = s.cost > NOISE;
            return (!too_many).then_some(State { at: (next + len) as u32, ..s });
        }
        let newline = self.bytes[at..next].contains(&b'\n');
        // A text that was cut comes out even by accident, and so does one that goes on.
        let goes_on = self.cut || !arguments && matches!(rest.first(), Some(b',' | b':' | b'"'));
        let is_even = !is_evened(&s) && !s.has_paid(RepairKind::EscapeQuote);
        if goes_on && !is_even && !self.at_marker(next) {
            self.fail(Problem::Truncated, Span::at(at));
            return None;
        }
        // Its brackets are counted below.
        self.fuel -= s.bare.len() as i64;
        let goes_on = self.last_at > at && matches!(self.last, b'}' | b']' | b'"' | b'\'');
        let cost = match rest {
            [] => Cost::default(),
            _ if arguments => match rest[0] {
                b')' | b']' | b',' | b'\n' | b';' | b'`' | b'<' | b'.' | b'"' | b'\'' => Cost::default(),
                _ if newline => Cost::default(),
                _ => SAME_LINE,
            },
            _ if self.at_own_marker(next) => Cost::default(),
            [b'{' | b'[', ..] => LATER_LINE,
            // `x = '{a: 1}'`, `r#"{a: 1}"#;`: the quotes are around the value.
            [b'"' | b'\'' | b'`', behind, ..]
                if at == next
                    && (behind.is_ascii_whitespace() || matches!(behind, b';' | b')' | b'#'))
                    && !is_evened(&s) =>
            {
                LATER_LINE
            }
            // A string with quotes that are text, and prose behind it: a cut text looks like that, too.
            _ if !s.bare.is_empty() && !super::body::is_balanced(&self.bytes[s.bare.range()]) => {
                self.fail(Problem::Truncated, Span::new(s.bare.start as usize, self.bytes.len()));
                return None;
            }
            // On the same line: the value itself goes on, so this was not its end.
            _ if goes_on && !newline => {
                self.fail(Problem::Unreadable, Span::at(next));
                return None;
            }
            _ if goes_on => GOES_ON,
            [b'<' | b'`', ..] => Cost::default(),
            _ if newline => LATER_LINE,
            _ => SAME_LINE,
        };
        Some(State { step: Step::Done, cost: s.cost.plus(cost), ..s })
    }

    /// Takes note of a complete reading, if none is cheaper: the last steps of a way may make it dearer than one
    /// that was found while it was on a par.
    pub(super) fn done(&mut self, s: State) {
        let is_beaten = self.found.first().is_some_and(|best| best.cost < s.cost);
        if !is_beaten && self.found.len() < super::MOST_READINGS {
            let span = Span::new(self.start as usize, s.at as usize);
            let repairs = self.repairs(&s);
            let has_junk = s.habits & super::JUNK_LEFT_OUT != 0;
            self.found.push(Found { cost: s.cost, span, repairs, has_junk });
        }
    }
}

/// Was a bracket or quote edited, without which the text might not have come out even?
fn is_evened(s: &State) -> bool {
    use RepairKind::{AddCloser, AddQuote, DropNoise, DropOpener, SwapBracket};
    [AddCloser, AddQuote, DropNoise, DropOpener, SwapBracket].into_iter().any(|kind| s.has_paid(kind))
}
