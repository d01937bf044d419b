//! Times as they are kept: milliseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Now.
pub fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(0))
}

/// `1795336496123` → `2026-11-22T08:34:56.123Z`. What comes before 1970 is its beginning, what comes behind 9999 its end.
pub fn rfc3339(at: i64) -> String {
    const MOST: u64 = 253_402_300_799_999;
    let since = Duration::from_millis(u64::try_from(at).unwrap_or(0).min(MOST));
    humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_everyone_writes_them() {
        for (at, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_336_496_123, "2026-11-22T08:34:56.123Z"),
            (4_102_444_799_999, "2099-12-31T23:59:59.999Z"),
            (-1, "1970-01-01T00:00:00.000Z"),
            (i64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(at), text);
        }
        assert!(1_700_000_000_000 < now());
    }
}
