//! The house rules that reading lines can hold: in goes every file that git knows or would add, out come
//! breaches and notes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use steps::{figures, root};

use crate::{pinned, prose, structure};

/// What reading the files found.
#[derive(Default)]
pub(crate) struct House {
    /// Sentences that fail the run, each with its file and line.
    pub(crate) breaches: Vec<String>,
    /// Sentences that do not.
    pub(crate) notes: Vec<String>,
}

/// From this length on a source file is named; from [`TOO_LONG`] on it fails.
const LONG: usize = 900;
const TOO_LONG: usize = 1200;

/// Folders of recorded or made texts, which may say anything.
const DATA: [&str; 3] = ["corpus/", "fuzz/corpus/", "crates/callwright-cli/demo/"];

/// The crates whose sources must be pure.
const PURE: [&str; 4] = [
    "crates/callwright/src/",
    "crates/callwright-json/src/",
    "crates/callwright-schema/src/",
    "crates/callwright-value/src/",
];
const WORLD: [&str; 6] = ["time", "env", "fs", "net", "process", "thread"];
const PRINTERS: [&str; 5] = ["println!", "print!", "eprintln!", "eprint!", "dbg!"];

// The forbidden words are written in two pieces, so that this file passes its own check.
const IGNORED: &str = concat!("#[", "ignore");
const LATER: [&str; 3] = [concat!("TO", "DO"), concat!("to", "do!("), concat!("unimple", "mented!(")];
const BANNERS: [&str; 3] = [concat!("// --", "--"), concat!("// ==", "=="), concat!("//////", "//")];
const PLACES: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
const TICKETS: [&str; 2] = [concat!("iss", "ue"), concat!("sess", "ion")];

/// Reads all files of the workspace.
pub(crate) fn read() -> Result<House> {
    let root = root()?;
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output()
        .context("cannot run git")?;
    ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    let mut house = House::default();
    let mut files = BTreeMap::new();
    for path in String::from_utf8_lossy(&output.stdout).lines() {
        // A file that is no text has no lines to read, and one that is deleted but still known is not there.
        let text = fs::read_to_string(root.join(path)).ok();
        if let Some(text) = &text {
            house.file(path, text);
        }
        if text.is_some() || root.join(path).exists() {
            files.insert(path.to_owned(), text);
        }
    }
    house.breaches.extend(prose::breaches(&files));
    house.breaches.extend(figures::breaches(&files));
    let structure = structure::read(&files);
    house.breaches.extend(structure.breaches);
    house.notes.extend(structure.notes);
    Ok(house)
}

impl House {
    fn file(&mut self, path: &str, text: &str) {
        if DATA.iter().any(|folder| path.starts_with(folder)) || path == "Cargo.lock" {
            return;
        }
        let rust = path.ends_with(".rs");
        if rust && path.contains("src/") {
            self.name_and_length(path, text);
        }
        if path.starts_with("crates/") && path.ends_with("/Cargo.toml") {
            self.manifest(path, text);
        }
        if path == "crates/callwright-json/src/lib.rs" && !text.contains("#![no_std]") {
            self.breach(path, 1, "callwright-json is `#![no_std]`");
        }
        for (line, what) in pinned::breaches(path, text) {
            self.breach(path, line, what);
        }
        // What stands below `#[cfg(test)] mod` is in nobody's binary.
        let mut pure = PURE.iter().any(|folder| path.starts_with(folder));
        let mut group = None;
        for (number, line) in (1..).zip(text.lines()) {
            self.any_line(path, number, line);
            if rust {
                self.rust_line(path, number, line);
                pure &= !line.starts_with("mod tests");
            }
            if pure {
                self.pure_line(path, number, line, &mut group);
            }
        }
    }

    fn name_and_length(&mut self, path: &str, text: &str) {
        let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
        let parent = Path::new(path).parent().and_then(Path::file_name).and_then(|p| p.to_str());
        for name in ["utils", "util", "helpers", "helper", "common", "misc"] {
            if stem == name || parent == Some(name) {
                self.breach(path, 1, "a module is named for its subject");
            }
        }
        let lines = text.lines().count();
        if TOO_LONG < lines {
            self.breach(path, lines, "a source file of more than 1,200 lines has two subjects");
        } else if LONG < lines {
            self.notes.push(format!("{path} has {lines} lines"));
        }
    }

    fn manifest(&mut self, path: &str, manifest: &str) {
        let is_published = !manifest.contains("\npublish = false\n");
        let mut missing = ["description", "readme", "homepage", "keywords", "categories"].into_iter();
        if is_published && let Some(key) = missing.find(|key| !manifest.contains(&format!("\n{key} = "))) {
            self.breach(path, 1, &format!("a crate that is published has `{key}`"));
        }
        if !manifest.contains("[lints]\nworkspace = true") {
            self.breach(path, 1, "the workspace's lints, which forbid unsafe code, are not switched on");
        }
    }

    fn any_line(&mut self, path: &str, number: usize, line: &str) {
        for place in PLACES {
            // Only where the path begins with it: the middle of a relative path is nobody's machine.
            let starts = line.match_indices(place).any(|(at, _)| {
                !line[..at]
                    .ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '}'))
            });
            if starts {
                self.breach(path, number, "a path of one machine");
            }
        }
        if LATER.iter().any(|word| line.contains(word)) {
            self.breach(path, number, "work left for later is said to people, not to the file");
        }
        if TICKETS.iter().any(|word| names_a_ticket(line, word)) {
            self.breach(path, number, "a ticket's number says nothing to a reader");
        }
    }

    fn rust_line(&mut self, path: &str, number: usize, line: &str) {
        if line.trim_start().starts_with(IGNORED) {
            self.breach(path, number, "a test that is switched off; assert what is, with a FIXME");
        }
        if BANNERS.iter().any(|banner| line.trim_start().starts_with(banner)) {
            self.breach(path, number, "a section banner; make it a module");
        }
    }

    /// `group` is the text of an open `use std::{ …` so far.
    fn pure_line(&mut self, path: &str, number: usize, line: &str, group: &mut Option<String>) {
        let code = line.trim_start();
        if code.starts_with("//") {
            return;
        }
        if let Some(printer) = PRINTERS.iter().find(|printer| calls(code, printer)) {
            self.breach(path, number, &format!("`{printer}` in a crate that returns values"));
        }
        if let Some(part) = WORLD.iter().find(|part| calls(code, &format!("std::{part}"))) {
            self.breach(path, number, &format!("`std::{part}` in a pure crate"));
        }
        if let Some((_, rest)) = code.split_once("std::{") {
            *group = Some(String::from(rest));
        } else if let Some(open) = group {
            open.push_str(code);
        }
        let Some(open) = group else { return };
        if !open.contains(';') {
            return;
        }
        let words: Vec<&str> = open.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        if let Some(part) = WORLD.iter().find(|part| words.contains(part)) {
            self.breach(path, number, &format!("`std::{part}` in a pure crate"));
        }
        *group = None;
    }

    fn breach(&mut self, path: &str, line: usize, what: &str) {
        self.breaches.push(format!("{path}:{line}: {what}"));
    }
}

/// Does `code` hold `word`, and not as the tail or the head of a longer one?
fn calls(code: &str, word: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        !code[..at].ends_with(part) && (word.ends_with('!') || !code[at + word.len()..].starts_with(part))
    })
}

/// `see <word> 12`, `<word> #12`: the word, then a number.
fn names_a_ticket(line: &str, word: &str) -> bool {
    let line = line.to_ascii_lowercase();
    line.match_indices(word).any(|(at, _)| {
        let rest = &line[at + word.len()..];
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let number = rest.strip_prefix(" #").or_else(|| rest.strip_prefix(' '));
        number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> Vec<String> {
        let mut house = House::default();
        house.file(path, text);
        house.breaches
    }

    const PURE_FILE: &str = "crates/callwright/src/scan.rs";

    #[test]
    fn each_rule_finds_its_breach() {
        let cases = [
            ("crates/x/src/utils.rs", String::new()),
            ("crates/x/src/common/one.rs", String::new()),
            ("crates/x/src/a.rs", "fn f() {}\n".repeat(TOO_LONG + 1)),
            ("crates/x/src/a.rs", format!("{IGNORED}]")),
            ("crates/x/src/a.rs", format!("    {}", LATER[1])),
            ("crates/x/src/a.rs", format!("{}-- helpers", BANNERS[0])),
            ("README.md", format!("see `{}main`", PLACES[0])),
            ("docs/a.md", format!("{} 12 says so", TICKETS[0])),
            ("docs/a.md", format!("asked in {} #7", TICKETS[1].to_uppercase())),
            ("crates/x/Cargo.toml", String::from("[package]\npublish = false\n")),
            (
                "crates/x/Cargo.toml",
                String::from("[package]\ndescription = \"x\"\n[lints]\nworkspace = true"),
            ),
            ("crates/callwright-json/src/lib.rs", String::from("//! json")),
            (PURE_FILE, String::from("use std::fs;")),
            (PURE_FILE, String::from("use std::{\n    collections::HashMap,\n    time::Instant,\n};")),
            (PURE_FILE, String::from("    let now = std::time::Instant::now();")),
            (PURE_FILE, String::from("    println!(\"{x}\");")),
        ];
        for (path, text) in cases {
            assert_eq!(breaches(path, &text).len(), 1, "{path}: {text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_breach_passes() {
        let cases = [
            (PURE_FILE, "/// println!(\"{x}\");"),
            (PURE_FILE, "use std::{\n    borrow::Cow,\n    collections::HashMap,\n};"),
            (PURE_FILE, "#[cfg(test)]\nmod tests {\n    use std::fs;\n}"),
            (PURE_FILE, "let time = fs(process);"),
            ("crates/callwright-cli/src/main.rs", "use std::fs;"),
            ("crates/x/src/a.rs", "    // - a list item\n// --- is prose"),
            ("README.md", "target/work/x, the session store, an issue of 3 kinds"),
        ];
        for (path, text) in cases {
            assert_eq!(breaches(path, text), Vec::<String>::new(), "{path}: {text}");
        }
        // What a model wrote may name any place.
        assert_eq!(
            breaches("corpus/seed.toml", &format!("text = '{}app.py'", PLACES[1])),
            Vec::<String>::new()
        );
    }
}
