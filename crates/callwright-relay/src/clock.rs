//! The time of day, for records and for facts that expire.

use std::time::{SystemTime, UNIX_EPOCH};

/// Says the time in seconds since 1970.
pub type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

/// The system's clock.
pub fn system_clock() -> Clock {
    Box::new(unix_seconds)
}

/// Returns the seconds since 1970, which the wire format calls `created`.
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns the present time as text: `2026-11-22T08:34:56.123Z`.
pub(crate) fn rfc3339() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}
