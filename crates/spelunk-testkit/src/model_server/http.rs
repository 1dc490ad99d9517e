//! A minimal HTTP/1.1 server, written by hand so that a test controls every byte that is sent.

use std::io;
use std::time::Instant;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::book::Recorded;

const BODY_BYTES_MAX: usize = 256 << 20;
const HEADER_LINES_MAX: usize = 200;

pub(super) struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        // Pieces are smaller than a packet; Nagle's algorithm would delay each until the previous one was acknowledged.
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// The next request; `None` if the client has left.
    pub(super) async fn read_request(&mut self) -> io::Result<Option<Recorded>> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(io::Error::other("not a request line"));
        };
        let headers = self.read_headers().await?;
        let header =
            |name: &str| headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone());
        let body_len = header("content-length").map_or(Ok(0), |value| value.parse::<usize>());
        let body_len = body_len.ok().filter(|body_len| *body_len <= BODY_BYTES_MAX);
        let Some(body_len) = body_len else { return Err(io::Error::other("not a length we take")) };
        let mut body = vec![0; body_len];
        self.stream.read_exact(&mut body).await?;
        let body = String::from_utf8_lossy(&body).into_owned();
        Ok(Some(Recorded { call: header("x-spelunk-call"), method, path, body, headers, at: Instant::now() }))
    }

    async fn read_headers(&mut self) -> io::Result<Vec<(String, String)>> {
        let mut headers = Vec::new();
        for _ in 0..HEADER_LINES_MAX {
            let mut line = String::new();
            self.stream.read_line(&mut line).await?;
            let line = line.trim_end();
            if line.is_empty() {
                return Ok(headers);
            }
            let (name, value) = line.split_once(':').ok_or_else(|| io::Error::other("not a header"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Err(io::Error::other("too many headers"))
    }

    /// Sends a complete response.
    pub(super) async fn respond(
        &mut self,
        status: u16,
        content_type: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> io::Result<()> {
        let mut lines = vec![format!("HTTP/1.1 {status} Scripted"), format!("content-type: {content_type}")];
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        lines.push(format!("content-length: {}\r\n\r\n", body.len()));
        let mut bytes = lines.join("\r\n").into_bytes();
        bytes.extend_from_slice(body);
        self.send(&bytes).await
    }

    /// Sends the head of a streamed response.
    pub(super) async fn open_stream(&mut self, content_type: &str) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 200 Scripted\r\ncontent-type: {content_type}\r\n\
             cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n"
        );
        self.send(head.as_bytes()).await
    }

    /// Sends one piece of a streamed response. An empty one is skipped: on the wire it would be the end.
    pub(super) async fn send_piece(&mut self, piece: &[u8]) -> io::Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        self.send(&framed(piece)).await
    }

    /// Sends the last piece of a streamed response and its end, in one write.
    pub(super) async fn close_stream(&mut self, piece: &[u8]) -> io::Result<()> {
        let mut bytes = if piece.is_empty() { Vec::new() } else { framed(piece) };
        bytes.extend_from_slice(b"0\r\n\r\n");
        self.send(&bytes).await
    }

    /// Waits until the client has left.
    pub(super) async fn wait_for_leave(&mut self) -> io::Result<()> {
        let mut ignored = [0; 1024];
        while self.stream.read(&mut ignored).await? > 0 {}
        Ok(())
    }

    /// Resets the connection instead of closing it.
    pub(super) fn reset(self) -> io::Result<()> {
        self.stream.into_inner().set_zero_linger()
    }

    async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }
}

fn framed(piece: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{:x}\r\n", piece.len()).into_bytes();
    bytes.extend_from_slice(piece);
    bytes.extend_from_slice(b"\r\n");
    bytes
}
