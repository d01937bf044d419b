//! Connections to upstreams: TCP without delay, and TLS for `https`, with the system's roots or the configured certificates.
//!
//! The system's roots are read at the first `https` connection: a machine without any still reaches a local server.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tower_service::Service;

use super::error::ConfigError;
use crate::config::UpstreamConfig;

/// The roots of TLS, read once for all who share them.
pub type Roots = Arc<OnceCell<Arc<ClientConfig>>>;

/// Makes the connections of one upstream, or of any other client of configured servers.
#[derive(Clone)]
pub struct Connector {
    http: HttpConnector,
    roots: Roots,
    timeout: Duration,
}

impl Connector {
    /// Makes a connector whose connections must stand within `timeout`.
    pub fn new(roots: Roots, timeout: Duration) -> Connector {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        // A model may think for minutes without a byte: routers on the way forget silent connections.
        http.set_keepalive(Some(Duration::from_secs(30)));
        Connector { http, roots, timeout }
    }
}

/// The reason for which no connection came about.
#[derive(Debug)]
pub enum ConnectFailure {
    /// Nobody listens there, or the name is unknown.
    Tcp(String),
    /// The other side cannot be trusted, or understood.
    Tls(String),
    /// The connection took too long.
    Timeout,
}

impl fmt::Display for ConnectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectFailure::Tcp(why) | ConnectFailure::Tls(why) => f.write_str(why),
            ConnectFailure::Timeout => f.write_str("timed out"),
        }
    }
}

impl std::error::Error for ConnectFailure {}

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = ConnectFailure;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, ConnectFailure>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), ConnectFailure>> {
        Poll::Ready(Ok(())) // What it is made of is always ready.
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Connector { http, roots, timeout } = self.clone();
        Box::pin(async move {
            let stream = tokio::time::timeout(timeout, connect(http, roots, uri)).await;
            stream.unwrap_or(Err(ConnectFailure::Timeout))
        })
    }
}

async fn connect(mut http: HttpConnector, roots: Roots, uri: Uri) -> Result<Stream, ConnectFailure> {
    if uri.scheme_str() != Some("https") {
        let stream = http.call(uri).await.map_err(|error| ConnectFailure::Tcp(innermost(&error)))?;
        return Ok(MaybeHttpsStream::Http(stream));
    }
    let tls = roots.get_or_try_init(system_roots).await?;
    let mut https = HttpsConnector::from((http, Arc::clone(tls)));
    https.call(uri).await.map_err(|error| {
        // The handshake's errors arrive as `io::Error`, those of the TCP connection in the connector's own type.
        match error.downcast_ref::<std::io::Error>() {
            Some(handshake) => ConnectFailure::Tls(untrusted(handshake)),
            None => ConnectFailure::Tcp(innermost(error.as_ref())),
        }
    })
}

/// Returns the certificates that an upstream may show: the configured ones, else those that `system` vouches for.
///
/// # Errors
/// The configured file cannot be read, or holds no certificate.
pub(super) fn trusted(config: &UpstreamConfig, system: &Roots) -> Result<Roots, ConfigError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match &config.ca_file {
        _ if config.insecure => {
            tracing::warn!(
                upstream = config.name,
                "its certificate is not checked: whoever stands in between can read keys and write answers"
            );
            Arc::new(Anyone(provider.clone()))
        }
        None => return Ok(Arc::clone(system)),
        Some(file) => {
            let refused = |why: String| ConfigError::Certificates {
                upstream: config.name.clone(),
                why: format!("{}: {why}", file.display()),
            };
            Arc::new(ListedCertificates::read(file, &provider).map_err(refused)?)
        }
    };
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let refused = |error: rustls::Error| ConfigError::Certificates {
        upstream: config.name.clone(),
        why: error.to_string(),
    };
    let client = versions.map_err(refused)?.dangerous().with_custom_certificate_verifier(verifier);
    Ok(Arc::new(OnceCell::new_with(Some(Arc::new(client.with_no_client_auth())))))
}

/// Takes the certificates of a file, and those that they have signed.
#[derive(Debug)]
struct ListedCertificates {
    /// A server's own certificate is often made as that of an authority, and the rules then give it to no server: `openssl req
    /// -x509` does so. A configuration that names it means this very certificate.
    exact: Vec<CertificateDer<'static>>,
    signed: Arc<WebPkiServerVerifier>,
}

impl ListedCertificates {
    fn read(file: &std::path::Path, provider: &Arc<CryptoProvider>) -> Result<ListedCertificates, String> {
        let certificates =
            CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let exact: Vec<CertificateDer<'static>> = certificates.map_err(|error| error.to_string())?;
        let mut roots = RootCertStore::empty();
        if roots.add_parsable_certificates(exact.iter().cloned()).0 == 0 {
            return Err(String::from("there is no certificate in it"));
        }
        let signed = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        Ok(ListedCertificates { exact, signed: signed.build().map_err(|error| error.to_string())? })
    }
}

impl ServerCertVerifier for ListedCertificates {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.exact.iter().any(|listed| listed == end_entity) {
            return Ok(ServerCertVerified::assertion());
        }
        self.signed.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signed.verify_tls12_signature(message, cert, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signed.verify_tls13_signature(message, cert, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}

/// Takes any certificate whose key the other side has.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Returns the error of TLS inside any number of errors of input and output.
fn cause(error: &std::io::Error) -> Option<&rustls::Error> {
    let mut inner = error.get_ref()?;
    while let Some(wrapped) = inner.downcast_ref::<std::io::Error>() {
        inner = wrapped.get_ref()?;
    }
    inner.downcast_ref()
}

/// Returns the reason for a failed handshake, in words that say what to do.
fn untrusted(handshake: &std::io::Error) -> String {
    let says = match cause(handshake) {
        Some(rustls::Error::InvalidMessage(_)) => "it does not speak TLS: should its URL begin with http://?",
        Some(rustls::Error::InvalidCertificate(certificate)) => match certificate {
            CertificateError::UnknownIssuer => {
                "nobody whom this machine trusts has signed its certificate: name the authority's in ca_file"
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "its certificate is not valid yet: is the clock right?"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "its certificate is for another name than the URL has"
            }
            // webpki's `CaUsedAsEndEntity`, which is no variant of this type.
            CertificateError::Other(_) => {
                "its certificate is not one that a server may show, such as one that signed itself: \
                 name that very certificate in ca_file"
            }
            _ => return innermost(handshake),
        },
        _ => return innermost(handshake),
    };
    says.to_owned()
}

async fn system_roots() -> Result<Arc<ClientConfig>, ConnectFailure> {
    let read = || {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| error.to_string())?;
        let config = config.with_native_roots().map_err(|error| error.to_string())?;
        Ok::<_, String>(Arc::new(config.with_no_client_auth()))
    };
    // Some hundred certificates in files: not on a thread that serves others.
    let config = tokio::task::spawn_blocking(read).await;
    config.map_err(|error| error.to_string()).and_then(|config| config).map_err(ConnectFailure::Tls)
}

/// Returns the innermost reason: `Connection refused (os error 111)`, without the chain of callers.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
