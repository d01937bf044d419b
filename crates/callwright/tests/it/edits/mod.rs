//! One edit of one token: what `heal` makes of a right text in which a token is missing, doubled, of another sort, or has noise
//! beside it. All operations on all tokens at all depths, in three layouts. And one habit of writing strings, in all of them.
//!
//! There are two seeds. `WORK` is there to be worked on; `JUDGE` takes schemas, values and signs from the other half of the
//! pool. Never tune on `JUDGE`. `EDITS=work` prints what is not read as it was meant; `EDITS_TO=FOLDER` writes the texts of
//! `JUDGE` there, for other readers.
#![allow(clippy::print_stdout, reason = "the figures are what it is run for")]

mod repeated;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use callwright::value::Value;
use callwright::{Context, Schema, heal, json};
use callwright_json::strict;
use serde::Deserialize;

use crate::common::question::{Question, Tools};

/// What is to be read as it was meant of a hundred texts, and how many may be read otherwise, on each seed. An edit may
/// take away what nobody can know: the number at the end of a text was cut as likely as its bracket.
const FLOORS: [(Seed, f64, f64); 2] = [(Seed::Work, 94.0, 0.7), (Seed::Judge, 94.0, 0.7)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seed {
    Work,
    Judge,
}

impl Seed {
    fn pool(self, pools: &Pools) -> &Pool {
        match self {
            Seed::Work => &pools.work,
            Seed::Judge => &pools.judge,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pools {
    work: Pool,
    judge: Pool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pool {
    /// What slips in between tokens.
    noise: Vec<String>,
    /// What stands for a quote, a colon, a comma.
    quotes: Vec<String>,
    colons: Vec<String>,
    commas: Vec<String>,
    /// Words in front of a text, and behind it.
    before: Vec<String>,
    behind: Vec<String>,
    tool: Vec<Tool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    schema: String,
    values: Vec<String>,
}

#[test]
fn one_edit_of_one_token() {
    hold("edits", FLOORS, edits);
}

/// The same where nobody gives a schema: a text with a key, a quote or a bracket of its own too few may then be another one.
/// What is wrong of these texts lies in brackets alone: `{"a": {"b": 1, "c": 2}` says nothing of what `c` belongs to.
const BARE_FLOORS: [(Seed, f64, f64); 2] = [(Seed::Work, 70.0, 2.0), (Seed::Judge, 70.0, 2.0)];

#[test]
fn one_edit_without_a_schema() {
    hold_bare(BARE_FLOORS, edits);
}

/// What is to be read as it was meant of a hundred texts whose strings are all written in one habit, and how many may be read
/// otherwise. An escape that nobody escaped may be one: where that is not known, the text is refused.
const HABIT_FLOORS: [(Seed, f64, f64); 2] = [(Seed::Work, 94.0, 0.7), (Seed::Judge, 94.0, 0.7)];

#[test]
fn one_habit_of_all_strings() {
    hold("habits", HABIT_FLOORS, |text, _| habits(text));
}

/// How many texts with a word beside the quotes of a value may be read otherwise than they were meant. What the word is there
/// for nobody knows: most are refused.
const WORD_FLOORS: [(Seed, f64, f64); 2] = [(Seed::Work, 0.0, 1.0), (Seed::Judge, 0.0, 1.0)];

#[test]
fn one_word_beside_a_text() {
    hold("words", WORD_FLOORS, words);
    hold_bare(WORD_FLOORS, words);
}

/// The table of other libraries has a line that says what of these texts was read here as it was made.
#[test]
fn what_is_published_is_what_is_read() {
    let Ok(page) = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/comparison.md"))
    else {
        // Whoever has this crate alone has no page.
        return;
    };
    let pools = pools();
    let mut tally = Tally::default();
    for sample in
        samples(&pools.judge, edits).into_iter().chain(samples(&pools.judge, |text, _| habits(text)))
    {
        tally.add(&sample.edited.kind, sample.outcome());
    }
    let Row([exact, refused, wrong]) = tally.all();
    let line = format!("<!-- generated: {exact} right, {wrong} wrong, {refused} refused -->");
    assert!(page.contains(&line), "`cargo xtask bench peers` writes the table anew: {line}");
}

/// Visits each edited text of both seeds as the arguments of a native call.
pub(crate) fn each_question(visit: &mut dyn FnMut(&Question<'_>)) {
    let made: [fn(&str, &Pool) -> Vec<Edited>; 3] = [edits, |text, _| habits(text), words];
    let pools = pools();
    let context = Context { finish_reason: Some("stop"), ..Context::default() };
    let mut tools: HashMap<&str, Tools> = HashMap::new();
    for pool in [&pools.work, &pools.judge] {
        for sample in made.iter().flat_map(|made| samples(pool, made)) {
            let tools = tools.entry(&sample.tool.schema).or_insert_with_key(|schema| {
                Tools::new(&format!(r#"[{{"name": "f", "parameters": {schema}}}]"#))
            });
            visit(&Question {
                tools,
                apart: "",
                text: "",
                native: Some(("f", &sample.edited.text)),
                context: &context,
                dialects: "",
            });
        }
    }
}

fn pools() -> Pools {
    toml::from_str(include_str!("pools.toml")).unwrap()
}

/// An edited text, and what it was made from.
struct Sample<'p> {
    edited: Edited,
    meant: String,
    tool: &'p Tool,
    schema: Rc<Schema>,
}

impl Sample<'_> {
    fn outcome(&self) -> Outcome {
        Outcome::of(&self.edited, &self.meant, Some(&self.schema))
    }
}

/// All that `edited` makes of a pool's values.
fn samples(pool: &Pool, edited: impl Fn(&str, &Pool) -> Vec<Edited>) -> Vec<Sample<'_>> {
    let mut samples = Vec::new();
    for tool in &pool.tool {
        let schema = Rc::new(Schema::compile(&tool.schema.parse::<Value>().unwrap()).unwrap());
        for meant in tool.values.iter().flat_map(|value| Layout::ALL.map(|layout| layout.of(value))) {
            let edited = edited(&meant, pool).into_iter();
            samples.extend(edited.map(|edited| {
                let (meant, schema) = (meant.clone(), Rc::clone(&schema));
                Sample { edited, meant, tool, schema }
            }));
        }
    }
    samples
}

/// Heals what `edited` makes of the pools' values, and holds what comes of it to its floors. `EDITS=work` shows the texts that
/// are not read as they were meant.
fn hold(name: &str, floors: [(Seed, f64, f64); 2], edited: impl Fn(&str, &Pool) -> Vec<Edited>) {
    let pools = pools();
    let shown = std::env::var("EDITS").unwrap_or_default();
    for (seed, exact, wrong) in floors {
        let pool = seed.pool(&pools);
        let is_shown = shown.eq_ignore_ascii_case(&format!("{seed:?}"));
        let mut tally = Tally::default();
        let samples = samples(pool, &edited);
        if let (Seed::Judge, Ok(folder)) = (seed, std::env::var("EDITS_TO")) {
            write_down(&samples, &Path::new(&folder).join(format!("{name}.jsonl")));
        }
        for sample in samples {
            let outcome = sample.outcome();
            let Sample { edited, schema, .. } = sample;
            if is_shown && outcome != Outcome::Exact {
                let healed = heal(&edited.text, Some(&schema), None).map(|healed| healed.text);
                println!("{outcome:?} {}\n  {}\n  {healed:?}", edited.kind, edited.text.escape_debug());
            }
            tally.add(&edited.kind, outcome);
        }
        println!("{seed:?}\n{tally}");
        tally.hold(seed, exact, wrong);
    }
}

/// The same without a schema.
fn hold_bare(floors: [(Seed, f64, f64); 2], edited: impl Fn(&str, &Pool) -> Vec<Edited>) {
    let pools = pools();
    for (seed, exact, wrong) in floors {
        let pool = seed.pool(&pools);
        let mut tally = Tally::default();
        for Sample { edited, meant, .. } in samples(pool, &edited) {
            tally.add(&edited.kind, Outcome::of(&edited, &meant, None));
        }
        println!("{seed:?} without a schema\n{tally}");
        tally.hold(seed, exact, wrong);
    }
}

/// Lines `{"kind", "input", "schema", "expected"}`, the last two as JSON texts.
fn write_down(samples: &[Sample<'_>], file: &Path) {
    let line = |sample: &Sample<'_>| {
        let Sample { edited, meant, tool, .. } = sample;
        json!({"kind": edited.kind, "input": edited.text, "schema": tool.schema, "expected": meant})
    };
    let lines: String = samples.iter().map(|sample| format!("{}\n", line(sample))).collect();
    fs::write(file, lines).unwrap();
}

/// `text` in each habit of writing strings that changes it.
fn habits(text: &str) -> Vec<Edited> {
    let plain = |body: &str| body.replace("\\\"", "\"");
    let raw = |body: &str| plain(body).replace("\\n", "\n");
    let quoted = |open: &str, body: String, close: &str| format!("{open}{body}{close}");
    let single = |body: &str| quoted("'", plain(body).replace('\'', "\\'"), "'");
    type Write<'a> = &'a dyn Fn(&str) -> String;
    let write: [(&str, Write<'_>); 8] = [
        ("bare quotes", &|body| quoted("\"", plain(body), "\"")),
        ("raw line breaks", &|body| quoted("\"", body.replace("\\n", "\n"), "\"")),
        ("nothing escaped", &|body| quoted("\"", raw(body), "\"")),
        ("apostrophes", &single),
        ("ticks", &|body| quoted("`", plain(body), "`")),
        ("curly", &|body| quoted("“", body.to_owned(), "”")),
        ("guillemets", &|body| quoted("«", body.to_owned(), "»")),
        ("twice", &|body| quoted("\"\"", body.to_owned(), "\"\"")),
    ];
    let written = write.into_iter().map(|(kind, write)| {
        let (mut out, mut at) = (String::new(), 0);
        for token in tokens(text).into_iter().filter(|token| token.sort == Sort::Body) {
            out += &text[at..token.at.start - 1];
            out += &write(&text[token.at.clone()]);
            at = token.at.end + 1;
        }
        Edited { kind: kind.to_owned(), text: out + &text[at..] }
    });
    written.filter(|edited| edited.text != text).collect()
}

/// How a text is laid out.
#[derive(Clone, Copy)]
enum Layout {
    Compact,
    Spaced,
    Indented,
}

impl Layout {
    const ALL: [Layout; 3] = [Layout::Compact, Layout::Spaced, Layout::Indented];

    /// The JSON text `value`, laid out.
    fn of(self, value: &str) -> String {
        let mut out = String::new();
        let mut depth = 0;
        for token in tokens(value) {
            let text = &value[token.at.clone()];
            let line = |depth: usize| format!("\n{}", "    ".repeat(depth));
            if token.sort == Sort::Closer {
                depth -= 1;
            }
            match (self, token.sort) {
                (Layout::Indented, Sort::Closer) => out += &line(depth),
                (Layout::Spaced, _) | (Layout::Compact, _) | (Layout::Indented, _) => {}
            }
            out += text;
            if token.sort == Sort::Opener {
                depth += 1;
            }
            out += &match (self, token.sort) {
                (Layout::Compact, _) => String::new(),
                (_, Sort::Colon) | (Layout::Spaced, Sort::Comma) => String::from(" "),
                (Layout::Indented, Sort::Comma | Sort::Opener) => line(depth),
                (Layout::Spaced | Layout::Indented, _) => String::new(),
            };
        }
        out
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Opener,
    Closer,
    Colon,
    Comma,
    /// The quotes of a key, of a text.
    KeyQuote,
    TextQuote,
    /// What stands between quotes.
    Body,
    /// A number or a literal.
    Scalar,
}

struct Token {
    sort: Sort,
    at: Range<usize>,
}

/// The tokens of a strict text, without its blanks.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let one = |sort| Token { sort, at: at..at + 1 };
        match byte {
            b' ' | b'\n' => {}
            b'{' | b'[' => tokens.push(one(Sort::Opener)),
            b'}' | b']' => tokens.push(one(Sort::Closer)),
            b':' => tokens.push(one(Sort::Colon)),
            b',' => tokens.push(one(Sort::Comma)),
            b'"' => {
                let mut end = at + 1;
                while bytes[end] != b'"' {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                let is_key = text[end + 1..].trim_start().starts_with(':');
                let quote = if is_key { Sort::KeyQuote } else { Sort::TextQuote };
                tokens.push(Token { sort: quote, at: at..at + 1 });
                tokens.push(Token { sort: Sort::Body, at: at + 1..end });
                tokens.push(Token { sort: quote, at: end..end + 1 });
                at = end;
            }
            _ => {
                let end = at + text[at..].find([',', '}', ']', '\n']).unwrap();
                tokens.push(Token { sort: Sort::Scalar, at: at..end });
                at = end - 1;
            }
        }
        at += 1;
    }
    tokens
}

/// A text after one edit.
struct Edited {
    /// The operation and the sort of token.
    kind: String,
    text: String,
}

/// All texts that one edit makes of `text`.
fn edits(text: &str, pool: &Pool) -> Vec<Edited> {
    let mut edited = Vec::new();
    for (n, token) in tokens(text).into_iter().enumerate() {
        let Token { sort, at } = token;
        let own = &text[at.clone()];
        let mut add = |operation: &str, at: Range<usize>, put: &str| {
            let mut text = text.to_owned();
            text.replace_range(at, put);
            edited.push(Edited { kind: format!("{operation} {sort:?}"), text });
        };
        let one_of = |signs: &[String]| signs[n % signs.len()].clone();
        if sort != Sort::Body && sort != Sort::Scalar {
            add("missing", at.clone(), "");
            add("doubled", at.end..at.end, own);
        }
        let swapped = match (sort, own) {
            (Sort::Opener, "{") => ["(", "[", "｛"][n % 3].to_owned(),
            (Sort::Opener, _) => ["(", "{", "［"][n % 3].to_owned(),
            (Sort::Closer, "}") => [")", "]", "｝"][n % 3].to_owned(),
            (Sort::Closer, _) => [")", "}", "］"][n % 3].to_owned(),
            (Sort::Colon, _) => one_of(&pool.colons),
            (Sort::Comma, _) => one_of(&pool.commas),
            (Sort::KeyQuote | Sort::TextQuote, _) => one_of(&pool.quotes),
            (Sort::Scalar, "true") => String::from("True"),
            (Sort::Scalar, "false") => String::from("FALSE"),
            (Sort::Scalar, "null") => String::from("None"),
            (Sort::Scalar, number) => format!("+{}", number.trim_start_matches('-')),
            (Sort::Body, _) => String::new(),
        };
        if sort != Sort::Body && !own.starts_with('-') {
            add("swapped", at.clone(), &swapped);
        }
        // Noise at a quote's inner side is the text's, and beside a number it may be the number's.
        let noise = one_of(&pool.noise);
        if matches!(sort, Sort::Opener | Sort::Colon | Sort::Comma) {
            add("noise behind", at.end..at.end, &noise);
        }
        if matches!(sort, Sort::Closer | Sort::Colon | Sort::Comma)
            && !text[..at.start].ends_with(char::is_alphanumeric)
        {
            add("noise before", at.start..at.start, &noise);
        }
    }
    edited
}

/// `text` with a word in front of one of its values in quotes, or behind it.
fn words(text: &str, pool: &Pool) -> Vec<Edited> {
    let mut edited = Vec::new();
    let quotes: Vec<Range<usize>> = tokens(text)
        .into_iter()
        .filter(|token| token.sort == Sort::TextQuote)
        .map(|token| token.at)
        .collect();
    for pair in quotes.chunks(2) {
        let places = [("before", pair[0].start, &pool.before), ("behind", pair[1].end, &pool.behind)];
        for (kind, at, words) in places {
            edited.extend(words.iter().map(|word| {
                let (head, tail) = text.split_at(at);
                Edited { kind: format!("word {kind}"), text: format!("{head}{word}{tail}") }
            }));
        }
    }
    edited
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Exact,
    Refused,
    Wrong,
}

impl Outcome {
    /// What became of `edited`, which was `meant`.
    fn of(edited: &Edited, meant: &str, schema: Option<&Schema>) -> Outcome {
        match heal(&edited.text, schema, None) {
            Err(_) => Outcome::Refused,
            Ok(healed) => {
                let (tree, own) = (strict(meant).unwrap(), strict(&healed.text).unwrap());
                let is_same = tree.root(meant).same_as(own.root(&healed.text));
                if is_same { Outcome::Exact } else { Outcome::Wrong }
            }
        }
    }
}

/// How often each kind of edit had each outcome.
#[derive(Default)]
struct Tally(BTreeMap<String, [u32; 3]>);

impl Tally {
    fn add(&mut self, kind: &str, outcome: Outcome) {
        self.0.entry(kind.to_owned()).or_default()[outcome as usize] += 1;
    }

    /// At least so many of a hundred are exact, at most so many wrong.
    fn hold(&self, seed: Seed, exact: f64, wrong: f64) {
        let all = self.all();
        assert!(exact <= all.share(Outcome::Exact), "{seed:?}: exact {:.2} %", all.share(Outcome::Exact));
        assert!(all.share(Outcome::Wrong) <= wrong, "{seed:?}: wrong {:.2} %", all.share(Outcome::Wrong));
    }

    fn all(&self) -> Row {
        let mut all = [0; 3];
        self.0.values().for_each(|row| (0..3).for_each(|n| all[n] += row[n]));
        Row(all)
    }
}

struct Row([u32; 3]);

impl Row {
    fn share(&self, outcome: Outcome) -> f64 {
        100.0 * f64::from(self.0[outcome as usize]) / f64::from(self.0.iter().sum::<u32>())
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (kind, row) in
            self.0.iter().map(|(kind, row)| (kind.as_str(), *row)).chain([("all", self.all().0)])
        {
            let row = Row(row);
            let share = |outcome| row.share(outcome);
            let (exact, refused, wrong) =
                (share(Outcome::Exact), share(Outcome::Refused), share(Outcome::Wrong));
            writeln!(
                f,
                "{kind:24} {:5}  exact {exact:6.2}  refused {refused:6.2}  wrong {wrong:6.2}",
                row.0.iter().sum::<u32>()
            )?;
        }
        Ok(())
    }
}
