//! Long texts of a run: prompts, replies, code and output. Only those referenced by that run's journal are served: all
//! runs of a workspace share the blobs, and knowing an id gives no right to read.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::json;
use spelunk_journal::{Blobs, JournalError, JournalTail, Record, Workspace, blobs_of};
use spelunk_types::{BlobId, RunId};

use super::super::Shared;
use super::super::extract::{Params, Part};
use super::super::page::sent;
use super::super::problem::{Answer, Problem, work};
use super::super::route::{Route, get};
use super::results::with_journal;

/// The number of runs whose blob ids are cached.
const RUNS_MAX: usize = 32;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/v1/runs/{id}/blobs/{digest}", "A long text that the run names", read)
            .answers_as(200, "The text", "text/plain", json!({ "type": "string" }))
            .answers_nothing(304, "It is the same as before, as it always is")
            .problems(&[404, 409]),
    ]
}

/// The blobs a run references, as far as its journal was read.
pub(crate) struct Named {
    tail: JournalTail,
    blobs: HashSet<BlobId>,
    /// Caches where the prompts are.
    texts: Blobs,
}

/// The references of the most recently read runs.
#[derive(Default)]
pub(crate) struct NamedBlobs {
    kept: Mutex<HashMap<RunId, Arc<Mutex<Named>>>>,
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
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() >= RUNS_MAX && !kept.contains_key(run) {
                kept.clear();
            }
            match kept.get(run) {
                Some(named) => Arc::clone(named),
                None => {
                    let tail = JournalTail::open(workspace, run)?;
                    let (blobs, texts) = (HashSet::new(), workspace.blobs_of(run));
                    let named = Arc::new(Mutex::new(Named { tail, blobs, texts }));
                    kept.insert(run.clone(), Arc::clone(&named));
                    named
                }
            }
        };
        let mut named = named.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Drops the cache of a deleted run.
    pub(super) fn forget(&self, run: &RunId) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }
}

async fn read(
    State(server): State<Shared>,
    Part((id, name)): Part<(String, String)>,
    headers: HeaderMap,
    params: Params,
) -> Answer {
    params.finish()?;
    let unknown = || Problem::not_found("the run names no such text");
    let blob: BlobId = name.parse().map_err(|_| unknown())?;
    let tag = format!("\"{}\"", blob.as_str());
    let text = work(move || {
        let found = with_journal(&server, &id)?;
        let texts = server.named_blobs.naming(&found.workspace, &found.run, &blob)?;
        let bytes = texts.ok_or_else(unknown)?.get(&blob)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    });
    let text = text.await?;
    Ok(sent(&headers, &tag, "text/plain; charset=utf-8", "private, max-age=31536000, immutable", text))
}
