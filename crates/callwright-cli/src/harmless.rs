//! Makes text that a stranger wrote harmless to print: what would move the cursor, recolour the screen or
//! turn the reading direction becomes a visible sign.

use std::borrow::Cow;

use callwright_json::Span;

/// `text` with its control characters made visible; line ends and tabs stay.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| sign(c).is_none()) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(Harmless::of(text).text)
    }
}

/// A harmless text that still knows where the bytes of its source stand.
pub(crate) struct Harmless {
    pub(crate) text: String,
    /// The offsets at which a sign has another length than its character: those just behind both, in order.
    shifts: Vec<(usize, usize)>,
}

impl Harmless {
    pub(crate) fn of(source: &str) -> Harmless {
        let mut text = String::with_capacity(source.len());
        let mut shifts = Vec::new();
        for (at, c) in source.char_indices() {
            let Some(sign) = sign(c) else {
                text.push(c);
                continue;
            };
            text.push(sign);
            if sign.len_utf8() != c.len_utf8() {
                shifts.push((at + c.len_utf8(), text.len()));
            }
        }
        Harmless { text, shifts }
    }

    /// Returns the place of `span` of the source in the text: inside it, and on character boundaries.
    pub(crate) fn range(&self, span: Span) -> std::ops::Range<usize> {
        let range = span.range();
        let start = self.offset(range.start);
        start..self.offset(range.end).max(start)
    }

    fn offset(&self, of_source: usize) -> usize {
        let behind = self.shifts.partition_point(|(source, _)| *source <= of_source);
        let (source, text) = behind.checked_sub(1).and_then(|at| self.shifts.get(at)).unwrap_or(&(0, 0));
        self.text.floor_char_boundary(text + (of_source - source))
    }
}

/// The visible sign for a character that must not reach a terminal.
fn sign(c: char) -> Option<char> {
    match c {
        '\n' | '\t' => None,
        // The control pictures: ESC is ␛.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32),
        '\u{7f}' => Some('\u{2421}'),
        // Eight-bit controls, invisible characters, and what turns the reading direction.
        '\u{80}'..='\u{9f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => Some('\u{fffd}'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let hostile = "\u{1b}[31mred\u{7} \u{9b}2J \u{202e}abc\r\n\tdone\u{7f}";
        let text = harmless(hostile);
        assert_eq!(text, "␛[31mred␇ \u{fffd}2J \u{fffd}abc␍\n\tdone␡");
        assert_eq!(harmless("plain → é\n"), "plain → é\n");
    }

    #[test]
    fn spans_follow_the_text() {
        let source = "\u{1b}a\u{9b}b\u{202e}c";
        let text = Harmless::of(source);
        for c in ['a', 'b', 'c'] {
            let at = source.find(c).unwrap();
            assert_eq!(&text.text[text.range(Span::new(at, at + 1))], c.to_string());
        }
        assert_eq!(text.range(Span::new(source.len(), source.len() + 9)), text.text.len()..text.text.len());
    }
}
