//! YAML: the parser says where each value stands, and members are put in as text.
//!
//! Blocks get lines, and what stands in brackets gets JSON, which is YAML too. Nothing else is touched: a text that
//! would need more, such as one with references, is refused.

use callwright::value::{Map, Value};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use super::{Lists, below, holds_no, members, name_of};

/// Puts the members, or elements, of `set` into the document that `text` holds.
pub(super) fn merge(text: &str, set: &Value, lists: &Lists) -> Result<String, String> {
    let mut text = Text { text: text.to_owned(), end: if text.contains("\r\n") { "\r\n" } else { "\n" } };
    match (set, lists.get("")) {
        (Value::Array(elements), Some(name)) => {
            for element in elements {
                text.put_element(&[], element, name, "", lists)?;
            }
        }
        (set, _) => {
            for (key, value) in members(set) {
                text.put(&[Step::Key(key)], value, key, lists)?;
            }
        }
    }
    Ok(text.text)
}

/// One step on the way to a value.
#[derive(Clone, Copy, Debug)]
enum Step<'s> {
    /// To the member of this name.
    Key(&'s str),
    /// To the element of this number.
    Element(usize),
}

struct Text {
    text: String,
    /// The end of its lines.
    end: &'static str,
}

impl Text {
    /// Puts one value where the steps lead; the last step is a member.
    fn put(&mut self, steps: &[Step<'_>], value: &Value, at: &str, lists: &Lists) -> Result<(), String> {
        let Some((Step::Key(key), above)) = steps.split_last() else { return Ok(()) };
        let root = self.root()?;
        let parent = root.at(above);
        let there = parent.and_then(|node| node.member(key));
        match (there, value, lists.get(at)) {
            (None, value, _) => self.add_member(parent, key, value, at),
            (Some(node), Value::Object(_), _) if node.is_null() => self.fill(node, value),
            (Some(node), Value::Object(set), _) => {
                if !matches!(node.kind, Kind::Map(_)) {
                    return Err(holds_no(at, "map"));
                }
                self.put_members(steps, set, at, lists)
            }
            (Some(node), Value::Array(_), _) if node.is_null() => self.fill(node, value),
            (Some(node), Value::Array(elements), Some(name)) => {
                if !matches!(node.kind, Kind::List(_)) {
                    return Err(holds_no(at, "list"));
                }
                for element in elements {
                    self.put_element(steps, element, name, at, lists)?;
                }
                Ok(())
            }
            (Some(node), value, _) => self.replace(node, value, at),
        }
    }

    fn put_members(&mut self, steps: &[Step<'_>], set: &Map, at: &str, lists: &Lists) -> Result<(), String> {
        for (key, value) in set {
            self.put(&[steps, &[Step::Key(key)]].concat(), value, &below(at, key), lists)?;
        }
        Ok(())
    }

    /// Puts an element into the list where the steps lead: into the one of its name, or behind the last one.
    fn put_element(
        &mut self,
        steps: &[Step<'_>],
        element: &Value,
        name: &str,
        at: &str,
        lists: &Lists,
    ) -> Result<(), String> {
        let root = self.root()?;
        let Some(list) = root.at(steps).filter(|node| !node.is_null()) else {
            // Only the root may not be there.
            let rows = rows(&Value::Array(vec![element.clone()]), 0);
            return self.add_lines(self.text.len(), &rows);
        };
        let Kind::List(elements) = &list.kind else { return Err(holds_no(at, "list")) };
        let wanted = name_of(element, name);
        let same = elements.iter().position(|element| {
            element.member(name).and_then(Node::scalar).is_some_and(|named| Some(named) == wanted)
        });
        if let (Some(number), Some(set)) = (same, element.as_object()) {
            return self.put_members(&[steps, &[Step::Element(number)]].concat(), set, at, lists);
        }
        match elements.last() {
            _ if list.is_in_brackets => self.add_in_brackets(list, elements.last(), &element.to_string()),
            Some(last) => {
                let column = self.dash(last).ok_or_else(|| holds_no(at, "list that can be added to"))?;
                let rows = rows(&Value::Array(vec![element.clone()]), column);
                self.add_lines(last.last_byte(), &rows)
            }
            None => Err(holds_no(at, "list")),
        }
    }

    fn add_member(
        &mut self,
        parent: Option<&Node>,
        key: &str,
        value: &Value,
        at: &str,
    ) -> Result<(), String> {
        let member = |column| rows(&[(key.to_owned(), value.clone())].into_iter().collect(), column);
        let Some(parent) = parent.filter(|node| !node.is_null()) else {
            return self.add_lines(self.text.len(), &member(0));
        };
        let Kind::Map(there) = &parent.kind else {
            return Err(holds_no(at.rsplit_once('.').map_or("", |(at, _)| at), "map"));
        };
        match there.last() {
            _ if parent.is_in_brackets => {
                let member = format!("{}: {value}", Value::from(key));
                self.add_in_brackets(parent, there.last().map(|(_, value)| value), &member)
            }
            Some((last, value)) => {
                let behind = value.last_byte().max(last.end);
                self.add_lines(behind, &member(parent.column))
            }
            None => Err(holds_no(at, "map")),
        }
    }

    /// Gives a key without a value one.
    fn fill(&mut self, node: &Node, value: &Value) -> Result<(), String> {
        let rows = rows(value, node.column + 2);
        // `key: ~` and `key: null` say it in letters.
        self.text.replace_range(node.start..node.end, "");
        self.add_lines(node.start, &rows)
    }

    fn replace(&mut self, node: &Node, value: &Value, at: &str) -> Result<(), String> {
        match (&node.kind, value) {
            (Kind::Scalar { text, is_block: false, .. }, value) if !value.is_array() => {
                if *text != word(value) {
                    let gap = if node.start == node.end { " " } else { "" };
                    self.text.replace_range(node.start..node.end, &format!("{gap}{}", scalar(value)));
                }
                Ok(())
            }
            (Kind::List(there), Value::Array(elements)) => {
                let is_same = there.len() == elements.len()
                    && there.iter().zip(elements).all(|(node, value)| node.scalar() == Some(&*word(value)));
                match node.is_in_brackets {
                    _ if is_same => Ok(()),
                    true => {
                        self.text.replace_range(node.start..node.end, &value.to_string());
                        Ok(())
                    }
                    false => Err(format!("`{at}` is another list")),
                }
            }
            (Kind::Scalar { .. }, _) => Err(holds_no(at, "list")),
            (Kind::Map(_) | Kind::List(_), _) => Err(holds_no(at, "single value")),
        }
    }

    /// Adds JSON behind the last value in brackets.
    fn add_in_brackets(&mut self, brackets: &Node, last: Option<&Node>, json: &str) -> Result<(), String> {
        match last {
            Some(last) => self.text.insert_str(last.last_byte(), &format!(", {json}")),
            None => self.text.insert_str(brackets.start + 1, json),
        }
        Ok(())
    }

    /// Adds lines behind the line that holds the byte before `at`.
    fn add_lines(&mut self, at: usize, rows: &[String]) -> Result<(), String> {
        let rest = self.text.get(at..).unwrap_or_default();
        let at = rest.find('\n').map_or(self.text.len(), |length| at + length + 1);
        let mut lines: String = rows.iter().map(|row| format!("{row}{}", self.end)).collect();
        if !self.text.get(..at).unwrap_or_default().ends_with('\n') && at != 0 {
            lines.insert_str(0, self.end);
        }
        self.text.insert_str(at, &lines);
        Ok(())
    }

    /// The column of the dash in front of an element.
    fn dash(&self, element: &Node) -> Option<usize> {
        let line = self.text.get(..element.start)?.rsplit('\n').next()?;
        line.find('-').filter(|dash| line.get(..*dash).is_some_and(|blank| blank.trim().is_empty()))
    }

    /// The document's value.
    fn root(&self) -> Result<Node, String> {
        let mut reader = Reader { parser: Parser::new_from_str(&self.text), bytes: Bytes::of(&self.text) };
        reader.document()
    }
}

/// A value and where it stands, in bytes.
#[derive(Debug)]
struct Node {
    start: usize,
    end: usize,
    /// The column of a map's first key, or, of a value that is not there, that of its own key.
    column: usize,
    is_in_brackets: bool,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Scalar { text: String, is_plain: bool, is_block: bool },
    Map(Vec<(Node, Node)>),
    List(Vec<Node>),
}

impl Node {
    fn at(&self, steps: &[Step<'_>]) -> Option<&Node> {
        steps.iter().try_fold(self, |node, step| match (step, &node.kind) {
            (Step::Key(key), _) => node.member(key),
            (Step::Element(number), Kind::List(elements)) => elements.get(*number),
            (Step::Element(_), Kind::Map(_) | Kind::Scalar { .. }) => None,
        })
    }

    fn member(&self, key: &str) -> Option<&Node> {
        let Kind::Map(members) = &self.kind else { return None };
        members.iter().find(|(name, _)| name.scalar() == Some(key)).map(|(_, value)| value)
    }

    fn scalar(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            Kind::Map(_) | Kind::List(_) => None,
        }
    }

    fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, is_plain: true, .. } if matches!(&**text, "" | "~" | "null"))
    }

    /// The byte behind the last one that belongs to it.
    fn last_byte(&self) -> usize {
        match &self.kind {
            _ if self.is_in_brackets => self.end,
            Kind::Scalar { .. } => self.end,
            Kind::Map(members) => {
                members.last().map_or(self.end, |(key, value)| value.last_byte().max(key.end))
            }
            Kind::List(elements) => elements.last().map_or(self.end, Node::last_byte),
        }
    }
}

/// The begin of each character: the parser counts those.
struct Bytes<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl Bytes<'_> {
    fn of(text: &str) -> Bytes<'_> {
        Bytes { text, starts: text.char_indices().map(|(at, _)| at).collect() }
    }

    fn at(&self, marker: Marker) -> usize {
        self.starts.get(marker.index()).copied().unwrap_or(self.text.len())
    }
}

struct Reader<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    bytes: Bytes<'t>,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), String> {
        match self.parser.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(format!("{} on line {}", error.info(), error.marker().line())),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn document(&mut self) -> Result<Node, String> {
        let mut root = None;
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => break,
                (Event::StreamStart | Event::DocumentEnd | Event::Nothing, _) => {}
                (Event::DocumentStart(_), _) => {
                    let event = self.next()?;
                    if root.replace(self.node(event, 0)?).is_some() {
                        return Err(String::from("it holds several documents"));
                    }
                }
                (_, span) => return Err(unexpected(span)),
            }
        }
        let empty = Kind::Scalar { text: String::new(), is_plain: true, is_block: false };
        Ok(root.unwrap_or(Node { start: 0, end: 0, column: 0, is_in_brackets: false, kind: empty }))
    }

    /// The value that begins with this event, behind a key in this column.
    fn node(&mut self, (event, span): (Event<'t>, Span), column: usize) -> Result<Node, String> {
        let (start, mut end) = (self.bytes.at(span.start), self.bytes.at(span.end));
        let bytes = self.bytes.text.as_bytes();
        let node = |kind, end, column| {
            let is_in_brackets =
                !matches!(kind, Kind::Scalar { .. }) && matches!(bytes.get(start), Some(b'{' | b'['));
            Node { start, end, column, is_in_brackets, kind }
        };
        match event {
            Event::Scalar(text, style, 0, None) => {
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                // A block ends behind its blank lines.
                let trimmed = self.bytes.text.get(..end).unwrap_or_default().trim_end().len();
                if is_block && start < trimmed {
                    end = trimmed;
                }
                let is_plain = style == ScalarStyle::Plain;
                Ok(node(Kind::Scalar { text: text.into_owned(), is_plain, is_block }, end, column))
            }
            Event::MappingStart(0, None) => {
                let mut members = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if event == Event::MappingEnd {
                        return Ok(node(Kind::Map(members), self.bytes.at(span.end), self.column(start)));
                    }
                    let column = span.start.col();
                    let key = self.node((event, span), column)?;
                    let event = self.next()?;
                    members.push((key, self.node(event, column)?));
                }
            }
            Event::SequenceStart(0, None) => {
                let mut elements = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if event == Event::SequenceEnd {
                        return Ok(node(Kind::List(elements), self.bytes.at(span.end), column));
                    }
                    elements.push(self.node((event, span), column)?);
                }
            }
            _ => Err(unexpected(span)),
        }
    }

    fn column(&self, at: usize) -> usize {
        let line = self.bytes.text.get(..at).and_then(|before| before.rsplit('\n').next());
        line.map_or(0, |line| line.chars().count())
    }
}

fn unexpected(span: Span) -> String {
    format!("references and tags are not understood: there is one on line {}", span.start.line())
}

/// The lines of a value in a block that begins in this column.
fn rows(value: &Value, column: usize) -> Vec<String> {
    let indent = " ".repeat(column);
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(key, value)| match is_block(value) {
                true => {
                    let head = format!("{indent}{}:", scalar(&Value::from(key.as_str())));
                    [head].into_iter().chain(rows(value, column + 2)).collect::<Vec<_>>()
                }
                false => vec![format!("{indent}{}: {}", scalar(&Value::from(key.as_str())), scalar(value))],
            })
            .collect(),
        Value::Array(elements) => elements
            .iter()
            .flat_map(|element| {
                let mut rows = rows(element, column + 2);
                if let Some(first) = rows.first_mut() {
                    first.replace_range(column..column + 2, "- ");
                }
                rows
            })
            .collect(),
        single => vec![format!("{indent}{}", scalar(single))],
    }
}

/// Returns whether a value takes lines of its own.
fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(elements) => !elements.is_empty(),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => false,
    }
}

/// A value as the parser gives it back.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A value on one line: bare where that cannot be taken for anything else.
fn scalar(value: &Value) -> String {
    let Some(text) = value.as_str() else { return value.to_string() };
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "_-./:@".contains(c);
    let is_bare = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(is_sign)
        && !text.ends_with(':')
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .contains(&&*text.to_ascii_lowercase());
    // 1.0.0 is not a number, and what looks like one is quoted.
    let is_version = 1 < text.matches('.').count() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    if is_bare || is_version { text.to_owned() } else { value.to_string() }
}
