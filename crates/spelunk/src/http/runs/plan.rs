//! What a run reads and how far it has come with each document: for the map of a run.

use std::collections::{BTreeMap, HashMap, HashSet};

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use spelunk_journal::{Blobs, Record, Workspace};
use spelunk_types::{AnalystReport, EventKind, FrameId, FrameOutcome, RunId, Text};

use super::super::Shared;
use super::super::extract::{Params, Part};
use super::super::problem::{Answer, work};
use super::super::route::{Route, get};
use super::results::with_journal;
use crate::cli::Failure;

const DOCUMENTS_MAX: usize = 20_000;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/v1/runs/{id}/plan", "The documents of a run, and how far it has come with each", show)
            .answers(
                200,
                "The documents",
                json!({
                    "type": "object",
                    "required": ["documents", "cut"],
                    "properties": {
                        "documents": { "type": "array", "items": {
                            "type": "object",
                            "properties": {
                                "path": { "type": "string" },
                                "bytes": { "type": "integer" },
                                "type": { "type": "string" },
                                "tasks": { "type": "integer", "description": "Tasks that were given out" },
                                "state": { "enum": ["none", "open", "done", "failed"] },
                            },
                        } },
                        "cut": { "type": "boolean", "description": "Whether there are more" },
                    },
                }),
            )
            .problems(&[404, 409]),
    ]
}

async fn show(State(server): State<Shared>, Part(id): Part<String>, params: Params) -> Answer<Json<Value>> {
    params.finish()?;
    let shown = work(move || {
        let found = with_journal(&server, &id)?;
        let folded = Folded::read(&found.workspace, &found.run)?;
        let detector = server.app.settings.detector();
        let n_documents = folded.documents.len();
        let rows = folded.documents.into_iter().take(DOCUMENTS_MAX).map(|(path, bytes)| {
            let (tasks, state) = folded.tasks.get(&path).map_or((0, "none"), Tasks::told);
            let detected = detector.detect(&path, "");
            let kind = match &detected.custom {
                Some(custom) => custom.name.clone(),
                None => detected.content_type.name().to_owned(),
            };
            json!({ "path": path, "bytes": bytes, "type": kind, "tasks": tasks, "state": state })
        });
        Ok(json!({ "documents": rows.collect::<Vec<_>>(), "cut": n_documents > DOCUMENTS_MAX }))
    });
    Ok(Json(shown.await?))
}

/// The tasks of one document.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Tasks {
    open: u64,
    done: u64,
    failed: u64,
}

impl Tasks {
    fn told(&self) -> (u64, &'static str) {
        let state = match self {
            Self { open: 1.., .. } => "open",
            Self { failed: 1.., .. } => "failed",
            Self { done: 1.., .. } => "done",
            Self { .. } => "none",
        };
        (self.open + self.done + self.failed, state)
    }
}

#[derive(Default)]
struct Folded {
    documents: Vec<(String, u64)>,
    tasks: HashMap<String, Tasks>,
}

impl Folded {
    fn read(workspace: &Workspace, run: &RunId) -> Result<Self, Failure> {
        let blobs = workspace.blobs();
        let mut folded = Self::default();
        let mut under_way: BTreeMap<FrameId, Vec<String>> = BTreeMap::new();
        for record in workspace.read_journal(run)? {
            let Record::Known(event) = record else { continue };
            if let EventKind::RunStarted { corpus: Some(corpus), .. } = &event.kind {
                folded.documents = documents(&blobs.text(&corpus.documents)?);
            } else if let EventKind::FrameOpened { note: Some(note), .. } = &event.kind {
                let names = folded.noted(&blobs.text(note)?);
                folded.count(&names, |tasks| &mut tasks.open);
                under_way.insert(event.frame.clone(), names);
            } else if let EventKind::FrameClosed { outcome } = &event.kind {
                let Some(names) = under_way.remove(&event.frame) else { continue };
                for name in &names {
                    folded.tasks.entry(name.clone()).and_modify(|tasks| tasks.open -= 1);
                }
                let has_report = matches!(outcome, FrameOutcome::Answered { .. });
                folded.count(&names, if has_report { done } else { failed });
            } else if let EventKind::FindingsRecalled { reports, .. } = &event.kind {
                folded.recall(&blobs, reports)?;
            }
        }
        Ok(folded)
    }

    fn count(&mut self, names: &[String], which: impl Fn(&mut Tasks) -> &mut u64) {
        for name in names {
            *which(self.tasks.entry(name.clone()).or_default()) += 1;
        }
    }

    /// Findings of earlier runs are as good as tasks that are done.
    fn recall(&mut self, blobs: &Blobs, reports: &Text) -> Result<(), Failure> {
        let reports: Vec<AnalystReport> = serde_json::from_str(&blobs.text(reports)?).unwrap_or_default();
        for report in reports {
            let names: Vec<String> = report.units.into_iter().map(|unit| unit.file).collect();
            self.count(&names, done);
        }
        Ok(())
    }

    /// The documents that a task was given: by the heads of its files, or by the line that names its part.
    fn noted(&self, note: &str) -> Vec<String> {
        let known: HashSet<&str> = self.documents.iter().map(|(name, _)| name.as_str()).collect();
        let head = |line: &str| {
            let (_, rest) = line.strip_prefix("--- FILE ")?.strip_suffix(" ---")?.split_once(": ")?;
            let name = rest.rsplit_once(" (")?.0;
            known.contains(name).then(|| name.to_owned())
        };
        let names: Vec<String> = note.lines().filter_map(head).collect();
        if !names.is_empty() {
            return names;
        }
        let first = note.lines().next().unwrap_or_default();
        let begins =
            |name: &&(String, u64)| first == name.0 || first.strip_prefix(&name.0).is_some_and(is_a_part);
        let meant = self.documents.iter().filter(begins).max_by_key(|(name, _)| name.len());
        meant.map(|(name, _)| name.clone()).into_iter().collect()
    }
}

fn done(tasks: &mut Tasks) -> &mut u64 {
    &mut tasks.done
}

fn failed(tasks: &mut Tasks) -> &mut u64 {
    &mut tasks.failed
}

/// What follows a name where only a part of the document is meant.
fn is_a_part(rest: &str) -> bool {
    rest.starts_with([' ', ',', ':'])
}

/// A line each: digest, bytes, name.
fn documents(listed: &str) -> Vec<(String, u64)> {
    let row = |line: &str| {
        let (_, rest) = line.split_once(' ')?;
        let (bytes, name) = rest.split_once(' ')?;
        Some((name.to_owned(), bytes.parse().ok()?))
    };
    listed.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_belongs_to_the_documents_it_names() {
        let documents = documents("aa 3 src/a.rs\nbb 4 src/a.rs.bak\ncc 5 b with space.md\n");
        assert_eq!(documents[2], ("b with space.md".to_owned(), 5));
        let folded = Folded { documents, ..Folded::default() };
        assert_eq!(folded.noted("src/a.rs lines 1 to 20\nfn main() {}"), ["src/a.rs"]);
        assert_eq!(folded.noted("src/a.rs.bak"), ["src/a.rs.bak"]);
        let batch = "2 files\n--- FILE 1 of 2: src/a.rs (3 bytes) ---\nx\n--- FILE 2 of 2: b with space.md (5 bytes) ---\n";
        assert_eq!(folded.noted(batch), ["src/a.rs", "b with space.md"]);
        assert!(folded.noted("nothing of ours").is_empty());
    }

    #[test]
    fn the_worst_that_is_known_is_told() {
        assert_eq!(Tasks { open: 1, done: 2, failed: 1 }.told(), (4, "open"));
        assert_eq!(Tasks { open: 0, done: 2, failed: 1 }.told(), (3, "failed"));
        assert_eq!(Tasks { open: 0, done: 2, failed: 0 }.told(), (2, "done"));
        assert_eq!(Tasks::default().told(), (0, "none"));
    }
}
