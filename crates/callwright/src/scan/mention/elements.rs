//! What opens a quotation and closes it by a name or a mark of its own: `<pre>`, `[code]`, `<!-- -->`, `\begin{a}`, `'''`.

use callwright_json::Span;

use crate::syntax::tag::{Lexed, Role, tag_at};

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
    /// More text must tell.
    Grows,
    No,
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
pub(super) fn mark_at(place: Place<'_>, open: &[Element]) -> Mark {
    let rest = place.text.get(place.at..place.limit).unwrap_or("");
    match dialect_mark(place, rest)
        .or_else(|| block(place, rest, open))
        .or_else(|| environment(place, rest, open))
    {
        Some(mark) => mark,
        None => tag(place, rest, open),
    }
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
fn dialect_mark(place: Place<'_>, rest: &str) -> Option<Mark> {
    match tag_at(place.text, place.at) {
        Lexed::Tag(tag) => {
            let mark = tag.at.of(place.text);
            let is_of_dialect = tag.role != Role::Other || tag.marked || tag.by_tokens;
            let is_whole = mark.len() <= rest.len() && !mark.trim_start_matches('<').contains('<');
            (is_of_dialect && is_whole).then_some(Mark::Blank(mark.len()))
        }
        Lexed::Grows if !place.last => Some(Mark::Grows),
        Lexed::Grows | Lexed::No => None,
    }
}

fn block(place: Place<'_>, rest: &str, open: &[Element]) -> Option<Mark> {
    BLOCKS.iter().find_map(|(begin, end)| {
        if rest.starts_with(end)
            && let Some(mark) = closes(open, end.len(), |own| matches!(own, End::Mark(mark) if *mark == *end))
        {
            return Some(mark);
        }
        // Not `src/*.rs` or `5$$`.
        if rest.starts_with(begin) && place.before.is_none_or(char::is_whitespace) {
            return Some(Mark::Opens(End::Mark(end), begin.len()));
        }
        (!place.last && begin.starts_with(rest)).then_some(Mark::Grows)
    })
}

fn environment(place: Place<'_>, rest: &str, open: &[Element]) -> Option<Mark> {
    ENVIRONMENTS.iter().find_map(|(begin, end)| {
        let Some((mark, name)) =
            [*begin, *end].into_iter().find_map(|mark| Some((mark, rest.strip_prefix(mark)?)))
        else {
            let grows = !place.last && 1 < rest.len() && (begin.starts_with(rest) || end.starts_with(rest));
            return grows.then_some(Mark::Grows);
        };
        let len = name.find(|c: char| !c.is_alphanumeric() && c != '*').unwrap_or(name.len());
        if len == name.len() && !place.last {
            return Some(Mark::Grows);
        }
        let from = place.at + mark.len();
        let name = Span::new(from, from + len);
        let is_it = |own: &End| {
            matches!(own, End::Both(mark, own) if mark == end && own.of(place.text) == name.of(place.text))
        };
        if mark == *end
            && let Some(mark) = closes(open, mark.len() + len, is_it)
        {
            return Some(mark);
        }
        (mark == *begin && 0 < len).then(|| Mark::Opens(End::Both(end, name), mark.len() + len))
    })
}

fn tag(place: Place<'_>, rest: &str, open: &[Element]) -> Mark {
    let (is_closing, name, is_empty, len) = match named(rest) {
        Named::Grows if !place.last => return Mark::Grows,
        Named::No | Named::Grows => return Mark::No,
        Named::Tag { is_closing, name, is_empty, len } => (is_closing, name, is_empty, len),
    };
    let name = Span::new(place.at + name.0, place.at + name.1);
    let is_angle = rest.starts_with('<');
    let is_it = |own: &End| matches!(own, End::Name(own) if own.of(place.text) == name.of(place.text));
    match (is_closing, is_angle) {
        (true, true) => closes(open, len, is_it).unwrap_or(Mark::Blank(len)),
        (true, false) => closes(open, len, is_it).unwrap_or(Mark::No),
        (false, true) if is_empty => Mark::Blank(len),
        (false, true) => Mark::Opens(End::Name(name), len),
        // In square brackets it may be words: `[see below]`.
        (false, false) => Mark::Opens(End::Name(name), 1),
    }
}

/// What [`named`] finds.
enum Named {
    Tag {
        is_closing: bool,
        name: (usize, usize),
        is_empty: bool,
        len: usize,
    },
    /// More text must tell.
    Grows,
    No,
}

/// The tag of an element at the beginning of `rest`, whatever its name: `<pre class="a-b">`, `</pre>`, `[code]`.
fn named(rest: &str) -> Named {
    let is_cut = MAX_ELEMENT < rest.len();
    let end = (0..=MAX_ELEMENT.min(rest.len())).rfind(|end| rest.is_char_boundary(*end)).unwrap_or(0);
    let rest = &rest[..end];
    let (closer, is_angle) = match rest.as_bytes() {
        [b'<', ..] => ('>', true),
        [b'[', ..] => (']', false),
        _ => return Named::No,
    };
    let is_closing = rest.get(1..).is_some_and(|inner| inner.starts_with('/'));
    let from = 1 + usize::from(is_closing);
    let inner = rest.get(from..).unwrap_or("");
    if !is_angle && !inner.starts_with(|c: char| c.is_ascii_alphabetic()) && !inner.is_empty() {
        return Named::No;
    }
    if !inner.starts_with(|c: char| c.is_alphabetic() || c == '_') && !inner.is_empty() {
        return Named::No;
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || is_angle && matches!(c, '-' | ':' | '.');
    let name = inner.find(|c| !is_name(c)).unwrap_or(inner.len());
    let behind = inner.get(name..).unwrap_or("");
    let is_attribute = |c: char| c.is_whitespace() && is_angle || c == '=' || c == '/' && is_angle;
    if !behind.is_empty() && !behind.starts_with(closer) && !behind.starts_with(is_attribute) {
        return Named::No;
    }
    let Some(end) = behind.find([closer, '<', '\n']) else {
        return if is_cut { Named::No } else { Named::Grows };
    };
    if !behind.get(end..).is_some_and(|end| end.starts_with(closer)) {
        return Named::No;
    }
    let is_empty = behind.get(..end).is_some_and(|inside| inside.ends_with('/'));
    Named::Tag { is_closing, name: (from, from + name), is_empty, len: from + name + end + 1 }
}
