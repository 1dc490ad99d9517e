//! A run from question to answer, for a client that waits for it. If the client stops waiting, the
//! run stops; it can be resumed from its journal.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use serde_json::Value;
use spelunk_app::asking::RoleModels;
use spelunk_app::runs::{read_view, recorded_result};
use spelunk_engine::CallerTurn;
use spelunk_journal::JournalError;
use spelunk_journal::Record;
use spelunk_model::ToolCall;
use spelunk_types::Event;
use spelunk_types::RunId;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::super::{Answer, Client, Problem, Shared, work};
use super::{Phase, Progress, Promised, ReceivedRequest, SaidPiece, UploadedFile, model, promise};
use crate::mcp::Ended;

pub(crate) struct AwaitedRun {
    server: Shared,
    pub(crate) run: RunId,
    phase: watch::Receiver<Phase>,
    status: watch::Receiver<String>,
    said: broadcast::Receiver<SaidPiece>,
    is_over: bool,
}

pub(crate) struct EndedRun {
    pub(crate) ended: Ended,
    /// In a conversation with the caller's tools: the model's text and its calls of those tools.
    pub(crate) said: String,
    pub(crate) calls: Vec<ToolCall>,
}

pub(crate) enum WaitOutcome {
    Said(SaidPiece),
    Status(String),
    End,
    /// The server is stopping; the run continues after a restart.
    Closing,
}

impl AwaitedRun {
    pub(crate) async fn begin(
        server: &Shared,
        client: Client,
        request: Value,
        documents: Vec<(String, String)>,
    ) -> Answer<Self> {
        // A missing model is reported now rather than when the run starts.
        let models: RoleModels = model(server).await?.into();
        let promising = Arc::clone(server);
        let file = |(name, text): (String, String)| UploadedFile { name, bytes: text.into_bytes() };
        let files = documents.into_iter().map(file).collect();
        let promised =
            work(move || promise(&promising, client, None, ReceivedRequest { request, files }, &models))
                .await?;
        let live = match promised {
            Promised::New(live) => live,
            Promised::Before(run) => {
                server.runs.find(&run).ok_or_else(|| Problem::not_found("the run has ended"))?
            }
        };
        let (phase, status, said) = (live.phase.subscribe(), live.status.subscribe(), live.said.subscribe());
        let (server_of, run) = (Arc::clone(server), live.run.clone());
        let whole = Self { server: server_of, run, phase, status, said, is_over: false };
        server.runs.pump(server);
        Ok(whole)
    }

    pub(crate) async fn wait(&mut self, patience: Duration) -> WaitOutcome {
        let server = Arc::clone(&self.server);
        tokio::select! {
            biased;
            said = next_said(&mut self.said) => WaitOutcome::Said(said),
            over = self.phase.wait_for(|phase| *phase == Phase::Over) => {
                drop(over);
                self.is_over = true;
                WaitOutcome::End
            }
            () = server.closing() => WaitOutcome::Closing,
            () = tokio::time::sleep(patience) => WaitOutcome::Status(self.status.borrow().clone()),
        }
    }

    pub(crate) async fn end(mut self) -> Answer<EndedRun> {
        self.is_over = true;
        let (server, run) = (Arc::clone(&self.server), self.run.clone());
        work(move || {
            let progress = server.runs.settled_as(&run).map(|ticket| ticket.progress);
            if let Some(Progress::Refused { refusal }) = progress {
                let title = "The run could not start.";
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                let problem = Problem::new(status, &refusal.code, title, refusal.message);
                return Err(match refusal.hint {
                    Some(hint) => problem.hint(hint),
                    None => problem,
                });
            }
            let gone = || JournalError::NotFound { name: run.to_string() };
            let workspace = server.app.existing_workspace()?.ok_or_else(gone)?;
            let view = read_view(&workspace, &run)?;
            let result = recorded_result(&workspace, run.clone(), &view)?;
            let (mut said, mut calls) = (String::new(), Vec::new());
            if view.is_turn {
                let events: Vec<Event> =
                    workspace.read_journal(&run)?.into_iter().filter_map(known).collect();
                (said, calls) = CallerTurn::reply(&events, &workspace.blobs())?;
            }
            Ok(EndedRun { ended: Ended { result, view }, said, calls })
        })
        .await
    }
}

fn known(record: Record) -> Option<Event> {
    match record {
        Record::Known(event) => Some(*event),
        Record::Unknown { .. } => None,
    }
}

/// The next piece of the answer. If pieces were missed because the client reads slowly, streaming
/// stops, and the rest is sent at the end.
async fn next_said(said: &mut broadcast::Receiver<SaidPiece>) -> SaidPiece {
    match said.recv().await {
        Ok(piece) => piece,
        Err(RecvError::Lagged(_)) => SaidPiece::Anew,
        // The end of the run is reported elsewhere.
        Err(RecvError::Closed) => std::future::pending().await,
    }
}

impl Drop for AwaitedRun {
    fn drop(&mut self) {
        if self.is_over || self.server.is_closed() {
            return;
        }
        if let Err(failure) = self.server.runs.cancel(&self.run) {
            let run = self.run.short();
            self.server.app.say(&format!("warning: run {run} was not cancelled: {}", failure.0));
        }
    }
}
