//! Findings cached by earlier runs. What is recalled is recorded first, so that a replayed run recalls the same.

use std::collections::BTreeMap;

use spelunk_types::{AnalystReport, BlobId, Durability, EventKind};

use super::Frame;
use crate::FrameError;
use crate::journal::wire;

impl Frame {
    /// The reports under these keys, by position. The keys are computed only if the cache is used.
    pub(crate) async fn recall(
        &self,
        keys: impl FnOnce() -> Vec<BlobId>,
    ) -> Result<BTreeMap<u64, AnalystReport>, FrameError> {
        let run = self.run();
        if let Some(recorded) = run.replay.recalled(self.id()) {
            let text = run.blobs.text(recorded).map_err(std::sync::Arc::new)?;
            return Ok(wire::read_reports(&text));
        }
        // The previous process used no cache and recorded what followed: this one must do the same.
        let went_without = run.replay.n_noted(self.id()) > 0;
        if went_without || !run.settings.cache_replies {
            return Ok(BTreeMap::new());
        }
        let (replies, keys) = (run.replies.clone(), keys());
        let looking = tokio::task::spawn_blocking(move || {
            let found = keys.iter().enumerate().filter_map(|(idx, key)| {
                let report = wire::read_report(&replies.get(key)?)?;
                Some((idx as u64, report))
            });
            found.collect::<BTreeMap<_, _>>()
        });
        let found = looking.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        let (units, text) = (found.len() as u64, wire::write_reports(&found));
        let draft = move |blobs: &spelunk_journal::Blobs| {
            Ok(EventKind::FindingsRecalled { units, reports: blobs.keep(&text)? })
        };
        run.scribe.record_draft(self.id(), Durability::Buffered, Box::new(draft)).await?;
        Ok(found)
    }

    /// Caches reports for later runs. A cache that cannot be written costs money later, not correctness now.
    pub(crate) fn keep_findings(
        &self,
        records: impl FnOnce() -> Vec<(BlobId, AnalystReport)>,
    ) -> Result<(), FrameError> {
        if !self.run().settings.cache_replies {
            return Ok(());
        }
        let records = records();
        let chore = move |replies: &spelunk_journal::ReplyCache| {
            for (key, report) in &records {
                drop(replies.put(key, &wire::write_report(report)));
            }
        };
        Ok(self.run().scribe.chore(Box::new(chore))?)
    }
}
