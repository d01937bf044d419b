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
        self.words().0
    }

    /// A few words to stand under a caret.
    pub fn label(&self) -> String {
        self.filled(self.words().1, 0)
    }

    /// The name, and the words under a caret.
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Trouble::ExtraClosers(closers) if closers.len() == 1 => {
                ("extra-closers", "one closing bracket too many")
            }
            Trouble::ExtraClosers(_) => ("extra-closers", "{count} closing brackets too many"),
            Trouble::MissingClosers(_) => ("missing-closers", "`{brackets}` is missing here"),
            Trouble::WrongCloser(_) => ("wrong-closer", "`{brackets}` is needed here"),
            Trouble::ExtraOpener => ("extra-opener", "one opening bracket too many"),
            Trouble::UnclosedString(_) => ("unclosed-string", "this string is never closed"),
            Trouble::BareQuote => ("bare-quote", "this quote ends the string too early"),
            Trouble::MissingQuote => ("missing-quote", "a quote is missing here"),
            Trouble::ForeignQuotes => ("foreign-quotes", "JSON has only double quotes"),
            Trouble::ExtraComma => ("extra-comma", "one comma too many"),
            Trouble::MissingComma => ("missing-comma", "a comma is missing here"),
            Trouble::MissingColon => ("missing-colon", "a colon is missing here"),
            Trouble::MissingValue => ("missing-value", "a value is missing here"),
            Trouble::BareKey => ("bare-key", "this key needs double quotes"),
            Trouble::BareText => ("bare-text", "this text needs double quotes"),
            Trouble::ForeignLiteral => ("foreign-literal", "JSON does not have this word or number"),
            Trouble::RawControl => ("raw-control", "a raw control character inside a string"),
            Trouble::BadEscape => ("bad-escape", "this backslash begins no JSON escape"),
            Trouble::Comment => ("comment", "JSON has no comments"),
            Trouble::Surroundings => ("surroundings", "this is not part of the JSON"),
            Trouble::SeveralValues => ("several-values", "a second value begins here"),
            Trouble::Cut(_) => ("cut", "the text ends here, in the middle of a value"),
            Trouble::NoJson => ("no-json", "no JSON here"),
            Trouble::Other => ("other", "not valid JSON from here on"),
        }
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
