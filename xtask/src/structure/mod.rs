//! The shape of each crate: in go the sources, out come circles of files, functions, structs and shares of predicates that
//! are over their limits.

mod functions;
mod modules;
mod tokens;

use std::collections::BTreeMap;

use functions::{functions, structs};
use modules::Modules;
use tokens::tokens;

/// The limits, each with the figure that a crate may have.
const LIMITS: [(Limit, usize); 4] =
    [(Limit::Circle, 5), (Limit::Functions, 0), (Limit::Structs, 0), (Limit::Predicates, 15)];

/// The most lines of code in the body of a function.
const MOST_LINES: usize = 60;
/// The most branches of a function. A `match` counts once: its arms are a table.
const MOST_BRANCHES: usize = 25;
/// The most members of a struct that are `bool`.
const MOST_BOOLS: usize = 3;

/// The fewest functions of which a share is taken.
const FEWEST: usize = 50;
/// The most sentences that say where a figure comes from.
const MOST_SENTENCES: usize = 15;

/// Ends of the names of structs that hold nothing but what a user switches on.
const SWITCHES: [&str; 2] = ["Args", "Options"];

/// A limit on the shape of a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Limit {
    /// The files of the largest circle of files that use each other.
    Circle,
    /// The functions that are too long, or branch too often.
    Functions,
    /// The structs with too many members that are `bool`.
    Structs,
    /// The share of the functions that return `bool`, in percent.
    Predicates,
}

/// The crates that are over a limit, each with its figure, which never rises, and the reason.
const EXCEPTIONS: [(&str, Limit, usize, &str); 5] = [
    (ENGINE, Limit::Functions, 3, "the recognition decides in long rows of conditions"),
    (ENGINE, Limit::Structs, 10, "the state of the recognition is kept in single facts"),
    (ENGINE, Limit::Predicates, 22, "the recognition asks a text one question after another"),
    (
        "crates/callwright-json",
        Limit::Predicates,
        20,
        "the search asks at each byte whether a way may go on there",
    ),
    ("crates/callwright-replay", Limit::Structs, 1, "each habit of a server is switched on by itself"),
];
const ENGINE: &str = "crates/callwright";

/// A crate's figure for one limit, and a sentence for each thing that adds to it.
#[derive(Default)]
struct Figure {
    is: usize,
    because: Vec<String>,
}

/// What reading the sources found.
#[derive(Default)]
pub(crate) struct Structure {
    /// Figures that are over their limits.
    pub(crate) breaches: Vec<String>,
    /// Exceptions that could be tighter.
    pub(crate) notes: Vec<String>,
}

/// Holds each crate of `files` to the limits.
pub(crate) fn read(files: &BTreeMap<String, Option<String>>) -> Structure {
    let mut structure = Structure::default();
    for ((name, limit), Figure { is, because }) in figures(files) {
        let exception = EXCEPTIONS.iter().find(|(of, about, ..)| *of == name && *about == limit);
        let mut limits = LIMITS.iter().filter(|(about, _)| *about == limit).map(|(_, most)| *most);
        let most = exception.map(|(.., figure, _)| *figure).or(limits.next_back()).unwrap_or_default();
        if most < is {
            let parts = because.iter().take(MOST_SENTENCES);
            let parts = parts.map(|sentence| format!("\n    {sentence}")).collect::<String>();
            structure.breaches.push(format!("{name}: {}: {is}, and {most} at most{parts}", limit.about()));
        } else if is < most && exception.is_some() {
            structure.notes.push(format!("{name}: {}: {is}; the exception says {most}", limit.about()));
        }
    }
    structure
}

impl Limit {
    fn about(self) -> &'static str {
        match self {
            Limit::Circle => "files in one circle",
            Limit::Functions => "functions that are too long or branch too often",
            Limit::Structs => "structs with too many members that are `bool`",
            Limit::Predicates => "percent of the functions return `bool`",
        }
    }
}

/// The figures of each crate by its folder.
fn figures(files: &BTreeMap<String, Option<String>>) -> BTreeMap<(&str, Limit), Figure> {
    let sources = files.iter().filter(|(path, _)| path.ends_with(".rs"));
    let sources = sources.filter_map(|(path, text)| Some((path.as_str(), tokens(text.as_deref()?))));
    let sources: BTreeMap<&str, _> = sources.filter(|(path, _)| path.contains("/src/")).collect();
    let mut figures: BTreeMap<(&str, Limit), Figure> = BTreeMap::new();
    let mut all: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (path, tokens) in &sources {
        let Some((name, _)) = path.split_once("/src/") else { continue };
        for function in functions(tokens) {
            let (n, n_predicates) = all.entry(name).or_default();
            *n += 1;
            *n_predicates += usize::from(function.is_predicate);
            if MOST_LINES < function.n_lines || MOST_BRANCHES < function.n_branches {
                let (lines, branches) = (function.n_lines, function.n_branches);
                let sentence = format!("{path}:{}: {lines} lines, {branches} branches", function.line);
                figures.entry((name, Limit::Functions)).or_default().add(sentence);
            }
        }
        for with in structs(tokens).filter(|with| MOST_BOOLS < with.n_bools) {
            if !SWITCHES.iter().any(|end| with.name.ends_with(end)) {
                let sentence = format!("{path}:{}: {} of `{}`", with.line, with.n_bools, with.name);
                figures.entry((name, Limit::Structs)).or_default().add(sentence);
            }
        }
        if ["lib.rs", "main.rs"].iter().any(|root| path.split_once("/src/") == Some((name, root))) {
            let circle = Modules::of(path, &sources).largest_circle();
            figures.insert((name, Limit::Circle), Figure { is: circle.len(), because: circle });
        }
    }
    let shares = all.into_iter().filter(|(_, (n, _))| FEWEST <= *n).map(|(name, (n, n_predicates))| {
        let because = vec![format!("{n_predicates} of {n}")];
        ((name, Limit::Predicates), Figure { is: (n_predicates * 100).div_ceil(n), because })
    });
    figures.extend(shares);
    figures
}

impl Figure {
    fn add(&mut self, sentence: String) {
        self.is += 1;
        self.because.push(sentence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().map(|(path, text)| (format!("x/src/{path}"), Some((*text).to_owned())));
        read(&files.collect()).breaches
    }

    /// A root with the files `a` to `f`, each of which takes a name of the next one, and `f` what stands at `last`.
    fn chain(last: &str) -> Vec<String> {
        let text = |path: &str| format!("use {path};\npub struct X;\n");
        let next = ["crate::b::X", "crate::c::X", "super::d", "crate::{e::X as Y}", "super::f::*"].map(text);
        let [a, b, c, d, e] = next.each_ref().map(String::as_str);
        let root = "mod a;\nmod b;\nmod c;\nmod d;\nmod e;\nmod f;\npub use a::X;\nuse std::a as g;";
        let f = format!("fn f() {{ let x = {last}; }}\n#[cfg(test)]\nmod tests {{ use crate::a::X; }}\n");
        let files = [("lib.rs", root), ("a.rs", a), ("b/mod.rs", b), ("c.rs", c), ("d.rs", d), ("e.rs", e)];
        found(&[&files[..], &[("f.rs", &f)]].concat())
    }

    #[test]
    fn a_circle_is_found_however_a_file_is_named() {
        for last in ["crate::a::X", "super::a::new()", "crate::X"] {
            let found = chain(last);
            assert!(found.len() == 1 && found[0].contains("in one circle: 6, and 5"), "{last}: {found:?}");
        }
        let elsewhere = ["crate::g::X", "a::X", "\"crate::a::X\"", "'\\'' // crate::a::X"];
        for last in elsewhere.into_iter().chain(["1; pub(in crate::a) fn g() {}"]) {
            assert_eq!(chain(last), Vec::<String>::new(), "{last}");
        }
    }

    #[test]
    fn each_other_limit_finds_its_breach() {
        let long = format!("fn f(x: &str) -> &str {{\n{}    x\n}}\n", "    x;\n".repeat(MOST_LINES));
        let forks = format!("fn f() {{ {} }}\n", "if a && b { c || d; }".repeat(MOST_BRANCHES / 3 + 1));
        let switches = "struct S<'a> { a: bool, pub b: bool, c: bool, d: bool, e: &'a str }\n";
        let predicates =
            "fn a() -> bool { true }\nfn b() -> Result<bool, ()> { c(|| d) }\n".repeat(FEWEST / 2);
        for (text, says) in [
            (&*long, "a.rs:1: 61 lines, 0 branches"),
            (&*forks, "a.rs:1: 1 lines, 27 branches"),
            (switches, "a.rs:1: 4 of `S`"),
            (&*predicates, "return `bool`: 50, and 15 at most\n    25 of 50"),
        ] {
            let found = found(&[("a.rs", text)]);
            assert!(found.len() == 1 && found[0].contains(says), "{says}: {found:?}");
        }
        for text in [
            format!("#[cfg(test)]\nmod tests {{\n{long}{switches}{predicates}}}\n"),
            format!("// {}", predicates.replace('\n', " ")),
            long.replacen("    x;\n", "\n    // x;\n", 1),
            switches.replace("struct S", "struct SomeOptions"),
            forks.replace("&&", ",").replace("||", "= ||"),
        ] {
            assert_eq!(found(&[("a.rs", &text)]), Vec::<String>::new(), "{text}");
        }
    }
}
