//! Tells call expressions that are statements from parts of other code, which nobody runs, by the rest of the line:
//! `if ready: f()`, `x && f()`, `f() + 1`, `f()?`.

use crate::syntax::beginning;

/// Words at the head of a line of code that give the code behind them a condition, a loop or a name.
const HEADS: [&str; 22] = [
    "if", "elif", "else", "for", "while", "do", "switch", "case", "match", "default", "try", "except",
    "catch", "finally", "with", "async", "def", "class", "lambda", "function", "func", "fn",
];
/// The word for a function without a name, anywhere in a line: `x = lambda: f()`.
const LAMBDA: &str = "lambda";
/// Most bytes of a line that are read.
const MAX_HEAD: usize = 256;

/// Signs at the end of a line that join the code behind them to it.
const OPERATORS: [&str; 18] =
    ["&&", "||", "=>", "+", "^", "&", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^="];

/// Returns whether `head`, the line before an expression, makes it a part of other code. A quoted expression is a text
/// in more places: `x = "f()"`.
pub(super) fn is_operand(head: &str, is_quoted: bool) -> bool {
    let line = head.trim_end();
    let is_glued = line.len() == head.len();
    let line = line.trim_start();
    let ends_in = |signs: &[&str]| signs.iter().any(|sign| line.ends_with(sign));
    let is_text = match is_quoted {
        true => ends_in(&["=", "("]),
        false => is_glued && ends_in(&["\"", "'"]),
    };
    // `{'a': f()}`
    let is_member = line.starts_with('{') && line.ends_with(':');
    is_text || is_member || is_glued && ends_in(&["!", "@"]) || ends_in(&OPERATORS) || is_headed(line)
}

/// Returns whether `line` begins with a condition or a loop for the code behind it, `if x:`, `while (x)`, or ends in a
/// function without a name.
fn is_headed(line: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let line = beginning(line, MAX_HEAD).trim_start_matches(['}', ' ']);
    let word = line.split(|c: char| !is_word(c)).next().unwrap_or("");
    line.ends_with([':', ')', '{'])
        && (HEADS.contains(&word) || line.split(|c: char| !is_word(c)).any(|word| word == LAMBDA))
        || word == "else" && line.len() == word.len()
}

/// The text behind an expression on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    /// The text makes the expression a part of other code.
    Code,
    /// The text is a question mark.
    Question,
    /// The text is anything else, or nothing.
    Other,
    /// More text must decide.
    Unknown,
}

/// Returns the effect of `rest`, the text right behind an expression.
pub(super) fn follows(rest: &str) -> Follows {
    let line = rest.trim_start_matches(' ');
    let is_glued = line.len() == rest.len();
    let mut signs = line.chars();
    let Some(first) = signs.next() else { return Follows::Unknown };
    let next = signs.next();
    let is_it = |is: bool| if is { Follows::Code } else { Follows::Other };
    match (first, next) {
        ('+' | '^' | '{' | '=', _) => Follows::Code,
        _ if is_question_mark(first) => Follows::Question,
        ('(', _) => is_it(is_glued),
        ('.' | '[' | '&' | '|' | '<' | '>' | '-' | '%', None) => Follows::Unknown,
        // `f().x`, not `f(). It is …` or `f()...`
        ('.', Some(next)) => is_it(is_glued && (next.is_alphabetic() || next == '_')),
        // `f()[0]`
        ('[', Some(next)) => is_it(is_glued && (next.is_ascii_digit() || matches!(next, '"' | '\'' | '-'))),
        ('&' | '|', Some(next)) => is_it(next == first),
        ('<' | '>' | '%', Some(next)) => is_it(next == ' ' || next == '='),
        ('-', Some(next)) => is_it(next == '>'),
        _ => Follows::Other,
    }
}

/// Returns whether `sign` is a question mark of any script.
fn is_question_mark(sign: char) -> bool {
    matches!(sign, '?' | '？' | '؟' | '﹖' | '︖' | '⁇' | '⁈' | '⸮' | '՞' | '፧' | '\u{37e}')
}
