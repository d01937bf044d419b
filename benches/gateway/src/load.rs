//! Asks for one case over and over, on several connections, each as soon as it has its answer.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use memchr::memmem;
use tokio::task::LocalSet;

use crate::case::Case;
use crate::http::{Connection, post};

/// What came of it.
pub(crate) struct Figures {
    pub(crate) answers: usize,
    /// Answers that were not what the upstream had said.
    pub(crate) failed: usize,
    pub(crate) bytes: usize,
    /// Half of the answers were whole after this time.
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

/// The question and what is expected.
struct Script {
    question: Vec<u8>,
    is_stream: bool,
    /// A whole answer's body; of a stream, all that its events say, one after the other.
    expected: Vec<u8>,
}

/// Asks for `time`.
///
/// # Errors
/// A connection broke.
pub(crate) async fn run(to: SocketAddr, case: Case, connections: usize, time: Duration) -> Result<Figures> {
    let expected = match case.is_stream() {
        true => said(case.events().concat().as_bytes()),
        false => case.answer().into_bytes(),
    };
    let question = post("/v1/chat/completions", &case.question());
    let script = Rc::new(Script { question, is_stream: case.is_stream(), expected });
    let end = Instant::now() + time;
    let local = LocalSet::new();
    let asked: Vec<_> =
        (0..connections).map(|_| local.spawn_local(ask(to, Rc::clone(&script), end))).collect();
    local.await;
    let (mut times, mut failed, mut bytes) = (Vec::new(), 0, 0);
    for asker in asked {
        let came = asker.await??;
        times.extend(came.times);
        failed += came.failed;
        bytes += came.bytes;
    }
    times.sort_unstable();
    let (p50, p99) = (percentile(&times, 50), percentile(&times, 99));
    Ok(Figures { answers: times.len(), failed, bytes, p50, p99 })
}

/// The time that `percent` of a hundred of these, the shortest first, do not exceed.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[derive(Default)]
struct Came {
    times: Vec<Duration>,
    failed: usize,
    bytes: usize,
}

async fn ask(to: SocketAddr, script: Rc<Script>, end: Instant) -> Result<Came> {
    let mut connection = Connection::to(to).await?;
    let mut came = Came::default();
    let mut now = Instant::now();
    while now < end {
        connection.send(&script.question).await?;
        let Some((status, rest)) = connection.head().await? else { bail!("the server hung up") };
        connection.whole(rest).await?;
        let since = now;
        now = Instant::now();
        came.times.push(now - since);
        came.bytes += connection.body.len();
        // Of streams, the first answer is read; of the others it is known how they must end.
        let is_right = match script.is_stream {
            true if came.times.len() == 1 => said(&connection.body) == script.expected,
            true => connection.body.ends_with(b"data: [DONE]\n\n"),
            false => connection.body == script.expected,
        };
        came.failed += usize::from(!is_right || !status.contains(" 200 "));
    }
    Ok(came)
}

/// The contents and arguments of a stream, joined.
fn said(events: &[u8]) -> Vec<u8> {
    let mut said = Vec::new();
    for event in events.split(|b| *b == b'\n') {
        for mark in [&b"\"content\":\""[..], b"\"arguments\":\""] {
            let Some(at) = memmem::find(event, mark) else { continue };
            let rest = &event[at + mark.len()..];
            // A quote with a backslash before it belongs to the text.
            let length = (0..rest.len()).find(|n| rest[*n] == b'"' && (*n == 0 || rest[n - 1] != b'\\'));
            said.extend_from_slice(&rest[..length.unwrap_or(0)]);
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S3-41
    #[test]
    fn a_percentile_is_the_time_that_so_many_do_not_exceed() {
        let times = |n: u64| (1..=n).map(Duration::from_micros).collect::<Vec<_>>();
        for (n, percent, micros) in
            [(100, 50, 50), (100, 99, 99), (200, 99, 198), (3, 50, 2), (1, 99, 1), (0, 99, 0)]
        {
            assert_eq!(percentile(&times(n), percent), Duration::from_micros(micros), "{percent} of {n}");
        }
    }
}
