//! Arguments as `key: value` lines, the part of YAML that models write: nested blocks and lists, quoted and bare scalars,
//! `|` and `>` texts, JSON in braces and brackets.
//!
//! In goes the text of one block, out comes its JSON, each bare scalar typed by the schema. What YAML could read in
//! another way than it looks (tabs, anchors, tags, values that go on in the next line) is not read at all.

use callwright_json::{Fuel, Guide, Place, quote, strict};

use super::value::{json, json_of as scalar_of, list_of, object_of, place_of};
use crate::syntax::Typing;

/// The most levels.
const MAX_LEVELS: usize = 64;

/// A line that says something, or what is left of one behind its dash.
#[derive(Clone, Copy)]
struct Line<'t> {
    column: usize,
    text: &'t str,
    /// Where the next line begins.
    end: usize,
}

/// Goes over the lines.
struct Reader<'t, 'g> {
    text: &'t str,
    /// Where the next line begins.
    at: usize,
    guide: &'g dyn Guide,
    fuel: Option<&'g Fuel>,
}

/// The JSON of the block `text`, whose members are those of an object at `place`; `None` where it is no such block.
pub(crate) fn json_of(text: &str, guide: &dyn Guide, place: Place, fuel: Option<&Fuel>) -> Option<String> {
    // `arguments: {city: Paris}`
    let flow = text.trim();
    if flow.starts_with('{') {
        return json(flow, guide, Some(place), fuel);
    }
    let mut reader = Reader { text, at: 0, guide, fuel };
    let Some(first) = line_at(text, 0)? else { return Some("{}".to_owned()) };
    let json = if first.is_element() { None } else { reader.block(first, Some(place), 0) }?;
    line_at(text, reader.at)?.is_none().then_some(json)
}

impl<'t> Reader<'t, '_> {
    /// The JSON of the block whose first entry is `line`, for a value at `place`.
    fn block(&mut self, mut line: Line<'t>, place: Option<Place>, level: usize) -> Option<String> {
        if level == MAX_LEVELS {
            return None;
        }
        let (column, is_list) = (line.column, line.is_element());
        // The members, or the elements with empty keys.
        let mut entries: Vec<(String, String)> = Vec::new();
        loop {
            self.at = line.end;
            let (key, value) = match is_list {
                true => (String::new(), line.text.get(1..)?),
                false => key_of(line.text)?,
            };
            if !is_list && entries.iter().any(|(known, _)| *known == key) {
                return None;
            }
            let place = place.and_then(|place| match is_list {
                true => Some(self.guide.element(place, entries.len())),
                false => place_of(self.guide, place, &key),
            });
            let value = value.trim_start();
            let json = if value.is_empty() || value.starts_with('#') {
                match line_at(self.text, self.at)?.filter(|next| next.is_inside(column, is_list)) {
                    // What has no value when the next entry comes is nothing.
                    None => "null".to_owned(),
                    Some(next) if next.is_entry() => self.block(next, place, level + 1)?,
                    // `city:⏎  Paris`
                    Some(next) => {
                        self.at = next.end;
                        scalar(next.text, self.guide, place, self.fuel)?
                    }
                }
            } else if is_list && (value.starts_with("- ") || key_of(value).is_some()) {
                // `- sku: A1`: a block that begins in the line of its dash.
                let column = column + line.text.len() - value.len();
                self.block(Line { column, text: value, ..line }, place, level + 1)?
            } else if let Some(mode) = value.strip_prefix(['|', '>']) {
                let (content, end) = literal(self.text, self.at, column, value.starts_with('>'), mode)?;
                self.at = end;
                quote(&content)
            } else {
                scalar(value, self.guide, place, self.fuel)?
            };
            entries.push((key, json));
            match line_at(self.text, self.at)? {
                Some(next) if column < next.column => return None,
                Some(next) if next.column == column && next.is_element() == is_list => line = next,
                Some(_) | None => break,
            }
        }
        let entries = entries.iter().map(|(key, json)| (key.as_str(), json));
        Some(if is_list { list_of(entries.map(|(_, json)| json)) } else { object_of(entries) })
    }
}

impl Line<'_> {
    fn is_element(&self) -> bool {
        self.text.starts_with("- ") || self.text == "-"
    }

    fn is_entry(&self) -> bool {
        self.is_element() || key_of(self.text).is_some()
    }

    /// Does it belong to the value of an entry at `column`? The elements of a member may stand below its key.
    fn is_inside(&self, column: usize, is_list: bool) -> bool {
        column < self.column || column == self.column && !is_list && self.is_element()
    }
}

/// The next line at or after `from` that says something; `Some(None)` where there is none, `None` where a tab or a
/// document mark says more than is read.
fn line_at(text: &str, mut from: usize) -> Option<Option<Line<'_>>> {
    loop {
        let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) else { return Some(None) };
        let len = rest.find('\n').unwrap_or(rest.len());
        let end = (from + len + 1).min(text.len());
        let line = rest.get(..len)?.trim_end();
        let said = line.trim_start_matches(' ');
        if said.is_empty() || said.starts_with('#') {
            from = end;
            continue;
        }
        if said.starts_with(['\t', '&', '*', '!', '?', '%', '@']) || said == "---" {
            return None;
        }
        return Some(Some(Line { column: line.len() - said.len(), text: said, end }));
    }
}

/// `city: Paris` → `city`, ` Paris`
fn key_of(line: &str) -> Option<(String, &str)> {
    if let Some(quote) = line.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inside = line.get(1..)?;
        let len = inside.find(quote)?;
        let rest = inside.get(len + 1..)?.strip_prefix(':')?;
        let is_plain = !inside.get(..len)?.contains('\\') && (rest.is_empty() || rest.starts_with(' '));
        return is_plain.then(|| (inside[..len].to_owned(), rest));
    }
    let len = line
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| line.get(at + 1..).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))?;
    let key = line.get(..len)?;
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '/');
    (!key.is_empty() && key.chars().all(is_key)).then(|| (key.to_owned(), &line[len + 1..]))
}

/// The JSON of a value on one line.
fn scalar(text: &str, guide: &dyn Guide, place: Option<Place>, fuel: Option<&Fuel>) -> Option<String> {
    match text.as_bytes().first()? {
        b'{' | b'[' => json(text, guide, place, fuel),
        b'"' => {
            let text = without_comment(text);
            strict(text).is_ok().then(|| text.to_owned())
        }
        b'\'' => {
            let inside = without_comment(text).strip_prefix('\'')?.strip_suffix('\'')?;
            let plain = inside.replace("''", "\u{0}");
            (!plain.contains('\'')).then(|| quote(&plain.replace('\u{0}', "'")))
        }
        b'&' | b'*' | b'!' | b'%' | b'@' | b'`' => None,
        _ => {
            let text = without_comment(text);
            // `a: b: c` has no reading.
            let is_plain = !text.contains(": ") && !text.ends_with(':');
            is_plain.then(|| scalar_of(text.trim(), Typing::Schema, guide, place, fuel))
        }
    }
}

/// `Paris # the capital` → `Paris`
fn without_comment(text: &str) -> &str {
    let is_quoted = text.starts_with(['"', '\'']);
    match text.find(" #").filter(|_| !is_quoted) {
        Some(at) => text[..at].trim_end(),
        None => text,
    }
}

/// A text in lines of its own, behind `|` or `>`, and the place behind it. `column` is that of the key.
fn literal(text: &str, from: usize, column: usize, is_folded: bool, mode: &str) -> Option<(String, usize)> {
    let mode = mode.split_once(" #").map_or(mode, |(mode, _)| mode).trim_end();
    let (mut at, mut indent, mut chomp) = (from, None, None);
    for sign in mode.chars() {
        match sign {
            '-' | '+' if chomp.is_none() => chomp = Some(sign),
            '1'..='9' if indent.is_none() => indent = Some(column + sign.to_digit(10)? as usize),
            _ => return None,
        }
    }
    let mut lines: Vec<&str> = Vec::new();
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let len = rest.find('\n').unwrap_or(rest.len());
        let line = rest[..len].strip_suffix('\r').unwrap_or(&rest[..len]);
        let spaces = line.len() - line.trim_start_matches(' ').len();
        if line.trim().is_empty() {
            lines.push(line.get(indent.unwrap_or(spaces)..).unwrap_or(""));
        } else {
            if spaces <= column {
                break;
            }
            let indent = *indent.get_or_insert(spaces);
            lines.push(line.get(indent..).filter(|_| indent <= spaces)?);
        }
        at = (at + len + 1).min(text.len());
    }
    let n_blank = lines.iter().rev().take_while(|line| line.is_empty()).count();
    let said = lines.get(..lines.len() - n_blank)?;
    let mut content = if is_folded { folded(said) } else { said.join("\n") };
    match chomp {
        Some('-') => {}
        Some(_) => content.push_str(&"\n".repeat(1 + n_blank)),
        None if said.is_empty() => {}
        None => content.push('\n'),
    }
    Some((content, at))
}

/// The lines of a folded text as YAML joins them (1.2.2, section 8.1.3): a line break between two lines is a blank, each
/// empty line a line break; breaks around indented lines stay.
fn folded(lines: &[&str]) -> String {
    let is_laid_out = |line: &str| line.starts_with([' ', '\t']);
    let mut text = String::new();
    let mut before: Option<&str> = None;
    let mut n_breaks = 0;
    for &line in lines {
        if !line.is_empty() {
            let is_joined = before.is_some_and(|before| !is_laid_out(before) && !is_laid_out(line));
            match n_breaks {
                1 if is_joined => text.push(' '),
                _ => text.push_str(&"\n".repeat(n_breaks - usize::from(is_joined))),
            }
            text.push_str(line);
            (before, n_breaks) = (Some(line), 0);
        }
        n_breaks += 1;
    }
    text
}
