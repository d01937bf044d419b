//! Numbers compared as the decimals that they are written as, whatever their length.

use std::cmp::Ordering;

/// Is the JSON number `raw` a whole number? `5`, `5.0` and `1.5e1` are.
pub(super) fn is_whole(raw: &str) -> bool {
    if raw.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        return true;
    }
    let decimal = Decimal::new(raw);
    decimal.digits.is_empty() || i64::try_from(decimal.digits.len()).is_ok_and(|n| n <= decimal.point)
}

/// The order of two JSON numbers.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    if let (Ok(a), Ok(b)) = (a.parse::<i64>(), b.parse::<i64>()) {
        return a.cmp(&b);
    }
    let (a, b) = (Decimal::new(a), Decimal::new(b));
    let magnitude = || a.point.cmp(&b.point).then_with(|| a.digits.cmp(&b.digits));
    match a.sign().cmp(&b.sign()) {
        Ordering::Equal if a.sign() < 0 => magnitude().reverse(),
        Ordering::Equal => magnitude(),
        unequal => unequal,
    }
}

/// Is the JSON number `raw` a whole multiple of `divisor`, which is greater than zero?
pub(super) fn is_multiple_of(raw: &str, divisor: &str) -> bool {
    let (number, divisor) = (Decimal::new(raw), Decimal::new(divisor));
    if number.digits.is_empty() {
        return true;
    }
    let length = |decimal: &Decimal| i64::try_from(decimal.digits.len()).unwrap_or(i64::MAX);
    // Both as whole numbers without zeros at the end, times a power of ten.
    let power = |decimal: &Decimal| decimal.point.saturating_sub(length(decimal));
    let zeros = power(&number).saturating_sub(power(&divisor));
    if zeros < 0 {
        // The divisor's zeros would have to be in digits that end in none.
        return false;
    }
    // A divisor with more than 36 digits before its zeros is not reckoned with: nobody means one.
    let Some(modulus) = divisor.digits.parse::<u128>().ok().filter(|m| *m < 1 << 120) else { return true };
    let times_ten = |rest: u128| rest * 10 % modulus;
    let rest =
        number.digits.bytes().fold(0, |rest, digit| (times_ten(rest) + u128::from(digit - b'0')) % modulus);
    // Of a modulus below 2^120, the factors two and five are gone after that many tens.
    (0..zeros.min(120)).fold(rest, |rest, _| times_ten(rest)) == 0
}

/// `0.digits` times ten to the power of `point`; no digits for zero.
struct Decimal {
    is_negative: bool,
    digits: String,
    point: i64,
}

impl Decimal {
    fn new(raw: &str) -> Decimal {
        let unsigned = raw.strip_prefix('-');
        let is_negative = unsigned.is_some();
        let unsigned = unsigned.unwrap_or(raw);
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // An exponent past 64 bits is as good as the largest.
        let extreme = if exponent.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 };
        let exponent = exponent.parse::<i64>().unwrap_or(extreme);
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_start_matches('0');
        let zeros = digits.len() - significant.len();
        let significant = significant.trim_end_matches('0');
        let shift = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let point = exponent.saturating_add(shift(whole.len())).saturating_sub(shift(zeros));
        if significant.is_empty() {
            return Decimal { is_negative: false, digits: String::new(), point: i64::MIN };
        }
        Decimal { is_negative, digits: significant.to_owned(), point }
    }

    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_by_value() {
        let ascending = [
            "-1e400",
            "-123456789012345678901234567890.5",
            "-123456789012345678901234567890",
            "-2",
            "-1.5",
            "-1e-400",
            "0",
            "1e-400",
            "0.1",
            "0.10001",
            "1",
            "1.5e1",
            "16",
            "9007199254740993",
            "9007199254740994",
            "1e99999999999999999999",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(compare(a, b), i.cmp(&j), "{a} {b}");
            }
        }
        assert_eq!(compare("1.50", "15e-1"), Ordering::Equal);
        assert_eq!(compare("-0", "0.0e7"), Ordering::Equal);
    }

    #[test]
    fn multiples_are_known_in_any_spelling() {
        for (number, divisor) in [
            ("0", "7"),
            ("-0.0", "0.1"),
            ("21", "7"),
            ("0.3", "0.1"),
            ("-4.5", "1.5"),
            ("0.0075", "0.0001"),
            ("1e400", "5e-3"),
            ("1e99999999999", "1024"),
            ("123456789012345678901234567890", "10"),
            ("1230", "1.23e1"),
        ] {
            assert!(is_multiple_of(number, divisor), "{number} {divisor}");
        }
        for (number, divisor) in [
            ("35", "10"),
            ("0.00751", "0.0001"),
            ("123456789012345678901234567891", "10"),
            ("1e400", "7"),
            ("1e308", "0.123456789"),
            ("12.3", "123"),
        ] {
            assert!(!is_multiple_of(number, divisor), "{number} {divisor}");
        }
    }

    #[test]
    fn whole_numbers_are_known_in_any_spelling() {
        for whole in ["0", "-7", "5.0", "1.5e1", "1e400", "0.0", "100e-2", "-0"] {
            assert!(is_whole(whole), "{whole}");
        }
        for fraction in ["0.5", "1.05e1", "1e-1", "1e-400", "12345678901234567890.5"] {
            assert!(!is_whole(fraction), "{fraction}");
        }
    }
}
