//! Lines of an answer, one JSON value each, taken apart as their bytes come.

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;

use crate::sse::EventTooLong;

/// Takes a body apart: [`push`](Lines::push) a piece, then ask for the [`next`](Lines::next) line until none is left.
pub(super) struct Lines {
    /// The beginning of a line whose end has not come.
    held: BytesMut,
    /// The pushed bytes that have not been looked at.
    piece: Bytes,
    limit: usize,
}

impl Lines {
    /// Makes a reader of lines of at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Lines {
        Lines { held: BytesMut::new(), piece: Bytes::new(), limit }
    }

    /// Takes the next piece, once all lines of the piece before are out.
    pub(super) fn push(&mut self, piece: Bytes) {
        debug_assert!(self.piece.is_empty(), "a piece is read to its end");
        self.piece = piece;
    }

    /// Returns the next whole line that is not blank, without its end.
    ///
    /// # Errors
    /// The line is too long. What follows cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, EventTooLong> {
        loop {
            let end = memchr(b'\n', &self.piece);
            let length = end.unwrap_or(self.piece.len());
            if self.limit < self.held.len() + length {
                return Err(EventTooLong { limit: self.limit });
            }
            self.held.extend_from_slice(&self.piece[..length]);
            self.piece.advance(length);
            if end.is_none() {
                return Ok(None);
            }
            self.piece.advance(1);
            let line = self.held.split().freeze();
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line));
            }
        }
    }

    /// Returns the rest of a body that has ended: a line without its end. If the body was cut, the line may be cut as well.
    pub(super) fn finish(self) -> Option<Bytes> {
        let line = self.held.freeze();
        (!line.trim_ascii().is_empty()).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_they_are_cut() {
        let body = b"{\"a\":1}\r\n\n{\"b\":\"\xc3\xa9\"}\n \n{\"c\":3}";
        for size in 1..=body.len() {
            let mut lines = Lines::new(16);
            let mut all: Vec<Bytes> = Vec::new();
            for piece in body.chunks(size) {
                lines.push(Bytes::copy_from_slice(piece));
                while let Some(line) = lines.next().unwrap() {
                    all.push(line);
                }
            }
            all.extend(lines.finish());
            assert_eq!(all, ["{\"a\":1}\r", "{\"b\":\"é\"}", "{\"c\":3}"], "{size}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_an_error_before_its_end() {
        let mut lines = Lines::new(3);
        lines.push(Bytes::from_static(b"abc\nab"));
        assert_eq!(lines.next(), Ok(Some(Bytes::from_static(b"abc"))));
        assert_eq!(lines.next(), Ok(None));
        lines.push(Bytes::from_static(b"cd"));
        assert_eq!(lines.next(), Err(EventTooLong { limit: 3 }));
    }
}
