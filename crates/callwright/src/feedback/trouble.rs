//! The faults of a text that should be JSON, in words for the model and for a person.

/// The fault of a text that should be JSON. [`Trouble::code`] gives the stable name for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// There are too many closing brackets, these: `}}`.
    ExtraClosers(String),
    /// Closing brackets are missing, these in this order: `]}`.
    MissingClosers(String),
    /// A closing bracket is of the wrong sort; this one is needed.
    WrongCloser(char),
    /// There is one opening bracket too many.
    ExtraOpener,
    /// A string has no closing quote, and these closing brackets are missing besides.
    UnclosedString(String),
    /// A quote inside a string is not escaped, so that it ends the string.
    BareQuote,
    /// A quote is missing here.
    MissingQuote,
    /// Quotes are of another sort than `"`.
    ForeignQuotes,
    /// There is one comma too many.
    ExtraComma,
    /// There is no comma between two values.
    MissingComma,
    /// There is no colon between key and value.
    MissingColon,
    /// There is no value where one is needed.
    MissingValue,
    /// A key has no quotes.
    BareKey,
    /// A text has no quotes.
    BareText,
    /// A word or number belongs to another language: `True`, `.5`.
    ForeignLiteral,
    /// A string holds a raw line break or another control character.
    RawControl,
    /// A backslash begins no JSON escape.
    BadEscape,
    /// The text holds a comment.
    Comment,
    /// Text or markup stands around the JSON.
    Surroundings,
    /// There is more than one value.
    SeveralValues,
    /// The text ends in the middle of a value; these closing brackets are missing besides.
    Cut(String),
    /// There is no JSON at all.
    NoJson,
    /// The fault is another one.
    Other,
}

impl Trouble {
    /// Returns the stable, kebab-case name.
    pub fn code(&self) -> &'static str {
        self.words().0
    }

    /// Returns a few words to stand under a caret.
    pub fn label(&self) -> String {
        self.filled(self.words().1, 0)
    }

    /// Returns the name, and the words under a caret.
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

    /// Returns advice for the model, one sentence per line. `position` counts the characters before the suspect place.
    pub(super) fn hints(&self, position: usize) -> Vec<String> {
        const MISSING: &str = "You're missing {count} {sort}";
        let hint = match self {
            // The count tells the model what to do, and the line above tells the place. The wording that models were
            // taught with stays.
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

    /// Fills the words in braces into `template`.
    fn filled(&self, template: &str, position: usize) -> String {
        let brackets = match self {
            Trouble::ExtraClosers(closers)
            | Trouble::MissingClosers(closers)
            | Trouble::UnclosedString(closers)
            | Trouble::Cut(closers) => closers.clone(),
            Trouble::WrongCloser(wanted) => wanted.to_string(),
            _ => String::new(),
        };
        let sort = match (brackets.contains('}'), brackets.contains(']'), brackets.len()) {
            (true, false, 1) => "closing brace }",
            (true, false, _) => "closing braces }",
            (false, true, 1) => "closing bracket ]",
            (false, true, _) => "closing brackets ]",
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
