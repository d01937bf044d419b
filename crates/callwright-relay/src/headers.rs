//! The headers of ours in requests and answers.

use callwright::{ToolSet, Verdict};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::wire::WireError;

/// Names the request in its answer.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-callwright-request");

/// Says whether arguments go out while they are written: `1` or `0`.
const STREAM_ARGUMENTS: &str = "x-callwright-stream-arguments";

/// Names the tools whose calls are not held against all of their definition.
pub(crate) const UNCHECKED: HeaderName = HeaderName::from_static("x-callwright-unchecked");

/// Says how many of the tools the model was shown, if they do not all fit: `20/400`.
pub(crate) const SHOWN: HeaderName = HeaderName::from_static("x-callwright-tools");

/// Names the tools that the model was not told of: nobody here runs them.
pub(crate) const DROPPED: HeaderName = HeaderName::from_static("x-callwright-dropped-tools");

/// Says how many items of a conversation the model was not told of.
pub(crate) const DROPPED_ITEMS: HeaderName = HeaderName::from_static("x-callwright-dropped-items");

/// Tells clients whether the same request may do better later.
pub(crate) const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Says that tokens were not counted.
pub(crate) const ESTIMATE: HeaderName = HeaderName::from_static("x-callwright-estimate");

/// The most tools that a header names.
const MAX_NAMES: usize = 64;

/// Reads the client's choice.
pub(crate) fn stream_arguments(headers: &HeaderMap) -> Result<Option<bool>, WireError> {
    match headers.get(STREAM_ARGUMENTS).map(HeaderValue::as_bytes) {
        None => Ok(None),
        Some(b"1") => Ok(Some(true)),
        Some(b"0") => Ok(Some(false)),
        Some(_) => {
            let message = format!("{STREAM_ARGUMENTS} must be 1 or 0");
            Err(WireError::bad_request(Some(STREAM_ARGUMENTS), "invalid_header", message))
        }
    }
}

/// Writes the names of the tools that cannot be checked whole; none if all can.
pub(crate) fn unchecked(tool_set: &ToolSet) -> Option<HeaderValue> {
    names(tool_set.unchecked().map(|(name, _)| name))
}

/// Writes the names of the tools with a call among `verdicts` that was not checked whole.
pub(crate) fn unchecked_calls<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> Option<HeaderValue> {
    names(verdicts.filter_map(|verdict| match verdict {
        Verdict::Accepted(call) if call.unchecked => Some(&*call.name),
        Verdict::Accepted(_) | Verdict::Refused(_) => None,
    }))
}

/// Writes names for a header; none for an empty list.
pub(crate) fn names<'n>(names: impl Iterator<Item = &'n str>) -> Option<HeaderValue> {
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    // A header holds some KiB at most; who needs all of them asks `lint`.
    names.truncate(MAX_NAMES);
    let is_plain = |c: char| if c.is_ascii_graphic() && c != ',' { c } else { '?' };
    let names: String = names.join(",").chars().map(|c| if c == ',' { c } else { is_plain(c) }).collect();
    HeaderValue::from_str(&names).ok().filter(|_| !names.is_empty())
}
