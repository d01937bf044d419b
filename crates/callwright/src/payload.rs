//! Payloads: the doors to the tolerant reader for a value and for an argument list inside a longer text.

use callwright_json::{Guide, Kind, Options, Parse, Reading, Start, read_prefix};

/// A payload that was read: its readings, and the place behind it.
pub(crate) struct Payload<'t> {
    pub(crate) parse: Parse<'t>,
    pub(crate) end: usize,
}

/// Reads the JSON-like value that begins at `from`. With `cut`, the text may end too early.
pub(crate) fn read_json_at<'t>(text: &'t str, from: usize, guide: &dyn Guide, cut: bool) -> Payload<'t> {
    read(text, from, Start::Value, guide, cut)
}

/// Reads the argument list whose `(` stands at `from` into an object.
pub(crate) fn read_arguments_at<'t>(text: &'t str, from: usize, guide: &dyn Guide, cut: bool) -> Payload<'t> {
    read(text, from, Start::Arguments, guide, cut)
}

fn read<'t>(text: &'t str, from: usize, start: Start, guide: &dyn Guide, cut: bool) -> Payload<'t> {
    let parse = read_prefix(text, from, start, guide, &Options { cut });
    let end = parse.readings.iter().map(|reading| reading.span.end as usize).max();
    Payload { end: end.unwrap_or(text.len()), parse }
}

/// The only reading of `parse`, if that is an object.
pub(crate) fn settled_object<'p, 't>(parse: &'p Parse<'t>) -> Option<&'p Reading<'t>> {
    parse.settled().filter(|reading| reading.value().kind() == Kind::Object)
}
