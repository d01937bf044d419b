//! A client that reads to the end and forgives nothing on the way.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use callwright::value::Value;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// After this long an answer is lost.
const PATIENCE: Duration = Duration::from_secs(30);

/// An HTTP answer.
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The body, as far as it came.
    pub(crate) body: Bytes,
    /// What was wrong with its end.
    pub(crate) broken: Option<String>,
}

/// Sends `body` to `base_url` with further headers, and reads the answer.
pub(crate) async fn ask(base_url: &str, headers: &BTreeMap<String, String>, body: &Value) -> Got {
    ask_at("chat/completions", base_url, headers, body).await
}

/// The same of another path below `base_url`.
pub(crate) async fn ask_at(
    path: &str,
    base_url: &str,
    headers: &BTreeMap<String, String>,
    body: &Value,
) -> Got {
    tokio::time::timeout(PATIENCE, exchange(path, base_url, headers, body)).await.expect("an answer in time")
}

async fn exchange(below: &str, base_url: &str, headers: &BTreeMap<String, String>, body: &Value) -> Got {
    let (authority, path) = base_url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let stream = TcpStream::connect(authority).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    let driver = tokio::spawn(connection);
    let head = Request::post(format!("/{path}/{below}"))
        .header("host", authority)
        .header("content-type", "application/json");
    let request = headers
        .iter()
        .fold(head, |head, (name, value)| head.header(name, value))
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap();
    let (head, mut incoming) = sender.send_request(request).await.unwrap().into_parts();
    let (mut body, mut broken) = (Vec::new(), None);
    while let Some(frame) = incoming.frame().await {
        match frame {
            Ok(frame) => body.extend_from_slice(frame.data_ref().map_or(&[], |data| data)),
            Err(error) => {
                broken = Some(error.to_string());
                break;
            }
        }
    }
    driver.abort();
    Got { status: head.status, headers: head.headers, body: body.into(), broken }
}
