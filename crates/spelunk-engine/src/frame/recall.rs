//! Findings cached by earlier runs. They are recorded before they are used, so that a replayed run recalls the same.

use std::collections::BTreeMap;

use spelunk_journal::{Blobs, ReplyCache};
use spelunk_types::{AnalystReport, BlobId, Confidence, EventKind};

use super::Frame;
use crate::FrameError;
use crate::journal::wire;
use crate::sync::blocking;

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
        // The previous process used no cache and recorded what followed, so this one must not use it either.
        let went_without = run.replay.n_noted(self.id()) > 0;
        if went_without || !run.settings.cache_replies {
            return Ok(BTreeMap::new());
        }
        let (replies, keys) = (run.replies.clone(), keys());
        let found = blocking(move || {
            let report = |(idx, key)| Some((idx as u64, serde_json::from_slice(&replies.get(key)?).ok()?));
            keys.iter().enumerate().filter_map(report).collect::<BTreeMap<_, _>>()
        })
        .await;
        let (units, text) = (found.len() as u64, wire::write_reports(&found));
        let confidence = Confidence::merged(found.values().filter_map(AnalystReport::confidence));
        let draft = move |blobs: &Blobs| {
            Ok(EventKind::FindingsRecalled { units, reports: blobs.keep(&text)?, confidence })
        };
        self.record_texts(draft).await?;
        Ok(found)
    }

    /// Caches reports for later runs. A failure costs money later, not correctness now.
    pub(crate) fn keep_findings(
        &self,
        records: impl FnOnce() -> Vec<(BlobId, AnalystReport)>,
    ) -> Result<(), FrameError> {
        if !self.run().settings.cache_replies {
            return Ok(());
        }
        let records = records();
        let chore = move |replies: &ReplyCache| {
            for (key, report) in &records {
                let record = serde_json::to_vec(report).expect("texts and numbers always serialise");
                drop(replies.put(key, &record));
            }
        };
        Ok(self.run().writer.chore(Box::new(chore))?)
    }
}
