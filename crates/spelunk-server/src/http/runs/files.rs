//! The files of a run, as its projection wrote them next to the journal. Paths from clients are resolved segment by
//! segment, only below that run's folder; links are not followed.

use std::io::Read as _;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use serde_json::{Value, json};
use spelunk_journal::DerivedFiles;

use super::super::extract::{Params, Part};
use super::super::problem::{Answer, Problem, work};
use super::super::route::{Route, get};
use super::super::{Server, Shared};
use super::results::with_journal;

/// Files of the journal itself, which are served as events and blobs.
const OWN: [&str; 2] = ["journal.jsonl", "run.lock"];
const FILES_MAX: usize = 10_000;
/// The prefix of a file that is not complete yet.
const STAGED: &str = ".staged-";
const FILE_BYTES_MAX: u64 = 64 << 20;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/v1/runs/{id}/files", "The files of a run", list)
            .answers(
                200,
                "Their paths and sizes",
                json!({
                    "type": "object",
                    "required": ["files", "cut"],
                    "properties": {
                        "files": { "type": "array", "items": {
                            "type": "object",
                            "properties": { "path": { "type": "string" }, "bytes": { "type": "integer" } },
                        } },
                        "cut": { "type": "boolean", "description": "Whether there are more" },
                    },
                }),
            )
            .problems(&[404, 409]),
        get("/v1/runs/{id}/files/{*path}", "One file of a run", read)
            .answers_as(200, "The file, as text", "text/plain", json!({ "type": "string" }))
            .problems(&[404, 409, 413]),
    ]
}

fn files_of(server: &Server, id: &str) -> Result<DerivedFiles, Problem> {
    let found = with_journal(server, id)?;
    let files = DerivedFiles::of_run(&found.workspace, &found.run);
    files.ok_or_else(|| Problem::not_found("the run has no files"))
}

async fn list(State(server): State<Shared>, Part(id): Part<String>, params: Params) -> Answer<Json<Value>> {
    params.finish()?;
    let listed = work(move || {
        let files = files_of(&server, &id)?;
        let (dir, folder) = files.place();
        let unread =
            |error: std::io::Error| Problem::not_found(format!("the files cannot be listed: {error}"));
        let mut rows = Vec::new();
        for (name, file) in dir.files_below(folder).map_err(unread)? {
            let name = name.strip_prefix(folder).and_then(|name| name.strip_prefix('/')).unwrap_or(&name);
            if !OWN.contains(&name) && !name.starts_with(STAGED) {
                rows.push(json!({ "path": name, "bytes": file.len }));
            }
        }
        let is_cut = rows.len() > FILES_MAX;
        rows.truncate(FILES_MAX);
        Ok(json!({ "files": rows, "cut": is_cut }))
    });
    Ok(Json(listed.await?))
}

async fn read(
    State(server): State<Shared>,
    Part((id, path)): Part<(String, String)>,
    params: Params,
) -> Answer {
    params.finish()?;
    let text = work(move || {
        let unknown = || Problem::not_found("the run has no such file");
        let files = files_of(&server, &id)?;
        if OWN.contains(&path.as_str()) || path.is_empty() {
            return Err(unknown());
        }
        let (dir, folder) = files.place();
        // A path that leads outside, or contains a link, is not a file of the run.
        let mut file = dir.open(&format!("{folder}/{path}")).map_err(|_| unknown())?;
        let bytes = file.metadata().map_err(|_| unknown())?.len();
        if bytes > FILE_BYTES_MAX {
            let detail = format!("the file has more than {FILE_BYTES_MAX} bytes");
            let title = "The file is too long.";
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "file-too-large", title, detail));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|_| unknown())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    });
    let text = text.await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}
