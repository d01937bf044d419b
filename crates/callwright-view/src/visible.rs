//! Makes what cannot be seen visible: control characters and marks that turn the direction of text.
//!
//! Markup is escaped by whoever puts the text into a page; here it is about what a browser would act upon, or hide,
//! although it is not markup.

use std::borrow::Cow;
use std::fmt::Write;

use maud::{Markup, html};

/// The text with `␛` for ESC and `⟨U+202E⟩` for what turns the direction. Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_hidden(c) => out.push(c),
            // The pictures of control characters stand in their order from U+2400 on.
            '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or(c)),
            '\u{7f}' => out.push('␡'),
            c => {
                let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
            }
        }
    }
    Cow::Owned(out)
}

/// The text in one line, with `↵` and `⇥` for line breaks and tabs.
pub fn in_line(text: &str) -> String {
    visible(text).replace('\n', "↵").replace('\t', "⇥")
}

/// The text with a sign at each line break, which stays: what was struck or put in may be nothing else.
pub fn with_breaks(text: &str) -> Markup {
    html! {
        @for line in text.split_inclusive('\n') {
            (visible(line.strip_suffix('\n').unwrap_or(line)))
            @if line.ends_with('\n') { span.nl { "\n" } }
        }
    }
}

fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        c if c.is_control() => true,
        // The soft hyphen, Arabic and Mongolian marks, joiners and directions, invisible operators, tags,
        // variation selectors of no use here, what is no character.
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{fdd0}'..='\u{fdef}' | '\u{e0000}'..='\u{e0fff}' => true,
        c => matches!(u32::from(c) & 0xffff, 0xfffe | 0xffff),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_shown_and_the_rest_stays() {
        for (text, shown) in [
            ("a\n\tb é 漢 🙂", "a\n\tb é 漢 🙂"),
            ("\u{1b}[2J\0\r\u{7f}", "␛[2J␀␍␡"),
            ("\u{9b}1m", "⟨U+009B⟩1m"),
            ("a\u{202e}b\u{2066}c\u{200b}", "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200B⟩"),
            ("\u{e0041}\u{ffff}", "⟨U+E0041⟩⟨U+FFFF⟩"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
