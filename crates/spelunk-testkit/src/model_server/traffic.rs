//! Records traffic for checks by other programs: if `SPELUNK_TRAFFIC` names a folder, every request to a model and its
//! reply are appended there as one line of JSON. `.ci/providers` parses them with the providers' own libraries.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::{Value, json};
use spelunk_types::hex;

use super::book::Recorded;
use crate::dialect::{Dialect, ScriptedReply};

/// The file of this process, if traffic is recorded.
static FILE: LazyLock<Option<Mutex<PathBuf>>> = LazyLock::new(|| {
    #[expect(clippy::disallowed_methods, reason = "whoever starts the tests decides")]
    let folder = std::env::var_os("SPELUNK_TRAFFIC")?;
    let name = format!("{}.jsonl", std::process::id());
    Some(Mutex::new(PathBuf::from(folder).join(name)))
});

/// Records a request with its reply, or without one if the server answers with a fault.
pub(super) fn keep(dialect: Dialect, request: &Recorded, is_streamed: bool, reply: Option<&ScriptedReply>) {
    let Some(file) = FILE.as_ref() else { return };
    let said = reply.map(|spoken| {
        let bytes = if is_streamed {
            let streamed = dialect.streamed(spoken);
            [streamed.head, streamed.pieces, streamed.tail].concat().concat()
        } else {
            dialect.whole(spoken).to_string().into_bytes()
        };
        let calls: Vec<Value> = spoken
            .manner
            .tool_calls
            .iter()
            .map(|call| json!({ "name": call.name, "arguments": call.arguments }))
            .collect();
        json!({
            "content_type": if is_streamed { dialect.stream_type() } else { "application/json" },
            "hex": hex(&bytes),
            "text": spoken.text,
            "tool_calls": calls,
            "stop": spoken.manner.stop,
            "usage": spoken.usage,
        })
    });
    let line = json!({
        "dialect": format!("{dialect:?}"),
        "method": request.method,
        "path": request.path,
        "headers": request.headers,
        "body": request.body,
        "streamed": is_streamed,
        "reply": said,
    });
    let path = file.lock().unwrap_or_else(PoisonError::into_inner);
    let opened = OpenOptions::new().create(true).append(true).open(&*path);
    let written = opened.and_then(|mut opened| writeln!(opened, "{line}"));
    written.expect("the folder of SPELUNK_TRAFFIC can be written");
}
