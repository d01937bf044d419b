//! Bodies: a request's, collected within its bounds, and an answer's, which counts as open until it is gone.

use std::convert::Infallible;
use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use bytes::{Bytes, BytesMut};
use callwright_relay::ReplyBody;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use http::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::{BodyExt, Full};
use tokio::task::coop::consume_budget;

use crate::problem::Problem;
use crate::room::{Room, Share};

/// The body of an answer.
pub(crate) enum Body {
    /// All of it is there.
    Whole(Full<Bytes>),
    /// It comes from the relay. Dropping it ends the turn, upstream too.
    Reply { body: ReplyBody, _open: Permit },
    /// It comes from the routes.
    Routed(axum::body::Body),
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Body {
        Body::Whole(Full::new(bytes))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.get_mut() {
            Body::Whole(body) => Pin::new(body).poll_frame(cx).map_err(|never: Infallible| match never {}),
            Body::Reply { body, .. } => Pin::new(body).poll_frame(cx).map_err(Into::into),
            Body::Routed(body) => Pin::new(body).poll_frame(cx).map_err(Into::into),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Body::Whole(body) => body.is_end_stream(),
            Body::Reply { body, .. } => body.is_end_stream(),
            Body::Routed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(body) => body.size_hint(),
            Body::Reply { body, .. } => body.size_hint(),
            Body::Routed(body) => body.size_hint(),
        }
    }
}

/// Counts the requests that are open, over all workers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Open(Arc<AtomicUsize>);

/// One open request; it ends where this is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    open: Open,
    /// The share of its body in the room for all bodies.
    pub(crate) share: Share,
}

impl Open {
    /// Opens one more, unless there are `most` already.
    pub(crate) fn permit(&self, most: usize, room: &Room) -> Option<Permit> {
        let permit = Permit { open: self.clone(), share: room.share() };
        (self.0.fetch_add(1, Ordering::Relaxed) < most).then_some(permit)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.open.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The room that an announced body gets before it has come.
const MOST_AT_ONCE: usize = 256 << 10;

/// Collects a request's body of at most `limit` bytes, within `time` and as far as there is room for it.
///
/// # Errors
/// A body that is too large, too slow, or broken off; or there is no room.
pub(crate) async fn collect<B>(
    body: B,
    limit: usize,
    time: Duration,
    share: &mut Share,
) -> Result<Bytes, Problem>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    if (limit as u64) < body.size_hint().lower() {
        return Err(Problem::too_large(limit));
    }
    tokio::time::timeout(time, collected(body, limit, share))
        .await
        .unwrap_or_else(|_| Err(Problem::too_slow()))
}

async fn collected<B>(mut body: B, limit: usize, share: &mut Share) -> Result<Bytes, Problem>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    let Some(first) = next(&mut body).await? else { return Ok(Bytes::new()) };
    share.holds(first.len()).await?;
    // What came together with its headers is one piece, and is used as it lies there.
    if body.is_end_stream() && first.len() <= limit {
        return Ok(first);
    }
    // Announced bodies are given their place at once; what is announced may never come, so only up to a bound.
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX).min(MOST_AT_ONCE);
    let mut whole = BytesMut::with_capacity(first.len() + announced);
    whole.extend_from_slice(&first);
    while whole.len() <= limit {
        let Some(piece) = next(&mut body).await? else { return Ok(whole.freeze()) };
        share.holds(whole.len() + piece.len()).await?;
        whole.extend_from_slice(&piece);
    }
    Err(Problem::too_large(limit))
}

/// So much is unpacked at once: others have a turn after each mebibyte.
const AT_ONCE: usize = 8 << 10;

/// A request's body without the compression that its headers name, of at most `limit` bytes and as far as there is room.
///
/// # Errors
/// A compression that is not known, bytes that it does not fit, or a body that is too large; or there is no room.
pub(crate) async fn unpacked(
    headers: &HeaderMap,
    body: Bytes,
    limit: usize,
    share: &mut Share,
) -> Result<Bytes, Problem> {
    let mut reader: Box<dyn Read + Send + '_> = match headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes)
    {
        None | Some(b"identity") => return Ok(body),
        Some(b"gzip" | b"x-gzip") => Box::new(MultiGzDecoder::new(&body[..])),
        Some(b"deflate") => Box::new(ZlibDecoder::new(&body[..])),
        Some(_) => return Err(Problem::unknown_packing()),
    };
    let (mut whole, mut part) = (Vec::new(), vec![0; AT_ONCE]);
    loop {
        let n = reader.read(&mut part).map_err(|_| Problem::not_packed_as_said())?;
        if n == 0 {
            return Ok(whole.into());
        }
        if limit < whole.len() + n {
            return Err(Problem::too_large(limit));
        }
        share.holds(whole.len() + n).await?;
        whole.extend_from_slice(part.get(..n).unwrap_or_default());
        consume_budget().await;
    }
}

/// About how many bytes a JSON text takes once it is parsed: each value has a node beside its text.
pub(crate) fn parsed_size(text: &[u8]) -> usize {
    let begins = |byte: &u8| u8::from(matches!(*byte, b',' | b':' | b'[' | b'{'));
    let count = |block: &[u8]| usize::from(block.iter().map(begins).sum::<u8>());
    text.len() + text.chunks(BLOCK).map(count).sum::<usize>() * NODE
}

/// So many bytes are counted into one byte, which cannot run over: the compiler counts sixteen or more at a time then.
const BLOCK: usize = 240;

/// The bytes of a node.
const NODE: usize = 16;

/// The next piece of data; trailers are passed over.
async fn next<B>(body: &mut B) -> Result<Option<Bytes>, Problem>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::cut())?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asked::Asker;

    #[test]
    fn each_value_of_a_body_counts() {
        assert_eq!(parsed_size(b""), 0);
        assert_eq!(parsed_size(br#"{"a":[1,2]}"#), 11 + 4 * NODE);
        let many = [b'['; 3 * BLOCK + 1];
        assert_eq!(parsed_size(&many), many.len() * (1 + NODE));
    }

    #[tokio::test]
    async fn a_packed_body_is_read_within_its_bound() {
        use flate2::Compression;
        use flate2::write::{GzEncoder, ZlibEncoder};
        use std::io::Write;

        let text = vec![b'a'; 1 << 20];
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(&text).unwrap();
        let gzip = Bytes::from(gzip.finish().unwrap());
        let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
        deflate.write_all(&text).unwrap();
        let deflate = Bytes::from(deflate.finish().unwrap());
        let in_room = async |room: &Room, encoding: &'static str, body: &Bytes, limit| {
            let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(encoding))]);
            let unpacked = unpacked(&headers, body.clone(), limit, &mut room.share()).await;
            unpacked.map_err(|problem| problem.into_response(&Asker::default()).status().as_u16())
        };
        let room = Room::of(2 << 20);
        let of = async |encoding, body: &Bytes, limit| in_room(&room, encoding, body, limit).await;
        assert_eq!(of("gzip", &gzip, text.len()).await, Ok(Bytes::from(text.clone())));
        assert_eq!(of("deflate", &deflate, text.len()).await, Ok(Bytes::from(text.clone())));
        assert_eq!(of("identity", &gzip, text.len()).await, Ok(gzip.clone()));
        assert_eq!(of("gzip", &gzip, text.len() - 1).await, Err(413));
        assert_eq!(of("gzip", &gzip.slice(..gzip.len() - 9), text.len()).await, Err(400));
        assert_eq!(of("gzip", &Bytes::from_static(b"{}"), text.len()).await, Err(400));
        // What it comes to counts, not what came.
        assert_eq!(in_room(&Room::of(1 << 19), "gzip", &gzip, text.len()).await, Err(413));
        assert_eq!(of("br", &gzip, text.len()).await, Err(415));
    }
}
