//! The figures that pages print, once: `docs/figures.toml`, which `bench` and `score` write and `tidy` holds the pages to.
//!
//! `96.9 %<!--=peers.generated_right-->` says that `96.9 %` is the figure `generated_right` of the group `peers`. A mark alone on its
//! line stands before a whole text, such as a table.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{fs, thread};

use anyhow::{Context, Result};
use toml::{Table, Value};

const FILE: &str = "docs/figures.toml";
const OPEN: &str = "<!--=";
const CLOSE: &str = "-->";

/// The pages in whose tables each figure has a mark.
const MARKED: [&str; 2] = ["README.md", "docs/figures.md"];
const UNITS: [&str; 4] = [" %", " MB/s", " ms", " µs"];

const HEAD: &str = "\
# The figures that README.md and docs/ print. `cargo xtask bench` and `cargo xtask score` write them, each command its own group;
# groups of other commands are written by hand. `cargo xtask tidy` fails where a page prints another figure.
# A page marks a figure with <!--=GROUP.NAME--> behind it, or alone on the line before a whole table.

";

/// Each mark whose page says something else, and each figure without a mark in a table of README or of the page of figures, with
/// its page and line.
pub fn breaches(files: &BTreeMap<String, Option<String>>) -> Vec<String> {
    let Some(Some(text)) = files.get(FILE) else { return Vec::new() };
    let groups: Table = match toml::from_str(text) {
        Ok(groups) => groups,
        Err(error) => return vec![format!("{FILE}:1: {}", error.message())],
    };
    let mut breaches = incomplete(&groups);
    for (path, text) in files {
        let Some(text) = text.as_ref().filter(|_| path.ends_with(".md")) else { continue };
        let mut at = 0;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            at += line.len();
            let behind = text.get(at..).unwrap_or_default();
            let wrong = on_line(line, behind, &groups);
            breaches.extend(wrong.into_iter().map(|why| format!("{path}:{number}: {why}")));
            if MARKED.contains(&path.as_str()) && line.starts_with('|') && has_unmarked(line) {
                breaches.push(format!("{path}:{number}: a figure of this row has no mark"));
            }
        }
    }
    breaches
}

/// Groups that do not say when, where and how they were measured.
fn incomplete(groups: &Table) -> Vec<String> {
    let lacks = |group: &Value, name: &str| group.get(name).and_then(Value::as_str).is_none();
    let names = ["date", "machine", "command"];
    let each = groups.iter().flat_map(|(key, group)| {
        names.into_iter().filter(move |name| lacks(group, name)).map(move |name| (key, name))
    });
    each.map(|(key, name)| format!("{FILE}:1: the group `{key}` lacks its `{name}`")).collect()
}

/// Marks of a line whose figure is another one.
fn on_line(line: &str, behind: &str, groups: &Table) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut parts = line.split(OPEN);
    let mut before = parts.next().unwrap_or_default();
    for part in parts {
        let (name, rest) = part.split_once(CLOSE).unwrap_or((part, ""));
        let figure = name.split_once('.').and_then(|(group, name)| groups.get(group)?.get(name)?.as_str());
        match figure {
            None => wrong.push(format!("{FILE} has no figure `{name}`")),
            Some(figure) if before.is_empty() && rest.trim().is_empty() => {
                if !behind.starts_with(figure) {
                    wrong.push(format!("`{name}` is another text in {FILE}"));
                }
            }
            Some(figure) => {
                let longer =
                    |rest: &str| rest.ends_with(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
                if before.strip_suffix(figure).is_none_or(longer) {
                    wrong.push(format!("`{name}` is {figure} in {FILE}"));
                }
            }
        }
        before = rest;
    }
    wrong
}

/// Whether a row of a table has a number with a unit and no mark behind it.
fn has_unmarked(row: &str) -> bool {
    UNITS.iter().any(|unit| {
        row.match_indices(unit).any(|(at, _)| {
            let (before, behind) = (row.get(..at), row.get(at + unit.len()..));
            before.is_some_and(|text| text.ends_with(|c: char| c.is_ascii_digit()))
                && behind.is_some_and(|text| !text.starts_with(OPEN))
        })
    })
}

/// Writes the figures of a group that were measured now, and keeps its others.
///
/// # Errors
/// The file cannot be read or written.
pub fn record(root: &Path, group: &str, command: &str, figures: &[(String, String)]) -> Result<()> {
    let path = root.join(FILE);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {FILE}"))?;
    let mut groups: Table = toml::from_str(&text)?;
    let entry = groups.entry(group).or_insert_with(|| Value::Table(Table::new()));
    let entry = entry.as_table_mut().with_context(|| format!("`{group}` of {FILE} is no table"))?;
    let cores = thread::available_parallelism()?;
    let machine = format!("{} {}, {cores} cores", std::env::consts::OS, std::env::consts::ARCH);
    let own = [("date", today()?), ("machine", machine), ("command", command.to_owned())];
    let figures = figures.iter().map(|(name, figure)| (name.as_str(), figure.clone()));
    for (name, figure) in own.into_iter().chain(figures) {
        entry.insert(name.to_owned(), Value::String(figure));
    }
    fs::write(&path, format!("{HEAD}{}", toml::to_string_pretty(&groups)?))?;
    Ok(())
}

/// `heal, broken: exact %` → `heal_broken_exact`
pub fn name_of(what: &str) -> String {
    let words = what.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

fn today() -> Result<String> {
    let said = Command::new("date").arg("+%Y-%m-%d").output()?;
    Ok(String::from_utf8(said.stdout)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str =
        "[a]\ndate = 'd'\nmachine = 'm'\ncommand = 'c'\nright = '96.9 %'\ntable = '''\n| 1 |\n'''\n";

    #[test]
    fn a_page_that_prints_another_figure_is_named() {
        for (page, says) in [
            ("| x | 96.8 %<!--=a.right--> |", Some("README.md:1: `a.right` is 96.9 %")),
            ("| x | 196.9 %<!--=a.right--> |", Some("`a.right` is 96.9 %")),
            ("| x | 96.9 % |", Some("README.md:1: a figure of this row has no mark")),
            ("\n<!--=a.table-->\n| 2 |\n", Some("README.md:2: `a.table` is another text")),
            ("1 %<!--=a.wrong-->", Some("has no figure `a.wrong`")),
            ("| x | 96.9 %<!--=a.right-->, 96.9 %<!--=a.right--> |", None),
            ("so 96.9 %<!--=a.right--> are\n<!--=a.table-->\n| 1 |\n", None),
        ] {
            let files = [("README.md", page), (FILE, DATA)];
            let files = files.map(|(path, text)| (path.to_owned(), Some(text.to_owned())));
            let found = breaches(&files.into_iter().collect());
            match says {
                None => assert!(found.is_empty(), "{page}: {found:?}"),
                Some(says) => assert!(found.len() == 1 && found[0].contains(says), "{page}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_group_says_when_where_and_how() {
        let files = [(FILE.to_owned(), Some("[a]\ndate = 'd'\nmachine = 'm'\n".to_owned()))];
        assert_eq!(
            breaches(&files.into_iter().collect()),
            [format!("{FILE}:1: the group `a` lacks its `command`")]
        );
    }

    #[test]
    fn names_are_words() {
        assert_eq!(name_of("heal, broken: exact %"), "heal_broken_exact");
    }
}
