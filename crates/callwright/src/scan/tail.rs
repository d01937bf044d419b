//! The markup behind a payload: the closers of the delimiters before it, and the separators of a list.

use super::opener::{self, Delimiter, Look, Place, tick_run};
use super::segment::edges::{thought_ends, turn};
use crate::dialect::{Anchor, Grammar, REASONING};
use crate::marks;
use crate::shape::keys;
use crate::syntax::comment::comment;
use crate::syntax::marks::fit;
use crate::syntax::tag::{Role, Tag, last_tag, names_call, tag_at};
use crate::syntax::{Incomplete, Seen, at_end, blanks};

/// Most whitespace behind a comment, in bytes.
const MAX_BLANK: usize = 256;

/// The extent of the markup behind a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// The markup ends here, and other text may begin.
    Ended(usize),
    /// More text is needed.
    Wait {
        /// Everything before this place is markup for sure.
        at: usize,
        /// Only whitespace follows, up to this place.
        blank: usize,
    },
}

/// Steps over the markup at `from`, and closes its `delimiters`. Only whitespace stands between `from` and `blank`.
pub(crate) fn tail(
    text: &str,
    from: usize,
    blank: usize,
    delimiters: &mut Vec<Delimiter>,
    place: Place<'_, '_>,
) -> Tail {
    let bytes = text.as_bytes();
    let (mut at, mut next) = (from, blank);
    loop {
        next += blanks(text, next, usize::MAX);
        let space = next - at;
        let Some(&byte) = bytes.get(next) else {
            return if place.end { Tail::Ended(at) } else { Tail::Wait { at, blank: next } };
        };
        let closed = match byte {
            // Markers of the caller's own dialects come before all others.
            _ if let Some(closed) = own_closer(text, next, delimiters, place) => closed,
            b']' if bytes.get(next + 1).is_none_or(|b| *b == b'<')
                && delimiters.contains(&Delimiter::Tag) =>
            {
                tag(text, next, delimiters, place)
                    .map(|found| found.or_else(|| closer(bytes, next, space, delimiters)))
            }
            b']' | b'}' | b')' => Ok(closer(bytes, next, space, delimiters)),
            b'"' | b'\'' => Ok(close(delimiters, |g| *g == Delimiter::Quote(byte)).then_some(next + 1)),
            b'`' => ticks(bytes, next, delimiters, place.end),
            b'<' if bytes.get(next + 1) == Some(&b'!') => annotation(bytes, next, delimiters, place.end),
            b'<' => tag(text, next, delimiters, place),
            b'[' if delimiters.contains(&Delimiter::Tag)
                || place.inside.is_some_and(|record| record.anchor == Anchor::Distinct) =>
            {
                match place.dialects.closer(&bytes[next..]) {
                    // The text ends in the beginning of a closing mark.
                    Err(Incomplete) if place.end => {
                        let is_begun = delimiters.contains(&Delimiter::Tag) && 1 < bytes.len() - next;
                        Ok(is_begun.then_some(bytes.len()))
                    }
                    closer => closer.map(|closer| closer.map(|len| next + len)),
                }
            }
            // `<use_tool name="f" arguments='{…}' />`, `</tool_call>>`
            b'>' if space == 0 && (close_tag(delimiters) || text[..next].ends_with('>')) => {
                Ok(Some(next + 1))
            }
            b'/' if matches!(&bytes[at..next], b"" | b" ") && delimiters.contains(&Delimiter::Tag) => {
                match &bytes[next..] {
                    [b'/', b'>', ..] => Ok(close_tag(delimiters).then_some(next + 2)),
                    [b'/'] if !place.end => Err(Incomplete),
                    _ => annotation(bytes, next, delimiters, place.end),
                }
            }
            b'/' | b'#' => annotation(bytes, next, delimiters, place.end),
            b'p' if text[at..next].contains('\n') => printed(text, next, place),
            b',' | b';' => Ok(Some(next + 1)),
            // The full stop behind a call belongs to the call; one that begins `.5` or `...` does not.
            b'.' if space == 0 => match bytes.get(next + 1) {
                None if !place.end => Err(Incomplete),
                next_byte => {
                    let is_last = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'`' | b'"' | b'\'');
                    Ok(next_byte.is_none_or(is_last).then_some(next + 1))
                }
            },
            _ => Ok(None),
        };
        match closed {
            Err(Incomplete) => return Tail::Wait { at, blank: next },
            Ok(Some(end)) => (at, next) = (end, end),
            Ok(None) => return Tail::Ended(at),
        }
    }
}

/// Returns the end of a closing mark at `at` of one of the caller's own dialects; `None` if no such mark stands there,
/// or nothing is open.
fn own_closer(
    text: &str,
    at: usize,
    delimiters: &mut Vec<Delimiter>,
    place: Place<'_, '_>,
) -> Option<Seen<usize>> {
    let own = place.dialects.markers().filter(|_| delimiters.contains(&Delimiter::Tag))?;
    if !own.begins_with(*text.as_bytes().get(at)?) || !own.closes(text, at, place.end) {
        return None;
    }
    let closed = own.closer(text, at, place.end);
    if let Ok(Some(_)) = closed {
        close_tag(delimiters);
    }
    // The text ends in the beginning of the last closing mark.
    Some(if closed == Err(Incomplete) && place.end { Ok(Some(text.len())) } else { closed })
}

fn closer(bytes: &[u8], at: usize, space: usize, delimiters: &mut Vec<Delimiter>) -> Option<usize> {
    let sort = if bytes[at] == b')' { Delimiter::Paren } else { Delimiter::Bracket };
    let own = bytes[at] != b'}' && close(delimiters, |g| *g == sort);
    // A closer that nothing opened belongs to the payload if it stands right behind it, `{…}}`, and not behind a tag.
    let before = bytes.get(..at).unwrap_or(&[]);
    let is_behind_mark = before.ends_with(b">") && !before.ends_with(b"|>");
    (own || space == 0 && bytes[at] != b')' && !is_behind_mark).then_some(at + 1)
}

fn ticks(bytes: &[u8], at: usize, delimiters: &mut Vec<Delimiter>, end: bool) -> Seen<usize> {
    let run = tick_run(bytes, at);
    let is_own =
        |g: &Delimiter, most: usize| matches!(g, Delimiter::Ticks(n) | Delimiter::Fence(n) if *n <= most);
    if at + run == bytes.len() && delimiters.iter().any(|g| is_own(g, usize::MAX)) && !end {
        return Err(Incomplete);
    }
    let own = delimiters.iter().rev().find(|g| is_own(g, run)).copied();
    // The closing mark of a fence may be longer than the opening one.
    let len = if let Some(Delimiter::Ticks(own)) = own { own } else { run };
    Ok(close(delimiters, |g| is_own(g, run)).then_some(at + len))
}

/// Returns the end of a line that prints the results of calls before it: `x = f(a=1)⏎print(x)`.
fn printed(text: &str, at: usize, place: Place<'_, '_>) -> Seen<usize> {
    const PRINT: &str = "print(";
    /// Longest such line, in bytes. A longer one prints more than results.
    const MAX_LINE: usize = 128;
    let writes = place.inside.is_some_and(|record| record.arguments == Grammar::Calls);
    let rest = text.get(at..).filter(|_| writes).unwrap_or("");
    let len = rest.bytes().take(MAX_LINE).take_while(|byte| *byte != b'\n').count();
    let line = rest.get(..len).unwrap_or("");
    let is_begun = line.starts_with(PRINT) || PRINT.starts_with(line);
    if is_begun && len == rest.len() && len < MAX_LINE && !place.end {
        return Err(Incomplete);
    }
    let is_name = |name: &str| {
        let name = name.trim();
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_numeric())
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let names = line.trim_end().strip_prefix(PRINT).and_then(|line| line.strip_suffix(')'));
    Ok(names.is_some_and(|names| names.split(',').all(is_name)).then_some(at + line.trim_end().len()))
}

/// Returns the end of a comment between the call and the closing mark of a fence or a tag around it: `f(a=1)  # now`.
fn annotation(bytes: &[u8], at: usize, delimiters: &[Delimiter], end: bool) -> Seen<usize> {
    if !delimiters.iter().any(|delimiter| matches!(delimiter, Delimiter::Fence(_) | Delimiter::Tag)) {
        return Ok(None);
    }
    let Some(len) = at_end(comment(&bytes[at..]), end)? else { return Ok(None) };
    let behind = at + len;
    // A comment with an object in it is not a remark.
    let is_object = |pair: &[u8]| matches!(pair, b"{\"" | b"{'");
    if bytes[at..behind].windows(2).any(is_object) {
        return Ok(None);
    }
    let space = bytes[behind..].iter().take(MAX_BLANK).take_while(|byte| byte.is_ascii_whitespace()).count();
    match bytes.get(behind + space) {
        None if !end => Err(Incomplete),
        next => Ok(matches!(next, Some(b'`' | b'<' | b']')).then_some(behind)),
    }
}

fn tag(text: &str, at: usize, delimiters: &mut Vec<Delimiter>, place: Place<'_, '_>) -> Seen<usize> {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    if let Some(close) = place.thought
        && at_end(thought_ends(rest, close), place.end)?.is_some()
    {
        return Ok(None);
    }
    let is_in_markup = delimiters.contains(&Delimiter::Tag);
    let tag = match tag_at(text, at) {
        // The text ends in the beginning of the last closing tag.
        Err(Incomplete) if place.end && is_in_markup && is_closer_begun(rest, place) => {
            return Ok(Some(text.len()));
        }
        tag => at_end(tag, place.end)?,
    };
    let Some(tag) = tag else { return Ok(None) };
    let end = tag.at.end as usize;
    // `<b>Done.</b>` belongs to the answer.
    let ends_thought = || REASONING.iter().any(|(_, close)| matches!(fit(rest, close), Ok(Some(_))));
    let is_closer = || matches!(place.dialects.closer(rest), Ok(Some(_)));
    if !is_of_call(text, &tag, place) && !ends_thought() && !is_closer() {
        return Ok(None);
    }
    // `<|clse|>call<|sep|>`, `</tool_cal>l`: a token that no dialect closes with, or a mark that goes on, may be the
    // torn one that closes the call.
    let may_be_torn = match text.as_bytes().get(end) {
        None if !place.end => return Err(Incomplete),
        Some(next) if !next.is_ascii_whitespace() && *next != b'<' => true,
        _ => tag.role == Role::Token && !is_closer(),
    };
    let tools = place.names.tools();
    let own = place.inside.map(|record| (&text[at..], record));
    if may_be_torn
        && let Some((rest, record)) = own
        && marks::torn_closer(rest, record, "", tools, place.end, place.fuel)?.is_some()
    {
        return Ok(None);
    }
    if tag.closing && tag.role != Role::Token {
        close_tag(delimiters);
        return Ok(Some(end));
    }
    // A result or a turn that the model makes up does not belong to its call.
    match turn(text, at) {
        Ok(true) => return Ok(None),
        Err(Incomplete) if !place.end => return Err(Incomplete),
        _ => {}
    }
    // `<|start|>assistant<|channel|>final<|message|>` begins the model's next message.
    if place.dialects.block(rest).is_some() {
        return Ok(None);
    }
    if !place.end && place.dialects.may_grow_into_block(rest) {
        return Err(Incomplete);
    }
    // `<end_function_call>⏎Then:⏎<start_function_call>…` belongs to the call before it.
    if is_closer() && place.dialects.opener_at(text, at).is_none() {
        close_tag(delimiters);
        return Ok(Some(end));
    }
    // `<function>{…}<function>`: the slash is missing, unless another call follows.
    if let Look::Found(_) = opener::parse_opener(text, at, place)? {
        return Ok(None);
    }
    // `<tool_call>f<arg_ky>`: broken marks of the next call.
    if let Some((rest, record)) = own
        && marks::begins(rest, record, tools, place.end, place.fuel)?.is_some()
    {
        return Ok(None);
    }
    // `<g/>` closes nothing, and neither does a tag with attributes, `<invoke naame="f">`.
    let may_close = !tag.empty && !tag.at.of(text).contains('=');
    Ok((may_close && close_tag(delimiters)).then_some(end))
}

/// Returns whether `tag` may stand around a call, by its word.
fn is_of_call(text: &str, tag: &Tag, place: Place<'_, '_>) -> bool {
    let word = tag.word.of(text);
    let is_name = || place.names.tools().iter().any(|tool| tool.is_named_by_tag(word));
    let is_key = || keys::PARTS.iter().any(|keys| keys::is_one_of(keys, word));
    tag.role != Role::Other
        || tag.marked
        || names_call(word)
        // `</s>` ends a model's answer.
        || tag.closing && (word == "s" || is_key() || is_name())
}

/// Returns whether a closing mark begins at `rest`, where the text ends: `</tool_ca`, `<|tool_call_e`, `<tool_cal` of
/// `<tool_call|>`.
fn is_closer_begun(rest: &[u8], place: Place<'_, '_>) -> bool {
    rest.starts_with(b"</") || rest.starts_with(b"]<") || place.dialects.closer(rest).is_err()
}

/// Closes the innermost tag of `delimiters` if a closing tag ends at `end`: `</f>` behind the arguments.
pub(crate) fn close_at(text: &str, end: usize, delimiters: &mut Vec<Delimiter>) {
    if text.get(..end).and_then(last_tag).is_some_and(|tag| tag.closing) {
        close_tag(delimiters);
    }
}

/// Closes the innermost tag of `delimiters`, and returns whether there was one.
pub(crate) fn close_tag(delimiters: &mut Vec<Delimiter>) -> bool {
    close(delimiters, |g| *g == Delimiter::Tag)
}

/// Closes the innermost of `delimiters` that `fits`, with all that opened inside it, and returns whether there was one.
fn close(delimiters: &mut Vec<Delimiter>, fits: impl Fn(&Delimiter) -> bool) -> bool {
    match delimiters.iter().rposition(fits) {
        Some(at) => {
            delimiters.truncate(at);
            true
        }
        None => false,
    }
}
