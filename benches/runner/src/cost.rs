//! Instructions that a call costs, right and repaired: counted by callgrind, compared as ratios.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use steps::{root, step};

/// The most that a right call may cost with a hundred tools, in parts of its cost with one.
const MANY_TOOLS: f64 = 1.5;
/// The most that it may cost with the signs of marks in its value, in parts of its cost without.
const SIGNS: f64 = 2.0;
/// The most that a repaired call may cost with a hundred tools, in instructions for each 1,024 bytes: about a millisecond.
const REPAIR: f64 = 8.0e6;
/// The most that a byte of a hostile answer may cost, in instructions: a fifth more than one of the dearest does, where the
/// answer is short and what any answer may spend counts most.
const HOSTILE: f64 = 12.3e3;
/// The most that a hostile answer may cost when it is sixteen times as long, in parts of its cost before that.
const HOSTILE_GROWTH: f64 = 17.6;

/// Counts, prints the table.
///
/// # Errors
/// When there is no valgrind, when something cannot be built or run, and when a figure is over its bound.
pub(crate) fn cost() -> Result<()> {
    let root = root()?;
    valgrind()?;
    let (counts, hostile) = counted(&root, &built(&root)?)?;
    let mut over = Vec::new();
    println!("{:24} {:>10} {:>10} {:>8} {:>8} {:>10}", "", "1 tool", "100 tools", "ratio", "signs", "a KB");
    for (case, own) in &counts {
        let [one, many] = [1, 100].map(|tools| own.instructions.get(&tools).copied().unwrap_or(0.0));
        let prose = Case { is_code: false, ..case.clone() };
        let without = counts.get(&prose).and_then(|prose| prose.instructions.get(&100)).copied();
        let (tools, signs) = (many / one, many / without.unwrap_or(many));
        let for_each_kilobyte = many * 1024.0 / own.bytes;
        println!("{case:24} {one:>10.0} {many:>10.0} {tools:>8.2} {signs:>8.2} {for_each_kilobyte:>10.0}");
        let bounds = match case.is_right {
            true => vec![(tools, MANY_TOOLS), (signs, SIGNS)],
            false => vec![(for_each_kilobyte, REPAIR)],
        };
        over.extend(
            bounds
                .into_iter()
                .filter(|(cost, most)| most < cost)
                .map(|(cost, most)| format!("{case}: {cost:.2}, and at most {most}")),
        );
    }
    println!("{:24} {:>10} {:>12} {:>8}", "", "bytes", "instructions", "a byte");
    for Hostile { name, bytes, instructions } in &hostile {
        let of_a_byte = instructions / bytes;
        println!("{name:24} {bytes:>10.0} {instructions:>12.0} {of_a_byte:>8.0}");
        if HOSTILE < of_a_byte {
            over.push(format!("{name}: {of_a_byte:.0} instructions a byte, and at most {HOSTILE:.0}"));
        }
    }
    for [short, long] in hostile.as_chunks().0 {
        let growth = long.instructions / short.instructions;
        if HOSTILE_GROWTH < growth {
            over.push(format!("{}: {growth:.2} times as much, and at most {HOSTILE_GROWTH}", short.name));
        }
    }
    ensure!(counts.len() == 24, "{} cases were counted", counts.len());
    ensure!(hostile.len() == 20, "{} hostile answers were counted", hostile.len());
    ensure!(over.is_empty(), "too dear:\n{}", over.join("\n"));
    Ok(())
}

/// Looks for the counter.
///
/// # Errors
/// When it is not there.
fn valgrind() -> Result<()> {
    let valgrind =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    ensure!(
        valgrind.is_ok_and(|status| status.success()),
        "instructions are counted by valgrind, and there is none"
    );
    Ok(())
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Case {
    form: String,
    is_right: bool,
    is_code: bool,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = if self.is_right { "right" } else { "repaired" };
        let content = if self.is_code { "code" } else { "prose" };
        f.pad(&format!("{} {state} {content}", self.form))
    }
}

/// Instructions by the number of tools, for a text of so many bytes.
#[derive(Default)]
struct Count {
    bytes: f64,
    instructions: BTreeMap<usize, f64>,
}

/// What an answer costs that says one piece of a call over and over.
struct Hostile {
    name: String,
    bytes: f64,
    instructions: f64,
}

/// Builds the program that reads each case once, optimised, and returns its place.
fn built(root: &Path) -> Result<PathBuf> {
    let mut build = step::cargo(root);
    build.args(["build", "--quiet", "--release", "--package", "callwright", "--bench", "cost"]);
    build.args(["--message-format", "json"]);
    let output = build.stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the program to count was not built");
    let messages = String::from_utf8(output.stdout)?;
    let mut programs = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_own = message["target"]["name"] == "cost";
        message["executable"].as_str().filter(|_| is_own).map(PathBuf::from)
    });
    programs.next_back().context("cargo names no program")
}

fn counted(root: &Path, program: &Path) -> Result<(BTreeMap<Case, Count>, Vec<Hostile>)> {
    let out = root.join("target/cost");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(&out)?;
    let mut run = Command::new("valgrind");
    run.args(["--quiet", "--tool=callgrind", "--toggle-collect=*::measured", "--dump-after=*::measured"]);
    run.arg(format!("--callgrind-out-file={}", out.join("dump").display())).arg(program);
    let output = run.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut counts: BTreeMap<Case, Count> = BTreeMap::new();
    let mut hostile = Vec::new();
    for (n, line) in String::from_utf8(output.stdout)?.lines().enumerate() {
        let dump = fs::read_to_string(out.join(format!("dump.{}", n + 1)))?;
        let total = dump.lines().find_map(|line| line.strip_prefix("totals: "));
        let total: f64 = total.context("a dump without a sum")?.trim().parse()?;
        let (form, content, state, tools, bytes) = match line.split(' ').collect::<Vec<_>>()[..] {
            // hermes code right 100 259
            [form, content, state, tools, bytes] => (form, content, state, tools, bytes),
            // hostile fences 65536
            ["hostile", name, bytes] => {
                hostile.push(Hostile { name: name.to_owned(), bytes: bytes.parse()?, instructions: total });
                continue;
            }
            _ => bail!("not understood: {line}"),
        };
        let case = Case { form: form.to_owned(), is_right: state == "right", is_code: content == "code" };
        let count = counts.entry(case).or_default();
        count.bytes = bytes.parse()?;
        count.instructions.insert(tools.parse()?, total);
    }
    Ok((counts, hostile))
}
