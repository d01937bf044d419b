//! Calls that are spelt in another way as a whole: `{\"name\": …`, `{&quot;name&quot;: …`, `｛"name"： …`, a string that holds one,
//! or one without its first bracket. In goes a text, out comes whether it may be one, by the first word in it.

use callwright_json::spelt_char;

use crate::shape::keys;
use crate::syntax::Incomplete;

/// The most signs that may stand in front of the first key, each in any spelling.
const MAX_SIGNS: usize = 64;
/// The length of the longest spelling of one of them, in bytes: `&quot;`.
const MAX_SPELLING: usize = 6;

/// Does `text` begin with brackets and quotes and then a key of a call? Marks in front of lines, `> {`, `+ {`, `1: {`, show it.
pub(in crate::scan) fn is_begun(text: &str, end: bool) -> Result<bool, Incomplete> {
    let mut rest = text;
    let mut next = || {
        let is_whole = end || MAX_SPELLING <= rest.len() || !rest.starts_with(['&', '%', '=', '\\']);
        let (c, len) = spelt_char(rest).filter(|_| is_whole).ok_or(Incomplete)?;
        rest = rest.get(len..).unwrap_or("");
        Ok(c)
    };
    let (mut before, mut word, mut n_signs) = (' ', String::new(), 0);
    while n_signs < MAX_SIGNS {
        let c = next()?;
        match c {
            _ if c.is_alphabetic() || c == '_' => {
                word.push(c);
                if !is_quote(before) || !keys::all_of_call().any(|key| key.starts_with(&word)) {
                    return Ok(false);
                }
            }
            _ if !word.is_empty() => {
                return Ok(is_quote(c) && keys::is_of_call(&word) && is_behind_key(next()?));
            }
            _ if is_quote(c) || is_bracket(c) || c.is_whitespace() || c == '\\' => {
                (before, n_signs) = (c, n_signs + 1);
            }
            _ => return Ok(false),
        }
    }
    Ok(false)
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '“' | '”' | '„' | '‘' | '’' | '＂')
}

fn is_bracket(c: char) -> bool {
    matches!(c, '{' | '[' | '(' | '｛' | '［' | '（')
}

fn is_behind_key(c: char) -> bool {
    c.is_whitespace() || matches!(c, ':' | '：' | '=')
}
