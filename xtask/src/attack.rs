//! What an attacker would try for longer than the suite takes: the generated tests, with many times their rounds, in
//! bounded memory.

use anyhow::{Context as _, Result, bail};

use steps::root;
use steps::step::{self, cargo};

/// How many times the rounds of one run of the suite.
const TIMES: &str = "4";
/// The address space that each test may take, in KiB: a bomb ends the test, and not the machine.
const MEMORY: u32 = 2 << 20;
/// The generated tests: what is cut, quoted or torn, schemas, and what a command leaves behind.
const TESTS: &str = "test(what_is_cut) or test(what_is_shown) or test(what_stands_within) or test(/^broken_marks::/) \
                     or package(callwright-schema) or test(/^smuggling::/) or test(nothing_outlives)";

/// Runs them.
///
/// # Errors
/// When one of them fails, or cannot be built.
pub(crate) fn attack() -> Result<()> {
    let root = root()?;
    let nextest = ["nextest", "run", "--workspace", "--exclude", "callwright-cli"];
    // The compilers may take more than the tests.
    if !step::run(cargo(&root).args(nextest).arg("--no-run"))?.ok {
        bail!("the tests cannot be built");
    }
    let limited = format!("ulimit -v {MEMORY} && exec \"$0\" \"$@\"");
    let mut tests = step::program(&root, "sh".as_ref());
    tests.args(["-c", &limited]).arg(env!("CARGO")).args(nextest).args(["--no-fail-fast", "-E", TESTS]);
    let tally = step::run(tests.env("CALLWRIGHT_LAWS", TIMES)).context("the tests")?;
    println!("{} passed, {} failed", tally.passed, tally.failed);
    if tally.ok { Ok(()) } else { bail!("{} of the attacks succeeded", tally.failed) }
}
