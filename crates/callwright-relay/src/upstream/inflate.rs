//! Answers that a server or a proxy has compressed although nobody asked for that.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use http::HeaderValue;

/// The bytes that are read at once: they come to a thousand times as much at most, which is then handed on before more is read.
const AT_ONCE: usize = 1024;

/// Undoes the compression of a body, piece by piece.
#[derive(Debug)]
pub(super) struct Inflater {
    decoder: Decoder,
    /// The bytes that came and are not read yet.
    waiting: Bytes,
}

#[derive(Debug)]
enum Decoder {
    Gzip(MultiGzDecoder<Vec<u8>>),
    Deflate(ZlibDecoder<Vec<u8>>),
}

impl Inflater {
    /// Makes one for a body of this `content-encoding`; none if that cannot be read here.
    pub(super) fn of(encoding: &HeaderValue) -> Option<Inflater> {
        let decoder = match encoding.as_bytes() {
            b"gzip" | b"x-gzip" => Decoder::Gzip(MultiGzDecoder::new(Vec::new())),
            b"deflate" => Decoder::Deflate(ZlibDecoder::new(Vec::new())),
            _ => return None,
        };
        Some(Inflater { decoder, waiting: Bytes::new() })
    }

    /// Takes the next piece, when the one before is used up.
    pub(super) fn push(&mut self, piece: Bytes) {
        self.waiting = piece;
    }

    /// Returns the bytes of the pieces so far; none if another piece is needed.
    ///
    /// # Errors
    /// The bytes do not have that encoding.
    pub(super) fn next(&mut self) -> io::Result<Option<Bytes>> {
        while !self.waiting.is_empty() {
            let part = self.waiting.split_to(AT_ONCE.min(self.waiting.len()));
            let out = match &mut self.decoder {
                Decoder::Gzip(decoder) => {
                    decoder.write_all(&part)?;
                    decoder.flush()?;
                    std::mem::take(decoder.get_mut())
                }
                Decoder::Deflate(decoder) => {
                    decoder.write_all(&part)?;
                    decoder.flush()?;
                    std::mem::take(decoder.get_mut())
                }
            };
            if !out.is_empty() {
                return Ok(Some(out.into()));
            }
        }
        Ok(None)
    }

    /// Returns the bytes at the end.
    ///
    /// # Errors
    /// The end is missing.
    pub(super) fn finish(self) -> io::Result<Bytes> {
        match self.decoder {
            Decoder::Gzip(decoder) => decoder.finish(),
            Decoder::Deflate(decoder) => decoder.finish(),
        }
        .map(Bytes::from)
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    fn packed(text: &[u8]) -> [(&'static str, Vec<u8>); 2] {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text).unwrap();
        let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
        deflate.write_all(text).unwrap();
        [("gzip", gzip.finish().unwrap()), ("deflate", deflate.finish().unwrap())]
    }

    fn unpacked(encoding: &'static str, pieces: &[&[u8]]) -> io::Result<Vec<u8>> {
        let mut inflater = Inflater::of(&HeaderValue::from_static(encoding)).unwrap();
        let mut out = Vec::new();
        for piece in pieces {
            inflater.push(Bytes::copy_from_slice(piece));
            while let Some(more) = inflater.next()? {
                out.extend_from_slice(&more);
            }
        }
        out.extend_from_slice(&inflater.finish()?);
        Ok(out)
    }

    #[test]
    fn however_it_is_cut_the_text_comes_out() {
        let text = "data: {\"a\": \"aaaaaaaaaaaaaaaaaaaaaaaa\"}\n\n".repeat(500);
        for (encoding, bytes) in packed(text.as_bytes()) {
            for size in [1, 7, bytes.len()] {
                let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
                assert_eq!(unpacked(encoding, &pieces).unwrap(), text.as_bytes(), "{encoding} {size}");
            }
        }
    }

    #[test]
    fn what_is_broken_or_cut_is_an_error() {
        let [(_, gzip), _] = packed(b"a text");
        assert!(unpacked("gzip", &[&gzip[..gzip.len() - 3]]).is_err());
        assert!(unpacked("gzip", &[b"<html>"]).is_err());
        assert!(unpacked("deflate", &[b"<html>"]).is_err());
        assert!(Inflater::of(&HeaderValue::from_static("br")).is_none());
    }

    #[test]
    fn a_bomb_comes_in_small_pieces() {
        let [(_, gzip), _] = packed(&vec![0; 64 << 20]);
        let mut inflater = Inflater::of(&HeaderValue::from_static("gzip")).unwrap();
        inflater.push(gzip.into());
        let (mut whole, mut most) = (0, 0);
        while let Some(piece) = inflater.next().unwrap() {
            whole += piece.len();
            most = most.max(piece.len());
        }
        assert_eq!(whole, 64 << 20);
        assert!(most < 2 << 20, "{most}");
    }
}
