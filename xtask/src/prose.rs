//! What is held of the documents, and of what programs say: in goes each file, out come words that prose does not use,
//! links that lead nowhere, and pages of the site that its summary does not list.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The words, and what to say instead.
const WORDS: &str = include_str!("../words.txt");

/// Turns of phrase that no native speaker writes, and what to write instead. What a program says is held to them, and pages are.
const PHRASES: [(&str, &str); 7] = [
    ("it is looked", "say who looks"),
    ("is looked for", "say who looks for it"),
    ("is looked at", "say who reads it"),
    ("are looked for", "say who looks for them"),
    ("of which", "begin a new sentence"),
    ("is none", "write `there is none`, or `has none`"),
    ("is no", "write `is not a`"),
];

/// Words at the head of a sentence that make a clause of it where help needs a statement.
const HEADS: [&str; 5] = ["What ", "Where ", "Which ", "How ", "Whether "];

/// The folder of the site, and its list of pages.
const SITE: &str = "docs";
const SUMMARY: &str = "docs/SUMMARY.md";

/// Where a file of the project is read by people who have no clone.
const PROJECT: &str = "https://github.com/callwright/callwright/blob/main/";

/// The comments that are a command's help.
const HELP: &str = "crates/callwright-cli/src/args/";

/// The crates all of whose documentation is statements.
const STATED: [&str; 15] = [
    "crates/callwright/src/",
    "crates/callwright-agent/src/",
    "crates/callwright-cli/src/",
    "crates/callwright-gateway/src/",
    "crates/callwright-json/src/",
    "crates/callwright-macros/src/",
    "crates/callwright-python/src/",
    "crates/callwright-relay/src/",
    "crates/callwright-replay/src/",
    "crates/callwright-schema/src/",
    "crates/callwright-store/src/",
    "crates/callwright-template/src/",
    "crates/callwright-value/src/",
    "crates/callwright-view/src/",
    "crates/callwright-wasm/src/",
];

/// Where the sources of a crate stand, in whose comments, help and texts people meet what the engine does.
const CRATES: &str = "crates/callwright";

/// Each breach, one sentence with its file and line. `files` has every file of the project by its path, with its text
/// where it is one.
pub(crate) fn breaches(files: &BTreeMap<String, Option<String>>) -> Vec<String> {
    let mut breaches = Vec::new();
    for (path, text) in files {
        let Some(text) = text else { continue };
        if path.ends_with(".md") {
            for (number, line) in prose(text) {
                let line = without_targets(&line);
                let found = words(&line).map(|(_, why)| why).chain(phrases(&line));
                breaches.extend(found.map(|why| format!("{path}:{number}: {why}")));
            }
            for (number, target) in links(text) {
                breaches.extend(link(path, &target, files).map(|why| format!("{path}:{number}: {why}")));
            }
        } else if is_told(path) {
            // Tests hold texts of models.
            let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
            let is_help = path.starts_with(HELP);
            let is_stated = is_help || STATED.iter().any(|sources| path.starts_with(sources));
            let (mut is_example, mut is_within, mut goes_on_from_doc) = (false, false, false);
            for (number, line) in (1..).zip(lines) {
                let comment = line.trim_start().trim_start_matches(['/', '!']).trim_start();
                is_example ^= line.trim_start().starts_with("//") && comment.starts_with("```");
                if is_example {
                    continue;
                }
                let (told, is_comment, goes_on) = told(line, is_within);
                is_within = goes_on;
                let found = words(&told).filter(|(word, _)| is_comment || !NAMES.contains(word));
                breaches.extend(found.map(|(_, why)| format!("{path}:{number}: {why}")));
                let doc = told.strip_prefix(['/', '!']).map(str::trim).filter(|_| is_comment);
                let is_head = is_help || !goes_on_from_doc;
                goes_on_from_doc = doc.is_some_and(|doc| !doc.is_empty());
                let found = match is_comment {
                    true => doc.filter(|_| is_stated).and_then(|doc| statement(doc, is_head)),
                    false => phrases(&told).next(),
                };
                breaches.extend(found.map(|why| format!("{path}:{number}: {why}")));
            }
        }
    }
    breaches.extend(unlisted(files));
    breaches
}

/// Why a line of documentation is not a statement: `What to write.`, `Is it JSON?` Only the head of a comment begins one.
fn statement(doc: &str, is_head: bool) -> Option<String> {
    if doc.contains("? ") || doc.ends_with('?') {
        return Some(String::from("a comment asks nothing: write a statement"));
    }
    let head = HEADS.iter().find(|head| is_head && doc.starts_with(**head));
    let head =
        head.map(|head| format!("a comment does not begin with `{}`: write a statement", head.trim_end()));
    head.or_else(|| phrases(doc).next())
}

/// The turns of phrase of a line that no native speaker writes.
fn phrases(line: &str) -> impl Iterator<Item = String> + use<> {
    let line = line.to_lowercase();
    // `There is no session`, `is no longer` and `is no more than` are English.
    let kept = [
        "some of which",
        "there is no",
        "is there no",
        "is no longer",
        "is no more",
        "is no less",
        "is no different",
    ];
    let line = kept.iter().fold(line, |line, english| line.replace(english, ""));
    PHRASES
        .iter()
        .filter(move |(phrase, _)| has_word(&line, phrase))
        .map(|(phrase, instead)| format!("`{phrase}` is not said; {instead}"))
}

/// Values of the configuration, which texts list without ticks.
const NAMES: [&str; 1] = ["heal"];

fn is_told(path: &str) -> bool {
    let place = path.strip_prefix(CRATES).and_then(|rest| rest.split_once('/'));
    place.is_some_and(|(_, place)| place.starts_with("src/") && place.ends_with(".rs"))
}

/// What a line of Rust tells people: its comment, or its texts. Then whether it is a comment, and whether a text goes on in the
/// next line, as one of the line before does where it `is_within`. A text of one word is a name.
fn told(line: &str, is_within: bool) -> (String, bool, bool) {
    // Raw texts hold quotes of their own, so that nothing tells where one ends.
    let is_raw = line.contains("r#\"") || line.contains("\"#");
    let is_within = is_within && !line.trim_start().starts_with("//");
    let line = line.replace("\\\"", "'").replace("'\"'", "' '");
    let comment = line.split_once("//").filter(|(code, _)| !is_within && code.matches('"').count() % 2 == 0);
    if let Some((_, comment)) = comment {
        // Python in a comment is code.
        return (without_code(comment.split(">>>").next().unwrap_or_default()), true, false);
    }
    let texts = line.split('"').skip(usize::from(!is_within)).step_by(2).filter(|text| text.contains(' '));
    let told = texts.map(without_code).collect::<Vec<_>>().join("; ");
    (told, false, !is_raw && is_within ^ (line.matches('"').count() % 2 == 1))
}

/// The lines of a page that are prose: no blocks of code, and no code within a line.
fn prose(page: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(page.lines()) {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push((number, without_code(line)));
        }
    }
    lines
}

/// A line without what stands between ticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// A line without the targets of its links.
fn without_targets(line: &str) -> String {
    let mut parts = line.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "](" + part.split_once(')').map_or("", |(_, rest)| rest))
}

/// The words of a line that prose does not use, and what to say.
fn words(line: &str) -> impl Iterator<Item = (&'static str, String)> + use<> {
    let line = line.to_lowercase();
    let pairs = WORDS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
    pairs
        .filter(move |(word, _)| has_word(&line, word))
        .map(|(word, instead)| (word, format!("`{word}` is not used in prose; {instead}")))
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// The targets of a page's links, with their lines.
fn links(page: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(page) {
        for part in line.split("](").skip(1) {
            if let Some((target, _)) = part.split_once(')') {
                links.push((number, target.to_owned()));
            }
        }
    }
    links
}

/// What is wrong with a link of the page at `path`.
fn link(path: &str, target: &str, files: &BTreeMap<String, Option<String>>) -> Option<String> {
    let (target, anchor) =
        target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let there = match target.strip_prefix(PROJECT) {
        Some(rest) => rest.to_owned(),
        None if target.contains(':') => return None,
        None if target.is_empty() => path.to_owned(),
        None => match beside(path, target) {
            Some(there) => there,
            None => return Some(format!("`{target}` leads out of the project")),
        },
    };
    let is_site = |path: &str| path.starts_with(&format!("{SITE}/"));
    if is_site(path) && !is_site(&there) && !target.starts_with(PROJECT) {
        return Some(format!("`{target}` is not on the site: link it as {PROJECT}{there}"));
    }
    let Some(page) = files.get(&there) else {
        let folder = format!("{}/", there.trim_end_matches('/'));
        let is_folder = files.keys().any(|file| file.starts_with(&folder));
        return (!is_folder).then(|| format!("`{target}` leads nowhere"));
    };
    let anchor = anchor?;
    let is_there = page.as_ref().is_some_and(|page| anchors(page).iter().any(|slug| slug == anchor));
    (!is_there).then(|| format!("`{target}` has no heading `#{anchor}`"))
}

/// Where a relative link leads, from the project's root.
fn beside(path: &str, target: &str) -> Option<String> {
    let mut place = Path::new(path).parent().map(PathBuf::from).unwrap_or_default();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => {
                if !place.pop() {
                    return None;
                }
            }
            Component::Normal(name) => place.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    place.to_str().map(str::to_owned)
}

/// What the headings of a page are called in addresses. Equal headings are counted: `a`, `a-1`.
fn anchors(page: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut is_code = false;
    for line in page.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let keep = |c: char| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        };
        let slug: String = heading.trim().to_lowercase().chars().filter_map(keep).collect();
        let n_before = anchors.iter().filter(|other| **other == slug).count();
        anchors.push(if n_before == 0 { slug } else { format!("{slug}-{n_before}") });
    }
    anchors
}

/// Pages of the site that its summary does not list, or lists twice.
fn unlisted(files: &BTreeMap<String, Option<String>>) -> Vec<String> {
    let Some(Some(summary)) = files.get(SUMMARY) else { return Vec::new() };
    let listed: Vec<String> =
        links(summary).into_iter().filter_map(|(_, target)| beside(SUMMARY, &target)).collect();
    let pages = files.keys().filter(|path| {
        path.starts_with(&format!("{SITE}/")) && path.ends_with(".md") && path.as_str() != SUMMARY
    });
    let count = |page: &String| listed.iter().filter(|other| *other == page).count();
    pages
        .filter(|page| count(page) != 1)
        .map(|page| format!("{SUMMARY}:1: lists {page} {} times, not once", count(page)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())));
        breaches(&files.collect())
    }

    #[test]
    fn each_rule_finds_its_breach() {
        for (files, says) in [
            (&[("README.md", "What was Mended.")][..], "README.md:1: `mended`"),
            (&[("README.md", "a\n\nHealed calls")], "README.md:3: `healed`"),
            (&[("docs/SUMMARY.md", "The text is no call.")], "`is no` is not said"),
            (&[("crates/callwright-cli/src/a.rs", "f(\"a list of which one is right\")\n")], "`of which`"),
            (
                &[("crates/callwright-cli/src/args/a.rs", "    /// What to write.\n")],
                "a comment does not begin with `What`",
            ),
            (
                &[("crates/callwright-cli/src/a.rs", "f(\"a text \\\n that is no call\")\n")],
                "a.rs:2: `is no`",
            ),
            (&[("crates/callwright-cli/src/args/a.rs", "    /// Is it JSON?\n")], "a comment asks nothing"),
            (&[("crates/callwright-json/src/a.rs", "/// A.\n/// Is it? Yes.\n")], "a.rs:2: a comment asks"),
            (&[("crates/callwright-json/src/a.rs", "//! A.\n//!\n//! Where it is.\n")], "begin with `Where`"),
            (&[("crates/callwright-cli/src/args/a.rs", "    /// It heals.\n")], "args/a.rs:1: `heals`"),
            (
                &[("crates/callwright/src/a.rs", "/// ```\n/// a\n/// ```\n/// It was mended.\n")],
                "src/a.rs:4: `mended`",
            ),
            (&[("crates/callwright-store/src/a.rs", "f(\"it was \\\"x\\\" mended\")\n")], "a.rs:1: `mended`"),
            (&[("docs/a.md", "[b](b.md)")], "docs/a.md:1: `b.md` leads nowhere"),
            (&[("docs/a.md", "[b](../README.md)"), ("README.md", "")], "is not on the site"),
            (&[("a.md", "[b](#c)\n\n## B\n")], "has no heading `#c`"),
            (&[("a.md", "[b](docs/b.md#c)"), ("docs/b.md", "```sh\n# c\n```")], "has no heading `#c`"),
            (&[("a.md", &format!("[b]({PROJECT}b)"))], "leads nowhere"),
            (&[("a.md", "[b](../b)")], "leads out of the project"),
            (
                &[("docs/SUMMARY.md", "- [a](a.md)"), ("docs/a.md", ""), ("docs/b.md", "")],
                "lists docs/b.md 0 times",
            ),
        ] {
            let found = found(files);
            assert!(found.len() == 1 && found[0].contains(says), "{files:?}: {found:?}");
        }
    }

    #[test]
    fn what_only_looks_like_a_breach_passes() {
        for files in [
            &[
                ("README.md", "There is no call, and it is no longer than `a is no b`."),
                (
                    "crates/callwright-json/src/a.rs",
                    "/// `a?`\n/// What it is.\n\n// What?\n/// ```\n/// f()?\n/// ```\n",
                ),
            ][..],
            &[("README.md", "`callwright heal` and [x](https://a.example/mended), `a`mendment, healthy")][..],
            &[("crates/callwright-cli/src/a.rs", "\"healed\" => mended(\"a b\"), // `mends` it\n")],
            &[("crates/callwright-cli/tests/a.rs", "// mend"), ("crates/a/src/a.rs", "// mend")],
            &[("crates/callwright/src/a.rs", "/// ```\n/// let mended = 1;\n/// ```\n")],
            &[("README.md", "```sh\nmended\n[a](b)\n```\n")],
            &[("a.md", "[b](#two-words-here) [c](docs)\n## Two `words`, here\n"), ("docs/SUMMARY.md", "")],
            &[("docs/SUMMARY.md", "- [a](a.md)"), ("docs/a.md", "[b](c/b.md#d)"), ("docs/c/b.md", "# D")]
                [..1],
        ] {
            let found = found(files);
            let found: Vec<_> = found.iter().filter(|breach| !breach.contains("leads nowhere")).collect();
            assert!(found.is_empty(), "{files:?}: {found:?}");
        }
    }
}
