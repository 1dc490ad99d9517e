//! Looks up a run by its id or a prefix of the short id; the list of runs, newest first and paginated; and
//! the state of one run. Names are only compared with existing ids and never become paths.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use spelunk_app::blocking::blocking;
use spelunk_app::failure::Failure;
use spelunk_app::runs::{STATUSES, STATUSES_FORMER, read_view, row, state, statuses, view_json};
use spelunk_engine::RunView;
use spelunk_journal::{JournalError, Workspace};
use spelunk_types::RunId;

use super::super::{
    Answer, Params, PathOnly, Problem, Route, Server, Shared, get, list_of, lock, object_of, whole_schema,
};
use super::{Progress, Ticket};

const PAGE: u64 = 50;
const PAGE_MAX: u64 = 200;
const QUERY_CHARS_MAX: usize = 1_000;
/// The maximum number of cached rows, which save reading a journal again.
const ROWS_MAX: usize = 10_000;

pub(super) fn routes() -> Vec<Route> {
    let rows = list_of(&json!({ "$ref": "#/components/schemas/Row" }));
    let page = json!({ "runs": rows, "next": { "type": "string" } });
    vec![
        get("/v1/runs", "List runs, newest first", list)
            .query("state", json!({ "enum": states() }), "Only runs in these states")
            .query("q", json!({ "type": "string" }), "Only questions that contain this text, ignoring case")
            .query(
                "cursor",
                json!({ "type": "string", "pattern": "^rlm-[0-9]{8}T[0-9]{6}Z-[0-9a-fA-F]{8}$" }),
                "`next` of the previous page",
            )
            .query("limit", whole_schema(1, PAGE_MAX), "Runs per page")
            .answers(200, "A page", object_of(&["runs"], &page)),
        get("/v1/runs/{run}", "The state of a run, as `spelunk show RUN --json` prints it", show)
            .answers(200, "The run", json!({ "$ref": "#/components/schemas/Run" }))
            .problems(&[404, 409]),
    ]
}

/// The states that a list can be filtered by. Only a server has a queue.
fn states() -> Vec<&'static str> {
    ["queued"].into_iter().chain(STATUSES).chain(STATUSES_FORMER).collect()
}

struct Filter {
    state: Option<String>,
    /// In lower case.
    text: Option<String>,
    before: Option<RunId>,
    n_max: usize,
}

async fn list(State(server): State<Shared>, mut params: Params) -> Answer<Json<Value>> {
    let state = params.text("state");
    if state.as_ref().is_some_and(|state| !states().contains(&state.as_str())) {
        return Err(Problem::bad_parameter("state", &format!("must be one of {}", states().join(", "))));
    }
    let text = params.text("q").map(|text| text.to_lowercase());
    if text.as_ref().is_some_and(|text| text.chars().count() > QUERY_CHARS_MAX) {
        return Err(Problem::bad_parameter("q", "is too long"));
    }
    let cursor = params.text("cursor").map(|cursor| cursor.parse::<RunId>()).transpose();
    let before = cursor.map_err(|_| Problem::bad_parameter("cursor", "is not a cursor of this server"))?;
    let n_max = params.whole("limit", 1, PAGE_MAX)?.unwrap_or(PAGE);
    params.finish()?;
    let filter = Filter { state, text, before, n_max: usize::try_from(n_max).unwrap_or(usize::MAX) };
    Ok(Json(blocking(move || page(&server, &filter)).await?))
}

fn page(server: &Server, filter: &Filter) -> Result<Value, Failure> {
    // Read before the journals: a run that starts or ends meanwhile has a journal by then.
    let (at_work, settled) = (server.runs.all(), server.runs.settled());
    let workspace = server.app.existing_workspace()?;
    let with_journal = workspace.as_ref().map(Workspace::runs).transpose()?.unwrap_or_default();
    let mut runs: HashMap<RunId, Option<Value>> = with_journal.into_iter().map(|run| (run, None)).collect();
    for live in at_work {
        let row = without_journal(&live.run, "queued", &live.question);
        runs.entry(live.run.clone()).or_insert(Some(row));
    }
    for ticket in settled {
        let row = without_journal(&ticket.run, &settled_word(&ticket), ticket.question());
        runs.entry(ticket.run).or_insert(Some(row));
    }
    let mut names: Vec<RunId> = runs.keys().cloned().collect();
    names.sort_by(|a, b| b.cmp(a));
    let (mut rows, mut next) = (Vec::new(), None);
    for run in names {
        if filter.before.as_ref().is_some_and(|before| run >= *before) {
            continue;
        }
        let row = match (runs.remove(&run).flatten(), &workspace) {
            (Some(row), _) => row,
            (None, Some(workspace)) => {
                let mut row = server.rows.row(workspace, &run)?;
                // A process may have ended or started without a record in the journal.
                let is_open = ["running", "waiting", "interrupted"].iter().any(|open| row["status"] == *open);
                if is_open && !workspace.is_locked(&run) {
                    row["status"] = json!("interrupted");
                } else if row["status"] == "interrupted" {
                    row["status"] = json!("running");
                }
                row
            }
            (None, None) => continue,
        };
        let row = as_it_stands(server, &run, row);
        if !is_wanted(filter, &row) {
            continue;
        }
        if rows.len() == filter.n_max {
            next = rows.last().map(|row: &Value| row["run"].clone());
            break;
        }
        rows.push(row);
    }
    let mut page = json!({ "runs": rows });
    if let Some(next) = next {
        page["next"] = next;
    }
    Ok(page)
}

fn without_journal(run: &RunId, state: &str, question: &str) -> Value {
    let status = if state == "open" { "interrupted" } else { state.split(':').next().unwrap_or_default() };
    json!({
        "run": run, "lifecycle": "active", "state": state, "status": status, "question": question, "calls": 0,
        "cost_microusd": 0,
    })
}

/// The row of the journal, updated with what this server knows.
fn as_it_stands(server: &Server, run: &RunId, mut row: Value) -> Value {
    let live = server.runs.find(run);
    let is_queued = live.as_ref().is_some_and(|live| live.is_waiting());
    row["queued"] = json!(is_queued);
    if live.is_some() {
        row["state"] = json!(at_work_word(server, run, is_queued, row["status"] == "waiting"));
        row["status"] = row["state"].clone();
    }
    if let Some(Progress::Refused { refusal }) = server.runs.settled_as(run).map(|ticket| ticket.progress) {
        row["problem"] = json!(refusal);
    }
    row
}

fn is_wanted(filter: &Filter, row: &Value) -> bool {
    let status = row["status"].as_str().unwrap_or_default();
    let question = || row["question"].as_str().unwrap_or_default().to_lowercase();
    let has_state = |wanted: &String| statuses(wanted).unwrap_or_else(|| vec![wanted]).contains(&status);
    filter.state.as_ref().is_none_or(has_state)
        && filter.text.as_ref().is_none_or(|text| question().contains(text))
}

/// Cached rows of journals that have not grown since.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    kept: Mutex<HashMap<RunId, (u64, Value)>>,
}

impl Rows {
    fn row(&self, workspace: &Workspace, run: &RunId) -> Result<Value, Failure> {
        let journal = format!("runs/{run}/journal.jsonl");
        workspace.refresh(run);
        let bytes = workspace.dir().and_then(|dir| dir.entry(&journal).ok()?).map_or(0, |file| file.len);
        let kept = || lock(&self.kept);
        if let Some((_, row)) = kept().get(run).filter(|(bytes_then, _)| *bytes_then == bytes) {
            return Ok(row.clone());
        }
        let row = row(workspace, run.clone())?.json();
        let mut kept = kept();
        if kept.len() >= ROWS_MAX {
            kept.clear();
        }
        kept.insert(run.clone(), (bytes, row.clone()));
        Ok(row)
    }
}

async fn show(PathOnly(server, id): PathOnly<String>) -> Answer<Json<Value>> {
    Ok(Json(blocking(move || one(&server, &find(&server, &id)?)).await?))
}

/// The output of `show`; a run without a journal has only its question.
fn one(server: &Arc<Server>, found: &FoundRun) -> Result<Value, Failure> {
    let FoundRun { run, workspace, settled } = found;
    if let Some(workspace) = workspace {
        let mut shown = view_json(workspace, run, &read_view(workspace, run)?)?;
        if let Some(live) = server.runs.find(run) {
            let word = at_work_word(server, run, live.is_waiting(), shown["status"] == "waiting");
            shown["status"] = json!(word);
            if word != "waiting" {
                shown["pending"] = json!([]);
            }
        }
        return Ok(shown);
    }
    // The full question is only on disk.
    let ticket = server.runs.tickets.read(run);
    let workspace = server.app.workspace()?;
    if workspace.has(run) {
        // The run has started meanwhile, and its ticket is gone.
        return view_json(&workspace, run, &read_view(&workspace, run)?);
    }
    let question = ticket?.question().to_owned();
    let mut shown = view_json(&workspace, run, &RunView::default())?;
    shown["question"] = json!(question);
    let progress = settled.as_ref().map(|ticket| &ticket.progress);
    if let Some(Progress::Refused { refusal }) = progress {
        shown["outcome"] = json!({ "is": "failed", "code": refusal.code, "message": refusal.message });
        shown["status"] = json!("failed");
    } else if progress == Some(&Progress::Withdrawn) {
        shown["outcome"] = json!({ "is": "cancelled" });
        shown["status"] = json!("cancelled");
    } else {
        shown["status"] = json!("queued");
    }
    Ok(shown)
}

const NAME_BYTES_MAX: usize = 100;
/// A shorter prefix is more likely a mistake.
const SHORT_BYTES_MIN: usize = 4;

pub(super) struct FoundRun {
    pub(super) run: RunId,
    /// `None` for a run without a journal.
    pub(super) workspace: Option<Workspace>,
    /// Why it has no journal, or why it could not continue.
    pub(super) settled: Option<Ticket>,
}

/// Searches the journals, then the runs that have none, yet or ever. Blocking.
pub(super) fn find(server: &Server, name: &str) -> Result<FoundRun, Failure> {
    let not_found = || JournalError::NotFound { name: name.chars().take(NAME_BYTES_MAX).collect() };
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Err(not_found().into());
    }
    // Read before the journals: a run that starts or ends meanwhile has a journal by then.
    let exact: Option<RunId> = name.parse().ok();
    if let Some(run) = &exact {
        server.runs.adopt(run);
    }
    let promised = server.runs.names();
    let workspace = server.app.existing_workspace()?;
    let mut runs = match (&workspace, &exact) {
        (None, _) => Vec::new(),
        // An exact id is found without listing all runs.
        (Some(workspace), Some(exact)) => workspace.has(exact).then(|| exact.clone()).into_iter().collect(),
        (Some(workspace), None) => workspace.runs()?,
    };
    let is_meant = |run: &RunId| match &exact {
        Some(exact) => run == exact,
        None => name.len() >= SHORT_BYTES_MIN && run.short().starts_with(name),
    };
    runs.retain(is_meant);
    let with_journal = runs.len();
    for run in promised.into_iter().filter(is_meant) {
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    match runs.len() {
        0 => Err(not_found().into()),
        1 => {
            let run = runs.remove(0);
            let settled = server.runs.settled_as(&run);
            Ok(FoundRun { run, workspace: workspace.filter(|_| with_journal > 0), settled })
        }
        _ => Err(JournalError::Ambiguous { name: name.to_owned(), runs }.into()),
    }
}

/// The state of a run that is queued or in progress here. It is waiting if a question is recorded and still open.
fn at_work_word(server: &Server, run: &RunId, is_queued: bool, is_asked: bool) -> &'static str {
    if is_queued {
        "queued"
    } else if is_asked && server.runs.consents.are_awaited(run) {
        "waiting"
    } else {
        "running"
    }
}

/// The state of a run, in the words of the list. Blocking.
pub(super) fn word(server: &Server, run: &RunId) -> Result<String, Failure> {
    let (live, settled) = server.runs.standing(run);
    if let Some(live) = live {
        return Ok(if live.is_waiting() { "queued" } else { "running" }.to_owned());
    }
    let workspace = server.app.existing_workspace()?;
    let has_journal = workspace.as_ref().is_some_and(|workspace| workspace.has(run));
    if let (Some(workspace), true) = (workspace, has_journal) {
        return match settled.map(|ticket| ticket.progress) {
            Some(Progress::Refused { refusal }) if refusal.is_of_question => {
                Ok(format!("failed: {}", refusal.code))
            }
            Some(_) | None => Ok(state(&read_view(&workspace, run)?)),
        };
    }
    let ticket = settled.ok_or_else(|| JournalError::NotFound { name: run.to_string() })?;
    Ok(settled_word(&ticket))
}

/// The state of a run that never started.
pub(super) fn settled_word(ticket: &Ticket) -> String {
    if let Progress::Refused { refusal } = &ticket.progress {
        return format!("failed: {}", refusal.code);
    }
    if ticket.progress == Progress::Withdrawn { "cancelled" } else { "open" }.to_owned()
}
