//! What opens a quotation and closes it by a name or a mark of its own: `<pre>`, `[code]`, `<!-- -->`, `\begin{a}`, `'''`.

use callwright_json::Span;

use crate::syntax::tag::{Role, Tag, tag_at};
use crate::syntax::{Incomplete, Seen, at_end};

/// The longest tag of an element, in bytes.
const MAX_ELEMENT: usize = 384;

/// What is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub(super) end: End,
    /// Words stand before it.
    pub(super) words_before: bool,
}

/// What closes an element.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// `</a>`, `[/a]`, for the name that stands there.
    Name(Span),
    /// A mark.
    Mark(&'static str),
    /// `\end{a}`: a mark, and the name that stands there.
    Both(&'static str, Span),
}

/// What stands at a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// It opens what this closes, and is so long.
    Opens(End, usize),
    /// It closes the element of this number, and is so long.
    Closes(usize, usize),
    /// A mark of a dialect, or a tag that closes nothing, so long.
    Blank(usize),
}

/// A place in a text that is looked at up to a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) limit: usize,
    /// What is not whole up to the limit is no mark.
    pub(super) last: bool,
    /// The sign before it on its line.
    pub(super) before: Option<char>,
}

/// Marks that something else closes, and two that close themselves.
const BLOCKS: &[(&str, &str)] = &[
    ("<!--", "-->"),
    ("/*", "*/"),
    ("'''", "'''"),
    ("\"\"\"", "\"\"\""),
    ("<![CDATA[", "]]>"),
    ("$$", "$$"),
];
/// Marks before a name that others close, before the same name.
const ENVIRONMENTS: &[(&str, &str)] =
    &[("\\begin{", "\\end{"), ("#+begin_", "#+end_"), ("#+BEGIN_", "#+END_"), ("{% ", "{% end")];

/// The mark at a place behind which `open` are open.
pub(super) fn mark_at(place: Place<'_>, open: &[Element]) -> Seen<Mark> {
    let rest = place.text.get(place.at..place.limit).unwrap_or("");
    if let Some(mark) =
        at_end(tag_at(place.text, place.at), place.last)?.and_then(|tag| of_dialect(place, rest, &tag))
    {
        return Ok(Some(mark));
    }
    if let Some(mark) = block(place, rest, open)? {
        return Ok(Some(mark));
    }
    if let Some(mark) = environment(place, rest, open)? {
        return Ok(Some(mark));
    }
    at_end(tag(place, rest, open), place.last)
}

impl End {
    /// Whether it is a mark that stands at `at`.
    pub(super) fn is_mark_at(self, text: &str, at: usize) -> bool {
        matches!(self, End::Mark(mark) if text.get(at..).is_some_and(|rest| rest.starts_with(mark)))
    }
}

/// The mark at `place` that closes the innermost of `open` whose end `fits`.
fn closes(open: &[Element], len: usize, fits: impl Fn(&End) -> bool) -> Option<Mark> {
    open.iter().rposition(|element| fits(&element.end)).map(|at| Mark::Closes(at, len))
}

/// `<tool_call>`, `<|im_start|>`
fn of_dialect(place: Place<'_>, rest: &str, tag: &Tag) -> Option<Mark> {
    let mark = tag.at.of(place.text);
    let is_of_dialect = tag.role != Role::Other || tag.marked || tag.by_tokens;
    let is_whole = mark.len() <= rest.len() && !mark.trim_start_matches('<').contains('<');
    (is_of_dialect && is_whole).then_some(Mark::Blank(mark.len()))
}

fn block(place: Place<'_>, rest: &str, open: &[Element]) -> Seen<Mark> {
    for (begin, end) in BLOCKS {
        if rest.starts_with(end)
            && let Some(mark) = closes(open, end.len(), |own| matches!(own, End::Mark(mark) if mark == end))
        {
            return Ok(Some(mark));
        }
        // Not `src/*.rs` or `5$$`.
        if rest.starts_with(begin) && place.before.is_none_or(char::is_whitespace) {
            return Ok(Some(Mark::Opens(End::Mark(end), begin.len())));
        }
        if begin.starts_with(rest) && !place.last {
            return Err(Incomplete);
        }
    }
    Ok(None)
}

fn environment(place: Place<'_>, rest: &str, open: &[Element]) -> Seen<Mark> {
    for (begin, end) in ENVIRONMENTS {
        let Some((mark, name)) =
            [*begin, *end].into_iter().find_map(|mark| Some((mark, rest.strip_prefix(mark)?)))
        else {
            if !place.last && 1 < rest.len() && (begin.starts_with(rest) || end.starts_with(rest)) {
                return Err(Incomplete);
            }
            continue;
        };
        let len = name.find(|c: char| !c.is_alphanumeric() && c != '*').unwrap_or(name.len());
        if len == name.len() && !place.last {
            return Err(Incomplete);
        }
        let from = place.at + mark.len();
        let name = Span::new(from, from + len);
        let is_it = |own: &End| matches!(own, End::Both(mark, own) if mark == end && own.of(place.text) == name.of(place.text));
        if mark == *end
            && let Some(mark) = closes(open, mark.len() + len, is_it)
        {
            return Ok(Some(mark));
        }
        if mark == *begin && 0 < len {
            return Ok(Some(Mark::Opens(End::Both(end, name), mark.len() + len)));
        }
    }
    Ok(None)
}

fn tag(place: Place<'_>, rest: &str, open: &[Element]) -> Seen<Mark> {
    let Some(Named { is_closing, name, is_empty, len }) = named(rest)? else { return Ok(None) };
    let name = Span::new(place.at + name.0, place.at + name.1);
    let is_angle = rest.starts_with('<');
    let is_it = |own: &End| matches!(own, End::Name(own) if own.of(place.text) == name.of(place.text));
    Ok(match (is_closing, is_angle) {
        (true, true) => closes(open, len, is_it).or(Some(Mark::Blank(len))),
        (true, false) => closes(open, len, is_it),
        (false, true) if is_empty => Some(Mark::Blank(len)),
        (false, true) => Some(Mark::Opens(End::Name(name), len)),
        // In square brackets it may be words: `[see below]`.
        (false, false) => Some(Mark::Opens(End::Name(name), 1)),
    })
}

/// The tag of an element.
struct Named {
    is_closing: bool,
    name: (usize, usize),
    is_empty: bool,
    len: usize,
}

/// The tag of an element at the beginning of `rest`, whatever its name: `<pre class="a-b">`, `</pre>`, `[code]`.
fn named(rest: &str) -> Seen<Named> {
    let is_cut = MAX_ELEMENT < rest.len();
    let end = (0..=MAX_ELEMENT.min(rest.len())).rfind(|end| rest.is_char_boundary(*end)).unwrap_or(0);
    let rest = &rest[..end];
    let (closer, is_angle) = match rest.as_bytes() {
        [b'<', ..] => ('>', true),
        [b'[', ..] => (']', false),
        _ => return Ok(None),
    };
    let is_closing = rest.get(1..).is_some_and(|inner| inner.starts_with('/'));
    let from = 1 + usize::from(is_closing);
    let inner = rest.get(from..).unwrap_or("");
    if !is_angle && !inner.starts_with(|c: char| c.is_ascii_alphabetic()) && !inner.is_empty() {
        return Ok(None);
    }
    if !inner.starts_with(|c: char| c.is_alphabetic() || c == '_') && !inner.is_empty() {
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
    let is_empty = behind.get(..end).is_some_and(|inside| inside.ends_with('/'));
    Ok(Some(Named { is_closing, name: (from, from + name), is_empty, len: from + name + end + 1 }))
}
