//! The marks of a dialect whose arguments stand in marks.

use std::sync::OnceLock;

use super::near::Fixed;
use super::template::pieces;
use super::{Arguments, Calls, Sequence, fold};
use crate::syntax::Typing;

/// The marks of a dialect. `{}` stands for the name of the tool or the key. Any blank, or none, stands between two of
/// [`marks`].
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// The marks around all calls.
    pub(crate) section: Option<(Sequence, Sequence)>,
    pub(crate) call: Pieces,
    pub(crate) call_close: Sequence,
    pub(crate) argument: Pieces,
    pub(crate) argument_close: Sequence,
    /// The closers of a call one by one, and behind them that of the section.
    pub(crate) over: Vec<Sequence>,
    /// Made when a value is first searched.
    fixed: OnceLock<Fixed>,
}

/// The texts before a name and behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    pub(crate) head: Sequence,
    /// The ends of the mark, each with the type that it gives the value behind it. The first one is the dialect's own;
    /// others give an attribute another value.
    pub(crate) tails: Vec<Tail>,
    /// The number of ends, from the first, that a text may hold in pieces: one without its attribute is a piece of
    /// these.
    pub(crate) n_in_pieces: usize,
}

/// The sign for a name in a mark.
pub(crate) const NAME: &str = "{}";

impl Pieces {
    /// Returns the dialect's own end of the mark.
    pub(crate) fn tail(&self) -> &str {
        self.tails.first().map_or("", |(tail, _)| tail)
    }

    /// Returns the mark with this `name` in it.
    pub(crate) fn with(&self, name: &str) -> String {
        [&*self.head, name, self.tail()].concat()
    }
}

/// The texts of a call with one argument, by their places in its templates.
#[derive(Default)]
pub(super) struct Texts {
    /// The text before the first call.
    pub(super) open: String,
    /// The text between `open` and the name, and the text between the name and the arguments.
    pub(super) front: String,
    pub(super) rest: String,
    /// The texts before the key, between the key and the value, and behind the value.
    argument: [String; 3],
    /// The text behind the arguments, and the text behind the last call.
    pub(super) end: String,
    pub(super) close: String,
    /// The values that an attribute of an argument's opener may have, its own first.
    values: &'static [&'static str],
}

/// The words for the types of JSON, a text's first.
const TYPES: &[&str] = &["string", "number", "integer", "boolean", "array", "object", "null"];
/// Further words for types in the marks of a caller's own: `text=true`.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "string", "true", "str", "text", "number", "integer", "boolean", "array", "object", "null", "false",
    "float", "int", "bool", "list", "dict", "json",
];

impl Texts {
    /// Cuts the templates of a call and of its `argument`, which may be empty. `None` if a slot may hold anything, or
    /// one is missing.
    pub(super) fn of(calls: &Calls, argument: &str) -> Option<Texts> {
        let (call, end) = calls.call.split_once("{arguments}")?;
        let slots = [("{name}", ""), ("{json_name}", "\"")];
        let (at, slot, quote) =
            slots.iter().filter_map(|(slot, quote)| Some((call.find(slot)?, *slot, *quote))).min()?;
        let (front, rest) = (&call[..at], &call[at + slot.len()..]);
        let mut all = Texts {
            open: fixed(&calls.open)?,
            front: fixed(front)? + quote,
            rest: quote.to_owned() + &fixed(rest)?,
            end: fixed(end)?,
            close: fixed(&calls.close)?,
            ..Texts::default()
        };
        if !argument.is_empty() {
            let (head, behind) = argument.split_once("{key}")?;
            let (tail, close) = behind.split_once("{value}")?;
            for (word, values) in
                [("{type}", WORDS), ("\"{type}\"", TYPES), ("{is_text}", &["true", "false"])]
            {
                if tail.contains(word) {
                    all.values = values;
                }
            }
            let tail = tail.replace("{type}", NAME).replace("{is_text}", NAME);
            all.argument = [fixed(head)?, fixed(&tail)?, fixed(close)?];
        }
        Some(all)
    }
}

/// Returns the marks of a piece of a template, with [`NAME`] for a name; `None` if a slot may hold anything.
fn fixed(template: &str) -> Option<String> {
    let mut all = String::new();
    for (text, slot) in pieces(template) {
        all.push_str(text);
        all.push_str(match slot {
            "name" | "json_name" | "key" => NAME,
            "index" => "0",
            "number" => "1",
            "" => "",
            _ => return None,
        });
    }
    Some(all)
}

impl Form {
    /// Compiles the form of `calls`; `None` if their arguments do not stand in tags.
    pub(crate) fn of(calls: &Calls) -> Option<Form> {
        let texts = match &calls.arguments {
            Arguments::Tags(argument) => Texts::of(calls, argument)?,
            Arguments::Elements(mark) => {
                Texts::of(calls, &format!("{mark}<{{key}}>{{value}}{mark}</{{key}}>"))?
            }
            Arguments::Json | Arguments::Python(_) | Arguments::Relaxed(_) => return None,
        };
        let Texts { open, front, rest, argument: [head, behind_key, behind], end, close, values } = texts;
        let mut around: Vec<&str> = [&*end, &close].into_iter().flat_map(marks).collect();
        // `<tool_call>⏎<function={name}>`: the template of a call holds the section.
        let before = [open, front].map(|text| text.trim_start().to_owned());
        let (section, front) = match (&*before[0], split_first(&before[1])) {
            (open, _) if !open.is_empty() && 1 < around.len() => {
                (Some((open.trim(), around.pop()?)), &*before[1])
            }
            (_, Some((open, front))) if 1 < around.len() => (Some((open, around.pop()?)), front),
            _ => (None, &*before[1]),
        };
        // `<call {name}>`: the blank belongs to the mark.
        let edged = |text: &str| Sequence::new(text.trim_start().trim_end_matches('\n'));
        let (call, call_close) = (edged(front), Sequence::new(&around.join("\n")));
        // `BEGIN_ARG: {key}⏎{value}`: the line break is the mark.
        let behind_key = if behind_key == "\n" { behind_key } else { edged(&behind_key).to_string() };
        let argument = Pieces {
            head: edged(&head),
            tails: tails(&behind_key, values),
            n_in_pieces: values.len().max(1),
        };
        let argument_close = Sequence::new(behind.trim());
        let is_whole = [&*call, &call_close, &argument.head, argument.tail(), &argument_close];
        let section = section.map(|(open, close)| (Sequence::new(open), Sequence::new(close)));
        let closers = around.into_iter().map(Sequence::new);
        is_whole.iter().all(|text| !text.is_empty()).then(|| Form {
            over: closers.chain(section.iter().map(|(_, close)| close.clone())).collect(),
            section,
            call: Pieces { head: call, tails: numbered(rest.trim()), n_in_pieces: 1 },
            call_close,
            argument,
            argument_close,
            fixed: OnceLock::new(),
        })
    }

    /// Returns its marks without a name.
    pub(crate) fn fixed(&self) -> &Fixed {
        self.fixed.get_or_init(|| Fixed::of(self))
    }

    /// Returns the text of a call's tag in front of its name.
    pub(crate) fn call_tag(&self) -> &str {
        marks(&self.call.head).last().unwrap_or("")
    }

    /// Returns the openers of its calls: the mark of their section, and that of a call up to its name.
    pub(crate) fn openers(&self) -> impl DoubleEndedIterator<Item = &Sequence> {
        self.section.iter().map(|(open, _)| open).chain((!self.is_named()).then_some(&self.call.head))
    }

    /// Returns whether arguments open with tokens of a vocabulary, which a text does not spell by chance:
    /// `<|open|>argument key="`.
    pub(crate) fn is_of_tokens(&self) -> bool {
        self.argument.head.contains(['|', '｜', ']']) || 1 < marks(self.argument.tail()).count()
    }

    /// Returns the openers of calls of these `names`, with each end, with and without the opener of their section.
    pub(crate) fn all_openers(&self, names: &[&str]) -> impl Iterator<Item = String> {
        let sections = self.section.iter().map(|(open, _)| &**open).chain([""]);
        let fronts = sections.map(|open| format!("{open}{}", &*self.call.head));
        let named = fronts.flat_map(move |front| names.iter().map(move |name| format!("{front}{name}")));
        named.flat_map(|front| self.call.tails.iter().map(move |(tail, _)| format!("{front}{}", &**tail)))
    }

    /// Returns the token at the start of an opener, if the closers begin with one like it: `<|open|>` of
    /// `<|open|>argument key="`.
    pub(crate) fn token(&self) -> Option<&str> {
        let head = &self.argument.head;
        head.find('>').map(|end| &head[..=end]).filter(|token| token.len() < head.len())
    }

    /// Returns whether arguments open with no more than letters, as in `BEGIN_ARG: a`. Such marks are not read with slips.
    pub(crate) fn is_in_letters(&self) -> bool {
        !self.argument.head.starts_with(['<', ']'])
    }

    /// Returns whether the closer of an argument names it: `</a>`.
    pub(crate) fn closes_by_key(&self) -> bool {
        self.argument_close.contains(NAME)
    }

    /// Returns whether its arguments are plain elements: `<a>x</a>`.
    pub(crate) fn is_of_elements(&self) -> bool {
        &*self.argument.head == "<"
    }

    /// Returns the marks behind a call of `name`, and behind all calls.
    pub(crate) fn closers(&self, name: &str) -> impl Iterator<Item = String> {
        self.over.iter().map(move |mark| mark.replace(NAME, name))
    }

    /// Returns whether calls begin with nothing but a name in brackets.
    pub(crate) fn is_named(&self) -> bool {
        self.call.head.len() == 1
    }

    /// Returns the folded beginnings of its calls, as far as all tools share them.
    pub(crate) fn heads(&self) -> impl Iterator<Item = Vec<char>> {
        self.openers().map(|mark| folded(mark))
    }
}

/// Returns the folded letters of the marks in a text, without the blanks between the marks.
pub(crate) fn folded(text: &str) -> Vec<char> {
    let mut all = Vec::with_capacity(text.len());
    all.extend(marks(text).flat_map(fold::folded_letters));
    all
}

/// Returns the marks of `text`: a new one begins at each `<` behind a blank or behind `>`, and at `]<`.
pub(crate) fn marks(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let begins = |at: &usize| match &bytes[at - 1..] {
        [before, b'<', ..] => before.is_ascii_whitespace() || *before == b'>',
        [_, b']', b'<', ..] => true,
        _ => false,
    };
    let ends =
        memchr::memchr2_iter(b'<', b']', bytes).filter(move |at| 0 < *at && begins(at)).chain([bytes.len()]);
    let marks = ends.scan(0, move |from, end| text.get(std::mem::replace(from, end)..end));
    marks.map(str::trim).filter(|mark| !mark.is_empty())
}

/// Returns the first of several marks, and the text behind it.
pub(crate) fn split_first(text: &str) -> Option<(&str, &str)> {
    let mut marks = marks(text);
    let first = marks.next().filter(|_| marks.next().is_some())?;
    Some((first, text.trim_start().strip_prefix(first)?))
}

/// Returns the end of a call's opener with each number of one digit, if it counts the calls: `" index="1"<|sep|>`.
fn numbered(tail: &str) -> Vec<Tail> {
    let digits = if tail.contains("\"1\"") { 1..=9 } else { 1..=1 };
    let tails = digits.map(|digit| tail.replace("\"1\"", &format!("\"{digit}\"")));
    tails.map(|tail| (Sequence::new(&tail), None)).collect()
}

/// The end of an argument's opener, and the type that it gives the value behind it.
pub(crate) type Tail = (Sequence, Option<Typing>);

/// Returns the ends with each of the attribute's `values`, `" string="true">` and `" string="false">`, and without the
/// attribute, `">`.
fn tails(tail: &str, values: &[&str]) -> Vec<Tail> {
    let bare = tail.split_once(NAME).and_then(|(before, behind)| {
        let (rest, name) = before.rsplit_once(' ')?;
        name.ends_with("=\"").then(|| (format!("{rest}{}", behind.strip_prefix('"').unwrap_or(behind)), None))
    });
    let typing = |value: &str| match value {
        "string" | "str" | "text" | "true" => Typing::Text,
        _ => Typing::Json,
    };
    let named = values.iter().map(|value| (tail.replace(NAME, value), Some(typing(value))));
    let alone = values.is_empty().then(|| (tail.to_owned(), None));
    let all = alone.into_iter().chain(named).chain(bare.filter(|_| !values.is_empty()));
    all.map(|(tail, typing)| (Sequence::new(&tail), typing)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(call: &str, arguments: Arguments) -> [String; 6] {
        let form = Form::of(&Calls { call: call.to_owned().into(), arguments, ..Calls::default() }).unwrap();
        let pieces = |pieces: &Pieces| {
            let tails: Vec<&str> = pieces.tails.iter().map(|(tail, _)| &**tail).collect();
            format!("{}{NAME}{}", &*pieces.head, tails.join(" or "))
        };
        let (open, close) = form.section.clone().unwrap_or_default();
        let [call, argument] = [pieces(&form.call), pieces(&form.argument)];
        let [argument_close, call_close] = [form.argument_close.to_string(), form.call_close.to_string()];
        [open.to_string(), call, argument, argument_close, call_close, close.to_string()]
    }

    #[test]
    fn a_template_tells_the_marks() {
        let tags = |template: &'static str| Arguments::Tags(template.into());
        assert_eq!(
            form(
                "<tool_call>\n<function={name}>\n{arguments}</function>\n</tool_call>",
                tags("<parameter={key}>\n{value}\n</parameter>\n")
            ),
            ["<tool_call>", "<function={}>", "<parameter={}>", "</parameter>", "</function>", "</tool_call>"]
        );
        assert_eq!(
            form(
                "<tool_call>{name}\n{arguments}</tool_call>",
                tags("<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n")
            ),
            ["", "<tool_call>{}", "<arg_key>{}</arg_key>\n<arg_value>", "</arg_value>", "</tool_call>", ""]
        );
        assert_eq!(
            form(
                "<b>\n<c>t<s><i name=\"{name}\">{arguments}</i><e>\n</b>",
                tags("<p name=\"{key}\" string=\"{is_text}\">{value}</p>")
            ),
            [
                "<b>",
                "<c>t<s><i name=\"{}\">",
                "<p name=\"{}\" string=\"true\"> or \" string=\"false\"> or \">",
                "</p>",
                "</i>\n<e>",
                "</b>"
            ]
        );
        assert_eq!(
            form("<{name}>\n{arguments}</{name}>", Arguments::Elements("".into())),
            ["", "<{}>", "<{}>", "</{}>", "</{}>", ""]
        );
        let calls = Calls { call: "<c>{name}{arguments}</c>".into(), ..Calls::default() };
        assert!(Form::of(&calls).is_none());
    }
}
