//! Guards: what looks like a call but is none: placeholders, examples, turns that the model made up.

use callwright_json::Value;

use crate::dialect::{RESULTS, TURNS};
use crate::shape::is_type_word;
use crate::syntax;
use crate::syntax::marks::{Fit, fit};
use crate::tools::Tool;

/// Words that announce an example when they stand right before it.
const EXAMPLE_WORDS: &[&str] = &[
    "do not run",
    "don't run",
    "not executed",
    "for illustration",
    "just an example",
    "here's an example",
    "here is an example",
    "example usage",
    "usage example",
    "how you can",
    "can be called as follows",
    "can be called like this",
    "if you want",
    "if you would like",
    "if you'd like",
    "if you're looking",
    "if you are looking",
    "if you need",
    "if you were",
];

/// Words behind which a sentence reports what somebody else wrote.
const REPORTING: &[&str] = &[
    "says",
    "said",
    "say",
    "reads",
    "contains",
    "contained",
    "wrote",
    "writes",
    "written",
    "shows",
    "showed",
    "printed",
    "prints",
    "quote",
    "quotes",
    "quoted",
    "quoting",
    "stated",
    "tells",
    "told",
    "suggests",
    "suggested",
    "claims",
    "claimed",
    "asks",
    "asked",
    "included",
    "includes",
    "mentions",
    "mentioned",
    "example",
    "documentation",
    "docs",
    "readme",
    "log",
    "logs",
    "transcript",
];

/// Verbs that a sentence denies, a few words before what it denies.
const DENIED: &[&str] = &[
    "call",
    "calling",
    "called",
    "run",
    "running",
    "execute",
    "executing",
    "executed",
    "invoke",
    "invoking",
    "invoked",
];
const DENYING: &[&str] = &[
    "no",
    "not",
    "never",
    "without",
    "cannot",
    "don't",
    "won't",
    "can't",
    "shouldn't",
    "wouldn't",
    "mustn't",
    "didn't",
    "refuse",
    "refused",
    "avoid",
    "avoided",
    "rather",
    "instead",
];
/// With these a sentence turns to something else.
const TURNING: &[&str] = &[
    "so",
    "but",
    "and",
    "i",
    "i'll",
    "i'm",
    "we",
    "let",
    "then",
    "because",
    "hence",
    "therefore",
    "if",
    "until",
    "unless",
];
/// How much of a line is looked at.
const MAX_LINE: usize = 1024;
/// How many words may stand between a denial and the call.
const DENIAL_REACH: usize = 7;

/// What shows that a sentence only supposes a call.
const SUPPOSING: &[&str] = &[
    "for example",
    "for instance",
    "e.g.",
    "hypothetically",
    "if i were to",
    "were i to",
    "if someone",
    "someone could",
    "an attacker",
    "suppose ",
    "imagine ",
    "in theory",
];
/// What shows it where a model has marks for what it means. Without marks this is how models begin a call: `The call
/// would look like this:`
const MODEST: &[&str] = &[
    "you could ",
    "you can call",
    "you would ",
    "you might ",
    "one could ",
    "one would ",
    "could be called",
    "would look like",
    "might look like",
    "could look like",
    "looks like",
    "would be:",
];

/// How a text begins that asks for the reader's own.
const YOURS: [&str; 3] = ["your_", "<your", "[your"];
/// What stands in markup, but in no name between angle brackets: `</b>`, `<a href="x">`, `<|call|>`, `<![CDATA[x]]>`.
const NO_NAME: [char; 7] = ['/', '=', '"', '|', '!', '[', '<'];
/// Texts that are placeholders by themselves.
const WORDS: &[&str] = &["...", "…", "missing", "placeholder", "tbd", "unknown_value"];

/// Does an argument only stand for one: `your_city`, `<city>`, `city="city"`, `weight=float`? Not where the schema says
/// more of the value than its type: an `enum` may hold any word.
pub(crate) fn has_placeholder(tool: &Tool, arguments: Value<'_>) -> bool {
    arguments.members().any(|(key, value)| {
        let (Some(key), Some(text)) = (key.as_str(), value.as_str()) else { return false };
        is_placeholder(&key, text.trim()) && !is_described(tool, &key)
    })
}

/// Does the schema name values for `key`, or a form of them?
fn is_described(tool: &Tool, key: &str) -> bool {
    let property = tool.schema().value().get("properties").and_then(|properties| properties.get(key));
    let names =
        ["enum", "const", "pattern", "format", "examples", "default", "$ref", "anyOf", "oneOf", "allOf"];
    property.is_some_and(|property| names.iter().any(|name| property.get(*name).is_some()))
}

fn is_placeholder(key: &str, text: &str) -> bool {
    // `<city>`, `<name of recipe>`, but not `<b>text</b>` or `<a href="x">`.
    let named = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let bracketed = named.is_some_and(|name| !name.is_empty() && !name.contains(NO_NAME));
    let joined = |byte: u8| if matches!(byte, b' ' | b'-') { b'_' } else { byte.to_ascii_lowercase() };
    let same_word =
        text.len() > 3 && text.bytes().map(joined).eq(key.bytes().map(|b| b.to_ascii_lowercase()));
    bracketed
        || same_word
        || YOURS.iter().any(|yours| syntax::starts_with_any_case(text.as_bytes(), yours))
        || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
        || is_type_word(text) && text != "any"
}

/// Is the text before a call such that the call is only shown?
pub(crate) fn is_example(before: &str) -> bool {
    let tail = last_paragraph(before, 400).to_ascii_lowercase();
    EXAMPLE_WORDS.iter().any(|words| tail.contains(words))
}

/// Does the sentence that leads to a call speak of it rather than make it: report, deny or suppose it?
///
/// `The page says: …`, `I will not run …`, `For example, you could call …`. With `modest`, a call that is announced
/// modestly is spoken of, too.
pub(crate) fn is_spoken_of(before: &str, modest: bool) -> bool {
    let sentence = last_sentence(before).to_lowercase().replace('’', "'");
    // What one dialect begins its calls with.
    let sentence = sentence.strip_suffix("action:").map_or(&*sentence, str::trim_end);
    let is_in = |words: &&str| sentence.contains(*words);
    if SUPPOSING.iter().any(is_in) || modest && MODEST.iter().any(is_in) {
        return true;
    }
    let words: Vec<&str> =
        sentence.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let is_reported =
        sentence.trim_end_matches(['"', '\'', '“', '‘', '«', '`', '(', ' ']).ends_with([':', ','])
            && words.last().is_some_and(|word| REPORTING.contains(word));
    is_reported || is_denied(&words)
}

/// Do the last words deny a call: `not going to run this`? Not so `do not know, so I call` and `cannot know without
/// calling`.
fn is_denied(words: &[&str]) -> bool {
    let near = words.get(words.len().saturating_sub(DENIAL_REACH)..).unwrap_or(&[]);
    let mut denials = near.iter().enumerate().filter(|(_, word)| DENYING.contains(word));
    let (Some((at, _)), None) = (denials.next(), denials.next()) else { return false };
    let behind = near.get(at + 1..).unwrap_or(&[]);
    let Some(verb) = behind.iter().position(|word| DENIED.contains(word)) else { return false };
    verb <= 3 && !behind.iter().any(|word| TURNING.contains(word))
}

/// Does a line of quoted text lead to a call: `> …`?
pub(crate) fn is_in_block_quote(before: &str) -> bool {
    let line = last_line(before).trim_start();
    line.starts_with('>') && !line.starts_with(">>>")
}

/// Whether code between lines of tildes is open, as Markdown has it beside backticks. Each line is looked at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tildes {
    /// The lines before this place do not count.
    from: usize,
    /// Those before this one are counted.
    counted: usize,
    is_open: bool,
}

impl Tildes {
    const MARK: &str = "~~~";

    /// Is such code open in `text` at `to`, if it began behind `from`?
    pub(crate) fn are_open(&mut self, text: &str, from: usize, to: usize) -> bool {
        if self.from != from || to < self.counted {
            *self = Tildes { from, counted: from, is_open: false };
        }
        while let Some(rest) = text.as_bytes().get(self.counted..to)
            && let Some(found) = memchr::memmem::find(rest, Tildes::MARK.as_bytes())
        {
            let at = self.counted + found;
            self.is_open ^= text.get(from..at).is_some_and(|before| last_line(before).trim().is_empty());
            self.counted = at + Tildes::MARK.len();
        }
        // A mark may have begun.
        self.counted = self.counted.max(to.saturating_sub(Tildes::MARK.len() - 1));
        self.is_open
    }
}

/// Does `before` end with words and an opening quotation mark, on the line of what follows?
pub(crate) fn opens_quotation(before: &str) -> bool {
    let line = last_line(before);
    let words = line.trim_end_matches(['"', '\'', '“', '‘', '«', '„', '`']);
    words.len() < line.len() && words.ends_with([' ', '(']) && has_words(words)
}

/// Does it stand behind `before` in the middle of a line of code, or in a line that is marked as added, removed or quoted?
pub(crate) fn is_in_line(before: &str) -> bool {
    let line = last_line(before).trim_start();
    // `[f'f(a=1)']` is a list.
    let is_word = |word: &str| 1 < word.len() && word.starts_with(char::is_alphabetic);
    line.split(|c: char| !c.is_alphanumeric()).any(is_word)
        || line.starts_with(['+', '-', '>', '|', '#', '/', '*'])
}

/// Is a quotation open where `before` ends, on its line?
pub(crate) fn is_in_quotation(before: &str) -> bool {
    let line = last_line(before);
    let count = |mark: char| line.matches(mark).count();
    let is_open = count('"') % 2 == 1 || count('”') < count('“') || count('»') < count('«');
    is_open && has_words(line)
}

/// Are there letters in `text`, outside of tags?
pub(crate) fn has_words(text: &str) -> bool {
    let mut depth = 0usize;
    for c in text.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 && c.is_alphanumeric() => return true,
            _ => {}
        }
    }
    false
}

/// What was not ended yet of the last sentence: `Sure. The page says:` → `The page says:`
fn last_sentence(before: &str) -> &str {
    let tail = last_paragraph(before, 240);
    let ends = ['.', '!', '?'];
    let is_end = |(at, c): &(usize, char)| {
        let rest = tail.get(at + c.len_utf8()..).unwrap_or("");
        // `(So it is, e.g., here.)`
        let rest = rest.trim_start_matches([')', ']', '"', '\'', '”', '’', '»', '*', '_']);
        let short = tail.get(at.saturating_sub(3)..*at).unwrap_or("");
        let is_abbreviation = short.eq_ignore_ascii_case("e.g") || short.eq_ignore_ascii_case("i.e");
        ends.contains(c) && (rest.is_empty() || rest.starts_with(char::is_whitespace)) && !is_abbreviation
    };
    let from = tail.char_indices().rfind(is_end).map_or(0, |(at, c)| at + c.len_utf8());
    tail.get(from..).unwrap_or("").trim()
}

/// It begins behind an empty line, or behind what a fence has shown.
fn last_paragraph(text: &str, most: usize) -> &str {
    let tail = tail(text, most).trim_end();
    let paragraph = tail.rsplit("\n\n").next().unwrap_or(tail);
    let is_fence = |line: &str| matches!(line.trim(), "```" | "~~~");
    let behind = paragraph.split_inclusive('\n').rev().take_while(|line| !is_fence(line)).map(str::len).sum();
    paragraph.get(paragraph.len().saturating_sub(behind)..).unwrap_or(paragraph)
}

/// The beginning of the line at the end of `text`; of a very long one, its last part.
fn last_line(text: &str) -> &str {
    tail(text, MAX_LINE).rsplit('\n').next().unwrap_or("")
}

fn tail(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// Does a turn that is not the model's own, or a result that it cannot know, begin at `at`?
pub(crate) fn turn(text: &str, at: usize) -> Fit {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    let mut found = Fit::No;
    for mark in TURNS.iter().chain(RESULTS.iter().map(|(open, _)| open)) {
        match fit(rest, mark) {
            Fit::Is(len) => return Fit::Is(len),
            Fit::Grows => found = Fit::Grows,
            Fit::No => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright_json::strict;

    #[test]
    fn placeholders_stand_for_no_value() {
        let tools = r#"[{"name": "f", "parameters": {"properties": {"kind": {"enum": ["int", "kind"]}}}}]"#;
        let tools = crate::ToolSet::from_json(tools).unwrap();
        let tool = tools.get("f").unwrap();
        let has = |text: &str| has_placeholder(tool, strict(text).unwrap().root(text));
        for text in [
            r#"{"a": 1, "city": "your_city"}"#,
            r#"{"city": "<city>"}"#,
            r#"{"city": "<name of the city>"}"#,
            r#"{"file_name": "file_name"}"#,
            r#"{"x": "int"}"#,
        ] {
            assert!(has(text), "{text}");
        }
        for text in [
            r#"{"city": "Paris"}"#,
            r#"{"html": "<b>x</b>"}"#,
            r#"{"code": "a < b"}"#,
            r#"{"n": 5}"#,
            "{}",
            r#"{"mark": "<|call|>"}"#,
            r#"{"xml": "<![CDATA[x]]>"}"#,
            r#"{"sort_by": "value"}"#,
            r#"{"kind": "int"}"#,
            r#"{"kind": "kind"}"#,
        ] {
            assert!(!has(text), "{text}");
        }
    }

    #[test]
    fn a_sentence_speaks_of_a_call_or_makes_it() {
        for before in [
            "The page says: ",
            "The file contains:\n",
            "Their documentation reads, \"",
            "I will not run ",
            "I won’t call this now: ",
            "Do not ever execute the following: ",
            "Instead of calling ",
            "I am not going to run ",
            "There is no need to call ",
            "For example, you could call ",
            "A call would look like ",
            "Sure. E.g. ",
        ] {
            assert!(is_spoken_of(before, true), "{before}");
        }
        for before in [
            "",
            "I call it now: ",
            "It is not clear where Paris is, so I ask for the weather: ",
            "I don't know that, so I call ",
            "I cannot answer that without running a tool: ",
            "I do not have it, but I will run ",
            "Temperatures in the United States: ",
            "The page says so. ",
            "I do not know. I will run ",
            "He said hello.\n\n",
            "For example. ",
        ] {
            assert!(!is_spoken_of(before, true), "{before}");
        }
        assert!(!is_spoken_of("The call would look like ", false));
    }

    #[test]
    fn an_example_is_announced_right_before() {
        assert!(is_example("Example of the format (do not run):\n"));
        assert!(is_example("If you want to know the weather, you can use:\n\n"));
        assert!(!is_example("Do not run away.\n\nHere is the call:\n"));
    }
}
