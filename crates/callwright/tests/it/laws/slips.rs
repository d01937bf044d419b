//! Slips in the marks of a call: a letter wrong, a mark missing, doubled, or exchanged with its neighbour.

use std::ops::Range;

use crate::common::Random;

/// What happens to the marks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slip {
    Letter,
    TwoLetters,
    Missing,
    Doubled,
    Exchanged,
}

impl Slip {
    pub(crate) const ALL: [Slip; 5] =
        [Slip::Letter, Slip::TwoLetters, Slip::Missing, Slip::Doubled, Slip::Exchanged];

    /// `text`, all of whose `<…>` are marks, with this slip in them.
    pub(crate) fn made(self, text: &str, random: &mut Random) -> String {
        self.made_in(text, marks, |c| c, random)
    }

    /// `text` with this slip in one of its marks, which `find` finds. What is put into one is written as `spelt`.
    pub(crate) fn made_in(
        self,
        text: &str,
        find: fn(&str) -> Vec<Range<usize>>,
        spelt: fn(char) -> char,
        random: &mut Random,
    ) -> String {
        let marks = find(text);
        let put = |at: &Range<usize>, new: &str| {
            let (before, behind) = (&text[..at.start], &text[at.end..]);
            format!("{before}{new}{behind}")
        };
        let one = &marks[random.below(marks.len())];
        match self {
            Slip::Letter => put(one, &other_letter(&text[one.clone()], spelt, random)),
            Slip::TwoLetters => {
                let text = put(one, &other_letter(&text[one.clone()], spelt, random));
                // Once more, in a mark that is still one.
                match find(&text).is_empty() {
                    true => text,
                    false => Slip::Letter.made_in(&text, find, spelt, random),
                }
            }
            Slip::Missing => put(one, ""),
            Slip::Doubled => put(one, &text[one.clone()].repeat(2)),
            Slip::Exchanged if marks.len() < 2 => text.to_owned(),
            Slip::Exchanged => {
                let first = random.below(marks.len() - 1);
                let (one, two) = (&marks[first], &marks[first + 1]);
                let gap = &text[one.end..two.start];
                put(&(one.start..two.end), &format!("{}{gap}{}", &text[two.clone()], &text[one.clone()]))
            }
        }
    }
}

/// Where the marks stand.
fn marks(text: &str) -> Vec<Range<usize>> {
    let starts = text.match_indices('<').map(|(at, _)| at);
    starts.filter_map(|at| Some(at..at + text[at..].find('>')? + 1)).collect()
}

/// `mark` with a letter left out, added, changed, or exchanged with the next one.
fn other_letter(mark: &str, spelt: fn(char) -> char, random: &mut Random) -> String {
    let mut letters: Vec<char> = mark.chars().collect();
    let at = random.below(letters.len() - 1);
    let letter = spelt(*random.pick(&['a', 'e', 'n', 'x', '_', '/', '"', '=']));
    match random.below(4) {
        0 => drop(letters.remove(at)),
        // Before the mark it would be a letter more of a value, which nobody can see.
        1 => letters.insert(at + 1, letter),
        2 => letters[at] = letter,
        _ => letters.swap(at, at + 1),
    }
    letters.into_iter().collect()
}
