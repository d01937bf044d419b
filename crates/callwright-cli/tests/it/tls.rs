//! Upstreams and collectors behind TLS, with a certificate authority of the test's own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use callwright::json;
use callwright_replay::{Replay, Script};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::binary;
use crate::binary::file;
use crate::binary::serving::Serving;

/// An authority that nobody else trusts: its certificate as a file, and what a server needs to show it.
struct Authority {
    file: String,
    server: Arc<ServerConfig>,
}

impl Authority {
    fn new(name: &str) -> Authority {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(vec![String::from("localhost")]).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let server =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let server = server.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).unwrap();
        Authority { file: file(name, cert.pem()), server: Arc::new(server) }
    }

    /// The port of a server that speaks TLS, in front of one that does not.
    fn in_front_of(&self, behind: SocketAddr) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let acceptor = TlsAcceptor::from(Arc::clone(&self.server));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    let acceptor = acceptor.clone();
                    tokio::spawn(async move {
                        // A client that trusts another authority ends it here.
                        let Ok(mut outside) = acceptor.accept(stream).await else { return };
                        let mut inside = TcpStream::connect(behind).await.unwrap();
                        let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
                    });
                }
            });
        });
        port
    }
}

fn replay() -> (Replay, SocketAddr) {
    let replay =
        Replay::start(Script::from_toml("[[answer]]\ntext = 'Fine.'\nrepeat = true").unwrap()).unwrap();
    let url = replay.base_url();
    let address = url.trim_start_matches("http://").trim_end_matches("/v1").parse().unwrap();
    (replay, address)
}

/// A collector that takes one export, and the first line of what was sent to it.
fn collector() -> (SocketAddr, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (put, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut sent = [0; 4096];
        let length = stream.read(&mut sent).unwrap();
        let line = String::from_utf8_lossy(&sent[..length]).lines().next().unwrap().to_owned();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").unwrap();
        put.send(line).unwrap();
    });
    (address, lines)
}

#[test]
fn upstreams_and_collectors_are_reached_over_tls() {
    let authority = Authority::new("trusted.pem");
    let (replay, address) = replay();
    let (collector, exports) = collector();
    let upstream = format!("https://localhost:{}/v1", authority.in_front_of(address));
    let endpoint = format!("https://localhost:{}", authority.in_front_of(collector));
    let args = ["--upstream", &upstream, "--otlp-endpoint", &endpoint];
    let serving = Serving::start(&args, &[("SSL_CERT_FILE", &authority.file)]);
    let answer = serving.chat(&json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}]}));
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("Fine."), "{answer}");
    assert!(replay.requests().iter().any(|request| request.path == "/v1/chat/completions"));
    assert_eq!(exports.recv_timeout(Duration::from_secs(20)).unwrap(), "POST /v1/traces HTTP/1.1");
}

/// A certificate that nobody vouches for is an upstream that cannot be reached: nothing is sent to it.
#[test]
fn a_certificate_of_a_stranger_is_refused() {
    let (authority, stranger) = (Authority::new("other.pem"), Authority::new("stranger.pem"));
    let (replay, address) = replay();
    let upstream = format!("https://localhost:{}/v1", stranger.in_front_of(address));
    let serving = Serving::start(&["--upstream", &upstream], &[("SSL_CERT_FILE", &authority.file)]);
    let answer = serving.chat(&json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}]}));
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert!(answer.contains("certificate"), "it says why: {answer}");
    assert!(replay.requests().is_empty());
}

/// A private authority, and a server's own certificate, as `openssl req -x509` makes it: trusted where they are named, and
/// nothing else is then; the words say which flag it takes.
#[test]
fn a_certificate_that_is_named_is_trusted_and_no_other() {
    let (own, other) = (Authority::new("own.pem"), Authority::new("another.pem"));
    let (replay, address) = replay();
    let url = format!("https://localhost:{}/v1", own.in_front_of(address));
    let models = |more: &[&str]| binary::run(&[&["models", "--upstream", &url], more].concat(), "");
    let plain = models(&[]);
    assert!(plain.code == 1 && plain.err.contains("ca_file"), "{}", plain.err);
    let named = models(&["--upstream-ca-file", &own.file]);
    assert_eq!(named.code, 0, "{}", named.err);
    let wrong = models(&["--upstream-ca-file", &other.file]);
    assert!(wrong.code == 1 && wrong.out.is_empty(), "{}{}", wrong.out, wrong.err);
    let n_asked = replay.requests().len();
    assert_eq!(n_asked, 1);
    assert_eq!(models(&["--upstream-insecure"]).code, 0);
    let missing = models(&["--upstream-ca-file", "/nowhere.pem"]);
    assert!(missing.code == 8 && missing.err.contains("ca_file: /nowhere.pem: "), "{}", missing.err);
    let serving = Serving::start(&["--upstream", &url, "--upstream-insecure"], &[]);
    // Once it answers, it heeds signals.
    let answer = serving.chat(&json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}]}));
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let (log, _) = serving.end();
    assert!(log.iter().any(|line| line.contains("its certificate is not checked")), "{log:?}");
}
