//! The client's form of a resolution, whole or streamed: its finish, its text, its content.

use callwright::Verdict;

use super::{Resolution, Turn, refusals};
use crate::record::TurnEnd;
use crate::recover::is_lost_end;

/// Returns the client's reason for which the model stopped. With calls it stopped for them; with refused calls it did not. A
/// reason that says that the answer was cut stays, unless another answer came in its place.
pub(crate) fn finish_reason(turn: &Turn, resolution: &Resolution, has_calls: bool) -> Option<String> {
    let is_refused = refusals(&resolution.verdicts).next().is_some();
    let came = resolution.finish_reason.as_deref();
    let is_whole = has_calls && !is_refused && is_cut_behind_calls(turn, resolution);
    let for_calls = if turn.ask.calls.is_legacy { "function_call" } else { "tool_calls" };
    match came {
        Some("length") if is_whole => Some(for_calls.to_owned()),
        Some("length" | "content_filter") => came.map(str::to_owned),
        _ if has_calls => Some(for_calls.to_owned()),
        Some(reason) if is_lost_end(reason) => Some(String::from("stop")),
        Some("tool_calls" | "function_call") if is_refused || turn.has_tools() => Some(String::from("stop")),
        came => came.map(str::to_owned),
    }
}

/// Returns whether all calls stand in the text, and the cut left them whole. Only blanks behind the last one, or words beside a
/// demanded call, were cut. A server that waits for a call which it can read keeps the model from ending.
fn is_cut_behind_calls(turn: &Turn, resolution: &Resolution) -> bool {
    let Resolution { first, again, verdicts, .. } = resolution;
    if !again.is_empty() {
        return turn.ask.calls.choice.is_required();
    }
    let end = verdicts.iter().filter_map(|verdict| match verdict {
        Verdict::Accepted(call) => Some(call.span.end),
        Verdict::Refused(_) => None,
    });
    let behind = end.max().and_then(|end| first.raw.get(end as usize..));
    let is_fence = |c: char| c.is_whitespace() || c == '`' || c == '~';
    let is_blank = behind.is_some_and(|behind| behind.trim_matches(is_fence).is_empty());
    first.native.is_empty() && first.foreign_calls == 0 && (is_blank || turn.ask.calls.choice.is_required())
}

/// The words for the client's user if a model neither says nor calls anything.
pub(crate) const SILENCE: &str = "⚠️ The model gave an empty answer.";

/// Adds a text behind another, in a paragraph of its own.
pub(crate) fn append(text: &mut String, more: &str) {
    if more.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// Returns the graver of two ends.
pub(crate) fn worse(a: TurnEnd, b: TurnEnd) -> TurnEnd {
    let rank = |end: TurnEnd| match end {
        TurnEnd::Passed => 0,
        TurnEnd::Repaired => 1,
        TurnEnd::Retried => 2,
        TurnEnd::Refused | TurnEnd::Invalid => 3,
        TurnEnd::GaveUp => 4,
        TurnEnd::Rejected | TurnEnd::UpstreamError | TurnEnd::Cut | TurnEnd::HungUp => 5,
    };
    if rank(a) < rank(b) { b } else { a }
}
