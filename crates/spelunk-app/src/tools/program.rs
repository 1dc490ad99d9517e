//! A program as a tool: it is started for each call, reads its arguments from standard input and
//! writes its result to standard output, both as JSON. A result that is not JSON is taken as text.

use std::process::Stdio;
use std::sync::Arc;

use serde_json::Value;
use spelunk_engine::{ToolError, ToolFn};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use super::Complaints;
use crate::config::ToolCommand;
use crate::env::Environment;

const OUTPUT_BYTES_MAX: u64 = 4_000_000;
const COMPLAINT_BYTES_MAX: u64 = 2_000;

pub(super) fn calls(command: ToolCommand, environment: Environment, complaints: Complaints) -> ToolFn {
    let shared = Arc::new((command, environment));
    Arc::new(move |arguments| {
        let shared = Arc::clone(&shared);
        Box::pin(async move { call(&shared.0, &shared.1, complaints, &arguments).await })
    })
}

async fn call(
    command: &ToolCommand,
    environment: &Environment,
    complaints: Complaints,
    arguments: &Value,
) -> Result<Value, ToolError> {
    let mut process = super::command(command, environment, complaints);
    let mut child = process
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| ToolError::Failed(format!("could not start `{}`: {error}", command.program)))?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let input = arguments.to_string();
    let writing = async {
        if let Some(mut stdin) = stdin {
            // A program need not read its arguments.
            drop(stdin.write_all(input.as_bytes()).await);
        }
    };
    let ((), output, complaint) = tokio::join!(
        writing,
        read(stdout, OUTPUT_BYTES_MAX, Rest::Refused),
        read(stderr, COMPLAINT_BYTES_MAX, Rest::Dropped)
    );
    let output = output?;
    let status = child.wait().await.map_err(|error| ToolError::Unknown(error.to_string()))?;
    let output = String::from_utf8_lossy(&output);
    match status.code() {
        Some(0) => Ok(serde_json::from_str(&output)
            .unwrap_or_else(|_| Value::String(output.trim_end_matches('\n').to_owned()))),
        Some(code) => {
            let complaint = complaint.unwrap_or_default();
            let complaint = String::from_utf8_lossy(&complaint);
            Err(ToolError::Failed(format!("exit status {code}: {}", complaint.trim())))
        }
        None => Err(ToolError::Unknown(format!("it was killed: {status}"))),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Dropped,
    Refused,
}

async fn read(
    from: Option<impl AsyncRead + Unpin>,
    bytes_max: u64,
    rest: Rest,
) -> Result<Vec<u8>, ToolError> {
    let unreadable = |error: std::io::Error| ToolError::Unknown(error.to_string());
    let Some(mut from) = from else { return Ok(Vec::new()) };
    let mut bytes = Vec::new();
    (&mut from).take(bytes_max).read_to_end(&mut bytes).await.map_err(unreadable)?;
    let mut more = from.take(if rest == Rest::Refused { 1 } else { u64::MAX });
    let n_more = tokio::io::copy(&mut more, &mut tokio::io::sink()).await.map_err(unreadable)?;
    if n_more > 0 && rest == Rest::Refused {
        return Err(ToolError::Unknown(format!("it wrote more than {bytes_max} bytes")));
    }
    Ok(bytes)
}
