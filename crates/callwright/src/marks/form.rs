//! How a dialect writes calls whose arguments stand in marks, taken from its example or from the marks that it declares.

use super::fold;
use crate::dialect::Dialect;
use crate::syntax::Text;

/// The marks of a dialect. `{}` stands for the name of the tool or the key, `⏎` for blanks or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// What stands around all calls.
    pub(super) section: Option<(String, String)>,
    pub(super) call: Pieces,
    pub(super) call_close: String,
    pub(super) argument: Pieces,
    pub(super) argument_close: String,
}

/// What stands before a name and behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pieces {
    pub(super) head: String,
    /// The first one is the dialect's own; others leave attributes out or give them another value.
    pub(super) tails: Vec<String>,
}

/// Between two marks, whatever blanks stand there.
pub(super) const BLANKS: char = '⏎';
/// The same as a text.
pub(super) const GAP: &str = "⏎";
/// Where a name stands in a closer.
pub(super) const NAME: &str = "{}";

impl Pieces {
    /// The dialect's own end of the mark.
    pub(super) fn tail(&self) -> &str {
        self.tails.first().map_or("", String::as_str)
    }
}

impl Form {
    /// The form of `example`, which calls `f` with `x` for `a`; `None` for one whose arguments do not stand in tags.
    pub(crate) fn of(example: &str) -> Option<Form> {
        let name = word_at(example, 0, 'f')?;
        let key = word_at(example, name + 1, 'a')?;
        let value = word_at(example, key + 1, 'x')?;
        let mut before = marks(example.get(..name)?);
        let mut between = marks(example.get(name + 1..key)?);
        let behind_key = marks(example.get(key + 1..value)?);
        let mut behind = marks(example.get(value + 1..)?);
        let argument_head = between.pop().filter(|head| head.contains('<'))?;
        let (is_named, of_key) = (word_at(example, value + 1, 'a').is_some(), |mark: &str| named(mark, 'a'));
        let argument_close = if behind.is_empty() { return None } else { behind.remove(0) };
        let has_section = 1 < before.len() && 1 < behind.len();
        let section = match has_section {
            true => Some((before.remove(0), behind.pop()?)),
            false => None,
        };
        let call_head = joined(&before)?;
        Some(Form {
            section,
            call: Pieces { head: call_head, tails: vec![joined(&between).unwrap_or_default()] },
            call_close: named(&joined(&behind)?, 'f'),
            argument: Pieces { head: argument_head, tails: tails(joined(&behind_key)?) },
            argument_close: if is_named { of_key(&argument_close) } else { argument_close },
        })
    }

    /// The form of the caller's own `dialect`, as its marks say it; `None` where they are no tags, or hold more than a name or
    /// a key.
    pub(crate) fn of_marks(dialect: &Dialect) -> Option<Form> {
        let argument = dialect.argument.as_ref()?;
        let pieces = |mark: &str, slot: &str| {
            let (head, tail) = mark.split_once(slot)?;
            let is_fixed = head.starts_with('<') && !head.contains('{') && !tail.contains('{');
            is_fixed.then(|| Pieces { head: head.to_owned(), tails: vec![tail.to_owned()] })
        };
        let fixed = |mark: &Text| Some(mark.to_string()).filter(|mark| !mark.contains('{'));
        let section = dialect.section.open.first().zip(dialect.section.close.first());
        Some(Form {
            section: match section {
                Some((open, close)) => Some((fixed(open)?, fixed(close)?)),
                None => None,
            },
            call: pieces(dialect.call.open.first()?, "{name}")?,
            call_close: fixed(dialect.call.close.first()?)?,
            argument: pieces(&argument.open, "{key}")?,
            argument_close: fixed(&argument.close)?,
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
    pub(super) fn longest_opener(&self) -> usize {
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
    pub(super) fn opener_of(&self, name: &str) -> String {
        format!("{}{name}{}", self.call.head, self.call.tail())
    }

    /// The opener of an argument `key`.
    pub(super) fn argument_of(&self, key: &str) -> String {
        format!("{}{key}{}", self.argument.head, self.argument.tail())
    }

    /// The heads of its openers that say more than a bracket.
    pub(super) fn heads_of_words(&self) -> impl Iterator<Item = &String> {
        let call = (!self.is_named()).then_some(&self.call.head);
        call.into_iter().chain((!self.closes_by_key()).then_some(&self.argument.head))
    }

    /// The token that an opener begins with, and the closers with another one like it: `<|open|>` of `<|open|>argument key="`.
    pub(super) fn token(&self) -> Option<&str> {
        let head = &self.argument.head;
        head.find('>').map(|end| &head[..=end]).filter(|token| token.len() < head.len())
    }

    /// Does what closes an argument name it: `</a>`?
    pub(super) fn closes_by_key(&self) -> bool {
        self.argument_close.contains(NAME)
    }

    pub(super) fn section_open(&self) -> Vec<char> {
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
pub(super) fn folded(mark: &str) -> Vec<char> {
    let solid: String = mark.chars().filter(|c| *c != BLANKS).collect();
    fold::folded(&solid)
}

/// Where `letter` stands as a word of its own, from `from` on.
pub(super) fn word_at(text: &str, from: usize, letter: char) -> Option<usize> {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut places = text.match_indices(letter).map(|(at, _)| at).filter(|at| from <= *at);
    places.find(|&at| !is_word(text[..at].chars().next_back()) && !is_word(text[at + 1..].chars().next()))
}

/// The marks of `text`: a new one begins at each `<` behind a blank or behind `>`, and at `]<`.
pub(super) fn marks(text: &str) -> Vec<String> {
    let mut marks = vec![String::new()];
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let is_first = before.is_whitespace() || before == '>';
        if c == '<' && is_first || c == ']' && text[at + 1..].starts_with('<') {
            marks.push(String::new());
        }
        if let Some(last) = marks.last_mut() {
            last.push(c);
        }
        before = c;
    }
    let marks = marks.into_iter().map(|mark| mark.trim().to_owned());
    marks.filter(|mark| !mark.is_empty()).collect()
}

fn joined(marks: &[String]) -> Option<String> {
    (!marks.is_empty()).then(|| marks.join(GAP))
}

pub(super) fn named(mark: &str, letter: char) -> String {
    match word_at(mark, 0, letter) {
        Some(at) => format!("{}{NAME}{}", &mark[..at], &mark[at + 1..]),
        None => mark.to_owned(),
    }
}

/// `" string="true">`, and also `" string="false">` and `">`; `" type="string">`, and also each other type of JSON.
fn tails(tail: String) -> Vec<String> {
    const TYPES: [&str; 6] = ["number", "integer", "boolean", "array", "object", "null"];
    let mut tails = vec![tail.clone()];
    let of_others: [(&str, &[&str]); 2] = [("\"true\"", &["false"]), ("\"string\"", &TYPES)];
    for (own, others) in of_others.iter().filter(|(own, _)| tail.contains(own)) {
        tails.extend(others.iter().map(|other| tail.replace(own, &format!("\"{other}\""))));
    }
    if let (Some(attribute), Some(end)) = (tail.find("\" "), tail.rfind('"'))
        && attribute < end
    {
        tails.push(format!("{}{}", &tail[..attribute], &tail[end..]));
    }
    tails
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(example: &str) -> [String; 6] {
        let form = Form::of(example).unwrap();
        let pieces = |pieces: &Pieces| format!("{}{NAME}{}", pieces.head, pieces.tails.join(" or "));
        let (open, close) = form.section.clone().unwrap_or_default();
        [open, pieces(&form.call), pieces(&form.argument), form.argument_close, form.call_close, close]
    }

    #[test]
    fn an_example_tells_the_marks() {
        assert_eq!(
            form("<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>"),
            ["<tool_call>", "<function={}>", "<parameter={}>", "</parameter>", "</function>", "</tool_call>"]
        );
        assert_eq!(
            form("<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n</tool_call>"),
            ["", "<tool_call>{}", "<arg_key>{}</arg_key>⏎<arg_value>", "</arg_value>", "</tool_call>", ""]
        );
        assert_eq!(
            form("<b>\n<c>t<s><i name=\"f\"><p name=\"a\" string=\"true\">x</p></i><e>\n</b>"),
            [
                "<b>",
                "<c>t<s>⏎<i name=\"{}\">",
                "<p name=\"{}\" string=\"true\"> or \" string=\"false\"> or \">",
                "</p>",
                "</i>⏎<e>",
                "</b>"
            ]
        );
        assert_eq!(form("<f>\n<a>x</a>\n</f>"), ["", "<{}>", "<{}>", "</{}>", "</{}>", ""]);
        assert_eq!(Form::of("{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}"), None);
        assert_eq!(Form::of("[f(a='x')]"), None);
    }
}
