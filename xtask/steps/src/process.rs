//! Child processes of the end-to-end suite. Each ends with the suite, however that ends.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

/// A server on loopback. Dropping it kills it.
pub struct Server {
    /// Its address, `http://127.0.0.1:PORT`.
    pub url: String,
    _process: Process,
}

impl Server {
    /// Starts `command`, and waits until it prints a line with its address. Its error
    /// output goes to `log`.
    ///
    /// # Errors
    /// When it cannot be started, or says no address within `patience`. The end of its log is in the error.
    pub fn start(command: &Command, log: &Path, patience: Duration) -> Result<Server> {
        let wait = || -> Result<Server> {
            let process = Process::start(&mut kept(command), log)?;
            let deadline = Instant::now() + patience;
            loop {
                let line = process.line(deadline.saturating_duration_since(Instant::now()))?;
                if let Some(url) = address(&line) {
                    return Ok(Server { url, _process: process });
                }
            }
        };
        wait().with_context(|| format!("{command:?} did not start; it wrote:\n{}", tail(log)))
    }
}

/// `command`, killed as soon as its standard input ends. A pipe of ours ends even where we are killed ourselves.
fn kept(command: &Command) -> Command {
    // The shell outlives an interrupt, which a terminal sends to all of us, and gives its own end of the standard
    // output away: it then closes when the server ends.
    const KEEP: &str = r#"trap "" INT; "$@" </dev/null & server=$!; exec >&-; cat >/dev/null; kill -9 "$server" 2>/dev/null"#;
    let mut kept = Command::new("sh");
    kept.args(["-c", KEEP, "sh"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => kept.env(name, value),
            None => kept.env_remove(name),
        };
    }
    kept
}

/// `listening on http://127.0.0.1:4000` → `http://127.0.0.1:4000`
fn address(line: &str) -> Option<String> {
    const HOST: &str = "http://127.0.0.1:";
    let at = line.find(HOST)?;
    let port: String = line[at + HOST.len()..].chars().take_while(char::is_ascii_digit).collect();
    (!port.is_empty()).then(|| format!("{HOST}{port}"))
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

/// A process that is spoken to line by line. Dropping it ends it.
pub struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Process {
    /// Starts `command`. What it says on its error output goes to `log`.
    pub fn start(command: &mut Command, log: &Path) -> Result<Process> {
        let errors = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().context("the output is piped")?;
        let (send, lines) = mpsc::channel();
        // Ends when the process closes its output, or when nobody listens any more.
        thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        Ok(Process { child, stdin, lines })
    }

    /// Says one line to it.
    pub fn say(&mut self, line: &str) -> Result<()> {
        let stdin = self.stdin.as_mut().context("the input is piped")?;
        writeln!(stdin, "{line}").context("it does not listen any more")
    }

    /// The next line that it prints.
    pub fn line(&self, patience: Duration) -> Result<String> {
        self.lines.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => anyhow!("no word within {} s", patience.as_secs()),
            RecvTimeoutError::Disconnected => anyhow!("it ended"),
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A kept server is killed by its keeper, which ends right after it; a client reads to the end of its tasks.
        drop(self.stdin.take());
        let deadline = Instant::now() + Duration::from_secs(2);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
        }
        // Nothing is left to do for one that is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `command` to its end, without showing what it says.
///
/// # Errors
/// When it fails: with the first lines that it wrote about errors.
pub fn quietly(command: &mut Command) -> Result<()> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said =
        [output.stderr, output.stdout].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    let about: Vec<&str> =
        said.lines().filter(|line| line.to_ascii_lowercase().contains("error")).take(3).collect();
    bail!("{}: {}", command.get_program().display(), about.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_in_its_line() {
        assert_eq!(
            address("listening on http://127.0.0.1:4000, ready").as_deref(),
            Some("http://127.0.0.1:4000")
        );
        assert_eq!(address("listening on http://127.0.0.1:"), None);
        assert_eq!(address("loading"), None);
    }

    #[test]
    fn a_server_ends_with_its_handle_and_one_that_fails_is_named_with_its_log() {
        let folder = std::env::temp_dir().join(format!("xtask-process-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let patience = Duration::from_secs(20);
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$; echo at http://127.0.0.1:1; exec sleep 60"]);
        let server = Server::start(&command, &folder.join("good.log"), patience).unwrap();
        assert_eq!(server.url, "http://127.0.0.1:1");
        drop(server);

        let mut command = Command::new("sh");
        command.args(["-c", "echo no such model >&2; exit 1"]);
        let failed = Server::start(&command, &folder.join("bad.log"), patience);
        let Err(error) = failed else { panic!("it said no address") };
        assert!(format!("{error:#}").contains("no such model"), "{error:#}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
