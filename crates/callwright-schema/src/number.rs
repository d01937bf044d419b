//! Compares numbers as the decimals that they are written as, of any length.

use std::cmp::Ordering;

/// Returns whether the JSON number `raw` is a whole number: `5`, `5.0` and `1.5e1` are.
pub(super) fn is_whole(raw: &str) -> bool {
    if raw.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        return true;
    }
    let decimal = Decimal::new(raw);
    decimal.digits.is_empty() || i64::try_from(decimal.digits.len()).is_ok_and(|n| n <= decimal.point)
}

/// Returns the whole number, not below zero, that the JSON number `raw` is: 2 for `2.0`. `None` beyond 64 bits.
pub(super) fn whole(raw: &str) -> Option<u64> {
    if let Ok(number) = raw.parse() {
        return Some(number);
    }
    let Decimal { sign, digits, point } = Decimal::new(raw);
    match sign {
        0 => Some(0),
        1 => {
            let zeros = usize::try_from(point).ok()?.checked_sub(digits.len()).filter(|zeros| *zeros < 20)?;
            format!("{digits}{}", "0".repeat(zeros)).parse().ok()
        }
        _ => None,
    }
}

/// Returns the order of two JSON numbers.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    if let (Ok(a), Ok(b)) = (a.parse::<i64>(), b.parse::<i64>()) {
        return a.cmp(&b);
    }
    let (a, b) = (Decimal::new(a), Decimal::new(b));
    let magnitude = a.point.cmp(&b.point).then_with(|| a.digits.cmp(&b.digits));
    a.sign.cmp(&b.sign).then(if a.sign < 0 { magnitude.reverse() } else { magnitude })
}

/// Returns whether the JSON number `raw` is a whole multiple of `divisor`, which is greater than zero.
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
    // A divisor with more than 36 digits before its zeros is not computed: nobody means one.
    let Some(modulus) = divisor.digits.parse::<u128>().ok().filter(|m| *m < 1 << 120) else { return true };
    let times_ten = |rest: u128| rest * 10 % modulus;
    let rest =
        number.digits.bytes().fold(0, |rest, digit| (times_ten(rest) + u128::from(digit - b'0')) % modulus);
    // A modulus below 2^120 has lost its factors two and five after that many tens.
    (0..zeros.min(120)).fold(rest, |rest, _| times_ten(rest)) == 0
}

/// `0.digits` times ten to the power of `point`; no digits for zero.
struct Decimal {
    /// -1, 0 or 1.
    sign: i8,
    digits: String,
    point: i64,
}

impl Decimal {
    fn new(raw: &str) -> Decimal {
        let (sign, unsigned) = raw.strip_prefix('-').map_or((1, raw), |unsigned| (-1, unsigned));
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
            return Decimal { sign: 0, digits: String::new(), point: i64::MIN };
        }
        Decimal { sign, digits: significant.to_owned(), point }
    }
}
