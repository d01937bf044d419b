//! Finds marks at the head of a line that show it to be a quotation, a table, a patch, a comment, a log or a console.

use crate::dialect::TURNS;
use crate::syntax::beginning;
use crate::syntax::marks::fit;

/// Most bytes of a line that decide its kind.
const MAX_HEAD: usize = 48;

/// Longest place in a file at the head of a line, in bytes.
const MAX_PLACE: usize = 256;

/// The blanks between two words that make columns of them.
const COLUMNS: &str = "   ";

/// The distance between two stops of a tab, in columns.
const TAB: usize = 4;

/// Most digits of a list item's number, as in Markdown.
const MAX_DIGITS: usize = 9;

/// Returns whether `head`, the line before a call, begins with a mark that shows the line.
///
/// Such marks are `> `, `| `, `+`, `-` right before the marked text, `// `, `/* `, `% `, `; `, `$ `, `12⇥`, `12:00 `,
/// `[12] `, `a/b.txt:12:`, `E       text: `, and the head of a turn that is not the model's own. The marks of list
/// items, `- `, `1. `, do not show their lines.
pub(super) fn shows(head: &str) -> bool {
    let is_turn =
        |turn: &&str| turn.ends_with(':') && matches!(fit(head.trim_start().as_bytes(), turn), Ok(Some(_)));
    if is_place(head) || TURNS.iter().any(is_turn) {
        return true;
    }
    let mut head = beginning(head, MAX_HEAD).trim_start();
    while let Some(content) = behind_item(head) {
        head = content.trim_start();
    }
    // With nothing behind a mark of one sign, the call itself is glued to it.
    let is_glued = |rest: &str| !rest.starts_with(char::is_whitespace);
    let mut signs = head.chars();
    let first = signs.next();
    let rest = signs.as_str();
    match first {
        None => false,
        Some('>' | '|' | '│' | '┃' | '║' | '%' | ';' | '＞' | '｜') => true,
        Some('+' | '-') => is_glued(rest),
        Some('/') => rest.starts_with(['/', '*']),
        Some('#') => rest.starts_with(' '),
        Some('$' | '❯' | '➜') => !is_glued(rest),
        Some('[') => {
            rest.split_once(']').is_some_and(|(inside, _)| inside.contains(|c: char| c.is_numeric()))
        }
        Some(c) if c.is_numeric() => is_counted(head),
        Some(_) => ends_in_prompt(head) || has_columns(head),
    }
}

/// Returns the text behind the mark of a list item, `- x`, `1. x`: ` x`.
fn behind_item(line: &str) -> Option<&str> {
    let content = line.get(item_mark(line)?..)?;
    content.starts_with([' ', '\t']).then_some(content)
}

/// Returns the length of a list item's mark, `-`, `1.`, with a blank behind it or nothing yet. Digits that may become
/// such a mark count as one.
pub(super) fn item_mark(line: &str) -> Option<usize> {
    let digits = line.bytes().take(MAX_DIGITS + 1).take_while(u8::is_ascii_digit).count();
    let behind = line.get(digits..)?;
    let mut signs = behind.chars();
    let len = match signs.next() {
        None if 0 < digits && digits <= MAX_DIGITS => return Some(digits),
        Some('-' | '*' | '+' | '•' | '‣' | '·' | '–') if digits == 0 => {
            behind.len() - signs.as_str().len()
        }
        Some('.' | ')') if (1..=MAX_DIGITS).contains(&digits) => digits + 1,
        _ => return None,
    };
    let content = line.get(len..)?;
    (content.is_empty() || content.starts_with([' ', '\t'])).then_some(len)
}

/// Returns the column in which the content of `line` begins, if it is a list item.
pub(super) fn item_content(line: &str) -> Option<usize> {
    let item = line.trim_start();
    let content = behind_item(item)?;
    let blanks = content.len() - content.trim_start_matches([' ', '\t']).len();
    Some(columns(line) + item.chars().count() - content.chars().count() + blanks.min(4))
}

/// Returns the column of the first sign of `line`.
pub(super) fn columns(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| c.is_whitespace());
    blanks.fold(0, |column, blank| if blank == '\t' { (column / TAB + 1) * TAB } else { column + 1 })
}

/// Returns whether `line` makes the deeper lines behind it a text, as in YAML or reStructuredText: `note: |`, `- >-`,
/// `For example::`, `.. code-block:: xml`.
pub(super) fn heads_scalar(line: &str) -> bool {
    let text = line.trim();
    if text.ends_with("::") || text.starts_with(".. ") && text.contains(":: ") {
        return true;
    }
    let line = line.trim_end().trim_end_matches(|c: char| matches!(c, '+' | '-') || c.is_ascii_digit());
    let key = line.strip_suffix(['|', '>']).and_then(|rest| rest.strip_suffix(' ')).unwrap_or("");
    key.ends_with(':') || key.trim_start() == "-"
}

/// Returns whether `head` begins with the number of a line, or with a time: `12⇥`, `12|`, `12:` right before the line,
/// `12:00`, `2026-01-02`.
fn is_counted(head: &str) -> bool {
    let rest = head.trim_start_matches(char::is_numeric);
    let n = head.len() - rest.len();
    let mut signs = rest.chars();
    let is_digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    match (signs.next(), signs.next()) {
        (Some('\t' | '|' | '│'), _) | (Some(':'), None) => true,
        (Some(' '), _) => rest.trim_start().starts_with(['|', '│']),
        (Some(':'), next) => is_digit(next),
        (Some('-' | '/' | '.'), next) => 4 <= n && is_digit(next),
        _ => false,
    }
}

/// Returns whether `head` is a place in a file, right before the text there: `src/a.txt:12:`, `src/a.txt-12-`,
/// `a.txt:`. Behind a number, a blank may stand.
fn is_place(head: &str) -> bool {
    let solid = head.strip_suffix(' ').unwrap_or(head);
    let place = solid.strip_suffix([':', '-']).filter(|_| head.len() <= MAX_PLACE).unwrap_or("");
    if place.is_empty() || place.contains(char::is_whitespace) {
        return false;
    }
    let file = place.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_counted = file.len() < place.len() && file.ends_with([':', '-']) && 1 < file.len();
    let extension = file.rsplit('.').next().filter(|extension| extension.len() < file.len());
    let has_extension =
        extension.is_some_and(|end| 2 <= end.len() && end.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    is_counted || head.ends_with(':') && (has_extension || place.contains(['/', '\\']))
}

/// Returns whether `head` has blanks as between columns behind a word: `E         text: `, `INFO     root `, `E   `.
fn has_columns(head: &str) -> bool {
    let is_behind_word =
        |at: usize| head.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
    head.match_indices(COLUMNS).any(|(at, _)| is_behind_word(at))
}

/// Returns whether `head` ends in the prompt of a console: `user@host:~$ `, `C:\> `.
fn ends_in_prompt(head: &str) -> bool {
    let prompt = head.trim_end();
    let is_prompt = prompt.ends_with(['$', '❯', '➜']) || prompt.ends_with('>') && prompt.contains('\\');
    is_prompt && prompt.len() < head.len()
}
