//! The bound of a check: work is counted before it is done, so that a bound in steps is a bound in time.

/// Fuel of any check.
const FREE: u64 = 1 << 18;
/// Further fuel for each byte of the value.
const FOR_EACH_BYTE: u64 = 32;

/// The rest of the work that one check may do.
///
/// One unit is one step of a pattern on one character, some 60 instructions at most; all other work is counted in
/// those. A value of 64 KB has 2 << 20 of them: some 125 million instructions, or 42 ms on a core that does three
/// billion in a second.
#[derive(Debug)]
pub(super) struct Fuel {
    left: u64,
}

impl Fuel {
    /// Returns the fuel for the check of a value of `bytes`.
    pub(super) fn of(bytes: usize) -> Fuel {
        Fuel { left: FREE.saturating_add(FOR_EACH_BYTE.saturating_mul(bytes as u64)) }
    }

    /// Takes `units`; `None` once fewer are left.
    pub(super) fn take(&mut self, units: usize) -> Option<()> {
        let left = self.left.checked_sub(units as u64);
        self.left = left.unwrap_or(0);
        left.map(|_| ())
    }

    /// Returns the rest, in units.
    #[cfg(test)]
    pub(super) fn left(&self) -> u64 {
        self.left
    }
}
