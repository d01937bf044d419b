//! Many streams at once, each with a nonce of its own, which every event of its answer must carry, in order.

use std::io::BufRead;
use std::net::SocketAddr;
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use memchr::memmem;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::LocalSet;

use crate::case::Case;
use crate::http::{Connection, post};

/// The model whose answers are held.
pub(crate) const MODEL: &str = "held";
/// What stands before a nonce.
pub(crate) const NONCE_MARK: &str = "nonce-";
pub(crate) const NONCE_DIGITS: usize = 6;
/// How many events follow the first one.
pub(crate) const AFTER: usize = 20;

/// How many streams are being opened at a time.
const OPENING: usize = 256;

/// What became of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Became {
    Whole,
    /// Events are missing, or its end.
    Lost,
    /// Its own events, in another order.
    Reordered,
    /// Another one's event came in it.
    Crossed,
}

/// Opens `n` streams, waits for a line on standard input, lets them go on, and says what became of them.
///
/// # Errors
/// No stream can be let go on.
pub(crate) async fn run(to: SocketAddr, upstream: SocketAddr, n: usize) -> Result<()> {
    let local = LocalSet::new();
    let opening = Rc::new(Semaphore::new(OPENING));
    let (opened, mut open) = mpsc::unbounded_channel();
    let streams: Vec<_> = (0..n)
        .map(|nonce| local.spawn_local(stream(to, nonce, Rc::clone(&opening), opened.clone())))
        .collect();
    drop(opened);
    let became = local.run_until(async {
        let mut n_open = 0;
        while n_open < n && open.recv().await.is_some() {
            n_open += 1;
        }
        println!("open {n_open}");
        // All streams wait for the upstream: nothing is missed while this thread waits for its line.
        std::io::stdin().lock().read_line(&mut String::new())?;
        let mut connection = Connection::to(upstream).await?;
        connection.send(&post("/go", "{}")).await?;
        connection.head().await?.context("the upstream does not go on")?;
        let mut became = Vec::with_capacity(n);
        for stream in streams {
            // A stream whose connection broke is a lost one.
            became.push(stream.await?.unwrap_or(Became::Lost));
        }
        anyhow::Ok(became)
    });
    let became = became.await?;
    let count = |what| became.iter().filter(|one| **one == what).count();
    println!(
        "{} {} {} {}",
        count(Became::Whole),
        count(Became::Lost),
        count(Became::Reordered),
        count(Became::Crossed)
    );
    Ok(())
}

async fn stream(
    to: SocketAddr,
    nonce: usize,
    opening: Rc<Semaphore>,
    opened: mpsc::UnboundedSender<()>,
) -> Result<Became> {
    let permit = opening.acquire().await?;
    let mut connection = Connection::to(to).await?;
    let nonce = format!("{NONCE_MARK}{nonce:0NONCE_DIGITS$}");
    let question = Case::Prose.question();
    let question = question.replace("\"prose\"", &format!("\"{MODEL}\""));
    let question = question.replace("Where does the report go wrong?", &nonce);
    connection.send(&post("/v1/chat/completions", &question)).await?;
    let Some((status, rest)) = connection.head().await? else { bail!("the server hung up") };
    if !status.contains(" 200 ") || rest != crate::http::Rest::Chunks {
        bail!("answered {status}");
    }
    while memmem::find(&connection.body, b".0000").is_none() {
        if !connection.chunk().await? {
            return Ok(Became::Lost);
        }
    }
    drop(permit);
    // Nobody counts any more once all others are open.
    let _ = opened.send(());
    drop(opened);
    connection.whole(rest).await?;
    Ok(judged(&connection.body, &nonce))
}

fn judged(body: &[u8], nonce: &str) -> Became {
    let mark = NONCE_MARK.as_bytes();
    let came: Vec<&[u8]> = memmem::find_iter(body, mark)
        .filter_map(|at| body.get(at..at + mark.len() + NONCE_DIGITS + 5))
        .collect();
    let expected: Vec<String> = (0..=AFTER).map(|n| format!("{nonce}.{n:04}")).collect();
    if came.iter().any(|one| !one.starts_with(nonce.as_bytes())) {
        Became::Crossed
    } else if !body.ends_with(b"data: [DONE]\n\n") || came.len() != expected.len() {
        Became::Lost
    } else if came.iter().zip(&expected).any(|(one, expected)| *one != expected.as_bytes()) {
        Became::Reordered
    } else {
        Became::Whole
    }
}
