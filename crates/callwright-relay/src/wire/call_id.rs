//! The ids of calls, as upstreams write them.

/// Returns whether this is the place of an id without one. Some servers write it in further pieces of a call.
pub(crate) fn is_no_id(id: &str) -> bool {
    matches!(id, "" | "null")
}
