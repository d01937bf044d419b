//! The answer to the client, and the sender that a running turn writes it to.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use http_body::{Body, Frame, SizeHint};

use crate::api::Surface;
use crate::headers::SHOULD_RETRY;
use crate::surface::{Failure, error_body};
use crate::wire::WireError;

/// An answer for the client.
#[derive(Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: StatusCode,
    /// Its headers, `content-type` and `x-callwright-*` among them.
    pub headers: HeaderMap,
    /// Its body.
    pub body: ReplyBody,
}

impl Reply {
    /// Makes a whole JSON body.
    pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Reply {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Reply { status, headers, body: ReplyBody::whole(body.into()) }
    }

    /// Makes an error.
    pub fn error(error: &WireError) -> Reply {
        Reply::json(error.status, error.to_json())
    }
}

/// A body: whole, or made while it is read. Dropping it ends the work behind it, upstream included.
pub struct ReplyBody(Inner);

enum Inner {
    Whole(Option<Bytes>),
    Running(Running),
}

/// A body that is being made.
struct Running {
    /// The work that writes to the sender; none once it has ended.
    work: Option<Work>,
    sender: BodySender,
    /// The bytes that waited in the sender at the last look.
    seen: usize,
    /// The number of looks since then that found no more.
    in_vain: usize,
}

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

impl ReplyBody {
    /// Makes a whole body.
    pub fn whole(body: Bytes) -> ReplyBody {
        ReplyBody(Inner::Whole(Some(body).filter(|body| !body.is_empty())))
    }

    /// Takes all of the body, if it is whole.
    pub(crate) fn take_whole(&mut self) -> Option<Bytes> {
        match &mut self.0 {
            Inner::Whole(body) => body.take(),
            Inner::Running(_) => None,
        }
    }

    /// Waits until something is written, `patience` at most: until then a failure is still the answer to give.
    ///
    /// # Errors
    /// The work behind it has failed before it wrote anything.
    pub(crate) async fn begin(&mut self, patience: Duration) -> Result<(), Failure> {
        let Inner::Running(Running { work, sender, .. }) = &mut self.0 else { return Ok(()) };
        sender.lock().is_held = true;
        let begun = poll_fn(|context| {
            if work.as_mut().is_none_or(|running| running.as_mut().poll(context).is_ready()) {
                *work = None;
                return Poll::Ready(());
            }
            if sender.written() == 0 { Poll::Pending } else { Poll::Ready(()) }
        });
        // Who waits longer is told how it goes on in the stream.
        let _ = tokio::time::timeout(patience, begun).await;
        let mut written = sender.lock();
        written.is_held = false;
        written.failure.take().map_or(Ok(()), Err)
    }

    /// Returns all of the body, once it has ended; none if it breaks off, or is longer than `limit`.
    pub(crate) async fn collected(mut self, limit: usize) -> Option<Bytes> {
        let mut all = BytesMut::new();
        while let Some(frame) = poll_fn(|context| Pin::new(&mut self).poll_frame(context)).await {
            let data = frame.ok()?.into_data().ok()?;
            if limit < all.len() + data.len() {
                return None;
            }
            all.extend_from_slice(&data);
        }
        Some(all.freeze())
    }

    /// Makes a body that `work` writes while it is read.
    pub(crate) fn running(sender: BodySender, work: impl Future<Output = ()> + Send + 'static) -> ReplyBody {
        ReplyBody(Inner::Running(Running { work: Some(Box::pin(work)), sender, seen: 0, in_vain: 0 }))
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match &mut self.0 {
            Inner::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Inner::Running(running) => running.poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Inner::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(body) => SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64)),
            Inner::Running(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for ReplyBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Inner::Whole(_) => "ReplyBody::Whole",
            Inner::Running(_) => "ReplyBody::Running",
        })
    }
}

impl Running {
    /// Gathers small writes. A write to the client costs more than all other work for an event. The connection to the upstream
    /// hands its events over one by one. As long as turns bring more, the written bytes wait, and go out together.
    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if let Some(work) = &mut self.work
            && work.as_mut().poll(context).is_ready()
        {
            self.work = None;
        }
        let waiting = self.sender.lock().bytes.len();
        if self.work.is_some() && 0 < waiting && waiting < FRAME {
            self.in_vain = if self.seen < waiting { 0 } else { self.in_vain + 1 };
            self.seen = waiting;
            if self.in_vain < IN_VAIN {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        (self.seen, self.in_vain) = (0, 0);
        let written = self.sender.take();
        match (written.is_empty(), self.work.is_none()) {
            (false, _) => Poll::Ready(Some(Ok(Frame::data(written)))),
            (true, true) => Poll::Ready(self.sender.lock().broken.take().map(Err)),
            (true, false) => Poll::Pending,
        }
    }
}

/// An answer of this many bytes is worth a write of its own.
const FRAME: usize = 8 << 10;

/// The number of looks without more after which none is on its way: hyper's server looks twice in each of its turns.
const IN_VAIN: usize = 2;

/// The most bytes that wait for a slow client before the work behind them stops.
const ROOM: usize = 64 << 10;

/// The answer broke off: the client is not to take it for whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer broke off")
    }
}

impl std::error::Error for Broken {}

/// The sender that a running turn writes to.
#[derive(Clone, Default)]
pub(crate) struct BodySender(Arc<Mutex<Written>>);

#[derive(Default)]
struct Written {
    bytes: BytesMut,
    /// The number of bytes written in all.
    n_written: u64,
    broken: Option<Broken>,
    /// The client has nothing yet, not even the status.
    is_held: bool,
    /// The failure that it gets instead of an answer.
    failure: Option<Failure>,
}

impl BodySender {
    /// Adds bytes.
    pub(crate) fn write(&self, bytes: &[u8]) {
        let mut written = self.lock();
        written.bytes.extend_from_slice(bytes);
        written.n_written += bytes.len() as u64;
    }

    /// Returns the number of bytes written in all.
    pub(crate) fn written(&self) -> u64 {
        self.lock().n_written
    }

    /// Gives a failure instead of the answer, if the client has nothing of it. Returns whether it does.
    pub(crate) fn refuses(&self, failure: &Failure) -> bool {
        let mut written = self.lock();
        if written.is_held {
            written.failure = Some(failure.clone());
        }
        written.is_held
    }

    /// Returns the status of the failure that is given instead of the answer.
    pub(crate) fn refused(&self) -> Option<StatusCode> {
        self.lock().failure.as_ref().map(|failure| failure.status)
    }

    /// Ends the body as broken off, once the written bytes are out.
    pub(crate) fn breaks(&self) {
        self.lock().broken = Some(Broken);
    }

    /// Waits until the client has taken most of the written bytes.
    pub(crate) async fn room(&self) {
        // No waker is needed: the body polls the work again after it has taken what is there.
        poll_fn(|_| if self.lock().bytes.len() < ROOM { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// Takes the written bytes that are not yet on their way.
    pub(crate) fn take(&self) -> Bytes {
        self.lock().bytes.split().freeze()
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reply {
    /// Turns an error into the form of this API.
    pub(crate) fn error_of(mut self, surface: Surface, request: &str) -> Reply {
        let Some(body) = self.body.take_whole() else { return self };
        match error_body(surface, self.status, &body, request) {
            Some((status, text)) => {
                // What does not fit does not fit next time either.
                if status == StatusCode::BAD_REQUEST {
                    self.headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
                }
                self.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
                if let Ok(id) = HeaderValue::from_str(request) {
                    self.headers.insert(HeaderName::from_static("request-id"), id);
                }
                Reply { status, headers: self.headers, body: ReplyBody::whole(Bytes::from(text)) }
            }
            None => Reply { body: ReplyBody::whole(body), ..self },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// Work that writes these pieces, one each time that it is polled.
    async fn write_by_turns(to: BodySender, pieces: &[&str]) {
        for piece in pieces {
            to.write(piece.as_bytes());
            let mut has_waited = false;
            let turn = |_: &mut Context<'_>| match std::mem::replace(&mut has_waited, true) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            };
            poll_fn(turn).await;
        }
        std::future::pending().await
    }

    /// The frames that come within `n` turns.
    fn frames(pieces: &'static [&'static str], n: usize) -> Vec<String> {
        let sender = BodySender::default();
        let mut body = ReplyBody::running(sender.clone(), write_by_turns(sender, pieces));
        let mut context = Context::from_waker(Waker::noop());
        let polled = (0..n).filter_map(|_| match Pin::new(&mut body).poll_frame(&mut context) {
            Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
            _ => None,
        });
        polled.map(|data| String::from_utf8(data.to_vec()).unwrap()).collect()
    }

    #[test]
    fn what_comes_turn_by_turn_goes_out_together_and_does_not_wait_for_more() {
        assert_eq!(frames(&["a", "b", "c"], 20), ["abc"]);
        assert_eq!(frames(&["a"], 1 + IN_VAIN), ["a"]);
        assert!(frames(&["a"], IN_VAIN).is_empty());
    }

    #[test]
    fn a_frame_is_bounded() {
        const LONG: &str = match std::str::from_utf8(&[b'x'; FRAME]) {
            Ok(text) => text,
            Err(_) => "",
        };
        assert_eq!(frames(&[LONG, "b"], 20), [LONG, "b"]);
    }
}
