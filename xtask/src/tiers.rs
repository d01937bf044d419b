//! The two tiers of what a change must pass: what a clone tests, and all the rest.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;
use packaging::command;
use packaging::crates::packages;
use packaging::javascript::JavaScript;
use packaging::python::Python;
use steps::process::quietly;
use steps::step::{self, Tally, cargo};
use steps::{Suite, built, root};

use crate::book::{book, mdbook};
use crate::bystander::bystander;
use crate::dependencies::{deny, dependencies};
use crate::postgres::{Postgres, VARIABLE};
use crate::{documented, runners, tidy};

/// The share of the generators' rounds that the first tier takes, and the variable that tells them.
const ROUNDS: (&str, &str) = ("CALLWRIGHT_LAWS", "0.2");

/// The tests whose rounds the variable scales: the second tier runs them in full.
const GENERATED: &str = "test(/^(broken_marks|chunks|ladder|laws|truncation)::/)";

/// Runs what a clone can test with nothing but crates: the first tier.
///
/// # Errors
/// When anything failed, or when something was left out although `CI` says that nothing may be.
pub(crate) fn test() -> Result<()> {
    let root = root()?;
    let mut suite = Suite::default();
    suite.check("format", || {
        // Two folders are workspaces of their own.
        let rest = ["fuzz/Cargo.toml", "benches/Cargo.toml"].map(|rest| ["--manifest-path", rest]);
        let mut is_formatted = step::run(cargo(&root).args(["fmt", "--all", "--check"]))?.ok;
        for rest in rest {
            is_formatted &= step::run(cargo(&root).args(["fmt", "--check"]).args(rest))?.ok;
        }
        Ok(is_formatted)
    });
    suite.check("tidy", || tidy().map(|()| true));
    suite.check("lints", || {
        let mut clippy = cargo(&root);
        clippy.args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]);
        Ok(step::run(&mut clippy)?.ok)
    });
    let nextest = has(&root, "nextest");
    suite.tests("tests", || step::run(runner(&root, nextest).env(ROUNDS.0, ROUNDS.1)));
    suite.tests("documentation examples", || {
        step::run(cargo(&root).args(["test", "--quiet", "--workspace", "--doc", "--no-fail-fast"]))
    });
    suite.check("demo", || {
        let demo = step::run(Command::new(built(&root).join("debug/callwright")).arg("demo"))?;
        Ok(demo.ok)
    });
    suite.tests(DOCUMENTED, || documented::run(&root));
    suite.finish()
}

/// Runs the rest, against what the first tier has built: the second tier.
///
/// # Errors
/// As [`test()`].
pub(crate) fn ci() -> Result<()> {
    let root = root()?;
    let mut suite = Suite::default();
    suite.check("documentation", || {
        let mut doc = cargo(&root);
        doc.args(["doc", "--workspace", "--no-deps"]);
        doc.env("RUSTDOCFLAGS", "--deny warnings");
        Ok(step::run(&mut doc)?.ok)
    });
    if let Some(mdbook) = suite.install("mdBook", || mdbook(&root)) {
        suite.check("the documents as a site", || book(&root, &mdbook));
    }
    if let Some(deny) = suite.install("cargo-deny", || deny(&root)) {
        suite.check("dependencies", || dependencies(&root, &deny));
    }
    let nextest = has(&root, "nextest");
    suite.tests("generated tests in full", || only(&mut runner(&root, nextest), nextest, GENERATED));
    stores(&mut suite, &root);
    suite.check("packages", || packages(&root));
    suite.tests("a user's own values, beside ours", || bystander(&root));
    suite.check("the engine without its validator", || {
        let mut check = cargo(&root);
        check.args(["check", "--quiet", "--package", "callwright", "--no-default-features"]);
        Ok(step::run(&mut check)?.ok)
    });
    // A workspace of its own, which tests its targets by replaying their corpus.
    suite.tests("fuzz targets, on their corpus", || {
        let mut tests = cargo(&root);
        tests.args(["test", "--quiet", "--no-fail-fast", "--manifest-path", "fuzz/Cargo.toml"]);
        step::run(tests.arg("--target-dir").arg(built(&root)))
    });
    // The command is the one that its tests have built: alone, it would be built once more, with fewer features.
    suite.check(BUILD, || {
        Ok(step::run(cargo(&root).args(["test", "--quiet", "--workspace", "--no-run"]))?.ok)
    });
    suite.check("demo, as README prints it", || {
        Ok(step::run(cargo(&root).args(["run", "--release", "--", "demo"]))?.ok)
    });
    in_python(&mut suite, &root);
    in_javascript(&mut suite, &root);
    suite.program("end to end", &mut runners::e2e(&root));
    let valgrind = || quietly(Command::new("valgrind").arg("--version"));
    if suite.install("valgrind", valgrind).is_some() {
        suite.check("the cost of a call", || Ok(step::run(&mut runners::cost(&root))?.ok));
    }
    suite.finish()
}

/// The store's tests with a server of Postgres beside the file.
fn stores(suite: &mut Suite, root: &Path) {
    let nextest = has(root, "nextest");
    if let Some(postgres) = suite.install("Postgres", Postgres::start) {
        suite.tests(STORE, || {
            let mut tests = runner(root, nextest);
            tests.env(VARIABLE, &postgres.url);
            only(&mut tests, nextest, "package(callwright-store)")
        });
    }
}

/// Runs what there is in Python, against the command that is built.
///
/// # Errors
/// As [`test()`].
pub(crate) fn python() -> Result<()> {
    let mut suite = Suite::default();
    let root = root()?;
    build(&mut suite, &root);
    in_python(&mut suite, &root);
    suite.finish()
}

fn in_python(suite: &mut Suite, root: &Path) {
    let Some(python) = suite.install("Python packages", || Python::open(root)) else { return };
    suite.check("Python wheel", || python.install());
    suite.check("Python types", || python.types());
    suite.tests("Python", || python.tests());
    suite.tests("the command as a Python package", || command::in_python(root, &python));
}

/// Runs what there is in JavaScript, against the command that is built.
///
/// # Errors
/// As [`test()`].
pub(crate) fn javascript() -> Result<()> {
    let mut suite = Suite::default();
    let root = root()?;
    build(&mut suite, &root);
    in_javascript(&mut suite, &root);
    suite.finish()
}

fn in_javascript(suite: &mut Suite, root: &Path) {
    let library = "a standard library for WebAssembly";
    let Some(javascript) = suite.install(library, || JavaScript::open(root)) else { return };
    suite.check("npm package", || javascript.build());
    suite.check("npm package, its size", || javascript.sizes());
    suite.check("npm package, its types and its form", || javascript.checks());
    suite.tests("JavaScript", || javascript.tests());
    suite.check("JavaScript in Bun and Deno", || javascript.elsewhere());
    suite.tests("the command as an npm package", || command::in_node(root));
    suite.check("the page to try it, as files", || javascript.site());
}

const BUILD: &str = "build";
const DOCUMENTED: &str = "commands of the documentation";
const STORE: &str = "store/postgres";

/// Runs the commands that the documentation prints.
///
/// # Errors
/// As [`test()`].
pub(crate) fn documented() -> Result<()> {
    let mut suite = Suite::default();
    let root = root()?;
    build(&mut suite, &root);
    suite.tests(DOCUMENTED, || documented::run(&root));
    suite.finish()
}

/// Runs the end-to-end suite, or with `--only` a part of it.
///
/// # Errors
/// As [`test()`].
pub(crate) fn e2e(args: &[String]) -> Result<()> {
    let root = root()?;
    if args.iter().any(|arg| matches!(arg.as_str(), "-h" | "--help")) {
        return step::run(runners::e2e(&root).args(args)).map(drop);
    }
    let mut suite = Suite::default();
    let only = args.iter().skip_while(|arg| *arg != "--only").nth(1).map_or("", String::as_str);
    if STORE.contains(only) {
        stores(&mut suite, &root);
    }
    if only != STORE {
        build(&mut suite, &root);
        suite.program("end to end", runners::e2e(&root).args(args));
    }
    suite.finish()
}

/// The binary that users have.
fn build(suite: &mut Suite, root: &Path) {
    suite.check(BUILD, || {
        Ok(step::run(cargo(root).args(["build", "--quiet", "--package", "callwright-cli"]))?.ok)
    });
}

/// Is the cargo command `name` installed?
fn has(root: &Path, name: &str) -> bool {
    let asked = cargo(root).args([name, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// All tests of the workspace, always in one selection: cargo builds a crate anew for each set of features, and a part of the
/// workspace asks for fewer. Without nextest the standard runner serves, which runs no two test binaries at once.
fn runner(root: &Path, nextest: bool) -> Command {
    let mut cargo = cargo(root);
    if nextest {
        cargo.args(["nextest", "run", "--workspace", "--no-fail-fast", "--status-level", "pass"]);
    } else {
        // Documentation examples are a step of their own.
        cargo.args(["test", "--workspace", "--no-fail-fast", "--tests"]);
    }
    cargo
}

/// Runs only those of these tests that nextest's `filter` takes; the standard runner takes all. What the filter leaves out is not
/// switched off: the first tier has run it.
fn only(tests: &mut Command, nextest: bool, filter: &str) -> Result<Tally> {
    if nextest {
        tests.args(["-E", filter]);
    }
    Ok(Tally { skipped: 0, ..step::run(tests)? })
}
