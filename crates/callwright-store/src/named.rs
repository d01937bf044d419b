//! Secrets that are known by the name before them: `DB_PASSWORD=…`, `"github_token": "…"`, `Authorization: Bearer …`, and the
//! one that an address has in front of its host.
//!
//! A name is taken apart where its writer put it together: at signs and at capital letters. A part decides, wherever it
//! stands; what stands behind it may say that the value is only about a secret, `secret_name`. Names whose part is more
//! often harmless, `token`, `sort_key`, hide what looks like a secret and nothing else.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Parts whose value is a secret whatever it looks like.
const SECRETS: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "secrets",
    "credential",
    "credentials",
    "authorization",
    "cookie",
    "apikey",
    "privatekey",
    "secretkey",
];
/// The same where it is the end of a part that has no sign: `PGPASSWORD`, `accesstoken`.
const ENDINGS: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "accesstoken",
    "authtoken",
    "refreshtoken",
    "secretkey",
];
/// Short for a password, behind another part: `db_pass`. Alone, `PWD` is a folder and `pass` a result.
const SHORT: [&str; 2] = ["pass", "pwd"];
/// A `key` of these is a secret.
const KEYS: [&str; 16] = [
    "api",
    "access",
    "secret",
    "private",
    "signing",
    "encryption",
    "account",
    "auth",
    "master",
    "service",
    "admin",
    "client",
    "shared",
    "storage",
    "license",
    "subscription",
];
/// A `token` of these is a secret.
const TOKENS: [&str; 8] = ["access", "refresh", "auth", "bearer", "session", "api", "bot", "personal"];
/// A `key` of these is for everybody.
const OPEN_KEYS: [&str; 1] = ["public"];
/// Behind a part that decides: the value is not the secret, but something about it.
const ABOUT: [&str; 28] = [
    "name", "id", "ids", "type", "kind", "policy", "length", "min", "max", "count", "size", "file", "path",
    "url", "uri", "ref", "arn", "hint", "field", "label", "version", "expires", "expiry", "ttl", "age",
    "enabled", "required", "manager",
];
/// Words in front of what is sent as `Authorization`.
const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "digest", "apikey", "negotiate"];

/// The shortest value of a name that says it is a secret.
const SHORTEST: usize = 6;
/// The letters and digits that a secret has in a row: words are shorter, and ids are cut by signs.
const RUN: usize = 16;
/// The longest name that is read. Its end decides, and those of programs and settings are far shorter.
const NAME: usize = 80;
/// So many blanks may stand on either side of the sign between a name and its value.
const BLANKS: usize = 3;

/// The certainty of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// Its value is a secret.
    Secret,
    /// Its value is one if it looks like one.
    Maybe,
}

/// The stems of the names that decide, and of an address and a bot's token: a text without any of them is not searched.
const STEMS: [&str; 10] =
    ["pass", "pwd", "secret", "credential", "authorization", "cookie", "key", "token", ADDRESS, BOT];
/// In front of the host of an address.
const ADDRESS: &str = "://";
/// `123456789:AAHdqTcv…`, whose name is a number.
const BOT: &str = ":AA";
/// The fewest letters of a bot's token behind its number, and the fewest digits of that.
const BOT_LETTERS: usize = 30;
const BOT_DIGITS: usize = 8;

// The test below would fail without it.
static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(STEMS).ok()
});

/// Tells where in a text such secrets stand.
pub(crate) fn find(text: &str, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    // What is within a name, or a secret that was found, is not looked at again: `password=password=…`.
    let mut done = 0;
    for stem in FINDER.iter().flat_map(|finder| finder.find_iter(bytes)) {
        if stem.start() < done {
            continue;
        }
        let secret = match STEMS.get(stem.pattern().as_usize()).copied() {
            Some(ADDRESS) => in_address(bytes, stem.end()),
            Some(BOT) => of_bot(bytes, stem.start()),
            _ => {
                let name = name_around(bytes, stem.range());
                done = name.end;
                behind_name(text, name)
            }
        };
        if let Some(secret) = secret {
            done = secret.end;
            found(secret);
        }
    }
}

/// The place of the secret in the value of a member of this name.
pub(crate) fn in_member(name: &str, value: &str) -> Option<Range<usize>> {
    let sure = named(name.get(name.ceil_char_boundary(name.len().saturating_sub(NAME))..)?)?;
    worth(value.as_bytes(), past_scheme(value.as_bytes(), 0)..value.len(), sure)
}

/// The number of bytes of a name that stand from `at` on, and in front of it.
fn name_len<'b>(bytes: impl Iterator<Item = &'b u8>) -> usize {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    bytes.take(NAME).take_while(is_part).count()
}

/// The name that has this stem.
fn name_around(bytes: &[u8], stem: Range<usize>) -> Range<usize> {
    let before = name_len(bytes.get(..stem.start).unwrap_or_default().iter().rev());
    let behind = name_len(bytes.get(stem.end..).unwrap_or_default().iter());
    stem.start - before..stem.end + behind
}

/// The secret behind a name, where it is one of a value: `"api_key" : "…"`, `DB_PASSWORD=…`.
fn behind_name(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let rest = bytes.get(name.end..)?;
    let quotes = rest.iter().take(2).take_while(|byte| matches!(byte, b'"' | b'\'' | b'`')).count();
    let blanks =
        rest.get(quotes..)?.iter().take(BLANKS).take_while(|byte| byte.is_ascii_whitespace()).count();
    let sign = name.end + quotes + blanks;
    matches!(bytes.get(sign)?, b':' | b'=').then_some(())?;
    value_behind(bytes, sign + 1, named(text.get(name)?)?)
}

/// Judges by a name what its value is.
fn named(name: &str) -> Option<Name> {
    let (mut before, mut sure) = (Part::default(), None);
    for part in parts(name) {
        let part = Part::of(part);
        let is = |words: &[&str]| words.contains(&part.text());
        let is_ending = || ENDINGS.iter().any(|ending| part.text().ends_with(ending));
        sure = if is(&SECRETS) || is_ending() || !before.text().is_empty() && is(&SHORT) {
            Some(Name::Secret)
        } else if part.text() == "key" && !OPEN_KEYS.contains(&before.text()) {
            let is_known = KEYS.contains(&before.text());
            if is_known {
                Some(Name::Secret)
            } else {
                Some(Name::Maybe).filter(|_| !before.text().is_empty())
            }
        } else if part.text() == "token" {
            Some(if TOKENS.contains(&before.text()) { Name::Secret } else { Name::Maybe })
        } else if is(&ABOUT) {
            sure.map(|_| Name::Maybe)
        } else {
            sure
        };
        before = part;
    }
    sure
}

/// A part of a name in small letters; one that is longer than any that decides does not count.
#[derive(Clone, Copy, Default)]
struct Part {
    letters: [u8; 24],
    len: usize,
}

impl Part {
    fn of(part: &str) -> Part {
        let mut of = Part::default();
        // Its end decides.
        let end = part.as_bytes();
        let end = &end[end.len().saturating_sub(of.letters.len())..];
        for (to, byte) in of.letters.iter_mut().zip(end) {
            *to = byte.to_ascii_lowercase();
        }
        of.len = end.len();
        of
    }

    fn text(&self) -> &str {
        self.letters.get(..self.len).and_then(|part| std::str::from_utf8(part).ok()).unwrap_or_default()
    }
}

/// `DB_passwordProd2` → `DB`, `password`, `Prod`: at signs, digits and where a small letter meets a capital one.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        let bytes = rest.as_bytes();
        let ends = |n: &usize| {
            let (before, byte) = (bytes[n - 1], bytes[*n]);
            !byte.is_ascii_alphabetic() || before.is_ascii_lowercase() && byte.is_ascii_uppercase()
        };
        let end = (1..bytes.len()).find(ends).unwrap_or(bytes.len());
        let (part, more) = rest.split_at_checked(end)?;
        rest = more;
        (!part.is_empty()).then_some(part)
    })
}

/// The value behind the sign that ends at `at`.
fn value_behind(bytes: &[u8], at: usize, sure: Name) -> Option<Range<usize>> {
    // `:=`, `=>`, `==`
    let at = at + usize::from(matches!(bytes.get(at), Some(b'=' | b'>')));
    let blanks = bytes.get(at..)?.iter().take(BLANKS).take_while(|byte| byte.is_ascii_whitespace()).count();
    let at = at + blanks;
    if let Some(quote @ (b'"' | b'\'' | b'`')) = bytes.get(at) {
        // Up to the quote that ends it, on the same line; a text that is cut has none.
        let mut end = at + 1;
        while let Some(byte) = bytes.get(end).filter(|byte| !matches!(byte, b'\n' | b'\r')) {
            match byte {
                byte if byte == quote => return worth(bytes, past_scheme(bytes, at + 1)..end, sure),
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        return worth(bytes, run(bytes, past_scheme(bytes, at + 1), sure), sure);
    }
    let start = past_scheme(bytes, at);
    let mut value = run(bytes, start, sure);
    // `a=1; b=2`: the pairs of a cookie.
    while bytes.get(value.end) == Some(&b';') && sure == Name::Secret {
        let next = value.end + 1 + usize::from(bytes.get(value.end + 1) == Some(&b' '));
        let pair = run(bytes, next, sure);
        if !bytes.get(pair.clone()).is_some_and(|pair| pair.contains(&b'=')) {
            break;
        }
        value.end = pair.end;
    }
    worth(bytes, value, sure)
}

/// Behind a word that only says how a secret is sent: `Bearer `.
fn past_scheme(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let word = rest.iter().take(RUN).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let is_scheme = SCHEMES.iter().any(|scheme| scheme.as_bytes().eq_ignore_ascii_case(&rest[..word]));
    let blanks = rest[word..].iter().take(BLANKS).take_while(|byte| **byte == b' ').count();
    if is_scheme && 0 < blanks { at + word + blanks } else { at }
}

/// A value without quotes, which begins at `at`. Where it is not a secret by its name, what stands behind the next sign is a
/// value of its own: `token=token=…` is read once.
fn run(bytes: &[u8], at: usize, sure: Name) -> Range<usize> {
    let signs: &[u8] = if sure == Name::Maybe { b":=" } else { b"" };
    let ends = |byte: &&u8| {
        byte.is_ascii_whitespace() || b"\"'`\\,;&<>{}()[]".contains(byte) || signs.contains(byte)
    };
    let len = bytes.get(at..).unwrap_or_default().iter().take_while(|byte| !ends(byte)).count();
    at..at + len
}

/// A value, if it is one that such a name hides.
fn worth(bytes: &[u8], value: Range<usize>, sure: Name) -> Option<Range<usize>> {
    let text = bytes.get(value.clone())?;
    let is_secret = match sure {
        Name::Secret => SHORTEST <= text.len(),
        Name::Maybe => looks_secret(text),
    };
    is_secret.then_some(value)
}

/// Returns whether so many letters and digits stand in a row, with both among them.
fn looks_secret(value: &[u8]) -> bool {
    value.split(|byte| !byte.is_ascii_alphanumeric()).any(|run| {
        RUN <= run.len() && run.iter().any(u8::is_ascii_digit) && run.iter().any(u8::is_ascii_alphabetic)
    })
}

/// The password of an address whose host may begin at `at`: `user:password@host`, or a key alone, `key@host`.
fn in_address(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let ends = |byte: &&u8| byte.is_ascii_whitespace() || b"\"'`\\<>/?#".contains(byte);
    let authority: usize = bytes.get(at..)?.iter().take_while(|byte| !ends(byte)).count();
    let authority = bytes.get(at..at + authority)?;
    let user = authority.get(..authority.iter().rposition(|byte| *byte == b'@')?)?;
    match user.iter().position(|byte| *byte == b':') {
        Some(colon) if colon + 1 < user.len() => Some(at + colon + 1..at + user.len()),
        _ => looks_secret(user).then_some(at..at + user.len()),
    }
}

/// A bot's token, whose colon stands at `at`.
fn of_bot(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let digits =
        bytes.get(..at)?.iter().rev().take(2 * BOT_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
    let letters = bytes.get(at + 1..)?.iter().take(2 * BOT_LETTERS).take_while(is_letter).count();
    (BOT_DIGITS <= digits && BOT_LETTERS <= letters).then(|| at - digits..at + 1 + letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        find(text, &mut |range| bytes[range].fill(b'*'));
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_name_is_known_by_its_parts() {
        for (text, out) in [
            ("DB_PASSWORD=hunter22", "DB_PASSWORD=********"),
            ("PGPASSWORD=hunter22 psql", "PGPASSWORD=******** psql"),
            ("export MY_API_KEY=abc123def", "export MY_API_KEY=*********"),
            ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7", "AWS_SECRET_ACCESS_KEY=****************"),
            ("aws_secret_access_key = wJalrXUt", "aws_secret_access_key = ********"),
            (
                "DB_PASSWORD_PROD2: 'a, b c'",
                "DB_PASSWORD_PROD2: 'a, b c'".replace("a, b c", "******").as_str(),
            ),
            (r#"{"clientSecret":"a b,c d"}"#, r#"{"clientSecret":"*******"}"#),
            ("AccountKey=abcdEFGH+/==;x", "AccountKey=************;x"),
            ("spring.datasource.password=hunter22", "spring.datasource.password=********"),
            ("smtp_pass := hunter22", "smtp_pass := ********"),
            ("github_token: abcdef1234567890abcdef", "github_token: **********************"),
            (r#"{"token": "abcdef1234567890abcdef"}"#, r#"{"token": "**********************"}"#),
            ("X-Api-Key: abcdef", "X-Api-Key: ******"),
            ("Proxy-Authorization: Basic dXNlcjpw", "Proxy-Authorization: Basic ********"),
            ("Cookie: a=1234; b=5678, rest", "Cookie: **************, rest"),
            ("postgres://admin:s3cr3t@db/x", "postgres://admin:******@db/x"),
            ("redis://:p@ss@h:6379", "redis://:****@h:6379"),
            ("https://abcdef1234567890@h/x", "https://****************@h/x"),
            ("bot 123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", &format!("bot {}", "*".repeat(44))),
            (r#"password="neverr closed"#, r#"password="****** closed"#),
            ("password=password=hunter22;x", "password=*****************;x"),
            ("token=password=hunter22", "token=password=********"),
        ] {
            assert_eq!(masked(text), out);
        }
    }

    #[test]
    fn what_only_has_such_a_part_stays() {
        for text in [
            r#"{"max_tokens": 500000, "tokens": 1234567, "completion_tokens_details": "reasoning"}"#,
            r#"{"key": "name-of-a-column", "primary_key": "customer_id", "sort_key": "created-at"}"#,
            r#"{"public_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA"}"#,
            r#"{"token": "<|im_end|>", "next_page_token": "CAUQAA", "token_type": "bearer"}"#,
            r#"{"secret_name": "prod-database", "password_policy_id": "default-policy", "passwords": "none"}"#,
            r#"{"cache_key": "user-profile-12345", "idempotency_key": "550e8400-e29b-41d4-a716-446655440000"}"#,
            "PWD=/home/user/project OLDPWD=/home/user",
            "monkey: banana-split-1234567890 keyboard=querty1234567890123",
            "https://example.com:8080/a@b ssh://git@example.com/x a::b = c:d",
            "compass: north-northwest passed: 123456789",
            r#"{"password": {"type": "string"}, "secret": true}"#,
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn parts_are_cut_where_they_were_put_together() {
        for (name, of) in [
            ("DB_passwordProd2x", &["DB", "password", "Prod", "x"][..]),
            ("x-api-key", &["x", "api", "key"]),
            ("a.bC", &["a", "b", "C"]),
            ("__1", &[]),
        ] {
            assert_eq!(parts(name).collect::<Vec<_>>(), of, "{name}");
        }
    }
}
