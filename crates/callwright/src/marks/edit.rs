//! The distance between two texts: letters added, left out, changed, or exchanged with their neighbour.

/// Most edits that are counted.
pub(super) const MOST: usize = 2;
/// Number of diagonals that so many edits reach.
const BAND: usize = 2 * MOST + 1;
const FAR: u8 = u8::MAX / 2;

/// The shortest mark that is known with one edit in it, and the shortest with two.
pub(super) const ONE_EDIT: usize = 5;
const TWO_EDITS: usize = 10;

/// Returns the number of edits with which a mark of so many letters is known.
pub(crate) fn most_edits(len: usize) -> usize {
    match len {
        TWO_EDITS.. => 2,
        ONE_EDIT.. => 1,
        _ => 0,
    }
}

/// Cuts `mark` into parts, each with the number of letters in front of it. With `most` edits, one part stays whole. Two
/// letters that changed places may stand in two parts.
pub(crate) fn parts<T>(mark: &[T], most: usize) -> impl Iterator<Item = (usize, &[T])> {
    let size = mark.len().div_ceil(2 * most + 1).max(1);
    mark.chunks(size).enumerate().map(move |(n, part)| (n * size, part))
}

/// Returns the byte of a letter, for a search.
pub(crate) fn code(letter: char) -> u8 {
    u8::try_from(letter).unwrap_or(u8::MAX)
}

/// Returns the ends of those beginnings of `text` that are at most `most` edits from `mark`, each with its number of
/// edits. `most` is at most [`MOST`].
pub(crate) fn ends_within<T: Copy + PartialEq>(
    mark: &[T],
    text: &[T],
    most: usize,
) -> impl Iterator<Item = (usize, usize)> + use<T> {
    // What both begin with costs nothing. An end may lie before the last letters of that.
    let same = mark.iter().zip(text).take_while(|(own, other)| own == other).count().saturating_sub(MOST);
    let (mark, text) = (&mark[same..], &text[same..]);
    let (rows, len) = (mark.len(), text.len());
    let costs = costs(mark, text, most).unwrap_or([FAR; BAND]).into_iter().enumerate();
    let ends = costs.map(|(cell, cost)| (cell, usize::from(cost))).filter(move |(_, cost)| *cost <= most);
    ends.filter_map(move |(cell, cost)| Some((same + column(rows, cell, len)?, cost)))
}

/// Returns the costs of the last letter of `mark`; `None` if all of them are above `most`. In the cell `d` of row `r`,
/// the column is `r + d - MOST`.
///
/// The distance is that of optimal string alignment. Only the reachable diagonals are computed, so the cost is at most
/// the length of the mark.
fn costs<T: Copy + PartialEq>(mark: &[T], text: &[T], most: usize) -> Option<[u8; BAND]> {
    let mut before = [FAR; BAND];
    let mut last = [FAR; BAND];
    for (edits, cost) in (0..).zip(0_u8..=2).take_while(|(edits, _)| *edits <= text.len()) {
        last[MOST + edits] = cost;
    }
    for (row, &letter) in (1..).zip(mark) {
        let mut next = [FAR; BAND];
        for cell in 0..BAND {
            let Some(at) = column(row, cell, text.len()) else { continue };
            let mut cost = last.get(cell + 1).map_or(FAR, |above| above + 1);
            if 0 < at {
                let own = text[at - 1];
                cost = cost.min(last[cell] + u8::from(own != letter));
                if 0 < cell {
                    cost = cost.min(next[cell - 1] + 1);
                }
                if 1 < row && 1 < at && own == mark[row - 2] && text[at - 2] == letter {
                    cost = cost.min(before[cell] + 1);
                }
            }
            next[cell] = cost.min(FAR);
        }
        if next.iter().all(|cost| most < usize::from(*cost)) {
            return None;
        }
        before = std::mem::replace(&mut last, next);
    }
    Some(last)
}

/// Returns whether `text` begins with `mark` but for at most `most` edits.
pub(super) fn is_within(mark: &[char], text: &[char], most: usize) -> bool {
    // So few edits leave one of the first letters, which tells most marks apart.
    let near = |text: &[char]| {
        mark.iter().take(most + 1).any(|own| text.iter().take(2 * most + 1).any(|c| c == own))
    };
    (mark.len() <= most || near(text)) && ends_within(mark, text, most).next().is_some()
}

fn column(row: usize, cell: usize, len: usize) -> Option<usize> {
    (row + cell).checked_sub(MOST).filter(|at| *at <= len)
}

/// Returns whether `text` is `mark` but for one letter added, left out, changed, or exchanged with its neighbour.
pub(crate) fn is_one_slip(mark: &str, text: &str) -> bool {
    let [mark, text] = [mark, text].map(|text| text.chars().collect::<Vec<char>>());
    ends_within(&mark, &text, 1).any(|end| end == (text.len(), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(mark: &str, text: &str, most: usize) -> Option<usize> {
        let (mark, text): (Vec<char>, Vec<char>) = (mark.chars().collect(), text.chars().collect());
        let ends = ends_within(&mark, &text, most);
        ends.into_iter().find(|(end, _)| *end == text.len()).map(|(_, cost)| cost)
    }

    #[test]
    fn edits_are_counted() {
        for (mark, text, cost) in [
            ("<tool_call>", "<tool_call>", Some(0)),
            ("<tool_call>", "<tool_clal>", Some(1)),
            ("<tool_call>", "tool_call>", Some(1)),
            ("<tool_call>", "<tool_callx>", Some(1)),
            ("<tool_call>", "<t00l_call>", Some(2)),
            ("<tool_call>", "otol_cal>", None),
            ("<tool_call>", "<t00l_cal>", None),
            ("<tool_call>", "", None),
            ("<a", "", Some(2)),
        ] {
            assert_eq!(distance(mark, text, MOST), cost, "{text}");
        }
        assert_eq!(distance("<tool_call>", "<t00l_call>", 1), None);
    }
}
