//! What other libraries that repair JSON make of texts that this project makes, and how fast, in one run.
//!
//! The texts are those of the judging seed of `crates/callwright/tests/it/edits`, each with the value that it was made from,
//! and the cases of `corpus/json`. Three programs in `benches/repair` read them with what its registries have, and with
//! what is built here. The tables go into `docs/comparison.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use packaging::{javascript, python};
use steps::install::environment;
use steps::{figures, root, step};

const PAGE: &str = "docs/comparison.md";
const BEGIN: &str = "<!-- peers: written by `cargo xtask bench peers` -->\n<!--=peers.tables-->\n";
const END: &str = "<!-- /peers -->\n";

/// What one library made of all texts.
#[derive(Deserialize)]
struct Told {
    library: String,
    version: String,
    /// As texts: some are nested as deeply as their libraries go.
    values: Vec<Option<Box<RawValue>>>,
    /// Microseconds by the name of the text; none where it gives an error.
    speed: BTreeMap<String, Option<f64>>,
}

/// A text, and what it was made from.
#[derive(Deserialize)]
struct Case {
    /// Is it made by a generator?
    #[serde(default)]
    is_generated: bool,
    input: String,
    /// As JSON text.
    schema: Option<String>,
    /// As JSON text; none where it has no reading that is the only one.
    expected: Option<String>,
}

/// Asks all libraries, prints the tables, and writes them into the page. Where it `is_built`, what this project offers is taken
/// as an earlier run has built it.
///
/// # Errors
/// When a library cannot be had.
pub(crate) fn peers(is_built: bool) -> Result<()> {
    let root = root()?;
    let work = root.join("target/peers");
    fs::create_dir_all(&work)?;
    let cases = cases(&root, &work)?;
    let lines: String = cases
        .iter()
        .map(|case| format!("{}\n", json!({"input": case.input, "schema": case.schema})))
        .collect();
    let (cases_file, texts_file) = (work.join("cases.jsonl"), work.join("texts.json"));
    fs::write(&cases_file, lines)?;
    fs::write(&texts_file, texts().to_string())?;
    let mut told = Vec::new();
    for mut program in programs(&root, is_built)? {
        let said = program.arg(&cases_file).arg(&texts_file).output()?;
        ensure!(said.status.success(), "{program:?}: {}", String::from_utf8_lossy(&said.stderr).trim());
        for line in String::from_utf8(said.stdout)?.lines() {
            let one: Told = serde_json::from_str(line)?;
            ensure!(one.values.len() == cases.len(), "{} read {} texts", one.library, one.values.len());
            told.push(one);
        }
    }
    let tables = tables(&cases, &told)?;
    println!("{tables}");
    let page = fs::read_to_string(root.join(PAGE))?;
    let (before, rest) =
        page.split_once(BEGIN).with_context(|| format!("{PAGE} has no place for the tables"))?;
    let (_, behind) = rest.split_once(END).with_context(|| format!("{PAGE} has no end of the tables"))?;
    fs::write(root.join(PAGE), format!("{before}{BEGIN}{tables}{END}{behind}"))?;
    figures::record(&root, "peers", "cargo xtask bench peers", &shares(&cases, &told, tables)?)
}

/// The generated texts, and those of the corpus that are broken.
fn cases(root: &Path, work: &Path) -> Result<Vec<Case>> {
    let mut generate = step::cargo(root);
    generate
        .args(["test", "--quiet", "--package", "callwright", "--test", "it", "edits::one_"])
        .env("EDITS_TO", work);
    ensure!(step::run(&mut generate)?.ok, "the texts were not generated");
    let mut cases = Vec::new();
    for name in ["edits.jsonl", "habits.jsonl"] {
        for line in fs::read_to_string(work.join(name))?.lines() {
            cases.push(Case { is_generated: true, ..serde_json::from_str(line)? });
        }
    }
    for entry in fs::read_dir(root.join("corpus/json"))? {
        let text = fs::read_to_string(entry?.path())?;
        let file: File = toml::from_str(&text)?;
        for FileCase { input, schema, finish_reason, expect } in file.case {
            let expected = expect.get("text").and_then(toml::Value::as_str).map(String::from);
            // What nobody tells the others, they cannot heed; and what is right already is not broken.
            let is_told = finish_reason.is_none() && (expect.get("violation").is_none());
            // Half a character is no value in most languages.
            let is_value = expected.as_deref().is_none_or(|text| serde_json::from_str::<Value>(text).is_ok());
            if is_told && is_value && serde_json::from_str::<Value>(&input).is_err() {
                let schema = schema.and_then(|name| file.schemas.get(&name).cloned());
                cases.push(Case { is_generated: false, input, schema, expected });
            }
        }
    }
    Ok(cases)
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    schemas: BTreeMap<String, String>,
    case: Vec<FileCase>,
}

#[derive(Deserialize)]
struct FileCase {
    input: String,
    schema: Option<String>,
    finish_reason: Option<String>,
    expect: toml::Table,
}

/// Texts whose time is taken.
fn texts() -> Value {
    let function = |n: usize| {
        format!(
            "/// Adds up the entries of group {n}, and says how many were left out.\n\
             pub fn total_{n}(entries: &[Entry], skip: Option<&str>) -> Result<u64, ReportError> {{\n    \
             let mut sum = {n};\n    for entry in entries.iter().filter(|e| e.group == {n}) {{\n        \
             if skip.is_some_and(|name| name == entry.name) {{\n            \
             eprintln!(\"skipped {{}}\", entry.name);\n            continue;\n        }}\n        \
             sum += entry.value.checked_mul(2).ok_or(ReportError::Overflow)?;\n    }}\n    Ok(sum)\n}}\n\n"
        )
    };
    let content: String = (0..8).map(function).collect();
    let valid = json!({"path": "src/total.rs", "content": content}).to_string();
    json!({
        "1 small call": r#"{"city": "Paris", "days": 3, "unit": "c"}"#,
        "2 small, other quotes": "{'city': 'Paris', 'days': 3, 'unit': 'c',}",
        "3 4 KB of code": valid,
        "4 a comma at its end": format!("{},}}", &valid[..valid.len() - 1]),
        "5 nothing escaped": format!("{{\"path\": \"src/total.rs\", \"content\": \"{content}\"}}"),
    })
}

/// Builds and installs what is asked.
fn programs(root: &Path, is_built: bool) -> Result<Vec<Command>> {
    let folder = root.join("benches/repair");
    let manifest = folder.join("Cargo.toml");
    let mut build = step::cargo(root);
    build.args(["build", "--quiet", "--release", "--manifest-path"]).arg(&manifest);
    ensure!(step::run(&mut build)?.ok, "the crates were not built");
    let crates = Command::new(folder.join("target/release/callwright-repair-peers"));

    let interpreter = environment("repair-peers", &folder.join("requirements.txt"))?;
    let site = python::released(root, is_built)?;
    let mut packages = step::program(root, &interpreter);
    packages.arg(folder.join("repair.py")).env("PYTHONPATH", site).env("PYTHONDONTWRITEBYTECODE", "1");

    let npm = javascript::built(root, is_built)?;
    // A program finds packages beside itself.
    fs::copy(folder.join("repair.mjs"), npm.join("repair.mjs"))?;
    let mut node = step::program(&npm, Path::new("node"));
    node.arg("repair.mjs");
    Ok(vec![crates, packages, node])
}

/// How a library's answers compare with what was meant.
#[derive(Default)]
struct Score {
    right: usize,
    wrong: usize,
    refused: usize,
    /// Answers where there is not one reading.
    answered: usize,
}

fn score(cases: &[Case], told: &Told, generated: bool) -> Result<Score> {
    let mut score = Score::default();
    for (case, value) in cases.iter().zip(&told.values).filter(|(case, _)| case.is_generated == generated) {
        match (&case.expected, value) {
            (Some(_), None) => score.refused += 1,
            (Some(expected), Some(value)) => {
                let expected: Value = serde_json::from_str(expected)?;
                match serde_json::from_str(value.get()).is_ok_and(|value| is_same(&expected, &value)) {
                    true => score.right += 1,
                    false => score.wrong += 1,
                }
            }
            (None, value) => score.answered += usize::from(value.is_some()),
        }
    }
    Ok(score)
}

/// Numbers count by what they are worth: not every language has whole ones.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same =
                |(key, value): (&String, &Value)| other.get(key).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(same)
        }
        (one, other) => one == other,
    }
}

fn tables(cases: &[Case], told: &[Told]) -> Result<String> {
    let generated = cases.iter().filter(|case| case.is_generated).count();
    let has_value = |case: &&Case| !case.is_generated && case.expected.is_some();
    let decidable = cases.iter().filter(has_value).count();
    let undecidable = cases.len() - generated - decidable;
    let mut out = String::new();
    let ours = told.iter().find(|told| told.library == "callwright (crate), with the schema");
    let Some(ours) = ours else { bail!("nothing was said of this project's own crate") };
    let Score { right, wrong, refused, .. } = score(cases, ours, true)?;
    writeln!(out, "<!-- generated: {right} right, {wrong} wrong, {refused} refused -->")?;
    let title = format!(
        "| {} | {generated} generated: right | silently wrong | refused | {decidable} of the corpus: right | silently wrong | \
         refused | {undecidable} with no single reading: answered |",
        today()?
    );
    writeln!(out, "{title}\n|---|---|---|---|---|---|---|---|")?;
    for one in told {
        let (made, seen) = (score(cases, one, true)?, score(cases, one, false)?);
        let percent = |n: usize, of: usize| format!("{:.1} %", 100.0 * n as f64 / of.max(1) as f64);
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            named(one),
            percent(made.right, generated),
            percent(made.wrong, generated),
            percent(made.refused, generated),
            percent(seen.right, decidable),
            percent(seen.wrong, decidable),
            percent(seen.refused, decidable),
            seen.answered
        )?;
    }
    let names: Vec<&String> = told.first().map(|one| one.speed.keys().collect()).unwrap_or_default();
    let heads: Vec<&str> =
        names.iter().map(|name| name.split_once(' ').map_or(name.as_str(), |(_, name)| name)).collect();
    writeln!(out, "\n| µs to a value | {} |\n|---{}|", heads.join(" | "), "|---".repeat(heads.len()))?;
    for one in told.iter().filter(|one| one.speed.values().any(Option::is_some)) {
        let cells =
            names.iter().map(|name| one.speed.get(*name).copied().flatten().map_or("-".into(), micros));
        writeln!(out, "| {} | {} |", named(one), cells.collect::<Vec<_>>().join(" | "))?;
    }
    Ok(out)
}

/// The tables, and of each library the shares of generated texts that it reads right and silently wrong.
fn shares(cases: &[Case], told: &[Told], tables: String) -> Result<Vec<(String, String)>> {
    let generated = cases.iter().filter(|case| case.is_generated).count();
    let share = |n: usize| format!("{:.1} %", 100.0 * n as f64 / generated.max(1) as f64);
    let mut shares = vec![(String::from("tables"), tables), (String::from("texts"), grouped(generated))];
    for one in told {
        let (name, score) = (figures::name_of(&one.library), score(cases, one, true)?);
        shares.push((format!("{name}_right"), share(score.right)));
        shares.push((format!("{name}_wrong"), share(score.wrong)));
    }
    Ok(shares)
}

/// `2770` → `2,770`
fn grouped(n: usize) -> String {
    if n < 1000 { n.to_string() } else { format!("{},{:03}", grouped(n / 1000), n % 1000) }
}

fn named(told: &Told) -> String {
    match told.version.as_str() {
        "" => told.library.clone(),
        version => match told.library.split_once(',') {
            Some((library, how)) => format!("{library} {version},{how}"),
            None => format!("{} {version}", told.library),
        },
    }
}

fn micros(micros: f64) -> String {
    if micros < 100.0 { format!("{micros:.1}") } else { format!("{micros:.0}") }
}

fn today() -> Result<String> {
    let said = Command::new("date").arg("+%Y-%m-%d").output()?;
    Ok(String::from_utf8(said.stdout)?.trim().to_owned())
}
