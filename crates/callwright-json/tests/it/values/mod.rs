//! Random JSON values, and the ways in which models write them.

use std::fmt::Write;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

/// A JSON value; a number is its text, an object's keys are different.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    Literal(&'static str),
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// How a value is written. The default is strict JSON without spaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spelling {
    pub(crate) quote: Quote,
    /// What stands between any two tokens: blanks or a comment.
    pub(crate) gap: &'static str,
    /// Characters outside of ASCII become `\u` escapes, slashes become `\/`.
    pub(crate) escaped: bool,
    /// Keys that are names get no quotes.
    pub(crate) bare_keys: bool,
    /// `True`, `False`, `None`.
    pub(crate) python: bool,
    /// `：`, `，`.
    pub(crate) wide: bool,
    /// A comma stands behind the last member and element of each container.
    pub(crate) last_comma: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Quote {
    #[default]
    Double,
    Single,
    Curly,
    Back,
}

impl Json {
    /// The value as strict JSON without spaces.
    pub(crate) fn strict(&self) -> String {
        self.written(&Spelling::default())
    }

    /// The value in the given spelling.
    pub(crate) fn written(&self, spelling: &Spelling) -> String {
        let mut out = String::new();
        self.write(spelling, &mut out);
        out
    }

    fn write(&self, spelling: &Spelling, out: &mut String) {
        let gap = spelling.gap;
        let comma = if spelling.wide { "，" } else { "," };
        let mut list = |open: &str, close: &str, len: usize, item: &mut dyn FnMut(usize, &mut String)| {
            out.push_str(open);
            for at in 0..len {
                out.push_str(gap);
                item(at, out);
                out.push_str(gap);
                if at + 1 < len || spelling.last_comma {
                    out.push_str(comma);
                }
            }
            out.push_str(gap);
            out.push_str(close);
        };
        match self {
            Json::Literal(word) if spelling.python => out.push_str(match *word {
                "true" => "True",
                "false" => "False",
                _ => "None",
            }),
            Json::Literal(word) => out.push_str(word),
            Json::Number(digits) => out.push_str(digits),
            Json::Text(text) => spelling.text(text, out),
            Json::Array(elements) => {
                list("[", "]", elements.len(), &mut |at, out| elements[at].write(spelling, out));
            }
            Json::Object(members) => list("{", "}", members.len(), &mut |at, out| {
                let (key, value) = &members[at];
                spelling.key(key, out);
                out.push_str(gap);
                out.push_str(if spelling.wide { "：" } else { ":" });
                out.push_str(gap);
                value.write(spelling, out);
            }),
        }
    }
}

impl Spelling {
    fn key(&self, key: &str, out: &mut String) {
        let name = key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.bare_keys && name { out.push_str(key) } else { self.text(key, out) }
    }

    fn text(&self, text: &str, out: &mut String) {
        let (open, close) = match self.quote {
            // Two backticks are the rest of a fence.
            Quote::Back if text.is_empty() => ("\"", "\""),
            Quote::Double => ("\"", "\""),
            Quote::Single => ("'", "'"),
            Quote::Curly => ("“", "”"),
            Quote::Back => ("`", "`"),
        };
        out.push_str(open);
        for c in text.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                '\n' => out.push_str("\\n"),
                c if c < ' ' => write!(out, "\\u{:04X}", u32::from(c)).unwrap(),
                '/' if self.escaped => out.push_str("\\/"),
                c if self.escaped && !c.is_ascii() => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        write!(out, "\\u{unit:04x}").unwrap();
                    }
                }
                c if open.contains(c) || close.contains(c) => write!(out, "\\u{:04x}", u32::from(c)).unwrap(),
                c => out.push(c),
            }
        }
        out.push_str(close);
    }
}

/// Any value.
pub(crate) fn json() -> impl Strategy<Value = Json> {
    leaf(text()).prop_recursive(3, 24, 4, |inner| {
        prop_oneof![vec(inner.clone(), 0..4).prop_map(Json::Array), object_of(inner)]
    })
}

/// An object, as the arguments of a call are.
pub(crate) fn object() -> impl Strategy<Value = Json> {
    object_of(json())
}

/// An object whose texts and keys hold no brackets.
pub(crate) fn plain_object() -> impl Strategy<Value = Json> {
    let inner = leaf("[a-z \"\\\\,:\n0-9é/']{0,8}").prop_recursive(3, 16, 4, |inner| {
        prop_oneof![vec(inner.clone(), 0..4).prop_map(Json::Array), object_of(inner)]
    });
    object_of(inner)
}

fn object_of(value: impl Strategy<Value = Json>) -> impl Strategy<Value = Json> {
    let key = prop_oneof![4 => "[a-z][a-z_]{0,6}", 1 => "[A-Za-z0-9 é.-]{1,6}"];
    btree_map(key, value, 0..4).prop_map(|members| Json::Object(members.into_iter().collect()))
}

fn leaf(text: impl Strategy<Value = String>) -> impl Strategy<Value = Json> {
    let number = "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?";
    prop_oneof![
        1 => select(&["true", "false", "null"][..]).prop_map(Json::Literal),
        1 => number.prop_map(Json::Number),
        1 => select(&["1e400", "0.10", "-0", "1E+2", "123456789012345678901234567890"][..])
            .prop_map(|digits| Json::Number(digits.to_owned())),
        3 => text.prop_map(Json::Text),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let code = "(fn |let |if |[a-z]{1,4}|\\(|\\)|\\{|\\}|\\[|\\]|\"|'|, |: |;|\n|\t|\\\\| |//|#|=){0,12}";
    prop_oneof![code, any::<String>(), "[a-zA-Z ]{0,12}"]
}

/// A spelling of strict JSON.
pub(crate) fn strict_spelling() -> impl Strategy<Value = Spelling> {
    let gap = select(&["", " ", "\n  ", "\r\n\t"][..]);
    (gap, any::<bool>()).prop_map(|(gap, escaped)| Spelling { gap, escaped, ..Spelling::default() })
}

/// A spelling that differs from strict JSON only in form: nothing is missing, nothing surplus but commas.
pub(crate) fn loose_spelling() -> impl Strategy<Value = Spelling> {
    let quote = select(&[Quote::Double, Quote::Single, Quote::Curly, Quote::Back][..]);
    let gap = select(&["", " ", "\n  ", " /* note */ "][..]);
    (quote, gap, any::<[bool; 5]>()).prop_map(
        |(quote, gap, [escaped, bare_keys, python, wide, last_comma])| Spelling {
            quote,
            gap,
            escaped,
            bare_keys,
            python,
            wide,
            last_comma,
        },
    )
}

/// A written value with a few accidents: characters left out, put in, or written twice.
pub(crate) fn torn() -> impl Strategy<Value = String> {
    let accident = (any::<prop::sample::Index>(), 0..3_u8, select(&CHARACTERS[..]));
    (object(), loose_spelling(), vec(accident, 1..5)).prop_map(|(value, spelling, accidents)| {
        let mut text: Vec<char> = value.written(&spelling).chars().collect();
        for (index, what, c) in accidents {
            let at = index.index(text.len() + 1);
            match what {
                0 if at < text.len() => drop(text.remove(at)),
                1 if at < text.len() => text.insert(at, text[at]),
                _ => text.insert(at, c),
            }
        }
        text.into_iter().collect()
    })
}

/// Characters that mean something to a reader.
const CHARACTERS: [char; 28] = [
    '{', '}', '[', ']', '(', ')', '"', '\'', '`', '“', '”', '\\', ',', ':', ';', '=', '+', '/', '*', '#',
    '<', '>', '\n', ' ', 'a', '1', '，', '\u{0}',
];

/// A text made of pieces that mean something to a reader.
pub(crate) fn soup() -> impl Strategy<Value = String> {
    let word = select(
        &[
            "{",
            "}",
            "[",
            "]",
            "(",
            ")",
            "\"",
            "'",
            "`",
            "```",
            "```json\n",
            "\"\"\"",
            "“",
            "”",
            "\\",
            "\\\"",
            "\\n",
            ",",
            ":",
            "：",
            "，",
            "=",
            "+",
            "//",
            "/*",
            "*/",
            "#",
            "\n",
            "\n\n",
            " ",
            "<think>",
            "</think>",
            "<a>",
            "</a>",
            "<|x|>",
            "a",
            "key",
            "true",
            "None",
            "undefined",
            "NaN",
            "1",
            "-0.5",
            "0x1F",
            "1e",
            "C:\\",
            "é",
            "\u{0}",
            "\u{1F600}",
            "\"a\": ",
            "\"b\": \"",
            "{\"a\": 1}",
        ][..],
    );
    vec(word, 0..24).prop_map(|words| words.concat())
}
