//! As much of HTTP/1.1 as this load needs: one message after the other on one connection.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection, and what has been read from it.
pub(crate) struct Connection {
    stream: TcpStream,
    /// What has come and not been taken.
    buffer: Vec<u8>,
    /// The body of the last message, without its chunks' sizes.
    pub(crate) body: Vec<u8>,
}

/// How much of a body is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// So many bytes.
    Bytes(usize),
    /// Chunks, up to an empty one.
    Chunks,
}

impl Connection {
    /// Of this stream.
    pub(crate) fn of(stream: TcpStream) -> Result<Connection> {
        stream.set_nodelay(true)?;
        Ok(Connection { stream, buffer: Vec::with_capacity(16 << 10), body: Vec::new() })
    }

    /// To this address.
    pub(crate) async fn to(address: SocketAddr) -> Result<Connection> {
        Connection::of(TcpStream::connect(address).await?)
    }

    /// Sends bytes.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// Reads the head of the next message: its first line, and how its body comes. None where the peer is gone.
    pub(crate) async fn head(&mut self) -> Result<Option<(String, Rest)>> {
        let end = loop {
            if let Some(at) = memmem::find(&self.buffer, b"\r\n\r\n") {
                break at + 4;
            }
            if !self.more().await? {
                return Ok(None);
            }
        };
        let head = std::str::from_utf8(&self.buffer[..end])?;
        let mut lines = head.split("\r\n");
        let first = lines.next().unwrap_or_default().to_owned();
        let mut rest = Rest::Bytes(0);
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                rest = Rest::Bytes(value.trim().parse()?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                rest = Rest::Chunks;
            }
        }
        self.buffer.drain(..end);
        self.body.clear();
        Ok(Some((first, rest)))
    }

    /// Reads the whole body.
    pub(crate) async fn whole(&mut self, rest: Rest) -> Result<()> {
        match rest {
            Rest::Bytes(length) => {
                while self.buffer.len() < length {
                    self.must_have_more().await?;
                }
                self.body.extend_from_slice(&self.buffer[..length]);
                self.buffer.drain(..length);
                Ok(())
            }
            Rest::Chunks => {
                while self.chunk().await? {}
                Ok(())
            }
        }
    }

    /// Reads the next chunk into the body; false after the last one.
    pub(crate) async fn chunk(&mut self) -> Result<bool> {
        let line = loop {
            if let Some(at) = memmem::find(&self.buffer, b"\r\n") {
                break at;
            }
            self.must_have_more().await?;
        };
        let size = std::str::from_utf8(&self.buffer[..line])?;
        let size = usize::from_str_radix(size.trim(), 16).with_context(|| format!("{size} is no size"))?;
        let end = line + 2 + size;
        while self.buffer.len() < end + 2 {
            self.must_have_more().await?;
        }
        self.body.extend_from_slice(&self.buffer[line + 2..end]);
        self.buffer.drain(..end + 2);
        Ok(0 < size)
    }

    async fn must_have_more(&mut self) -> Result<()> {
        if self.more().await? { Ok(()) } else { bail!("the connection was closed within a message") }
    }

    async fn more(&mut self) -> Result<bool> {
        self.buffer.reserve(16 << 10);
        Ok(self.stream.read_buf(&mut self.buffer).await? != 0)
    }
}

/// A request with a JSON body.
pub(crate) fn post(path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: OpenAI/Python 2.8.0\r\naccept: application/json\r\n\
         authorization: Bearer none\r\nx-stainless-lang: python\r\nx-stainless-runtime: CPython\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
