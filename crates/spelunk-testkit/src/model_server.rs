//! The scripted model server: real HTTP on a loopback port, in the providers' wire formats. It runs on its own thread
//! with its own runtime and clock, so that tests without a runtime, tests with paused time and tests of the real binary
//! can all use it.

mod answer;
mod book;
mod http;
mod traffic;

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use spelunk_types::Usage;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::script::Rule;
use answer::serve;
pub use book::Recorded;
use book::ServerState;

/// A running server. Dropping it closes every connection and ends its thread.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    book: Arc<ServerState>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts a server with this script, from a test without a runtime.
    pub fn start_blocking(rules: impl IntoIterator<Item = Rule>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        listener.set_nonblocking(true).expect("a socket can be made non-blocking");
        let address = listener.local_addr().expect("a bound socket has an address");
        let book = Arc::new(ServerState::new(rules.into_iter().collect()));
        let (stop, stopped) = oneshot::channel();
        let served_book = Arc::clone(&book);
        let thread = std::thread::Builder::new()
            .name("model-server".to_owned())
            .spawn(move || run(listener, &served_book, stopped))
            .expect("a thread can be started");
        Self { address, book, stop: Some(stop), thread: Some(thread) }
    }

    /// The same from a test with a runtime. It is ready immediately: nothing is awaited.
    pub fn start(rules: impl IntoIterator<Item = Rule>) -> impl Future<Output = Self> {
        std::future::ready(Self::start_blocking(rules))
    }

    /// `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<Recorded> {
        self.book.read(|pages| pages.requests.clone())
    }

    /// The requests that no rule matched. Each was answered with status 418.
    pub fn unexpected(&self) -> Vec<Recorded> {
        self.book.read(|pages| pages.unexpected.clone())
    }

    /// How many requests for this call arrived.
    pub fn times_received(&self, call: &str) -> u64 {
        self.book.read(|pages| pages.n_received.get(call).copied().unwrap_or(0))
    }

    /// How many requests for this call got a complete reply. Counted before the end mark is sent,
    /// so a client that has the reply sees the count.
    pub fn times_served(&self, call: &str) -> u64 {
        self.book.read(|pages| pages.n_served.get(call).copied().unwrap_or(0))
    }

    /// The total usage of all complete replies.
    pub fn served_usage(&self) -> Usage {
        self.book.read(|pages| pages.served_usage)
    }

    /// How many connections were accepted.
    pub fn connections(&self) -> u64 {
        self.book.read(|pages| pages.n_connections)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the model server's thread panicked");
        }
    }
}

/// Accepts connections until `stopped`. The tasks of open connections end with the `JoinSet`.
fn run(listener: TcpListener, book: &Arc<ServerState>, mut stopped: oneshot::Receiver<()>) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).expect("the runtime takes the listener");
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                _ = &mut stopped => return,
                accepted = listener.accept() => {
                    // A client that left while it was queued is no reason to stop.
                    let Ok((stream, _)) = accepted else { continue };
                    book.write(|pages| pages.n_connections += 1);
                    connections.spawn(serve(stream, Arc::clone(book)));
                }
                Some(_) = connections.join_next() => {}
            }
        }
    });
}
