//! An upstream is asked where the configuration says, and nowhere else; its answer is whole, or an error.

use std::time::{Duration, Instant};

use bytes::Bytes;
use callwright_relay::config::{RelayConfig, Timeouts, UpstreamConfig};
use callwright_relay::upstream::{ConfigError, Failure, Response, UpstreamError, Upstreams, Which};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::common::{Reply, Seen, Server, json, upstream, upstreams, with_headers};

const PATH: &str = "/chat/completions";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

async fn ask(config: UpstreamConfig) -> Result<Response, UpstreamError> {
    let upstreams = upstreams(&[config]).unwrap();
    upstreams.all()[0].post(PATH, Bytes::from_static(b"{}"), &HeaderMap::new()).await
}

/// The whole body of an answer to one request.
async fn body(config: UpstreamConfig) -> Result<Bytes, UpstreamError> {
    ask(config).await?.body.whole(1 << 20).await
}

fn with_retries(server: &Server, retries: u32) -> UpstreamConfig {
    UpstreamConfig { retries, ..upstream("u", &server.base_url()) }
}

fn with_timeouts(server: &Server, timeouts: Timeouts) -> UpstreamConfig {
    UpstreamConfig { timeouts, ..upstream("u", &server.base_url()) }
}

fn failure<T: std::fmt::Debug>(outcome: Result<T, UpstreamError>) -> Failure {
    outcome.unwrap_err().failure
}

#[tokio::test]
async fn a_request_carries_the_configured_headers_and_its_body() {
    let server = Server::start(|_, _| json(200, "{}")).await;
    let config: RelayConfig = toml::from_str(&format!(
        "[[upstreams]]\nname = 'u'\nbase_url = '{}/?api-version=7'\nkey_env = 'KEY'\n\
         headers = {{ api-key = 'a ${{OTHER}} b', x-title = 'ours' }}",
        server.base_url()
    ))
    .unwrap();
    let env = |name: &str| match name {
        "KEY" => Some("sk-canary\n".to_owned()),
        "OTHER" => Some("value".to_owned()),
        _ => None,
    };
    let upstreams = Upstreams::new(&config, &env).unwrap();
    let answer =
        upstreams.all()[0].post(PATH, Bytes::from_static(b"{\"a\":1}"), &HeaderMap::new()).await.unwrap();
    assert_eq!(answer.status, 200);
    let [Seen { line, headers, body }] = &server.seen()[..] else { panic!("one request") };
    assert_eq!(line, "POST /v1/chat/completions?api-version=7");
    assert_eq!(body, "{\"a\":1}");
    for (name, value) in [
        ("authorization", "Bearer sk-canary"),
        ("api-key", "a value b"),
        ("x-title", "ours"),
        ("content-type", "application/json"),
        ("content-length", "7"),
    ] {
        assert_eq!(headers.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert_eq!(headers.get("accept-encoding"), None);
}

#[tokio::test]
async fn a_clients_headers_change_neither_the_way_nor_the_payer() {
    let server = Server::start(|_, _| json(200, "{}")).await;
    let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
    let hostile = [
        "host",
        "authorization",
        "api-key",
        "cookie",
        "connection",
        "te",
        "transfer-encoding",
        "accept-encoding",
        "x-forwarded-host",
        "x-forwarded-for",
        "forwarded",
        "proxy-authorization",
        "openai-organization",
        "x-api-base",
        "api-base",
        "base-url",
        "x-portkey-custom-host",
        "x-callwright-policy",
        "upgrade",
    ];
    let mut client = HeaderMap::new();
    for name in hostile {
        client.insert(HeaderName::from_static(name), HeaderValue::from_static("evil.example"));
    }
    client.insert("traceparent", HeaderValue::from_static("00-1-2-01"));
    client.insert("content-length", HeaderValue::from_static("999"));
    upstreams.all()[0].post(PATH, Bytes::from_static(b"{}"), &client).await.unwrap();
    let seen = server.seen();
    assert!(!format!("{seen:?}").contains("evil"), "{seen:?}");
    assert_eq!(seen[0].headers["traceparent"], "00-1-2-01");
    assert_eq!(seen[0].headers["host"], server.address.to_string());
    assert_eq!(seen[0].headers["content-length"], "2");
}

#[tokio::test]
async fn a_path_cannot_lead_out_of_the_base_url() {
    let server = Server::start(|_, _| json(200, "{}")).await;
    let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
    for path in ["/../admin", "/a/%2E%2e/admin", "@evil.example/", "", "//evil.example/../x", "/a b"] {
        assert_eq!(failure(upstreams.all()[0].get(path).await), Failure::Path, "{path}");
    }
    assert!(server.seen().is_empty());
    upstreams.all()[0].get("//evil.example/x").await.unwrap();
    assert_eq!(server.lines(), ["GET /v1//evil.example/x"]);
}

#[tokio::test]
async fn a_redirect_is_an_error_and_nobody_follows_it() {
    let canary = Server::start(|_, _| json(200, "{}")).await;
    let location = format!("location: {}/chat/completions\r\n", canary.base_url());
    for status in [301, 302, 303, 307, 308] {
        let location = location.clone();
        let server = Server::start(move |_, _| with_headers(status, &location, "")).await;
        assert!(
            matches!(failure(ask(upstream("u", &server.base_url())).await), Failure::Redirect(_)),
            "{status}"
        );
    }
    assert!(canary.seen().is_empty());
}

#[tokio::test]
async fn what_is_of_the_connection_stays_out_of_an_answer() {
    let headers = "connection: keep-alive, x-hop\r\nx-hop: 1\r\nkeep-alive: timeout=5\r\nset-cookie: a=b\r\n\
                   retry-after: 7\r\nx-ratelimit-remaining: 3\r\n";
    let server = Server::start(move |_, _| with_headers(429, headers, "{}")).await;
    let answer = ask(upstream("u", &server.base_url())).await.unwrap();
    let mut names: Vec<&str> = answer.headers.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["retry-after", "x-ratelimit-remaining"]);
}

#[tokio::test]
async fn a_request_is_sent_again_until_the_first_byte_of_an_answer() {
    let cut = || Reply::Last(String::new());
    let status = |status| json(status, "{}");
    let asks_for = |seconds: &str| with_headers(503, &format!("retry-after: {seconds}\r\n"), "{}");
    let half = || Reply::Last("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_owned());
    for (name, replies, retries, n_requests, expected) in [
        ("as long as it is busy", vec![status(503), status(502), status(200)], 2, 3, Ok(200)),
        ("not without end", vec![status(429), status(429), status(200)], 1, 2, Ok(429)),
        ("not where it is not wanted", vec![status(503), status(200)], 0, 1, Ok(503)),
        ("when it breaks off before", vec![cut(), status(200)], 1, 2, Ok(200)),
        ("after a pause that it asks for", vec![asks_for("0"), status(200)], 1, 2, Ok(200)),
        ("unless the pause is long", vec![asks_for("3600"), status(200)], 1, 1, Ok(503)),
        (
            "unless the pause is a date",
            vec![asks_for("Wed, 21 Oct 2099 07:28:00 GMT"), status(200)],
            1,
            1,
            Ok(503),
        ),
        ("not when it refuses", vec![status(400), status(200)], 1, 1, Ok(400)),
        ("not when it fails on this request", vec![status(500), status(200)], 1, 1, Ok(500)),
        ("not after the first byte", vec![half(), status(200)], 1, 1, Err(Failure::Reset)),
    ] {
        let server = Server::start(move |_, n| replies[n].clone()).await;
        let outcome = match ask(with_retries(&server, retries)).await {
            Ok(answer) => {
                let status = answer.status.as_u16();
                answer.body.whole(100).await.map(|_| status).map_err(|error| error.failure)
            }
            Err(error) => Err(error.failure),
        };
        assert_eq!(outcome, expected, "{name}");
        assert_eq!(server.seen().len(), n_requests, "{name}");
    }
}

/// A batch, a picture or a file may have been made although no answer came.
#[tokio::test]
async fn what_is_passed_on_is_sent_once() {
    for method in [Method::POST, Method::DELETE, Method::GET] {
        for (reply, expected) in [
            (Reply::Last(String::new()), Err(Failure::Reset)),
            (json(429, "{}"), Ok(429)),
            (json(502, "{}"), Ok(502)),
            (json(503, "{}"), Ok(503)),
            (json(504, "{}"), Ok(504)),
        ] {
            let server =
                Server::start(move |_, n| if n == 0 { reply.clone() } else { json(200, "{}") }).await;
            let upstreams = upstreams(&[with_retries(&server, 2)]).unwrap();
            let body = Bytes::from_static(b"{\"input_file_id\":\"file-1\"}");
            let sent = upstreams.all()[0].pass(method.clone(), "/batches", body, &HeaderMap::new()).await;
            let outcome = sent.map(|answer| answer.status.as_u16()).map_err(|error| error.failure);
            assert_eq!(outcome, expected, "{method}");
            assert_eq!(server.seen().len(), 1, "{method} {expected:?}");
        }
    }
}

/// A server that is being started again: nothing could go out before it listened.
#[tokio::test]
async fn what_is_passed_on_waits_for_an_upstream_that_cannot_be_reached() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = UpstreamConfig { retries: 5, ..upstream("late", &format!("http://{address}/v1")) };
    let upstreams = upstreams(&[config]).unwrap();
    let late = async {
        // Behind the first try, which is over at once; the second one comes 200 ms later.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        // A connection that is closed with something unread in it is reset.
        let mut read = Vec::new();
        while !read.ends_with(b"\r\n\r\n{}") {
            stream.read_buf(&mut read).await.unwrap();
        }
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
            .await
            .unwrap();
        stream.shutdown().await.unwrap();
    };
    let headers = HeaderMap::new();
    let asked = upstreams.all()[0].pass(Method::POST, "/batches", Bytes::from_static(b"{}"), &headers);
    assert_eq!(tokio::join!(asked, late).0.unwrap().status, 200);
}

#[tokio::test]
async fn nobody_there_is_said_so() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = ask(upstream("nobody", &format!("http://{free}/v1"))).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Connect(_)), "{error}");
    assert!(error.to_string().starts_with("upstream `nobody` could not be reached: "), "{error}");
    assert!(!error.to_string().contains(&free.to_string()), "{error}");
}

#[tokio::test]
async fn a_server_without_tls_is_not_trusted() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let error = ask(upstream("u", &format!("https://{address}/v1"))).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Tls(_)), "{error:?}");
}

#[tokio::test]
async fn what_is_no_http_is_said_so() {
    let server = Server::start(|_, _| Reply::Last("SSH-2.0-OpenSSH_9.2\r\n".repeat(9))).await;
    assert_eq!(failure(ask(upstream("u", &server.base_url())).await), Failure::NotHttp);
}

#[tokio::test]
async fn an_end_and_a_cut_are_two_things() {
    let chunked = |chunks: &str| Reply::Last(format!("{CHUNKED}{chunks}"));
    let sized = |body: &str| Reply::Last(format!("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{body}"));
    for (name, reply, expected) in [
        ("chunked", chunked("3\r\nabc\r\n0\r\n\r\n"), Ok("abc")),
        ("chunked, in two", chunked("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), Ok("abcde")),
        ("without the last chunk", chunked("3\r\nabc\r\n"), Err(Failure::Reset)),
        ("in a chunk", chunked("5\r\nabc"), Err(Failure::Reset)),
        ("in the last chunk", chunked("3\r\nabc\r\n0\r\n"), Err(Failure::Reset)),
        ("sized", sized("abcde"), Ok("abcde")),
        ("fewer than announced", sized("abc"), Err(Failure::Reset)),
    ] {
        let server = Server::start(move |_, _| reply.clone()).await;
        let body = body(upstream("u", &server.base_url())).await.map_err(|error| error.failure);
        assert_eq!(body, expected.map(Bytes::from), "{name}");
    }
}

#[tokio::test]
async fn an_end_that_is_only_the_connections_is_told_apart() {
    for (reply, by_close) in [
        (Reply::Last("HTTP/1.1 200 OK\r\n\r\nabc".to_owned()), true),
        (Reply::Last(format!("{CHUNKED}0\r\n\r\n")), false),
        (json(200, "abc"), false),
    ] {
        let server = Server::start(move |_, _| reply.clone()).await;
        let answer = ask(upstream("u", &server.base_url())).await.unwrap();
        assert_eq!(answer.body.ends_by_close(), by_close);
    }
}

#[tokio::test]
async fn a_body_has_a_limit() {
    let long = "x".repeat(100);
    let chunked = format!("{CHUNKED}32\r\n{}\r\n32\r\n{}\r\n0\r\n\r\n", "x".repeat(50), "y".repeat(50));
    for reply in [json(200, &long), Reply::Bytes(chunked)] {
        let server = Server::start(move |_, _| reply.clone()).await;
        let answer = ask(upstream("u", &server.base_url())).await.unwrap();
        assert_eq!(failure(answer.body.whole(99).await), Failure::TooLong { limit: 99 });
        let answer = ask(upstream("u", &server.base_url())).await.unwrap();
        assert_eq!(answer.body.whole(100).await.unwrap().len(), 100);
    }
}

#[tokio::test]
async fn what_is_packed_so_that_nobody_here_can_read_it_is_refused() {
    let server = Server::start(|_, _| with_headers(200, "content-encoding: br\r\n", "\u{1f}")).await;
    let error = ask(upstream("u", &server.base_url())).await.unwrap_err();
    assert_eq!(error.failure, Failure::Encoding("br".to_owned()));
    let server = Server::start(|_, _| with_headers(200, "content-encoding: gzip\r\n", "<html>")).await;
    let error = body(upstream("u", &server.base_url())).await.unwrap_err();
    assert_eq!(error.failure, Failure::Packing);
    let server = Server::start(|_, _| with_headers(200, "content-encoding: identity\r\n", "{}")).await;
    assert_eq!(body(upstream("u", &server.base_url())).await.unwrap(), "{}");
}

#[tokio::test]
async fn each_time_runs_out_by_its_own_name() {
    let short = 0.05;
    let begun = format!("{CHUNKED}3\r\nabc\r\n");
    for (name, held, timeouts, expected) in [
        ("nothing comes", "", Timeouts { first_byte: short, ..Timeouts::default() }, Which::FirstByte),
        ("nothing more comes", &begun, Timeouts { idle: short, ..Timeouts::default() }, Which::Idle),
        ("it never ends", &begun, Timeouts { total: short, ..Timeouts::default() }, Which::Total),
        ("it never begins", "", Timeouts { total: short, ..Timeouts::default() }, Which::Total),
    ] {
        let held = held.to_owned();
        let server = Server::start(move |_, _| Reply::Hold(held.clone())).await;
        let failure = failure(body(with_timeouts(&server, timeouts)).await);
        assert_eq!(failure, Failure::Timeout(expected), "{name}");
    }
}

#[tokio::test]
async fn who_leaves_ends_the_request_at_the_upstream() {
    let begun = format!("{CHUNKED}3\r\nabc\r\n");
    for held in [begun, String::new()] {
        let has_begun = !held.is_empty();
        let server = Server::start(move |_, _| Reply::Hold(held.clone())).await;
        let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
        let upstream = &upstreams.all()[0];
        let nothing = HeaderMap::new();
        let left = if has_begun {
            let mut answer = upstream.post(PATH, Bytes::new(), &nothing).await.unwrap();
            assert_eq!(answer.body.next().await, Some(Ok(Bytes::from_static(b"abc"))));
            assert_eq!(upstream.open_requests(), 1);
            drop(answer);
            Instant::now()
        } else {
            let asking = upstream.post(PATH, Bytes::new(), &nothing);
            tokio::select! {
                _ = asking => panic!("the server holds its answer back"),
                () = server.arrived.notified() => Instant::now(),
            }
        };
        assert_eq!(upstream.open_requests(), 0);
        let _ = server.hang_ups.acquire().await.unwrap();
        assert!(left.elapsed() < Duration::from_millis(100), "{:?}", left.elapsed());
    }
}

#[tokio::test]
async fn after_its_end_a_body_gives_nothing_more() {
    let server = Server::start(|_, _| Reply::Last(format!("{CHUNKED}3\r\nabc\r\n"))).await;
    let mut body = ask(upstream("u", &server.base_url())).await.unwrap().body;
    assert_eq!(body.next().await, Some(Ok(Bytes::from_static(b"abc"))));
    assert!(body.next().await.unwrap().is_err());
    assert_eq!(body.next().await, None);
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let server = Server::start(|_, n| json(200, &n.to_string())).await;
    let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
    for n in 0..3 {
        let answer = upstreams.all()[0].get("/models").await.unwrap();
        assert_eq!(answer.body.whole(100).await.unwrap(), n.to_string());
    }
    assert_eq!(upstreams.all()[0].open_requests(), 0);
}

#[test]
fn a_configuration_that_cannot_work_is_refused_by_name() {
    let is_set = |name: &str| match name {
        "KEY" => Some("sk-canary".to_owned()),
        "BAD" => Some("sk-canary\u{0}".to_owned()),
        "EMPTY" => Some(" ".to_owned()),
        _ => None,
    };
    for (extra, expected) in [
        ("base_url = 'http://h/v1'", None),
        ("base_url = 'http://h/v1'\nkey_env = 'KEY'", None),
        ("base_url = 'not a url'", Some("upstream `u`: base_url is not a URL")),
        ("base_url = 'ftp://h/v1'", Some("upstream `u`: base_url must begin with http:// or https://")),
        ("base_url = '/v1'", Some("upstream `u`: base_url must begin with http:// or https:// and a host")),
        (
            "base_url = 'http://me:sk-canary@h/v1'",
            Some(
                "upstream `u`: base_url must not hold a user name or password: name the key's variable in key_env",
            ),
        ),
        ("base_url = 'http://h/v1/../x'", Some("upstream `u`: base_url must not hold `..`")),
        (
            "base_url = 'http://h'\nkey_env = 'MISSING'",
            Some("upstream `u`: the environment variable MISSING is not set"),
        ),
        (
            "base_url = 'http://h'\nkey_env = 'EMPTY'",
            Some("upstream `u`: the environment variable EMPTY is not set"),
        ),
        (
            "base_url = 'http://h'\nkey_env = 'BAD'",
            Some("upstream `u`: the key in BAD holds characters that no header carries"),
        ),
        (
            "base_url = 'http://h'\nheaders = { x = '${MISSING}' }",
            Some("upstream `u`: the environment variable MISSING is not set"),
        ),
        (
            "base_url = 'http://h'\nheaders = { x = '${KEY' }",
            Some("upstream `u`: header `x` has a `${` without its `}`"),
        ),
        (
            "base_url = 'http://h'\nheaders = { Host = 'h' }",
            Some("upstream `u`: header `Host` is not for configuration to set"),
        ),
        (
            "base_url = 'http://h'\nheaders = { 'a b' = 'c' }",
            Some("upstream `u`: header `a b` has a name that HTTP does not allow"),
        ),
        (
            "base_url = 'http://h'\n[[models]]\npattern = '*'\nupstreams = ['other']",
            Some("model `*` names the upstream `other`, which is not configured"),
        ),
        (
            "base_url = 'http://h'\n[[upstreams]]\nname = 'u'\nbase_url = 'http://h'",
            Some("two upstreams are named `u`"),
        ),
    ] {
        let config: RelayConfig = toml::from_str(&format!("[[upstreams]]\nname = 'u'\n{extra}")).unwrap();
        let error = Upstreams::new(&config, &is_set).err();
        assert_eq!(error.as_ref().map(ToString::to_string).as_deref(), expected, "{extra}");
        assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    }
    assert_eq!(Upstreams::new(&RelayConfig::default(), &is_set).err(), Some(ConfigError::NoUpstream));
}

#[test]
fn a_key_is_not_shown() {
    let config: RelayConfig = toml::from_str(
        "[[upstreams]]\nname = 'u'\nbase_url = 'http://h/v1?key=sk-canary'\nkey_env = 'KEY'\nheaders = { x = '${KEY}' }",
    )
    .unwrap();
    let upstreams = Upstreams::new(&config, &|_| Some("sk-canary".to_owned())).unwrap();
    assert!(!format!("{upstreams:?}").contains("canary"), "{upstreams:?}");
    assert_eq!(upstreams.all()[0].location(), "http://h/v1");
}
