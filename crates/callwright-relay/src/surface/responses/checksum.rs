//! The checksum of a text that a client keeps and brings back.

/// Returns the FNV-1a hash: it is the same in each run, which the standard library's hashers do not promise.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
