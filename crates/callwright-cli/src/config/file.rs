//! Reads the text of a configuration file: its values, and which of the single ones it sets. What is wrong is said with
//! its line, and with what was probably meant.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use super::message::{in_our_words, on_one_line};
use super::origin::{Origin, shown};
use super::settings::{self, Settings};
use crate::failure::Failure;

/// The file's table, and the origins of what it sets.
///
/// # Errors
/// A text that is not TOML, or sets something that cannot be set; with its line.
pub(crate) fn read(path: &Path, text: &str) -> Result<(Table, BTreeMap<&'static str, Origin>), Failure> {
    let at = |error: &toml::de::Error| {
        let line = error.span().map(|span| line_of(text, span.start));
        line.map_or_else(|| shown(path), |line| format!("{}, line {line}", shown(path)))
    };
    let mut table: Table = toml::from_str(text).map_err(|error| {
        let hint = quoted(text, &error).or_else(|| other_language(path, text)).unwrap_or_default();
        Failure::Config(format!("{}: {}{hint}", at(&error), on_one_line(error.message())))
    })?;
    // Read twice: only the text knows its lines, and only the table can be written over.
    toml::from_str::<Settings>(text)
        .map_err(|error| Failure::Config(format!("{}: {}", at(&error), in_our_words(error.message()))))?;
    settings::rename_former(&mut table);
    let singles = settings::ALL.iter().map(|setting| setting.key);
    let sections = ["upstreams", "models", "keys", "dialect", "response_template", "mcp"];
    let set = singles.chain(sections).filter(|key| holds(&table, key));
    let origins = set.map(|key| (key, Origin::File)).collect();
    Ok((table, origins))
}

fn holds(table: &Table, key: &str) -> bool {
    match key.split_once('.') {
        None => table.contains_key(key),
        Some((section, key)) => matches!(table.get(section), Some(Value::Table(t)) if t.contains_key(key)),
    }
}

/// Counted from 1.
fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}

/// Suggests quotes around a value, `listen = 127.0.0.1:4000`, if the text would be right then, or right further on.
fn quoted(text: &str, error: &toml::de::Error) -> Option<String> {
    let number = line_of(text, error.span()?.start);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = lines.get_mut(number - 1)?;
    let (key, value) = line.split_once('=')?;
    let value = value.trim();
    if value.is_empty() || value.contains(['"', '\'']) {
        return None;
    }
    let meant = format!("{} = \"{value}\"", key.trim());
    line.clone_from(&meant);
    let is_further = |error: toml::de::Error| {
        error.span().is_some_and(|span| number < line_of(&lines.join("\n"), span.start))
    };
    let is_better = toml::from_str::<Table>(&lines.join("\n")).map_or_else(is_further, |_| true);
    is_better.then(|| format!("; a text stands in quotes: {meant}"))
}

/// Suggests TOML where the text looks like JSON or YAML.
fn other_language(path: &Path, text: &str) -> Option<String> {
    let named = path.extension().is_some_and(|extension| {
        ["json", "json5", "yaml", "yml"].iter().any(|other| extension.eq_ignore_ascii_case(other))
    });
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let begins = lines.next().is_some_and(|line| {
        let is_key = |key: &str| !key.is_empty() && !key.contains(['=', ' ', '[', '"']);
        line.starts_with('{') || line == "---" || line.split_once(':').is_some_and(|(key, _)| is_key(key))
    });
    (named || begins).then(|| String::from("; TOML is expected: key = value"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_probably_meant_is_said() {
        for (name, text, says) in [
            ("a.toml", "listen = 127.0.0.1:4000\n", "a text stands in quotes: listen = \"127.0.0.1:4000\""),
            ("a.toml", "policy = heal\nlisten = 'x'", "line 1: "),
            ("a.toml", "[[upstream]]\nname = 'a'\n", "unknown key `upstream`: did you mean `upstreams`?"),
            ("a.toml", "zzz = 1\n", "unknown key `zzz`; there are listen, "),
            ("a.toml", "[ladder]\nmax_seconds = \"30s\"\n", "expected a number; times are seconds: 30.0"),
            ("a.toml", "[ladder]\nreasks = -1\n", "line 2: "),
            ("a.toml", "{\"listen\": \"127.0.0.1:1\"}", "TOML is expected"),
            ("a.toml", "listen: 127.0.0.1:1\n", "TOML is expected"),
            ("a.yaml", "- a\n", "TOML is expected"),
        ] {
            let failure = read(Path::new(name), text).unwrap_err().to_string();
            assert!(failure.contains(says), "{text}: {failure}");
        }
    }
}
