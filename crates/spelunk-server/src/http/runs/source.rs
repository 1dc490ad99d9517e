//! The source text around a cited line. Serves only documents of the run, only below the roots, and
//! with secrets redacted as they were for the model.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Json;
use serde_json::{Value, json};
use spelunk_app::failure::Failure;
use spelunk_app::runs::read_view;
use spelunk_context::{ReadError, Reader, View};
use spelunk_engine::RunView;
use spelunk_journal::{JournalError, Record, Workspace};
use spelunk_types::{BlobId, EventKind, RunId, ScanOptions, SourceSpec};

use super::super::{Answer, PathQuery, Problem, Route, Server, get, lock, object_of, whole_schema, work};
use super::with_journal;

const CONTEXT: u64 = 10;
const CONTEXT_MAX: u64 = 200;
const LINE_CHARS_MAX: usize = 2_000;
/// Lines are counted only in documents up to this size: counting would take longer than reading the excerpt.
const COUNTED_BYTES_MAX: u64 = 16 << 20;
/// How long a scan is considered fresh.
const FRESH: Duration = Duration::from_secs(10);
const CORPORA_MAX: usize = 8;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/v1/runs/{run}/source", "The text around a line of a source document", read)
            .query_needed("source", json!({ "type": "string" }), "The document, as in citations")
            .query("line", whole_schema(1, u64::from(u32::MAX)), "The line number, starting at 1")
            .query("context", whole_schema(0, CONTEXT_MAX), "Lines before and after it")
            .answers(200, "The lines", object_of(&["source", "first_line", "lines", "changed"], &json!({
                "source": { "type": "string" },
                "first_line": { "type": "integer" },
                "lines": { "type": "array", "items": { "type": "string" } },
                "total_lines": { "type": "integer", "description": "Omitted if counting would take long" },
                "changed": { "type": "boolean", "description": "Whether the sources have changed since the run" },
                "quote": { "type": "string", "description": "Quotes of the run from that line" },
            })))
            .problems(&[404, 409]),
    ]
}

#[derive(Default)]
pub(crate) struct Corpora {
    kept: Mutex<HashMap<RunId, ScannedCorpus>>,
}

#[derive(Clone)]
struct ScannedCorpus {
    view: View,
    is_changed: bool,
    at: Instant,
}

impl Corpora {
    fn of(&self, server: &Server, workspace: &Workspace, run: &RunId) -> Result<ScannedCorpus, Failure> {
        let kept = || lock(&self.kept);
        if let Some(scanned) = kept().get(run).filter(|scanned| scanned.at.elapsed() < FRESH) {
            return Ok(scanned.clone());
        }
        let (sources, scan, digest) = recorded_sources(workspace, run)?;
        let corpus = server.app.engine(scan)?.open_corpus(&sources, &mut |_| {})?;
        let is_changed = *corpus.digest() != digest;
        let scanned = ScannedCorpus { view: View::of(Arc::new(corpus)), is_changed, at: Instant::now() };
        let mut kept = kept();
        if kept.len() >= CORPORA_MAX {
            kept.clear();
        }
        kept.insert(run.clone(), scanned.clone());
        Ok(scanned)
    }
}

/// The sources in the first event, how they were scanned, and the digest of their text.
fn recorded_sources(
    workspace: &Workspace,
    run: &RunId,
) -> Result<(Vec<SourceSpec>, ScanOptions, BlobId), JournalError> {
    let lost = || JournalError::NotFound { name: run.to_string() };
    let first = workspace.read_journal(run)?.into_iter().next().ok_or_else(lost)?;
    let Record::Known(event) = first else { return Err(lost()) };
    let EventKind::RunStarted { sources, scan, corpus_digest, .. } = event.kind else { return Err(lost()) };
    Ok((sources, *scan, corpus_digest))
}

async fn read(PathQuery(server, id, mut params): PathQuery<String>) -> Answer<Json<Value>> {
    let name = params.needed("source")?;
    let line = params.whole("line", 1, u64::from(u32::MAX))?.unwrap_or(1);
    let context = params.whole("context", 0, CONTEXT_MAX)?.unwrap_or(CONTEXT);
    params.finish()?;
    let shown = work(move || {
        let (run, workspace) = with_journal(&server, &id)?;
        let run_view = read_view(&workspace, &run)?;
        server.mcp.require_roots(&run_view)?;
        let scanned = server.corpora.of(&server, &workspace, &run)?;
        let view = &scanned.view;
        let document = view.find(&name).ok_or_else(|| Problem::not_found("the run has no such document"))?;
        let reader = Reader::of_document(view, document).map_err(|error| unreadable(&error))?;
        let first = line.saturating_sub(context).max(1);
        let lines = reader.lines(first..=line.saturating_add(context)).map_err(|mut error| {
            if let ReadError::LineOutOfRange { line: named, .. } = &mut error {
                *named = line;
            }
            unreadable(&error)
        })?;
        let lines: Vec<String> =
            lines.into_iter().map(|line| line.chars().take(LINE_CHARS_MAX).collect()).collect();
        let mut shown = json!({
            "source": name, "first_line": first, "lines": lines, "changed": scanned.is_changed || reader.is_stale(),
        });
        if reader.bytes() <= COUNTED_BYTES_MAX
            && let Ok(n_lines) = reader.n_lines()
        {
            shown["total_lines"] = json!(n_lines);
        }
        if let Some(quote) = quote(&run_view, &name, line) {
            shown["quote"] = json!(quote);
        }
        Ok(shown)
    });
    Ok(Json(shown.await?))
}

fn unreadable(error: &dyn std::error::Error) -> Problem {
    let title = "The document cannot be read.";
    Problem::new(axum::http::StatusCode::CONFLICT, "source-unreadable", title, error.to_string())
}

fn quote(view: &RunView, document: &str, line: u64) -> Option<String> {
    let cited = view.citations.iter().map(|(citation, _)| citation);
    let mut cited = cited.filter(|citation| citation.document == document && citation.line == line);
    cited.next().map(|citation| citation.quote.clone())
}
