//! A connection to a server: TCP or a Unix socket with a byte limit, TLS if wanted, and the request
//! that cancels a statement.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use spelunk_context::ServerError;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_postgres::{CancelToken, Client, Error};

use super::address::{Address, Place, Target};
use super::tls::Tls;
use super::{REACH_HINT, shortened, told, unusable};

/// The most bytes that one connection may receive, including protocol overhead. A result has at most 10 MB.
const BYTES_MAX: u64 = 100_000_000;
const CANCEL_TIMEOUT: Duration = Duration::from_secs(3);

/// Drives a connection until it ends.
type Driving = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

pub(super) struct Cancelling {
    place: Place,
    tls: Tls,
}

impl Cancelling {
    /// Asks the server to end the statement. If that fails, its time limit ends it.
    pub(super) async fn cancel(&self, token: &CancelToken) {
        let asking = async {
            if let Ok(stream) = open(&self.place).await {
                drop(token.cancel_query_raw(stream, self.tls.clone()).await);
            }
        };
        drop(tokio::time::timeout(CANCEL_TIMEOUT, asking).await);
    }
}

pub(super) async fn connect(address: &Address) -> Result<(Client, Driving, Cancelling), ServerError> {
    let Target { config, place, trust } = address.target.as_ref().map_err(Clone::clone)?;
    let host = match place {
        Place::Tcp(host, _) => host.as_str(),
        Place::Socket(_) => "localhost",
    };
    let tls = Tls::new(host, trust)?;
    let stream = open(place).await.map_err(|error| unusable(shortened(&error.to_string()), REACH_HINT))?;
    let (client, connection) = config.connect_raw(stream, tls.clone()).await.map_err(|error| told(&error))?;
    Ok((client, Box::pin(connection), Cancelling { place: place.clone(), tls }))
}

/// The hint for an error that the server did not report itself.
pub(super) fn hint(why: &str) -> &'static str {
    let why = why.to_lowercase();
    if why.contains("certificate") || why.contains("tls") {
        "check `sslmode` in the URL: `verify-full` needs a certificate that this machine or `sslrootcert=FILE` trusts"
    } else if why.contains("password") {
        "set the password with `PGPASSWORD` or `~/.pgpass`; a password in the URL is not kept for `resume`"
    } else {
        "check that a PostgreSQL server listens there"
    }
}

async fn open(place: &Place) -> io::Result<Metered> {
    let stream: Box<dyn Stream> = match place {
        Place::Tcp(host, port) => Box::new(TcpStream::connect((host.as_str(), *port)).await?),
        #[cfg(unix)]
        Place::Socket(path) => Box::new(UnixStream::connect(path).await?),
        #[cfg(not(unix))]
        Place::Socket(_) => return Err(io::ErrorKind::Unsupported.into()),
    };
    Ok(Metered { stream, bytes_left: BYTES_MAX })
}

/// A stream that fails once it has received too much: the client would buffer a message of any size.
pub(super) struct Metered {
    stream: Box<dyn Stream>,
    bytes_left: u64,
}

impl Metered {
    /// For TLS over a stream that is already limited.
    pub(super) fn unlimited(stream: impl Stream + 'static) -> Self {
        Self { stream: Box::new(stream), bytes_left: u64::MAX }
    }
}

pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, into);
        let n_read = (into.filled().len() - before) as u64;
        match self.bytes_left.checked_sub(n_read) {
            Some(left) => {
                self.bytes_left = left;
                polled
            }
            None => Poll::Ready(Err(io::Error::other("the server's reply is too long"))),
        }
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
