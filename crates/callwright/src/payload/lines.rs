//! Arguments as `key: value` lines, the part of YAML that models write: nested blocks and lists, quoted and bare scalars,
//! `|` and `>` texts, JSON in braces and brackets.
//!
//! In goes the text of one block, out comes its JSON, each bare scalar typed by the schema. What YAML could read in
//! another way than it looks (tabs, anchors, tags, values that go on in the next line) is not read at all.

use callwright_json::{Guide, Place, quote, strict};

use super::value::{json, json_of as scalar_of, place_of};
use crate::syntax::Typing;

/// The most levels.
const MAX_LEVELS: usize = 64;

/// A block that goes on.
struct Block {
    /// The column of its entries.
    column: usize,
    is_list: bool,
    place: Option<Place>,
    /// The members, or the elements with empty keys.
    entries: Vec<(String, String)>,
    /// The key of the value that is to come.
    open: Option<String>,
}

/// A line that says something.
struct Line<'t> {
    column: usize,
    text: &'t str,
    /// Where the next line begins.
    end: usize,
}

/// The JSON of the block `text`, whose members are those of an object at `place`; `None` where it is no such block.
pub(crate) fn json_of(text: &str, guide: &dyn Guide, place: Place) -> Option<String> {
    // `arguments: {city: Paris}`
    let flow = text.trim();
    if flow.starts_with('{') {
        return json(flow, guide, Some(place));
    }
    let mut blocks: Vec<Block> = Vec::new();
    let mut at = 0;
    while let Some(line) = line_at(text, at)? {
        at = line.end;
        close(&mut blocks, &line)?;
        let (mut column, mut rest) = (line.column, line.text);
        loop {
            let element = rest.strip_prefix("- ").or((rest == "-").then_some(""));
            let member = if element.is_none() { key_of(rest) } else { None };
            // `city:⏎  Paris`
            if element.is_none()
                && member.is_none()
                && let Some(block) = blocks.last_mut().filter(|block| block.column < column)
            {
                let json = scalar(rest, guide, block.place_of_open(guide))?;
                let key = block.open.take()?;
                block.entries.push((key, json));
                break;
            }
            let is_new = blocks.last().is_none_or(|block| {
                block.column < column || block.open.is_some() && element.is_some() && !block.is_list
            });
            if is_new {
                let place = match blocks.last() {
                    None => Some(place),
                    Some(parent) => parent.place_of_open(guide),
                };
                let is_list = element.is_some();
                if MAX_LEVELS <= blocks.len() || blocks.is_empty() && is_list {
                    return None;
                }
                blocks.push(Block { column, is_list, place, entries: Vec::new(), open: None });
            }
            let block = blocks.last_mut().filter(|block| block.is_list == element.is_some())?;
            let value = match element {
                Some(value) => {
                    block.open = Some(String::new());
                    value
                }
                None => {
                    let (key, value) = member?;
                    if block.entries.iter().any(|(known, _)| *known == key) {
                        return None;
                    }
                    block.open = Some(key);
                    value
                }
            };
            let value = value.trim_start();
            if value.is_empty() || value.starts_with('#') {
                break;
            }
            // `- sku: A1`: a block that begins in the line of its dash.
            if element.is_some() && (key_of(value).is_some() || value.starts_with("- ")) {
                column += rest.len() - value.len();
                rest = value;
                continue;
            }
            let json = match value.strip_prefix(['|', '>']) {
                Some(mode) => {
                    let (content, end) = literal(text, at, block.column, value.starts_with('>'), mode)?;
                    at = end;
                    quote(&content)
                }
                None => scalar(value, guide, block.place_of_open(guide))?,
            };
            let key = block.open.take()?;
            block.entries.push((key, json));
            break;
        }
    }
    let end = Line { column: 0, text: "", end: text.len() };
    close(&mut blocks, &end)?;
    while 1 < blocks.len() {
        fold(&mut blocks)?;
    }
    match blocks.pop() {
        Some(block) => block.json(),
        None => Some("{}".to_owned()),
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

/// Ends the blocks that `line` does not belong to.
fn close(blocks: &mut Vec<Block>, line: &Line<'_>) -> Option<()> {
    let is_element = line.text.starts_with("- ") || line.text == "-";
    while let Some(block) = blocks.last_mut() {
        // What has no value when the next entry comes is nothing.
        let goes_deeper =
            block.column < line.column || is_element && !block.is_list && block.column == line.column;
        if (line.text.is_empty() || !goes_deeper)
            && let Some(key) = block.open.take()
        {
            block.entries.push((key, "null".to_owned()));
        }
        if line.text.is_empty() {
            return Some(());
        }
        let is_here = block.column == line.column && (block.is_list == is_element || is_element);
        if is_here || block.column < line.column {
            return (is_here || block.open.is_some()).then_some(());
        }
        if blocks.len() < 2 {
            return None;
        }
        fold(blocks)?;
    }
    Some(())
}

/// Makes the innermost block the value of the one around it.
fn fold(blocks: &mut Vec<Block>) -> Option<()> {
    let json = blocks.pop()?.json()?;
    let parent = blocks.last_mut()?;
    let key = parent.open.take()?;
    parent.entries.push((key, json));
    Some(())
}

impl Block {
    /// Where the value that is to come stands.
    fn place_of_open(&self, guide: &dyn Guide) -> Option<Place> {
        let (place, key) = (self.place?, self.open.as_deref()?);
        if self.is_list {
            Some(guide.element(place, self.entries.len()))
        } else {
            place_of(guide, place, key)
        }
    }

    fn json(self) -> Option<String> {
        if self.open.is_some() {
            return None;
        }
        let entries: Vec<String> = match self.is_list {
            true => self.entries.into_iter().map(|(_, json)| json).collect(),
            false => self.entries.iter().map(|(key, json)| format!("{}: {json}", quote(key))).collect(),
        };
        let inside = entries.join(", ");
        Some(if self.is_list { format!("[{inside}]") } else { format!("{{{inside}}}") })
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
fn scalar(text: &str, guide: &dyn Guide, place: Option<Place>) -> Option<String> {
    match text.as_bytes().first()? {
        b'{' | b'[' => json(text, guide, place),
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
            is_plain.then(|| scalar_of(text.trim(), Typing::Schema, guide, place))
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
    let mut text = String::new();
    let mut before: Option<&str> = None;
    let mut n_breaks = 0;
    for &line in lines {
        if !line.is_empty() {
            let is_laid_out = |line: &str| line.starts_with([' ', '\t']);
            match before {
                None => text.push_str(&"\n".repeat(n_breaks)),
                Some(before) if is_laid_out(before) || is_laid_out(line) => {
                    text.push_str(&"\n".repeat(n_breaks));
                }
                Some(_) if n_breaks == 1 => text.push(' '),
                Some(_) => text.push_str(&"\n".repeat(n_breaks - 1)),
            }
            text.push_str(line);
            (before, n_breaks) = (Some(line), 0);
        }
        n_breaks += 1;
    }
    text
}
