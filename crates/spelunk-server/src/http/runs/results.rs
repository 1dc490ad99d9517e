//! The output of a run: result, evidence, reports.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use serde_json::{Value, json};
use spelunk_app::render::answer::result_json;
use spelunk_app::reports::{Format, render_report};
use spelunk_app::result_details::Evidence;
use spelunk_app::runs::{read_view, recorded_result};
use spelunk_journal::Workspace;
use spelunk_types::{RunId, RunOutcome};

use super::super::extract::{Params, Part};
use super::super::problem::{Answer, Problem, work};
use super::super::route::{Route, get};
use super::super::{Server, Shared};
use super::find::{Found, find, word};

pub(super) fn routes() -> Vec<Route> {
    let text = json!({ "type": "string" });
    vec![
        get("/v1/runs/{id}/result", "What came of a run: what `spelunk ask --json` prints", result)
            .answers(200, "The result", json!({ "$ref": "#/components/schemas/Result" }))
            .problems(&[404, 409]),
        get(
            "/v1/runs/{id}/evidence",
            "Every citation that was looked up, what the look said, and the facts that an agent kept",
            evidence,
        )
        .answers(
            200,
            "The evidence",
            json!({
                "type": "object",
                "required": ["citations", "facts"],
                "properties": {
                    "citations": { "type": "array", "items": { "type": "object" } },
                    "facts": { "type": "array", "items": { "type": "object" } },
                },
            }),
        )
        .problems(&[404, 409]),
        get("/v1/runs/{id}/report", "The report of a run", report)
            .query("format", json!({ "enum": Format::WORDS, "default": "json" }), "How it is written")
            .answers_as(200, "The report", "application/json", json!({ "type": "object" }))
            .answers_as(200, "The report", "text/markdown", text.clone())
            .answers_as(200, "The report", "text/html", text)
            .answers_as(200, "The report", "application/sarif+json", json!({ "type": "object" }))
            .problems(&[404, 409]),
    ]
}

/// A run that has a journal.
pub(super) struct Begun {
    pub(super) run: RunId,
    pub(super) workspace: Workspace,
}

/// A run without a journal is an error that says to wait. Blocking.
pub(super) fn with_journal(server: &Server, id: &str) -> Result<Begun, Problem> {
    let Found { run, workspace, .. } = find(server, id)?;
    if let Some(workspace) = workspace {
        return Ok(Begun { run, workspace });
    }
    let detail = format!("run `{}` has not begun: {}", run.short(), word(server, &run)?);
    let problem = Problem::new(StatusCode::CONFLICT, "run-not-begun", "The run has not begun.", detail);
    Err(problem.hint("watch its events, or look again later"))
}

async fn result(State(server): State<Shared>, Part(id): Part<String>, params: Params) -> Answer<Json<Value>> {
    params.finish()?;
    let told = work(move || {
        let Begun { run, workspace } = with_journal(&server, &id)?;
        let view = read_view(&workspace, &run)?;
        if view.outcome.is_none() || server.runs.find(&run).is_some() {
            let detail = format!("run `{}` has not ended", run.short());
            let problem =
                Problem::new(StatusCode::CONFLICT, "run-not-ended", "The run has not ended.", detail);
            return Err(problem.hint("watch its events, or resume it if it was cut off"));
        }
        let result = recorded_result(&workspace, run, &view)?;
        let mut told = result_json(&result, &view, &workspace.blobs());
        if let Some(RunOutcome::Failed { code, message }) = &view.outcome {
            told["error"] = json!({ "code": code, "message": message, "causes": [], "hint": code.hint() });
        }
        Ok(told)
    });
    Ok(Json(told.await?))
}

async fn evidence(
    State(server): State<Shared>,
    Part(id): Part<String>,
    params: Params,
) -> Answer<Json<Value>> {
    params.finish()?;
    let told = work(move || {
        let Begun { run, workspace } = with_journal(&server, &id)?;
        let view = read_view(&workspace, &run)?;
        let citations = view.citations.iter().map(|(citation, looked)| {
            let mut told = json!(citation);
            told["found"] = json!(looked);
            told
        });
        let kept = Evidence::of(&view, &[], &workspace.blobs())?;
        let facts = kept.iter().filter(|row| matches!(row, Evidence::Fact { .. })).map(Evidence::json);
        let facts: Vec<Value> = facts.collect();
        Ok(json!({ "run": run, "citations": citations.collect::<Vec<_>>(), "facts": facts }))
    });
    Ok(Json(told.await?))
}

async fn report(State(server): State<Shared>, Part(id): Part<String>, mut params: Params) -> Answer {
    let word = params.text("format").unwrap_or_else(|| "json".to_owned());
    params.finish()?;
    let wrong = || Problem::bad_parameter("format", &format!("must be one of {}", Format::WORDS.join(", ")));
    let format = Format::of_word(&word).ok_or_else(wrong)?;
    let text = work(move || {
        let Begun { run, workspace } = with_journal(&server, &id)?;
        // A report reads source lines again.
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
    // A report page has inline styles and no script.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";
    let headers = [(header::CONTENT_TYPE, kind), (header::CONTENT_SECURITY_POLICY, policy)];
    Ok((headers, text).into_response())
}
