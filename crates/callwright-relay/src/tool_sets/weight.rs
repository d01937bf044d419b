//! The approximate bytes of compiled tools. The text of their definitions goes in; nothing is compiled.

use callwright_json::{Kind, Value, strict};

/// The bytes of a compiled set without patterns, for each byte of its text: 31 to 65 were measured, from 51 KB to 2.6 MB.
const TIMES: usize = 64;
/// The bytes of the smallest pattern: its automata, and the room in which they search.
const PATTERN: usize = 16 << 10;
/// The bytes of the automata for each sign of a pattern.
const SIGN: usize = 64;
/// The weight of a class of characters, `\w` or `[^a]`, against one sign: it has many ranges in UTF-8.
const CLASS: usize = 16;
/// The most bytes of a pattern: a larger one is not compiled (256 KiB), and its search has as much room.
const MOST: usize = 512 << 10;

/// Returns the bytes of the tools of this text once they are compiled, with their text.
pub(super) fn weight(text: &str) -> usize {
    let patterns = strict(text).map_or(0, |tree| patterns(tree.root(text)));
    text.len().saturating_mul(TIMES).saturating_add(patterns)
}

/// Returns the bytes of the patterns in a value. A member `pattern` that is the name of an argument makes no difference to an
/// estimate.
fn patterns(root: Value<'_>) -> usize {
    let (mut sum, mut open) = (0_usize, vec![root]);
    while let Some(value) = open.pop() {
        open.extend(value.elements());
        for (key, member) in value.members() {
            if key.is_str("pattern")
                && let Some(text) = member.as_str()
            {
                sum = sum.saturating_add(pattern(&text));
            }
            if key.is_str("patternProperties") {
                let keys = member.members().filter_map(|(key, _)| key.as_str());
                sum = keys.fold(sum, |sum, text| sum.saturating_add(pattern(&text)));
            }
            if matches!(member.kind(), Kind::Array | Kind::Object) {
                open.push(member);
            }
        }
    }
    sum
}

/// Returns the signs of `^[a-z]{1,50}$`: the part before a number counts that many times.
fn pattern(text: &str) -> usize {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<usize>().ok());
    let times = numbers.max().unwrap_or(1).max(1);
    let has_classes = text.contains(['\\', '.']) || text.contains("[^");
    let class = if has_classes { CLASS } else { 1 };
    let signs = text.len().saturating_mul(SIGN).saturating_mul(class).saturating_mul(times);
    PATTERN.saturating_add(signs).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_weigh_what_they_may_come_to() {
        let of = |pattern: &str| {
            let text = format!(
                r#"[{{"name":"f","parameters":{{"properties":{{"a":{{"type":"string","pattern":{}}}}}}}}}]"#,
                callwright_json::quote(pattern)
            );
            weight(&text) - text.len() * TIMES
        };
        assert!(of("a") < of("[a-z]{1,50}") && of("[a-z]{1,50}") < of(r"^\w{1,50}$"));
        assert_eq!(of(r"^[\p{L}\p{N}_.-]{1,100}x$"), MOST);
        assert_eq!(weight("[{"), 2 * TIMES);
        let keys = r#"{"patternProperties": {"^a": {}, "^b": {}}}"#;
        assert!(weight(keys) - keys.len() * TIMES >= 2 * PATTERN);
    }
}
