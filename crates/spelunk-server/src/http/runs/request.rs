//! The body of `POST /v1/runs`: validated before the run is accepted, and parsed again when it starts.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::{StatusCode, header};
use futures_util::Stream;
use serde_json::{Map, Value, json};
use spelunk_app::arguments::{Arguments, wrong};
use spelunk_app::asking::{
    ATTACHED_BYTES_MAX, QuestionInput, SYSTEM_CHARS_MAX, attachments_schema, messages_schema,
    redact_attachment,
};
use spelunk_app::config::{ServerSettings, StrategyChoice};
use spelunk_app::failure::Failure;
use spelunk_context::{ScanOptions, SourceInput, given_text, redact};
use spelunk_engine::{CallerTurn, Conversation};
use spelunk_types::Focus;
use tokio::time::{Instant, timeout, timeout_at};

use super::super::{JsonBody, Problem, Shared, malformed, whole_schema};
use super::SEQ_MAX;
use crate::mcp::{LIMITS, Manner, Material, Query, or_null, read_limits};

/// The field for a caller's own conversation. Only the compatible endpoints write it.
pub(crate) const TURN: &str = "turn";
/// The tools that a request may use, among those that the server's settings enable.
const TOOLS: &str = "tools";
const TOOLS_MAX: usize = 128;
const FILES_MAX: usize = 100;
const NAME_CHARS_MAX: usize = 200;
const HEAD_BYTES_MAX: u64 = 64 << 10;
/// How many times longer an upload may take than another request.
const UPLOAD_PATIENCE: u32 = 20;

pub(super) fn read_query(
    server: &Shared,
    request: &Value,
    uploads: Vec<SourceInput>,
) -> Result<Query, Failure> {
    let mut arguments = Arguments::new(request.as_object().cloned());
    let QuestionInput { question, attachments: mut given } = QuestionInput::read(&mut arguments, uploads)?;
    let material = Material::of(&mut arguments)?;
    // The size of the whole body is already limited.
    if let Some(text) = arguments.text("text", usize::MAX)? {
        given.insert(0, SourceInput::Text { name: "text".into(), bytes: text.into_bytes() });
    }
    let manner = Manner::of(&server.mcp, &mut arguments)?;
    let limits = read_limits(&server.mcp, &mut arguments)?;
    let turn = arguments.object(TURN)?.map(|turn| Value::Object(turn).to_string());
    let turn =
        turn.map(|turn| CallerTurn::of_json(&turn).ok_or_else(|| wrong(TURN, "is not valid"))).transpose()?;
    let mut tools = server.app.run_tools().with_consent(server.runs.consents.asking());
    let is_chosen = arguments.has(TOOLS);
    let names = arguments.texts(TOOLS, TOOLS_MAX, NAME_CHARS_MAX)?;
    if is_chosen {
        tools = tools
            .only(&names)
            .map_err(|name| wrong(TOOLS, &format!("names `{name}`, which this server does not offer")))?;
    }
    arguments.finish()?;
    Ok(Query { question, material: material.with(given), manner, limits, turn, tools })
}

pub(crate) struct ReceivedRequest {
    pub(crate) request: Value,
    pub(crate) files: Vec<UploadedFile>,
}

impl ReceivedRequest {
    /// The request as it may be stored on disk while the run is queued.
    pub(super) fn without_secrets(self) -> Self {
        let of = |UploadedFile { name, bytes }: UploadedFile| {
            let bytes = given_text(&name, &bytes, &ScanOptions::default()).into_owned();
            UploadedFile { name, bytes }
        };
        let files = self.files.into_iter().map(of).collect();
        Self { request: request_without_secrets(self.request), files }
    }
}

/// Redacts the secrets in all texts of the request. Over HTTP, secrets are never allowed.
pub(super) fn request_without_secrets(mut request: Value) -> Value {
    for attachment in request.get_mut("attachments").and_then(Value::as_array_mut).into_iter().flatten() {
        redact_attachment(attachment);
    }
    let mut left = vec![&mut request];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = redact(text).0 {
                    *text = redacted;
                }
            }
            Value::Array(values) => left.extend(values),
            Value::Object(members) => left.extend(members.values_mut()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    request
}

pub(crate) struct UploadedFile {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

pub(super) async fn receive(request: Request, server: &Shared) -> Result<ReceivedRequest, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_form = kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("multipart/form-data"));
    if !is_form {
        let JsonBody(request) = JsonBody::from_request(request, server).await?;
        return Ok(ReceivedRequest { request, files: Vec::new() });
    }
    let patience = Duration::from_millis(server.app.settings.server.request_ms_max);
    // Uploads are held in memory while they arrive, a few at a time.
    let place = timeout(patience, server.runs.uploads.acquire()).await;
    let Ok(Ok(_place)) = place else {
        let detail = "other uploads are in progress";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return Err(Problem::new(status, "uploads-busy", "The server is busy.", detail).hint("try again"));
    };
    let deadline = Instant::now() + patience * UPLOAD_PATIENCE;
    let read = receive_form(request, &server.app.settings.server);
    timeout_at(deadline, read).await.unwrap_or_else(|_| Err(Problem::too_slow()))
}

/// A body that fails if a part has no end: the form parser would buffer it and rescan all of it
/// with each piece.
struct Paced {
    pieces: BodyDataStream,
    is_paused: bool,
    /// Bytes since the last part, or the last piece of a part.
    idle_bytes: Arc<AtomicU64>,
}

impl Stream for Paced {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.is_paused) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let polled = Pin::new(&mut self.pieces).poll_next(context);
        if let Poll::Ready(Some(Ok(piece))) = &polled {
            self.is_paused = true;
            let idle_bytes = self.idle_bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
            if idle_bytes > HEAD_BYTES_MAX {
                let endless =
                    std::io::Error::new(std::io::ErrorKind::InvalidData, "a part has no beginning or no end");
                return Poll::Ready(Some(Err(axum::Error::new(endless))));
            }
        }
        polled
    }
}

pub(crate) async fn receive_form(
    request: Request,
    settings: &ServerSettings,
) -> Result<ReceivedRequest, Problem> {
    let idle_bytes = Arc::new(AtomicU64::new(0));
    let request = request.map(|body| {
        let idle_bytes = Arc::clone(&idle_bytes);
        Body::from_stream(Paced { pieces: body.into_data_stream(), is_paused: false, idle_bytes })
    });
    let mut form =
        Multipart::from_request(request, &()).await.map_err(|error| bad_form(&error.body_text()))?;
    let mut sent = ReceivedRequest { request: Value::Null, files: Vec::new() };
    let mut room = settings.upload_bytes_max;
    let patience = Duration::from_millis(settings.request_ms_max);
    loop {
        let next = timeout(patience, form.next_field()).await.map_err(|_| Problem::too_slow())?;
        let Some(mut field) = next.map_err(|error| bad_form(&error.body_text()))? else { break };
        let (part, name) =
            (field.name().unwrap_or_default().to_owned(), field.file_name().map(str::to_owned));
        let mut bytes = Vec::new();
        loop {
            let piece = timeout(patience, field.chunk()).await.map_err(|_| Problem::too_slow())?;
            let Some(piece) = piece.map_err(|error| bad_form(&error.body_text()))? else { break };
            let too_large = || Problem::too_large(settings.upload_bytes_max);
            room = room.checked_sub(piece.len() as u64).ok_or_else(too_large)?;
            bytes.extend_from_slice(&piece);
            idle_bytes.store(0, Ordering::Relaxed);
        }
        idle_bytes.store(0, Ordering::Relaxed);
        match part.as_str() {
            "request" if sent.request.is_null() => {
                sent.request =
                    serde_json::from_slice(&bytes).map_err(|error| malformed(&error.to_string()))?;
            }
            "file" if sent.files.len() < FILES_MAX => {
                let name = file_name(name.as_deref(), sent.files.len())?;
                sent.files.push(UploadedFile { name, bytes });
            }
            "attachment" if sent.files.len() < FILES_MAX => {
                if bytes.len() as u64 > ATTACHED_BYTES_MAX {
                    return Err(Problem::too_large(ATTACHED_BYTES_MAX));
                }
                let name = attachment_name(name.as_deref().unwrap_or_default(), &sent.files);
                sent.files.push(UploadedFile { name, bytes });
            }
            "file" | "attachment" => {
                return Err(bad_form(&format!("there are more than {FILES_MAX} files")));
            }
            "request" => return Err(bad_form("there are two parts `request`")),
            _ => return Err(bad_form("a part is neither `request`, `file` nor `attachment`")),
        }
    }
    if sent.request.is_null() {
        return Err(bad_form("there is no part `request`"));
    }
    Ok(sent)
}

fn bad_form(what: &str) -> Problem {
    let title = "The form is invalid.";
    Problem::new(StatusCode::BAD_REQUEST, "multipart-malformed", title, what)
        .hint("send a JSON part `request`, and parts `file` and `attachment`")
}

/// The name under which a file is cited. It is never a path on this machine and does not look like one.
fn file_name(sent: Option<&str>, idx: usize) -> Result<String, Problem> {
    let name = sent.unwrap_or_default().replace('\\', "/");
    let is_bad = name.chars().any(char::is_control)
        || name.chars().count() > NAME_CHARS_MAX
        || name.starts_with('/')
        || name.split('/').any(|part| part == ".." || part == ".");
    if is_bad {
        return Err(bad_form("a file name is too long or points outside its folder"));
    }
    Ok(if name.is_empty() { format!("file-{}", idx + 1) } else { name })
}

fn attachment_name(sent: &str, files: &[UploadedFile]) -> String {
    let taken = files.iter().filter_map(|file| file.name.strip_prefix("attachments/")).map(str::to_owned);
    Conversation::attachment(sent, &taken.collect()).0
}

pub(super) fn schema() -> Value {
    let texts = |about: &str, n_max: usize| {
        let text = json!({ "type": "string", "minLength": 1 });
        json!({ "type": "array", "items": text, "maxItems": n_max, "description": about })
    };
    let globs = |about: &str| json!({ "type": "array", "items": { "type": "string" }, "maxItems": 50, "description": about });
    let properties = json!({
        "question": question_schema(),
        "messages": messages_schema(),
        "system": { "type": "string", "maxLength": SYSTEM_CHARS_MAX, "description": "The system message, with `messages`" },
        "attachments": attached_schema(),
        "paths": texts("Files and directories below the roots of the server", 100),
        "contexts": texts("Ids of registered contexts", 100),
        "text": { "type": "string", "description": "Text to answer from, cited as `text`" },
        "strategy": { "enum": StrategyChoice::WORDS },
        "focus": { "enum": Focus::ALL.map(Focus::name) },
        "schema": { "type": "object", "description": "The JSON Schema of the answer" },
        "limits": limits_schema(),
        "tools": texts("Only these of the tools that the server enables (`ask.tools`), by tool or source; default all", TOOLS_MAX),
        "include": globs("Only files that match one of these globs"),
        "exclude": globs("No files that match one of these globs"),
        "types": globs("Content types of files, such as `*.inc=source_code`"),
    });
    let members = properties.as_object().cloned().unwrap_or_default();
    let properties: Map<String, Value> =
        members.into_iter().map(|(name, schema)| (name, or_null(schema))).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "allOf": [{ "anyOf": [{ "required": ["question"] }, { "required": ["messages"] }] }],
        "properties": properties,
    })
}

fn attached_schema() -> Value {
    let mut schema = attachments_schema();
    let entry = &mut schema["items"];
    entry["anyOf"] = entry["oneOf"].take();
    if let Some(entry) = entry.as_object_mut() {
        entry.remove("oneOf");
    }
    for name in ["text", "base64"] {
        schema["items"]["properties"][name] = or_null(schema["items"]["properties"][name].take());
    }
    schema
}

pub(super) fn question_schema() -> Value {
    json!({ "type": "string", "minLength": 1, "pattern": "\\S" })
}

/// Limits that a request may lower.
pub(super) fn limits_schema() -> Value {
    let whole = whole_schema(0, SEQ_MAX);
    let properties: Map<String, Value> =
        LIMITS.iter().map(|name| ((*name).to_owned(), whole.clone())).collect();
    let about = "Limits below the server's; higher values have no effect";
    json!({ "type": "object", "additionalProperties": false, "properties": properties, "description": about })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_attachments_are_made_harmless_and_unlike() {
        let mut files: Vec<UploadedFile> = Vec::new();
        for sent in ["../../etc/passwd", "PASSWD", "", "a\0b\n", "\\\\host\\x"] {
            let name = attachment_name(sent, &files);
            files.push(UploadedFile { name, bytes: Vec::new() });
        }
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let expected =
            ["passwd", "PASSWD-2", "attachment", "ab", "x"].map(|name| format!("attachments/{name}"));
        assert_eq!(names, expected);
    }

    #[test]
    fn names_of_files_lead_nowhere() {
        let names =
            [Some("a.txt"), Some("dir\\b.txt"), None, Some("")].map(|name| file_name(name, 0).unwrap());
        assert_eq!(names, ["a.txt", "dir/b.txt", "file-1", "file-1"]);
        for bad in ["../a", "a/../../b", "/etc/passwd", "\\\\host\\x", "a\0b", "a\nb", "./a"] {
            assert!(file_name(Some(bad), 0).is_err(), "{bad}");
        }
    }
}
