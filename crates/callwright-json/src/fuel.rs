//! Bounds the work of reading: one amount for all values of one text.

use core::cell::Cell;

/// The work that several readings may share. One unit is one careful look at one byte, some nanoseconds.
///
/// Each [`read`](crate::read) has a bound of its own, in proportion to its text. Thousands of broken values
/// in one text would multiply that bound.
///
/// ```
/// use callwright_json::{AnyValue, Fuel, Options, Problem, read_with};
///
/// let fuel = Fuel::new(0);
/// let options = Options { fuel: Some(&fuel), ..Options::default() };
/// // What is right is read whatever is left, and what is broken has no reading.
/// assert!(read_with(r#"{"a": 1}"#, &AnyValue, &options).settled().is_some());
/// let broken = read_with(r#"{"a": 1,}"#, &AnyValue, &options);
/// assert_eq!(broken.diagnostics[0].problem, Problem::Limit);
/// ```
#[derive(Debug)]
pub struct Fuel(Cell<i64>);

impl Fuel {
    /// Creates fuel of this many units.
    pub const fn new(units: u32) -> Fuel {
        Fuel(Cell::new(units as i64))
    }

    /// Creates fuel with the rest of `other`.
    pub fn of(other: &Fuel) -> Fuel {
        Fuel(Cell::new(other.left()))
    }

    /// Adds units.
    pub fn add(&self, units: usize) {
        self.0.set(self.0.get().saturating_add_unsigned(units as u64));
    }

    /// Spends units, even more than are left.
    pub fn spend(&self, units: usize) {
        self.0.set(self.0.get().saturating_sub_unsigned(units as u64));
    }

    /// Returns whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.0.get() <= 0
    }

    /// Returns the rest, which is negative where more was spent than there was.
    pub fn left(&self) -> i64 {
        self.0.get()
    }
}
