//! The files of a run, as its projection wrote them beside the journal. Paths of a client are taken part by part, and
//! only below the folder of that run; links are not followed.
#![expect(
    clippy::disallowed_methods,
    reason = "listing and reading files that can be made again at any time"
)]

use std::path::{Path, PathBuf};

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

/// Files of the journal itself, which the events and blobs show.
const OWN: [&str; 2] = ["journal.jsonl", "run.lock"];
const FILES_MAX: usize = 10_000;
const DEPTH_MAX: usize = 8;
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

fn root(server: &Server, id: &str) -> Result<PathBuf, Problem> {
    let found = with_journal(server, id)?;
    let files = DerivedFiles::of_run(&found.workspace, &found.run);
    files.map(|files| files.root().to_owned()).ok_or_else(|| Problem::not_found("the run has no files"))
}

async fn list(State(server): State<Shared>, Part(id): Part<String>, params: Params) -> Answer<Json<Value>> {
    params.finish()?;
    let listed = work(move || {
        let root = root(&server, &id)?;
        let mut files = Vec::new();
        let mut folders = vec![(root.clone(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, kind) = (entry.path(), entry.file_type());
                let is_dir = kind.as_ref().is_ok_and(std::fs::FileType::is_dir);
                if is_dir && depth < DEPTH_MAX {
                    folders.push((path, depth + 1));
                } else if kind.is_ok_and(|kind| kind.is_file()) && files.len() <= FILES_MAX {
                    let bytes = entry.metadata().map_or(0, |file| file.len());
                    files.extend(name(&root, &path).map(|name| (name, bytes)));
                }
            }
        }
        files.retain(|(name, _)| !OWN.contains(&name.as_str()) && !is_staged(name));
        files.sort();
        let is_cut = files.len() > FILES_MAX;
        files.truncate(FILES_MAX);
        let rows = files.into_iter().map(|(path, bytes)| json!({ "path": path, "bytes": bytes }));
        Ok(json!({ "files": rows.collect::<Vec<_>>(), "cut": is_cut }))
    });
    Ok(Json(listed.await?))
}

/// A file on its way into its place.
fn is_staged(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "new")
}

fn name(root: &Path, path: &Path) -> Option<String> {
    let parts = path.strip_prefix(root).ok()?.components();
    let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

async fn read(
    State(server): State<Shared>,
    Part((id, path)): Part<(String, String)>,
    params: Params,
) -> Answer {
    params.finish()?;
    let text = work(move || {
        let unknown = || Problem::not_found("the run has no such file");
        let mut place = root(&server, &id)?;
        let is_good =
            |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', '\0']);
        if OWN.contains(&path.as_str()) || !path.split('/').all(is_good) {
            return Err(unknown());
        }
        for part in path.split('/') {
            place.push(part);
            let kind = place.symlink_metadata().map_err(|_| unknown())?.file_type();
            if kind.is_symlink() {
                return Err(unknown());
            }
        }
        let file = place.metadata().map_err(|_| unknown())?;
        if !file.is_file() {
            return Err(unknown());
        }
        if file.len() > FILE_BYTES_MAX {
            let detail = format!("the file has more than {FILE_BYTES_MAX} bytes");
            let title = "The file is too long.";
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "file-too-large", title, detail));
        }
        let bytes = std::fs::read(&place).map_err(|_| unknown())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    });
    let text = text.await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}
