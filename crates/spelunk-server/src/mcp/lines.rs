//! The lines of the protocol on stdio. A line that is not a message gets an error response, whereas
//! the library would silently skip it, and no line is buffered beyond a limit.

use std::io;

use rmcp::RoleServer;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream,
};
use tokio::sync::mpsc;

/// The longest message: the default upload limit, because clients register texts.
const MESSAGE_BYTES_MAX: usize = 64 << 20;
const PIPE_BYTES: usize = 64 << 10;
/// The maximum number of errors waiting to be written; if the client does not read them, nothing more is read from it.
const ERRORS_MAX: usize = 16;

const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;

/// The transport for the library, and the tasks that run alongside it: reading until the input ends, and writing until
/// the library closes its end.
pub(super) fn checked(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
) -> (
    AsyncRwTransport<RoleServer, DuplexStream, DuplexStream>,
    impl Future<Output = io::Result<()>>,
    impl Future<Output = io::Result<()>>,
) {
    let (for_library, to_library) = tokio::io::duplex(PIPE_BYTES);
    let (of_library, from_library) = tokio::io::duplex(PIPE_BYTES);
    let (errors, errors_to_write) = mpsc::channel(ERRORS_MAX);
    let reading = read(BufReader::new(input), to_library, errors, MESSAGE_BYTES_MAX);
    let writing = write(BufReader::new(from_library), errors_to_write, output);
    // The library would drop a longer line without a response, and its own limit is lower than ours.
    let transport = AsyncRwTransport::new_server(for_library, of_library).with_max_line_length(usize::MAX);
    (transport, reading, writing)
}

/// Forwards lines that are messages, and responds to the others with an error.
async fn read(
    mut input: impl AsyncBufRead + Unpin,
    mut library: DuplexStream,
    errors: mpsc::Sender<String>,
    bytes_max: usize,
) -> io::Result<()> {
    while let Some(line) = next_line(&mut input, bytes_max).await? {
        let fault = match line {
            Line::Whole(bytes) if bytes.trim_ascii().is_empty() => None,
            Line::Whole(bytes) => match fault(&bytes) {
                None => {
                    library.write_all(&bytes).await?;
                    library.write_all(b"\n").await?;
                    None
                }
                fault => fault,
            },
            Line::TooLong => {
                let message = format!("the message is longer than {bytes_max} bytes");
                Some((Value::Null, INVALID_REQUEST, message))
            }
        };
        if let Some((id, code, message)) = fault {
            let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
            if errors.send(format!("{error}\n")).await.is_err() {
                break;
            }
        }
    }
    Ok(())
}

pub(crate) enum Line {
    Whole(Vec<u8>),
    TooLong,
}

/// The next line without its newline; a line that is too long is discarded.
pub(crate) async fn next_line(
    input: &mut (impl AsyncBufRead + Unpin),
    bytes_max: usize,
) -> io::Result<Option<Line>> {
    let (mut line, mut is_too_long, mut has_begun) = (Vec::new(), false, false);
    loop {
        let piece = input.fill_buf().await?;
        if piece.is_empty() && !has_begun {
            return Ok(None);
        }
        has_begun = true;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let kept = piece.get(..end.unwrap_or(piece.len())).unwrap_or_default();
        is_too_long |= line.len().saturating_add(kept.len()) > bytes_max;
        if is_too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(kept);
        }
        let (n_read, is_end) = (end.map_or(piece.len(), |end| end + 1), end.is_some() || piece.is_empty());
        input.consume(n_read);
        if is_end {
            return Ok(Some(if is_too_long { Line::TooLong } else { Line::Whole(line) }));
        }
    }
}

/// What is wrong with a message: the id to respond to, the code and the message.
pub(crate) fn fault(line: &[u8]) -> Option<(Value, i32, String)> {
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => return Some((Value::Null, PARSE_ERROR, format!("the message is not JSON: {error}"))),
    };
    let is_message = message["jsonrpc"] == "2.0"
        && (message["method"].is_string() || !message["result"].is_null() || !message["error"].is_null());
    if is_message {
        return None;
    }
    let id = message.get("id").filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or(Value::Null);
    Some((id, INVALID_REQUEST, "the message is not JSON-RPC 2.0".to_owned()))
}

async fn write(
    mut library: impl AsyncBufRead + Unpin,
    mut errors: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        tokio::select! {
            // If the other branch is taken, the partial line stays in `line`.
            read = library.read_until(b'\n', &mut line) => {
                if read? == 0 {
                    break;
                }
                output.write_all(&line).await?;
                line.clear();
            }
            Some(error) = errors.recv() => output.write_all(error.as_bytes()).await?,
        }
        output.flush().await?;
    }
    while let Ok(error) = errors.try_recv() {
        output.write_all(error.as_bytes()).await?;
    }
    output.flush().await
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// What reaches the library, and what the client receives.
    async fn sent(text: &[u8], bytes_max: usize) -> (String, String) {
        let (library, mut handed_on) = tokio::io::duplex(1 << 20);
        let (errors, mut answered) = mpsc::channel(100);
        read(BufReader::with_capacity(7, text), library, errors, bytes_max).await.unwrap();
        let mut read = String::new();
        handed_on.read_to_string(&mut read).await.unwrap();
        let mut answers = String::new();
        while let Ok(answer) = answered.try_recv() {
            answers += &answer;
        }
        (read, answers)
    }

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

    #[tokio::test]
    async fn messages_are_handed_on_whole_and_the_rest_is_answered() {
        let text = format!("{PING}\r\n\n{{broken\n{{\"id\": \"a\"}}\n[]\n{PING}");
        let (handed_on, answered) = sent(text.as_bytes(), 1000).await;
        assert_eq!(handed_on, format!("{PING}\r\n{PING}\n"));
        expect_test::expect![[r#"
            {"error":{"code":-32700,"message":"the message is not JSON: key must be a string at line 1 column 2"},"id":null,"jsonrpc":"2.0"}
            {"error":{"code":-32600,"message":"the message is not JSON-RPC 2.0"},"id":"a","jsonrpc":"2.0"}
            {"error":{"code":-32600,"message":"the message is not JSON-RPC 2.0"},"id":null,"jsonrpc":"2.0"}
        "#]]
        .assert_eq(&answered);
    }

    #[tokio::test]
    async fn a_message_that_is_too_long_is_answered_and_the_next_is_read() {
        let long = format!("{}\n{PING}\n", "x".repeat(10_000));
        let (handed_on, answered) = sent(long.as_bytes(), 100).await;
        assert_eq!(handed_on, format!("{PING}\n"));
        assert!(answered.contains("the message is longer than 100 bytes"), "{answered}");
        // A line of exactly the maximum length is accepted.
        let (handed_on, answered) = sent(format!("{PING}\n").as_bytes(), PING.len()).await;
        assert_eq!((handed_on, answered), (format!("{PING}\n"), String::new()));
    }
}
