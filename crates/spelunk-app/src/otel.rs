//! OpenTelemetry spans of a finished run, folded from its journal: the run, its frames, calls and cells, named after
//! the semantic conventions for generative AI. They contain no prompts, documents or answers. They are sent when a run
//! ends, if a collector is configured; if it does not respond, there is only a warning.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use spelunk_journal::{Record, digest};
use spelunk_model::post_json;
use spelunk_types::{CallId, CallOutcome, Event, EventKind, FrameId, FrameOutcome, RunId, RunOutcome};

use crate::app::App;

use crate::blocking::blocking;
use crate::env;
use crate::failure::Result;

const BATCH: usize = 500;
const SPANS_MAX: usize = 20_000;
const TIMEOUT: Duration = Duration::from_secs(5);
const NS_PER_MS: u64 = 1_000_000;
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const FAILED: u8 = 2;

pub async fn export(app: &App, run: &RunId) {
    let Some(endpoint) = app.environment.text(env::OTEL_EXPORTER_OTLP_ENDPOINT) else { return };
    let url = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
    let headers = headers(app.environment.text(env::OTEL_EXPORTER_OTLP_HEADERS).unwrap_or_default());
    if let Err(failure) = send(app, run, &url, &headers).await {
        app.say(&format!("warning: the spans of run {} were not exported: {}", run.short(), failure.0));
    }
}

async fn send(app: &App, run: &RunId, url: &str, headers: &[(String, String)]) -> Result<()> {
    let (workspace, of) = (app.workspace()?, run.clone());
    let spans = blocking(move || {
        let records = workspace.read_journal(&of)?;
        Ok(spans(&of, records.iter().filter_map(Record::event)))
    })
    .await?;
    for batch in spans.chunks(BATCH) {
        post_json(url, headers, request(batch).to_string(), TIMEOUT).await?;
    }
    Ok(())
}

/// Parses comma-separated `name=value` pairs; anything else is skipped.
fn headers(text: &str) -> Vec<(String, String)> {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    let pairs = pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    pairs.filter(|(name, _)| !name.is_empty()).collect()
}

fn request(spans: &[Value]) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let resource = [text("service.name", "spelunk"), text("service.version", version)];
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": { "name": "spelunk", "version": version }, "spans": spans }],
    }] })
}

#[derive(Default)]
struct Fold {
    run: String,
    started_at_ms: u64,
    ended_at_ms: u64,
    provider: String,
    outcome: Option<RunOutcome>,
    frames: BTreeMap<FrameId, (u64, &'static str)>,
    calls: BTreeMap<CallId, (u64, String)>,
    spans: Vec<Value>,
}

/// The spans of these events. Spans that are open at the end are closed there.
fn spans<'a>(run: &RunId, events: impl Iterator<Item = &'a Event>) -> Vec<Value> {
    let mut fold = Fold { run: run.to_string(), ..Fold::default() };
    for event in events {
        fold.apply(event);
    }
    for (call, (at_ms, model)) in std::mem::take(&mut fold.calls) {
        fold.call(&call, at_ms, &model, None);
    }
    for (frame, (at_ms, strategy)) in std::mem::take(&mut fold.frames) {
        fold.frame(&frame, at_ms, strategy, None);
    }
    fold.root();
    fold.spans
}

impl Fold {
    fn apply(&mut self, event: &Event) {
        self.ended_at_ms = self.ended_at_ms.max(event.at_ms);
        if let EventKind::RunStarted { model, .. } = &event.kind {
            (self.started_at_ms, self.provider) = (event.at_ms, model.provider.clone());
        } else if let EventKind::RunFinished { outcome } = &event.kind {
            self.outcome = Some(outcome.clone());
        } else if let EventKind::FrameOpened { strategy, .. } = &event.kind {
            self.frames.insert(event.frame.clone(), (event.at_ms, strategy.name()));
        } else if let EventKind::FrameClosed { outcome } = &event.kind {
            if let Some((at_ms, strategy)) = self.frames.remove(&event.frame) {
                self.frame(&event.frame, at_ms, strategy, Some(outcome));
            }
        } else if let EventKind::CallStarted { call, model, .. } = &event.kind {
            self.calls.insert(call.clone(), (event.at_ms, model.clone()));
        } else if let EventKind::CallSettled { call, outcome, .. } = &event.kind {
            if let Some((at_ms, model)) = self.calls.remove(call) {
                self.call(call, at_ms, &model, Some(outcome));
            }
        } else if let EventKind::CellRan { cell, took_ms, outcome, .. } = &event.kind {
            let attributes = [
                text("gen_ai.operation.name", "execute_tool"),
                text("gen_ai.tool.name", "python"),
                text("spelunk.cell.outcome", &outcome.to_string()),
            ];
            let at_ms = event.at_ms.saturating_sub(*took_ms);
            let id = format!("{}:{cell}", event.frame);
            let parent = self.id(&event.frame.to_string());
            let span =
                self.span("execute_tool python", &id, &parent, INTERNAL, (at_ms, event.at_ms), &attributes);
            self.push(span);
        }
    }

    fn call(&mut self, call: &CallId, at_ms: u64, model: &str, outcome: Option<&CallOutcome>) {
        let (provider, model) = model.split_once('/').unwrap_or((&self.provider, model));
        let mut attributes = vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.provider.name", provider),
            text("gen_ai.request.model", model),
            text("spelunk.call", &call.to_string()),
        ];
        let mut failed = None;
        match outcome {
            Some(CallOutcome::Replied { usage, .. }) => {
                attributes.push(whole("gen_ai.usage.input_tokens", usage.input_tokens));
                attributes.push(whole("gen_ai.usage.output_tokens", usage.output_tokens));
                attributes.push(whole("spelunk.cost_microusd", usage.cost_microusd));
            }
            Some(CallOutcome::Failed { code, .. }) => failed = Some(code.name()),
            None => failed = Some("unfinished"),
        }
        let (id, parent) = (call.to_string(), self.id(&call.frame.to_string()));
        let name = format!("chat {model}");
        let mut span = self.span(&name, &id, &parent, CLIENT, (at_ms, self.ended_at_ms), &attributes);
        mark(&mut span, failed);
        self.push(span);
    }

    fn frame(&mut self, frame: &FrameId, at_ms: u64, strategy: &str, outcome: Option<&FrameOutcome>) {
        let attributes = [
            text("gen_ai.operation.name", "invoke_agent"),
            text("gen_ai.agent.name", strategy),
            text("spelunk.frame", &frame.to_string()),
        ];
        let failed = match outcome {
            Some(FrameOutcome::Answered { .. }) => None,
            Some(FrameOutcome::Failed { code, .. }) => Some(code.name()),
            None => Some("unfinished"),
        };
        let id = frame.to_string();
        // The parent frame, or the run.
        let parent = id.rsplit_once('.').map_or_else(|| self.id("run"), |(above, _)| self.id(above));
        let name = format!("invoke_agent {strategy}");
        let mut span = self.span(&name, &id, &parent, INTERNAL, (at_ms, self.ended_at_ms), &attributes);
        mark(&mut span, failed);
        self.push(span);
    }

    fn root(&mut self) {
        let attributes = [
            text("gen_ai.operation.name", "invoke_agent"),
            text("gen_ai.agent.name", "spelunk"),
            text("gen_ai.provider.name", &self.provider),
            text("spelunk.run", &self.run),
        ];
        let times = (self.started_at_ms, self.ended_at_ms);
        let mut span = self.span("invoke_agent spelunk", "run", "", INTERNAL, times, &attributes);
        let failed = match &self.outcome {
            Some(RunOutcome::Answered) => None,
            Some(RunOutcome::Partial { stopped_by }) => Some(stopped_by.name()),
            Some(RunOutcome::Failed { code, .. }) => Some(code.name()),
            Some(RunOutcome::Cancelled) => Some("cancelled"),
            None => Some("unfinished"),
        };
        mark(&mut span, failed);
        // The run's span always comes first.
        self.spans.insert(0, span);
    }

    fn push(&mut self, span: Value) {
        if self.spans.len() < SPANS_MAX {
            self.spans.push(span);
        }
    }

    /// Deterministic: the same item has the same id each time it is sent.
    fn id(&self, of: &str) -> String {
        digest(format!("{} {of}", self.run).as_bytes()).to_string().chars().take(16).collect()
    }

    fn span(
        &self,
        name: &str,
        of: &str,
        parent: &str,
        kind: u8,
        (from_ms, to_ms): (u64, u64),
        attributes: &[Value],
    ) -> Value {
        let trace: String = digest(self.run.as_bytes()).to_string().chars().take(32).collect();
        json!({
            "traceId": trace,
            "spanId": self.id(of),
            "parentSpanId": parent,
            "name": name,
            "kind": kind,
            "startTimeUnixNano": from_ms.saturating_mul(NS_PER_MS).to_string(),
            "endTimeUnixNano": to_ms.saturating_mul(NS_PER_MS).to_string(),
            "attributes": attributes,
        })
    }
}

fn mark(span: &mut Value, failed: Option<&str>) {
    let Some(code) = failed else { return };
    span["status"] = json!({ "code": FAILED });
    if let Some(attributes) = span["attributes"].as_array_mut() {
        attributes.push(text("error.type", code));
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// Integers are strings in OTLP JSON.
fn whole(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

#[cfg(test)]
mod tests;
