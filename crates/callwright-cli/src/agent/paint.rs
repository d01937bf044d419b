//! Colour, where there is one.

use std::fmt::Write;

/// The style of a piece of text, as the terminal takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Bold,
    Italic,
    Dim,
    Code,
    Red,
    Green,
    Yellow,
    Cyan,
    /// A thing that the user must not miss.
    Alarm,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Bold => "1",
            Style::Italic => "3",
            Style::Dim => "2",
            Style::Code => "36",
            Style::Red => "31",
            Style::Green => "32",
            Style::Yellow => "33",
            Style::Cyan => "36;1",
            Style::Alarm => "1;31",
        }
    }
}

/// Paints, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    pub(crate) is_on: bool,
}

impl Paint {
    /// `text` in these styles. It must be harmless already.
    pub(crate) fn all(self, styles: &[Style], text: &str) -> String {
        let mut out = String::new();
        if !self.is_on || styles.is_empty() || text.is_empty() {
            out.push_str(text);
            return out;
        }
        let codes: Vec<&str> = styles.iter().map(|style| style.code()).collect();
        // Writing to a string cannot fail.
        let _ = write!(out, "\u{1b}[{}m{text}\u{1b}[0m", codes.join(";"));
        out
    }

    /// A text in one style.
    pub(crate) fn of(self, style: Style, text: &str) -> String {
        self.all(&[style], text)
    }
}
