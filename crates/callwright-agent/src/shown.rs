//! Shows a stranger's text so that a person sees each character of it.

use std::fmt::Write;

/// Returns `text` with every invisible or reordering character as its number: `a⟨U+202E⟩b`.
///
/// Line ends and tabs stay. Texts that differ look different: the brackets of these marks are marked, too.
///
/// ```
/// assert_eq!(callwright_agent::shown("rm \u{202e}txt.a\u{1b}[2K"), "rm ⟨U+202E⟩txt.a⟨U+001B⟩[2K");
/// ```
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '⟨' || !is_visible(c) {
            // Writing to a string cannot fail.
            let _ = write!(out, "⟨U+{:04X}⟩", c as u32);
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns whether `c` is visible to a person, or is a plain space, tab or line end.
pub(crate) fn is_visible(c: char) -> bool {
    match c {
        '\n' | '\t' | ' ' => true,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{a0}' => false,
        // Soft hyphen, joiners, fillers, marks of direction, variation selectors, tags, private use: all without ink.
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{1680}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2000}'..='\u{200f}'
        | '\u{2028}'..='\u{202f}'
        | '\u{205f}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3000}'
        | '\u{3164}'
        | '\u{e000}'..='\u{f8ff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{10ffff}' => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_turns_or_hides_is_marked() {
        assert_eq!(shown("pay\u{200b}pal é 日本\n\tx"), "pay⟨U+200B⟩pal é 日本\n\tx");
        assert_eq!(shown("a\r\u{9b}2J\u{e0041}"), "a⟨U+000D⟩⟨U+009B⟩2J⟨U+E0041⟩");
        assert_eq!(shown("⟨U+202E⟩"), "⟨U+27E8⟩U+202E⟩");
    }

    proptest! {
        #[test]
        fn nothing_invisible_is_left_and_nothing_is_lost(text in any::<String>()) {
            let shown = shown(&text);
            prop_assert!(shown.chars().all(is_visible));
            let mut back = String::new();
            let mut rest = shown.as_str();
            while let Some(at) = rest.find("⟨U+") {
                back.push_str(&rest[..at]);
                let end = rest[at..].find('⟩').unwrap() + at;
                let number = u32::from_str_radix(&rest[at + "⟨U+".len()..end], 16).unwrap();
                back.push(char::from_u32(number).unwrap());
                rest = &rest[end + '⟩'.len_utf8()..];
            }
            back.push_str(rest);
            prop_assert_eq!(back, text);
        }
    }
}
