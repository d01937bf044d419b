//! A process that is being measured: what it costs and takes, as the kernel counts it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, DirEntry, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// The kernel counts processor time in hundredths of a second for all programs, whatever its own clock.
const TICK: Duration = Duration::from_millis(10);

/// A process on some of the cores. It ends when this is dropped, or we are killed.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    /// Starts `command` on `cores`, such as `0` or `0,1`. What it says on its error output goes to `log`.
    pub(crate) fn start(command: &Command, cores: &str, log: &Path) -> Result<Running> {
        let errors = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        // Both make way for what they start, so that the process is the one that is measured.
        let mut pinned = Command::new("setpriv");
        pinned.args(["--pdeathsig", "KILL", "taskset", "--cpu-list", cores]);
        pinned.arg(command.get_program()).args(command.get_args());
        let mut child = pinned
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .context("cannot start setpriv, which comes with util-linux as taskset does")?;
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().context("the output is piped")?);
        Ok(Running { child, stdin, stdout })
    }

    /// The next line that it prints.
    ///
    /// # Errors
    /// It has ended.
    pub(crate) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.stdout.read_line(&mut line)? == 0 {
            bail!("it ended without a word: see target/bench");
        }
        Ok(line.trim().to_owned())
    }

    /// Gives it the line that it waits for.
    pub(crate) fn go(&mut self) -> Result<()> {
        let mut stdin = self.stdin.take().context("it has been told already")?;
        Ok(stdin.write_all(b"\n")?)
    }

    /// The processor time that it has used, in the kernel too.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        cpu(Path::new(&format!("/proc/{}/stat", self.child.id())))
    }

    /// The same for each of its threads, by their numbers, to the nanosecond: a turn of half a second has but fifty
    /// hundredths.
    pub(crate) fn cpu_of_threads(&self) -> Result<HashMap<OsString, Duration>> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id()))?;
        let cpu = |thread: DirEntry| -> Result<(OsString, Duration)> {
            // `1459000000 26000 311`: time on a core and time spent waiting for one, in nanoseconds, and turns there.
            let text = fs::read_to_string(thread.path().join("schedstat"))?;
            let spent = text.split(' ').next().context("an empty schedstat")?;
            Ok((thread.file_name(), Duration::from_nanos(spent.parse()?)))
        };
        threads.map(|thread| cpu(thread?)).collect()
    }

    /// Its resident memory in MB.
    pub(crate) fn memory(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kb: f64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kb / 1024.0)
    }
}

/// `4242 (nginx: worker) S 1 …`: user and system time are the 14th and 15th, counted from the number.
fn cpu(stat: &Path) -> Result<Duration> {
    let text = fs::read_to_string(stat)?;
    let (_, fields) = text.rsplit_once(')').context("a stat without a name")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u32>);
    let ticks = ticks.sum::<Result<u32, _>>()?;
    Ok(TICK * ticks)
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nothing is left to do for one that is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
