//! The ids of calls, as upstreams write them.

/// Is this no id? Some servers write one so where a call goes on.
pub(crate) fn is_no_id(id: &str) -> bool {
    matches!(id, "" | "null")
}
