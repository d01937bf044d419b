//! The words of a task, and what of them may go into the parameters of a call.

use std::cell::{Cell, RefCell};

use callwright_value::Number;

use crate::declared::Tool;

/// The words of a user. Each part of them goes into one parameter at most.
pub(crate) struct Task<'a> {
    text: &'a str,
    quoted: Spent<String>,
    /// File names, addresses, and the like.
    places: Spent<String>,
    names: Spent<String>,
    numbers: Spent<Number>,
    /// The words behind those that the tool is described by too.
    rest: Spent<String>,
}

impl<'a> Task<'a> {
    pub(crate) fn new(text: &'a str, tool: Option<&Tool>) -> Task<'a> {
        let words = || text.split_whitespace().map(trimmed);
        Task {
            text,
            quoted: Spent::new(quoted(text)),
            places: Spent::new(words().filter(|word| is_place(word)).map(str::to_owned).collect()),
            names: Spent::new(names(text)),
            numbers: Spent::new(words().filter_map(Number::new).collect()),
            rest: Spent::new(tool.and_then(|tool| behind(text, tool)).into_iter().collect()),
        }
    }

    /// The next part that someone named: quoted, a place, or a proper name.
    pub(crate) fn named(&self) -> Option<String> {
        self.quoted.next().or_else(|| self.places.next()).or_else(|| self.names.next())
    }

    /// The next part in quotes.
    pub(crate) fn quoted(&self) -> Option<String> {
        self.quoted.next()
    }

    /// The first word in which `fits` holds.
    pub(crate) fn word(&self, fits: impl Fn(&str) -> bool) -> Option<String> {
        self.text.split_whitespace().map(trimmed).find(|word| fits(word)).map(str::to_owned)
    }

    /// Returns the rest of it, else all of it.
    pub(crate) fn rest(&self) -> String {
        self.rest.next().unwrap_or_else(|| self.text.trim().to_owned())
    }

    /// The next number in which `fits` holds.
    pub(crate) fn number(&self, fits: impl Fn(&Number) -> bool) -> Option<Number> {
        self.numbers.next_that(fits)
    }

    /// Returns whether it says `text`, in whatever case.
    pub(crate) fn says(&self, text: &str) -> bool {
        says(self.text, text)
    }
}

/// Returns whether `task` says `text`, in whatever case.
pub(crate) fn says(task: &str, text: &str) -> bool {
    task.to_lowercase().contains(&text.to_lowercase())
}

/// Measures how much of a task a tool is about: each word that both have counts, the more so the fewer of the other tools have
/// it, and twice if it is of the name.
pub(crate) fn overlap(task: &str, tool: &Tool, tools: &[Tool]) -> f64 {
    let has = |tool: &Tool, word: &str| {
        let of_name = words(&tool.name).any(|other| is_same(&other, word));
        let of_about = words(&tool.about).any(|other| is_same(&other, word));
        (of_name, of_about)
    };
    words(task)
        .map(|word| {
            let n_tools = tools.iter().filter(|other| has(other, &word) != (false, false)).count();
            let weight = match has(tool, &word) {
                (true, _) => 2.0,
                (false, true) => 1.0,
                (false, false) => 0.0,
            };
            weight / n_tools.max(1) as f64
        })
        .sum()
}

/// Values that are handed out one after the other.
struct Spent<T>(RefCell<Vec<T>>);

impl<T> Spent<T> {
    fn new(values: Vec<T>) -> Spent<T> {
        Spent(RefCell::new(values))
    }

    fn next(&self) -> Option<T> {
        self.next_that(|_| true)
    }

    fn next_that(&self, fits: impl Fn(&T) -> bool) -> Option<T> {
        let mut values = self.0.borrow_mut();
        let at = values.iter().position(fits)?;
        Some(values.remove(at))
    }
}

/// The words of a text or of a name: `getWeather` is two. Shorter ones than three letters say nothing.
fn words(text: &str) -> impl Iterator<Item = String> {
    let was_lower = Cell::new(false);
    let spaced: String = text
        .chars()
        .flat_map(|c| {
            let begins = was_lower.replace(c.is_lowercase()) && c.is_uppercase();
            begins.then_some(' ').into_iter().chain([c])
        })
        .collect();
    let words: Vec<String> = spaced
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| 3 <= word.chars().count())
        .map(str::to_lowercase)
        .collect();
    words.into_iter()
}

/// Returns whether they are forms of one word: `print`, `prints`.
fn is_same(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    long.starts_with(short) && long.len() <= short.len() + 3
}

/// A word without the punctuation around it.
fn trimmed(word: &str) -> &str {
    let is_around = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '~' | '-' | '+');
    word.trim_start_matches(|c| is_around(c) && c != '.').trim_end_matches(is_around)
}

fn is_place(word: &str) -> bool {
    let inner = word.trim_matches('.');
    let is_path = word.contains('/') && word.contains(char::is_alphabetic);
    is_path || inner.contains(['.', '@']) && inner.contains(char::is_alphabetic)
}

/// Returns the texts between quotes that begin and end at words' ends.
fn quoted(text: &str) -> Vec<String> {
    const PAIRS: [(char, char); 5] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('«', '»')];
    let mut found = Vec::new();
    let mut before = None;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let behind = rest.get(first.len_utf8()..).unwrap_or("");
        let close = PAIRS.iter().find(|(open, _)| *open == first).map(|(_, close)| *close);
        let is_open = !before.is_some_and(char::is_alphanumeric);
        let end = close.filter(|_| is_open).and_then(|close| {
            let ends = |at: &usize| {
                let next = behind.get(at + close.len_utf8()..).and_then(|rest| rest.chars().next());
                0 < *at && !next.is_some_and(char::is_alphanumeric)
            };
            behind.match_indices(close).map(|(at, _)| at).find(ends).map(|at| (at, close))
        });
        match end {
            Some((at, close)) => {
                found.extend(behind.get(..at).map(str::to_owned));
                (before, rest) = (Some(close), behind.get(at + close.len_utf8()..).unwrap_or(""));
            }
            None => (before, rest) = (Some(first), behind),
        }
    }
    found
}

/// Words that begin with a capital though no sentence begins there; those that follow one another are one name.
fn names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let (mut begins, mut goes_on) = (true, false);
    for word in text.split_whitespace() {
        let name = trimmed(word);
        let is_name = !begins
            && !is_place(name)
            && name.chars().next().is_some_and(char::is_uppercase)
            && 1 < name.chars().count();
        match names.last_mut().filter(|_| goes_on && is_name) {
            Some(last) => {
                last.push(' ');
                last.push_str(name);
            }
            None if is_name => names.push(name.to_owned()),
            None => {}
        }
        begins = word.ends_with(['.', '!', '?', ':']);
        goes_on = is_name && word.ends_with(name);
    }
    names
}

/// Returns the words behind the last one that the tool is described by, but for short words in front of it.
fn behind(text: &str, tool: &Tool) -> Option<String> {
    let described: Vec<String> = words(&tool.name).chain(words(&tool.about)).collect();
    let all: Vec<&str> = text.split_whitespace().collect();
    let is_shared = |word: &&str| words(word).any(|word| described.iter().any(|other| is_same(other, &word)));
    let last = all.iter().rposition(is_shared)?;
    let rest: Vec<&str> =
        all.get(last + 1..)?.iter().copied().skip_while(|word| trimmed(word).chars().count() <= 3).collect();
    let rest = rest.join(" ");
    let rest = rest.trim_end_matches(['.', '!', '?']);
    (!rest.is_empty()).then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright_value::json;

    fn tool(name: &str, about: &str) -> Tool {
        Tool { name: name.into(), about: about.into(), parameters: json!({}) }
    }

    #[test]
    fn what_is_named_is_found() {
        let named = |text| {
            let task = Task::new(text, None);
            std::iter::from_fn(|| task.named()).collect::<Vec<_>>()
        };
        assert_eq!(named("What's the weather in New York, and in Rome?"), ["New York", "Rome"]);
        assert_eq!(named("Don't say 'it's me' but \"so\" in notes/a.md."), ["it's me", "so", "notes/a.md"]);
        assert_eq!(named("I can't. It's late: Read README.md"), ["README.md"]);
        assert_eq!(named("nothing here."), [""; 0]);
    }

    #[test]
    fn the_tool_that_the_words_are_about_has_most_of_them() {
        let tools = [
            tool("get_weather", "Get the current weather for a location."),
            tool("addNumbers", "Add two numbers together."),
            tool("fsWrite", "Create or overwrite a file"),
            tool("fsRead", "Read a file."),
        ];
        let best = |task: &str| {
            let scores: Vec<f64> = tools.iter().map(|tool| overlap(task, tool, &tools)).collect();
            (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap()
        };
        assert_eq!(best("What's the weather like?"), 0);
        assert_eq!(best("add 2 and 3"), 1);
        assert_eq!(best("create a Python file that prints hello"), 2);
        assert_eq!(best("what does the file say, read it"), 3);
        assert_eq!(overlap("hi", &tools[0], &tools), 0.0);
    }

    #[test]
    fn what_stands_behind_the_tools_words_is_the_rest() {
        let rest = |text| Task::new(text, Some(&tool("get_weather", "The weather."))).rest();
        assert_eq!(rest("what's the weather in paris?"), "paris");
        assert_eq!(rest("and in paris?"), "and in paris?");
    }
}
