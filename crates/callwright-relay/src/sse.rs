//! Server-sent events, taken apart as their bytes come.
//!
//! In go pieces of a stream, cut anywhere. Out come its events, each with its bytes, so that an unchanged one is sent on as it
//! is. The bytes of all events are the stream. An event within one piece is not copied. The decoder knows no JSON and no
//! `[DONE]`.

use std::fmt;

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr2;

/// One event: everything before a blank line, and that line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The value of its `event:` line; empty without one.
    pub name: Bytes,
    /// The values of its `data:` lines, joined by line feeds. None without such a line: a comment (`: OPENROUTER PROCESSING`), or
    /// a stray blank line.
    pub data: Option<Bytes>,
    /// The event as it came, its blank line included.
    pub raw: Bytes,
}

impl Event {
    /// Makes one event of these bytes.
    pub(crate) fn of(raw: Bytes) -> Event {
        Decoder::new(raw.len()).event(raw)
    }

    /// Returns this event with other data, of one line.
    pub(crate) fn with_data(&self, data: &str) -> Event {
        let own = self.data.as_deref().unwrap_or_default();
        let at = memchr::memmem::find(&self.raw, own).filter(|_| !own.is_empty());
        let raw = match at.and_then(|at| Some((self.raw.get(..at)?, self.raw.get(at + own.len()..)?))) {
            Some((before, behind)) => [before, data.as_bytes(), behind].concat(),
            // Its data stood in several lines.
            None => [b"event: ", &self.name[..], b"\ndata: ", data.as_bytes(), b"\n\n"].concat(),
        };
        Event::of(raw.into())
    }

    /// Returns this event with a blank line behind it, if the stream ended before that. The next write then begins a new event.
    pub(crate) fn ended(self) -> Event {
        if [&b"\n\n"[..], b"\n\r\n", b"\r\r"].iter().any(|end| self.raw.ends_with(end)) {
            return self;
        }
        Event { raw: [&self.raw[..], b"\n\n"].concat().into(), ..self }
    }

    /// Returns this event with U+FFFD for bytes outside its data that are not UTF-8. A browser reads it so, and other clients
    /// stop at such a byte. Such data stays as it is: its reader has to refuse it.
    pub(crate) fn readable(self) -> Event {
        let is_alone =
            self.data.as_ref().is_some_and(|data| self.raw.len() <= data.len() + "data: \r\n\r\n".len());
        let is_utf8 = |bytes: &Bytes| std::str::from_utf8(bytes).is_ok();
        if is_alone || is_utf8(&self.raw) || self.data.as_ref().is_some_and(|data| !is_utf8(data)) {
            return self;
        }
        let raw = String::from_utf8_lossy(&self.raw).into_owned();
        Event { raw: raw.into(), ..self }
    }
}

/// An event that is longer than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTooLong {
    /// The limit in bytes.
    pub limit: usize,
}

impl fmt::Display for EventTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an event of the stream is longer than {} bytes", self.limit)
    }
}

impl std::error::Error for EventTooLong {}

/// Takes a stream apart: [`push`](Decoder::push) a piece, then ask for the [`next`](Decoder::next) event until none is left.
///
/// ```
/// use callwright_relay::sse::Decoder;
///
/// let mut decoder = Decoder::new(1 << 20);
/// decoder.push("data: {\"a\":1}\n\nda".into());
/// let event = decoder.next()?.expect("the first event is whole");
/// assert_eq!(event.data.as_deref(), Some(&b"{\"a\":1}"[..]));
/// assert_eq!(&event.raw[..], b"data: {\"a\":1}\n\n");
/// assert_eq!(decoder.next()?, None);
/// decoder.push("ta: [DONE]\n\n".into());
/// assert_eq!(decoder.next()?.and_then(|event| event.data).as_deref(), Some(&b"[DONE]"[..]));
/// # Ok::<(), callwright_relay::sse::EventTooLong>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    /// The beginning of an event whose end has not come.
    held: BytesMut,
    /// The pushed bytes that have not been looked at.
    piece: Bytes,
    at: At,
    is_first: bool,
    limit: usize,
}

/// The reader's place in the lines of an event.
#[derive(Clone, Copy, Debug)]
enum At {
    LineStart,
    InLine,
    /// After a carriage return, which ended a line; a line feed would belong to it.
    Return {
        /// That line was blank, so that the event ends here.
        is_end: bool,
    },
}

impl Decoder {
    /// Makes a decoder of events of at most `limit` bytes.
    pub fn new(limit: usize) -> Decoder {
        Decoder { held: BytesMut::new(), piece: Bytes::new(), at: At::LineStart, is_first: true, limit }
    }

    /// Takes the next piece of the stream.
    pub fn push(&mut self, piece: Bytes) {
        if self.piece.is_empty() {
            self.piece = piece;
        } else {
            // Events of the piece before are still to be asked for.
            self.piece = [&self.piece[..], &piece[..]].concat().into();
        }
    }

    /// Returns the next whole event.
    ///
    /// # Errors
    /// The event is too long. The stream cannot be read any further.
    #[expect(clippy::should_implement_trait, reason = "the end of the events is not the end of the stream")]
    pub fn next(&mut self) -> Result<Option<Event>, EventTooLong> {
        let end = self.find_end();
        let length = end.unwrap_or(self.piece.len());
        if self.limit < self.held.len() + length {
            return Err(EventTooLong { limit: self.limit });
        }
        if end.is_none() {
            self.held.extend_from_slice(&self.piece);
            self.piece = Bytes::new();
            return Ok(None);
        }
        let raw = if self.held.is_empty() {
            self.piece.split_to(length)
        } else {
            self.held.extend_from_slice(&self.piece[..length]);
            self.piece.advance(length);
            self.held.split().freeze()
        };
        self.at = At::LineStart;
        Ok(Some(self.event(raw)))
    }

    /// Returns the rest of a stream that has ended: an event without its blank line. If the stream was cut, the event may be cut
    /// as well.
    pub fn finish(mut self) -> Option<Event> {
        self.held.extend_from_slice(&self.piece);
        if self.held.is_empty() {
            return None;
        }
        let raw = self.held.split().freeze();
        Some(self.event(raw))
    }

    /// Looks through the piece for the end of the event, and returns the offset after it.
    fn find_end(&mut self) -> Option<usize> {
        let bytes = &self.piece[..];
        let mut offset = 0;
        loop {
            let byte = *bytes.get(offset)?;
            match (self.at, byte) {
                (At::Return { is_end: true }, b'\n') => return Some(offset + 1),
                (At::Return { is_end: true }, _) => return Some(offset),
                (At::Return { is_end: false }, b'\n') => {
                    offset += 1;
                    self.at = At::LineStart;
                }
                (At::LineStart, b'\n') => return Some(offset + 1),
                (At::LineStart | At::Return { is_end: false }, b'\r') => {
                    offset += 1;
                    self.at = At::Return { is_end: true };
                }
                (At::LineStart | At::InLine | At::Return { is_end: false }, _) => {
                    let Some(length) = memchr2(b'\n', b'\r', &bytes[offset..]) else {
                        self.at = At::InLine;
                        return None;
                    };
                    offset += length + 1;
                    let is_return = bytes[offset - 1] == b'\r';
                    self.at = if is_return { At::Return { is_end: false } } else { At::LineStart };
                }
            }
        }
    }

    fn event(&mut self, raw: Bytes) -> Event {
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        let is_first = std::mem::take(&mut self.is_first);
        let start = if is_first && raw.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let mut event = Event { name: Bytes::new(), data: None, raw: Bytes::new() };
        let mut joined: Option<BytesMut> = None;
        let mut offset = start;
        while offset < raw.len() {
            let end = memchr2(b'\n', b'\r', &raw[offset..]).map_or(raw.len(), |length| offset + length);
            if let Some(value) = value(&raw[offset..end], b"data") {
                let value = raw.slice(end - value.len()..end);
                match (&event.data, &mut joined) {
                    (None, None) => event.data = Some(value),
                    (_, Some(joined)) => join(joined, &value),
                    (Some(first), None) => {
                        let mut lines = BytesMut::from(&first[..]);
                        join(&mut lines, &value);
                        joined = Some(lines);
                    }
                }
            } else if let Some(value) = value(&raw[offset..end], b"event") {
                event.name = raw.slice(end - value.len()..end);
            }
            offset = end + 1; // The line feed of a pair is a blank line to us, which says nothing.
        }
        event.data = joined.map(BytesMut::freeze).or(event.data);
        event.raw = raw;
        event
    }
}

/// Returns the value of a line `field: value`; one space after the colon belongs to neither.
fn value<'a>(line: &'a [u8], field: &[u8]) -> Option<&'a [u8]> {
    match line.strip_prefix(field)? {
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        [] => Some(&[]),
        _ => None,
    }
}

fn join(lines: &mut BytesMut, line: &[u8]) {
    lines.extend_from_slice(b"\n");
    lines.extend_from_slice(line);
}
