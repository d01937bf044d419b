//! Finds elements, quotations that a name or a mark opens and closes: `<pre>`, `[code]`, `<!-- -->`, `\begin{a}`,
//! `'''`.

use callwright_json::Span;

use crate::syntax::tag::{Role, Tag, tag_at};
use crate::syntax::{Incomplete, Seen, at_end, beginning};

/// Longest tag of an element, in bytes.
const MAX_ELEMENT: usize = 384;

/// An open element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub(super) end: End,
    /// Words stand before the element.
    pub(super) words_before: bool,
}

/// The end of an element: `-->`, `</a>`, `[/a]`, `\end{a}`.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// The mark in front of the name; empty for tags, as their names tell them apart.
    mark: &'static str,
    /// The first place of the name; empty if a mark alone closes the element.
    name: Span,
}

/// A mark at a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// The mark opens an element with this end, and has this length.
    Opens(End, usize),
    /// The mark closes the element of this number, and has this length.
    Closes(usize, usize),
    /// The mark is a dialect's, or a tag that closes nothing, and has this length.
    Blank(usize),
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

/// Returns the mark at `place`, which stands inside the elements that are `open`.
pub(super) fn mark_at(place: Place<'_>, open: &[Element]) -> Seen<Mark> {
    if let Some(tag) = at_end(tag_at(place.text, place.at), place.last)?
        && let Some(mark) = of_dialect(place, &tag)
    {
        return Ok(Some(mark));
    }
    if let Some(mark) = block(place, open)? {
        return Ok(Some(mark));
    }
    at_end(tag(place, open), place.last)
}

impl End {
    /// Returns whether the end is a mark without a name, and stands at `at`.
    pub(super) fn is_mark_at(self, text: &str, at: usize) -> bool {
        self.name.is_empty() && text.get(at..).is_some_and(|rest| rest.starts_with(self.mark))
    }

    /// Returns the number of the innermost of `open` that this end closes.
    fn closes(self, text: &str, open: &[Element]) -> Option<usize> {
        let is_same = |own: End| own.mark == self.mark && own.name.of(text) == self.name.of(text);
        open.iter().rposition(|element| is_same(element.end))
    }
}

/// Returns `tag` as a mark, if it is a dialect's: `<tool_call>`, `<|im_start|>`.
fn of_dialect(place: Place<'_>, tag: &Tag) -> Option<Mark> {
    let mark = tag.at.of(place.text);
    let is_of_dialect = tag.role != Role::Other || tag.marked || tag.by_tokens;
    let is_whole = mark.len() <= place.rest.len() && !mark.trim_start_matches('<').contains('<');
    (is_of_dialect && is_whole).then_some(Mark::Blank(mark.len()))
}

/// Returns the mark of a block at `place`: `-->`, `\begin{a}`.
fn block(place: Place<'_>, open: &[Element]) -> Seen<Mark> {
    for &(begin, end, is_named) in BLOCKS {
        for mark in [end, begin] {
            let Some(behind) = place.rest.strip_prefix(mark) else {
                if mark.starts_with(place.rest) && !place.last {
                    return Err(Incomplete);
                }
                continue;
            };
            let is_name = |c: char| is_named && (c.is_alphanumeric() || c == '*');
            let name = behind.find(|c| !is_name(c)).unwrap_or(behind.len());
            if is_named && name == behind.len() && !place.last {
                return Err(Incomplete);
            }
            let (from, len) = (place.at + mark.len(), mark.len() + name);
            let own = End { mark: end, name: Span::new(from, from + name) };
            if mark == end
                && let Some(at) = own.closes(place.text, open)
            {
                return Ok(Some(Mark::Closes(at, len)));
            }
            // Not `src/*.rs` or `5$$`.
            let may_open = if is_named { 0 < name } else { place.before.is_none_or(char::is_whitespace) };
            if mark == begin && may_open {
                return Ok(Some(Mark::Opens(own, len)));
            }
        }
    }
    Ok(None)
}

/// Returns the tag of an element at `place`, whatever its name: `<pre class="a-b">`, `</pre>`, `[code]`.
fn tag(place: Place<'_>, open: &[Element]) -> Seen<Mark> {
    let is_cut = MAX_ELEMENT < place.rest.len();
    let rest = beginning(place.rest, MAX_ELEMENT);
    let (closer, is_angle) = match rest.as_bytes() {
        [b'<', ..] => ('>', true),
        [b'[', ..] => (']', false),
        _ => return Ok(None),
    };
    let is_closing = rest.get(1..).is_some_and(|inner| inner.starts_with('/'));
    let from = 1 + usize::from(is_closing);
    let inner = rest.get(from..).unwrap_or("");
    let is_first = |c: char| if is_angle { c.is_alphabetic() || c == '_' } else { c.is_ascii_alphabetic() };
    if !inner.is_empty() && !inner.starts_with(is_first) {
        return Ok(None);
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || is_angle && matches!(c, '-' | ':' | '.');
    let name = inner.find(|c| !is_name(c)).unwrap_or(inner.len());
    let behind = inner.get(name..).unwrap_or("");
    let is_attribute = |c: char| c.is_whitespace() && is_angle || c == '=' || c == '/' && is_angle;
    if !behind.is_empty() && !behind.starts_with(closer) && !behind.starts_with(is_attribute) {
        return Ok(None);
    }
    let Some(end) = behind.find([closer, '<', '\n']) else {
        return if is_cut { Ok(None) } else { Err(Incomplete) };
    };
    if !behind.get(end..).is_some_and(|end| end.starts_with(closer)) {
        return Ok(None);
    }
    let len = from + name + end + 1;
    let own = End { mark: "", name: Span::new(place.at + from, place.at + from + name) };
    let is_empty = behind.get(..end).is_some_and(|inside| inside.ends_with('/'));
    Ok(match (is_closing, is_angle) {
        (true, _) => match own.closes(place.text, open) {
            Some(at) => Some(Mark::Closes(at, len)),
            None => is_angle.then_some(Mark::Blank(len)),
        },
        (false, true) if is_empty => Some(Mark::Blank(len)),
        (false, true) => Some(Mark::Opens(own, len)),
        // In square brackets it may be words: `[see below]`.
        (false, false) => Some(Mark::Opens(own, 1)),
    })
}
