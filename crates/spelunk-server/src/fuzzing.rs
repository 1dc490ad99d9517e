//! Private parsers of untrusted input, exposed for the fuzz targets only; not part of the API.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Uri, header};
use futures_util::stream;
use serde_json::Value;
use spelunk_app::arguments::Arguments;
use spelunk_app::asking::QuestionInput;
use spelunk_app::config::{load_without_files, rewrite};
use spelunk_app::env::Environment;
use spelunk_app::error_text::error_json;
pub use spelunk_app::s3::read_listing;
use tokio::io::BufReader;

use crate::http::{Params, Problem, name_of, receive_form};
use crate::mcp::{Line, Material, fault, next_line};

/// Parses a settings file and writes it back, or returns why it is rejected.
pub fn settings(text: &str, is_project: bool) -> Result<String, String> {
    rewrite(text, is_project)
        .map_err(|error| error_json(&error)["message"].as_str().unwrap_or_default().to_owned())
}

/// The name in a `Host` header.
pub fn host_name(host: &str) -> Option<&str> {
    name_of(host)
}

/// The parameter `name` of a URL, or why the query cannot be parsed.
pub fn parameter(address: &str, name: &'static str) -> Result<Option<String>, String> {
    let uri: Uri = address.parse().map_err(|_| "it is no address".to_owned())?;
    let mut params = Params::of(&uri).map_err(|problem| detail(&problem))?;
    let text = params.text(name);
    params.finish().map_err(|problem| detail(&problem))?;
    Ok(text)
}

/// The `request` field, and the names and contents of the files.
pub type Form = (Value, Vec<(String, Vec<u8>)>);

/// Parses a form that arrives in these pieces.
pub fn form(boundary: &str, pieces: &[&[u8]]) -> Result<Form, String> {
    let settings = load_without_files(&Environment::default(), &[]).map_err(|error| error.to_string())?;
    let pieces: Vec<Result<Vec<u8>, Infallible>> = pieces.iter().map(|piece| Ok(piece.to_vec())).collect();
    let request = Request::builder()
        .header(header::CONTENT_TYPE, format!("multipart/form-data; boundary={boundary}"))
        .body(Body::from_stream(stream::iter(pieces)))
        .map_err(|error| error.to_string())?;
    let sent = block_on(receive_form(request, &settings.server)).map_err(|problem| detail(&problem))?;
    Ok((sent.request, sent.files.into_iter().map(|file| (file.name, file.bytes)).collect()))
}

/// The protocol lines, read in pieces of this size; `None` for a line that is too long.
pub fn mcp_lines(bytes: &[u8], piece_bytes: usize, line_bytes_max: usize) -> Vec<Option<Vec<u8>>> {
    let mut input = BufReader::with_capacity(piece_bytes, bytes);
    block_on(async {
        let mut lines = Vec::new();
        while let Ok(Some(line)) = next_line(&mut input, line_bytes_max).await {
            lines.push(match line {
                Line::Whole(line) => Some(line),
                Line::TooLong => None,
            });
        }
        lines
    })
}

/// What is wrong with a message: the id to respond to, the code and the message.
pub fn mcp_fault(line: &[u8]) -> Option<(Value, i32, String)> {
    fault(line)
}

/// The question in the arguments of a tool, or why they are rejected.
pub fn asked(arguments: &Value) -> Result<String, String> {
    let mut arguments = Arguments::new(arguments.as_object().cloned());
    let asked = QuestionInput::read(&mut arguments, Vec::new()).map_err(|usage| usage.message)?;
    Material::of(&mut arguments).map_err(|usage| usage.message)?;
    arguments.finish().map_err(|usage| usage.message)?;
    Ok(asked.question)
}

fn detail(problem: &Problem) -> String {
    problem.json()["detail"].as_str().unwrap_or_default().to_owned()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime without threads and sockets is only memory").block_on(work)
}
