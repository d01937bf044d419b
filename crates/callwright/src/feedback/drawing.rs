//! A line of a text with a caret under the suspect place.

use callwright_json::Span;

/// Most characters of a line in a drawing.
const WIDTH: usize = 100;
/// Number of them before the place, on a longer line.
const BEFORE: usize = 60;

/// The line and the column of a place, both from 1, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Characters before the place, in the whole text.
    pub offset: usize,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// Returns the position of byte `at` of `text`; of the end, if `at` lies behind it.
    pub fn of(text: &str, at: usize) -> Position {
        let before = text.get(..at).unwrap_or(text);
        Position {
            offset: before.chars().count(),
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
        }
    }
}

/// Draws two lines: the line of `text` in which `at` begins, and carets under `at` with the label behind them.
///
/// ```text
///   {"a": 1}}
///           ^ one closing bracket too many
/// ```
pub(super) fn draw(text: &str, at: Span, label: &str) -> String {
    let Position { line, column, .. } = Position::of(text, at.range().start);
    let (line, column) = (text.lines().nth(line - 1).unwrap_or(""), column - 1);
    let from = if line.chars().nth(WIDTH).is_none() { 0 } else { column.saturating_sub(BEFORE) };
    let indent = column - from + usize::from(from != 0);
    let width = at.of(text).lines().next().unwrap_or("").chars().count().clamp(1, WIDTH);
    let width = width.min((from + WIDTH).saturating_sub(column).max(1));
    let (head, shown, tail) = window(line, from, WIDTH);
    format!("  {head}{shown}{tail}\n  {:indent$}{} {label}", "", "^".repeat(width))
}

/// Returns the `len` characters of `text` from the character `from` on, on one line, with dots for the parts before and
/// behind.
pub(super) fn window(text: &str, from: usize, len: usize) -> (&'static str, String, &'static str) {
    let dots = |is_left_out: bool| if is_left_out { "…" } else { "" };
    // Tabs and other control characters would move a caret away from its place.
    let one_column = |c: char| if c.is_control() { ' ' } else { c };
    let shown = text.chars().skip(from).take(len).map(one_column).collect();
    (dots(from != 0), shown, dots(text.chars().nth(from + len).is_some()))
}
