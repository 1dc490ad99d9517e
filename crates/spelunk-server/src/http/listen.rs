//! Listening: accepts connections and bounds the resources and time of each. A client that sends headers slowly or does
//! not read its response is disconnected. The number of connections is limited too; one more takes the place of the one
//! that has been without a request for longest.

mod idle;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep, timeout};
use tower_service::Service as _;

use self::idle::Connections;
use super::contexts::fold;
use super::{Counted, Shared};

/// How long responses in progress may take when the server stops.
const FAREWELL_MAX: Duration = Duration::from_secs(5);
/// A pause after a failed accept: the operating system ran out of a resource that other connections may release.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const BUFFER_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

/// Serves until told to stop; responses in progress are finished, streams end.
pub async fn listen(listener: TcpListener, app: Router, server: Shared, stop: impl Future<Output = ()>) {
    let settings = &server.app.settings.server;
    let places = usize::try_from(settings.connections_max).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
    let places = Arc::new(Semaphore::new(places));
    let patience = Duration::from_millis(settings.request_ms_max);
    let graceful = GracefulShutdown::new();
    let mut tasks = JoinSet::new();
    let connections = Connections::default();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, address)) = accepted else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        while tasks.try_join_next().is_some() {}
        if places.available_permits() == 0 {
            connections.close_oldest_idle();
        }
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = &mut stop => break,
        };
        // Events are small and should arrive at once.
        drop(stream.set_nodelay(true));
        let app = app.clone();
        let opened = connections.open();
        let requests = opened.requests();
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let in_progress = requests.begin();
            let mut request = request.map(Body::new);
            fold(&mut request);
            request.extensions_mut().insert(Peer(address));
            let mut app = app.clone();
            async move {
                let response = app.call(request).await.unwrap_or_else(|never| match never {});
                // The request is in progress until the body of its response is dropped, and this with it.
                let hold = move |error| {
                    let _ = &in_progress;
                    error
                };
                Ok::<_, Infallible>(response.map(|body| Body::new(body.map_err(hold))))
            }
        });
        let io = TokioIo::new(Patient { stream, patience, stalled: None });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(patience)
            .max_buf_size(BUFFER_BYTES_MAX)
            .serve_connection(io, service);
        let connection = graceful.watch(connection);
        let counting = Counted::new(&server.metrics.connections);
        opened.spawn(|opened| {
            tasks.spawn(async move {
                // An error here means that the client disconnected.
                drop(connection.await);
                drop((place, counting, opened));
            })
        });
    }
    drop(listener);
    server.close();
    drop(timeout(FAREWELL_MAX, graceful.shutdown()).await);
    tasks.shutdown().await;
}

/// A stream that closes if the client does not read.
struct Patient {
    stream: TcpStream,
    /// How long sent data may stay unread.
    patience: Duration,
    /// Set while a write is blocked.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn bounded<T>(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled = None;
            return polled;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
