//! An upstream's HTTP response: its head, and its body piece by piece as it comes.
//!
//! The body tells its proper end from a cut: a missing last chunk, or fewer bytes than were announced, is an error. Dropping the
//! body ends the request at the upstream at once.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use http::header::{self, HeaderMap};
use http::{StatusCode, response};
use http_body::Body;
use hyper::body::Incoming;

use super::deadline::Deadline;
use super::error::{Failure, UpstreamError};
use super::headers;
use super::inflate::Inflater;
use super::kept::Kept;
use super::link::Link;
use super::load::OpenRequest;
use super::secrets::Secrets;

/// An upstream's answer: the model's answer is in its body.
#[derive(Debug)]
pub struct Response {
    /// The status. No redirect is ever among them.
    pub status: StatusCode,
    /// The headers without those that belong to the connection, the length or the upstream's cookies.
    pub headers: HeaderMap,
    /// The body.
    pub body: ResponseBody,
}

impl Response {
    /// Returns whether the answer comes as events.
    pub(crate) fn is_stream(&self) -> bool {
        let kind = self.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
    }
}

/// The body of a response, as a stream of pieces.
///
/// Between two pieces, and for the whole, it waits as long as the upstream's timeouts allow. After an error, or after its end, it
/// gives nothing more.
#[derive(Debug)]
pub struct ResponseBody {
    /// None after the end.
    incoming: Option<Incoming>,
    deadline: Deadline,
    link: Arc<Link>,
    ends_by_close: bool,
    /// Undoes a compression that was not asked for.
    inflater: Option<Inflater>,
    /// Says the body in another form.
    rewriter: Option<Box<dyn Rewriter>>,
    /// The part of it that is kept.
    pub(crate) kept: Kept,
    _open: OpenRequest,
}

/// Says a body in another form, piece by piece as it comes.
pub(crate) trait Rewriter: Send {
    /// Returns the bytes that have become certain with this piece.
    fn push(&mut self, piece: Bytes) -> Bytes;

    /// Returns the bytes that become certain with the proper end.
    fn finish(self: Box<Self>) -> Bytes;
}

impl fmt::Debug for dyn Rewriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rewriter")
    }
}

impl Response {
    pub(super) fn new(
        (mut head, incoming): (response::Parts, Incoming),
        deadline: Deadline,
        (link, secrets): (&Arc<Link>, &Secrets),
        open: OpenRequest,
    ) -> Result<Response, UpstreamError> {
        if head.status.is_redirection() {
            return Err(link.error(Failure::Redirect(head.status)));
        }
        let encoding = head.headers.get(header::CONTENT_ENCODING).filter(|encoding| *encoding != "identity");
        let inflater = encoding.and_then(Inflater::of);
        if let Some(encoding) = encoding.filter(|_| inflater.is_none()) {
            let name = String::from_utf8_lossy(encoding.as_bytes()).chars().take(40).collect();
            return Err(link.error(Failure::Encoding(name)));
        }
        let ends_by_close = !head.headers.contains_key(header::CONTENT_LENGTH)
            && !head.headers.contains_key(header::TRANSFER_ENCODING);
        headers::strip_answer(&mut head.headers, secrets);
        let body = ResponseBody {
            incoming: Some(incoming),
            deadline,
            link: Arc::clone(link),
            ends_by_close,
            inflater,
            rewriter: None,
            kept: Kept::default(),
            _open: open,
        };
        Ok(Response { status: head.status, headers: head.headers, body })
    }
}

impl ResponseBody {
    /// Returns whether only the end of the connection ends this body. Then a cut looks like an end, and only the body itself
    /// shows that it is whole (`[DONE]`, a closing bracket).
    pub fn ends_by_close(&self) -> bool {
        self.ends_by_close
    }

    /// Returns this body, with `rewriter` between the upstream and the reader. The kept part stays as it came.
    pub(crate) fn through(self, rewriter: Box<dyn Rewriter>) -> ResponseBody {
        ResponseBody { rewriter: Some(rewriter), ..self }
    }

    /// Returns the number of bytes to come, if the upstream has announced it.
    pub fn announced(&self) -> Option<u64> {
        let is_as_sent = self.inflater.is_none() && self.rewriter.is_none();
        let incoming = self.incoming.as_ref().filter(|_| is_as_sent)?;
        incoming.size_hint().exact()
    }

    /// Returns the next piece; none after the proper end.
    ///
    /// # Errors
    /// The answer was cut, or came too slowly.
    pub async fn next(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        std::future::poll_fn(|cx| self.poll_piece(cx)).await
    }

    /// Polls for the next piece of [`ResponseBody::next`].
    pub fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, UpstreamError>>> {
        loop {
            let received = self.poll_received(cx);
            let Some(rewriter) = &mut self.rewriter else { return received };
            let rewritten = match received {
                Poll::Ready(Some(Ok(piece))) => rewriter.push(piece),
                Poll::Ready(None) => {
                    self.rewriter.take().map(|rewriter| rewriter.finish()).unwrap_or_default()
                }
                // What it holds back of a body that was cut is not certain.
                Poll::Ready(Some(Err(_))) => {
                    self.rewriter = None;
                    return received;
                }
                Poll::Pending => return Poll::Pending,
            };
            if !rewritten.is_empty() {
                return Poll::Ready(Some(Ok(rewritten)));
            }
        }
    }

    /// Polls for the next piece as it came.
    fn poll_received(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, UpstreamError>>> {
        loop {
            let Some(incoming) = &mut self.incoming else { return Poll::Ready(None) };
            match self.inflater.as_mut().map(Inflater::next) {
                Some(Ok(Some(piece))) => {
                    self.kept.push(&piece);
                    return Poll::Ready(Some(Ok(piece)));
                }
                Some(Err(_)) => return self.failed(Failure::Packing),
                Some(Ok(None)) | None => {}
            }
            let failure = match Pin::new(&mut *incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    let Ok(piece) = frame.into_data() else { continue }; // trailers
                    if piece.is_empty() {
                        continue;
                    }
                    self.deadline.heard();
                    if let Some(inflater) = &mut self.inflater {
                        inflater.push(piece);
                        continue;
                    }
                    self.kept.push(&piece);
                    return Poll::Ready(Some(Ok(piece)));
                }
                Poll::Ready(None) => {
                    let rest = self.inflater.take().map(Inflater::finish);
                    if let Some(Err(_)) = rest {
                        return self.failed(Failure::Packing);
                    }
                    self.incoming = None;
                    let rest = rest.and_then(Result::ok).filter(|rest| !rest.is_empty());
                    return Poll::Ready(rest.map(Ok));
                }
                Poll::Ready(Some(Err(_))) => Failure::Reset,
                Poll::Pending => match self.deadline.poll(cx) {
                    Poll::Ready(which) => Failure::Timeout(which),
                    Poll::Pending => return Poll::Pending,
                },
            };
            return self.failed(failure);
        }
    }

    fn failed(&mut self, failure: Failure) -> Poll<Option<Result<Bytes, UpstreamError>>> {
        self.incoming = None; // Nobody waits for the rest: the upstream may stop.
        self.link.record(true);
        Poll::Ready(Some(Err(self.link.error(failure))))
    }

    /// Takes the end of the body if it is there already: a connection whose answer was read to its end is used again. Waits for
    /// nothing.
    pub(crate) async fn take_end(&mut self) {
        std::future::poll_fn(|cx| {
            while let Poll::Ready(Some(Ok(_))) = self.poll_piece(cx) {}
            Poll::Ready(())
        })
        .await;
    }

    /// Receives the whole body.
    ///
    /// # Errors
    /// As [`ResponseBody::next`], and a body of more than `limit` bytes.
    pub async fn whole(mut self, limit: usize) -> Result<Bytes, UpstreamError> {
        let too_long = || self.link.error(Failure::TooLong { limit });
        let announced = self.announced().unwrap_or(0);
        if (limit as u64) < announced {
            return Err(too_long());
        }
        let Some(first) = self.next().await.transpose()? else { return Ok(Bytes::new()) };
        let mut more = self.next().await.transpose()?;
        if more.is_none() {
            // The usual short answer is one piece, and is not copied.
            return if limit < first.len() {
                Err(self.link.error(Failure::TooLong { limit }))
            } else {
                Ok(first)
            };
        }
        let mut whole = BytesMut::with_capacity(first.len().max(announced as usize));
        whole.extend_from_slice(&first);
        while let Some(piece) = more {
            if limit < whole.len() + piece.len() {
                return Err(self.link.error(Failure::TooLong { limit }));
            }
            whole.extend_from_slice(&piece);
            more = self.next().await.transpose()?;
        }
        Ok(whole.freeze())
    }
}

impl Stream for ResponseBody {
    type Item = Result<Bytes, UpstreamError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_piece(cx)
    }
}
