//! Consent over HTTP: before a run calls a tool that may change something, it waits until a request
//! allows or denies the call. Waiting calls are held in memory; questions and decisions are in the
//! journal. If the server is killed meanwhile, it asks again when the run is resumed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use spelunk_app::arguments::wrong;
use spelunk_app::blocking::blocking;
use spelunk_app::runs::read_view;
use spelunk_engine::ConsentFn;
use spelunk_types::{EffectId, RunId};
use tokio::sync::oneshot;

use super::super::{Answer, JsonBody, PathPart, Problem, Route, Shared, fields, lock, post, work};
use super::{FoundRun, find, not_at_work, promised_answer};

const WORD_CHARS_MAX: usize = 20;

pub(super) fn routes() -> Vec<Route> {
    let promise = json!({ "$ref": "#/components/schemas/Promise" });
    vec![
        post("/v1/runs/{run}/tools/{call}", "Allow or deny a call of a tool that a run waits for", decide)
            .takes(json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["decision"],
                "properties": { "decision": { "enum": ["allow", "deny"] } },
            }))
            .answers(202, "The run continues", promise)
            .problems(&[404, 409]),
    ]
}

/// Calls that wait for a decision. Each is decided once.
#[derive(Default)]
pub(super) struct Consents {
    waiting: Mutex<HashMap<(RunId, EffectId), oneshot::Sender<bool>>>,
}

/// A call that waits until this is dropped.
struct Waiting {
    consents: Arc<Consents>,
    call: (RunId, EffectId),
}

impl Drop for Waiting {
    fn drop(&mut self) {
        lock(&self.consents.waiting).remove(&self.call);
    }
}

impl Consents {
    pub(super) fn asking(self: &Arc<Self>) -> ConsentFn {
        let consents = Arc::clone(self);
        Arc::new(move |asked| {
            let (decide, decided) = oneshot::channel();
            let waiting = Waiting { consents: Arc::clone(&consents), call: (asked.run, asked.effect) };
            lock(&consents.waiting).insert(waiting.call.clone(), decide);
            Box::pin(async move {
                let _waiting = waiting;
                decided.await.unwrap_or(false)
            })
        })
    }

    pub(super) fn are_awaited(&self, run: &RunId) -> bool {
        lock(&self.waiting).keys().any(|(waiting, _)| waiting == run)
    }

    /// False if no such call waits.
    fn decide(&self, run: &RunId, call: &EffectId, allowed: bool) -> bool {
        let waiting = lock(&self.waiting).remove(&(run.clone(), call.clone()));
        waiting.is_some_and(|decide| decide.send(allowed).is_ok())
    }
}

async fn decide(
    State(server): State<Shared>,
    PathPart((id, call)): PathPart<(String, String)>,
    JsonBody(request): JsonBody,
) -> Answer {
    let mut arguments = fields(request)?;
    let allowed = match arguments.needed("decision", WORD_CHARS_MAX)?.as_str() {
        "allow" => true,
        "deny" => false,
        _ => return Err(wrong("decision", "must be allow or deny").into()),
    };
    arguments.finish()?;
    let deciding = Arc::clone(&server);
    let FoundRun { run, workspace, .. } = blocking(move || find(&deciding, &id)).await?;
    let known = call.parse::<EffectId>().ok();
    if !known.as_ref().is_some_and(|call| server.runs.consents.decide(&run, call, allowed)) {
        let name = run.clone();
        let view = work(move || Ok(workspace.map(|workspace| read_view(&workspace, &name)).transpose()?));
        let view = view.await?.unwrap_or_default();
        let asked =
            known.as_ref().and_then(|call| view.effects.get(call)).filter(|call| call.consent.is_some());
        let short = run.short();
        if asked.is_none() {
            return Err(Problem::not_found(format!("run `{short}` is not waiting for this call"))
                .hint("the field `pending` of the run lists the calls that it is waiting for"));
        }
        let is_pending = view.pending_effects().any(|(pending, ..)| Some(pending) == known.as_ref());
        if is_pending && server.runs.find(&run).is_none() {
            return Err(not_at_work(&run));
        }
        let title = "The call was already decided.";
        let detail = format!("call `{call}` of run `{short}` was already decided");
        return Err(Problem::new(StatusCode::CONFLICT, "call-decided", title, detail)
            .hint("see its outcome in the run's events"));
    }
    promised_answer(&server, &run).await
}
