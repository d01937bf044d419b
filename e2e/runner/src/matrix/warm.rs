//! Right calls before a client's first: a model that has written enough of them has its arguments sent on while it writes.

use std::io::{Read, Write};
use std::net::TcpStream;

use anyhow::{Context, Result, ensure};

use crate::agents::MODEL;

/// Asks the gateway at `url` for so many calls, one after the other.
///
/// # Errors
/// When it does not answer with one.
pub(super) fn warm(url: &str, calls: usize) -> Result<()> {
    let host = url.strip_prefix("http://").context("the gateway has an address")?;
    let body = format!(
        r#"{{"model": "{MODEL}", "messages": [{{"role": "user", "content": "Note it."}}], "tools": [{{"type": "function", "function": {{"name": "note_before", "parameters": {{"type": "object", "properties": {{"text": {{"type": "string"}}}}, "required": ["text"]}}}}}}]}}"#
    );
    let length = body.len();
    for _ in 0..calls {
        let mut stream = TcpStream::connect(host)?;
        write!(
            stream,
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        ensure!(answer.contains(r#""name":"note_before""#), "no call came: {answer}");
    }
    Ok(())
}
