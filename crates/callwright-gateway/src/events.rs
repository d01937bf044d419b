//! Changes of the store as server-sent events: `data: {"session": …, "what": "added", …}`.
//!
//! Whoever reads too slowly misses some, and is told so by an event `missed`. It ends when the server does.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use callwright_store::Changes;
use http_body::{Body, Frame};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::phase::{Phase, reached};

/// After so long without an event a comment is sent: what stands between would close the connection.
const QUIET: Duration = Duration::from_secs(15);

type Next = Pin<Box<dyn Future<Output = (Option<Bytes>, Source)> + Send>>;

/// The body of an answer that tells of changes for as long as it is read.
pub(crate) struct Events(Next);

struct Source {
    changes: Changes,
    phase: watch::Receiver<Phase>,
}

impl Events {
    pub(crate) fn new(changes: Changes, phase: watch::Receiver<Phase>) -> Events {
        let source = Source { changes, phase };
        // The head goes out at once with this.
        Events(Box::pin(async { (Some(Bytes::from_static(b": changes\n\n")), source) }))
    }
}

async fn next(mut source: Source) -> (Option<Bytes>, Source) {
    let Source { changes, phase } = &mut source;
    let event = tokio::select! {
        change = changes.recv() => match change {
            Ok(change) => {
                let data = serde_json::to_string(&change).unwrap_or_default();
                Some(Bytes::from(format!("data: {data}\n\n")))
            }
            Err(RecvError::Lagged(n)) => Some(Bytes::from(format!("event: missed\ndata: {n}\n\n"))),
            Err(RecvError::Closed) => None,
        },
        () = reached(phase, Phase::Draining) => None,
        () = tokio::time::sleep(QUIET) => Some(Bytes::from_static(b": quiet\n\n")),
    };
    (event, source)
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Poll::Ready((event, source)) = self.0.as_mut().poll(context) else { return Poll::Pending };
        self.0 = Box::pin(next(source));
        Poll::Ready(event.map(|event| Ok(Frame::data(event))))
    }
}

#[cfg(test)]
mod tests {
    use callwright_store::Change;
    use tokio::sync::broadcast;

    use super::*;

    #[test]
    fn whoever_reads_too_slowly_is_told_so() {
        let (changes, taken) = broadcast::channel(2);
        let (phase, phases) = watch::channel(Phase::Serving);
        let change = |nodes| {
            let (session, owner) = (String::from("s"), String::new());
            Change { session, what: "added", turn: None, nodes, owner }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut events = Events::new(taken.into(), phases);
            let mut next = async || {
                let frame = std::future::poll_fn(|context| Pin::new(&mut events).poll_frame(context)).await;
                frame.map(|Ok(frame)| String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap())
            };
            assert_eq!(next().await.unwrap(), ": changes\n\n");
            // Nobody waits for a reader, and nothing is kept for one beyond a bound.
            (1..=5).for_each(|nodes| drop(changes.send(change(nodes))));
            assert_eq!(next().await.unwrap(), "event: missed\ndata: 3\n\n");
            for nodes in [4, 5] {
                let event = next().await.unwrap();
                assert_eq!(
                    event,
                    format!("data: {{\"session\":\"s\",\"what\":\"added\",\"nodes\":{nodes}}}\n\n")
                );
            }
            phase.send(Phase::Draining).unwrap();
            assert_eq!(next().await, None);
        });
    }
}
