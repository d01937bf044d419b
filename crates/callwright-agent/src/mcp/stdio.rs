//! Runs a server that is a program: starts it, speaks over its standard streams, ends it with all that it started.

use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::config::Reach;
use super::written::sealed;

/// The longest line that a server may write, in bytes: one message.
const MAX_LINE: usize = 8 << 20;
/// The number of last bytes of its error output that are kept.
const TAIL: usize = 2 << 10;
/// The time in which a program should end after its output has ended.
const SOON: Duration = Duration::from_millis(200);
/// The time that a server has to end after its input has ended.
const TO_END: Duration = Duration::from_secs(1);

/// Starts the program, and returns both ends of the conversation.
///
/// # Errors
/// Fails when the program cannot be started.
pub(super) fn start(reach: &Reach) -> io::Result<(Lines<ChildStdout>, ChildStdin, Program)> {
    let Reach::Program { program, arguments, environment, folder } = reach else {
        return Err(io::Error::other("it is not a program"));
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own keeps the terminal's interrupt for us, and lets us end all of it at once.
        .process_group(0)
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(io::Error::other("its streams are gone"));
    };
    let trouble = Arc::new(Trouble::default());
    let listening = tokio::spawn(listen(stderr, trouble.clone()));
    let lines = Lines { inner: stdout, line: Vec::new(), whole: Vec::new(), trouble: trouble.clone() };
    Ok((lines, stdin, Program { child, trouble, listening }))
}

/// A running program. Once its last holder drops it, it is ended with its group.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
    trouble: Arc<Trouble>,
    /// The task ends when all error output is read.
    listening: JoinHandle<()>,
}

/// The evidence of why a program does not go on.
#[derive(Debug, Default)]
struct Trouble {
    said: Mutex<Vec<u8>>,
    line_too_long: Mutex<bool>,
}

impl Program {
    /// Returns whether it has ended, or is about to.
    pub(super) async fn has_ended(&mut self) -> bool {
        tokio::time::timeout(SOON, self.child.wait()).await.is_ok()
    }

    /// Returns the probable reason of its end: its exit, and the end of its error output.
    pub(super) async fn why(&mut self) -> String {
        let ended = tokio::time::timeout(SOON, self.child.wait()).await;
        let how = if *self.trouble.line_too_long.lock().unwrap_or_else(PoisonError::into_inner) {
            format!("it wrote a message of more than {} MiB", MAX_LINE >> 20)
        } else {
            match ended {
                Ok(Ok(status)) => format!("it ended with {status}"),
                _ => "it closed its output".to_owned(),
            }
        };
        // A child of its own may hold its error output open.
        let _ = tokio::time::timeout(SOON, &mut self.listening).await;
        match self.trouble.tail() {
            said if said.is_empty() => how,
            said => format!("{how}, and said: {said}"),
        }
    }

    /// Waits until it ends by itself after its input, or ends it.
    pub(super) async fn end(mut self) {
        let _ = tokio::time::timeout(TO_END, self.child.wait()).await;
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A program without an id was waited for, and its number may be another's.
        let group = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(group) = group {
            // It may have ended between these two lines.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Trouble {
    /// Returns the last lines of its error output.
    fn tail(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = text.trim().lines().collect();
        lines[lines.len().saturating_sub(4)..].join(" / ")
    }
}

/// Reads all error output, so that the program never waits for us, and keeps the end.
async fn listen(mut stderr: ChildStderr, trouble: Arc<Trouble>) {
    let mut piece = vec![0; 4 << 10];
    while let Ok(n @ 1..) = stderr.read(&mut piece).await {
        let mut said = trouble.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(&piece[..n]);
        let too_many = said.len().saturating_sub(TAIL);
        said.drain(..too_many);
    }
}

/// The output of a program, line by line. A line that is too long ends it, as nobody may keep all of such a line.
#[derive(Debug)]
pub(super) struct Lines<R> {
    inner: R,
    /// The unfinished line.
    line: Vec<u8>,
    /// Whole lines that nobody has taken yet.
    whole: Vec<u8>,
    trouble: Arc<Trouble>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.whole.is_empty() {
            let mut piece = [0; 8 << 10];
            let mut read = ReadBuf::new(&mut piece);
            ready!(Pin::new(&mut self.inner).poll_read(cx, &mut read))?;
            if read.filled().is_empty() {
                // The last line ends without a line break.
                self.whole = std::mem::take(&mut self.line);
                break;
            }
            for part in read.filled().split_inclusive(|byte| *byte == b'\n') {
                self.line.extend_from_slice(part);
                if MAX_LINE < self.line.len() {
                    *self.trouble.line_too_long.lock().unwrap_or_else(PoisonError::into_inner) = true;
                    return Poll::Ready(Err(io::Error::other("the line is too long")));
                }
                if self.line.ends_with(b"\n") {
                    let line = std::mem::take(&mut self.line);
                    match std::str::from_utf8(&line) {
                        Ok(text) => self.whole.extend_from_slice(sealed(text).as_bytes()),
                        Err(_) => self.whole.extend_from_slice(&line),
                    }
                }
            }
        }
        let taken = self.whole.len().min(buf.remaining());
        let rest = self.whole.split_off(taken);
        buf.put_slice(&self.whole);
        self.whole = rest;
        Poll::Ready(Ok(()))
    }
}
