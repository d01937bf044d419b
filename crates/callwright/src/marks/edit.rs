//! The distance between two texts: letters added, left out, changed, or exchanged with their neighbour.

/// Most edits that are counted.
pub(super) const MOST: usize = 2;
/// Number of diagonals that so many edits reach.
const BAND: usize = 2 * MOST + 1;
const FAR: usize = usize::MAX / 2;

/// Returns the ends of those beginnings of `text` that are at most `most` edits from `mark`, each with its number of
/// edits. `most` is at most [`MOST`].
///
/// The distance is that of optimal string alignment. Only the reachable diagonals are computed, so the cost is at most
/// the length of the mark.
pub(super) fn ends_within<T: Copy + PartialEq>(mark: &[T], text: &[T], most: usize) -> Vec<(usize, usize)> {
    // The costs of the last letter of the mark but one, and of the last one. In the cell `d` of row `r`, the column is
    // `r + d - MOST`.
    let mut before = [FAR; BAND];
    let mut last = [FAR; BAND];
    for edits in (0..=MOST).filter(|edits| *edits <= text.len()) {
        last[MOST + edits] = edits;
    }
    for (row, &letter) in (1..).zip(mark) {
        let mut next = [FAR; BAND];
        for cell in 0..BAND {
            let Some(at) = column(row, cell, text.len()) else { continue };
            let mut cost = last.get(cell + 1).map_or(FAR, |above| above + 1);
            if 0 < at {
                let own = text[at - 1];
                cost = cost.min(last[cell] + usize::from(own != letter));
                if 0 < cell {
                    cost = cost.min(next[cell - 1] + 1);
                }
                if 1 < row && 1 < at && own == mark[row - 2] && text[at - 2] == letter {
                    cost = cost.min(before[cell] + 1);
                }
            }
            next[cell] = cost.min(FAR);
        }
        if next.iter().all(|cost| most < *cost) {
            return Vec::new();
        }
        before = std::mem::replace(&mut last, next);
    }
    let ends = (0..BAND).filter(|cell| last[*cell] <= most);
    ends.filter_map(|cell| Some((column(mark.len(), cell, text.len())?, last[cell]))).collect()
}

/// Returns whether `text` begins with `mark` but for at most `most` edits.
pub(super) fn is_within(mark: &[char], text: &[char], most: usize) -> bool {
    // So few edits leave one of the first letters, which tells most marks apart.
    let near = |text: &[char]| {
        mark.iter().take(most + 1).any(|own| text.iter().take(2 * most + 1).any(|c| c == own))
    };
    (mark.len() <= most || near(text)) && !ends_within(mark, text, most).is_empty()
}

fn column(row: usize, cell: usize, len: usize) -> Option<usize> {
    (row + cell).checked_sub(MOST).filter(|at| *at <= len)
}

/// Returns whether `text` is `mark` but for one letter added, left out, changed, or exchanged with its neighbour.
pub(crate) fn is_one_slip(mark: &str, text: &str) -> bool {
    let [mark, text] = [mark, text].map(|text| text.chars().collect::<Vec<char>>());
    ends_within(&mark, &text, 1).contains(&(text.len(), 1))
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
