//! A body outside JSON, told to a person: its sender's name for it, and its beginning.

use http::HeaderValue;

/// The characters of it that are shown: enough for a title, or for the name of a program.
const SHOWN: usize = 80;

/// The usual cause of a page in the place of an answer.
pub(crate) const BASE_URL: &str =
    "the base URL is what stands before /chat/completions, and mostly ends in /v1";

/// Describes a body: `is text/html and begins "<!DOCTYPE html>…"`. The words hold no control characters, whatever the body holds.
pub(crate) fn looks(content_type: Option<&HeaderValue>, body: &[u8]) -> String {
    let kind = content_type.and_then(|kind| kind.to_str().ok()).unwrap_or("of no content type");
    let text = String::from_utf8_lossy(body.get(..4 * SHOWN).unwrap_or(body));
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    let begin: String = line.chars().take(SHOWN).collect();
    let more = if begin.len() < line.len() || 4 * SHOWN < body.len() { "…" } else { "" };
    format!("is {kind} and begins \"{begin}{more}\"")
}

/// Returns whether it is a page, of a proxy or of another server than a model's.
pub(crate) fn is_page(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"<")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_told_by_its_type_and_first_words() {
        let html = HeaderValue::from_static("text/html");
        assert_eq!(
            looks(Some(&html), b"\n<!DOCTYPE html>\r\n  <title>\x1b[31mA</title>"),
            "is text/html and begins \"<!DOCTYPE html> <title> [31mA</title>\""
        );
        let long = looks(None, "é".repeat(1000).as_bytes());
        assert_eq!(long, format!("is of no content type and begins \"{}…\"", "é".repeat(SHOWN)));
    }
}
