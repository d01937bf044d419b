//! What stands behind a payload: the closers of what was opened before it, and the separators of a list.

use super::opener::{self, Delimiter, Look, Place, tick_run};
use super::segment::blocks::{thought_ends, turn};
use crate::dialect::REASONING;
use crate::dialect::own::Stands;
use crate::shape::keys;
use crate::syntax::blanks;
use crate::syntax::comment::comment;
use crate::syntax::marks::{Fit, fit};
use crate::syntax::tag::{Lexed, Role, Tag, is_foreign, last_tag, names_call, tag_at};

/// The most whitespace behind a comment, in bytes.
const MAX_BLANK: usize = 256;

/// How far the markup behind a payload goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Up to here; then something else begins.
    Ended(usize),
    /// More text is needed.
    Wait {
        /// What ends here is markup for sure.
        at: usize,
        /// Up to here, only whitespace follows.
        blank: usize,
    },
}

/// Steps over the markup at `from`, closing `delimiters` as it goes. Up to `blank`, nothing but whitespace stands there.
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
            _ if is_own(text, next, delimiters, place) => own_closer(text, next, delimiters, place),
            b']' if bytes.get(next + 1).is_none_or(|b| *b == b'<')
                && delimiters.contains(&Delimiter::Tag) =>
            {
                marked_tag(text, next, space, delimiters, place)
            }
            b']' | b'}' | b')' => closer(bytes, next, space, delimiters),
            b'"' | b'\'' => close(delimiters, |g| *g == Delimiter::Quote(byte)).then_some(next + 1),
            b'`' => ticks(bytes, next, delimiters, place.end),
            b'<' if bytes.get(next + 1) == Some(&b'!') => annotation(bytes, next, delimiters, place.end),
            b'<' => tag(text, next, delimiters, place),
            b'[' if delimiters.contains(&Delimiter::Tag) => match place.dialects.closer(&bytes[next..]) {
                Fit::Is(len) => Some(next + len),
                Fit::Grows if !place.end => return Tail::Wait { at, blank: next },
                // What is left of it.
                Fit::Grows if 1 < bytes.len() - next => Some(bytes.len()),
                Fit::Grows | Fit::No => None,
            },
            // `<use_tool name="f" arguments='{…}' />`
            b'>' if space == 0 && close(delimiters, |g| *g == Delimiter::Tag) => Some(next + 1),
            b'/' if matches!(&bytes[at..next], b"" | b" ") && delimiters.contains(&Delimiter::Tag) => {
                match &bytes[next..] {
                    [b'/', b'>', ..] => close(delimiters, |g| *g == Delimiter::Tag).then_some(next + 2),
                    [b'/'] if !place.end => Some(next),
                    _ => annotation(bytes, next, delimiters, place.end),
                }
            }
            b'/' | b'#' => annotation(bytes, next, delimiters, place.end),
            b',' | b';' => Some(next + 1),
            // The full stop behind a call is the call's; one that begins `.5` or `...` is not.
            b'.' if space == 0 => match bytes.get(next + 1) {
                None if place.end => Some(next + 1),
                None => return Tail::Wait { at, blank: next },
                Some(b) if b.is_ascii_whitespace() || matches!(b, b'`' | b'"' | b'\'') => Some(next + 1),
                Some(_) => None,
            },
            _ => None,
        };
        match closed {
            Some(end) if end == next => return Tail::Wait { at, blank: next },
            Some(end) => (at, next) = (end, end),
            None => return Tail::Ended(at),
        }
    }
}

/// Does a closing mark of one of the caller's own dialects stand at `at`, behind an opening one?
fn is_own(text: &str, at: usize, delimiters: &[Delimiter], place: Place<'_, '_>) -> bool {
    let Some(own) = place.dialects.markers() else { return false };
    let begins = text.as_bytes().get(at).is_some_and(|byte| own.begins_with(*byte));
    begins && delimiters.contains(&Delimiter::Tag) && own.closes(text, at, place.end)
}

/// `Some(at)` asks for more text.
fn own_closer(text: &str, at: usize, delimiters: &mut Vec<Delimiter>, place: Place<'_, '_>) -> Option<usize> {
    match place.dialects.markers()?.closer(text, at, place.end) {
        Stands::Is(end) => {
            close(delimiters, |g| *g == Delimiter::Tag);
            Some(end)
        }
        // What is left of the last closing mark.
        Stands::Grows if place.end => Some(text.len()),
        Stands::Grows => Some(at),
        Stands::No => None,
    }
}

fn closer(bytes: &[u8], at: usize, space: usize, delimiters: &mut Vec<Delimiter>) -> Option<usize> {
    let sort = if bytes[at] == b')' { Delimiter::Paren } else { Delimiter::Bracket };
    let own = bytes[at] != b'}' && close(delimiters, |g| *g == sort);
    // A closer that nothing opened belongs to the payload if it stands right behind it: `{…}}`.
    (own || space == 0 && bytes[at] != b')').then_some(at + 1)
}

/// `Some(at)` asks for more text.
fn ticks(bytes: &[u8], at: usize, delimiters: &mut Vec<Delimiter>, end: bool) -> Option<usize> {
    let run = tick_run(bytes, at);
    let ticks = |g: &Delimiter| match g {
        Delimiter::Ticks(n) | Delimiter::Fence(n) => Some(*n),
        Delimiter::Bracket | Delimiter::Paren | Delimiter::Quote(_) | Delimiter::Tag => None,
    };
    let most = delimiters.iter().filter_map(ticks).max()?;
    if at + run == bytes.len() && run < most && !end {
        return Some(at);
    }
    let n = delimiters.iter().rev().filter_map(ticks).find(|n| *n <= run)?;
    close(delimiters, |g| ticks(g) == Some(n)).then_some(at + n)
}

/// A comment between the call and what closes a fence or a tag around it: `f(a=1)  # now`. `Some(at)` asks for more text.
fn annotation(bytes: &[u8], at: usize, delimiters: &[Delimiter], end: bool) -> Option<usize> {
    let is_open =
        delimiters.iter().any(|delimiter| matches!(delimiter, Delimiter::Fence(_) | Delimiter::Tag));
    match comment(bytes.get(at..).filter(|_| is_open)?) {
        Fit::Is(len) => {
            let behind = at + len;
            let space =
                bytes[behind..].iter().take(MAX_BLANK).take_while(|byte| byte.is_ascii_whitespace()).count();
            match bytes.get(behind + space) {
                Some(b'`' | b'<' | b']') => Some(behind),
                None if !end => Some(at),
                Some(_) | None => None,
            }
        }
        Fit::Grows if !end => Some(at),
        Fit::Grows | Fit::No => None,
    }
}

/// `]<]minimax[>[</invoke>`, or the bracket of a list. `Some(at)` asks for more text.
fn marked_tag(
    text: &str,
    at: usize,
    space: usize,
    delimiters: &mut Vec<Delimiter>,
    place: Place<'_, '_>,
) -> Option<usize> {
    match tag_at(text, at) {
        Lexed::Grows if !place.end => Some(at),
        Lexed::Grows if 1 < text.len() - at => Some(text.len()),
        Lexed::Tag(tag) if tag.closing => {
            close(delimiters, |g| *g == Delimiter::Tag);
            Some(tag.at.end as usize)
        }
        Lexed::Tag(_) => None,
        Lexed::Grows | Lexed::No => closer(text.as_bytes(), at, space, delimiters),
    }
}

/// `Some(at)` asks for more text.
fn tag(text: &str, at: usize, delimiters: &mut Vec<Delimiter>, place: Place<'_, '_>) -> Option<usize> {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    if let Some(close) = place.thought {
        match thought_ends(rest, close) {
            Fit::Is(_) => return None,
            Fit::Grows if !place.end => return Some(at),
            Fit::Grows | Fit::No => {}
        }
    }
    let tag = match tag_at(text, at) {
        Lexed::Tag(tag) => tag,
        // Where no markup is left open, an opening tag begins a call, a block or a turn, or is text.
        Lexed::Grows
            if !delimiters.contains(&Delimiter::Tag)
                && rest.get(1) != Some(&b'/')
                && is_foreign(text, at) =>
        {
            return None;
        }
        Lexed::Grows if !place.end => return Some(at),
        // What is left of the last closing tag.
        Lexed::Grows if delimiters.contains(&Delimiter::Tag) && is_closer_begun(rest, place) => {
            return Some(text.len());
        }
        Lexed::Grows | Lexed::No => return None,
    };
    let end = tag.at.end as usize;
    // `<b>Done.</b>` is the answer's.
    let ends_thought = || REASONING.iter().any(|(_, close)| matches!(fit(rest, close), Fit::Is(_)));
    let is_closer = || matches!(place.dialects.closer(rest), Fit::Is(_));
    if !is_of_call(text, &tag, place) && !ends_thought() && !is_closer() {
        return None;
    }
    if tag.closing && tag.role != Role::Token {
        close(delimiters, |g| *g == Delimiter::Tag);
        return Some(end);
    }
    // A result or a turn that the model makes up is no markup of its call.
    match turn(text, at) {
        Fit::Is(_) => return None,
        Fit::Grows if !place.end => return Some(at),
        Fit::Grows | Fit::No => {}
    }
    // `<|start|>assistant<|channel|>final<|message|>` begins what the model says next.
    if place.dialects.block(rest).is_some() {
        return None;
    }
    if !place.end && place.dialects.may_grow_into_block(rest) {
        return Some(at);
    }
    // `<end_function_call>⏎Then:⏎<start_function_call>…` belongs to the call before it.
    if is_closer() && place.dialects.opener_at(text, at).is_none() {
        close(delimiters, |g| *g == Delimiter::Tag);
        return Some(end);
    }
    // `<function>{…}<function>`: the slash is missing, unless another call follows.
    match opener::parse_opener(text, at, place) {
        Look::Found(_) => None,
        Look::Wait => Some(at),
        // `<g/>` closes nothing.
        Look::Nothing | Look::TooMany(_) if tag.empty => None,
        Look::Nothing | Look::TooMany(_) => close(delimiters, |g| *g == Delimiter::Tag).then_some(end),
    }
}

/// May `tag` stand around a call, by its word?
fn is_of_call(text: &str, tag: &Tag, place: Place<'_, '_>) -> bool {
    let word = tag.word.of(text);
    let is_name = || place.names.tools().iter().any(|tool| tool.is_named_by_tag(word));
    let is_key = || keys::all_of_call().any(|key| key.eq_ignore_ascii_case(word));
    tag.role != Role::Other
        || tag.marked
        || tag.by_tokens
        || names_call(word)
        // `</s>` ends what a model says.
        || tag.closing && (word == "s" || is_key() || is_name())
}

/// `</tool_ca`, `<|tool_call_e`, `<tool_cal` of `<tool_call|>`
fn is_closer_begun(rest: &[u8], place: Place<'_, '_>) -> bool {
    let begins = |start: &&str| rest.starts_with(start.as_bytes());
    let grows = || place.dialects.closer(rest) == Fit::Grows;
    ["</", "<|", "<｜"].iter().any(begins) || 1 < rest.len() && grows()
}

/// Takes from `delimiters` what the closing tag that ends at `end` closes, if one does: `</f>` behind the arguments.
pub(crate) fn close_at(text: &str, end: usize, delimiters: &mut Vec<Delimiter>) {
    if text.get(..end).and_then(last_tag).is_some_and(|tag| tag.closing) {
        close(delimiters, |g| *g == Delimiter::Tag);
    }
}

/// Closes the innermost of `delimiters` that `fits`, and all that was opened inside it.
fn close(delimiters: &mut Vec<Delimiter>, fits: impl Fn(&Delimiter) -> bool) -> bool {
    match delimiters.iter().rposition(fits) {
        Some(at) => {
            delimiters.truncate(at);
            true
        }
        None => false,
    }
}
