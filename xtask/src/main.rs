//! The house's own commands: `cargo xtask COMMAND`; without one it names them.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to its user")]

mod attack;
mod book;
mod bystander;
mod dependencies;
mod documented;
mod house;
mod layers;
mod pinned;
mod postgres;
mod prose;
mod runners;
mod structure;
mod tiers;

use std::process::ExitCode;

use anyhow::{Result, bail};
use packaging::{command, javascript, python, standalone};
use steps::{root, step};

const USAGE: &str = "\
usage: cargo xtask test         what a change must pass, with nothing but crates: format, lints, tidy, all tests in Rust, the
                                demo and the printed commands, with the seconds of each
       cargo xtask ci           the rest, after it: Postgres, Python, JavaScript, clients, a browser, a model, packages;
                                it installs what it needs, and names what it cannot
       cargo xtask tidy         the layer table, the shape of each crate, the house rules, and the words and links of the
                                documents
       cargo xtask documented   the commands that README, docs and examples print, each page in an empty home
       cargo xtask attack       the generated tests with many times their rounds, in 2 GB of memory (Linux; minutes)
       cargo xtask reference    write docs/reference.md and docs/callwright.schema.json anew
       cargo xtask book         the documents as a site, in target/book, with every link of it looked up
       cargo xtask python       of the second tier, what is in Python (needs Python 3.11 with pip)
       cargo xtask wheel        the Python package: a wheel for this machine, and a source archive that builds offline,
                                in target/wheels
       cargo xtask javascript   of the second tier, what is in JavaScript (needs Node 20 with npm, and a standard library
                                for WebAssembly: rustup's, or Debian's, which it fetches)
       cargo xtask npm          the npm packages that fit every system, in target/npm
       cargo xtask command      the command as a wheel and as npm packages for this machine, in target/command (minutes)
       cargo xtask site         the page to try it as a folder of files, in target/site
       cargo xtask static       the binary, linked statically, started from an empty root and packed, in target
                                (needs musl-gcc and Rust's target for musl; minutes)
       cargo xtask e2e          real clients and a real model against the gateway, in a matrix (needs Python 3, npm);
                                --help: its parts
       cargo xtask cost         the instructions that a call costs, right and repaired, with one tool and with a hundred,
                                against their bounds (needs valgrind)
       cargo xtask score DIR    the corpora in DIR (needs Python 3), against the floors
       cargo xtask bench WHAT   what the gateway, the store and other libraries cost; --help: what there is";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => tiers::test(),
        ["ci"] => tiers::ci(),
        ["tidy"] => tidy(),
        ["documented"] => tiers::documented(),
        ["documented", step::HERE] => documented::run_here(false),
        ["documented", step::ALONE] => documented::run_here(true),
        ["attack"] => attack::attack(),
        ["reference"] => reference(),
        ["book"] => book::build(),
        ["python"] => tiers::python(),
        ["wheel"] => python::wheel(),
        ["javascript"] => tiers::javascript(),
        ["npm"] => javascript::npm(),
        ["command"] => command::command(),
        ["site"] => javascript::build_site(),
        ["static"] => standalone::standalone(),
        ["e2e", ..] => tiers::e2e(&args[1..]),
        ["bench", ..] => runners::measure(&args[1..]),
        ["cost" | "score", ..] => runners::measure(&args),
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
