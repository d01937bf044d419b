//! The distance between two texts: letters added, left out, changed, or exchanged with their neighbour.

/// Most edits that are counted.
pub(super) const MOST: usize = 2;
/// Number of diagonals that so many edits reach.
const BAND: usize = 2 * MOST + 1;
const FAR: u8 = u8::MAX / 2;

/// Returns the ends of those beginnings of `text` that are at most `most` edits from `mark`, each with its number of
/// edits. `most` is at most [`MOST`].
pub(super) fn ends_within(mark: &[char], text: &[char], most: usize) -> Vec<(usize, usize)> {
    Distance::of(mark, text, most).map_or_else(Vec::new, |distance| distance.ends(text, most))
}

/// Returns whether `text` begins with `mark` but for at most `most` edits.
pub(super) fn is_within(mark: &[char], text: &[char], most: usize) -> bool {
    // So few edits leave one of the first letters, which tells most marks apart.
    let near = |text: &[char]| {
        mark.iter().take(most + 1).any(|own| text.iter().take(2 * most + 1).any(|c| c == own))
    };
    (mark.len() <= most || near(text))
        && Distance::of(mark, text, most).is_some_and(|distance| distance.is_within(text, most))
}

/// The distances between one mark, or its beginning, and the beginnings of a text.
///
/// The distance is that of optimal string alignment. Only the reachable diagonals are computed, so the cost is at most
/// the length of the mark.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distance {
    /// The costs of the last letter but one, and of the last letter. In the cell `d` of row `r`, the column is
    /// `r + d - MOST`.
    before: [u8; BAND],
    last: [u8; BAND],
    /// The number of letters of the mark so far, and the last of them.
    row: usize,
    letter: char,
}

impl Distance {
    /// Measures `mark`; `None` if each beginning of `text` is further than `most` edits from it.
    pub(super) fn of(mark: &[char], text: &[char], most: usize) -> Option<Distance> {
        let mut last = [FAR; BAND];
        for (cell, cost) in (0..).zip(&mut last).skip(MOST) {
            if column(0, cell, text).is_some() {
                *cost = u8::try_from(cell - MOST).unwrap_or(FAR);
            }
        }
        Distance { before: [FAR; BAND], last, row: 0, letter: '\0' }.and(mark, text, most)
    }

    /// Extends the mark by `rest`, against the same `text`.
    pub(super) fn and(mut self, rest: &[char], text: &[char], most: usize) -> Option<Distance> {
        let limit = u8::try_from(most).unwrap_or(FAR);
        for &letter in rest {
            self.row += 1;
            let mut next = [FAR; BAND];
            for cell in 0..BAND {
                let Some(at) = column(self.row, cell, text) else { continue };
                let mut cost = self.last.get(cell + 1).map_or(FAR, |above| above + 1);
                if 0 < at {
                    let own = text[at - 1];
                    cost = cost.min(self.last[cell] + u8::from(own != letter));
                    if 0 < cell {
                        cost = cost.min(next[cell - 1] + 1);
                    }
                    if 1 < self.row && 1 < at && own == self.letter && text[at - 2] == letter {
                        cost = cost.min(self.before[cell] + 1);
                    }
                }
                next[cell] = cost.min(FAR);
            }
            if next.iter().all(|cost| limit < *cost) {
                return None;
            }
            self.before = std::mem::replace(&mut self.last, next);
            self.letter = letter;
        }
        Some(self)
    }

    /// Returns whether a beginning of `text` is at most `most` edits from the mark.
    fn is_within(&self, text: &[char], most: usize) -> bool {
        let limit = u8::try_from(most).unwrap_or(FAR);
        (0..BAND).any(|cell| self.last[cell] <= limit && column(self.row, cell, text).is_some())
    }

    /// Returns the ends of the beginnings of `text` that are at most `most` edits from the mark, each with its number.
    pub(super) fn ends(&self, text: &[char], most: usize) -> Vec<(usize, usize)> {
        let limit = u8::try_from(most).unwrap_or(FAR);
        let ends = (0..BAND).filter(|cell| self.last[*cell] <= limit);
        ends.filter_map(|cell| Some((column(self.row, cell, text)?, usize::from(self.last[cell])))).collect()
    }
}

fn column(row: usize, cell: usize, text: &[char]) -> Option<usize> {
    (row + cell).checked_sub(MOST).filter(|at| *at <= text.len())
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
