//! Holds the values of a strict JSON text as a flat list that keeps order, duplicates and number text.

use alloc::{borrow::Cow, collections::BTreeMap, string::String, vec::Vec};
use core::iter;

use crate::Span;
use crate::scan::find;
use crate::strict::{is_object, is_only_object};

/// The reader accepts no deeper nesting.
pub const MAX_DEPTH: usize = 128;

/// The values of one strict JSON text, in their order there.
///
/// A tree holds no text and no nesting of its own: dropping it is one `free`, however deep the text was.
/// [`Tree::root`] gives access to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// The node is a string with an escape.
    pub(crate) escaped: bool,
    pub(crate) span: Span,
    /// The index one past the last node inside this one.
    pub(crate) next: u32,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// `[…]`
    Array,
    /// `{…}`
    Object,
}

impl Kind {
    /// Returns the JSON Schema name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "boolean",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }
}

impl Tree {
    /// Returns the whole value. `text` is the strict JSON that the tree was made from.
    pub fn root<'a>(&'a self, text: &'a str) -> Value<'a> {
        Value { nodes: &self.nodes, text, at: 0 }
    }

    /// Moves the tree's values to the text that begins at `from` of its text.
    pub(crate) fn behind(mut self, from: usize) -> Tree {
        for Node { span, .. } in &mut self.nodes {
            *span = Span::new(span.start as usize - from, span.end as usize - from);
        }
        self
    }
}

/// A view of one value in a [`Tree`].
#[derive(Clone, Copy)]
pub struct Value<'a> {
    nodes: &'a [Node],
    text: &'a str,
    at: usize,
}

impl<'a> Value<'a> {
    fn node(self) -> Node {
        let nothing = Node { kind: Kind::Null, escaped: false, span: Span::at(0), next: 0 };
        self.nodes.get(self.at).copied().unwrap_or(nothing)
    }

    /// Returns the type of the value.
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// Returns the value's place in the text, quotes and brackets included.
    pub fn span(self) -> Span {
        self.node().span
    }

    /// Returns the value's text as it stands: a number's exact digits, a string with its quotes and escapes.
    pub fn raw(self) -> &'a str {
        self.span().of(self.text)
    }

    /// Returns the string with escapes resolved; `None` for other types.
    ///
    /// A lone surrogate (`"\ud800"`) has no UTF-8 form and becomes U+FFFD; see [`Value::has_lone_surrogate`].
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let Node { kind, escaped, .. } = self.node();
        let string = || if escaped { unescape(self.inner()) } else { Cow::Borrowed(self.inner()) };
        (kind == Kind::String).then(string)
    }

    /// Returns whether the value is this string.
    pub fn is_str(self, text: &str) -> bool {
        let Node { kind, escaped, span, .. } = self.node();
        if escaped {
            return self.as_str().is_some_and(|string| string == text);
        }
        let body = span.start as usize + 1..(span.end as usize).saturating_sub(1);
        kind == Kind::String && self.text.as_bytes().get(body) == Some(text.as_bytes())
    }

    /// Returns whether the value is a string whose text is one strict JSON object, such as the arguments of a
    /// call. See [`is_object`](crate::is_object).
    pub fn spells_object(self) -> bool {
        let inner = self.inner();
        // Nearly all values need no copy here.
        self.kind() == Kind::String
            && (is_only_object::<true>(inner.as_bytes()) || is_object(&unescape(inner)))
    }

    /// Returns whether the string holds half a surrogate pair, which no UTF-8 text can carry.
    pub fn has_lone_surrogate(self) -> bool {
        self.node().escaped && has_lone_surrogate(self.inner())
    }

    fn inner(self) -> &'a str {
        let raw = self.raw();
        raw.get(1..raw.len().saturating_sub(1)).unwrap_or("")
    }

    /// Returns `true` or `false`; `None` for other types.
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == "true")
    }

    /// Returns the members of an object with their keys, in order, duplicates included; nothing for other
    /// types.
    pub fn members(self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> + 'a {
        let mut children = self.children(self.kind() == Kind::Object);
        iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// Returns the elements of an array, in order; nothing for other types.
    pub fn elements(self) -> impl Iterator<Item = Value<'a>> + Clone + 'a {
        self.children(self.kind() == Kind::Array)
    }

    fn children(self, wanted: bool) -> impl Iterator<Item = Value<'a>> + Clone + 'a {
        let end = if wanted { self.node().next as usize } else { 0 };
        let mut at = self.at + 1;
        iter::from_fn(move || {
            let child = (at < end).then_some(Value { at, ..self })?;
            at = child.node().next as usize;
            Some(child)
        })
    }

    /// Returns the first member of an object with this key.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        let object = self.nodes.get(self.at).filter(|node| node.kind == Kind::Object)?;
        let inside = self.nodes.get(..object.next as usize)?;
        // A request asks for some hundred keys, and most differ from the wanted one in length.
        let quoted = key.len() + 2;
        let mut at = self.at + 1;
        while let Some(name) = inside.get(at) {
            if (name.escaped || name.span.len() == quoted) && self.sibling(at).is_str(key) {
                return Some(self.sibling(at + 1));
            }
            at = inside.get(at + 1)?.next as usize;
        }
        None
    }

    /// Returns the place of the second of two equal keys with different values, in any object in this value.
    pub fn conflict(self) -> Option<Span> {
        let (first, end) = self.extent();
        (first..end).find_map(|at| self.sibling(at).own_conflict())
    }

    fn own_conflict(self) -> Option<Span> {
        let mut seen = BTreeMap::new();
        self.members().find_map(|(key, value)| {
            let first: Value<'_> = *seen.entry(key.as_str()?).or_insert(value);
            (!first.same_as(value)).then(|| key.span())
        })
    }

    /// Returns the indices of this value's own nodes.
    pub(crate) fn extent(self) -> (usize, usize) {
        (self.at, self.node().next as usize)
    }

    pub(crate) fn index(self) -> usize {
        self.at
    }

    /// Returns the value at another index of the same tree.
    pub(crate) fn sibling(self, at: usize) -> Value<'a> {
        Value { at, ..self }
    }

    /// Returns whether the value is the same JSON value as `other`: strings by content, numbers by exact
    /// decimal value, objects in any order of keys. An object with a repeated key equals only the same
    /// spelling.
    pub fn same_as(self, other: Value<'_>) -> bool {
        // Canonical texts are compared, so that nesting needs no stack.
        self.raw() == other.raw() || self.canonical() == other.canonical()
    }
}

impl core::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.raw())
    }
}

/// Resolves the escapes of a JSON string body.
pub(crate) fn unescape(body: &str) -> Cow<'_, str> {
    let mut stop = find(body.as_bytes(), 0, b'\\');
    if stop == body.len() {
        return Cow::Borrowed(body);
    }
    // Copying bytes costs a third of copying characters, and both sides of a backslash are whole characters.
    let bytes = body.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut done = 0;
    while let Some(escape) = bytes.get(stop..).filter(|escape| !escape.is_empty()) {
        out.extend_from_slice(&bytes[done..stop]);
        let (c, len) = escape_at(escape);
        match c.unwrap_or(char::REPLACEMENT_CHARACTER) {
            c if c.is_ascii() => out.push(c as u8),
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        done = stop + len;
        stop = find(bytes, done, b'\\');
    }
    out.extend_from_slice(bytes.get(done..).unwrap_or(&[]));
    Cow::Owned(
        String::from_utf8(out).unwrap_or_else(|no| String::from_utf8_lossy(no.as_bytes()).into_owned()),
    )
}

fn has_lone_surrogate(body: &str) -> bool {
    let mut at = find(body.as_bytes(), 0, b'\\');
    while let Some(escape) = body.as_bytes().get(at..).filter(|escape| !escape.is_empty()) {
        let (c, len) = escape_at(escape);
        if c.is_none() {
            return true;
        }
        at = find(body.as_bytes(), at + len, b'\\');
    }
    false
}

/// Returns the character of the escape at the start of `bytes`, and the escape's length.
pub(crate) fn escape_at(bytes: &[u8]) -> (Option<char>, usize) {
    let simple = match bytes.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => {
            let Some(high) = hex4(bytes.get(2..)) else { return (None, 2) };
            if let Some(c) = char::from_u32(high) {
                return (Some(c), 6);
            }
            let low = (bytes.get(6..8) == Some(b"\\u")).then(|| hex4(bytes.get(8..))).flatten();
            return match low {
                Some(low @ 0xdc00..=0xdfff) if high < 0xdc00 => {
                    (char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)), 12)
                }
                _ => (None, 6),
            };
        }
        Some(&b) => b as char,
        None => return (None, 1),
    };
    (Some(simple), 2)
}

/// Returns the value of the four hexadecimal digits at the start of `bytes`.
pub(crate) fn hex4(bytes: Option<&[u8]>) -> Option<u32> {
    let digits = bytes?.get(..4)?;
    digits.iter().try_fold(0, |n, &b| Some(n * 16 + char::from(b).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use crate::strict;

    #[test]
    fn a_string_is_found_however_it_is_spelt() {
        for (raw, text, is_same) in [
            (r#""path""#, "path", true),
            (r#""path""#, "pat", false),
            (r#""pat""#, "path", false),
            (r#""p\u0061th""#, "path", true),
            (r#""path\n""#, "path\n", true),
            (r#""path\n""#, "path", false),
            (r#""a\\b""#, "a\\b", true),
            (r#""a\\b""#, "a\\\\b", false),
            ("1", "1", false),
            ("null", "ul", false),
            (r#""""#, "", true),
        ] {
            let tree = strict(raw).unwrap();
            assert_eq!(tree.root(raw).is_str(text), is_same, "{raw} {text:?}");
            let by_content = tree.root(raw).as_str().is_some_and(|string| string == text);
            assert_eq!(by_content, is_same, "{raw} {text:?}");
        }
    }
}
