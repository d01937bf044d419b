//! Calls written as lists: the name comes first, then what would stand between the parentheses.
//!
//! `['f', a=1]`, `['f', 'a': 1]`, `('f', 'a=1', 'b="x"')`, `tools.call(f, a=1)`. In goes what stands behind the name,
//! out comes the argument list of a call expression.

use callwright_json::{AnyValue, Class, Kind, Options, Start};

use crate::payload;
use crate::syntax::Incomplete;
use crate::tools::Tool;
use crate::tools::names::leading_name;

/// Do keyword arguments for `tool` begin at `at`?
pub(in crate::scan) fn begin(text: &str, at: usize, tool: &Tool) -> Result<bool, Incomplete> {
    let bytes = text.as_bytes();
    let peek = |at: usize| bytes.get(at).copied().ok_or(Incomplete);
    let quote = peek(at)?;
    let from = if matches!(quote, b'"' | b'\'') { at + 1 } else { at };
    let name = leading_name(text.get(from..).unwrap_or(""));
    let end = from + name.len();
    if !tool.declares(name) {
        return if end < bytes.len() { Ok(false) } else { Err(Incomplete) };
    }
    let is_closed = from != at && peek(end)? == quote;
    let sign = if is_closed { end + 1 } else { end };
    let sign = sign + bytes.iter().skip(sign).take(8).take_while(|byte| **byte == b' ').count();
    match peek(sign)? {
        b'=' => Ok(peek(sign + 1)? != b'='),
        b':' => Ok(is_closed),
        _ => Ok(false),
    }
}

/// The call that is meant where each argument is the text of a keyword argument.
pub(super) fn keywords(arguments: &str, tool: &Tool, options: Options<'_>) -> Option<String> {
    let list = format!("[{arguments}]");
    let read = payload::read(Start::Value, &list, 0, &AnyValue, options);
    // `[a=None]` is no list of texts, though it can be read as one.
    let reading = read.parse.settled().filter(|reading| reading.class() <= Class::Lossless)?;
    let value = reading.value();
    let mut texts: Vec<String> = Vec::new();
    for element in value.elements() {
        let text = element.as_str().filter(|text| begin(text, 0, tool) == Ok(true))?;
        texts.push(text.into_owned());
    }
    (value.kind() == Kind::Array && !texts.is_empty()).then(|| format!("({})", texts.join(", ")))
}
