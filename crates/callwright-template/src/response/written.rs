//! Calls as the expressions describe them: their form, and texts that have it.

use callwright::value::Value;

use super::pattern::Piece;
use crate::form::{Form, ID, KEY, NAME, Payload};
use crate::probe::Call;

/// The form in which calls are written.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    /// The texts that may open one: the group `name` is the tool's.
    pub(super) opens: Vec<Vec<Piece>>,
    /// The texts that may close it.
    pub(super) closes: Vec<Vec<Piece>>,
    pub(super) body: Body,
    /// An answer may hold several.
    pub(super) is_repeated: bool,
}

/// The body between the two.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// JSON with the name and the arguments under these keys; perhaps a list of it.
    Named { name: String, arguments: String, is_list: bool },
    /// The arguments as JSON.
    Json,
    /// The arguments as an object with bare keys, and this mark around strings.
    Relaxed(String),
    /// One argument, its key and its value: `<a k=KEY>VALUE</a>`.
    Tags(Vec<Piece>),
}

/// The groups that an argument has.
pub(super) const GROUP_KEY: &str = "key";
pub(super) const GROUP_VALUE: &str = "value";
pub(super) const GROUP_NAME: &str = "name";

impl Calls {
    /// The form of a call, in its first spelling.
    pub(super) fn form(&self) -> Form {
        let first = |ways: Vec<String>| ways.into_iter().next().unwrap_or_default();
        let call = (first(self.openers()), first(self.closers()));
        let (payload, argument, around) = match &self.body {
            Body::Named { .. } => (Payload::Named, Default::default(), Default::default()),
            Body::Json => (Payload::Json, Default::default(), Default::default()),
            Body::Relaxed(mark) => (Payload::Relaxed(mark.clone()), Default::default(), Default::default()),
            Body::Tags(pieces) => {
                let is_element = pieces.contains(&Piece::Same(GROUP_KEY.to_owned()));
                let payload = if is_element { Payload::Elements } else { Payload::Tags };
                let at = pieces.iter().position(|piece| *piece == Piece::Group(GROUP_VALUE.to_owned()));
                let (open, close) = pieces.split_at(at.unwrap_or(pieces.len()));
                let (open, close) = (marked(open), marked(close.get(1..).unwrap_or_default()));
                let lead = open[open.trim_end().len()..].to_owned();
                let trail = close[..close.len() - close.trim_start().len()].to_owned();
                (payload, (open, close), (lead, trail))
            }
        };
        Form { section: Default::default(), call, argument, payload, around }
    }

    pub(super) fn openers(&self) -> Vec<String> {
        self.opens.iter().map(|pieces| marked(pieces)).collect()
    }

    pub(super) fn closers(&self) -> Vec<String> {
        self.closes.iter().map(|pieces| marked(pieces)).collect()
    }

    /// An answer with these words and calls; none where it cannot hold them.
    pub(super) fn written(&self, said: &str, calls: &[Call]) -> Option<String> {
        if calls.is_empty() {
            return Some(said.to_owned());
        }
        if 1 < calls.len() && !self.is_repeated {
            return None;
        }
        let regions: Vec<&[Call]> = match self.body {
            Body::Named { is_list: true, .. } => vec![calls],
            _ => calls.chunks(1).collect(),
        };
        let region = |(n, calls): (usize, &&[Call])| {
            let way = |ways: &[Vec<Piece>]| ways.get(n % ways.len().max(1)).cloned().unwrap_or_default();
            let name = &calls.first()?.name;
            let group = |group: &str| if group == GROUP_NAME { name.clone() } else { "0".to_owned() };
            let open = spelled(&way(&self.opens), &group);
            let close = spelled(&way(&self.closes), &group);
            Some(format!("{open}{}{close}", self.body(calls)?))
        };
        let regions: Vec<String> = regions.iter().enumerate().map(region).collect::<Option<_>>()?;
        let between = if said.is_empty() { "" } else { "\n" };
        Some(format!("{said}{between}{}", regions.join("\n")))
    }

    fn body(&self, calls: &[Call]) -> Option<String> {
        let call = calls.first()?;
        let members = || call.arguments.as_object().into_iter().flatten();
        Some(match &self.body {
            Body::Named { name, arguments, is_list } => {
                let one = |call: &Call| {
                    let keys = [name, arguments].map(|key| Value::from(key.as_str()));
                    format!(
                        "{{{}: {}, {}: {}}}",
                        keys[0],
                        Value::from(call.name.as_str()),
                        keys[1],
                        call.arguments
                    )
                };
                let all: Vec<String> = calls.iter().map(one).collect();
                if *is_list { format!("[{}]", all.join(", ")) } else { all.concat() }
            }
            Body::Json => call.arguments.to_string(),
            Body::Relaxed(mark) => relaxed(&call.arguments, mark),
            Body::Tags(pieces) => {
                // White space at the ends of a value is the markup's there: no text says where one begins.
                let value = pieces.iter().position(|piece| *piece == Piece::Group(GROUP_VALUE.to_owned()))?;
                let is_trimmed = [value.checked_sub(1), Some(value + 1)]
                    .iter()
                    .flatten()
                    .any(|at| pieces.get(*at) == Some(&Piece::Space));
                let is_held = |text: &str| !is_trimmed || text.trim() == text;
                if !members().all(|(_, value)| value.as_str().is_none_or(is_held)) {
                    return None;
                }
                let tag = |(key, value): (&String, &Value)| {
                    let raw = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let kind = match value {
                        Value::String(_) => "string",
                        Value::Number(_) => "number",
                        Value::Bool(_) => "boolean",
                        Value::Array(_) => "array",
                        Value::Object(_) => "object",
                        Value::Null => "null",
                    };
                    spelled(pieces, &|group| match group {
                        GROUP_KEY => key.clone(),
                        GROUP_VALUE => raw.clone(),
                        group if group.contains("type") => kind.to_owned(),
                        _ => value.is_string().to_string(),
                    })
                };
                members().map(tag).collect::<Vec<_>>().join("\n")
            }
        })
    }
}

/// The pieces as a marker with placeholders.
fn marked(pieces: &[Piece]) -> String {
    let sign = |c: char| c.to_string();
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Space => " ".to_owned(),
        Piece::Any => sign(ID),
        Piece::Group(group) | Piece::Same(group) => match group.as_str() {
            GROUP_NAME => sign(NAME),
            GROUP_KEY => sign(KEY),
            group if group == "type" || group.starts_with("is_") || group.ends_with("string") => {
                "{type}".to_owned()
            }
            _ => sign(ID),
        },
    };
    pieces.iter().map(piece).collect()
}

/// A text that the pieces describe.
fn spelled(pieces: &[Piece], group: &dyn Fn(&str) -> String) -> String {
    let is_edge = |at: Option<usize>| {
        let piece = at.and_then(|at| pieces.get(at));
        piece.is_none_or(|piece| *piece == Piece::Group(GROUP_VALUE.to_owned()))
    };
    let piece = |(n, piece): (usize, &Piece)| match piece {
        Piece::Text(text) => text.clone(),
        // Models write a line there; inside a mark it is a blank.
        Piece::Space if is_edge(n.checked_sub(1)) || is_edge(Some(n + 1)) => "\n".to_owned(),
        Piece::Space => " ".to_owned(),
        Piece::Any => String::new(),
        Piece::Group(name) | Piece::Same(name) => group(name),
    };
    pieces.iter().enumerate().map(piece).collect()
}

/// `{a:<|"|>x<|"|>,b:[1]}`
fn relaxed(value: &Value, mark: &str) -> String {
    match value {
        Value::String(text) => format!("{mark}{text}{mark}"),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| relaxed(item, mark)).collect::<Vec<_>>().join(","))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| format!("{key}:{}", relaxed(value, mark));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
        }
        scalar => scalar.to_string(),
    }
}
