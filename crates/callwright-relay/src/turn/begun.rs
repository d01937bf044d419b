//! Half a call, and its continuation in another answer with the same call.

use callwright::{Acceptance, Refusal, Verdict};

/// A refused call, and the part of it that the client has.
#[derive(Clone, Debug)]
pub(crate) struct Begun {
    /// Its place among the verdicts.
    pub(crate) at: usize,
    /// The part of its arguments that is out.
    pub(crate) sent: String,
    pub(crate) refusal: Refusal,
}

impl Begun {
    /// Returns the call among `verdicts` that continues the sent part, in the same place.
    pub(crate) fn whole_in<'v>(&self, verdicts: &'v [Verdict]) -> Option<&'v Acceptance> {
        let Verdict::Accepted(call) = verdicts.get(self.at)? else { return None };
        self.goes_on_in(call).then_some(call)
    }

    /// Returns whether `call` continues the sent part: it is of the same tool, and begins so.
    pub(crate) fn goes_on_in(&self, call: &Acceptance) -> bool {
        Some(&call.name) == self.refusal.name.as_ref() && call.arguments.starts_with(&self.sent)
    }
}

/// Has `call` begin with the bytes that were `sent`, if it begins with the same JSON. An upstream that sends arguments as an
/// object has other blanks in them than one that sends texts.
pub(crate) fn begin_with(call: &mut Acceptance, sent: &str) {
    if let Some(rest) = rest_of(&call.arguments, sent) {
        call.arguments = format!("{sent}{rest}");
    }
}

/// Returns the rest of `json` behind its beginning `sent`, whatever blanks are between the words of both.
fn rest_of<'j>(json: &'j str, sent: &str) -> Option<&'j str> {
    let (mut rest, mut left) = (json, sent);
    let (mut in_string, mut is_escaped, mut last) = (false, false, ' ');
    loop {
        if !in_string {
            (rest, left) = (rest.trim_start(), left.trim_start());
        }
        let Some(c) = left.chars().next() else { break };
        rest = rest.strip_prefix(c)?;
        left = &left[c.len_utf8()..];
        (in_string, is_escaped) = match c {
            '"' if !is_escaped => (!in_string, false),
            '\\' => (in_string, in_string && !is_escaped),
            _ => (in_string, false),
        };
        last = c;
    }
    // `12 ` is not the beginning of `123`.
    let is_word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let is_ended = !in_string && is_word(last) && sent.ends_with(char::is_whitespace);
    (!is_ended || !rest.starts_with(is_word)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_between_words_are_no_other_beginning() {
        for (json, sent, rest) in [
            (r#"{"a":"b c","d":12}"#, r#"{"a": "b"#, Some(r#" c","d":12}"#)),
            (r#"{"a": "b c", "d": 12}"#, r#"{"a":"b c","d":1"#, Some("2}")),
            (r#"{"a":"b\\","d":12}"#, "{\n \"a\": \"b\\\\\", ", Some(r#""d":12}"#)),
            (r#"{"a":"b\" c"}"#, r#"{"a":"b\" "#, Some(r#"c"}"#)),
            (r#"{"a":"é"}"#, r#"{ "a": "é"#, Some(r#""}"#)),
            (r#"{"a":12}"#, r#"{"a": 12 "#, Some("}")),
            (r#"{"a":"b  c"}"#, r#"{"a":"b c"#, None),
            (r#"{"a":123}"#, r#"{"a": 12 "#, None),
            (r#"{"a":1}"#, r#"{"b""#, None),
            ("{}", r#"{"a""#, None),
        ] {
            assert_eq!(rest_of(json, sent), rest, "{json} {sent}");
        }
    }
}
