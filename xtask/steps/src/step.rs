//! Runs one command of a step, shows its output as it comes, and counts the tests that it reports.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result};

/// What a command came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// How many tests passed.
    pub passed: usize,
    /// How many failed.
    pub failed: usize,
    /// How many the runner left out.
    pub skipped: usize,
    /// The command itself ended well.
    pub ok: bool,
    /// Tests that passed, with the seconds that each took, where the runner tells them.
    pub slow: Vec<(f64, String)>,
}

/// The cargo that runs this, in the project's root.
///
/// It is told nothing of the package that this program is: a build script that watches `CARGO_PKG_VERSION` and its
/// like, as ring's does, would run anew, and all that stands on it, whenever a build from here follows one from a
/// shell.
pub fn cargo(root: &Path) -> Command {
    program(root, Path::new(env!("CARGO")))
}

/// Another program that runs cargo, or none, in the project's root; it is told as little.
pub fn program(root: &Path, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root).env("CARGO_TERM_COLOR", "never");
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"CARGO_PKG_") {
            command.env_remove(name);
        }
    }
    command
}

/// The last argument of a process that runs inside a network of its own, or where everybody is. See [`alone()`].
pub const ALONE: &str = "--alone";
/// See [`ALONE`].
pub const HERE: &str = "--here";

/// This program with other arguments, in a network without anything but loopback; where the system does not let us, in the
/// one that everybody is in, as its last argument says.
pub fn alone(args: &[&str]) -> Result<Command> {
    const LOOPBACK: &str = "ip link set lo up";
    let own = std::env::current_exe()?;
    let can = Command::new("unshare").args(["-rn", "sh", "-c", LOOPBACK]).stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        let mut command = Command::new(own);
        command.args(args).arg(HERE);
        return Ok(command);
    }
    let mut command = Command::new("unshare");
    command.args(["-rn", "sh", "-c", &format!("{LOOPBACK} && exec \"$0\" \"$@\"")]).arg(own);
    command.args(args).arg(ALONE);
    Ok(command)
}

/// Runs `command` to its end.
///
/// # Errors
/// When it cannot be started, or its output cannot be read.
pub fn run(command: &mut Command) -> Result<Tally> {
    let name = format!("{command:?}");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let out = child.stdout.take().context("the output is piped")?;
    let err = child.stderr.take().context("the error output is piped")?;
    let err = thread::spawn(move || show(err));
    let mut tally = show(out)?;
    if let Ok(more) = err.join() {
        tally.add(more?);
    }
    tally.ok = child.wait().with_context(|| format!("cannot wait for {name}"))?.success();
    Ok(tally)
}

fn show(from: impl Read) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? != 0 {
        let text = String::from_utf8_lossy(&line);
        match passed(&text) {
            Some(test) => tally.slow.push(test),
            None => println!("    {}", text.trim_end()),
        }
        tally.add(counted(&text));
        line.clear();
    }
    Ok(tally)
}

impl Tally {
    /// Counts one part of a step, and prints its line: `ok`, or `FAIL` and what is not as it should be.
    pub fn part(&mut self, name: &str, seconds: f64, differences: &[String]) {
        let is_ok = differences.is_empty();
        println!("    {}  {seconds:5.1} s  {name}", if is_ok { "ok  " } else { "FAIL" });
        differences.iter().for_each(|difference| println!("          {difference}"));
        self.passed += usize::from(is_ok);
        self.failed += usize::from(!is_ok);
        self.ok &= is_ok;
    }

    fn add(&mut self, more: Tally) {
        self.passed += more.passed;
        self.failed += more.failed;
        self.skipped += more.skipped;
        self.slow.extend(more.slow);
    }
}

/// Reads nextest's line of a test that passed, which is too little news to be shown:
/// `        PASS [   1.234s] ( 1/20) callwright::it corpus::is_read`
fn passed(line: &str) -> Option<(f64, String)> {
    let (seconds, test) = line.trim().strip_prefix("PASS [")?.split_once("s] ")?;
    let test = test.rsplit_once(") ").map_or(test, |(_, test)| test);
    Some((seconds.trim().parse().ok()?, test.trim().to_owned()))
}

/// Reads the summary lines of the runners:
/// `Summary [ 0.01s] 3 tests run: 2 passed (1 slow), 1 failed, 0 skipped`,
/// `test result: ok. 5 passed; 0 failed; 0 ignored; …`, pytest's `1 failed, 5 passed, 2 warnings in 0.10s`, and Node's
/// `# pass 5`, `# fail 1`, `# skipped 0`.
///
/// nextest repeats the second one, indented, for each test that fails; those are in its summary already.
fn counted(line: &str) -> Tally {
    let counts = if line.trim_start().starts_with("Summary [") {
        line.split_once(" run: ").map_or("", |(_, counts)| counts)
    } else if let Some((counts, took)) = line.trim_matches(['=', ' ', '\n']).rsplit_once(" in ")
        && [counts, took].iter().all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
    {
        counts
    } else {
        line.strip_prefix("test result: ")
            .and_then(|rest| rest.split_once(". "))
            .map_or("", |(_, counts)| counts)
    };
    let mut tally = Tally::default();
    if let Some((what, Ok(number))) = line
        .strip_prefix("# ")
        .and_then(|count| count.trim_end().split_once(' '))
        .map(|(w, n)| (w, n.parse()))
    {
        match what {
            "pass" => tally.passed = number,
            "fail" | "cancelled" => tally.failed = number,
            "skipped" | "todo" => tally.skipped = number,
            _ => {}
        }
        return tally;
    }
    for count in counts.split([',', ';']) {
        let Some((number, what)) = count.trim().split_once(' ') else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        match what.split(" (").next().unwrap_or(what) {
            "passed" => tally.passed += number,
            "failed" | "timed out" | "exec failed" | "error" | "errors" => tally.failed += number,
            "skipped" | "ignored" => tally.skipped += number,
            _ => {}
        }
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runners_are_understood() {
        let tally = |passed, failed, skipped| Tally { passed, failed, skipped, ..Tally::default() };
        let nextest =
            "     Summary [   0.012s] 14 tests run: 11 passed (1 slow), 2 failed, 1 timed out, 4 skipped";
        assert_eq!(counted(nextest), tally(11, 3, 4));
        let libtest = "test result: FAILED. 5 passed; 1 failed; 2 ignored; 0 measured; 9 filtered out; finished in 0.01s";
        assert_eq!(counted(libtest), tally(5, 1, 2));
        let pytest = "=========== 1 failed, 5 passed, 1 skipped, 2 warnings, 1 error in 0.10s ===========\n";
        assert_eq!(counted(pytest), tally(5, 2, 1));
        assert_eq!(counted("117 passed in 61.77s (0:01:01)\n"), tally(117, 0, 0));
        let node = ["# tests 4\n", "# pass 2\n", "# fail 1\n", "# skipped 1\n"];
        let mut sum = Tally::default();
        node.iter().for_each(|line| sum.add(counted(line)));
        assert_eq!(sum, tally(2, 1, 1));
        let test = "        PASS [   1.250s] ( 1/20) callwright::it corpus::is_read\n";
        assert_eq!(passed(test), Some((1.25, "callwright::it corpus::is_read".into())));
        assert_eq!(counted("test passes ... ok"), Tally::default());
        assert_eq!(counted(&format!("    {libtest}")), Tally::default());
    }
}
