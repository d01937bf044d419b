//! `callwright health` tells whether a gateway is alive. It is for health checks in a place that has no other program, such as a
//! container.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::failure::Failure;

/// The time that it may take. Whoever checks does so every few seconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest answer that is read, in bytes. That of `/livez` is shorter.
const LONGEST: u64 = 4096;

/// Asks `/livez`, and prints what it says.
///
/// # Errors
/// Nobody listens there, or the answer is not that of a live gateway.
pub(crate) fn run(address: SocketAddr) -> Result<(), Failure> {
    let failed = |error| Failure::NoGateway(address, error);
    let answer = ask(address).map_err(failed)?;
    if !answer.starts_with("HTTP/1.1 200 ") || !answer.ends_with("live\n") {
        return Err(failed(io::Error::other("the answer is not that of a live gateway")));
    }
    writeln!(io::stdout().lock(), "live")?;
    Ok(())
}

fn ask(address: SocketAddr) -> io::Result<String> {
    let mut gateway = TcpStream::connect_timeout(&address, PATIENCE)?;
    gateway.set_read_timeout(Some(PATIENCE))?;
    gateway.set_write_timeout(Some(PATIENCE))?;
    write!(gateway, "GET /livez HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    gateway.take(LONGEST).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
