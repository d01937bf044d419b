//! The house's own commands: `cargo xtask tidy | test | python | wheel | javascript | npm | site | book | static | cost | attack | documented | reference | e2e | score DIR | bench gateway | bench store | bench peers`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to its user")]

mod attack;
mod bench;
mod book;
mod bystander;
mod cost;
mod dependencies;
mod documented;
mod e2e;
mod figures;
mod house;
mod javascript;
mod layers;
mod packages;
mod pinned;
mod postgres;
mod prose;
mod python;
mod score;
mod standalone;
mod step;
mod suite;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
usage: cargo xtask tidy         the layer table, the house rules, and the words and links of the documents
       cargo xtask test         everything, in order, with the seconds of each step
       cargo xtask python       of these, what is in Python (needs Python 3.11 with pip)
       cargo xtask wheel        the Python package: a wheel for this machine, and a source archive that builds offline,
                                in target/wheels
       cargo xtask javascript   of these, what is in JavaScript (needs Node 20 with npm, and a standard library for
                                WebAssembly: rustup's, or Debian's, which it fetches)
       cargo xtask npm          the npm package, in target/npm
       cargo xtask site         the page to try it as a folder of files, in target/site
       cargo xtask book         the documents as a site, in target/book, with every link of it looked up
       cargo xtask static       the binary, linked statically, started from an empty root and packed, in target
                                (needs musl-gcc and Rust's target for musl; minutes)
       cargo xtask cost         the instructions that a call costs, right and repaired, with one tool and with a hundred,
                                against their bounds (needs valgrind)
       cargo xtask attack       the generated tests with many times their rounds, in 2 GB of memory (Linux; minutes)
       cargo xtask documented   the commands that README, docs and examples print, each page in an empty home
       cargo xtask reference    write docs/reference.md and docs/callwright.schema.json anew
       cargo xtask e2e          real clients and a real model against the gateway, in a matrix; --only NAME:
                                the cells whose names hold NAME, such as gateway/langchain (needs Python 3, npm);
                                --only dialects: which dialect a small model does best with (minutes);
                                --server URL: that of llama.cpp at URL
                                --only prompts: how often it writes calls malformed, under two prompts (minutes)
       cargo xtask score DIR    the corpora in DIR (needs Python 3), against the floors
       cargo xtask bench gateway
                                what the gateway costs, beside nginx (Linux, two cores); --gate: fail where a
                                figure is over its bound; --only NAME: what has it in its name, of call, text,
                                agent, prose, short, arguments, paced, latency, ready, cores, streams; --rounds N,
                                --seconds S: how often, how long; --ours FILE: a gateway that is built already;
                                --store off: keeping nothing, where by default all is kept
       cargo xtask bench store  what a store of a million nodes takes to answer, and a write costs a request;
                                --gate as above; --nodes N: another number
       cargo xtask bench peers  other libraries that repair JSON, beside this one, right and wrong and how fast; writes
                                the tables of docs/comparison.md (needs Python 3, npm; minutes);
                                --built: what an earlier run has built of this one";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["tidy"] => tidy(),
        ["test"] => suite::test(),
        ["python"] => suite::python(),
        ["wheel"] => python::wheel(),
        ["javascript"] => suite::javascript(),
        ["npm"] => javascript::npm(),
        ["site"] => javascript::build_site(),
        ["book"] => book::build(),
        ["static"] => standalone::standalone(),
        ["cost"] => cost::cost(),
        ["attack"] => attack::attack(),
        ["documented"] => suite::documented(),
        ["reference"] => reference(),
        ["documented", step::HERE] => documented::run_here(false),
        ["documented", step::ALONE] => documented::run_here(true),
        [e2e::programs::PROGRAMS, only, step::HERE | step::ALONE] => e2e::programs::run_here(only),
        ["e2e"] => suite::e2e("", None),
        ["e2e", "--only", name] => suite::e2e(name, None),
        ["e2e", "--only", name, "--server", url] => suite::e2e(name, Some(url)),
        ["bench", "gateway", rest @ ..] => match bench::Options::of(rest) {
            Some(options) => bench::gateway(&options),
            None => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
        ["bench", "peers"] => bench::peers(false),
        ["bench", "peers", "--built"] => bench::peers(true),
        ["bench", "store"] => bench::store(1_000_000, false),
        ["bench", "store", "--gate"] => bench::store(1_000_000, true),
        ["bench", "store", "--nodes", n] => match n.parse() {
            Ok(n) => bench::store(n, false),
            Err(_) => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
        ["score", dir] => score::score(Path::new(dir)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints each breach of the layer table and of the house rules.
fn tidy() -> Result<()> {
    let mut breaches = layers::breaches()?;
    let house = house::read()?;
    breaches.extend(house.breaches);
    for note in house.notes {
        println!("note: {note}");
    }
    for breach in &breaches {
        println!("tidy: {breach}");
    }
    match breaches.len() {
        0 => Ok(()),
        n => bail!("{n} breaches of the house rules"),
    }
}

/// Has the test that compares the configuration's reference write it.
fn reference() -> Result<()> {
    let mut test = step::cargo(&root()?);
    test.args([
        "test",
        "--quiet",
        "--package",
        "callwright-cli",
        "--bin",
        "callwright",
        "the_reference_is_current",
    ]);
    match step::run(test.env("CALLWRIGHT_WRITE_REFERENCE", "1"))?.ok {
        true => Ok(()),
        false => bail!("the reference was not written"),
    }
}

/// The workspace's root.
fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(here.parent().context("xtask stands in a workspace")?.to_path_buf())
}
