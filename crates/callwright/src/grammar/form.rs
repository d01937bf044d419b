//! How a dialect writes calls whose arguments stand in marks.

use super::template::pieces;
use super::{Arguments, Calls, fold};

/// The marks of a dialect. `{}` stands for the name of the tool or the key, `⏎` for blanks or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// What stands around all calls.
    pub(crate) section: Option<(String, String)>,
    pub(crate) call: Pieces,
    pub(crate) call_close: String,
    pub(crate) argument: Pieces,
    pub(crate) argument_close: String,
}

/// What stands before a name and behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    pub(crate) head: String,
    /// The first one is the dialect's own; others leave attributes out or give them another value.
    pub(crate) tails: Vec<String>,
}

/// Between two marks, whatever blanks stand there.
pub(crate) const BLANKS: char = '⏎';
/// The same as a text.
pub(crate) const GAP: &str = "⏎";
/// Where a name stands in a closer.
pub(crate) const NAME: &str = "{}";

impl Pieces {
    /// The dialect's own end of the mark.
    pub(crate) fn tail(&self) -> &str {
        self.tails.first().map_or("", String::as_str)
    }
}

/// The texts of a call with one argument: before the name, between name and key, between key and value, and behind that.
#[derive(Default)]
struct Stretches {
    texts: [String; 4],
    /// How many of them have ended.
    n: usize,
    /// The values that an attribute of an argument's opener has, its own first.
    values: &'static [&'static str],
}

/// The words for the types of JSON, a text's first.
const TYPES: &[&str] = &["string", "number", "integer", "boolean", "array", "object", "null"];

impl Stretches {
    /// Of a call and its argument; `None` where a slot may hold anything, or a name, a key or a value is missing.
    fn of(calls: &Calls, argument: &str) -> Option<Stretches> {
        let mut all = Stretches::default();
        for template in [&calls.open, &calls.call, &calls.close] {
            all.add(template, argument)?;
        }
        (all.n == 3).then_some(all)
    }

    fn add(&mut self, template: &str, argument: &str) -> Option<()> {
        for (text, slot) in pieces(template) {
            let n = self.n;
            self.texts[n].push_str(text);
            match (slot, n) {
                ("arguments", _) => self.add(argument, "")?,
                ("name", 0) | ("key", 1) | ("value", 2) => self.n += 1,
                ("name" | "key", _) => self.texts[n].push_str(NAME),
                ("index", _) => self.texts[n].push('0'),
                ("number", _) => self.texts[n].push('1'),
                ("type", 2) => self.add_values(TYPES),
                ("is_text", 2) => self.add_values(&["true", "false"]),
                ("", _) => {}
                _ => return None,
            }
        }
        Some(())
    }

    fn add_values(&mut self, values: &'static [&'static str]) {
        self.values = values;
        self.texts[2].push_str(NAME);
    }
}

impl Form {
    /// The form of `calls`; `None` where their arguments do not stand in tags.
    pub(crate) fn of(calls: &Calls) -> Option<Form> {
        let Stretches { texts: [before, between, behind_key, behind], values, .. } = match &calls.arguments {
            Arguments::Tags(argument) => Stretches::of(calls, argument)?,
            Arguments::Elements(mark) => {
                Stretches::of(calls, &format!("{mark}<{{key}}>{{value}}{mark}</{{key}}>"))?
            }
            Arguments::Json | Arguments::Python(_) | Arguments::Relaxed(_) => return None,
        };
        let [mut before, mut between, behind_key] = [before, between, behind_key].map(|text| {
            let mut marks: Vec<String> = marks(&text).map(str::to_owned).collect();
            // `<call {name}>`: the blank is one of the mark's own.
            if let Some(last) = marks.last_mut().filter(|_| text.ends_with(' ')) {
                last.push(' ');
            }
            marks
        });
        let behind: Vec<String> = marks(&behind).map(str::to_owned).collect();
        let mut behind = behind.into_iter();
        let argument_head = between.pop().filter(|head| head.contains('<'))?;
        let argument_close = behind.next()?;
        let section = match 1 < before.len() && 1 < behind.len() {
            true => Some((before.remove(0), behind.next_back()?)),
            false => None,
        };
        Some(Form {
            section,
            call: Pieces { head: joined(&before)?, tails: vec![joined(&between).unwrap_or_default()] },
            call_close: joined(behind.as_slice())?,
            argument: Pieces { head: argument_head, tails: tails(joined(&behind_key)?, values) },
            argument_close,
        })
    }

    /// What stands in the tag of a call in front of its name.
    pub(crate) fn call_tag(&self) -> &str {
        self.call.head.rsplit(BLANKS).next().unwrap_or("")
    }

    /// What stands in the tag of an argument in front of its key.
    pub(crate) fn argument_tag(&self) -> &str {
        &self.argument.head
    }

    /// The most letters in front of a call, without its name.
    pub(crate) fn longest_opener(&self) -> usize {
        /// Blanks between the marks, and what is twice.
        const ROOM: usize = 32;
        let letters = |mark: &str| mark.chars().count();
        let section = self.section.as_ref().map_or(0, |(open, _)| letters(open));
        section
            + letters(&self.call.head)
            + self.call.tails.iter().map(|tail| letters(tail)).sum::<usize>()
            + ROOM
    }

    /// The folded opener of a call of `name`.
    pub(crate) fn opener(&self, name: &str) -> Vec<char> {
        folded(&self.opener_of(name))
    }

    /// The opener of a call of `name`.
    pub(crate) fn opener_of(&self, name: &str) -> String {
        format!("{}{name}{}", self.call.head, self.call.tail())
    }

    /// The opener of an argument `key`.
    pub(crate) fn argument_of(&self, key: &str) -> String {
        format!("{}{key}{}", self.argument.head, self.argument.tail())
    }

    /// The heads of its openers that say more than a bracket.
    pub(crate) fn heads_of_words(&self) -> impl Iterator<Item = &String> {
        let call = (!self.is_named()).then_some(&self.call.head);
        call.into_iter().chain((!self.closes_by_key()).then_some(&self.argument.head))
    }

    /// The token that an opener begins with, and the closers with another one like it: `<|open|>` of `<|open|>argument key="`.
    pub(crate) fn token(&self) -> Option<&str> {
        let head = &self.argument.head;
        head.find('>').map(|end| &head[..=end]).filter(|token| token.len() < head.len())
    }

    /// Does what closes an argument name it: `</a>`?
    pub(crate) fn closes_by_key(&self) -> bool {
        self.argument_close.contains(NAME)
    }

    pub(crate) fn section_open(&self) -> Vec<char> {
        self.section.as_ref().map_or_else(Vec::new, |(open, _)| folded(open))
    }

    /// The marks behind a call of `name`, and behind all calls.
    pub(crate) fn closers(&self, name: &str) -> impl Iterator<Item = String> {
        let call = self.call_close.split(BLANKS).map(move |mark| mark.replace(NAME, name));
        call.chain(self.section.iter().map(|(_, close)| close.clone()))
    }

    /// Do calls begin with nothing but a name in brackets?
    pub(crate) fn is_named(&self) -> bool {
        self.call.head.len() == 1
    }

    /// What its calls may begin with, folded, as far as that is the same for all of them.
    pub(crate) fn heads(&self) -> impl Iterator<Item = Vec<char>> {
        let section = self.section.as_ref().map(|(open, _)| folded(open));
        let call = (!self.is_named()).then(|| folded(&self.call.head));
        section.into_iter().chain(call)
    }
}

/// A mark without blanks, as it is compared.
pub(crate) fn folded(mark: &str) -> Vec<char> {
    let solid: String = mark.chars().filter(|c| *c != BLANKS).collect();
    fold::folded(&solid)
}

/// The marks of `text`: a new one begins at each `<` behind a blank or behind `>`, and at `]<`.
pub(crate) fn marks(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let begins = |at: &usize| match &bytes[at - 1..] {
        [before, b'<', ..] => before.is_ascii_whitespace() || *before == b'>',
        [_, b']', b'<', ..] => true,
        _ => false,
    };
    let ends = (1..bytes.len()).filter(move |at| begins(at)).chain([bytes.len()]);
    let marks = ends.scan(0, move |from, end| text.get(std::mem::replace(from, end)..end));
    marks.map(str::trim).filter(|mark| !mark.is_empty())
}

fn joined(marks: &[String]) -> Option<String> {
    (!marks.is_empty()).then(|| marks.join(GAP))
}

/// `" string="true">`, and also `" string="false">` and `">`: an attribute has another of its `values`, or is left out.
fn tails(tail: String, values: &[&str]) -> Vec<String> {
    let mut tails: Vec<String> = values.iter().map(|value| tail.replace(NAME, value)).collect();
    if let (Some(attribute), Some(end)) = (tail.find("\" "), tail.rfind('"'))
        && attribute < end
    {
        tails.push(format!("{}{}", &tail[..attribute], &tail[end..]));
    }
    if values.is_empty() {
        tails.insert(0, tail);
    }
    tails
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(call: &str, arguments: Arguments) -> [String; 6] {
        let form = Form::of(&Calls { call: call.to_owned().into(), arguments, ..Calls::default() }).unwrap();
        let pieces = |pieces: &Pieces| format!("{}{NAME}{}", pieces.head, pieces.tails.join(" or "));
        let (open, close) = form.section.clone().unwrap_or_default();
        [open, pieces(&form.call), pieces(&form.argument), form.argument_close, form.call_close, close]
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
            ["", "<tool_call>{}", "<arg_key>{}</arg_key>⏎<arg_value>", "</arg_value>", "</tool_call>", ""]
        );
        assert_eq!(
            form(
                "<b>\n<c>t<s><i name=\"{name}\">{arguments}</i><e>\n</b>",
                tags("<p name=\"{key}\" string=\"{is_text}\">{value}</p>")
            ),
            [
                "<b>",
                "<c>t<s>⏎<i name=\"{}\">",
                "<p name=\"{}\" string=\"true\"> or \" string=\"false\"> or \">",
                "</p>",
                "</i>⏎<e>",
                "</b>"
            ]
        );
        assert_eq!(
            form("<{name}>\n{arguments}</{name}>", Arguments::Elements("".into())),
            ["", "<{}>", "<{}>", "</{}>", "</{}>", ""]
        );
        let calls = Calls { call: "<c>{name}{arguments}</c>".into(), ..Calls::default() };
        assert_eq!(Form::of(&calls), None);
    }
}
