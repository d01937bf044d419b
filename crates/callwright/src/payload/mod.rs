//! Payloads: the doors to the tolerant reader for a value and for an argument list inside a longer text. The modules
//! below read the other grammars.

pub(crate) mod elements;
pub(crate) mod plain;
pub(crate) mod relaxed;
pub(crate) mod tagged;
pub(crate) mod value;

use callwright_json::{
    AnyValue, Class, Guide, Kind, Options, Parse, Problem, Reading, Repair, RepairKind, Span, Start,
    is_arguments, read_prefix, read_right, strict_end,
};

/// Returns whether the search for a payload's end may go on, after `passed` bytes in a text of `len`. Unclosed payloads
/// are open up to the end of the text, and would cost the square of its length.
pub(crate) fn may_pass(passed: usize, len: usize) -> bool {
    const PASSES_PER_BYTE: usize = 8;
    const FREE_PASSES: usize = 1 << 22;
    passed <= PASSES_PER_BYTE * len + FREE_PASSES
}

/// A payload with its readings, and the place behind it.
pub(crate) struct Payload<'t> {
    pub(crate) parse: Parse<'t>,
    pub(crate) end: usize,
}

/// Reads what begins at `from`: a JSON-like value, or the argument list whose `(` stands there into an object.
pub(crate) fn read<'t>(
    start: Start,
    text: &'t str,
    from: usize,
    guide: &dyn Guide,
    options: Options<'_>,
) -> Payload<'t> {
    // The text before the payload does not concern the reader, nor its costs.
    let (base, text, from) = (from, text.get(from..).unwrap_or(""), 0);
    // A payload that is right in its own language (JSON or Python) is read as it stands: a schema that it violates must
    // not bend it into something that fits.
    let plain = read_prefix(text, from, start, &AnyValue, &options);
    let is_python = || start != Start::Value && is_arguments(text, from);
    // `0x10` may be a text.
    let is_number = |repair: &Repair| {
        repair.kind == RepairKind::SwapLiteral && repair.put.contains(|c: char| c.is_ascii_digit())
    };
    let is_as_written = |reading: &Reading<'_>| {
        reading.class() <= Class::Lossless
            && !reading.repairs.iter().any(is_number)
            && (!reading.holds_member(guide) || is_python())
    };
    let as_written = plain.settled().is_some_and(is_as_written);
    let mut parse = if as_written { plain } else { read_prefix(text, from, start, guide, &options) };
    shift(&mut parse, base);
    let end = parse.readings.iter().map(|reading| reading.span.end as usize).max();
    Payload { end: end.unwrap_or(base + text.len()), parse }
}

/// Reads the value that begins at `from`, if it is strict JSON.
pub(crate) fn right(text: &str, from: usize) -> Option<Payload<'_>> {
    let reading = read_right(text.get(from..)?, 0)?;
    let mut parse = Parse { readings: vec![reading], diagnostics: Vec::new() };
    shift(&mut parse, from);
    Some(Payload { end: parse.readings[0].span.end as usize, parse })
}

/// Returns whether the text behind `from` is JSON so far.
pub(crate) fn is_json_up_to(text: &str, from: usize) -> bool {
    /// A literal or an escape at the end of the text began at most so many bytes before.
    const TOKEN: usize = 6;
    strict_end(text, from).is_err_and(|at| text.len() <= at + TOKEN)
}

/// Returns whether several values stand in the text, and none of them is words around another one.
pub(crate) fn holds_several(parse: &Parse<'_>) -> bool {
    parse.diagnostics.iter().any(|diagnostic| diagnostic.problem == Problem::SeveralValues)
}

/// Moves all places in `parse` by `base`, the place of its text.
fn shift(parse: &mut Parse<'_>, base: usize) {
    for reading in &mut parse.readings {
        reading.span = moved(reading.span, base);
        reading.repairs.iter_mut().for_each(|repair| repair.at = moved(repair.at, base));
    }
    parse.diagnostics.iter_mut().for_each(|diagnostic| diagnostic.at = moved(diagnostic.at, base));
}

fn moved(at: Span, base: usize) -> Span {
    Span::new(base + at.start as usize, base + at.end as usize)
}

/// Returns the only reading of `parse`, if that is an object.
pub(crate) fn settled_object<'p, 't>(parse: &'p Parse<'t>) -> Option<&'p Reading<'t>> {
    parse.settled().filter(|reading| reading.value().kind() == Kind::Object)
}
