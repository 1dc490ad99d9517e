//! The output of a run: result, evidence, reports, the documents and how much of each was read, the files of
//! its projection, and its long texts. Paths from clients are resolved segment by segment, only below the
//! run's folder; links are not followed. Only long texts that the run's journal references are served: all
//! runs of a workspace share them, and knowing an id gives no right to read.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse as _;
use serde_json::{Value, json};
use spelunk_app::render::answer::result_json;
use spelunk_app::render::viewer;
use spelunk_app::reports::{Format, render_report};
use spelunk_app::result_details::Evidence;
use spelunk_app::runs::{read_view, recorded_result};
use spelunk_journal::{Blobs, DerivedFiles, JournalError, JournalTail, Record, Workspace, blobs_of};
use spelunk_types::{BlobId, RunId, RunOutcome};

use super::super::{
    Answer, PathOnly, PathQuery, Problem, Route, Server, get, list_of, lock, object_of, sent, work,
};
use super::{FoundRun, find, word};

pub(super) fn routes() -> Vec<Route> {
    let (text, object) = (json!({ "type": "string" }), json!({ "type": "object" }));
    let evidence_schema = object_of(
        &["citations", "facts"],
        &json!({ "citations": list_of(&object), "facts": list_of(&object) }),
    );
    let routes = [
        get("/v1/runs/{run}/result", "The result of a run, as `spelunk ask --json` prints it", result)
            .answers(200, "The result", json!({ "$ref": "#/components/schemas/Result" })),
        get(
            "/v1/runs/{run}/evidence",
            "Every checked citation with its result, and the facts that an agent recorded",
            evidence,
        )
        .answers(200, "The evidence", evidence_schema),
        get("/v1/runs/{run}/report", "The report of a run", report)
            .query("format", json!({ "enum": Format::WORDS, "default": "json" }), "The format")
            .answers_as(200, "The report", "application/json", object.clone())
            .answers_as(200, "The report", "text/markdown", text.clone())
            .answers_as(200, "The report", "text/html", text.clone())
            .answers_as(200, "The report", "application/sarif+json", object),
        get("/v1/runs/{run}/plan", "The documents of a run, with the progress of each", plan).answers(
            200,
            "The documents",
            rows_schema(
                "documents",
                &json!({
                    "path": { "type": "string" },
                    "bytes": { "type": "integer" },
                    "type": { "type": "string" },
                    "tasks": { "type": "integer", "description": "Assigned tasks" },
                    "state": { "enum": ["none", "waiting", "open", "done", "recalled", "failed"] },
                }),
            ),
        ),
        get("/v1/runs/{run}/files", "List the files of a run", list_files).answers(
            200,
            "Their paths and sizes",
            rows_schema(
                "files",
                &json!({
                    "path": { "type": "string" }, "bytes": { "type": "integer" },
                }),
            ),
        ),
        get("/v1/runs/{run}/files/{*path}", "One file of a run", read_file)
            .answers_as(200, "The file, as text", "text/plain", text.clone())
            .problems(&[413]),
        get("/v1/runs/{run}/blobs/{digest}", "A long text that the run refers to", read_blob)
            .answers_as(200, "The text", "text/plain", text)
            .answers_nothing(304, "Not modified"),
    ];
    routes.into_iter().map(|route| route.problems(&[404, 409])).collect()
}

/// A list of objects with these properties, which may be cut.
fn rows_schema(name: &str, properties: &Value) -> Value {
    let rows = list_of(&json!({ "type": "object", "properties": properties }));
    let cut = json!({ "type": "boolean", "description": "Whether there are more" });
    object_of(&[name, "cut"], &json!({ name: rows, "cut": cut }))
}

/// If the run has no journal yet, the error says to wait. Blocking.
pub(super) fn with_journal(server: &Server, id: &str) -> Result<(RunId, Workspace), Problem> {
    let FoundRun { run, workspace, .. } = find(server, id)?;
    if let Some(workspace) = workspace {
        return Ok((run, workspace));
    }
    let detail = format!("run `{}` has not started: {}", run.short(), word(server, &run)?);
    let problem = Problem::new(StatusCode::CONFLICT, "run-not-begun", "The run has not started.", detail);
    Err(problem.hint("follow its events, or try again later"))
}

async fn result(PathOnly(server, id): PathOnly<String>) -> Answer<Json<Value>> {
    work(move || {
        let (run, workspace) = with_journal(&server, &id)?;
        let view = read_view(&workspace, &run)?;
        if view.outcome.is_none() || server.runs.find(&run).is_some() {
            let detail = format!("run `{}` has not ended", run.short());
            let problem =
                Problem::new(StatusCode::CONFLICT, "run-not-ended", "The run has not ended.", detail);
            return Err(problem.hint("follow its events, or resume it if it was interrupted"));
        }
        let result = recorded_result(&workspace, run, &view)?;
        let mut data = result_json(&result, &view, &workspace.blobs());
        if let Some(RunOutcome::Failed { code, message }) = &view.outcome {
            data["error"] = json!({ "code": code, "message": message, "causes": [], "hint": code.hint() });
        }
        Ok(Json(data))
    })
    .await
}

async fn evidence(PathOnly(server, id): PathOnly<String>) -> Answer<Json<Value>> {
    work(move || {
        let (run, workspace) = with_journal(&server, &id)?;
        let view = read_view(&workspace, &run)?;
        let citations = view.citations.iter().map(|(citation, outcome)| {
            let mut row = json!(citation);
            row["found"] = json!(outcome);
            row
        });
        let rows = Evidence::of(&view, &[], &workspace.blobs())?;
        let facts = rows.iter().filter(|row| matches!(row, Evidence::Fact { .. })).map(Evidence::json);
        let (citations, facts): (Vec<Value>, Vec<Value>) = (citations.collect(), facts.collect());
        Ok(Json(json!({ "run": run, "citations": citations, "facts": facts })))
    })
    .await
}

async fn report(PathQuery(server, id, mut params): PathQuery<String>) -> Answer {
    let word = params.text("format").unwrap_or_else(|| "json".to_owned());
    params.finish()?;
    let wrong = || Problem::bad_parameter("format", &format!("must be one of {}", Format::WORDS.join(", ")));
    let format = Format::of(&word).ok_or_else(wrong)?;
    let text = work(move || {
        let (run, workspace) = with_journal(&server, &id)?;
        // A report reads the source lines again.
        server.mcp.require_roots(&read_view(&workspace, &run)?)?;
        Ok(render_report(&server.app, &workspace, &run, format)?)
    });
    let text = text.await?;
    let kind = match format {
        Format::Markdown => "text/markdown; charset=utf-8",
        Format::Html => "text/html; charset=utf-8",
        Format::Sarif => "application/sarif+json",
        Format::Json => "application/json",
    };
    // A report page has inline styles and no scripts.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";
    let headers = [(header::CONTENT_TYPE, kind), (header::CONTENT_SECURITY_POLICY, policy)];
    Ok((headers, text).into_response())
}

async fn plan(PathOnly(server, id): PathOnly<String>) -> Answer<Json<Value>> {
    work(move || {
        let (run, workspace) = with_journal(&server, &id)?;
        Ok(Json(viewer::plan(&workspace, &run, &server.app.settings.detector())?))
    })
    .await
}

/// The journal's own files, which are served as events and blobs.
const OWN_FILES: [&str; 2] = ["journal.jsonl", "run.lock"];
const FILES_MAX: usize = 10_000;
/// The prefix of files that are not complete yet.
const STAGED: &str = ".staged-";
const FILE_BYTES_MAX: u64 = 64 << 20;

fn files_of(server: &Server, id: &str) -> Result<DerivedFiles, Problem> {
    let (run, workspace) = with_journal(server, id)?;
    DerivedFiles::of_run(&workspace, &run).ok_or_else(|| Problem::not_found("the run has no files"))
}

async fn list_files(PathOnly(server, id): PathOnly<String>) -> Answer<Json<Value>> {
    work(move || {
        let files = files_of(&server, &id)?;
        let (dir, folder) = files.place();
        let unread = |error: std::io::Error| Problem::not_found(format!("could not list the files: {error}"));
        let mut rows = Vec::new();
        for (name, file) in dir.files_below(folder).map_err(unread)? {
            let name = name.strip_prefix(folder).and_then(|name| name.strip_prefix('/')).unwrap_or(&name);
            if !OWN_FILES.contains(&name) && !name.starts_with(STAGED) {
                rows.push(json!({ "path": name, "bytes": file.len }));
            }
        }
        let is_cut = rows.len() > FILES_MAX;
        rows.truncate(FILES_MAX);
        Ok(Json(json!({ "files": rows, "cut": is_cut })))
    })
    .await
}

async fn read_file(PathOnly(server, (id, path)): PathOnly<(String, String)>) -> Answer {
    work(move || {
        let unknown = || Problem::not_found("the run has no such file");
        let files = files_of(&server, &id)?;
        if OWN_FILES.contains(&path.as_str()) || path.is_empty() {
            return Err(unknown());
        }
        let (dir, folder) = files.place();
        // A path that leads outside or through a link is not a file of the run.
        let mut file = dir.open(&format!("{folder}/{path}")).map_err(|_| unknown())?;
        let bytes = file.metadata().map_err(|_| unknown())?.len();
        if bytes > FILE_BYTES_MAX {
            let detail = format!("the file has more than {FILE_BYTES_MAX} bytes");
            let title = "The file is too large.";
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "file-too-large", title, detail));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|_| unknown())?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
    })
    .await
}

const NAMED_RUNS_MAX: usize = 32;

pub(crate) struct RunBlobs {
    tail: JournalTail,
    blobs: HashSet<BlobId>,
    /// Caches where the prompts are.
    texts: Blobs,
}

#[derive(Default)]
pub(crate) struct NamedBlobs {
    kept: Mutex<HashMap<RunId, Arc<Mutex<RunBlobs>>>>,
}

impl NamedBlobs {
    /// Where to read the text, if the run references it.
    fn naming(
        &self,
        workspace: &Workspace,
        run: &RunId,
        blob: &BlobId,
    ) -> Result<Option<Blobs>, JournalError> {
        let named = {
            let mut kept = lock(&self.kept);
            if kept.len() >= NAMED_RUNS_MAX && !kept.contains_key(run) {
                kept.clear();
            }
            match kept.get(run) {
                Some(named) => Arc::clone(named),
                None => {
                    let tail = JournalTail::open(workspace, run)?;
                    let (blobs, texts) = (HashSet::new(), workspace.blobs_of(run));
                    let named = Arc::new(Mutex::new(RunBlobs { tail, blobs, texts }));
                    kept.insert(run.clone(), Arc::clone(&named));
                    named
                }
            }
        };
        let mut named = lock(&named);
        if !named.blobs.contains(blob) {
            for record in named.tail.read_new()? {
                if let Record::Known(event) = record {
                    let found = blobs_of(&named.texts, &event);
                    named.blobs.extend(found);
                }
            }
        }
        Ok(named.blobs.contains(blob).then(|| named.texts.clone()))
    }

    pub(super) fn forget(&self, run: &RunId) {
        lock(&self.kept).remove(run);
    }
}

async fn read_blob(PathOnly(server, (id, name)): PathOnly<(String, String)>, headers: HeaderMap) -> Answer {
    let unknown = || Problem::not_found("the run refers to no such text");
    let blob: BlobId = name.parse().map_err(|_| unknown())?;
    work(move || {
        let (run, workspace) = with_journal(&server, &id)?;
        let texts = server.named_blobs.naming(&workspace, &run, &blob)?;
        let bytes = texts.ok_or_else(unknown)?.get(&blob)?;
        let (tag, text) = (format!("\"{blob}\""), String::from_utf8_lossy(&bytes).into_owned());
        let cache = "private, max-age=31536000, immutable";
        Ok(sent(&headers, &tag, "text/plain; charset=utf-8", cache, text))
    })
    .await
}
