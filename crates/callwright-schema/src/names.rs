//! Compares names, for the hint in a violation and for the spellings of one name.

/// Longest name that is compared, in bytes.
pub const MAX_COMPARED: usize = 64;

/// Returns a name in lower case, without separators: `getWeather`, `get_weather` and `Get-Weather` are one name.
pub fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_ascii() || !is_separator(*c as u8))
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// Returns whether `byte` stands between the words of a name, or between it and a namespace.
#[inline]
pub fn is_separator(byte: u8) -> bool {
    matches!(byte, b'_' | b'-' | b'.' | b' ' | b'\\' | b'/' | b':')
}

/// Returns the keys among `declared` whose letters come close to `written`, nearest first, at most `most`.
pub(crate) fn nearest_keys<'a>(
    written: &str,
    declared: &mut dyn Iterator<Item = &'a str>,
    most: usize,
) -> Vec<&'a str> {
    let written = fold(written);
    let mut near: Vec<(usize, &str)> = Vec::new();
    for name in declared {
        let Some(distance) = distance(&written, &fold(name)) else { continue };
        let place = near.partition_point(|(nearer, _)| *nearer <= distance);
        near.insert(place, (distance, name));
        near.truncate(most);
    }
    near.into_iter().map(|(_, name)| name).collect()
}

/// Returns the distance of `written` from `name`, both folded; `None` if they have little in common.
fn distance(written: &str, name: &str) -> Option<usize> {
    let is_inside = 3 < written.len() && (name.contains(written) || written.contains(name));
    if is_inside && !name.is_empty() {
        return Some(1);
    }
    let bound = written.len().min(MAX_COMPARED) / 2 + 1;
    if MAX_COMPARED < written.len().max(name.len()) || bound < written.len().abs_diff(name.len()) {
        return None;
    }
    Some(edits(written, name)).filter(|edits| *edits <= bound)
}

/// Returns the number of single-byte edits between two texts.
pub fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_keys_come_first() {
        let near =
            |written| nearest_keys(written, &mut ["get_weather", "get_time", "write_file"].into_iter(), 2);
        assert_eq!(near("get_wether"), ["get_weather", "get_time"]);
        assert_eq!(near("Time"), ["get_time"]);
        assert!(near("zzzzzzzzzzzzzz").is_empty());
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
