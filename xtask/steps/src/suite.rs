//! Steps in order, with what they took, and one line in the end.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{self, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::budget;
use crate::step::Tally;

/// The file in which a program says to the one that started it how its steps went.
const REPORT: &str = "CALLWRIGHT_REPORT";

/// How many of the slowest tests are named in the end.
const SLOWEST: usize = 10;

/// What has been run so far, and how it went.
#[derive(Debug, Default, PartialEq)]
pub struct Suite {
    passed: usize,
    failed: usize,
    failures: Vec<String>,
    left_out: Vec<String>,
    steps: Vec<Took>,
    /// Tests with their seconds.
    slow: Vec<(f64, String)>,
}

/// A step with what it took, in seconds: by the clock, and of processors.
#[derive(Clone, Debug, PartialEq)]
struct Took {
    name: String,
    clock: f64,
    processor: f64,
}

impl Suite {
    /// Runs a step that passes or fails as a whole.
    pub fn check(&mut self, name: &str, work: impl FnOnce() -> Result<bool>) {
        self.tests(name, || Ok(Tally { ok: work()?, ..Tally::default() }));
    }

    /// Runs a step that reports its tests. It fails as well where it takes more than its budget.
    pub fn tests(&mut self, name: &str, work: impl FnOnce() -> Result<Tally>) {
        println!("=== {name}");
        let (tally, took) = timed(name, work);
        let mut tally = tally.unwrap_or_else(|error| {
            println!("    {error:#}");
            Tally::default()
        });
        if let Some(why) = took.breach() {
            println!("    {why}");
            tally.ok = false;
        }
        println!("=== {name}: {} in {:.1} s\n", if tally.ok { "ok" } else { "FAILED" }, took.clock);
        self.steps.push(took);
        self.passed += tally.passed;
        self.failed += tally.failed;
        self.slow.append(&mut tally.slow);
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

    /// Fetches what later steps need. Where it cannot, they are left out, and so is this.
    pub fn install<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        let name = format!("install {name}");
        let (installed, took) = timed(&name, work);
        println!("=== {name}: {:.1} s\n", took.clock);
        match installed {
            Ok(installed) => {
                self.steps.push(took);
                Some(installed)
            }
            Err(error) => {
                self.leave_out(&name, &format!("{error:#}"));
                None
            }
        }
    }

    /// Notes what runs elsewhere, but cannot here. Where `CI` is set that is a failure.
    pub fn leave_out(&mut self, name: &str, why: &str) {
        println!("!!! NOT RUN: {name}: {why}\n");
        self.left_out.push(format!("{name}: {why}"));
    }

    /// Runs another program that has a suite of its own, whose steps become steps of this one.
    pub fn program(&mut self, name: &str, command: &mut Command) {
        let file = env::temp_dir().join(format!("callwright-report-{}", process::id()));
        let mut run = || -> Result<Suite> {
            command.env(REPORT, &file).stdin(Stdio::null());
            let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
            let report = fs::read_to_string(&file).with_context(|| format!("it ended early: {status}"))?;
            Suite::told(&report)
        };
        match run() {
            Ok(mut told) => {
                self.passed += told.passed;
                self.failed += told.failed;
                self.failures.append(&mut told.failures);
                self.left_out.append(&mut told.left_out);
                self.steps.append(&mut told.steps);
                self.slow.append(&mut told.slow);
            }
            Err(error) => self.check(name, || Err(error)),
        }
        // It may never have been written.
        let _ = fs::remove_file(&file);
    }

    /// Prints what each step took, the slowest tests, what was left out, and last `N passed, N failed`; or writes it for the
    /// program that started this one.
    ///
    /// # Errors
    /// When anything failed, or when something was left out although `CI` says that nothing may be.
    pub fn finish(mut self) -> Result<()> {
        if let Some(file) = env::var_os(REPORT).map(PathBuf::from) {
            fs::write(&file, self.report()).with_context(|| format!("cannot write {}", file.display()))?;
            return if self.failed == 0 { Ok(()) } else { bail!("failed: {}", self.failures.join(", ")) };
        }
        println!("{:>10} {:>14}  step", "seconds", "of processors");
        for Took { name, clock, processor } in &self.steps {
            println!("{clock:8.1} s {processor:12.1} s  {name}");
        }
        let sum = |seconds: fn(&Took) -> f64| self.steps.iter().map(seconds).sum::<f64>();
        println!("{:8.1} s {:12.1} s  in all", sum(|took| took.clock), sum(|took| took.processor));
        self.slow.sort_by(|one, other| other.0.total_cmp(&one.0));
        for (seconds, test) in self.slow.iter().take(SLOWEST) {
            println!("{seconds:8.1} s  {test}");
        }
        for left_out in &self.left_out {
            println!("NOT RUN   {left_out}");
        }
        if env::var("CI").is_ok_and(|ci| !matches!(ci.as_str(), "" | "0" | "false")) {
            self.failed += self.left_out.len();
            self.failures.append(&mut self.left_out);
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        if self.failed == 0 { Ok(()) } else { bail!("failed: {}", self.failures.join(", ")) }
    }

    /// One line for each fact, its parts apart by tabs.
    fn report(&self) -> String {
        let line = |kind: &str, text: &str| format!("{kind}\t{}\n", text.replace(['\n', '\r', '\t'], " "));
        let mut report = format!("passed\t{}\nfailed\t{}\n", self.passed, self.failed);
        self.failures.iter().for_each(|failure| report += &line("failure", failure));
        self.left_out.iter().for_each(|left_out| report += &line("left out", left_out));
        for Took { name, clock, processor } in &self.steps {
            report += &format!("step\t{clock}\t{processor}\t{name}\n");
        }
        self.slow.iter().for_each(|(seconds, test)| report += &format!("slow\t{seconds}\t{test}\n"));
        report
    }

    /// Reads what another program told.
    fn told(report: &str) -> Result<Suite> {
        let mut suite = Suite::default();
        for line in report.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["passed", n] => suite.passed = n.parse()?,
                ["failed", n] => suite.failed = n.parse()?,
                ["failure", name] => suite.failures.push(name.to_owned()),
                ["left out", what] => suite.left_out.push(what.to_owned()),
                ["step", clock, processor, name] => suite.steps.push(Took {
                    name: name.to_owned(),
                    clock: clock.parse()?,
                    processor: processor.parse()?,
                }),
                ["slow", seconds, test] => suite.slow.push((seconds.parse()?, test.to_owned())),
                _ => bail!("not understood: {line}"),
            }
        }
        Ok(suite)
    }
}

impl Took {
    /// Why this is too much.
    fn breach(&self) -> Option<String> {
        let most = match budget::of(&self.name) {
            Some(most) => most,
            None => return Some(format!("`{}` has no budget in xtask/steps/budgets.txt", self.name)),
        };
        (most < self.processor).then(|| {
            let took = self.processor;
            format!("it took {took:.0} s of processors, and may take {most:.0} s: xtask/steps/budgets.txt")
        })
    }
}

fn timed<T>(name: &str, work: impl FnOnce() -> T) -> (T, Took) {
    let (start, before) = (Instant::now(), budget::spent());
    let done = work();
    let clock = start.elapsed().as_secs_f64();
    // Where processors are not accounted for, the clock stands in for them.
    let processor = before.and_then(|before| Ok(budget::spent()? - before)).unwrap_or(clock);
    (done, Took { name: name.to_owned(), clock, processor })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S3-45: one command runs the tests, those of other programs too, and tells what became of all of them.
    #[test]
    fn what_one_program_tells_another_reads() {
        let suite = Suite {
            passed: 3,
            failed: 1,
            failures: vec!["format".into()],
            left_out: vec!["Python: none".into()],
            steps: vec![Took { name: "format".into(), clock: 1.5, processor: 2.25 }],
            slow: vec![(0.5, "a test".into())],
        };
        assert_eq!(Suite::told(&suite.report()).unwrap(), suite);
    }

    #[test]
    fn a_step_over_its_budget_fails_with_a_sentence() {
        let took = |name: &str, processor| Took { name: name.into(), clock: 0.0, processor };
        assert_eq!(took("format", 0.1).breach(), None);
        assert!(took("format", 1e6).breach().unwrap().contains("may take"));
        assert!(took("a step of nobody", 0.1).breach().unwrap().contains("has no budget"));
    }
}
