//! TLS for a connection: `rustls` with the same provider and the same trust as for model servers.
//! Unless the URL says `verify-full`, any certificate is accepted, as by PostgreSQL's own clients.

use std::future::Future;
use std::io::{self, Read as _};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;
use spelunk_context::ServerError;
use spelunk_fs::open_to_read;
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use super::address::Trust;
use super::connection::Metered;
use super::unusable;

const CERTIFICATES_BYTES_MAX: u64 = 1_000_000;
const TLS_HINT: &str = "check `sslmode` and `sslrootcert` in the URL";

#[derive(Clone)]
pub(super) struct Tls {
    connector: TlsConnector,
    host: ServerName<'static>,
}

impl Tls {
    pub(super) fn new(host: &str, trust: &Trust) -> Result<Self, ServerError> {
        let wrong = |why: &str| unusable(why.to_owned(), TLS_HINT);
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let host = ServerName::try_from(bare).map_err(|_| wrong("the host is not a valid name"))?;
        let config = config(trust).map_err(|why| wrong(&why))?;
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), host })
    }
}

fn config(trust: &Trust) -> Result<ClientConfig, String> {
    let provider: Arc<CryptoProvider> = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::Anybody => Arc::new(Anybody(provider)),
        Trust::Host(None) => Arc::new(Verifier::new(provider).map_err(|error| error.to_string())?),
        Trust::Host(Some(file)) => {
            return Ok(builder.with_root_certificates(roots(file)?).with_no_client_auth());
        }
    };
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

fn roots(file: &Path) -> Result<RootCertStore, String> {
    let unreadable = |why: String| format!("could not read the certificates in `{}`: {why}", file.display());
    let mut bytes = Vec::new();
    let read = open_to_read(file).and_then(|file| file.take(CERTIFICATES_BYTES_MAX).read_to_end(&mut bytes));
    read.map_err(|error| unreadable(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
    }
    if roots.is_empty() { Err(unreadable("the file contains no certificates".to_owned())) } else { Ok(roots) }
}

/// Accepts every certificate whose owner signed the handshake.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

impl TlsConnect<Metered> for Tls {
    type Stream = Metered;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Metered>> + Send>>;

    fn connect(self, stream: Metered) -> Self::Future {
        Box::pin(async move { Ok(Metered::unlimited(self.connector.connect(self.host, stream).await?)) })
    }
}

/// The password is not bound to the channel: `verify-full` checks the certificate.
impl TlsStream for Metered {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}
