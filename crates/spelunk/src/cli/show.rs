//! `spelunk show`: the state of a run, now or after any of its events; `spelunk tail`: its events as they arrive, whichever
//! process drives it.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use spelunk_app::render::answer::{answer_text, closing_line, remarks};
use spelunk_app::render::tree::tree;
use spelunk_app::runs::{find_run, status, view_json};
use spelunk_app::units::{bytes, count, head, safe};
use spelunk_context::ScanOptions;
use spelunk_engine::{CallState, RunView};
use spelunk_journal::{Blobs, JournalError, Record, Workspace};
use spelunk_types::{CallId, CellOutcome, FrameId, RunId};

use super::{App, CliResult, Failure, Usage, print, print_line, print_text};

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The run: its id or a unique prefix [default: the newest]
    run: Option<String>,
    /// Show the run as it was after this event
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// Show the prompt and reply of one call, such as `0#0`
    #[arg(long, value_name = "CALL")]
    call: Option<String>,
    /// Show the code and output of one cell, such as `0:2` for the third cell of the root frame
    #[arg(long, value_name = "FRAME:CELL")]
    cell: Option<String>,
}

pub(crate) fn show(app: &App, args: &ShowArgs) -> CliResult {
    let (workspace, run) = find_run(app, args.run.as_deref())?;
    let mut view = RunView::default();
    let mut n_unknown = 0_u64;
    for record in workspace.read_journal(&run)? {
        if args.at.is_some_and(|at| record.seq() > at) {
            break;
        }
        match record {
            Record::Known(event) => view.apply(&event),
            Record::Unknown { .. } => n_unknown += 1,
        }
    }
    if let Some(call) = &args.call {
        return show_call(app, &workspace.blobs_of(&run), &view, call);
    }
    if let Some(cell) = &args.cell {
        return show_cell(app, &workspace, &view, cell);
    }
    if app.json {
        print_line(view_json(&workspace, &run, &view)?);
        return Ok(ExitCode::SUCCESS);
    }
    print_text(&summary(&workspace, &run, &view)?);
    if n_unknown > 0 {
        app.say(&format!("{} from a newer version not shown", count(n_unknown, "event")));
    }
    print_text(&format!("\n{}", tree(&view)));
    if let Some((answer, citations, _)) = view.answer() {
        let text = answer_text(&workspace.blobs().text(answer)?, citations, app.paint);
        print_text(&format!("\n{text}"));
    }
    for remark in remarks(&view) {
        print_text(&format!("{remark}\n"));
    }
    print_text(&format!("\n{}\n", closing_line(&view, &run)));
    Ok(ExitCode::SUCCESS)
}

fn show_cell(app: &App, workspace: &Workspace, view: &RunView, name: &str) -> CliResult {
    let unknown = || Usage {
        message: format!("this run has no cell `{name}`"),
        hint: "`spelunk show` lists the cells of each frame; name one as `FRAME:CELL`, such as `0:0`".into(),
    };
    let (frame, number) = name.split_once(':').ok_or_else(unknown)?;
    let frame: FrameId = frame.parse().map_err(|_| unknown())?;
    let number: u32 = number.parse().map_err(|_| unknown())?;
    let cells = view.cells.get(&frame).into_iter().flatten();
    let cell = cells.into_iter().find(|cell| cell.cell == number).ok_or_else(unknown)?;
    let blobs = workspace.blobs();
    let (code, output) = (blobs.text(&cell.code)?, blobs.text(&cell.output)?);
    if app.json {
        print_line(json!({ "cell": name, "code": code, "output": output, "outcome": cell.outcome }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("{}\n\n-- {} --\n", safe(&code).trim_end(), cell.outcome);
    text += safe(&output).trim_end();
    match &cell.outcome {
        CellOutcome::Raised { traceback, .. } => text += &format!("\n{}", safe(traceback)),
        CellOutcome::Limited { message, .. } => text += &format!("\n{}", safe(message)),
        CellOutcome::Printed | CellOutcome::Answered => {}
    }
    print_line(text.trim_end());
    Ok(ExitCode::SUCCESS)
}

fn summary(workspace: &Workspace, run: &RunId, view: &RunView) -> Result<String, Failure> {
    let question = match &view.question {
        Some(question) => workspace.blobs().text(question)?,
        None => String::new(),
    };
    let model = match &view.model {
        Some(model) if model.provider == "none" => "none".to_owned(),
        Some(model) => model.to_string(),
        None => String::new(),
    };
    let mut text = format!("run       {run}  ({})\n", status(view, workspace.is_locked(run)));
    text += &format!("question  {}\n", head(&question, 200));
    text += &format!("model     {model}\n");
    text += &format!("corpus    {} · {}\n", count(view.n_documents, "file"), bytes(view.corpus_bytes));
    if view.n_resumed > 0 {
        text += &format!("resumed   {}\n", count(view.n_resumed, "time"));
    }
    Ok(text)
}

fn show_call(app: &App, blobs: &Blobs, view: &RunView, name: &str) -> CliResult {
    let call = name.parse::<CallId>().ok().and_then(|id| view.calls.get(&id));
    let Some(call) = call else {
        let known: Vec<String> = view.calls.keys().take(20).map(ToString::to_string).collect();
        let hint = format!("choose one of {}", known.join(", "));
        return Err(Usage::new(format!("the run has no call `{name}`"), hint).into());
    };
    let prompt = match blobs.text(&call.prompt).and_then(|record| prompt_parts(blobs, &record)) {
        Ok(parts) => Some(parts),
        // Prompts are not synced to disk before the run continues.
        Err(JournalError::Blob { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let (reply, error, ending) = match &call.state {
        CallState::Replied { reply, .. } => (Some(blobs.text(reply)?), None, String::new()),
        CallState::Failed { code } => (None, Some(code), format!("--- failed: {code} ---\n")),
        CallState::Open => (None, None, "--- no reply yet ---\n".to_owned()),
    };
    if app.json {
        let parts =
            |parts: Vec<_>| parts.into_iter().map(|(who, text)| json!({ "speaker": who, "text": text }));
        let prompt = prompt.map(|prompt| parts(prompt).collect::<Value>());
        print_line(
            json!({ "call": name, "prompt": prompt, "reply": reply, "error": error.map(|code| code.name()) }),
        );
        return Ok(ExitCode::SUCCESS);
    }
    if prompt.is_none() {
        print("--- the prompt was lost in a power failure ---\n");
    }
    for (who, text) in prompt.into_iter().flatten() {
        print(&format!("--- {who} ---\n{}\n", safe(text.trim_end())));
    }
    print(&reply.map_or(ending, |reply| format!("--- reply ---\n{}\n", safe(&reply))));
    Ok(ExitCode::SUCCESS)
}

/// Who says what in a prompt, with its long texts filled in.
fn prompt_parts(blobs: &Blobs, record: &str) -> Result<Vec<(String, String)>, JournalError> {
    let record: Value = serde_json::from_str(record).unwrap_or_default();
    let text = |value: &Value| -> Result<String, JournalError> {
        match value["blob"].as_str().and_then(|blob| blob.parse().ok()) {
            Some(blob) => Ok(String::from_utf8_lossy(&blobs.get(&blob)?).into_owned()),
            None => Ok(value["text"].as_str().unwrap_or_default().to_owned()),
        }
    };
    let mut parts = vec![("system".to_owned(), text(&record["system"])?)];
    for message in record["messages"].as_array().into_iter().flatten() {
        parts.push((message["speaker"].as_str().unwrap_or("?").to_owned(), text(&message["text"])?));
    }
    Ok(parts)
}

#[derive(Debug, Args)]
pub(crate) struct TailArgs {
    /// The run: its id or a unique prefix [default: the newest]
    run: Option<String>,
    /// Start after this event
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
}

pub(crate) async fn tail(app: &App, args: TailArgs) -> CliResult {
    let (_, run) = find_run(app, args.run.as_deref())?;
    let engine = app.looking_engine(ScanOptions::default())?;
    let mut events = engine.watch(&run, args.after)?;
    while let Some(record) = events.next().await {
        let line = match record? {
            Record::Known(event) if app.json => serde_json::to_string(&event).unwrap_or_default(),
            Record::Known(event) => format!("{:>5}  {}", event.seq, safe(&event.to_string())),
            Record::Unknown { raw, .. } if app.json => raw.to_string(),
            Record::Unknown { seq, name, .. } => format!("{seq:>5}  {} (from a newer version)", safe(&name)),
        };
        print_line(line);
    }
    Ok(ExitCode::SUCCESS)
}
