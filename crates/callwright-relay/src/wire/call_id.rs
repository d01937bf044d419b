//! The ids of calls, as upstreams write them.

/// Returns whether an id is empty, or the text `null`. Some servers write such an id in further pieces of a call.
pub(crate) fn is_no_id(id: &str) -> bool {
    matches!(id, "" | "null")
}
