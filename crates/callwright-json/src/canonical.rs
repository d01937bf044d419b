//! Gives each value one text, so that a comparison of bytes finds equal values.

use alloc::{format, string::String, vec, vec::Vec};

use crate::quote;
use crate::tree::{Kind, Value};

impl Value<'_> {
    /// Returns a text that is equal for equal values: no spaces, sorted keys, plain escapes, normal numbers.
    pub fn canonical(self) -> String {
        // The loop runs from the last node to the first, so that nesting needs no stack.
        let (first, end) = self.extent();
        let mut texts: Vec<String> = vec![String::new(); end - first];
        for at in (first..end).rev() {
            let value = self.sibling(at);
            let text_of = |inner: Value<'_>| texts[inner.index() - first].as_str();
            let text = match value.kind() {
                Kind::Null | Kind::Bool => String::from(value.raw()),
                Kind::Number => number(value.raw()),
                Kind::String => quote(&value.as_str().unwrap_or_default()),
                Kind::Array => {
                    let items: Vec<&str> = value.elements().map(text_of).collect();
                    format!("[{}]", items.join(","))
                }
                Kind::Object => {
                    let members = value.members().map(|(k, v)| format!("{}:{}", text_of(k), text_of(v)));
                    let mut members: Vec<String> = members.collect();
                    members.sort_unstable();
                    // An exact repeat of a member changes nothing.
                    members.dedup();
                    format!("{{{}}}", members.join(","))
                }
            };
            texts[at - first] = text;
        }
        texts.swap_remove(0)
    }
}

/// Returns the significant digits and a decimal exponent of a number: `1.50e2` → `15e1`.
fn number(raw: &str) -> String {
    let (minus, raw) = match raw.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", raw),
    };
    let (mantissa, exponent) = raw.split_once(['e', 'E']).unwrap_or((raw, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return String::from("0");
    }
    let dropped = digits.len() - digits.trim_end_matches('0').len();
    match exponent.parse::<i64>() {
        Ok(e) => {
            let e = e.saturating_sub(fraction.len() as i64).saturating_add(dropped as i64);
            format!("{minus}{significant}e{e}")
        }
        // Exponents past 64 bits are compared by their spelling.
        Err(_) => format!("{minus}{raw}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::strict;

    #[test]
    fn equal_values_have_one_text() {
        let same = |a: &str, b: &str| {
            strict(a).unwrap().root(a).canonical() == strict(b).unwrap().root(b).canonical()
        };
        assert!(same(r#"{"a":1.0,"b":[ "\u0041" ]}"#, r#"{ "b":["A"],"a":1e0 }"#));
        assert!(same("1500e-1", "150"));
        assert!(same("-0", "0"));
        assert!(same(r#"{"a":1,"a":1}"#, r#"{"a":1}"#));
        assert!(!same("1e400", "1e401"));
        assert!(!same(r#"{"a":1,"a":2}"#, r#"{"a":2}"#));
        assert!(!same("123456789012345678901234567890", "123456789012345678901234567891"));
        assert!(!same(r#""1""#, "1"));
    }
}
