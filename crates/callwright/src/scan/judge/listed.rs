//! Reads calls that are written as lists: the name, then the arguments of a call expression.
//!
//! `['f', a=1]`, `['f', 'a': 1]`, `('f', 'a=1', 'b="x"')`, `tools.call(f, a=1)`. The text behind the name goes in; the
//! argument list of a call expression comes out.

use callwright_json::{AnyValue, Class, Kind, Options, Start};

use crate::payload;
use crate::syntax::Incomplete;
use crate::tools::Tool;
use crate::tools::names::leading_name;

/// Returns whether keyword arguments for `tool` begin at `at`.
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

/// Returns the argument list that `arguments` mean, if each is the text of a keyword argument: `'a=1', 'b=2'`.
pub(super) fn keywords(arguments: &str, tool: &Tool, options: Options<'_>) -> Option<String> {
    let list = format!("[{arguments}]");
    let read = payload::read(Start::Value, &list, 0, &AnyValue, options);
    // `[a=None]` is not a list of texts, though it reads as one.
    let reading = read.parse.settled().filter(|reading| reading.class() <= Class::Lossless)?;
    let value = reading.value();
    let mut texts: Vec<String> = Vec::new();
    for element in value.elements() {
        let text = element.as_str().filter(|text| begin(text, 0, tool) == Ok(true))?;
        texts.push(text.into_owned());
    }
    (value.kind() == Kind::Array && !texts.is_empty()).then(|| format!("({})", texts.join(", ")))
}
