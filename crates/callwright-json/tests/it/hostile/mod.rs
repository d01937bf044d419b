//! Texts on which readers of broken JSON hang, abort, or take the square of the time.

/// A text that says the same thing over and over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    head: &'static str,
    unit: &'static str,
    tail: &'static str,
}

impl Shape {
    /// The text of about `len` bytes.
    pub(crate) fn text(&self, len: usize) -> String {
        format!("{}{}{}", self.head, self.unit.repeat(len / self.unit.len()), self.tail)
    }
}

pub(crate) const SHAPES: &[Shape] = &[
    repeated("open brackets", "", "["),
    repeated("open braces", "", "{"),
    repeated("open members", "", "{\"a\":"),
    repeated("open lists", "", "[[1],"),
    repeated("quotes", "", "\""),
    repeated("quotes for a value", "{\"a\":", "\""),
    repeated("backslashes", "{\"a\":\"", "\\"),
    repeated("quotes and colons", "{", "\":"),
    repeated("quotes and commas", "{\"a\":\"", "\", \""),
    repeated("quotes and commas in a list", "[\"", "\", \""),
    repeated("members", "{\"a\":\"", "\", \"b\": \""),
    Shape { tail: "x", ..repeated("members that end badly", "{\"a\":\"", "\", \"b\": \"c") },
    repeated("members without closing quotes", "{\"a\":\"", ", \"b\": "),
    repeated("backticks", "{\"a\":`", "` \""),
    repeated("closers", "{\"a\":1", "}"),
    repeated("mixed closers", "{\"a\":[1", "}]"),
    repeated("commas", "[", ","),
    repeated("bare words", "{a:", "b c,"),
    repeated("objects", "", "{a:1}"),
    repeated("half objects", "", "{\"a\" "),
    repeated("comments", "{", "/* */"),
    repeated("open comments", "{", "/*"),
    repeated("hash lines", "{", "#\n"),
    repeated("single quotes", "{'a':'", "', '"),
    repeated("triple quotes", "{\"a\":", "\"\"\" "),
    repeated("curly quotes", "{\"a\":“", "” "),
    repeated("joined strings", "{\"a\":", "\"a\" + "),
    repeated("think tags", "", "<think>"),
    repeated("closing think tags", "", "</think>"),
    repeated("fences", "", "```\n"),
    repeated("escaped", "", "{\\\"a\\\":"),
    repeated("elements that do not fit", "{\"a\":[", "{\"x\":\"y\" z},"),
    Shape { tail: "\"x \"y\" z\"", ..repeated("elements before bare quotes", "[", "\"a\",") },
    repeated("newlines", "{\"a\":\"", "\n"),
    repeated("words", "", "a "),
];

const fn repeated(name: &'static str, head: &'static str, unit: &'static str) -> Shape {
    Shape { name, head, unit, tail: "" }
}
