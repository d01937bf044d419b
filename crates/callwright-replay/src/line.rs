//! A connection that can be reset instead of being closed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Says that a connection is to end with a reset.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResetSwitch(Arc<AtomicBool>);

impl ResetSwitch {
    pub(crate) fn arm(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A TCP connection with such a switch.
pub(crate) struct Line {
    stream: TcpStream,
    reset: ResetSwitch,
}

impl Line {
    pub(crate) fn new(stream: TcpStream, reset: ResetSwitch) -> Line {
        // A write that waits for the next one is not the piece that the script asks for.
        let _ = stream.set_nodelay(true);
        Line { stream, reset }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.reset.0.load(Ordering::Relaxed) {
            // Where it cannot be set, the connection is closed: broken off all the same.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, to)
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.reset.0.load(Ordering::Relaxed) {
            // A polite end would come before the reset.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
