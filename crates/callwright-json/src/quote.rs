//! Writes a text as a string of JSON.

use alloc::{format, string::String};

use crate::scan::string_stop;

/// Returns `text` as a string of JSON. It escapes quotes, backslashes and the controls below U+0020, each in
/// JSON's shortest form; all other text stays as it is.
///
/// ```
/// use callwright_json::quote;
///
/// assert_eq!(quote("say \"hi\"\n\u{1b}é"), r#""say \"hi\"\n\u001bé""#);
/// ```
pub fn quote(text: &str) -> String {
    let bytes = text.as_bytes();
    // Code has a line break or a quote in every twenty bytes or so.
    let mut out = String::with_capacity(text.len() + text.len() / 16 + 2);
    out.push('"');
    let mut from = 0;
    loop {
        let stop = string_stop(bytes, from, b'"');
        // Every stop is ASCII, so that both ends are at characters.
        out.push_str(text.get(from..stop).unwrap_or(""));
        let Some(&byte) = bytes.get(stop) else { break };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            control => out.push_str(&format!("\\u{control:04x}")),
        }
        from = stop + 1;
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strict;

    #[test]
    fn every_character_comes_back() {
        let text: String = ('\0'..'\u{3000}').chain(['\u{2028}', '\u{ffff}', '😀']).collect();
        let quoted = quote(&text);
        let tree = strict(&quoted).unwrap();
        assert_eq!(tree.root(&quoted).as_str().as_deref(), Some(&*text));
        assert_eq!(quote("\0\u{8}\t\n\u{c}\r\u{1f} /"), r#""\u0000\b\t\n\f\r\u001f /""#);
    }
}
