//! Follow-up questions: the agent continues with its files, variables and conversation. The question is in
//! the ticket on disk before it is accepted, and in the journal before anything depends on it.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};
use spelunk_app::arguments::Arguments;
use spelunk_app::asking::{QUESTION_CHARS_MAX, check_more, require_question};
use spelunk_app::failure::{Failure, Usage};
use spelunk_app::runs::read_view;
use spelunk_types::{Limits, RunId};

use super::super::{Answer, Client, JsonBody, PathPart, Problem, Route, Shared, fields, post, work};
use super::{
    JobKind, Progress, Ticket, at_work, promised_answer, request, request_without_secrets, supervisor,
    with_journal,
};
use crate::mcp::{or_null, read_limits};

pub(super) fn routes() -> Vec<Route> {
    let mut question = request::question_schema();
    question["maxLength"] = json!(QUESTION_CHARS_MAX);
    let promise = json!({ "$ref": "#/components/schemas/Promise" });
    vec![
        post("/v1/runs/{run}/questions", "Ask an agent's run a follow-up question; it keeps its state", ask)
            .takes(json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["question"],
                "properties": { "question": question, "limits": or_null(request::limits_schema()) },
            }))
            .answers(202, "The run is queued", promise)
            .problems(&[404, 409, 503]),
    ]
}

pub(super) struct FollowUp {
    pub(super) question: String,
    pub(super) limits: Limits,
}

impl FollowUp {
    pub(super) fn read(server: &Shared, mut arguments: Arguments) -> Result<Self, Usage> {
        let question = arguments.needed("question", QUESTION_CHARS_MAX)?;
        let limits = read_limits(&server.mcp, &mut arguments)?;
        arguments.finish()?;
        Ok(Self { question, limits })
    }
}

async fn ask(
    State(server): State<Shared>,
    Extension(client): Extension<Client>,
    PathPart(id): PathPart<String>,
    JsonBody(request): JsonBody,
) -> Answer {
    let promising = Arc::clone(&server);
    let run = work(move || promise(&promising, client, &id, request)).await?;
    server.runs.pump(&server);
    promised_answer(&server, &run).await
}

/// Checks everything that can be checked without reading the sources again, then writes the ticket. Blocking.
fn promise(server: &Shared, client: Client, id: &str, request: Value) -> Result<RunId, Problem> {
    let request = request_without_secrets(request);
    let FollowUp { question, limits } = FollowUp::read(server, fields(request.clone())?)?;
    let (run, workspace) = with_journal(server, id)?;
    if server.runs.find(&run).is_some() {
        return Err(at_work(&run));
    }
    let view = read_view(&workspace, &run)?;
    require_question(&question)?;
    // The request is valid, but this run accepts no questions.
    let conflict = |failure: Failure| Problem::from(failure).with_status(StatusCode::CONFLICT);
    check_more(&run, &view, &question).map_err(conflict)?;
    supervisor::resume_request(server, &run, &view, Some(limits))?;
    let ticket = Ticket::new(&run, client, Progress::More { after_seq: view.seq_last }, request);
    server.runs.promise(&ticket, JobKind::More, 0)?;
    Ok(run)
}
