//! Masks secrets in what is to be written.
//!
//! A text goes in, the same text comes out with each byte of a secret replaced by `*`: as long as before, so that all places
//! that are known in it stay true. It searches for the texts that the process knows to be secret, also as base64 or
//! percent-encoded; the common shapes of keys; the values behind a name that says so ([`named`]); and the configured patterns.
//! Keys are also found where a line, or a part of a message, ends within them ([`seams`]). JSON is read once more without its
//! escapes, as often as there are escapes within escapes. All patterns match in linear time.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use callwright_value::Value;
use regex::Regex;

use crate::config::Masking;
use crate::named;
use crate::seams;

/// The most levels of escapes that are undone: arguments are JSON in a string of a body, which may itself be quoted in a text.
const ESCAPES: usize = 4;

/// The shortest secret, but for those of the configured patterns: no form of a known one is shorter, and no key by its shape or
/// with its name.
const SHORTEST: usize = 8;

/// Keys by their shape, and what is sent as `Bearer`: of the latter only the first group is masked.
static SHAPES: LazyLock<[Option<Regex>; 2]> = LazyLock::new(|| {
    let shapes = [
        r"sk-[A-Za-z0-9_-]{16,}",
        r"(?:gh[pousr]|glpat|hf|npm|pypi|gsk|xai|r8|dop_v1|cw)[_-][A-Za-z0-9_-]{20,}",
        r"github_pat_[A-Za-z0-9_]{20,}",
        r"(?:AKIA|ASIA)[0-9A-Z]{16}",
        r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"AIza[0-9A-Za-z_-]{35}",
        r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        r"SK[0-9a-f]{32}",
    ];
    let private = r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s-u:[ -~\s]*?)-----END [A-Z ]*PRIVATE KEY-----";
    let bearer = r"(?i-u)\bbearer\s{1,3}([A-Za-z0-9._~+/=-]{12,})";
    // Both are tested below: a pattern that cannot be compiled would mask nothing.
    [Regex::new(&format!(r"(?-u:\b(?:{})|{private})", shapes.join("|"))).ok(), Regex::new(bearer).ok()]
});

/// Masks texts.
pub(crate) struct Mask {
    masking: Masking,
    /// For so many secrets.
    known: usize,
    /// The length of the longest form of one.
    longest: usize,
    exact: Option<AhoCorasick>,
}

impl Mask {
    pub(crate) fn new(masking: Masking) -> Mask {
        Mask { masking, known: 0, longest: 0, exact: None }
    }

    /// Learns the secrets that have become known in the meantime. Returns whether there were any.
    pub(crate) fn learn(&mut self) -> bool {
        let known = self.masking.secrets.count();
        if known == self.known {
            return false;
        }
        let forms: Vec<Vec<u8>> =
            self.masking.secrets.all().iter().flat_map(|secret| forms(secret)).collect();
        self.longest = forms.iter().map(Vec::len).max().unwrap_or_default();
        // Texts this small always fit.
        self.exact = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(forms).ok();
        self.known = known;
        true
    }

    /// The length of the longest text that is known to be secret.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Masks all strings in a value, its keys included. Returns whether there was a secret.
    pub(crate) fn value(&self, value: &mut Value) -> bool {
        // A payload is nested as deep as a report is: a few levels, whatever a model wrote.
        match value {
            Value::String(text) => self.text(text),
            Value::Array(values) => values.iter_mut().fold(false, |any, value| self.value(value) | any),
            Value::Object(members) => {
                let is_in_keys = members.keys().any(|key| self.finds(key));
                if is_in_keys {
                    let old = std::mem::take(members);
                    members.extend(old.into_iter().map(|(mut key, value)| {
                        self.text(&mut key);
                        (key, value)
                    }));
                }
                let masked = |any, (name, value): (&String, &mut Value)| {
                    // What stands in two texts here is one elsewhere: `"password": "…"`.
                    let mut is_named = false;
                    if let Value::String(text) = value
                        && let Some(secret) = named::in_member(name, text)
                    {
                        *text = filled(text, &[secret]);
                        is_named = true;
                    }
                    self.value(value) | is_named | any
                };
                members.iter_mut().fold(is_in_keys, masked)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Masks a text. Returns whether there was a secret.
    pub(crate) fn text(&self, text: &mut String) -> bool {
        let ranges = self.ranges(text);
        let is_any = !ranges.is_empty();
        if is_any {
            *text = filled(text, &ranges);
        }
        is_any
    }

    /// Returns whether a secret stands in a text.
    pub(crate) fn finds(&self, text: &str) -> bool {
        !self.ranges(text).is_empty()
    }

    /// The places of secrets in a text.
    pub(crate) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        if text.len() < SHORTEST && self.masking.patterns.is_empty() {
            return ranges;
        }
        self.find(text, &mut |range| ranges.push(range));
        let mut views: Vec<View> = Vec::new();
        while views.len() < ESCAPES {
            let next = View::of(views.last().map_or(text, |view| view.text.as_str()));
            let Some(next) = next else { break };
            views.push(next);
            let Some(last) = views.last() else { break };
            let mut found = Vec::new();
            self.find(&last.text, &mut |range| found.push(range));
            ranges.extend(
                found.into_iter().map(|range| views.iter().rev().fold(range, |r, view| view.source(r))),
            );
        }
        ranges.retain(|r| text.is_char_boundary(r.start) && text.is_char_boundary(r.end));
        ranges
    }

    fn find(&self, text: &str, found: &mut dyn FnMut(Range<usize>)) {
        let [shapes, bearer] = &*SHAPES;
        let look = |text: &str, found: &mut dyn FnMut(Range<usize>)| {
            if let Some(exact) = &self.exact {
                exact.find_iter(text).for_each(|at| found(at.range()));
            }
            shapes.iter().flat_map(|shapes| shapes.find_iter(text)).for_each(|at| found(at.range()));
        };
        look(text, found);
        seams::find(text, &look, found);
        named::find(text, found);
        for pattern in bearer.iter().chain(&self.masking.patterns) {
            for captures in pattern.captures_iter(text) {
                let group = captures.iter().skip(1).flatten().next().or(captures.get(0));
                group.into_iter().for_each(|at| found(at.range()));
            }
        }
    }
}

/// A text with `*` for each byte of these ranges, which begin and end between characters.
pub(crate) fn filled(text: &str, ranges: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in ranges {
        if let Some(part) = bytes.get_mut(range.clone()) {
            part.fill(b'*');
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// A text without its escapes, and where each part of it comes from.
struct View {
    text: String,
    /// Places behind which all bytes are as in the source, in order; `wide` is the length of an escape that stands
    /// there, or 0.
    steps: Vec<Step>,
}

struct Step {
    /// In the view.
    at: usize,
    /// In the source.
    from: usize,
    wide: usize,
}

impl View {
    /// None where there are no escapes.
    fn of(source: &str) -> Option<View> {
        source.contains('\\').then_some(())?;
        let mut view = View { text: String::with_capacity(source.len()), steps: Vec::new() };
        let (mut at, mut plain) = (0, 0);
        while let Some(slash) = source.get(at..).and_then(|rest| rest.find('\\')).map(|n| at + n) {
            let Some((put, wide)) = escape(source.get(slash..)?) else {
                at = slash + 1;
                continue;
            };
            view.push(source, plain..slash);
            view.steps.push(Step { at: view.text.len(), from: slash, wide });
            view.text.push(put);
            at = slash + wide;
            plain = at;
        }
        view.push(source, plain..source.len());
        Some(view).filter(|view| view.steps.iter().any(|step| 0 < step.wide))
    }

    fn push(&mut self, source: &str, plain: Range<usize>) {
        self.steps.push(Step { at: self.text.len(), from: plain.start, wide: 0 });
        self.text.push_str(source.get(plain).unwrap_or_default());
    }

    /// The place of a range of the view in the source.
    fn source(&self, range: Range<usize>) -> Range<usize> {
        let step = |at: usize| {
            let n = self.steps.partition_point(|step| step.at <= at);
            self.steps.get(n.saturating_sub(1))
        };
        let start = step(range.start).map_or(0, |step| match step.wide {
            0 => step.from + (range.start - step.at),
            _ => step.from,
        });
        let last = range.end.saturating_sub(1).max(range.start);
        let end = step(last).map_or(0, |step| match step.wide {
            0 => step.from + (last - step.at) + 1,
            wide => step.from + wide,
        });
        start..end
    }
}

/// The character that an escape at the beginning of `text` stands for, and its length. Halves of surrogate pairs
/// stand for a sign that is in no key.
fn escape(text: &str) -> Option<(char, usize)> {
    let put = match text.as_bytes().get(1)? {
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        plain @ (b'"' | b'\\' | b'/' | b'\'') => char::from(*plain),
        b'u' => {
            let code = u32::from_str_radix(text.get(2..6)?, 16).ok()?;
            return Some((char::from_u32(code).unwrap_or('\u{fffd}'), 6));
        }
        _ => return None,
    };
    Some((put, 2))
}

/// The forms in which a secret may stand in a text.
fn forms(secret: &[u8]) -> Vec<Vec<u8>> {
    let percent = |digits: &[u8; 16]| -> Vec<u8> {
        let byte = |b: &u8| match b {
            b if b.is_ascii_alphanumeric() || b"-._~".contains(b) => vec![*b],
            b => vec![b'%', digits[usize::from(b >> 4)], digits[usize::from(b & 15)]],
        };
        secret.iter().flat_map(byte).collect()
    };
    let all_percent = secret.iter().flat_map(|b| match b {
        b if b.is_ascii_alphanumeric() => vec![*b],
        b => format!("%{b:02X}").into_bytes(),
    });
    let mut forms = vec![
        secret.to_vec(),
        percent(b"0123456789ABCDEF"),
        percent(b"0123456789abcdef"),
        all_percent.collect(),
    ];
    // In a longer text the same bytes look different at each of three places; what hangs on its neighbours is left out.
    for alphabet in [b"+/", b"-_"] {
        forms
            .extend((0..3).filter_map(|skipped| secret.get(skipped..)).map(|bytes| base64(bytes, *alphabet)));
    }
    forms.sort();
    forms.dedup();
    // A form that is too short would be found everywhere.
    forms.retain(|form| SHORTEST <= form.len());
    forms
}

/// Those digits of base64 that are settled by `bytes` alone.
fn base64(bytes: &[u8], last: [u8; 2]) -> Vec<u8> {
    let digit = |six: u8| match six {
        0..26 => b'A' + six,
        26..52 => b'a' + six - 26,
        52..62 => b'0' + six - 52,
        62 => last[0],
        _ => last[1],
    };
    let n_digits = bytes.len() * 8 / 6;
    let bit = |n: usize| bytes[n / 8] >> (7 - n % 8) & 1;
    (0..n_digits).map(|n| digit((0..6).fold(0, |six, at| six << 1 | bit(n * 6 + at)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::Secrets;

    fn mask(secrets: &[&str], patterns: &[&str]) -> Mask {
        let known = Secrets::default();
        secrets.iter().for_each(|secret| known.keep(secret));
        let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.to_string()).collect();
        let mut mask = Mask::new(Masking::new(known, &patterns).unwrap());
        mask.learn();
        mask
    }

    fn masked(mask: &Mask, text: &str) -> String {
        let mut out = text.to_owned();
        mask.text(&mut out);
        assert_eq!(out.len(), text.len(), "{text}: places in it stay true");
        out
    }

    #[test]
    fn known_secrets_are_masked_in_every_form() {
        let secret = "hunter/2+hunter\"é";
        let mask = mask(&[secret], &[]);
        let json = serde_json::to_string(secret).unwrap();
        let twice = serde_json::to_string(&format!("{{\"a\":{json}}}")).unwrap();
        for text in [
            format!("a {secret} b"),
            json.clone(),
            json.replace('/', "\\/"),
            json.replace('/', "\\u002f"),
            twice,
            "https://x/?k=hunter%2F2%2Bhunter%22%C3%A9&b".into(),
            "https://x/?k=hunter%2f2%2bhunter%22%c3%a9&b".into(),
        ] {
            let out = masked(&mask, &text);
            assert!(!out.contains("hunter"), "{text} → {out}");
            assert!(out.contains("****"), "{out}");
        }
        for before in ["", "u", "us"] {
            let text = format!("{before}{secret}:x");
            let encoded: Vec<u8> = base64(format!("{text}00").as_bytes(), *b"+/");
            let out = masked(&mask, &format!("Basic {}", String::from_utf8(encoded).unwrap()));
            assert!(out.contains("*********************"), "{out}");
        }
    }

    #[test]
    fn keys_are_known_by_their_shape_or_their_name() {
        let mask = mask(&[], &[r"ticket-(\d+)", r"\bPIN\b"]);
        for (text, out) in [
            ("use sk-proj-abcdefghijklmnop1234.", "use ****************************."),
            ("AKIAIOSFODNN7EXAMPLE", "********************"),
            ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer ***********"),
            (r#"{"api_key": "abcdef", "n": 1}"#, r#"{"api_key": "******", "n": 1}"#),
            (r#"{\"password\":\"abcdef\"}"#, r#"{\"password\":\"******\"}"#),
            (r#"{"password": {"type": "string"}}"#, r#"{"password": {"type": "string"}}"#),
            ("ticket-123 PIN PINS", "ticket-*** *** PINS"),
            ("task-oriented, a desk-lamp-in-the-corner", "task-oriented, a desk-lamp-in-the-corner"),
            ("-----BEGIN RSA PRIVATE KEY-----\nab\n-----END RSA PRIVATE KEY-----", &"*".repeat(64)),
        ] {
            assert_eq!(masked(&mask, text), out);
        }
    }

    #[test]
    fn names_and_parts_of_messages_are_looked_at_within_json() {
        let mask = mask(&[], &[]);
        let env = "cat .env\nDB_PASSWORD=hunter22\nexport MY_API_KEY='abc123 def'\nURL=postgres://a:hunter22@db/x\n";
        let hidden = masked(&mask, env);
        assert_eq!(
            hidden,
            "cat .env\nDB_PASSWORD=********\nexport MY_API_KEY='**********'\nURL=postgres://a:********@db/x\n"
        );
        let mut said = env.to_owned();
        for _ in 0..3 {
            said = serde_json::to_string(&callwright_value::json!({"arguments": said})).unwrap();
            let out = masked(&mask, &said);
            assert!(!out.contains("hunter22") && !out.contains("abc123"), "{out}");
            assert!(serde_json::from_str::<Value>(&out).is_ok(), "{out}");
        }
        let parts = r#"{"content":[{"type":"text","text":"x sk-proj-Ab12Cd"},{"type":"text","text":"34Ef56Gh78 y"}]}"#;
        let out = r#"{"content":[{"type":"text","text":"x **************"},{"type":"text","text":"********** y"}]}"#;
        assert_eq!(masked(&mask, parts), out);
        assert_eq!(masked(&mask, "x sk-proj-Ab12Cd\n34Ef56Gh78 y"), "x **************\n********** y");
    }

    /// Whatever stands there: places stay true, and nothing that is found is cut through a letter.
    #[test]
    fn any_text_keeps_its_length() {
        let pieces = [
            "password",
            "token",
            "secret_name",
            "api",
            "_",
            "KEY",
            ":",
            "=",
            " ",
            "\"",
            "'",
            "`",
            "\\",
            "\n",
            "://",
            "@",
            "user",
            ";",
            "Bearer ",
            "abc123def456ghi789",
            "é",
            "\u{1f511}",
            "\"text\"",
            "{",
            "}",
            ",",
            ":AA",
            "12345678",
        ];
        let mask = mask(&["hunter/2+hunter\"é"], &[]);
        for seed in [7, 20_261_129] {
            let mut state: u64 = seed;
            for _ in 0..4_000 {
                let mut text = String::new();
                for _ in 0..24 {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
                }
                masked(&mask, &text);
            }
        }
    }

    #[test]
    fn values_are_masked_throughout() {
        let mask = mask(&["hunter22"], &[]);
        let mut value = callwright_value::json!({"a": ["hunter22", 1], "hunter22": {"b": "x hunter22"}});
        mask.value(&mut value);
        assert_eq!(value, callwright_value::json!({"a": ["********", 1], "********": {"b": "x ********"}}));
        // A value whose name stands in another text.
        let mut value = callwright_value::json!({"dbPassword": "a, b c", "n": {"token": "x", "authorization": "Basic abcdef"}});
        assert!(mask.value(&mut value));
        let out = callwright_value::json!({"dbPassword": "******", "n": {"token": "x", "authorization": "Basic ******"}});
        assert_eq!(value, out);
    }

    #[test]
    fn a_secret_that_becomes_known_later_is_masked_from_then_on() {
        let secrets = Secrets::default();
        let mut mask = Mask::new(Masking { secrets: secrets.clone(), patterns: Vec::new() });
        mask.learn();
        assert_eq!(masked(&mask, "hunter22"), "hunter22");
        secrets.keep("hunter22");
        mask.learn();
        assert_eq!(masked(&mask, "hunter22"), "********");
    }
}
