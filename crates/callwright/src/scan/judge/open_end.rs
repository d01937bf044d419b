//! Decides about calls without their last brackets: the model forgot these, or more was to follow.

use callwright_json::{Diagnostic, Guide as _, Kind, Member, Problem, Repair, RepairKind, Span, strict};

use crate::context::Stop;
use crate::tools::Tool;
use crate::verdict::Reason;

/// The end of a call whose last brackets may have been added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scan) enum Ending {
    /// The call is whole: no bracket was added, or nothing more could have stood before the added ones.
    Whole,
    /// One bracket was missing, behind a whole value, and more could have stood before it.
    Open,
    /// The call was cut: more brackets are missing, a comma is last, or a list or an object had just begun.
    Cut,
}

/// Returns the ending of `arguments`, by the brackets that were added behind `source`.
///
/// `source` is the payload in the model's own spelling, up to the end of the answer; it begins at `base` of the text in
/// which `repairs` stand. `{"city": "Paris"` is whole if the tool takes a city alone; if it takes a number of days as
/// well, the text may have been cut there. A limit falls between two tokens, and `"}` is one: a model that was cut has
/// hardly ever left out one bracket alone. `around` is the number of brackets of a list or a call that are open around
/// the payload. Unless somebody says that the model had ended the answer, a call that lacks a bracket is cut.
pub(in crate::scan) fn ending(
    tool: &Tool,
    arguments: &str,
    (source, base): (&str, usize),
    repairs: &[Repair],
    (around, stop): (usize, Stop),
) -> Ending {
    if repairs.iter().any(|repair| repair.kind == RepairKind::AddEnd) {
        // The end of an answer looks like any gap between two tags.
        return if is_full(tool, arguments) { Ending::Whole } else { Ending::Cut };
    }
    let written = source.trim_end();
    let added = repairs.iter().filter(|repair| {
        repair.kind == RepairKind::AddCloser && base + written.len() <= repair.at.start as usize
    });
    // Parentheses around an object are dropped, those of a call among them: `f({"a": 1`.
    let n_dropped = |bracket: &str| {
        let is_it = |repair: &&Repair| {
            let from = (repair.at.start as usize).checked_sub(base);
            let written = from.and_then(|from| source.get(from..)?.get(..repair.at.len()));
            repair.put.is_empty() && written == Some(bracket)
        };
        repairs.iter().filter(is_it).count()
    };
    let n_unclosed = n_dropped("(").saturating_sub(n_dropped(")"));
    let missing = added.map(|repair| repair.put.len()).sum::<usize>() + n_unclosed;
    let last = match written.ends_with(char::is_alphanumeric) {
        true => last_value(arguments),
        false => None,
    };
    // `30` may be the beginning of `300`, even if no other member could follow.
    let is_number = last == Some(Kind::Number);
    // `f(a=""`: in Python two quotes may be the first of three.
    let is_opened =
        source.starts_with('(') && ["=\"\"", "=''"].iter().any(|quotes| written.ends_with(quotes));
    if missing == 0 || !is_number && !is_opened && !may_go_on(tool, arguments, written) {
        return Ending::Whole;
    }
    let is_whole = match last {
        Some(Kind::Number) => stop == Stop::Sure,
        Some(kind) => matches!(kind, Kind::Null | Kind::Bool),
        None => !is_opened && !written.ends_with([',', '{', '[', '(', ':', '=']),
    };
    match missing + around {
        1 if stop.is_ended() && is_whole => Ending::Open,
        _ => Ending::Cut,
    }
}

/// Returns the kind of the last value in `arguments`: a number in `{"a": [1, 2]}`.
fn last_value(arguments: &str) -> Option<Kind> {
    let tree = strict(arguments).ok()?;
    let mut value = tree.root(arguments);
    while let Some(last) = value.members().map(|(_, member)| member).chain(value.elements()).last() {
        value = last;
    }
    Some(value.kind())
}

/// Returns whether more could have stood in the brackets of `arguments` that `written` does not close.
fn may_go_on(tool: &Tool, arguments: &str, written: &str) -> bool {
    let is_closer = |byte: &u8| matches!(byte, b'}' | b']' | b')') || byte.is_ascii_whitespace();
    let closed = written.bytes().rev().take_while(is_closer).filter(|b| !b.is_ascii_whitespace()).count();
    // The model closes from the inside out, so the brackets that it left open are the outermost.
    let last = last_containers(tool, arguments);
    last.iter().rev().skip(closed).any(|takes_more| *takes_more)
}

/// Returns the reason to refuse a call that was cut at the end of its payload of `len` bytes.
pub(in crate::scan) fn cut(len: usize) -> Reason {
    Reason::Truncated(vec![Diagnostic { problem: Problem::Truncated, at: Span::at(len) }])
}

/// Returns whether `arguments`, an object that nothing closes, could have more members.
pub(in crate::scan) fn is_open_object(tool: &Tool, arguments: &str) -> bool {
    last_containers(tool, arguments).first() == Some(&true)
}

/// Returns whether `arguments` are an object with all members that it may have.
fn is_full(tool: &Tool, arguments: &str) -> bool {
    let guide = tool.schema().guide();
    !guide.takes_others(guide.root()) && !is_open_object(tool, arguments)
}

/// Returns, for each container that ends with `arguments`, whether it could hold more. The outermost comes first;
/// `{"a": 1, "b": [2]}` has two.
fn last_containers(tool: &Tool, arguments: &str) -> Vec<bool> {
    let Ok(tree) = strict(arguments) else { return Vec::new() };
    let guide = tool.schema().guide();
    let mut open = Vec::new();
    let mut innermost = Some((tree.root(arguments), guide.root()));
    while let Some((value, place)) = innermost {
        innermost = match value.kind() {
            Kind::Object => {
                let members: Vec<_> =
                    value.members().filter_map(|(key, v)| Some((key.as_str()?, v))).collect();
                let is_used = |name: &str| members.iter().any(|(key, _)| *key == *name);
                open.push(guide.takes_more_members(place, is_used));
                members.last().map(|(key, value)| match guide.member(place, key) {
                    Member::Declared(_, at) | Member::Open(at) => (*value, at),
                    Member::Forbidden => (*value, place),
                })
            }
            Kind::Array => {
                let count = value.elements().count();
                open.push(guide.takes_more_elements(place, count));
                value.elements().last().map(|last| (last, guide.element(place, count - 1)))
            }
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => None,
        };
    }
    open
}
