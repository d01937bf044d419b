//! What is wrong with a text that should be JSON, in words for the model and for a person.

/// What is wrong with a text that should be JSON. The stable name for programs is [`Trouble::code`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// Closing brackets too many, as they stand: `}}`.
    ExtraClosers(String),
    /// Closing brackets that are missing, in the order in which they belong there: `]}`.
    MissingClosers(String),
    /// A closing bracket of the wrong sort; this one is needed.
    WrongCloser(char),
    /// An opening bracket too many.
    ExtraOpener,
    /// A string without closing quote, and the closing brackets that are missing besides.
    UnclosedString(String),
    /// A quote inside a string that is not escaped, so that it ends the string.
    BareQuote,
    /// A quote is missing here.
    MissingQuote,
    /// Quotes of another sort than `"`.
    ForeignQuotes,
    /// A comma too many.
    ExtraComma,
    /// No comma between two values.
    MissingComma,
    /// No colon between key and value.
    MissingColon,
    /// No value where one is needed.
    MissingValue,
    /// A key without quotes.
    BareKey,
    /// A text without quotes.
    BareText,
    /// A word or number of another language: `True`, `.5`.
    ForeignLiteral,
    /// A raw line break or other control character inside a string.
    RawControl,
    /// A backslash that begins no JSON escape.
    BadEscape,
    /// A comment.
    Comment,
    /// Text or markup around the JSON.
    Surroundings,
    /// More than one value.
    SeveralValues,
    /// The end in the middle of a value; the closing brackets that are missing besides.
    Cut(String),
    /// No JSON at all.
    NoJson,
    /// Something else.
    Other,
}

impl Trouble {
    /// The stable, kebab-case name.
    pub fn code(&self) -> &'static str {
        match self {
            Trouble::ExtraClosers(_) => "extra-closers",
            Trouble::MissingClosers(_) => "missing-closers",
            Trouble::WrongCloser(_) => "wrong-closer",
            Trouble::ExtraOpener => "extra-opener",
            Trouble::UnclosedString(_) => "unclosed-string",
            Trouble::BareQuote => "bare-quote",
            Trouble::MissingQuote => "missing-quote",
            Trouble::ForeignQuotes => "foreign-quotes",
            Trouble::ExtraComma => "extra-comma",
            Trouble::MissingComma => "missing-comma",
            Trouble::MissingColon => "missing-colon",
            Trouble::MissingValue => "missing-value",
            Trouble::BareKey => "bare-key",
            Trouble::BareText => "bare-text",
            Trouble::ForeignLiteral => "foreign-literal",
            Trouble::RawControl => "raw-control",
            Trouble::BadEscape => "bad-escape",
            Trouble::Comment => "comment",
            Trouble::Surroundings => "surroundings",
            Trouble::SeveralValues => "several-values",
            Trouble::Cut(_) => "cut",
            Trouble::NoJson => "no-json",
            Trouble::Other => "other",
        }
    }

    /// A few words to stand under a caret.
    pub fn label(&self) -> String {
        let label = match self {
            Trouble::ExtraClosers(closers) if closers.len() == 1 => "one closing bracket too many",
            Trouble::ExtraClosers(_) => "{count} closing brackets too many",
            Trouble::MissingClosers(_) => "`{brackets}` is missing here",
            Trouble::WrongCloser(_) => "`{brackets}` is needed here",
            Trouble::ExtraOpener => "one opening bracket too many",
            Trouble::UnclosedString(_) => "this string is never closed",
            Trouble::BareQuote => "this quote ends the string too early",
            Trouble::MissingQuote => "a quote is missing here",
            Trouble::ForeignQuotes => "JSON has only double quotes",
            Trouble::ExtraComma => "one comma too many",
            Trouble::MissingComma => "a comma is missing here",
            Trouble::MissingColon => "a colon is missing here",
            Trouble::MissingValue => "a value is missing here",
            Trouble::BareKey => "this key needs double quotes",
            Trouble::BareText => "this text needs double quotes",
            Trouble::ForeignLiteral => "JSON does not have this word or number",
            Trouble::RawControl => "a raw control character inside a string",
            Trouble::BadEscape => "this backslash begins no JSON escape",
            Trouble::Comment => "JSON has no comments",
            Trouble::Surroundings => "this is not part of the JSON",
            Trouble::SeveralValues => "a second value begins here",
            Trouble::Cut(_) => "the text ends here, in the middle of a value",
            Trouble::NoJson => "no JSON here",
            Trouble::Other => "not valid JSON from here on",
        };
        self.filled(label, 0)
    }

    /// What the model should know, one sentence per line. `position` counts the characters before the
    /// suspect place.
    pub(super) fn hints(&self, position: usize) -> Vec<String> {
        const MISSING: &str = "You're missing {count} {sort}";
        let hint = match self {
            // The count says what to do, and where is said above it: the wording that models were taught
            // with stays as it is.
            Trouble::ExtraClosers(_) => "You have {count} extra {sort}",
            Trouble::MissingClosers(_) => MISSING,
            Trouble::WrongCloser(_) => "The closing bracket {here} must be {brackets}",
            Trouble::ExtraOpener => "The opening bracket {here} is one too many",
            Trouble::UnclosedString(_) => "{quotes}: the string that begins {here} is never closed",
            Trouble::BareQuote => {
                "{quotes}: the quote {here} ends its string too early; write \\\" for a quote inside a string"
            }
            Trouble::MissingQuote => "{quotes}: a quote is missing {here}",
            Trouble::ForeignQuotes => {
                "Put keys and strings in double quotes: the quote {here} is another one"
            }
            Trouble::ExtraComma => "Remove the comma {here}",
            Trouble::MissingComma => "A comma is missing {here}",
            Trouble::MissingColon => "A colon is missing {here}",
            Trouble::MissingValue => "A value is missing {here}",
            Trouble::BareKey => "Put the key {here} in double quotes",
            Trouble::BareText => "Put the text {here} in double quotes",
            Trouble::ForeignLiteral => {
                "JSON has only true, false, null and decimal numbers: change the word {here}"
            }
            Trouble::RawControl => {
                "Write \\n for a line break and \\t for a tab inside a string: there is a raw one {here}"
            }
            Trouble::BadEscape => "The backslash {here} begins no JSON escape: write \\\\ for a backslash",
            Trouble::Comment => "JSON has no comments: remove the one {here}",
            Trouble::Surroundings => "Send only the JSON: remove the text {here}",
            Trouble::SeveralValues => "Send one JSON value per call: a second one begins {here}",
            Trouble::Cut(_) => "The JSON ends before it is complete",
            Trouble::NoJson => "There is no JSON here: send the call as one JSON object",
            Trouble::Other => "Write valid JSON from position {position} on",
        };
        let missing = match self {
            Trouble::UnclosedString(closers) | Trouble::Cut(closers) if !closers.is_empty() => Some(MISSING),
            _ => None,
        };
        [hint].into_iter().chain(missing).map(|hint| self.filled(hint, position)).collect()
    }

    /// `template` with what the words in braces stand for.
    fn filled(&self, template: &str, position: usize) -> String {
        let brackets = match self {
            Trouble::ExtraClosers(closers)
            | Trouble::MissingClosers(closers)
            | Trouble::UnclosedString(closers)
            | Trouble::Cut(closers) => closers.clone(),
            Trouble::WrongCloser(wanted) => wanted.to_string(),
            _ => String::new(),
        };
        let sort = match (brackets.contains('}'), brackets.contains(']')) {
            (true, false) => "closing braces }",
            (false, true) => "closing brackets ]",
            _ => "closing brackets {brackets}",
        };
        template
            .replace("{quotes}", "Unmatched quotes detected")
            .replace("{here}", "at position {position}")
            .replace("{position}", &position.to_string())
            .replace("{count}", &brackets.len().to_string())
            .replace("{sort}", sort)
            .replace("{brackets}", &brackets)
    }
}
