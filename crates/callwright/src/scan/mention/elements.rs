//! Finds elements, quotations that a name or a mark opens and closes: `<pre>`, `[code]`, `<!-- -->`, `\begin{a}`,
//! `'''`.

use crate::syntax::tag::{Role, tag_at};
use crate::syntax::{Incomplete, Seen, at_end, beginning};

/// Longest tag of an element, in bytes.
const MAX_ELEMENT: usize = 384;

/// An open element.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// The mark that closes the element: `-->`, `</a`, `[/a`, `\end{a`.
    pub(super) close: String,
    /// Words stand before the element.
    pub(super) words_before: bool,
}

/// A mark at a place.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    /// The mark opens an element with this closer.
    Opens(String),
    /// The mark closes the element of this number.
    Closes(usize),
    /// The mark is a dialect's, or a tag that closes nothing.
    Blank,
}

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// The text at the place, as far as it is read.
    pub(super) rest: &'t str,
    /// No more text counts, so that an incomplete mark in `rest` is only text.
    pub(super) last: bool,
    /// The sign before the place on its line.
    pub(super) before: Option<char>,
}

/// Opening marks, the marks that close them, and whether a name stands behind both.
const BLOCKS: &[(&str, &str, bool)] = &[
    ("<!--", "-->", false),
    ("/*", "*/", false),
    ("'''", "'''", false),
    ("\"\"\"", "\"\"\"", false),
    ("<![CDATA[", "]]>", false),
    ("$$", "$$", false),
    ("\\begin{", "\\end{", true),
    ("#+begin_", "#+end_", true),
    ("#+BEGIN_", "#+END_", true),
    ("{% ", "{% end", true),
];

/// Returns the mark at `place`, which stands inside the elements that are `open`, and its length.
pub(super) fn mark_at(place: Place<'_>, open: &[Element]) -> Seen<(Mark, usize)> {
    if let Some(tag) = at_end(tag_at(place.text, place.at), place.last)? {
        let mark = tag.at.of(place.text);
        let is_of_dialect = tag.role != Role::Other || tag.marked;
        if is_of_dialect && mark.len() <= place.rest.len() && !mark.trim_start_matches('<').contains('<') {
            return Ok(Some((Mark::Blank, mark.len())));
        }
    }
    for (n, Element { close, .. }) in open.iter().enumerate().rev() {
        let Some(len) = place.begins_with(close)? else { continue };
        let behind = &place.rest[len..];
        // `</prefix>` does not close `<pre>`.
        let is_named = close.ends_with(char::is_alphanumeric);
        if is_named && behind.is_empty() && !place.last {
            return Err(Incomplete);
        }
        if !is_named || !behind.starts_with(|c: char| c.is_alphanumeric() || "_-:.".contains(c)) {
            return Ok(Some((Mark::Closes(n), len)));
        }
    }
    for &(begin, end, is_named) in BLOCKS {
        let Some(mark) = place.begins_with(begin)? else { continue };
        let behind = &place.rest[mark..];
        let is_name = |c: char| is_named && (c.is_alphanumeric() || c == '*');
        let name = behind.find(|c| !is_name(c)).unwrap_or(behind.len());
        if is_named && name == behind.len() && !place.last {
            return Err(Incomplete);
        }
        // Not `src/*.rs` or `5$$`.
        let may_open = if is_named { 0 < name } else { place.before.is_none_or(char::is_whitespace) };
        if may_open {
            return Ok(Some((Mark::Opens(format!("{end}{}", &behind[..name])), mark + name)));
        }
    }
    at_end(tag(place.rest), place.last)
}

impl Place<'_> {
    /// Returns the length of `mark`, if it stands at the place.
    fn begins_with(self, mark: &str) -> Seen<usize> {
        match mark.starts_with(self.rest) && self.rest.len() < mark.len() && !self.last {
            true => Err(Incomplete),
            false => Ok(self.rest.starts_with(mark).then_some(mark.len())),
        }
    }
}

/// Returns the tag of an element at the beginning of `rest`, whatever its name: `<pre class="a-b">`, `[code]`.
fn tag(rest: &str) -> Seen<(Mark, usize)> {
    let is_cut = MAX_ELEMENT < rest.len();
    let rest = beginning(rest, MAX_ELEMENT);
    let (open, closer, is_angle) = match rest.as_bytes() {
        [b'<', ..] => ('<', '>', true),
        [b'[', ..] => ('[', ']', false),
        _ => return Ok(None),
    };
    let is_closing = is_angle && rest.get(1..).is_some_and(|inner| inner.starts_with('/'));
    let from = 1 + usize::from(is_closing);
    let inner = rest.get(from..).unwrap_or("");
    let is_first = |c: char| if is_angle { c.is_alphabetic() || c == '_' } else { c.is_ascii_alphabetic() };
    if !inner.is_empty() && !inner.starts_with(is_first) {
        return Ok(None);
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || is_angle && matches!(c, '-' | ':' | '.');
    let (name, behind) = inner.split_at(inner.find(|c| !is_name(c)).unwrap_or(inner.len()));
    let is_attribute = |c: char| c.is_whitespace() && is_angle || c == '=' || c == '/' && is_angle;
    if !behind.is_empty() && !behind.starts_with(closer) && !behind.starts_with(is_attribute) {
        return Ok(None);
    }
    let Some((inside, rest)) = behind.find([closer, '<', '\n']).map(|end| behind.split_at(end)) else {
        return if is_cut { Ok(None) } else { Err(Incomplete) };
    };
    let len = from + name.len() + inside.len() + 1;
    Ok(match rest.starts_with(closer) {
        false => None,
        true if is_closing || is_angle && inside.ends_with('/') => Some((Mark::Blank, len)),
        // In square brackets it may be words: `[see below]`.
        true => Some((Mark::Opens(format!("{open}/{name}")), if is_angle { len } else { 1 })),
    })
}
