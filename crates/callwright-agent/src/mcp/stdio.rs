//! A server that is a program: started, spoken to over its standard streams, ended with all that it started.

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

/// The longest line that a server may write: one message.
const MAX_LINE: usize = 8 << 20;
/// How much of what it says on its error output is kept: the end.
const TAIL: usize = 2 << 10;
/// How long after the end of its output a program is expected to end.
const SOON: Duration = Duration::from_millis(200);
/// How long a server may take to end when its input ends.
const TO_END: Duration = Duration::from_secs(1);

/// Starts the program, and gives both ends of the conversation.
///
/// # Errors
/// When it cannot be started.
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
        // A group of its own: an interrupt at the terminal is for us, and all of it can be ended at once.
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

/// A program that runs. When nobody holds it any more it is ended, with its group.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
    trouble: Arc<Trouble>,
    /// Done when all that it said is read.
    listening: JoinHandle<()>,
}

/// What is known of why a program does not go on.
#[derive(Debug, Default)]
struct Trouble {
    said: Mutex<Vec<u8>>,
    line_too_long: Mutex<bool>,
}

impl Program {
    /// Has it ended, or is it about to?
    pub(super) async fn has_ended(&mut self) -> bool {
        tokio::time::timeout(SOON, self.child.wait()).await.is_ok()
    }

    /// Why it ended, as far as that can be told: what it did, and the end of what it said.
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

    /// Waits until it has ended by itself, as its input has, or ends it.
    pub(super) async fn end(mut self) {
        let _ = tokio::time::timeout(TO_END, self.child.wait()).await;
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // No id: it was waited for, and its number may be another's by now.
        let group = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(group) = group {
            // It may have ended between the two lines.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Trouble {
    /// The last lines that it said.
    fn tail(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = text.trim().lines().collect();
        lines[lines.len().saturating_sub(4)..].join(" / ")
    }
}

/// Reads all that a program says, so that it never waits for us, and keeps the end.
async fn listen(mut stderr: ChildStderr, trouble: Arc<Trouble>) {
    let mut piece = vec![0; 4 << 10];
    while let Ok(n @ 1..) = stderr.read(&mut piece).await {
        let mut said = trouble.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(&piece[..n]);
        let too_many = said.len().saturating_sub(TAIL);
        said.drain(..too_many);
    }
}

/// What a program writes, line by line, as long as no line is too long: a longer one is the end, as whoever reads on would
/// keep all of it.
#[derive(Debug)]
pub(super) struct Lines<R> {
    inner: R,
    /// The line that is being read.
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
                // The end, behind a last line that nothing ends.
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
