//! The whole suite in order: what a change must pass before it is handed in.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, bail};

use crate::book::{book, mdbook};
use crate::bystander::bystander;
use crate::cost::{cost, valgrind};
use crate::dependencies::{deny, dependencies};
use crate::javascript::JavaScript;
use crate::packages::packages;
use crate::postgres::{Postgres, VARIABLE};
use crate::python::Python;
use crate::step::{self, Tally, cargo};
use crate::{documented, e2e, root, tidy};

/// Runs all steps, failed ones or not, and ends with one line `N passed, N failed`.
///
/// A step that is no test counts as one failure when it fails, and not at all when it passes.
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
    suite.check("lints", || {
        let mut clippy = cargo(&root);
        clippy.args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]);
        Ok(step::run(&mut clippy)?.ok)
    });
    suite.check("tidy", || tidy().map(|()| true));
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
    let postgres = suite.install("Postgres", Postgres::start);
    suite.tests("tests", || {
        let mut tests = runner(&root, nextest);
        tests.envs(postgres.iter().map(|postgres| (VARIABLE, &postgres.url)));
        step::run(tests.args(["--workspace", "--exclude", "callwright-cli"]))
    });
    drop(postgres);
    suite.tests("command line, end to end", || {
        step::run(runner(&root, nextest).args(["--package", "callwright-cli"]))
    });
    suite.tests("documentation examples", || {
        step::run(cargo(&root).args(["test", "--quiet", "--workspace", "--doc", "--no-fail-fast"]))
    });
    suite.check("packages", || packages(&root));
    suite.tests("a user's own values, beside ours", || bystander(&root));
    suite.tests("the engine without its validator", || {
        let mut tests = runner(&root, nextest);
        tests.args(["--package", "callwright", "--no-default-features"]);
        if nextest {
            // These two generate for minutes, with schemas that need no validator.
            tests.args(["-E", "not test(/^(laws|broken_marks)::/)"]);
        }
        step::run(&mut tests)
    });
    // A workspace of its own, which tests its targets by replaying their corpus.
    if root.join("fuzz/Cargo.toml").is_file() {
        suite.tests("fuzz targets, on their corpus", || {
            step::run(cargo(&root).args([
                "test",
                "--quiet",
                "--manifest-path",
                "fuzz/Cargo.toml",
                "--no-fail-fast",
            ]))
        });
    }
    if suite.install("valgrind", valgrind).is_some() {
        suite.check("the cost of a call", || cost().map(|()| true));
    }
    built(&mut suite, &root);
    in_python(&mut suite, &root);
    in_javascript(&mut suite, &root);
    suite.tests(DOCUMENTED, || documented::run(&root));
    end_to_end(&mut suite, &root, "", None);
    suite.finish()
}

/// Runs what there is in Python, against the command that is built.
///
/// # Errors
/// As [`test()`].
pub(crate) fn python() -> Result<()> {
    let mut suite = Suite::default();
    let root = root()?;
    built(&mut suite, &root);
    in_python(&mut suite, &root);
    suite.finish()
}

fn in_python(suite: &mut Suite, root: &Path) {
    let Some(python) = suite.install("Python packages", || Python::open(root)) else { return };
    suite.check("Python wheel", || python.install());
    suite.check("Python types", || python.types());
    suite.tests("Python", || python.tests());
}

/// Runs what there is in JavaScript, against the command that is built.
///
/// # Errors
/// As [`test()`].
pub(crate) fn javascript() -> Result<()> {
    let mut suite = Suite::default();
    let root = root()?;
    built(&mut suite, &root);
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
    suite.check("the page to try it, as files", || javascript.site());
}

/// The commands that the documentation prints.
const DOCUMENTED: &str = "commands of the documentation";

/// Runs the commands that the documentation prints.
///
/// # Errors
/// As [`test()`].
pub(crate) fn documented() -> Result<()> {
    let mut suite = Suite::default();
    let root = root()?;
    built(&mut suite, &root);
    suite.tests(DOCUMENTED, || documented::run(&root));
    suite.finish()
}

/// The store's own tests, with a server of Postgres beside the file.
const STORE: &str = "store/postgres";

/// Runs the part of the end-to-end suite that is named.
///
/// # Errors
/// As [`test()`].
pub(crate) fn e2e(only: &str, server: Option<&str>) -> Result<()> {
    let mut suite = Suite::default();
    let root = root()?;
    if STORE.contains(only) {
        let nextest = has(&root, "nextest");
        if let Some(postgres) = suite.install("Postgres", Postgres::start) {
            suite.tests(&format!("end to end: {STORE}"), || {
                let mut tests = runner(&root, nextest);
                step::run(tests.env(VARIABLE, &postgres.url).args(["--package", "callwright-store"]))
            });
        }
        if only == STORE {
            return suite.finish();
        }
    }
    built(&mut suite, &root);
    end_to_end(&mut suite, &root, only, server);
    suite.finish()
}

/// The binary that users have.
fn built(suite: &mut Suite, root: &Path) {
    suite.check("build", || {
        Ok(step::run(cargo(root).args(["build", "--quiet", "--package", "callwright-cli"]))?.ok)
    });
}

fn end_to_end(suite: &mut Suite, root: &Path, only: &str, server: Option<&str>) {
    if let Err(error) = e2e::add_to(suite, root, only, server) {
        suite.check("end to end: what to run", || Err(error));
    }
}

/// Is the cargo command `name` installed?
fn has(root: &Path, name: &str) -> bool {
    let asked = cargo(root).args([name, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// The test runner. Without nextest the standard one serves, which runs no two test binaries at once.
fn runner(root: &Path, nextest: bool) -> Command {
    let mut cargo = cargo(root);
    if nextest {
        cargo.args(["nextest", "run", "--no-fail-fast", "--no-tests", "pass", "--status-level", "fail"]);
    } else {
        // Documentation examples are a step of their own.
        cargo.args(["test", "--no-fail-fast", "--tests"]);
    }
    cargo
}

/// What has been run so far, and how it went.
#[derive(Default)]
pub(crate) struct Suite {
    passed: usize,
    failed: usize,
    failures: Vec<String>,
    left_out: Vec<String>,
    seconds: Vec<(String, f64)>,
}

impl Suite {
    /// A step that passes or fails as a whole.
    fn check(&mut self, name: &str, work: impl FnOnce() -> Result<bool>) {
        self.tests(name, || Ok(Tally { ok: work()?, ..Tally::default() }));
    }

    /// A step that reports its tests.
    pub(crate) fn tests(&mut self, name: &str, work: impl FnOnce() -> Result<Tally>) {
        println!("=== {name}");
        let start = Instant::now();
        let tally = work().unwrap_or_else(|error| {
            println!("    {error:#}");
            Tally::default()
        });
        let seconds = start.elapsed().as_secs_f64();
        println!("=== {name}: {} in {seconds:.1} s\n", if tally.ok { "ok" } else { "FAILED" });
        self.seconds.push((String::from(name), seconds));
        self.passed += tally.passed;
        self.failed += tally.failed;
        if !tally.ok {
            self.failures.push(String::from(name));
            // Nothing was counted: it failed before its first test, or has none.
            if tally.failed == 0 {
                self.failed += 1;
            }
        }
        if 0 < tally.skipped {
            self.leave_out(name, &format!("{} tests are switched off", tally.skipped));
        }
    }

    /// A step that fetches what later ones need. Where it cannot, they are left out, and so is this.
    pub(crate) fn install<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        let name = format!("install {name}");
        let start = Instant::now();
        let installed = work();
        let seconds = start.elapsed().as_secs_f64();
        println!("=== {name}: {seconds:.1} s\n");
        match installed {
            Ok(installed) => {
                self.seconds.push((name, seconds));
                Some(installed)
            }
            Err(error) => {
                self.leave_out(&name, &format!("{error:#}"));
                None
            }
        }
    }

    /// Something that runs elsewhere, but cannot here. Where `CI` is `true` that is a failure.
    pub(crate) fn leave_out(&mut self, name: &str, why: &str) {
        println!("!!! NOT RUN: {name}: {why}\n");
        self.left_out.push(format!("{name}: {why}"));
    }

    fn finish(mut self) -> Result<()> {
        for (name, seconds) in &self.seconds {
            println!("{seconds:8.1} s  {name}");
        }
        for left_out in &self.left_out {
            println!("NOT RUN   {left_out}");
        }
        if std::env::var("CI").is_ok_and(|ci| ci == "true") {
            self.failed += self.left_out.len();
            self.failures.append(&mut self.left_out);
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        if self.failed == 0 { Ok(()) } else { bail!("failed: {}", self.failures.join(", ")) }
    }
}
