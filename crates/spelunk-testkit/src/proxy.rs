//! A TCP proxy that can stop or delay traffic in both directions. What arrives while it is cut is
//! forwarded when it is healed, as in a real network.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// How often a cut connection checks whether it is healed.
const LOOK: Duration = Duration::from_millis(5);

/// A proxy to a port of this machine.
pub struct Proxy {
    port: u16,
    line: Arc<Line>,
}

#[derive(Default)]
struct Line {
    is_cut: AtomicBool,
    delay_ms: AtomicU64,
    is_closed: AtomicBool,
}

impl Proxy {
    /// Forwards to this port.
    pub fn to(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let line = Arc::new(Line::default());
        let accepting = Arc::clone(&line);
        thread::spawn(move || {
            for client in listener.incoming() {
                if accepting.is_closed.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(client) = client else { continue };
                let Ok(server) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                let ends = client.try_clone().and_then(|back| Ok((back, server.try_clone()?)));
                let Ok((back_client, back_server)) = ends else { continue };
                let (there, here) = (Arc::clone(&accepting), Arc::clone(&accepting));
                thread::spawn(move || there.forward(client, server));
                thread::spawn(move || here.forward(back_server, back_client));
            }
        });
        Self { port, line }
    }

    /// Its address as the URL of a NATS server.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Stops forwarding.
    pub fn cut(&self) {
        self.line.is_cut.store(true, Ordering::SeqCst);
    }

    /// Forwards again, beginning with what arrived meanwhile.
    pub fn heal(&self) {
        self.line.is_cut.store(false, Ordering::SeqCst);
    }

    /// Delays each piece by this much.
    pub fn delay(&self, delay: Duration) {
        let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        self.line.delay_ms.store(delay_ms, Ordering::SeqCst);
    }
}

impl Line {
    fn forward(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            thread::sleep(Duration::from_millis(self.delay_ms.load(Ordering::SeqCst)));
            while self.is_cut.load(Ordering::SeqCst) && !self.is_closed.load(Ordering::SeqCst) {
                thread::sleep(LOOK);
            }
            if to.write_all(buffer.get(..n).unwrap_or_default()).is_err() {
                break;
            }
        }
        drop(to.shutdown(Shutdown::Both));
        drop(from.shutdown(Shutdown::Both));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.line.is_closed.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it sees the flag.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}
